/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordinary and delay differential equations: y'(t) = f(t, y(t), y(t - d), …), by the method of
 * steps. Explicit Runge-Kutta of order 4 (the 3/8 rule) with an embedded solution of order 3 that
 * uses the slope at the step's end (Hairer, Nørsett, Wanner: Solving Ordinary Differential
 * Equations I, sec II.4); its error estimate chooses the step. The past is kept as cubic Hermite
 * pieces, which are also accurate to order 4.
 *
 * Where the slope jumps, a step ends:
 *   - a component crosses a level that matters some delay later (RED's thresholds): the time of
 *     the crossing is found on the cubic, and a step ends at that time plus the delay;
 *   - a component reaches a bound (an empty queue, a full rate): the step is shortened to end
 *     there. A component at a bound leaves it when its slope points inwards;
 *   - the caller makes a component jump (a flow starts); a step ends there, and again when the
 *     delayed state jumps.
 */
#ifndef OCHE_FLUID_ODE_H
#define OCHE_FLUID_ODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oche_ode;

/* When `component` crosses `level`, slopes jump or bend `delay` later. */
struct oche_ode_level {
    size_t component;
    double level, delay;
};

/* A system of equations. What it points to must outlive the integrator. */
struct oche_ode_system {
    size_t size; /* number of components of the state */
    void *context;
    /* Required: computes the slope of every component. May call oche_ode_past. */
    void (*slope)(void *context, const struct oche_ode *ode, double time, const double *state,
                  double *slope);
    /*
     * Optional: called before slopes are computed for times in [time, time + step], in which
     * nothing jumps. A slope function with several branches chooses one of them here, by the
     * conditions in the middle of the step.
     */
    void (*begin_step)(void *context, const struct oche_ode *ode, double time, double step);
    /*
     * Slopes use the past between these two delays; no step is longer than the shortest. Without
     * delays: INFINITY and 0.
     */
    double shortest_delay, longest_delay;
    const double *delays; /* constant; a jump of the state takes effect again after each delay */
    size_t delay_count;
    const struct oche_ode_level *levels;
    size_t level_count;
    const double *scale; /* by component: the error that a tolerance of 1 allows in a step */
    const double *lower, *upper; /* bounds by component; ±INFINITY: none */
};

struct oche_ode_options {
    double tolerance; /* error per step, in units of `scale`; ignored with fixed steps */
    double step;      /* length of steps (shorter at jumps); 0: chosen by the error */
    double longest_step;
};

/*
 * Counters. A step is forced if the error is too large although the step is the shortest possible.
 */
struct oche_ode_counts {
    uint64_t steps, rejected, forced, slopes;
};

/* Begins at `time` with `state`. Before `time` the state was constant. Memory comes from malloc. */
struct oche_ode *oche_ode_create(const struct oche_ode_system *system,
                                 const struct oche_ode_options *options, double time,
                                 const double *state);
void oche_ode_free(struct oche_ode *ode);

/*
 * Makes one step, at most to `until` (which is later than the current time). Returns the time
 * reached; if it is close to `until`, it is exactly `until`.
 */
double oche_ode_step(struct oche_ode *ode, double until);

double oche_ode_time(const struct oche_ode *ode);
const double *oche_ode_state(const struct oche_ode *ode);
struct oche_ode_counts oche_ode_counts(const struct oche_ode *ode);

/* Sets a component, within its bounds, from now on; the past is unchanged. */
void oche_ode_jump(struct oche_ode *ode, size_t component, double value);

/*
 * For slope functions: returns components [first, first + count) at `time - delay`; `time` lies
 * within the current step. If the past jumps exactly at `time - delay`, the value is that before or
 * after the jump, whichever side has the middle of the step moved back by `delay`.
 */
void oche_ode_past(const struct oche_ode *ode, double time, double delay, size_t first,
                   size_t count, double *out);

/*
 * For observers: the state at `time`, which is within the last step or at most the longest delay
 * ago.
 */
void oche_ode_at(const struct oche_ode *ode, double time, size_t first, size_t count, double *out);

#endif
