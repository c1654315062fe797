/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's equations 5 to 9, and their integration; see the header. Delays are at least as long as a
 * step. So within a step everything that depends on the delayed state is a function of time alone,
 * and is computed once for each time.
 */
#include "fluid/dcqcn_fluid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "core/cc/cc.h"

#define LEAST_DELAY (100 * OCHE_NS)

/* ---- parameters ---- */

static const struct oche_param link_rows[] = {
    {OCHE_PARAM_AS("capacity", struct oche_dcqcn_link_params, capacity_bps),
     OCHE_IS_BPS(40 * OCHE_GBPS, OCHE_MBPS, 100000 * OCHE_GBPS), .where = "dcqcn.md#fluid-defaults",
     .help = "of the bottleneck"},
    {OCHE_PARAM_AS("packet", struct oche_dcqcn_link_params, packet_bytes),
     OCHE_IS_BYTES(1000, 1, 1 << 20), .where = "dcqcn.md#fluid-defaults",
     .help = "size of every packet, on the line"},
    {OCHE_PARAM(struct oche_dcqcn_link_params, delay),
     OCHE_IS_TIME(4 * OCHE_US, LEAST_DELAY, OCHE_SEC), .where = "dcqcn.md#fluid-defaults",
     .help = "from a mark to the rate that answers it, at the queue"},
};
const struct oche_param_table oche_dcqcn_link_params =
    OCHE_PARAM_TABLE(link_rows, struct oche_dcqcn_link_params);

#define FIELD(member)                                                                              \
    {                                                                                              \
#member, offsetof(struct oche_dcqcn_model, member)                                         \
    }
static const struct known {
    const char *name;
    size_t offset;
} known[] = {
    FIELD(capacity),
    FIELD(packet),
    FIELD(delay),
    FIELD(kmin),
    FIELD(kmax),
    FIELD(pmax),
    FIELD(g),
    FIELD(initial_alpha),
    FIELD(alpha_interval),
    FIELD(cnp_interval),
    FIELD(timer),
    FIELD(byte_counter),
    FIELD(fast_recovery_steps),
    FIELD(rai),
};

bool oche_dcqcn_model_set(struct oche_dcqcn_model *model, const struct oche_param *param,
                          union oche_value value)
{
    double number = param->unit == OCHE_UNIT_REAL ? value.real : (double)value.u;

    if (param->unit == OCHE_UNIT_TIME)
        number /= (double)OCHE_SEC;
    for (size_t i = 0; i < OCHE_COUNT_OF(known); i++) {
        if (strcmp(known[i].name, param->name) != 0)
            continue;
        memcpy((char *)model + known[i].offset, &number, sizeof(number));
        return true;
    }
    return false;
}

void oche_dcqcn_model_take(struct oche_dcqcn_model *model, const struct oche_param_table *table,
                           const void *values)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct oche_param *param = &table->params[i];

        if (param->unit != OCHE_UNIT_TEXT)
            oche_dcqcn_model_set(model, param, oche_param_get(param, values));
    }
}

static void take_defaults(struct oche_dcqcn_model *model, const struct oche_param_table *table)
{
    void *values = malloc(table->struct_bytes);

    OCHE_GOT(values != NULL);
    oche_param_defaults(table, values);
    oche_dcqcn_model_take(model, table, values);
    free(values);
}

struct oche_dcqcn_model oche_dcqcn_model(void)
{
    struct oche_dcqcn_model model = {0};

    take_defaults(&model, &oche_dcqcn_link_params);
    take_defaults(&model, &oche_cc_find("dcqcn")->table);
    return model;
}

const char *oche_dcqcn_model_check(const struct oche_dcqcn_model *model)
{
    if (model->kmin > model->kmax)
        return "kmin: is above kmax; make it kmax or less";
    if (model->delay < (double)LEAST_DELAY / (double)OCHE_SEC)
        return "delay: is below 100ns; the model needs some, and a network has more";
    if (model->packet > model->byte_counter)
        return "byte_counter: is less than a packet; make it packet or more";
    return NULL;
}

/* ---- the equations ---- */

/* The piece of equation 5 that applies to a queue length: at most kmin, in between, above kmax. */
enum piece { BELOW, RAMP, ABOVE };

