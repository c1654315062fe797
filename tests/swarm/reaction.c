/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's reaction point, checked from the trace. A second reaction point for each sender takes the
 * CNPs, bytes and times of the trace, and computes the next rate and alpha. It follows the paper's
 * Fig 7 and the readings of dcqcn.md, for each option. Events of one time have no known order.
 * Where the order matters and the trace does not show it, the connection is ignored from then on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/dcqcn.h"
#include "core/qp/nic.h"
#include "core/wire/opcode.h"
#include "core/wire/packet.h"
#include "sim/network/host.h"
#include "tests/swarm/watch.h"

#define U(value)       ((unsigned long long)(value))
#define MOST_EXPECTED  4
#define LEAST_TIMER    4 /* ps; half of a shorter time would be 0 */
#define ALPHA_SLACK    1e-8
#define RATE_SLACK_BPS 2.0
#define NIC_LEAST_BPS  1e6

/* The options, numbered as in the parameter table; `auto` is replaced by the mode's. */
struct reading {
    enum { ALPHA_AFTER_CUT = 1, ALPHA_BEFORE_CUT, ALPHA_AT_INTERVALS } alpha;
    bool alpha_restarts, periodic, sets_rate, by_timer, by_bytes, counts_before, halves, guards;
    bool clamps, releases;
    enum { TARGET_ALWAYS = 1, TARGET_AFTER_ANY, TARGET_AFTER_BYTES } target;
    enum { HYPER_ABOVE = 1, HYPER_FROM, HYPER_MAX, HYPER_NEVER } hyper;
    enum { STEPS_FROM_ONE_BEHIND = 1, STEPS_FROM_FIRST, STEPS_OF_ONE } steps;
};

enum cause { CUT = 1, FIRST, FAST, ADDITIVE, HYPER, RELEASED, INITIAL };

struct expected {
    uint32_t kind;
    uint64_t cause; /* of RATE_CHANGED */
    double rate;    /* or R_T, in CC_STATE */
    double alpha;
};

struct point {
    bool judged;  /* a queue pair is open, and its state is known */
    bool fresh;   /* and has no flow yet */
    bool limited; /* the rest holds */
    bool idle, pending, cnp_in_interval, was_hyper;
    uint32_t work; /* posted and not completed */
    uint64_t t, bc;
    double rc, rt, alpha;
    uint64_t left; /* bytes until the next event of the byte counter */
    oche_time timer, alpha_ends, first_cnp, check, release;
    uint64_t line, rate; /* rate: the value in the trace */
    struct expected expected[MOST_EXPECTED];
    unsigned expected_count;
};

struct reaction {
    struct swarm_run *run;
    const struct dcqcn_params *params;
    struct reading reading;
    struct point *points; /* by connection */
    uint32_t count;
    bool ipv6, once; /* one queue pair for each flow */
};

/* ---- reading parameters ---- */

static unsigned chosen(const struct dcqcn_params *p, uint32_t option, unsigned paper, unsigned ns3,
                       unsigned nic)
{
    const unsigned by_mode[] = {paper, ns3, nic};

    return option != 0 ? option : by_mode[p->mode];
}

static struct reading reading_of(const struct dcqcn_params *p)
{
    return (struct reading){
        .alpha = chosen(p, p->alpha_update, 1, 2, 3),
        .alpha_restarts = chosen(p, p->alpha_timer, 1, 1, 2) == 1,
        .periodic = chosen(p, p->cut, 1, 1, 2) == 2,
        .sets_rate = chosen(p, p->first_cnp, 1, 1, 2) == 2,
        .target = chosen(p, p->target_at_cut, 1, 1, 2),
        .by_timer = chosen(p, p->increase_on, 1, 1, 2) != 3,
        .by_bytes = chosen(p, p->increase_on, 1, 1, 2) != 2,
        .counts_before = chosen(p, p->stage_count, 1, 1, 2) == 2,
        .hyper = chosen(p, p->hyper, 1, 2, 3),
        .steps = chosen(p, p->hai_multiplier, 1, 2, 3),
        .halves = chosen(p, p->hyper_halves, 1, 2, 1) == 2,
        .guards = chosen(p, p->target_guard, 1, 2, 1) == 2,
        .clamps = chosen(p, p->clamp_target_rate, 2, 1, 2) == 2,
        .releases = chosen(p, p->release, 1, 2, 2) == 1,
    };
}

