/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a queue pair fails, the shadow takes over, and the failed one is brought back to be the next
 * shadow (RoGUE sec 3.5). The shadow begins with the verb that failed, once all completions of the
 * failed queue pair are there (rogue.md#r13). Bringing back is rogue.md#resync:
 *
 *     either end   its queue pair fails, or it hears REQUEST of a later epoch: it moves the queue
 *                  pair to ERR, drains it, chooses a PSN, and sends REQUEST with it
 *     either end   hears REQUEST or REPLY of the present epoch and has drained: it starts its queue
 *                  pair with both PSNs and sends REPLY, to a REPLY it sends DONE
 *     both ends    use the queue pair as shadow when they have heard REPLY or DONE: then the other
 *                  one is ready, too
 *
 * Both ends may begin at once; the result is the same.
 */
#include "rogue/internal.h"

static void say(struct rogue_connection *r, unsigned qp, enum rogue_resync_kind kind)
{
    const struct side *side = &r->sides[qp];
    struct rogue_resync message = {.kind = (uint8_t)kind,
                                   .qp = (uint8_t)qp,
                                   .epoch = side->epoch,
                                   .psn = kind == ROGUE_RESYNC_DONE ? 0 : side->psn,
                                   .token = r->config.token};

    r->counts.resync_messages++;
    r->config.port->tell(r->config.context, &message);
}

static void say_again_later(struct rogue_connection *r, unsigned qp, oche_time now)
{
    struct side *side = &r->sides[qp];

    say(r, qp, side->restarted ? ROGUE_RESYNC_REPLY : ROGUE_RESYNC_REQUEST);
    side->repeat = oche_time_add(now, r->config.params->resync_interval);
}

/* Limits a queue pair to the rates of the windows when posting on it begins. */
static void set_limits(struct rogue_connection *r, unsigned qp)
{
    const uint64_t lines[] = {r->config.line_rate_bps, r->config.peer_line_rate_bps};

    for (unsigned i = 0; i < ROGUE_DIRECTIONS; i++) {
        struct stream *stream = &r->streams[i];
        stream->rtt.free = 0;
        stream->hold_until = stream->posted_bytes + r->config.params->hold_off_bytes;
        /* A limit that was set before RESET may still be in effect. */
        if (stream->window.rate_bps < lines[i] || r->sides[qp].limited[i])
            set_limit(r, qp, i);
    }
}

/* Lets the shadow post, if it is ready and the failed queue pair is empty. */
static void take_over(struct rogue_connection *r)
{
    unsigned other = 1 - r->active;

    if (r->sides[r->active].health != QP_WAITING || r->sides[other].health != QP_READY)
        return;
    r->active = other;
    r->counts.switches += r->verb_complete < r->verb_next;
    set_limits(r, other);
}

/* To be called when the failed queue pair is empty. Its resynchronisation begins. */
static void wait_for_peer(struct rogue_connection *r, unsigned qp, oche_time now)
{
    struct side *side = &r->sides[qp];

    side->health = QP_WAITING;
    side->psn = r->config.port->new_psn(r->config.context, qp, side->epoch) & OCHE_PSN_MASK;
    side->tries = 0;
    say_again_later(r, qp, now);
    if (qp == r->active) {
        rewind_to(r, r->resume);
        take_over(r);
    }
}

/*
 * A piece without a signal does not report its completion. So if the queue pair was left although
 * none of its pieces failed, there may be no sign that it is empty. Then a marker is posted on the
 * queue pair, which is in ERR; the marker is flushed after everything else.
 */
static void post_marker(struct rogue_connection *r, unsigned qp)
{
    static const struct rogue_verb nothing = {.kind = ROGUE_WRITE};
    const struct rogue_piece marker = {
        .verb = &nothing, .number = ROGUE_MARKER, .last = true, .signaled = true};

    r->sides[qp].marked = r->config.port->post(r->config.context, qp, &marker);
}

/*
 * To be called when the active queue pair has failed with pieces under way. Returns true, after
 * breaking the connection, if nothing has completed on too many queue pairs in a row. Then the peer
 * is dead, or rejects the data (rogue.md#r25).
 */
static bool is_fruitless(struct rogue_connection *r)
{
    if (r->piece_done > r->progress)
        r->failures = 0;
    r->progress = r->piece_done;
    if (++r->failures <= r->most_failures)
        return false;
    break_connection(r, ROGUE_FAILED, r->config.status_lost);
    return true;
}

void rogue_resume(struct rogue_connection *r, const uint32_t epochs[2], unsigned active)
{
    r->active = active;
    for (unsigned qp = 0; qp < 2; qp++) {
        struct side *side = &r->sides[qp];

        side->epoch = epochs[qp];
        side->restarted = epochs[qp] > 0;
        if (side->restarted)
            side->psn = r->config.port->new_psn(r->config.context, qp, side->epoch) & OCHE_PSN_MASK;
    }
}

void rogue_set_retry_count(struct rogue_connection *r, uint32_t count)
{
    r->most_failures = (uint64_t)count + 1;
    if (r->most_failures > r->config.params->fruitless_switches)
        r->most_failures = r->config.params->fruitless_switches;
}

/* Begins a new epoch of a queue pair, which must drain first. */
static void leave(struct rogue_connection *r, unsigned qp, uint32_t epoch, oche_time now)
{
    struct side *side = &r->sides[qp];
    bool empty = side->health == QP_WAITING || !side->posted || qp != r->active ||
                 r->piece_done == r->piece_next;

    if (side->health == QP_DRAINING) {
        side->epoch = epoch;
        return;
    }
    if (!empty && is_fruitless(r))
        return;
    side->epoch = epoch;
    if (side->health == QP_READY || side->restarted)
        r->config.port->fail(r->config.context, qp);
    side->restarted = side->peer_told = false;
    if (empty) {
        r->resume = qp == r->active ? r->piece_next : r->resume;
        wait_for_peer(r, qp, now);
    } else {
        r->resume = r->piece_done;
        side->health = QP_DRAINING;
        side->marks = true;
        post_marker(r, qp);
    }
}

void switch_begin(struct rogue_connection *r, uint64_t number)
{
    struct side *side = &r->sides[r->active];

    if (is_fruitless(r))
        return;
    side->epoch++;
    side->restarted = side->peer_told = false;
    r->resume = number;
    side->health = QP_DRAINING;
    side->marks = false;
}

bool switch_drains(struct rogue_connection *r, unsigned qp, uint64_t number)
{
    const struct side *side = &r->sides[qp];

    if (!side->marks)
        return number == side->last_posted;
    if (!side->marked) /* before, the send queue was full */
        post_marker(r, qp);
    return number == ROGUE_MARKER;
}

void switch_drained(struct rogue_connection *r, unsigned qp, oche_time now)
{
    if (r->resume < r->piece_done)
        r->resume = r->piece_done;
    wait_for_peer(r, qp, now);
    if (r->sides[qp].peer_told)
        rogue_told(r,
                   &(struct rogue_resync){.kind = ROGUE_RESYNC_REQUEST,
                                          .qp = (uint8_t)qp,
                                          .epoch = r->sides[qp].epoch,
                                          .psn = r->sides[qp].peer_psn,
                                          .token = r->config.token},
                   now);
}

static void restart(struct rogue_connection *r, unsigned qp, uint32_t peer_psn)
{
    struct side *side = &r->sides[qp];

    if (side->restarted)
        return;
    side->restarted = true;
    side->posted = false;
    side->peer_psn = peer_psn;
    r->config.port->restart(r->config.context, qp, side->psn, peer_psn);
}

static void ready(struct rogue_connection *r, unsigned qp)
{
    struct side *side = &r->sides[qp];

    side->health = QP_READY;
    side->repeat = OCHE_NEVER;
    r->counts.resynchronised++;
    if (qp == r->active)
        set_limits(r, qp);
    else
        take_over(r);
}

void rogue_told(struct rogue_connection *r, const struct rogue_resync *message, oche_time now)
{
    if (r->broken || message->token != r->config.token || message->qp > 1)
        return;
    struct side *side = &r->sides[message->qp];
    int32_t later = (int32_t)(message->epoch - side->epoch);
    if (later < 0 || later > 1)
        return;
    if (later == 1 && message->kind == ROGUE_RESYNC_REQUEST)
        leave(r, message->qp, message->epoch, now);
    else if (later != 0)
        return;
    if (r->broken)
        return;
    side->peer_told |= message->kind != ROGUE_RESYNC_DONE;
    if (message->kind != ROGUE_RESYNC_DONE)
        side->peer_psn = message->psn;
    end_verbs(r);
    if (side->health == QP_DRAINING || side->epoch == 0)
        return;
    if (message->kind != ROGUE_RESYNC_DONE)
        restart(r, message->qp, message->psn);
    if (message->kind == ROGUE_RESYNC_REQUEST)
        say(r, message->qp, ROGUE_RESYNC_REPLY);
    if (message->kind == ROGUE_RESYNC_REPLY)
        say(r, message->qp, ROGUE_RESYNC_DONE);
    if (message->kind != ROGUE_RESYNC_REQUEST && side->restarted && side->health == QP_WAITING)
        ready(r, message->qp);
    rogue_pump(r, now);
}

oche_time rogue_next(const struct rogue_connection *r)
{
    return oche_time_min(r->echo_deadline, oche_time_min(r->sides[0].repeat, r->sides[1].repeat));
}

void rogue_expire(struct rogue_connection *r, oche_time now)
{
    if (r->echo_deadline <= now)
        echo_expire(r, now);
    for (unsigned qp = 0; qp < 2 && !r->broken; qp++) {
        struct side *side = &r->sides[qp];
        if (side->repeat > now)
            continue;
        if (++side->tries > r->config.params->resync_tries)
            break_connection(r, ROGUE_FAILED, r->config.status_lost);
        else
            say_again_later(r, qp, now);
    }
    rogue_pump(r, now);
}
