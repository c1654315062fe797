/* SPDX-License-Identifier: Apache-2.0 */
/* Runge-Kutta of order 4(3) with a past, and with times at which slopes jump; see ode.h. */
#include "fluid/ode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define SHORTEST_STEP 1e-12 /* seconds: below this, errors are accepted */
#define SAFETY        0.9
#define MOST_GROWTH   4.0
#define MOST_SHRINK   0.2
/* fraction of half a step by which a time is moved to one side of a jump */
#define NUDGE         1e-7
#define LOCATE_ROUNDS 4 /* attempts to end a step at a bound before it is cut there */

enum { K1, K2, K3, K4, K5, TRIAL, NEXT, ARRAYS };

struct oche_ode {
    const struct oche_ode_system *system;
    struct oche_ode_options options;
    double time, step;    /* current time; the step to try next */
    double *state;        /* at `time` */
    double *work[ARRAYS]; /* slopes of the stages, and states */
    bool slope_known;     /* work[K1] is the slope at `time`, on the side of the next step */
    double middle;        /* the middle of the step being tried */
    size_t *held;         /* the components that are at a bound when the step begins */
    size_t held_count;
    double *breaks; /* times at which a step must end, ascending */
    size_t break_count, break_capacity;
    struct oche_ode_counts counts;

    /*
     * The past: a ring of nodes, ascending in time. Where something jumps, two nodes have the same
     * time.
     */
    double *node_time;
    double *nodes; /* state and slope of each node */
    size_t first, count, capacity;
};

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    OCHE_GOT(memory != NULL);
    return memory;
}

/* ---- the past ---- */

static size_t slot(const struct oche_ode *ode, size_t number)
{
    return (ode->first + number) & (ode->capacity - 1);
}

static double node_time(const struct oche_ode *ode, size_t number)
{
    return ode->node_time[slot(ode, number)];
}

/* Returns the state of a node; the node's slope follows in memory. */
static double *node(const struct oche_ode *ode, size_t number)
{
    return ode->nodes + slot(ode, number) * 2 * ode->system->size;
}

static void grow_past(struct oche_ode *ode)
{
    size_t capacity = ode->capacity == 0 ? 64 : 2 * ode->capacity;
    size_t width = 2 * ode->system->size;
    double *times = make(capacity, sizeof(*times)), *nodes = make(capacity * width, sizeof(*nodes));

    for (size_t i = 0; i < ode->count; i++) {
        times[i] = node_time(ode, i);
        memcpy(nodes + i * width, node(ode, i), width * sizeof(*nodes));
    }
    free(ode->node_time);
    free(ode->nodes);
    ode->node_time = times;
    ode->nodes = nodes;
    ode->capacity = capacity;
    ode->first = 0;
}

/* Adds a node for the current time. Drops nodes that are too old, except those of the last step. */
static void remember(struct oche_ode *ode, const double *slope)
{
    size_t size = ode->system->size;
    double oldest = ode->time - ode->system->longest_delay;

    if (ode->count > 2) {
        oldest = fmin(oldest, node_time(ode, ode->count - 2));
        while (ode->count > 2 && node_time(ode, 1) < oldest) {
            ode->first = slot(ode, 1);
            ode->count--;
        }
    }
    if (ode->count == ode->capacity)
        grow_past(ode);
    double *at = node(ode, ode->count);

    ode->node_time[slot(ode, ode->count)] = ode->time;
    memcpy(at, ode->state, size * sizeof(*at));
    memcpy(at + size, slope, size * sizeof(*at));
    ode->count++;
}

