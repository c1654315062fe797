/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of RoGUE, the same in the simulator and on the wire (rogue.md#decisions). */
#ifndef OCHE_ROGUE_PARAMS_H
#define OCHE_ROGUE_PARAMS_H

#include "core/param.h"

struct rogue_params {
    uint32_t preset;        /* enum oche_preset */
    uint64_t segment_bytes; /* 0: chosen by line rate (rogue_segment_bytes) */
    uint64_t least_batches;
    uint64_t anchor_batches;
    bool anchor_after_hold_off;
    uint32_t first_batch; /* enum rogue_first_batch */
    double alpha, beta, gamma;
    uint32_t vegas_divisor; /* enum rogue_vegas_divisor */
    uint64_t initial_packets;
    uint64_t packet_bytes; /* 0: the path MTU; OCHE_NEVER: by line rate (rogue_packet_bytes) */
    double most_window;    /* in bandwidth-delay products; 0: no limit */
    uint64_t least_rate;
    uint64_t rate_step; /* OCHE_NEVER: by line rate (rogue_rate_step) */
    uint64_t hold_off_bytes;
    uint64_t rate_limiters; /* of the adapter; 0: any number */
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
enum rogue_vegas_divisor { ROGUE_BY_RTT, ROGUE_BY_BASE_RTT };

extern const struct oche_param_table rogue_param_table;

/* Returns an error message if the parameters contradict each other, else NULL. */
const char *rogue_params_check(const struct rogue_params *params);
/*
 * Returns the error in KEY=VALUE,… above verbs, or NULL. Keys that only the simulator has are
 * errors. So is the transport, which the queue pair determines.
 */
const char *rogue_verbs_check(const char *text);

/*
 * Returns the bytes of a segment, which are also those of a batch: params->segment_bytes or, if
 * that is 0, a size that depends on the line rate (RoGUE sec 3.1; rogue.md#r17).
 */
uint32_t rogue_segment_bytes(const struct rogue_params *params, uint64_t line_rate_bps);

/*
 * Returns the size in bytes of one packet, the unit of alpha, beta, gamma, initial_packets and the
 * window's steps.
 */
uint64_t rogue_packet_bytes(const struct rogue_params *params, uint64_t line_rate_bps,
                            uint32_t mtu_bytes);
/* Returns by how much the limiter's rate may change at a time, in bits per second. */
uint64_t rogue_rate_step(const struct rogue_params *params, uint64_t line_rate_bps);

/* The values for today's lines (rogue.md#deployed), of both tables. */
#define ROGUE_DEPLOYED_COUNT 2
extern const struct oche_deployed rogue_deployed[ROGUE_DEPLOYED_COUNT];

#endif
