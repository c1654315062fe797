/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fluid models of congestion control: one queue of a fixed capacity, and flows whose rates are
 * real numbers. What all models share: the queue, flows that start when they like, the run.
 * A model (dcqcn_fluid, timely_fluid) brings the slopes of what a flow is made of.
 *
 * Rates are bits per second, sizes bytes, times seconds. PFC is in no model: queues have no end.
 */
#ifndef OCHE_FLUID_FLUID_H
#define OCHE_FLUID_FLUID_H

#include "fluid/ode.h"

/* `count` flows that are alike in everything: one of them is computed. */
struct oche_fluid_flow {
    double rate_bps, start_s;
    uint32_t count;
};

struct oche_fluid_options {
    double tolerance; /* of a step, as a share of the capacity and of the model's own scales */
    double step_s;    /* 0: chosen by the error; else fixed */
};
#define OCHE_FLUID_OPTIONS ((struct oche_fluid_options){.tolerance = 1e-6})

struct oche_fluid;

/* Called after each step, [begin, end] in seconds; oche_fluid_at answers for times in it. */
typedef void oche_fluid_observer(void *context, const struct oche_fluid *fluid, double begin,
                                 double end);

/*
 * Runs on to `until_s`. False if the solution has become meaningless (not a number), which is a
 * sign of parameters that no network has.
 */
bool oche_fluid_run(struct oche_fluid *fluid, double until_s, oche_fluid_observer *observer,
                    void *context);
void oche_fluid_free(struct oche_fluid *fluid);

double oche_fluid_time(const struct oche_fluid *fluid);
double oche_fluid_capacity(const struct oche_fluid *fluid);
/* Entries of the flow list; `count` of an entry. */
size_t oche_fluid_flows(const struct oche_fluid *fluid);
uint32_t oche_fluid_flow_count(const struct oche_fluid *fluid, size_t flow);
bool oche_fluid_started(const struct oche_fluid *fluid, size_t flow);
struct oche_ode_counts oche_fluid_counts(const struct oche_fluid *fluid);

/*
 * The queue in bytes, and the rate of one flow of each entry (rates_bps: room for all of them, or
 * NULL), at a time within the last step, or not long ago.
 */
double oche_fluid_at(const struct oche_fluid *fluid, double time_s, double *rates_bps);

/* ---- for models ---- */

/* Components: 0 the queue, then the first of every flow (its rate), then the second, … */
struct oche_fluid_kind {
    const char *name;
    size_t per_flow; /* components */
    /* A flow starts with this rate: sets its components, of which [0] is the rate. */
    void (*start)(const struct oche_fluid *fluid, double rate_bps, double *components);
    void (*free)(struct oche_fluid *fluid); /* optional: what the model allocated beside */
};

/* The first member of a model. */
struct oche_fluid {
    const struct oche_fluid_kind *kind;
    struct oche_ode_system system; /* the model fills what concerns delays and levels */
    struct oche_ode *ode;
    double capacity_bps;
    struct oche_fluid_flow *flows;
    size_t flow_count;
    bool *active;                  /* by flow: has started */
    double *scale, *lower, *upper; /* by component; the model changes what is not usual */
};

/*
 * Fills `fluid` (zeroed but for kind, capacity_bps and system.slope); every component is free, but
 * the queue never below 0. Then the model completes it, and oche_fluid_begin makes it run.
 */
void oche_fluid_init(struct oche_fluid *fluid, const struct oche_fluid_flow *flows, size_t count);
void oche_fluid_begin(struct oche_fluid *fluid, const struct oche_fluid_options *options);

static inline size_t oche_fluid_component(const struct oche_fluid *fluid, size_t flow,
                                          size_t component)
{
    return 1 + component * fluid->flow_count + flow;
}

/* Equation 6 of DCQCN: what the queue gains, in bytes a second. */
double oche_fluid_queue_slope(const struct oche_fluid *fluid, const double *rates_bps);

#endif