static double floor_of(const struct dcqcn_params *p, const struct point *point)
{
    double least = p->min_rate != 0 ? (double)p->min_rate
                   : p->mode == 2   ? NIC_LEAST_BPS
                                    : p->min_rate_fraction * (double)point->line;

    return fmin(fmax(least, 1), (double)point->line);
}

/* ---- the next expected event ---- */

static void expect(struct point *point, struct expected expected)
{
    if (point->expected_count < MOST_EXPECTED)
        point->expected[point->expected_count++] = expected;
}

static uint64_t whole(const struct point *point, double bps)
{
    uint64_t bits = (uint64_t)(bps + 0.5);

    return bits < point->line ? bits : point->line;
}

/* A rate is in the trace only if it changed. */
static void publish(struct point *point, enum cause cause)
{
    uint64_t told = whole(point, point->rc);

    if (told == point->rate)
        return;
    point->rate = told;
    expect(point, (struct expected){OCHE_TRACE_RATE_CHANGED, cause, point->rc, 0});
}

/* ---- the reaction point ---- */

static void forget_limit(struct point *point)
{
    point->limited = point->pending = point->was_hyper = point->cnp_in_interval = false;
    point->rc = (double)point->line;
    point->timer = point->check = point->release = OCHE_NEVER;
    publish(point, RELEASED);
}

static void restart_timer(const struct reaction *r, struct point *point, oche_time now, bool half)
{
    oche_time period = dcqcn_timer_of(r->params, point->line);

    point->timer = r->reading.by_timer ? now + period / (half ? 2 : 1) : OCHE_NEVER;
}

static void restart_bytes(const struct reaction *r, struct point *point, bool half)
{
    uint64_t all = r->params->byte_counter;

    point->left = !r->reading.by_bytes ? UINT64_MAX : half ? all / 2 + all % 2 : all;
}

/* A CNP, or an initial rate, starts the limiter. */
static void limit(const struct reaction *r, struct point *point, oche_time now, double from)
{
    point->limited = true;
    point->rc = point->rt = from;
    point->alpha = r->params->initial_alpha;
    point->alpha_ends = now + r->params->alpha_interval;
    point->first_cnp = now;
    point->t = point->bc = 0;
    point->was_hyper = false;
    restart_timer(r, point, now, false);
    restart_bytes(r, point, false);
    if (point->idle)
        point->release = oche_time_add(now, r->params->idle_timeout);
}

/* Ends the intervals of alpha that end before `now`; also those that end at `now` if `at_now`. */
static void decay(const struct reaction *r, struct point *point, oche_time now, bool at_now)
{
    const double keeps = 1 - r->params->g;

    if (at_now ? point->alpha_ends > now : point->alpha_ends >= now)
        return;
    oche_time until = at_now ? now : now - 1;
    uint64_t more = (until - point->alpha_ends) / r->params->alpha_interval;

    point->alpha = keeps * point->alpha + (point->cnp_in_interval ? r->params->g : 0);
    point->alpha *= pow(keeps, (double)more);
    point->cnp_in_interval = false;
    point->alpha_ends += (more + 1) * r->params->alpha_interval;
}