static enum piece piece_of(const struct oche_dcqcn_model *m, double queue)
{
    return queue <= m->kmin ? BELOW : queue > m->kmax ? ABOVE : RAMP;
}

static double mark_on(const struct oche_dcqcn_model *m, enum piece piece, double queue)
{
    if (piece != RAMP)
        return piece == ABOVE ? 1 : 0;
    return fmin(fmax((queue - m->kmin) / (m->kmax - m->kmin) * m->pmax, 0), 1);
}

double oche_dcqcn_mark(const struct oche_dcqcn_model *model, double queue_bytes)
{
    return mark_on(model, piece_of(model, queue_bytes), queue_bytes);
}

static double power(double base, double exponent)
{
    return exponent == 5 ? base * base * base * base * base : pow(base, exponent);
}

/* The part of the events that depends only on the probability of a mark. */
struct marked {
    double mark, log_unmarked; /* ln(1 - p) */
    double by_bytes, steady;   /* b and c of dcqcn.md#fixed-point, a packet */
};

static struct marked marked(const struct oche_dcqcn_model *m, double mark)
{
    double bytes = m->byte_counter / m->packet;
    struct marked at = {.mark = mark};

    if (mark <= 0) {
        at.by_bytes = at.steady = 1 / bytes;
    } else if (mark < 1) {
        at.log_unmarked = log1p(-mark);
        /* p / ((1-p)^-n - 1) = p x / (1 - x), x = (1-p)^n */
        double x = exp(bytes * at.log_unmarked);

        at.by_bytes = mark * x / -expm1(bytes * at.log_unmarked);
        at.steady = at.by_bytes * power(x, m->fast_recovery_steps);
    }
    return at;
}

/* `rate` is in packets per second. */
static struct oche_dcqcn_events events(const struct oche_dcqcn_model *m, const struct marked *at,
                                       double rate)
{
    struct oche_dcqcn_events e = {0};

    if (at->mark <= 0) {
        e.raises = e.additive = rate * at->by_bytes + 1 / m->timer;
        return e;
    }
    if (at->mark >= 1) {
        e.alpha = rate > 0 ? 1 : 0;
        e.cuts = e.alpha / m->cnp_interval;
        return e;
    }
    double marks = rate * at->log_unmarked; /* for a small p, minus the marks per second */
    double timer = -expm1(m->timer * marks);

    e.alpha = m->alpha_interval == m->timer ? timer : -expm1(m->alpha_interval * marks);
    e.cuts = -expm1(m->cnp_interval * marks) / m->cnp_interval;
    /* R d; its limit for R = 0 is p / (-ln(1-p) timer). */
    double by_time =
        timer > 0 ? rate * at->mark * (1 - timer) / timer : -at->mark / at->log_unmarked / m->timer;

    e.raises = rate * at->by_bytes + by_time;
    e.additive = rate * at->steady + by_time * power(1 - timer, m->fast_recovery_steps);
    return e;
}

struct oche_dcqcn_events oche_dcqcn_events(const struct oche_dcqcn_model *model, double mark,
                                           double rate_bps)
{
    struct marked at = marked(model, mark);

    return events(model, &at, rate_bps / (8 * model->packet));
}

/* ---- the run ---- */

enum component { RATE, TARGET, ALPHA, COMPONENTS };

struct dcqcn {
    struct oche_fluid fluid;
    struct oche_dcqcn_model model;
    struct oche_ode_level levels[2];
    enum piece piece;                 /* the piece that applies to the delayed queue in this step */
    double known_at;                  /* the time for which `events` is valid; NAN: for none */
    struct oche_dcqcn_events *events; /* by flow */
    double *past;                     /* queue and rates, one `delay` ago */
};

static void begin_step(void *context, const struct oche_ode *ode, double time, double step)
{
    struct dcqcn *d = context;
    double queue;

    oche_ode_past(ode, time + step / 2, d->model.delay, 0, 1, &queue);
    enum piece piece = piece_of(&d->model, queue);

    /* The values known at the end of the last step may belong to the other side of a jump. */
    if (piece != d->piece || d->known_at == time)
        d->known_at = NAN;
    d->piece = piece;
}

