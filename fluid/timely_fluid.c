/* SPDX-License-Identifier: Apache-2.0 */
/* TIMELY's fluid equations, their integration, and their fixed point; see the header. */
#include "fluid/timely_fluid.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SHARE 1e-4  /* the lowest rate, as a share of the capacity */
#define PAST        3     /* the past is kept for this many times the age of the oldest feedback */
#define PAST_MORE   0.01  /* plus this many seconds */
#define AGE_ERROR   1e-12 /* seconds */
#define AGE_ROUNDS  60
#define SECANTS     8

/* ---- parameters ---- */

/* The parameters of both models, original and patched. */
/* clang-format off */
#define TIMELY_ROWS(beta_value, beta_where) \
    {OCHE_PARAM_AS("capacity", struct oche_timely_params, capacity_bps), \
     OCHE_IS_BPS(10 * OCHE_GBPS, OCHE_MBPS, 100000 * OCHE_GBPS), \
     .where = "timely.md#fluid-defaults", \
     .help = "of the bottleneck"}, \
    {OCHE_PARAM_AS("packet", struct oche_timely_params, packet_bytes), \
     OCHE_IS_BYTES(1000, 1, 1 << 20), .where = "timely.md#fluid-defaults", \
     .help = "size of every packet, on the line"}, \
    {OCHE_PARAM(struct oche_timely_params, delay), \
     OCHE_IS_TIME(4 * OCHE_US, 100 * OCHE_NS, OCHE_SEC), .where = "timely.md#fluid-defaults", \
     .help = "of an empty path, there and back"}, \
    {OCHE_PARAM(struct oche_timely_params, t_low), OCHE_IS_TIME(50 * OCHE_US, OCHE_NS, OCHE_SEC), \
     .where = "timely.md#parameters", .help = "RTT below it: rates rise"}, \
    {OCHE_PARAM(struct oche_timely_params, t_high), \
     OCHE_IS_TIME(500 * OCHE_US, OCHE_NS, OCHE_SEC), .where = "timely.md#parameters", \
     .help = "RTT above it: rates fall"}, \
    {OCHE_PARAM(struct oche_timely_params, min_rtt), \
     OCHE_IS_TIME(20 * OCHE_US, OCHE_NS, OCHE_SEC), .where = "timely.md#parameters", \
     .help = "unit of the gradient, least time between two looks"}, \
    {OCHE_PARAM(struct oche_timely_params, base_rtt), OCHE_IS_TIME(0, 0, OCHE_SEC), \
     .where = "timely.md#fluid-defaults", \
     .help = "round trip of an empty path, as far as thresholds count it; 0: queueing alone"}, \
    {OCHE_PARAM_AS("segment", struct oche_timely_params, segment_bytes), \
     OCHE_IS_BYTES(16000, 1, 1 << 30), .where = "timely.md#fluid-defaults", \
     .help = "a flow looks once a segment"}, \
    {OCHE_PARAM_AS("delta", struct oche_timely_params, delta_bps), \
     OCHE_IS_BPS(10 * OCHE_MBPS, 1, 1000 * OCHE_GBPS), .where = "timely.md#parameters", \
     .help = "step of additive increase"}, \
    {OCHE_PARAM(struct oche_timely_params, beta), OCHE_IS_REAL(beta_value, 1e-9, 1), \
     .where = beta_where, .help = "factor of multiplicative decrease"}, \
    {OCHE_PARAM(struct oche_timely_params, ewma), OCHE_IS_REAL(0.875, 1e-6, 1), \
     .where = "timely.md#parameters", .help = "weight of the newest RTT difference"}
/* clang-format on */

static const struct oche_param timely_rows[] = {TIMELY_ROWS(0.8, "timely.md#parameters")};
const struct oche_param_table oche_timely_params =
    OCHE_PARAM_TABLE(timely_rows, struct oche_timely_params);

static const struct oche_param patched_rows[] = {
    TIMELY_ROWS(0.008, "timely.md#fluid-defaults"),
    {OCHE_PARAM(struct oche_timely_params, gradient_limit), OCHE_IS_REAL(0.25, 1e-3, 1e3),
     .where = "timely.md#fluid-defaults",
     .help = "gradients beyond which the weight of the fall is 0 or 1"},
};
const struct oche_param_table oche_timely_patched_params =
    OCHE_PARAM_TABLE(patched_rows, struct oche_timely_params);

struct oche_timely_model oche_timely_model(const struct oche_timely_params *params, bool patched)
{
    const double second = (double)OCHE_SEC;

    return (struct oche_timely_model){
        .patched = patched,
        .capacity = (double)params->capacity_bps,
        .packet = (double)params->packet_bytes,
        .delay = (double)params->delay / second,
        .t_low = (double)params->t_low / second,
        .t_high = (double)params->t_high / second,
        .min_rtt = (double)params->min_rtt / second,
        .base_rtt = (double)params->base_rtt / second,
        .segment = (double)params->segment_bytes,
        .delta = (double)params->delta_bps,
        .beta = params->beta,
        .ewma = params->ewma,
        .gradient_limit = params->gradient_limit,
    };
}

