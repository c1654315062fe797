/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of RoGUE, the same in the simulator and on the wire (rogue.md#decisions). */
#ifndef OCHE_ROGUE_PARAMS_H
#define OCHE_ROGUE_PARAMS_H

#include "core/param.h"

struct rogue_params {
    uint64_t segment_bytes; /* 0: chosen by line rate (rogue_segment_bytes) */
    uint64_t least_batches;
    uint64_t anchor_batches;
    bool anchor_after_hold_off;
    uint32_t first_batch; /* enum rogue_first_batch */
    double alpha, beta, gamma;
    uint64_t initial_packets;
    double most_window; /* in bandwidth-delay products; 0: no limit */
    uint64_t least_rate;
    uint64_t rate_step;
    uint64_t hold_off_bytes;
    bool count_last_gap, exact_base_rtt;
    oche_time least_base_rtt;
    oche_time base_rtt_age;
    bool clamp;
    uint32_t transport; /* enum rogue_transport */
    double loss_factor;
    oche_time uc_timeout;
    bool shadow, keep_window, hold_ends;
    oche_time resync_interval;
    uint64_t resync_tries;
    uint64_t fruitless_switches;
};

enum rogue_transport { ROGUE_RC, ROGUE_UC };
enum rogue_first_batch { ROGUE_FIRST_WINDOW, ROGUE_FIRST_SEGMENT };

extern const struct oche_param_table rogue_param_table;

/* Returns an error message if the parameters contradict each other, else NULL. */
const char *rogue_params_check(const struct rogue_params *params);
/*
 * Returns what is wrong with KEY=VALUE,… above verbs, or NULL: keys that only the simulator has,
 * and the transport, which is the queue pair's.
 */
const char *rogue_verbs_check(const char *text);

/*
 * Returns the bytes of a segment, which are also those of a batch: params->segment_bytes or, if
 * that is 0, a size that depends on the line rate (RoGUE sec 3.1; rogue.md#r17).
 */
uint32_t rogue_segment_bytes(const struct rogue_params *params, uint64_t line_rate_bps);

#endif
