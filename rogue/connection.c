/* SPDX-License-Identifier: Apache-2.0 */
#include "rogue/connection.h"

#include <string.h>

#include "rogue/internal.h"

struct layout {
    size_t verbs, pieces, batches, end;
};

static struct layout layout_of(const struct rogue_config *config)
{
    struct layout at;

    at.end = sizeof(struct rogue_connection);
    at.verbs = oche_place(&at.end, config->depth * sizeof(struct rogue_verb), 8);
    at.pieces = oche_place(&at.end, config->depth * sizeof(struct piece), 8);
    at.batches = oche_place(&at.end, config->depth * sizeof(struct batch), 8);
    return at;
}

size_t rogue_connection_bytes(const struct rogue_config *config)
{
    return layout_of(config).end;
}

struct rogue_connection *rogue_connection_create(void *memory, const struct rogue_config *config)
{
    struct layout at = layout_of(config);
    struct rogue_connection *r = memory;
    uint64_t rates[ROGUE_DIRECTIONS] = {config->line_rate_bps, config->peer_line_rate_bps};

    OCHE_MUST(config->depth >= 4 && (config->depth & (config->depth - 1)) == 0);
    *r = (struct rogue_connection){.config = *config, .mask = config->depth - 1, .open = NO_BATCH};
    r->verbs = (void *)((char *)memory + at.verbs);
    r->pieces = (void *)((char *)memory + at.pieces);
    r->batches = (void *)((char *)memory + at.batches);
    r->segment_bytes = rogue_segment_bytes(config->params, config->line_rate_bps);
    for (unsigned i = 0; i < ROGUE_DIRECTIONS; i++) {
        rogue_window_init(&r->streams[i].window, config->params, rates[i], config->mtu_bytes);
        r->streams[i].unsampled = true;
    }
    r->most_failures = config->params->fruitless_switches;
    r->echo_deadline = OCHE_NEVER;
    r->sides[0].repeat = r->sides[1].repeat = OCHE_NEVER;
    return r;
}

bool rogue_post(struct rogue_connection *r, const struct rogue_verb *verb, oche_time now)
{
    if (r->verb_next - r->verb_done > r->mask)
        return false;
    *verb_at(r, r->verb_next++) = *verb;
    if (r->broken)
        break_connection(r, ROGUE_FLUSHED, 0);
    else
        rogue_pump(r, now);
    return true;
}

/* ---- completions ---- */

void set_limit(struct rogue_connection *r, unsigned qp, enum rogue_direction direction)
{
    const struct rogue_port *port = r->config.port;
    uint64_t rate = r->streams[direction].window.rate_bps;

    r->sides[qp].limited[direction] = true;
    if (direction == ROGUE_OUT)
        port->limit(r->config.context, qp, rate);
    else
        port->limit_reads(r->config.context, qp, rate);
}

oche_time batch_left(const struct rogue_connection *r, const struct batch *batch)
{
    if (batch->ended)
        return batch->left;
    if (r->config.params->count_last_gap)
        return batch->free;
    return rogue_rtt_left(batch->free, batch->packet_bytes, batch->rate_bps,
                          r->streams[batch->direction].window.line_rate_bps);
}

void apply_rate(struct rogue_connection *r, enum rogue_direction direction, uint64_t before,
                oche_time now)
{
    struct stream *stream = &r->streams[direction];
    uint64_t rate = stream->window.rate_bps;

    stream->rtt.free = rogue_rtt_rescaled(stream->rtt.free, now, before, rate);
    for (uint64_t n = r->batch_done; n < r->batch_next; n++) {
        struct batch *batch = batch_at(r, n);
        if (batch->direction != direction || batch->free <= now)
            continue;
        batch->free = rogue_rtt_rescaled(batch->free, now, before, rate);
        batch->rate_bps = rate;
    }
    r->counts.limiter_changes++;
    stream->exact = false;
    stream->unsettled = true;
    stream->hold_until = stream->done_bytes + r->config.params->hold_off_bytes;
    set_limit(r, r->active, direction);
}

/*
 * True if a round trip of the stream may become the base RTT (rogue.md#r28). On UC the NIC itself
 * reports when a batch has left.
 */
static bool counts_for_base(const struct rogue_connection *r, const struct stream *stream)
{
    const struct rogue_params *p = r->config.params;

    return stream->exact || !p->exact_base_rtt || p->anchor_batches == 0 ||
           p->transport == ROGUE_UC;
}

void batch_completed(struct rogue_connection *r, oche_time rtt, oche_time now)
{
    const struct batch *batch = batch_at(r, r->batch_done++);
    struct stream *stream = &r->streams[batch->direction];

    stream->batches--;
    stream->done_bytes += batch->bytes;
    r->verbs_answered = batch->verbs;
    if (rtt == OCHE_NEVER || !batch->measured)
        return;
    if (batch->from < stream->hold_until) {
        r->counts.held_off++;
        return;
    }
    r->counts.samples++;
    stream->unsampled = false;
    if (r->config.port->sampled != NULL)
        r->config.port->sampled(r->config.context, batch->direction, rtt, now);
    uint64_t before = stream->window.rate_bps;
    if (rogue_window_sample(&stream->window, rtt, batch->bytes, counts_for_base(r, stream), now))
        apply_rate(r, batch->direction, before, now);
}

/*
 * RC: to be called when all pieces up to `number` have completed. Removes the batches that are now
 * complete.
 */
static void complete_batches(struct rogue_connection *r, uint64_t number, oche_time completed,
                             bool measured, oche_time now)
{
    while (r->batch_done < r->batch_next && r->batch_done != r->open) {
        const struct batch *batch = batch_at(r, r->batch_done);
        if (batch->last > number)
            return;
        bool sample = measured && batch->last == number;
        batch_completed(
            r, sample ? rogue_rtt_completed(batch_left(r, batch), completed) : OCHE_NEVER, now);
    }
}

