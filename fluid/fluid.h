/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fluid models of congestion control: one queue of a fixed capacity, and flows whose rates are real
 * numbers. All models share the queue, flows that start at any time, and the run. A model
 * (dcqcn_fluid, timely_fluid) provides the slopes of a flow's components.
 *
 * Rates are bits per second, sizes bytes, times seconds. No model includes PFC: queues are
 * unlimited.
 */
#ifndef OCHE_FLUID_FLUID_H
#define OCHE_FLUID_FLUID_H

#include "fluid/ode.h"

/* `count` equal flows, of which only one is computed. */
struct oche_fluid_flow {
    double rate_bps, start_s;
    uint32_t count;
};

struct oche_fluid_options {
    double tolerance; /* error per step, as a share of the capacity or of the model's own scale */
    double step_s;    /* fixed length of steps; 0: chosen by the error */
};
#define OCHE_FLUID_OPTIONS ((struct oche_fluid_options){.tolerance = 1e-6})

struct oche_fluid;

/*
 * Called after each step [begin, end], in seconds; oche_fluid_at can be used for times within it.
 */
typedef void oche_fluid_observer(void *context, const struct oche_fluid *fluid, double begin,
                                 double end);

/*
 * Runs until `until_s`. Returns false if the solution has become meaningless (not a number), which
 * indicates unrealistic parameters.
 */
bool oche_fluid_run(struct oche_fluid *fluid, double until_s, oche_fluid_observer *observer,
                    void *context);
void oche_fluid_free(struct oche_fluid *fluid);

double oche_fluid_time(const struct oche_fluid *fluid);
double oche_fluid_capacity(const struct oche_fluid *fluid);
/* Return the number of entries of the flow list, and the `count` of an entry. */
size_t oche_fluid_flows(const struct oche_fluid *fluid);
uint32_t oche_fluid_flow_count(const struct oche_fluid *fluid, size_t flow);
bool oche_fluid_started(const struct oche_fluid *fluid, size_t flow);
struct oche_ode_counts oche_fluid_counts(const struct oche_fluid *fluid);

/*
 * Returns the queue in bytes at a time within the last step or shortly before. If rates_bps is not
 * NULL, it has room for one rate per entry of the flow list, and gets the rate of one flow of each
 * entry.
 */
double oche_fluid_at(const struct oche_fluid *fluid, double time_s, double *rates_bps);

/* ---- for models ---- */

/*
 * Components: number 0 is the queue. Then come the first components of all flows (their rates),
 * then the second components of all flows, and so on.
 */
struct oche_fluid_kind {
    const char *name;
    size_t per_flow; /* components per flow */
    /* Sets the components of a flow that starts with this rate; [0] is the rate. */
    void (*start)(const struct oche_fluid *fluid, double rate_bps, double *components);
    /* optional: releases what the model itself has allocated */
    void (*free)(struct oche_fluid *fluid);
};

/* The first member of a model. */
struct oche_fluid {
    const struct oche_fluid_kind *kind;
    struct oche_ode_system system; /* the model fills in delays and levels */
    struct oche_ode *ode;
    double capacity_bps;
    struct oche_fluid_flow *flows;
    size_t flow_count;
    bool *active;                  /* by flow: it has started */
    double *scale, *lower, *upper; /* by component; the model may change the defaults */
};

/*
 * Initialises `fluid`, in which the model has set kind, capacity_bps and system.slope, and zeroed
 * all else. Only the queue gets a bound: it is never below 0. Then the model completes `fluid`, and
 * oche_fluid_begin makes it ready to run.
 */
void oche_fluid_init(struct oche_fluid *fluid, const struct oche_fluid_flow *flows, size_t count);
void oche_fluid_begin(struct oche_fluid *fluid, const struct oche_fluid_options *options);

static inline size_t oche_fluid_component(const struct oche_fluid *fluid, size_t flow,
                                          size_t component)
{
    return 1 + component * fluid->flow_count + flow;
}

/* Equation 6 of DCQCN: returns the growth of the queue in bytes per second. */
double oche_fluid_queue_slope(const struct oche_fluid *fluid, const double *rates_bps);

#endif