const char *oche_timely_params_check(const struct oche_timely_params *params)
{
    if (params->t_low >= params->t_high)
        return "t_low: is not below t_high; make it less";
    if (params->delta_bps > params->capacity_bps)
        return "delta: is above capacity; make it a small part of that";
    return NULL;
}

/* ---- the run ---- */

enum component { RATE, GRADIENT, COMPONENTS };

struct timely {
    struct oche_fluid fluid;
    struct oche_timely_model model;
    double least_rate;
    double late; /* the last result of find_age */
};

/* Returns the interval between a flow's updates: tau_i. */
static double look_interval(const struct oche_timely_model *m, double rate)
{
    return fmax(8 * m->segment / rate, m->min_rtt);
}

/* Returns the age of a flow's feedback, t', if the packet found a queue of `queue` bytes. */
static double age(const struct oche_timely_model *m, double queue)
{
    return 8 * (fmax(queue, 0) + m->packet) / m->capacity + m->delay;
}

/*
 * A packet that met the queue at time - late: returns how long after `time` the flow gets the
 * feedback about it. The result falls as `late` grows, and is 0 if the feedback arrives exactly at
 * `time`.
 */
static double too_late(const struct timely *t, const struct oche_ode *ode, double time, double late)
{
    double queue;

    oche_ode_past(ode, time, late, 0, 1, &queue);
    return age(&t->model, queue) - late;
}

/*
 * Finds the age of feedback by false position (Illinois), starting from the smallest possible age.
 * Always succeeds.
 */
static double find_age_surely(const struct timely *t, const struct oche_ode *ode, double time)
{
    double low = age(&t->model, 0), above = too_late(t, ode, time, low);
    double high = low, below = above;

    while (below > 0) {
        low = high;
        above = below;
        high += below + AGE_ERROR;
        below = too_late(t, ode, time, high);
    }
    for (unsigned i = 0; i < AGE_ROUNDS && high - low > AGE_ERROR && above > below; i++) {
        double middle = low + (high - low) * above / (above - below);
        double value = too_late(t, ode, time, middle);

        if (value > 0) {
            low = middle;
            above = value;
            below /= 2;
        } else {
            high = middle;
            below = value;
            above /= 2;
        }
    }
    return high;
}

/*
 * Returns the age of feedback at `time`, which includes the packet's own queueing: by the secant
 * method, starting from the last result, which is close.
 */
static double find_age(struct timely *t, const struct oche_ode *ode, double time)
{
    double least = age(&t->model, 0), before = fmax(t->late, least);
    double wrong_before = too_late(t, ode, time, before), now = before + wrong_before;

    for (unsigned i = 0; i < SECANTS && now >= least; i++) {
        double wrong = too_late(t, ode, time, now), slope = (wrong - wrong_before) / (now - before);

        if (fabs(wrong) < AGE_ERROR)
            return t->late = now;
        if (!(slope < 0))
            break;
        before = now;
        wrong_before = wrong;
        now -= wrong / slope;
    }
    return t->late = find_age_surely(t, ode, time);
}

/* Returns by how much an update changes the rate; `rtt` is in seconds. */
static double change(const struct oche_timely_model *m, double rate, double gradient, double rtt)
{
    if (rtt < m->t_low)
        return m->delta;
    if (rtt > m->t_high)
        return -m->beta * (1 - m->t_high / rtt) * rate;
    if (!m->patched)
        return gradient <= 0 ? m->delta : -m->beta * gradient * rate;
    double weight = fmin(fmax((gradient / m->gradient_limit + 1) / 2, 0), 1);

    return m->delta * (1 - weight) - rate * m->beta * weight * (rtt - m->t_low) / m->t_low;
}

static void slope(void *context, const struct oche_ode *ode, double time, const double *state,
                  double *out)
{
    struct timely *t = context;
    const struct oche_timely_model *m = &t->model;
    size_t n = t->fluid.flow_count;
    double seen, before, late = find_age(t, ode, time);

    out[0] = oche_fluid_queue_slope(&t->fluid, state + 1);
    oche_ode_past(ode, time, late, 0, 1, &seen);
    for (size_t i = 0; i < n; i++) {
        double rate = fmax(state[1 + i], t->least_rate), gradient = state[1 + n + i];
        double interval = look_interval(m, rate);

        if (!t->fluid.active[i]) {
            out[1 + i] = out[1 + n + i] = 0;
            continue;
        }
        oche_ode_past(ode, time, late + interval, 0, 1, &before);
        out[1 + i] = change(m, rate, gradient, 8 * seen / m->capacity + m->base_rtt) / interval;
        out[1 + n + i] =
            m->ewma / interval * (8 * (seen - before) / (m->capacity * m->min_rtt) - gradient);
    }
}