/*
 * True if packets of a failed queue pair may still change the peer's memory, because the peer does
 * not know of the failure. Until then no verb ends, because the application may reuse its memory
 * afterwards (rogue.md#r27).
 */
static bool peer_still_takes(const struct rogue_connection *r)
{
    if (r->broken || !r->config.params->hold_ends)
        return false;
    for (unsigned qp = 0; qp < 2; qp++)
        if (r->sides[qp].health != QP_READY && !r->sides[qp].peer_told)
            return true;
    return false;
}

void end_verbs(struct rogue_connection *r)
{
    if (peer_still_takes(r))
        return;
    while (r->verb_done < r->verb_complete) {
        const struct rogue_verb *verb = verb_at(r, r->verb_done++);
        r->config.port->ended(r->config.context, verb, ROGUE_DONE, 0);
    }
}

/* To be called when all pieces up to and including `number` have completed. */
static void complete_through(struct rogue_connection *r, uint64_t number, oche_time completed,
                             bool measured, oche_time now)
{
    if (r->config.params->transport == ROGUE_UC)
        echo_left(r, number, completed, now);
    else
        complete_batches(r, number, completed, measured, now);
    while (r->piece_done <= number && r->piece_done < r->piece_next) {
        const struct piece *piece = piece_at(r, r->piece_done++);
        if (piece->offset + piece->bytes >= verb_at(r, piece->verb)->bytes)
            r->verb_complete = piece->verb + 1;
    }
    end_verbs(r);
}

void break_connection(struct rogue_connection *r, enum rogue_outcome first, int status)
{
    const struct rogue_port *port = r->config.port;

    if (!r->broken) {
        r->broken = true;
        port->fail(r->config.context, 0);
        port->fail(r->config.context, 1);
        r->sides[0].repeat = r->sides[1].repeat = r->echo_deadline = OCHE_NEVER;
    }
    end_verbs(r);
    while (r->verb_done < r->verb_next) {
        const struct rogue_verb *verb = verb_at(r, r->verb_done++);
        port->ended(r->config.context, verb, first, first == ROGUE_FAILED ? status : 0);
        first = ROGUE_FLUSHED;
    }
    r->piece_done = r->piece_next;
    r->batch_done = r->batch_next;
    r->cursor = r->verb_next;
    turn_end(r);
}

void rogue_fail(struct rogue_connection *r, int status)
{
    if (!r->broken)
        break_connection(r, ROGUE_FAILED, status);
}

static bool under_way(const struct rogue_connection *r, uint64_t number)
{
    return number >= r->piece_done && number < r->piece_next;
}

/*
 * True if the pieces under way must not be posted again, because an atomic is among them
 * (rogue.md#r11).
 */
static bool repeats_atomics(const struct rogue_connection *r)
{
    if (r->config.replay_atomics)
        return false;
    for (uint64_t n = r->piece_done; n < r->piece_next; n++)
        if (verb_at(r, piece_at(r, n)->verb)->kind == ROGUE_ATOMIC)
            return true;
    return false;
}

static void failed(struct rogue_connection *r, const struct rogue_completion *done, oche_time now)
{
    if (done->number > r->piece_done)
        complete_through(r, done->number - 1, done->completed, false, now);
    if (!done->lost && !done->flushed) {
        break_connection(r, ROGUE_FAILED, done->status);
        return;
    }
    if (!r->config.params->shadow || r->config.params->transport == ROGUE_UC || repeats_atomics(r))
        break_connection(r, ROGUE_FAILED, done->status);
    else
        switch_begin(r, done->number);
}

void rogue_completed(struct rogue_connection *r, const struct rogue_completion *done, oche_time now)
{
    struct side *side = &r->sides[done->qp];

    if (r->broken)
        return;
    if (side->health == QP_READY && done->qp == r->active && under_way(r, done->number)) {
        if (done->success)
            complete_through(r, done->number, done->completed, true, now);
        else
            failed(r, done, now);
    }
    if (r->broken || side->health != QP_DRAINING) {
        rogue_pump(r, now);
        return;
    }
    /* These pieces completed before the queue pair failed, but are polled only now. */
    if (done->success && done->qp == r->active && under_way(r, done->number))
        complete_through(r, done->number, done->completed, false, now);
    if (switch_drains(r, done->qp, done->number)) {
        if (repeats_atomics(r))
            break_connection(r, ROGUE_FAILED, done->status);
        else
            switch_drained(r, done->qp, now);
    }
    rogue_pump(r, now);
}

/* ---- reading ---- */

bool rogue_idle(const struct rogue_connection *r)
{
    return r->verb_done == r->verb_next && r->sides[0].health == QP_READY &&
           r->sides[1].health == QP_READY;
}

bool rogue_quiet(const struct rogue_connection *r)
{
    return r->batch_done == r->batch_next;
}

uint64_t rogue_verbs_answered(const struct rogue_connection *r)
{
    return r->verbs_answered;
}

bool rogue_broken(const struct rogue_connection *r)
{
    return r->broken;
}

const struct rogue_window *rogue_window_of(const struct rogue_connection *r,
                                           enum rogue_direction direction)
{
    return &r->streams[direction].window;
}

const struct rogue_counts *rogue_counts_of(const struct rogue_connection *r)
{
    return &r->counts;
}

uint32_t rogue_epoch(const struct rogue_connection *r, unsigned qp)
{
    return r->sides[qp].epoch;
}

unsigned rogue_active(const struct rogue_connection *r)
{
    return r->active;
}
