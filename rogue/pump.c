/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posts pieces: cuts large verbs, asks for signals, and keeps as much under way as the window
 * allows, but at least two batches (RoGUE sec 3.1).
 */
#include "rogue/internal.h"

static enum rogue_direction direction_of(const struct rogue_verb *verb)
{
    return verb->kind == ROGUE_READ || verb->kind == ROGUE_ATOMIC ? ROGUE_IN : ROGUE_OUT;
}

static bool before_first_sample(const struct rogue_connection *r, const struct stream *stream)
{
    return r->config.params->first_batch == ROGUE_FIRST_WINDOW && stream->unsampled;
}

/* Returns the bytes after which a batch of the stream asks for its signal. */
static uint64_t batch_bytes(const struct rogue_connection *r, const struct stream *stream)
{
    if (before_first_sample(r, stream) && stream->window.bytes < r->segment_bytes)
        return stream->window.bytes;
    return r->segment_bytes;
}

static uint32_t next_bytes(const struct rogue_connection *r, const struct rogue_verb *verb,
                           const struct stream *stream)
{
    uint32_t left = verb->bytes - r->cursor_offset;
    uint64_t most = batch_bytes(r, stream);

    if (verb->whole || verb->bytes <= r->segment_bytes)
        return left;
    if (most < r->segment_bytes) /* a piece begins where a packet begins */
        most = most > r->config.mtu_bytes ? most / r->config.mtu_bytes * r->config.mtu_bytes
                                          : r->config.mtu_bytes;
    return left < most ? left : (uint32_t)most;
}

static bool in_open_batch(const struct rogue_connection *r, enum rogue_direction direction)
{
    return r->open != NO_BATCH && batch_at(r, r->open)->direction == direction;
}

/* True if no piece may be posted until the NIC has none of the stream left (rogue.md#r22). */
static bool must_run_empty(const struct rogue_connection *r, const struct stream *stream)
{
    const struct rogue_params *p = r->config.params;

    if (p->anchor_batches > 0 && stream->in_a_row >= p->anchor_batches)
        return true;
    return p->anchor_after_hold_off && stream->unsettled &&
           stream->posted_bytes >= stream->hold_until;
}

static bool may_post(const struct rogue_connection *r, enum rogue_direction direction,
                     uint32_t bytes)
{
    const struct stream *stream = &r->streams[direction];
    uint64_t under_way = stream->posted_bytes - stream->done_bytes;
    uint64_t least = before_first_sample(r, stream) ? 1 : r->config.params->least_batches;

    if (must_run_empty(r, stream) && !in_open_batch(r, direction))
        return stream->batches == 0;
    if (under_way + bytes <= stream->window.bytes)
        return true;
    return stream->batches < least || (stream->batches == least && in_open_batch(r, direction));
}

/*
 * True if a piece finds a batch. On UC batches stay after their pieces, until they are answered. At
 * most half of the numbers that an answer can name are under way (echo.c). So a late answer to a
 * batch that was given up matches none.
 */
static bool batch_has_room(const struct rogue_connection *r, enum rogue_direction direction)
{
    uint64_t most = r->config.depth;

    if (r->config.params->transport == ROGUE_UC && most > ECHO_NUMBERS / 2)
        most = ECHO_NUMBERS / 2;
    return in_open_batch(r, direction) || r->batch_next - r->batch_done < most;
}

static struct batch *open_batch(struct rogue_connection *r, enum rogue_direction direction)
{
    if (in_open_batch(r, direction))
        return batch_at(r, r->open);
    if (r->open != NO_BATCH) {
        /* The batch of the other direction ends here, without a signal. */
        struct batch *other = batch_at(r, r->open);
        other->last = r->piece_next - 1;
        other->measured = false;
    }
    struct stream *stream = &r->streams[direction];
    if (stream->batches == 0) { /* the NIC has no piece of it: a piece posted now leaves now */
        stream->rtt.free = 0;
        stream->in_a_row = 0;
        stream->exact = true;
        if (stream->posted_bytes >= stream->hold_until)
            stream->unsettled = false;
    }
    r->open = r->batch_next++;
    stream->batches++;
    stream->in_a_row++;
    r->turn_batches++;
    *batch_at(r, r->open) = (struct batch){.first = r->piece_next,
                                           .from = stream->posted_bytes,
                                           .direction = (uint8_t)direction,
                                           .measured = true};
    return batch_at(r, r->open);
}

/* True if a piece must ask for a completion. */
static bool wants_signal(const struct rogue_connection *r, const struct rogue_piece *piece,
                         const struct batch *batch, uint64_t most)
{
    if (piece->last && piece->verb->signaled)
        return true;
    /* Without a signal nobody would notice that nothing is under way (turn.c). */
    if (limiters_are_few(r) && piece->last && r->cursor + 1 == r->verb_next)
        return true;
    /* If no piece asked for a signal for long, the rings would fill up. */
    return batch->bytes + piece->bytes >= most || piece->number - r->last_signal >= r->mask / 2;
}

