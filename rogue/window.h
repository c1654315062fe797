/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion window of one direction of a queue pair, and the rate to which the NIC's limiter
 * is set (RoGUE sec 3.3; rogue.md#vegas). TCP Vegas over batches: slow start doubles the window
 * with each batch whose round trip is used; afterwards the window follows the packets that the
 * flow keeps in queues. The rate is window / base RTT.
 */
#ifndef OCHE_ROGUE_WINDOW_H
#define OCHE_ROGUE_WINDOW_H

#include "rogue/params.h"

struct rogue_window {
    const struct rogue_params *params;
    uint64_t packet_bytes, rate_step;
    uint64_t line_rate_bps;
    uint32_t mtu_bytes;
    bool slow_start;
    uint64_t bytes; /* the window */
    uint64_t rate_bps;
    oche_time base_rtt, rtt; /* the least sample; the last one; OCHE_NEVER: none yet */
    /* base_rtt_age: least sample of the period; when the period began */
    oche_time least_now, period;
};

void rogue_window_init(struct rogue_window *window, const struct rogue_params *params,
                       uint64_t line_rate_bps, uint32_t mtu_bytes);

/*
 * Takes a sample: a batch of `batch_bytes` had this round trip. If it is `exact`, the limiter has
 * not changed since the NIC last ran empty; only such a sample, or the first one, becomes the base
 * RTT (rogue.md#r28). Returns true if the limiter's rate has changed.
 */
bool rogue_window_sample(struct rogue_window *window, oche_time rtt, uint64_t batch_bytes,
                         bool exact, oche_time now);
/* UC: to be called when a batch was lost. Returns true if the limiter's rate has changed. */
bool rogue_window_lost(struct rogue_window *window);
/*
 * Notes that all samples were lost (UC), or that the queue pair failed (RC). Returns true if the
 * limiter's rate has changed.
 */
bool rogue_window_timeout(struct rogue_window *window);

#endif
