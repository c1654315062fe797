/* SPDX-License-Identifier: Apache-2.0 */
/* Equations 5 to 9 of DCQCN, in packets and packets a second: see the header. */
#include "tests/support/dcqcn_fluid.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/test.h"

struct flow {
    double rc, rt, alpha;
};

/* What the model remembers of each step, for `delay`. */
struct past {
    double mark, rate[2];
};

/* Equation 5. */
static double mark(const struct dcqcn_fluid *f, double queue_bytes)
{
    if (queue_bytes <= f->kmin)
        return 0;
    if (queue_bytes > f->kmax)
        return 1;
    return (queue_bytes - f->kmin) / (f->kmax - f->kmin) * f->pmax;
}

/* p / ((1-p)^-n - 1), the rate of events that need n packets without a mark; 1/n at p = 0. */
static double events(double p, double n)
{
    if (p <= 0)
        return 1 / n;
    return p >= 1 ? 0 : p / expm1(-n * log1p(-p));
}

/* Equations 7, 8 and 9 for one flow. `rate` and `p` are what they were `delay` ago. */
static void advance(const struct dcqcn_fluid *f, struct flow *flow, double rate, double p)
{
    double bits = 8 * f->packet, rai = f->rai / bits, capacity = f->capacity / bits;
    double bytes = f->byte_counter / f->packet, times = f->timer * rate;
    double cut = 1 - pow(1 - p, f->cnp_interval * rate);
    double by_bytes = events(p, bytes), by_time = events(p, times);
    double steady = by_bytes * pow(1 - p, f->fast_recovery_steps * bytes) +
                    by_time * pow(1 - p, f->fast_recovery_steps * times);
    double alpha =
        f->g / f->alpha_interval * (1 - pow(1 - p, f->alpha_interval * rate) - flow->alpha);
    double rt = -(flow->rt - flow->rc) / f->cnp_interval * cut + rai * rate * steady;
    double rc = -flow->rc * flow->alpha / (2 * f->cnp_interval) * cut +
                (flow->rt - flow->rc) / 2 * rate * (by_bytes + by_time);

    flow->alpha += f->step * alpha;
    flow->rt = fmin(flow->rt + f->step * rt, capacity);
    flow->rc = fmin(flow->rc + f->step * rc, capacity);
}

void dcqcn_fluid_run(const struct dcqcn_fluid *f, double duration, dcqcn_fluid_observer *observer,
                     void *context)
{
    double bits = 8 * f->packet, queue = 0;
    long delay = lround(f->delay / f->step), steps = lround(duration / f->step);
    struct past *past = calloc((size_t)delay + 1, sizeof(*past));
    struct flow flow[2];

    assert_non_null(past);
    for (int i = 0; i < 2; i++)
        flow[i] = (struct flow){f->initial[i] / bits, f->initial[i] / bits, 1};
    for (long k = 0; k <= delay; k++)
        past[k] = (struct past){0, {flow[0].rc, flow[1].rc}};
    for (long k = 0; k < steps; k++) {
        past[k % (delay + 1)] = (struct past){mark(f, queue), {flow[0].rc, flow[1].rc}};
        struct past then = past[(k + 1) % (delay + 1)];
        for (int i = 0; i < 2; i++)
            advance(f, &flow[i], then.rate[i], then.mark);
        double rates[2] = {flow[0].rc * bits, flow[1].rc * bits};
        queue = fmax(0, queue + f->step * (rates[0] + rates[1] - f->capacity) / 8); /* eq 6 */
        observer(context, (double)(k + 1) * f->step, rates, queue);
    }
    free(past);
}

struct dcqcn_fluid dcqcn_fluid_deployed(void)
{
    return (struct dcqcn_fluid){
        .capacity = 40e9,
        .packet = 1000,
        .kmin = 5000,
        .kmax = 200000,
        .pmax = 0.01,
        .g = 1.0 / 256,
        .cnp_interval = 50e-6,
        .alpha_interval = 55e-6,
        .timer = 55e-6,
        .byte_counter = 10e6,
        .fast_recovery_steps = 5,
        .rai = 40e6,
        .delay = 4e-6,
        .initial = {40e9, 5e9},
        .step = 0.5e-6,
    };
}