/* Returns the number of the last node at or before `time`; 0 if it is before all of them. */
static size_t find(const struct oche_ode *ode, double time)
{
    size_t low = 0, high = ode->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (node_time(ode, middle) <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Evaluates the piece that begins at node `number`, at `time`. */
static void interpolate(const struct oche_ode *ode, size_t number, double time, size_t first,
                        size_t count, double *out)
{
    const double *left = node(ode, number) + first;
    size_t size = ode->system->size;
    double step = number + 1 < ode->count ? node_time(ode, number + 1) - node_time(ode, number) : 0;

    if (step <= 0 || time <= node_time(ode, number)) {
        memcpy(out, left, count * sizeof(*out));
        return;
    }
    const double *right = node(ode, number + 1) + first;
    double x = (time - node_time(ode, number)) / step, back = 1 - x;
    double y0 = (1 + 2 * x) * back * back, f0 = step * x * back * back;
    double y1 = x * x * (3 - 2 * x), f1 = -step * x * x * back;

    for (size_t i = 0; i < count; i++)
        out[i] = y0 * left[i] + f0 * left[size + i] + y1 * right[i] + f1 * right[size + i];
}

void oche_ode_past(const struct oche_ode *ode, double time, double delay, size_t first,
                   size_t count, double *out)
{
    double at = time - delay;

    interpolate(ode, find(ode, at + NUDGE * (ode->middle - time)), at, first, count, out);
}

void oche_ode_at(const struct oche_ode *ode, double time, size_t first, size_t count, double *out)
{
    interpolate(ode, find(ode, time), time, first, count, out);
}

/* ---- future jumps ---- */

/*
 * Adds a time at which slopes jump. Returns false if the time is not in the future, so that they
 * jump now.
 */
static bool add_break(struct oche_ode *ode, double time)
{
    size_t at = ode->break_count;

    if (!(time > ode->time + SHORTEST_STEP))
        return false;
    if (ode->break_count == ode->break_capacity) {
        ode->break_capacity = ode->break_capacity == 0 ? 16 : 2 * ode->break_capacity;
        ode->breaks = realloc(ode->breaks, ode->break_capacity * sizeof(*ode->breaks));
        OCHE_GOT(ode->breaks != NULL);
    }
    while (at > 0 && ode->breaks[at - 1] > time) {
        ode->breaks[at] = ode->breaks[at - 1];
        at--;
    }
    ode->breaks[at] = time;
    ode->break_count++;
    return true;
}

/* The cubic of the last step, at x from 0 to 1. */
struct cubic {
    double y0, f0, y1, f1; /* slopes times the step */
};

static double cubic_at(const struct cubic *c, double x)
{
    double back = 1 - x;

    return (1 + 2 * x) * back * back * c->y0 + x * back * back * c->f0 +
           x * x * (3 - 2 * x) * c->y1 - x * x * back * c->f1;
}

/* Finds where the cubic turns within (0, 1), ascending. Returns how many times. */
static unsigned turns(const struct cubic *c, double at[2])
{
    double a = 3 * (2 * (c->y0 - c->y1) + c->f0 + c->f1);
    double b = 2 * (3 * (c->y1 - c->y0) - 2 * c->f0 - c->f1), root;
    unsigned found = 0;

    if (a == 0)
        root = b == 0 ? -1 : -c->f0 / b;
    else
        root = b * b - 4 * a * c->f0;
    if (a == 0 || root < 0) {
        if (a == 0 && root > 0 && root < 1)
            at[found++] = root;
        return found;
    }
    root = sqrt(root);
    double low = (-b - root) / (2 * a), high = (-b + root) / (2 * a);

    if (low > high) {
        double swap = low;
        low = high;
        high = swap;
    }
    if (low > 0 && low < 1)
        at[found++] = low;
    if (high > low && high > 0 && high < 1)
        at[found++] = high;
    return found;
}

/* Returns where the cubic passes `level`, between `low` and `high`, which lie on either side. */
static double bisect(const struct cubic *c, double level, double low, double high)
{
    bool above = cubic_at(c, low) > level;

    for (unsigned i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if ((cubic_at(c, middle) > level) == above)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/*
 * Finds where levels were crossed in the last step. Returns true if, because of a crossing, slopes
 * jump right at the end of the step.
 */
static bool find_crossings(struct oche_ode *ode, double begin, double step)
{
    const struct oche_ode_system *system = ode->system;
    bool now = false;

    for (size_t i = 0; i < system->level_count; i++) {
        const struct oche_ode_level *level = &system->levels[i];
        size_t which = level->component;
        const double *left = node(ode, ode->count - 2), *right = node(ode, ode->count - 1);
        struct cubic cubic = {left[which], step * left[system->size + which], right[which],
                              step * right[system->size + which]};
        double at[4] = {0};
        unsigned count = 1 + turns(&cubic, at + 1);

        at[count] = 1;
        for (unsigned k = 0; k < count; k++)
            if ((cubic_at(&cubic, at[k]) > level->level) !=
                (cubic_at(&cubic, at[k + 1]) > level->level))
                now |= !add_break(ode, begin + level->delay +
                                           step * bisect(&cubic, level->level, at[k], at[k + 1]));
    }
    return now;
}

/* ---- a step ---- */

/* A component that a bound holds can only move inwards. */
static void hold(const struct oche_ode *ode, double *slope)
{
    for (size_t i = 0; i < ode->held_count; i++) {
        size_t which = ode->held[i];

        slope[which] = ode->state[which] <= ode->system->lower[which] ? fmax(slope[which], 0)
                                                                      : fmin(slope[which], 0);
    }
}

static void slope_at(struct oche_ode *ode, double time, const double *state, double *slope)
{
    ode->counts.slopes++;
    ode->system->slope(ode->system->context, ode, time, state, slope);
    hold(ode, slope);
}

static void find_held(struct oche_ode *ode)
{
    const struct oche_ode_system *system = ode->system;

    ode->held_count = 0;
    for (size_t i = 0; i < system->size; i++)
        if (ode->state[i] <= system->lower[i] || ode->state[i] >= system->upper[i])
            ode->held[ode->held_count++] = i;
}

/*
 * Tries a step: computes the state work[NEXT] and its slope work[K5]. Returns the error divided by
 * the allowed error.
 */
static double attempt(struct oche_ode *ode, double step)
{
    const struct oche_ode_system *system = ode->system;
    const double *y = ode->state;
    double *k1 = ode->work[K1], *k2 = ode->work[K2], *k3 = ode->work[K3], *k4 = ode->work[K4];
    double *k5 = ode->work[K5], *trial = ode->work[TRIAL], *next = ode->work[NEXT];
    double error = 0;
    size_t size = system->size;

    ode->middle = ode->time + step / 2;
    if (system->begin_step != NULL)
        system->begin_step(system->context, ode, ode->time, step);
    if (!ode->slope_known)
        slope_at(ode, ode->time, y, k1);
    ode->slope_known = true;
    for (size_t i = 0; i < size; i++)
        trial[i] = y[i] + step / 3 * k1[i];
    slope_at(ode, ode->time + step / 3, trial, k2);
    for (size_t i = 0; i < size; i++)
        trial[i] = y[i] + step * (k2[i] - k1[i] / 3);
    slope_at(ode, ode->time + step * 2 / 3, trial, k3);
    for (size_t i = 0; i < size; i++)
        trial[i] = y[i] + step * (k1[i] - k2[i] + k3[i]);
    slope_at(ode, ode->time + step, trial, k4);
    for (size_t i = 0; i < size; i++)
        next[i] = y[i] + step / 8 * (k1[i] + 3 * (k2[i] + k3[i]) + k4[i]);
    slope_at(ode, ode->time + step, next, k5);
    for (size_t i = 0; i < size; i++) {
        double wrong = fabs(k1[i] / 24 + (k3[i] + k4[i] - k2[i]) / 8 - k5[i] / 6) * step;

        error = fmax(error, wrong / system->scale[i]);
    }
    return error / ode->options.tolerance;
}

/*
 * Returns the part of the step (0 to 1) after which a component first reaches a bound that it
 * passes by more than is allowed; 1: none does.
 */
static double part_to_bound(const struct oche_ode *ode, double step)
{
    const struct oche_ode_system *system = ode->system;
    double part = 1;

    for (size_t i = 0; i < system->size; i++) {
        double value = ode->work[NEXT][i], allowed = system->scale[i] * ode->options.tolerance;
        double bound = value < system->lower[i] ? system->lower[i] : system->upper[i];

        if (value >= system->lower[i] - allowed && value <= system->upper[i] + allowed)
            continue;
        struct cubic cubic = {ode->state[i], step * ode->work[K1][i], value,
                              step * ode->work[K5][i]};
        bool starts_inside =
            bound == system->lower[i] ? ode->state[i] > bound : ode->state[i] < bound;

        if (starts_inside)
            part = fmin(part, bisect(&cubic, bound, 0, 1));
    }
    return part;
}

static double longest_step(const struct oche_ode *ode, double until)
{
    double most = fmin(ode->options.longest_step, ode->system->shortest_delay);
    double end = until;

    if (ode->break_count > 0)
        end = fmin(end, ode->breaks[0]);
    double rest = end - ode->time, step = fmin(ode->step, most);

    if (rest <= step * (1 + 1e-9))
        return rest;
    /*
     * If a step would leave a tiny rest, prefers two halves. Steps of fixed length are not changed.
     */
    return ode->options.step == 0 && rest < 2 * step ? rest / 2 : step;
}

static double next_length(double step, double error)
{
    double factor = error <= 0 ? MOST_GROWTH : SAFETY * pow(error, -0.25);

    return step * fmin(MOST_GROWTH, fmax(MOST_SHRINK, factor));
}

/*
 * Finds a step that is accurate enough and ends inside the bounds or at a bound. Returns its
 * length.
 */
static double find_step(struct oche_ode *ode, double until)
{
    bool fixed = ode->options.step > 0;
    double step = longest_step(ode, until);
    unsigned rounds = 0;

    for (;;) {
        bool shortest = step <= SHORTEST_STEP;
        double error = attempt(ode, step);

        if (!fixed && !(error <= 1) && !shortest) {
            ode->counts.rejected++;
            step = isfinite(error) ? next_length(step, error) : step * MOST_SHRINK;
            step = fmax(step, SHORTEST_STEP);
            ode->step = step;
            continue;
        }
        double part = part_to_bound(ode, step);

        if (part < 1 && rounds++ < LOCATE_ROUNDS && !shortest) {
            step = fmax(step * part, SHORTEST_STEP);
            continue;
        }
        ode->counts.forced += !fixed && !(error <= 1);
        if (!fixed && rounds == 0) /* after a step that a bound has cut short, keep the length */
            ode->step = fmax(next_length(step, error), step < ode->step ? ode->step : 0);
        return step;
    }
}

/*
 * Moves components that have passed a bound back to it. Returns true if other components are at
 * bounds now than before.
 */
static bool cut(struct oche_ode *ode)
{
    const struct oche_ode_system *system = ode->system;
    size_t held = 0;
    bool changed = false;

    for (size_t i = 0; i < system->size; i++) {
        ode->state[i] = fmin(fmax(ode->state[i], system->lower[i]), system->upper[i]);
        if (ode->state[i] > system->lower[i] && ode->state[i] < system->upper[i])
            continue;
        changed |= held >= ode->held_count || ode->held[held] != i;
        held++;
    }
    return changed || held != ode->held_count;
}

/* True if the step began with the state and the slope with which the last step ended. */
static bool went_on(const struct oche_ode *ode)
{
    size_t bytes = ode->system->size * sizeof(*ode->state);
    const double *last = node(ode, ode->count - 1);

    return memcmp(last, ode->state, bytes) == 0 &&
           memcmp(last + ode->system->size, ode->work[K1], bytes) == 0;
}

double oche_ode_step(struct oche_ode *ode, double until)
{
    double begin = ode->time;

    OCHE_MUST(until > ode->time);
    if (!ode->slope_known)
        find_held(ode);
    double step = find_step(ode, until);

    if (!went_on(ode))
        remember(ode, ode->work[K1]);
    ode->time = fabs(begin + step - until) <= SHORTEST_STEP ? until : begin + step;
    memcpy(ode->state, ode->work[NEXT], ode->system->size * sizeof(*ode->state));
    bool changed = cut(ode);

    remember(ode, ode->work[K5]);
    ode->counts.steps++;
    changed |= find_crossings(ode, begin, step);
    double *swap = ode->work[K1];

    ode->work[K1] = ode->work[K5];
    ode->work[K5] = swap;
    while (ode->break_count > 0 && ode->breaks[0] <= ode->time + SHORTEST_STEP) {
        memmove(ode->breaks, ode->breaks + 1, --ode->break_count * sizeof(*ode->breaks));
        changed = true;
    }
    ode->slope_known = !changed;
    return ode->time;
}

/* ---- the rest ---- */

struct oche_ode *oche_ode_create(const struct oche_ode_system *system,
                                 const struct oche_ode_options *options, double time,
                                 const double *state)
{
    struct oche_ode *ode = make(1, sizeof(*ode));

    ode->system = system;
    ode->options = *options;
    ode->time = time;
    ode->step = options->step > 0 ? options->step : fmin(options->longest_step, 1e-6);
    ode->state = make(system->size, sizeof(*ode->state));
    memcpy(ode->state, state, system->size * sizeof(*state));
    for (unsigned i = 0; i < ARRAYS; i++)
        ode->work[i] = make(system->size, sizeof(**ode->work));
    ode->held = make(system->size, sizeof(*ode->held));
    remember(ode, ode->work[K1]); /* the state was constant before, so its slope was 0 */
    return ode;
}

void oche_ode_free(struct oche_ode *ode)
{
    if (ode == NULL)
        return;
    for (unsigned i = 0; i < ARRAYS; i++)
        free(ode->work[i]);
    free(ode->state);
    free(ode->held);
    free(ode->breaks);
    free(ode->node_time);
    free(ode->nodes);
    free(ode);
}

void oche_ode_jump(struct oche_ode *ode, size_t component, double value)
{
    ode->state[component] = value;
    ode->slope_known = false;
    for (size_t i = 0; i < ode->system->delay_count; i++)
        add_break(ode, ode->time + ode->system->delays[i]);
}

double oche_ode_time(const struct oche_ode *ode)
{
    return ode->time;
}

const double *oche_ode_state(const struct oche_ode *ode)
{
    return ode->state;
}

struct oche_ode_counts oche_ode_counts(const struct oche_ode *ode)
{
    return ode->counts;
}
