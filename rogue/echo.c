/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unreliable connections have no ACKs, so the peer's library answers the last verb of each batch
 * (RoGUE sec 3.4). The immediate data of a question is the number of the batch. That of an answer
 * is the same number, and for how long the peer had the question:
 *
 *     bits 31 to 24   low bits of the batch's number
 *     bits 23 to 0    in an answer the turnaround in units of 16 ns, at most 268 ms
 */
#include "rogue/internal.h"

#define NUMBER_SHIFT 24
#define UNIT         (16 * OCHE_NS)
#define MOST_UNITS   UINT32_C(0xffffff)
#define DOUBLINGS    3 /* maximum multiple of the time to wait for an answer */

uint32_t echo_of(const struct rogue_connection *r, uint64_t batch)
{
    (void)r;
    return (uint32_t)(batch % ECHO_NUMBERS) << NUMBER_SHIFT;
}

/*
 * Returns how long to wait for an answer (rogue.md#r20): uc_timeout or, if that is longer, the mean
 * time of answers plus four times the deviation. The wait doubles after each timeout, up to eight
 * times. A late answer cannot be distinguished from answers to other batches, so it gives no
 * sample.
 */
static oche_time timeout(const struct rogue_connection *r)
{
    oche_time wait = oche_time_add(r->echo_mean, 4 * r->echo_deviation);

    if (wait < r->config.params->uc_timeout)
        wait = r->config.params->uc_timeout;
    return wait << (r->echo_timeouts < DOUBLINGS ? r->echo_timeouts : DOUBLINGS);
}

/* Notes an answer that took `took`, as TCP does with round trips (RFC 6298). */
static void note_answer(struct rogue_connection *r, oche_time took)
{
    oche_time off = took > r->echo_mean ? took - r->echo_mean : r->echo_mean - took;

    if (r->echo_mean == 0) {
        r->echo_mean = took;
        r->echo_deviation = took / 2;
    } else {
        r->echo_deviation = (3 * r->echo_deviation + off) / 4;
        r->echo_mean = (7 * r->echo_mean + took) / 8;
    }
    r->echo_timeouts = 0;
}

void echo_wait(struct rogue_connection *r, uint64_t number, oche_time now)
{
    oche_time left = batch_left(r, batch_at(r, number));

    r->echo_deadline = oche_time_add(left > now ? left : now, timeout(r));
}

/*
 * Batch `number` has left at `left`, not at the time computed before. The times of all later
 * batches were computed from that one, so they move by the same difference.
 */
static void correct(struct rogue_connection *r, uint64_t number, oche_time left)
{
    struct batch *batch = batch_at(r, number);
    struct stream *stream = &r->streams[batch->direction];
    uint64_t late = left - batch_left(r, batch); /* may wrap: the batch may have left early */

    batch->left = left;
    batch->ended = true;
    for (uint64_t n = number + 1; n < r->batch_next; n++)
        batch_at(r, n)->free += late;
    stream->rtt.free += late;
}

void echo_left(struct rogue_connection *r, uint64_t number, oche_time left, oche_time now)
{
    (void)now;
    for (uint64_t n = r->batch_done; n < r->batch_next && n != r->open; n++) {
        struct batch *batch = batch_at(r, n);
        if (batch->last > number)
            return;
        if (batch->ended)
            continue;
        if (batch->last == number) {
            correct(r, n, left);
            continue;
        }
        batch->left = batch_left(r, batch);
        batch->ended = true;
    }
}

/* Removes the batches before `number`, which got no answer. */
static void give_up(struct rogue_connection *r, uint64_t number, oche_time now)
{
    while (r->batch_done < number) {
        r->counts.unanswered_batches++;
        batch_completed(r, OCHE_NEVER, now);
    }
}

static void answered(struct rogue_connection *r, uint32_t imm, oche_time came, oche_time now)
{
    const oche_time turnaround = (imm & MOST_UNITS) * UNIT;
    uint64_t number = r->batch_done + ((imm >> NUMBER_SHIFT) - r->batch_done) % ECHO_NUMBERS;
    uint64_t before = r->streams[ROGUE_OUT].window.rate_bps;

    if (number >= r->batch_next || number == r->open)
        return;
    if (number > r->batch_done) {
        give_up(r, number, now);
        if (rogue_window_lost(&r->streams[ROGUE_OUT].window))
            apply_rate(r, ROGUE_OUT, before, now);
    }
    oche_time left = batch_left(r, batch_at(r, number));
    note_answer(r, came > left ? came - left : 0);
    left = oche_time_add(left, turnaround);
    r->streams[ROGUE_OUT].unsampled = false;
    batch_completed(r, came > left ? came - left : 0, now);
    r->echo_deadline = OCHE_NEVER;
    if (r->batch_done < r->batch_next && r->batch_done != r->open)
        echo_wait(r, r->batch_done, now);
}

void rogue_immediate(struct rogue_connection *r, uint32_t imm, bool empty, oche_time came,
                     oche_time now)
{
    if (r->broken || r->config.params->transport != ROGUE_UC)
        return;
    if (!empty) {
        uint64_t units = (now - came) / UNIT;
        r->counts.answers++;
        r->config.port->answer(r->config.context,
                               (imm & ~MOST_UNITS) |
                                   (uint32_t)(units < MOST_UNITS ? units : MOST_UNITS));
        return;
    }
    answered(r, imm, came, now);
    rogue_pump(r, now);
}

void echo_expire(struct rogue_connection *r, oche_time now)
{
    struct stream *stream = &r->streams[ROGUE_OUT];
    uint64_t before = stream->window.rate_bps;

    r->echo_deadline = OCHE_NEVER;
    r->counts.sample_timeouts++;
    r->echo_timeouts++;
    give_up(r, r->open != NO_BATCH ? r->open : r->batch_next, now);
    stream->unsampled = true;
    if (rogue_window_timeout(&stream->window))
        apply_rate(r, ROGUE_OUT, before, now);
}
