/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns at the adapter's limiters, if it has fewer than there are connections (RoGUE sec 3.3 limits
 * the number of active queue pairs to the number of limiters; the order is our choice,
 * rogue.md#r32). A connection has a limiter from its first piece on until nothing is under way. If
 * others wait, it begins no further batch after a turn of anchor_batches batches, and waits in line
 * behind them.
 */
#include "rogue/internal.h"

#define TURN_BATCHES 16 /* if the adapter need not run empty: what anchor_batches is by default */

bool turn_begin(struct rogue_connection *r)
{
    const struct rogue_port *port = r->config.port;

    if (!limiters_are_few(r) || r->has_limiter || r->cursor == r->verb_next)
        return true;
    if (!port->take_limiter(r->config.context)) {
        r->counts.limiter_waits += !r->waits_for_limiter;
        r->waits_for_limiter = true;
        return false;
    }
    r->has_limiter = true;
    r->turn_batches = 0;
    if (!r->waits_for_limiter)
        return true;
    r->waits_for_limiter = false;
    /* Another connection has had the limiter, which now must change to this one's rate. */
    for (unsigned i = 0; i < ROGUE_DIRECTIONS; i++) {
        struct stream *stream = &r->streams[i];
        if (r->sides[r->active].limited[i])
            stream->hold_until = stream->posted_bytes + r->config.params->hold_off_bytes;
    }
    return true;
}

bool turn_is_over(const struct rogue_connection *r)
{
    const uint64_t anchor = r->config.params->anchor_batches;

    return r->has_limiter && r->open == NO_BATCH &&
           r->turn_batches >= (anchor > 0 ? anchor : TURN_BATCHES) &&
           r->config.port->limiter_wanted(r->config.context);
}

void turn_end(struct rogue_connection *r)
{
    if ((!r->has_limiter && !r->waits_for_limiter) ||
        (!r->broken &&
         (!r->has_limiter || !rogue_quiet(r) || (r->cursor != r->verb_next && !turn_is_over(r)))))
        return;
    r->has_limiter = r->waits_for_limiter = false;
    r->config.port->give_limiter(r->config.context);
    turn_begin(r); /* there is more to post: it waits in line */
}