static void cut(const struct reaction *r, struct point *point, oche_time now)
{
    const double g = r->params->g;

    if (r->reading.alpha == ALPHA_BEFORE_CUT)
        point->alpha += g * (1 - point->alpha);
    if (r->reading.target == TARGET_ALWAYS || point->bc > 0 ||
        (r->reading.target == TARGET_AFTER_ANY && point->t > 0))
        point->rt = point->rc;
    point->rc = fmax(point->rc * (1 - point->alpha / 2), floor_of(r->params, point));
    if (r->reading.alpha == ALPHA_AFTER_CUT)
        point->alpha += g * (1 - point->alpha);
    if (r->reading.alpha_restarts)
        point->alpha_ends = now + r->params->alpha_interval;
    point->t = point->bc = 0;
    point->was_hyper = false;
    restart_timer(r, point, now, false);
    restart_bytes(r, point, false);
    publish(point, CUT);
    expect(point, (struct expected){OCHE_TRACE_CC_STATE, 0, point->rt, point->alpha});
}

static enum cause stage(const struct reaction *r, const struct point *point, uint64_t t,
                        uint64_t bc, double *step)
{
    const uint64_t f = r->params->fast_recovery_steps;
    uint64_t least = t < bc ? t : bc, most = t < bc ? bc : t;
    uint64_t judged = r->reading.hyper == HYPER_MAX ? most : least;
    bool hyper = r->reading.hyper != HYPER_NEVER &&
                 (judged > f || (judged == f && r->reading.hyper == HYPER_FROM));

    if (most < f)
        return FAST;
    if (!hyper) {
        *step = (double)dcqcn_rai_of(r->params, point->line);
        return ADDITIVE;
    }
    *step = (double)dcqcn_rhai_of(r->params, point->line);
    if (r->reading.steps != STEPS_OF_ONE)
        *step *= (double)(judged - f + (r->reading.steps == STEPS_FROM_FIRST));
    return HYPER;
}

/* Handles one event of the timer or of the byte counter. */
static void raise_rate(const struct reaction *r, struct point *point, oche_time now, bool of_timer)
{
    const double line = (double)point->line;
    bool half = r->reading.halves && point->was_hyper, before = r->reading.counts_before;
    double step = 0;

    if (of_timer)
        restart_timer(r, point, now, half);
    else
        restart_bytes(r, point, half);
    point->t += of_timer;
    point->bc += !of_timer;
    enum cause cause =
        stage(r, point, point->t - (before && of_timer), point->bc - (before && !of_timer), &step);

    if (r->reading.guards && (point->t == 1 || point->bc == 1) && point->rt > 10 * point->rc)
        point->rt /= 8;
    else
        point->rt += step;
    if (r->reading.clamps)
        point->rt = fmin(point->rt, line);
    point->rc = fmin((point->rt + point->rc) / 2, line);
    point->was_hyper = cause == HYPER;
    publish(point, cause);
    if (point->rate == point->line && !point->pending && r->reading.releases)
        forget_limit(point);
}

static void hear_cnp(const struct reaction *r, struct point *point, oche_time now)
{
    bool first = !point->limited;

    if (first)
        limit(r, point, now, (double)point->line);
    decay(r, point, now, false);
    point->cnp_in_interval = !first && r->reading.alpha == ALPHA_AT_INTERVALS;
    if (first && r->reading.sets_rate) {
        point->rc = point->rt =
            fmax(r->params->rate_on_first_cnp * point->rc, floor_of(r->params, point));
        publish(point, FIRST);
        if (!r->reading.periodic)
            return;
    }
    if (!r->reading.periodic) {
        cut(r, point, now);
        return;
    }
    oche_time period = r->params->reduce_monitor_period, since = now - point->first_cnp;
    uint64_t periods = since / period + (since % period != 0);

    point->pending = true;
    point->check = point->first_cnp + (periods == 0 ? 1 : periods) * period;
}

/* Runs the first timer that is due at `now` or before. Returns false if none is due. */
static bool run_timer(const struct reaction *r, struct point *point, oche_time now)
{
    oche_time due = oche_time_min(point->timer, oche_time_min(point->check, point->release));

    if (!point->limited || due > now)
        return false;
    if (point->timer == due) {
        raise_rate(r, point, due, true);
    } else if (point->release == due) {
        forget_limit(point);
    } else {
        point->check = OCHE_NEVER;
        point->pending = false;
        decay(r, point, due, true);
        cut(r, point, due);
    }
    return true;
}

