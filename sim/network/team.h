/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a network, one for each shard; the first is the caller's. They run windows
 * together without a leader: after a window each reports, in a cache line of its own, until when
 * it has run and when its next event is, reads the others' reports, and takes in what crossed to
 * it. From the same reports all compute the same next window, so one exchange a window is enough,
 * and where one shard alone has events it goes on through several windows (oche_windows_run).
 *
 * All wait for the first thread only where somebody has to read more than one shard. These are
 * the checks, and what asks for them in the reports:
 *
 *   causes of timeouts         a loss or a timeout is noted: both ends of a connection are examined
 *                              at the end of that window, before a packet sent since can be there
 *   PAUSEs, deadlock, victims  the time of checks.at, that follows from the scenario
 *   all is delivered           completed flows, of which each report has its shard's
 *   flows out of memory        the same
 *   the trace of events        checks.at is 0: every window, since lines are in order of time
 *   progress, an interrupt     the first thread's own
 *   samples, a stall, what is cut off, the end   the run is made in steps, which end there
 *   packets of pools           a shard has many to spare and another none; nothing shows of it
 *
 * Senders of an incast are drawn, and flows are listed, before the run, and a host makes followers
 * in a chain by itself, so no shard reads another for them. The ends of windows are multiples of
 * the window, wherever an event is, so checks are at the same times for any number of threads.
 */
#ifndef OCHE_SIM_NETWORK_TEAM_H
#define OCHE_SIM_NETWORK_TEAM_H

#include "sim/network/network.h"

/*
 * True if all threads are there and wait for work; otherwise calls them, so that they will be. They
 * are made at the first call. False if there is one shard.
 */
bool oche_team_is_here(struct oche_network *network);

/*
 * Runs windows together until `until`, until `check` returns true, or until it is thought that one
 * thread alone is quicker. All threads must be there. True if `check` returned true.
 */
bool oche_team_run(struct oche_network *network, oche_time until, oche_network_check *check,
                   void *context);

/* Ends the threads. NULL: there are none. */
void oche_team_free(struct oche_team *team);

/*
 * A packet ends up in the pool of the shard that received it. If more packets go from one shard to
 * another than back, the first would make new packets for ever and the second would keep them all.
 * So the shard with the most free packets gives some to the shard with the fewest. To be called
 * while no other thread runs.
 */
void oche_network_balance(struct oche_network *network);

/* True if that would move packets, between pools with that many free ones. */
static inline bool oche_network_is_unbalanced(int64_t most, int64_t least)
{
    return most > 2 * OCHE_PACKET_POOL_SHARE && least < OCHE_PACKET_POOL_SHARE / 2;
}

#endif
