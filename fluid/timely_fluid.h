/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY's fluid model, original and patched (timely.md#fluid-model: Zhu et al., "ECN or Delay",
 * CoNEXT 2016, sec 4). A flow is a rate and an RTT gradient. Feedback is delayed by the time in the
 * queue, the time of a packet, and `delay`. A flow updates its rate after each segment, or after
 * min_rtt if that is longer. There is no hyperactive increase.
 *
 * One difference from the published model: there the delay of feedback depends on the current
 * queue, so feedback would never arrive while the queue grows as fast as the capacity or faster.
 * Here the delay depends on the queue that the packet itself met. At a fixed point both delays are
 * the same.
 *
 * Thresholds are compared with the sum of the queueing delay and base_rtt, because a NIC measures
 * the whole round trip. In the published model base_rtt is 0.
 *
 * Original: between t_low and t_high the rate rises while the gradient is 0 or less, so there is no
 * fixed point. Patched: increase and decrease are weighted by the gradient, and the decrease
 * follows the queue's distance from t_low: there is one fixed point.
 */
#ifndef OCHE_FLUID_TIMELY_FLUID_H
#define OCHE_FLUID_TIMELY_FLUID_H

#include "core/base.h"
#include "core/param.h"
#include "fluid/control.h"
#include "fluid/fluid.h"

/* Parameters as a user gives them. There are two tables, which differ in beta's default. */
struct oche_timely_params {
    uint64_t capacity_bps, packet_bytes;
    oche_time delay; /* round trip of an empty path */
    oche_time t_low, t_high, min_rtt, base_rtt;
    uint64_t segment_bytes, delta_bps;
    double beta, ewma, gradient_limit; /* gradient_limit: patched model only */
};
extern const struct oche_param_table oche_timely_params, oche_timely_patched_params;

/* Rates in bits per second, sizes in bytes, times in seconds. */
struct oche_timely_model {
    bool patched;
    double capacity, packet, delay;
    double t_low, t_high, min_rtt, base_rtt, segment, delta;
    double beta, ewma, gradient_limit;
};
struct oche_timely_model oche_timely_model(const struct oche_timely_params *params, bool patched);

/* Returns NULL, or "name: what is wrong; what would be right" if values do not fit together. */
const char *oche_timely_params_check(const struct oche_timely_params *params);

/*
 * Creates a run. The parameters must have passed the check, and rates must be in (0, capacity]. To
 * be released with oche_fluid_free.
 */
struct oche_fluid *oche_timely_fluid_create(const struct oche_timely_model *model,
                                            const struct oche_fluid_flow *flows, size_t count,
                                            const struct oche_fluid_options *options);

/* The fixed point of patched TIMELY, at which all flows have capacity / flows. */
struct oche_timely_point {
    double rate_bps, queue;    /* bytes */
    bool exists;               /* the model is patched, and the queue is between 0 and t_high */
    struct oche_margin margin; /* margin of the loop that the queue closes */
    int unstable_roots;        /* 0: stable; -1: at the limit of stability */
    double decay_s;            /* time in which a difference between two rates falls to 1/e */
};
struct oche_timely_point oche_timely_fixed_point(const struct oche_timely_model *model,
                                                 double flows);

#endif