/* ---- the trace ---- */

static void missing(struct reaction *r, uint32_t connection, oche_time now)
{
    struct point *point = &r->points[connection];
    const struct expected *next = &point->expected[0];

    swarm_breaks(r->run, "reaction",
                 "connection %u: by %llu ps %s %llu to %.0f bps, alpha %.9f, is due and not seen",
                 connection, U(now), oche_trace_name(next->kind), U(next->cause), next->rate,
                 next->alpha);
    point->judged = false;
}

/* Called before an event is handled: all that was due earlier must have been seen. */
static void catch_up(struct reaction *r, uint32_t connection, oche_time now)
{
    struct point *point = &r->points[connection];

    while (now > 0 && point->judged && point->expected_count == 0 && run_timer(r, point, now - 1))
        ;
    if (point->judged && point->expected_count > 0)
        missing(r, connection, now);
}

/* True if an event that is due exactly now may have happened without a line in the trace. */
static bool is_doubtful(const struct reaction *r, const struct point *point, oche_time now,
                        bool counts)
{
    struct point other = *point;
    bool due = run_timer(r, &other, now);

    if (!due || other.expected_count > 0)
        return false;
    return counts || !other.limited;
}

static void on_rate(struct reaction *r, uint32_t connection, const struct oche_trace_record *record)
{
    struct point *point = &r->points[connection];
    const struct expected *next = &point->expected[0];

    while (point->expected_count == 0 && run_timer(r, point, record->time))
        ;
    bool rate = record->kind == OCHE_TRACE_RATE_CHANGED;
    bool seen = point->expected_count > 0 && next->kind == record->kind &&
                fabs((double)record->b - next->rate) <= RATE_SLACK_BPS + 1e-9 * next->rate &&
                (rate ? record->a == next->cause
                      : fabs((double)record->a / 0x1p32 - next->alpha) <= ALPHA_SLACK);

    if (!seen && point->expected_count == 0)
        swarm_breaks(r->run, "reaction", "connection %u: %s %llu, %llu at %llu ps without a cause",
                     connection, oche_trace_name(record->kind), U(record->a), U(record->b),
                     U(record->time));
    else if (!seen)
        swarm_breaks(r->run, "reaction",
                     "connection %u: %s %llu, %llu at %llu ps, but due is %s %llu, %.0f, alpha %.9f"
                     " (T %llu, BC %llu)",
                     connection, oche_trace_name(record->kind), U(record->a), U(record->b),
                     U(record->time), oche_trace_name(next->kind), U(next->cause), next->rate,
                     next->alpha, U(point->t), U(point->bc));
    point->judged &= seen;
    if (seen)
        memmove(point->expected, point->expected + 1,
                --point->expected_count * sizeof(point->expected[0]));
}

static void on_started(struct reaction *r, uint32_t connection,
                       const struct oche_trace_record *record)
{
    struct point *point = &r->points[connection];
    uint64_t first = oche_world_flows(r->run->world)->plan[record->a].initial_rate_bps;

    if (!point->fresh)
        return;
    point->fresh = false;
    if (first == 0 || first >= point->line)
        return;
    uint64_t told = point->rate;

    limit(r, point, record->time, fmax((double)first, floor_of(r->params, point)));
    point->rate = point->line;
    publish(point, INITIAL);
    if (point->rate != told)
        missing(r, connection, record->time);
    point->expected_count = 0;
}

static void open_point(struct reaction *r, uint32_t node, struct point *point)
{
    *point = (struct point){.judged = true, .fresh = true};
    point->line = oche_topology_port_link(oche_world_topology(r->run->world), node, 0)->rate_bps;
    point->rate = point->line;
    forget_limit(point);
}