static void find_events(struct dcqcn *d, const struct oche_ode *ode, double time)
{
    const struct oche_dcqcn_model *m = &d->model;
    double packets = 1 / (8 * m->packet);

    oche_ode_past(ode, time, m->delay, 0, 1 + d->fluid.flow_count, d->past);
    struct marked at = marked(m, mark_on(m, d->piece, d->past[0]));

    for (size_t i = 0; i < d->fluid.flow_count; i++)
        d->events[i] = events(m, &at, d->past[1 + i] * packets);
    d->known_at = time;
}

static void slope(void *context, const struct oche_ode *ode, double time, const double *state,
                  double *out)
{
    struct dcqcn *d = context;
    const struct oche_dcqcn_model *m = &d->model;
    size_t n = d->fluid.flow_count;
    const double *rc = state + 1, *rt = rc + n, *alpha = rt + n;
    double *rc_slope = out + 1, *rt_slope = rc_slope + n, *alpha_slope = rt_slope + n;

    if (d->known_at != time)
        find_events(d, ode, time);
    out[0] = oche_fluid_queue_slope(&d->fluid, rc);
    for (size_t i = 0; i < n; i++) {
        double on = d->fluid.active[i] ? 1 : 0;
        struct oche_dcqcn_flow grows =
            oche_dcqcn_slopes(m, &d->events[i], (struct oche_dcqcn_flow){alpha[i], rt[i], rc[i]});

        alpha_slope[i] = on * grows.alpha;
        rt_slope[i] = on * grows.target_bps;
        rc_slope[i] = on * grows.rate_bps;
    }
}

static void start(const struct oche_fluid *fluid, double rate_bps, double *components)
{
    const struct dcqcn *d = (const struct dcqcn *)fluid;

    components[RATE] = components[TARGET] = rate_bps;
    components[ALPHA] = d->model.initial_alpha;
}

static void free_model(struct oche_fluid *fluid)
{
    struct dcqcn *d = (struct dcqcn *)fluid;

    free(d->events);
    free(d->past);
}

static const struct oche_fluid_kind kind = {
    .name = "dcqcn", .per_flow = COMPONENTS, .start = start, .free = free_model};

struct oche_fluid *oche_dcqcn_fluid_create(const struct oche_dcqcn_model *model,
                                           const struct oche_fluid_flow *flows, size_t count,
                                           const struct oche_fluid_options *options)
{
    struct dcqcn *d = calloc(1, sizeof(*d));

    OCHE_GOT(d != NULL && oche_dcqcn_model_check(model) == NULL);
    struct oche_fluid *fluid = &d->fluid;

    d->model = *model;
    d->known_at = NAN;
    d->events = calloc(count, sizeof(*d->events));
    d->past = calloc(count + 1, sizeof(*d->past));
    OCHE_GOT(d->events != NULL && d->past != NULL);
    fluid->kind = &kind;
    fluid->capacity_bps = model->capacity;
    oche_fluid_init(fluid, flows, count);
    /*
     * The scale of the queue: Kmax or, if more, the bytes that the capacity carries in one delay.
     */
    fluid->scale[0] = fmax(model->kmax, model->capacity / 8 * model->delay);
    for (size_t i = 0; i < count; i++) {
        fluid->upper[oche_fluid_component(fluid, i, RATE)] = model->capacity;
        fluid->upper[oche_fluid_component(fluid, i, TARGET)] = model->capacity;
        fluid->scale[oche_fluid_component(fluid, i, ALPHA)] = 1;
    }
    d->levels[0] = (struct oche_ode_level){0, model->kmin, model->delay};
    d->levels[1] = (struct oche_ode_level){0, model->kmax, model->delay};
    fluid->system.slope = slope;
    fluid->system.begin_step = begin_step;
    fluid->system.shortest_delay = fluid->system.longest_delay = d->model.delay;
    fluid->system.delays = &d->model.delay;
    fluid->system.delay_count = 1;
    fluid->system.levels = d->levels;
    fluid->system.level_count = model->kmin < model->kmax ? 2 : 1;
    oche_fluid_begin(fluid, options);
    return fluid;
}