/*
 * True if a signal (UC: an answer or its timeout) will come when there is room again. A batch has
 * no signal if it ended because a batch of the other direction began. If all batches under way are
 * of that kind, the next piece is posted although there is no room, and asks for a signal.
 */
static bool is_to_hear(const struct rogue_connection *r)
{
    return r->config.params->transport == ROGUE_UC || r->last_signal > r->piece_done;
}

/* Computes when a piece that was posted just now leaves the NIC, for the batch's round trip. */
static void note_departure(struct rogue_connection *r, struct batch *batch,
                           const struct rogue_piece *piece, oche_time now)
{
    struct stream *stream = &r->streams[batch->direction];
    uint64_t rate = stream->window.rate_bps;
    uint64_t line = r->config.port->line_bytes(r->config.context, piece, &batch->packet_bytes);

    batch->free = rogue_rtt_posted(&stream->rtt, now, oche_time_of_bytes(line, rate));
    batch->rate_bps = rate;
}

/* Posts the next piece. Returns false if no piece can be posted now. */
static bool post_one(struct rogue_connection *r, oche_time now)
{
    if (r->cursor == r->verb_next || r->piece_next - r->piece_done > r->mask)
        return false;
    const struct rogue_verb *verb = verb_at(r, r->cursor);
    enum rogue_direction direction = direction_of(verb);
    struct stream *stream = &r->streams[direction];
    struct rogue_piece piece = {.verb = verb,
                                .number = r->piece_next,
                                .offset = r->cursor_offset,
                                .bytes = next_bytes(r, verb, stream)};
    if (!batch_has_room(r, direction))
        return false;
    if (turn_is_over(r) && (is_to_hear(r) || rogue_quiet(r)))
        return false;
    bool fits = may_post(r, direction, piece.bytes);
    if (!fits && is_to_hear(r))
        return false;
    struct batch *batch = open_batch(r, direction);
    piece.last = piece.offset + piece.bytes == verb->bytes;
    piece.signaled = !fits || wants_signal(r, &piece, batch, batch_bytes(r, stream));
    piece.echo = r->config.params->transport == ROGUE_UC && piece.signaled;
    piece.echo_imm = piece.echo ? echo_of(r, r->open) : 0;
    if (!r->config.port->post(r->config.context, r->active, &piece)) {
        if (batch->first == r->piece_next) { /* the batch has no piece: it was opened needlessly */
            r->batch_next--;
            stream->batches--;
            r->open = NO_BATCH;
        }
        return false;
    }
    note_departure(r, batch, &piece, now);
    *piece_at(r, r->piece_next) = (struct piece){.verb = r->cursor,
                                                 .offset = piece.offset,
                                                 .bytes = piece.bytes,
                                                 .direction = (uint8_t)direction,
                                                 .signaled = piece.signaled};
    batch->bytes += piece.bytes;
    batch->last = r->piece_next;
    stream->posted_bytes += piece.bytes;
    r->sides[r->active].last_posted = r->piece_next++;
    r->sides[r->active].posted = true;
    r->counts.pieces++;
    r->counts.signals += piece.signaled;
    if (piece.echo && r->echo_deadline == OCHE_NEVER)
        echo_wait(r, r->open, now);
    if (piece.signaled) {
        r->open = NO_BATCH;
        r->last_signal = r->piece_next;
    }
    r->cursor_offset += piece.bytes;
    if (piece.last) {
        r->cursor++;
        r->cursor_offset = 0;
    }
    batch->verbs = r->cursor;
    return true;
}

void rogue_pump(struct rogue_connection *r, oche_time now)
{
    if (r->broken)
        return;
    if (r->sides[r->active].health == QP_READY && turn_begin(r))
        while (post_one(r, now))
            ;
    turn_end(r);
}

void rewind_to(struct rogue_connection *r, uint64_t number)
{
    const struct piece *first = piece_at(r, number);

    OCHE_MUST(number == r->piece_done);
    if (number == r->piece_next)
        return;
    r->cursor = first->verb;
    r->cursor_offset = first->offset;
    /*
     * All pieces before `number` have completed. A batch that began with some of them has no round
     * trip.
     */
    for (unsigned i = 0; i < ROGUE_DIRECTIONS; i++) {
        struct stream *stream = &r->streams[i];
        if (stream->done_bytes < stream->posted_bytes && !r->config.params->keep_window) {
            rogue_window_timeout(&stream->window);
            stream->unsampled = true;
        }
        stream->done_bytes = stream->posted_bytes;
        stream->batches = 0;
    }
    r->batch_done = r->batch_next;
    r->counts.replayed_pieces += r->piece_next - number;
    r->piece_next = number;
    r->open = NO_BATCH;
    r->last_signal = number;
}