static void on_work(struct reaction *r, struct point *point, const struct oche_trace_record *record)
{
    if (point->limited && point->release == record->time)
        point->judged &= !is_doubtful(r, point, record->time, true);
    point->work += record->kind == OCHE_TRACE_POSTED ? 1 : UINT32_MAX;
    point->idle = point->work == 0;
    point->release = point->idle && point->limited
                         ? oche_time_add(record->time, r->params->idle_timeout)
                         : OCHE_NEVER;
    point->judged &= !(point->idle && r->once);
}

static void on_sent(struct reaction *r, struct point *point, const struct oche_trace_record *record)
{
    uint32_t bytes =
        oche_frame_bytes_with((uint8_t)(record->b >> 32), (uint32_t)record->b, 0, r->ipv6) +
        OCHE_GAP_BYTES;

    if (is_doubtful(r, point, record->time, bytes >= point->left))
        point->judged = false;
    else if (point->limited && bytes >= point->left)
        raise_rate(r, point, record->time, false);
    else if (point->limited)
        point->left -= bytes;
}

static void reaction_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct reaction *r = context;
    uint32_t connection = swarm_acked_connection(r->run, record, r->count);

    if (connection == UINT32_MAX ||
        node != oche_world_flows(r->run->world)->connections[connection].src)
        return;
    struct point *point = &r->points[connection];

    if (record->kind == OCHE_TRACE_STATE && record->b == OCHE_QP_INIT) {
        open_point(r, node, point);
        return;
    }
    if (!point->judged)
        return;
    switch (record->kind) {
    case OCHE_TRACE_RATE_CHANGED:
    case OCHE_TRACE_CC_STATE:
        if (record->b > point->line && record->kind == OCHE_TRACE_RATE_CHANGED)
            swarm_breaks(r->run, "line", "connection %u: %llu of %llu bps", connection,
                         U(record->b), U(point->line));
        if (point->fresh)
            point->rate = record->b; /* judged when its flow is known */
        else
            on_rate(r, connection, record);
        return;
    case OCHE_TRACE_STATE:
        point->judged &= record->b != OCHE_QP_ERR;
        return;
    default:
        break;
    }
    catch_up(r, connection, record->time);
    if (!point->judged)
        return;
    if (record->kind == OCHE_TRACE_FLOW_STARTED) {
        on_started(r, connection, record);
    } else if (record->kind == OCHE_TRACE_POSTED || record->kind == OCHE_TRACE_COMPLETED) {
        on_work(r, point, record);
    } else if (record->kind == OCHE_TRACE_CNP_ARRIVED) {
        point->judged = !is_doubtful(r, point, record->time, false);
        if (point->judged)
            hear_cnp(r, point, record->time);
    } else if (record->kind == OCHE_TRACE_DATA_SENT) {
        on_sent(r, point, record);
    }
}

static void *make_reaction(struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_flows *flows = oche_world_flows(run->world);
    const struct dcqcn_params *params = config->cc_params;

    if (config->endpoint != NULL || strcmp(config->cc->name, "dcqcn") != 0 ||
        params->timer < LEAST_TIMER || dcqcn_echoes(params))
        return NULL; /* the trace does not show which ACKs carried a mark */
    struct reaction *r = calloc(1, sizeof(*r));

    OCHE_MUST(r != NULL);
    *r = (struct reaction){.run = run,
                           .params = params,
                           .reading = reading_of(params),
                           .count = flows->connection_count,
                           .ipv6 = config->hosts.ipv6,
                           .once = config->hosts.connections == OCHE_CONNECTION_PER_FLOW};
    r->points = calloc(r->count + 1, sizeof(*r->points));
    OCHE_MUST(r->points != NULL);
    return r;
}

static void free_reaction(void *context)
{
    struct reaction *r = context;

    free(r->points);
    free(r);
}

const struct swarm_rule swarm_dcqcn_rule = {
    .make = make_reaction, .event = reaction_event, .free = free_reaction};