/* Sets how far back the next steps may look. */
static void begin_step(void *context, const struct oche_ode *ode, double time, double step)
{
    struct timely *t = context;
    const double *state = oche_ode_state(ode);
    double slowest = t->model.capacity;

    (void)time;
    for (size_t i = 0; i < t->fluid.flow_count; i++)
        if (t->fluid.active[i])
            slowest = fmin(slowest, fmax(state[1 + i], t->least_rate));
    t->fluid.system.longest_delay =
        PAST * (t->late + look_interval(&t->model, slowest) + step) + PAST_MORE;
}

static void start(const struct oche_fluid *fluid, double rate_bps, double *components)
{
    (void)fluid;
    components[RATE] = rate_bps;
}

static const struct oche_fluid_kind kinds[] = {
    {.name = "timely", .per_flow = COMPONENTS, .start = start},
    {.name = "timely_patched", .per_flow = COMPONENTS, .start = start},
};

struct oche_fluid *oche_timely_fluid_create(const struct oche_timely_model *model,
                                            const struct oche_fluid_flow *flows, size_t count,
                                            const struct oche_fluid_options *options)
{
    struct timely *t = calloc(1, sizeof(*t));

    OCHE_GOT(t != NULL);
    struct oche_fluid *fluid = &t->fluid;

    t->model = *model;
    t->least_rate = LEAST_SHARE * model->capacity;
    fluid->kind = &kinds[model->patched];
    fluid->capacity_bps = model->capacity;
    oche_fluid_init(fluid, flows, count);
    fluid->scale[0] = model->t_low * model->capacity / 8;
    for (size_t i = 0; i < count; i++) {
        fluid->upper[oche_fluid_component(fluid, i, RATE)] = model->capacity;
        fluid->scale[oche_fluid_component(fluid, i, GRADIENT)] = 1;
    }
    fluid->system.slope = slope;
    fluid->system.begin_step = begin_step;
    fluid->system.shortest_delay = age(model, 0);
    fluid->system.longest_delay = INFINITY;
    oche_fluid_begin(fluid, options);
    return fluid;
}

/* ---- the fixed point ---- */

/*
 * The equations linearised around the fixed point, with the same r and g for all flows and the
 * queue q. At the fixed point the rate is R, the interval tau, the delay t', the weight 1/2 with
 * slope 1 / (2 limit), and (q* + base - q') / q' = delta / (beta R), where base is base_rtt in
 * bytes:
 *
 *     r' = (-delta g / limit - delta r / (2 R) - beta R q(t-t') / (2 q')) / tau
 *     g' = (a / tau) ((q(t-t') - q(t-t'-tau)) 8 / (C min_rtt) - g),   q' = N r / 8
 */
struct linear {
    const struct oche_timely_model *model;
    double flows, rate, interval, late;
};

/* Returns the slope of r per unit of q, with the denominators of both equations multiplied out. */
static double complex answer(const struct linear *l, double complex s)
{
    const struct oche_timely_model *m = l->model;
    double complex early = cexp(-s * l->late), older = cexp(-s * (l->late + l->interval));
    double pole = m->ewma / l->interval, aim = m->t_low * m->capacity / 8;

    return m->delta / m->gradient_limit / l->interval * pole * 8 / (m->capacity * m->min_rtt) *
               (early - older) +
           (s + pole) * m->beta * l->rate / (2 * aim * l->interval) * early;
}

static double complex poles(const struct linear *l, double complex s)
{
    double decay = l->model->delta / (2 * l->rate * l->interval);

    return s * (s + l->model->ewma / l->interval) * (s + decay);
}

static double complex open_loop(void *context, double complex s)
{
    const struct linear *l = context;

    return l->flows / 8 * answer(l, s) / poles(l, s);
}

static double complex characteristic(void *context, double complex s)
{
    const struct linear *l = context;

    return poles(l, s) + l->flows / 8 * answer(l, s);
}

struct oche_timely_point oche_timely_fixed_point(const struct oche_timely_model *model,
                                                 double flows)
{
    const struct oche_band band = {1, 1e9};
    double aim = model->t_low * model->capacity / 8;
    struct oche_timely_point point = {
        .rate_bps = model->capacity / flows,
        .queue = aim * (1 + flows * model->delta / (model->beta * model->capacity)) -
                 model->base_rtt * model->capacity / 8,
    };

    point.exists = model->patched && point.queue > 0 &&
                   8 * point.queue < (model->t_high - model->base_rtt) * model->capacity;
    if (!point.exists)
        return point;
    struct linear l = {.model = model,
                       .flows = flows,
                       .rate = point.rate_bps,
                       .interval = look_interval(model, point.rate_bps),
                       .late = age(model, point.queue)};

    point.margin = oche_phase_margin(open_loop, &l, band);
    point.unstable_roots = oche_unstable_roots(characteristic, &l, 3, band);
    point.decay_s = 2 * l.rate * l.interval / model->delta;
    return point;
}
