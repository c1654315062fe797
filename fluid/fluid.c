/* SPDX-License-Identifier: Apache-2.0 */
/* What fluid models share; see fluid.h. */
#include "fluid/fluid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define MOST_PER_FLOW 8

static double *make_filled(size_t count, double value)
{
    double *list = malloc(count * sizeof(*list));

    OCHE_GOT(list != NULL);
    for (size_t i = 0; i < count; i++)
        list[i] = value;
    return list;
}

void oche_fluid_init(struct oche_fluid *fluid, const struct oche_fluid_flow *flows, size_t count)
{
    size_t size = 1 + count * fluid->kind->per_flow;

    OCHE_MUST(count > 0 && fluid->kind->per_flow <= MOST_PER_FLOW);
    fluid->flow_count = count;
    fluid->flows = malloc(count * sizeof(*flows));
    fluid->active = calloc(count, sizeof(*fluid->active));
    OCHE_GOT(fluid->flows != NULL && fluid->active != NULL);
    memcpy(fluid->flows, flows, count * sizeof(*flows));
    fluid->scale = make_filled(size, fluid->capacity_bps);
    fluid->lower = make_filled(size, -INFINITY);
    fluid->upper = make_filled(size, INFINITY);
    fluid->lower[0] = 0;
    fluid->system.size = size;
    fluid->system.context = fluid;
    fluid->system.scale = fluid->scale;
    fluid->system.lower = fluid->lower;
    fluid->system.upper = fluid->upper;
}

void oche_fluid_begin(struct oche_fluid *fluid, const struct oche_fluid_options *options)
{
    struct oche_ode_options ode = {
        .tolerance = options->tolerance,
        .step = options->step_s,
        .longest_step = INFINITY,
    };
    double *state = make_filled(fluid->system.size, 0);

    fluid->ode = oche_ode_create(&fluid->system, &ode, 0, state);
    free(state);
}

void oche_fluid_free(struct oche_fluid *fluid)
{
    if (fluid == NULL)
        return;
    if (fluid->kind->free != NULL)
        fluid->kind->free(fluid);
    oche_ode_free(fluid->ode);
    free(fluid->flows);
    free(fluid->active);
    free(fluid->scale);
    free(fluid->lower);
    free(fluid->upper);
    free(fluid);
}

static void start_flow(struct oche_fluid *fluid, size_t flow)
{
    double components[MOST_PER_FLOW] = {0};

    fluid->active[flow] = true;
    fluid->kind->start(fluid, fluid->flows[flow].rate_bps, components);
    for (size_t i = 0; i < fluid->kind->per_flow; i++)
        oche_ode_jump(fluid->ode, oche_fluid_component(fluid, flow, i), components[i]);
}

/* Starts the flows that start now. Returns when the next one starts, at most `until`. */
static double start_flows(struct oche_fluid *fluid, double until)
{
    for (size_t i = 0; i < fluid->flow_count; i++) {
        if (fluid->active[i])
            continue;
        if (fluid->flows[i].start_s <= oche_ode_time(fluid->ode))
            start_flow(fluid, i);
        else
            until = fmin(until, fluid->flows[i].start_s);
    }
    return until;
}

bool oche_fluid_run(struct oche_fluid *fluid, double until_s, oche_fluid_observer *observer,
                    void *context)
{
    while (oche_ode_time(fluid->ode) < until_s) {
        double stop = start_flows(fluid, until_s);

        while (oche_ode_time(fluid->ode) < stop) {
            double begin = oche_ode_time(fluid->ode), end = oche_ode_step(fluid->ode, stop);

            if (!isfinite(oche_ode_state(fluid->ode)[0]))
                return false;
            if (observer != NULL)
                observer(context, fluid, begin, end);
        }
    }
    return true;
}

double oche_fluid_queue_slope(const struct oche_fluid *fluid, const double *rates_bps)
{
    double sum = -fluid->capacity_bps;

    for (size_t i = 0; i < fluid->flow_count; i++)
        sum += fluid->flows[i].count * rates_bps[i];
    return sum / 8;
}

double oche_fluid_at(const struct oche_fluid *fluid, double time_s, double *rates_bps)
{
    double queue;

    oche_ode_at(fluid->ode, time_s, 0, 1, &queue);
    if (rates_bps != NULL)
        oche_ode_at(fluid->ode, time_s, 1, fluid->flow_count, rates_bps);
    return fmax(queue, 0) + 0.0; /* the cubic may go below 0 if the queue is empty at its end */
}

double oche_fluid_time(const struct oche_fluid *fluid)
{
    return oche_ode_time(fluid->ode);
}

double oche_fluid_capacity(const struct oche_fluid *fluid)
{
    return fluid->capacity_bps;
}

size_t oche_fluid_flows(const struct oche_fluid *fluid)
{
    return fluid->flow_count;
}

uint32_t oche_fluid_flow_count(const struct oche_fluid *fluid, size_t flow)
{
    return fluid->flows[flow].count;
}

bool oche_fluid_started(const struct oche_fluid *fluid, size_t flow)
{
    return fluid->active[flow];
}

struct oche_ode_counts oche_fluid_counts(const struct oche_fluid *fluid)
{
    return oche_ode_counts(fluid->ode);
}
