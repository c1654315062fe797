/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a shard through a window: runs its events, then takes in what other shards sent to it. Used
 * by run.c, which runs all shards in one thread, and by team.c, which runs each shard in its own
 * thread.
 */
#ifndef OCHE_SIM_NETWORK_WINDOWS_H
#define OCHE_SIM_NETWORK_WINDOWS_H

#include "sim/network/network.h"

/*
 * Returns the end of the next window; no event is earlier than `soonest`. A window never crosses a
 * multiple of the window length, so its end does not depend on the steps in which the run is made.
 */
static inline oche_time oche_window_end(const struct oche_network *network, oche_time soonest,
                                        oche_time until)
{
    return oche_time_min((soonest / network->window + 1) * network->window, until);
}

/*
 * Returns until when the shard with the soonest event may go on without the others, whose soonest
 * event is at `others`: `end`, the end of its next window, or the end of a later window.
 */
static inline oche_time oche_window_limit(const struct oche_network *network, oche_time others,
                                          oche_time end, oche_time until)
{
    return others >= until ? until : oche_time_max(others / network->window * network->window, end);
}

/*
 * Runs the shard's window that ends at `end`, and those that follow until `limit`: until a packet
 * crosses to another shard, or the run must be checked. Other shards have no event before `limit`;
 * `flows` and `awaited` count their completed flows. Returns the end of the last window in which
 * something happened.
 */
oche_time oche_windows_run(struct oche_shard *shard, oche_time end, oche_time limit, uint64_t flows,
                           uint64_t awaited);

/* Takes in what other shards sent to this one in the window of its side. */
void oche_windows_collect(struct oche_shard *shard);

/* True if notes of the shard, or an interrupt, ask for a check at the end of the window. */
static inline bool oche_windows_ask(const struct oche_shard *shard)
{
    const struct oche_window_checks *checks = &shard->network->checks;

    return (shard->mishaps.lost_count | shard->mishaps.timed_out_count) != 0 ||
           (checks->interrupt != NULL && *checks->interrupt != 0);
}

/* True if the run is to be looked at when so many flows are completed. */
static inline bool oche_windows_due(const struct oche_window_checks *checks, oche_time end,
                                    uint64_t flows, uint64_t awaited)
{
    return end >= checks->at || flows >= checks->flows || awaited >= checks->awaited;
}

#endif
