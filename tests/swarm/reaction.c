/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's reaction point, from the trace alone, where the scenario leaves the paper's rules as they
 * are: alpha after each cut, what an increase may be, and that no target is above the line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/dcqcn.h"
#include "tests/swarm/watch.h"

/* As the parameter tables number them; 0 leaves it to the mode, and mode 0 is the paper's. */
enum { CUT_FIRST = 1, TIMER_RESTART = 1, EVERY_CNP = 1, CUT_PERIODIC = 2, CLAMP = 2 };
enum { CAUSE_CUT = 1, CAUSE_FAST = 3, CAUSE_ADDITIVE, CAUSE_HYPER, CAUSE_RELEASED };

struct point {
    bool cut;            /* alpha and the time of the last cut are known */
    double alpha;        /* after it */
    oche_time when;      /* of it */
    uint64_t bytes;      /* on the line since, at least that many */
    uint64_t rate, line; /* rate 0: not known */
};

struct reaction {
    struct swarm_run *run;
    const struct dcqcn_params *params;
    struct point *points; /* by connection */
    uint32_t count;
    uint64_t per_packet; /* bytes on the line beside the payload, at most */
};

static bool is_papers(const struct dcqcn_params *p)
{
    return p->mode == 0 && p->alpha_update <= CUT_FIRST && p->alpha_timer <= TIMER_RESTART &&
           p->cut <= CUT_PERIODIC && p->hyper_halves <= 1 && p->timer != OCHE_NEVER;
}

static void on_cut(struct reaction *reaction, uint32_t connection, oche_time now, double alpha)
{
    const struct dcqcn_params *p = reaction->params;
    struct point *point = &reaction->points[connection];
    oche_time since = now - point->when;
    /* A CNP at the very end of an interval comes before that end; a periodic check after it. */
    uint64_t ended = p->cut == CUT_PERIODIC ? since / p->alpha_interval
                     : since == 0           ? 0
                                            : (since - 1) / p->alpha_interval;
    double expected = (1 - p->g) * point->alpha * pow(1 - p->g, (double)ended) + p->g;

    if (point->cut && fabs(alpha - expected) > 1e-6)
        swarm_breaks(
            reaction->run, "alpha",
            "connection %u: alpha is %.9f after a cut at %llu ps; %llu intervals after %.9f "
            "it is %.9f",
            connection, alpha, (unsigned long long)now, (unsigned long long)ended, point->alpha,
            expected);
    if (!(alpha >= 0 && alpha <= 1))
        swarm_breaks(reaction->run, "alpha", "connection %u: %.9f", connection, alpha);
    point->cut = point->rate != 0; /* else it may be released without a word */
    point->alpha = alpha;
    point->when = now;
    point->bytes = 0;
}

/* Timer and byte counter count from 0 since a cut: until one has come so far, recovery is fast. */
static void on_increase(struct reaction *reaction, uint32_t connection,
                        const struct oche_trace_record *record)
{
    const struct dcqcn_params *p = reaction->params;
    struct point *point = &reaction->points[connection];
    uint64_t timers = (record->time - point->when) / p->timer;
    uint64_t counted = point->bytes / p->byte_counter + 1;

    if (point->cut && record->a != CAUSE_FAST &&
        (timers > counted ? timers : counted) < p->fast_recovery_steps)
        swarm_breaks(reaction->run, "recovery",
                     "connection %u: increase %llu at %llu ps, %llu timers and %llu byte counters "
                     "after a cut",
                     connection, (unsigned long long)record->a, (unsigned long long)record->time,
                     (unsigned long long)timers, (unsigned long long)counted);
    if (p->clamp_target_rate != 1 && point->rate != 0 &&
        record->b > (point->line + point->rate) / 2 + 2)
        swarm_breaks(reaction->run, "target",
                     "connection %u: from %llu to %llu at %llu ps, of a line of %llu bps",
                     connection, (unsigned long long)point->rate, (unsigned long long)record->b,
                     (unsigned long long)record->time, (unsigned long long)point->line);
}

static void reaction_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct reaction *reaction = context;
    uint32_t connection = swarm_connection(record, reaction->count);

    if (connection == UINT32_MAX ||
        node != oche_world_flows(reaction->run->world)->connections[connection].src)
        return;
    struct point *point = &reaction->points[connection];

    if (point->line == 0) /* a connection's sender is known when it has a flow */
        point->line =
            oche_topology_port_link(oche_world_topology(reaction->run->world), node, 0)->rate_bps;
    if (record->kind == OCHE_TRACE_DATA_SENT) {
        point->bytes += (record->b & UINT32_MAX) + reaction->per_packet;
    } else if (record->kind == OCHE_TRACE_CC_STATE) {
        on_cut(reaction, connection, record->time, (double)record->a / 0x1p32);
    } else if (record->kind == OCHE_TRACE_RATE_CHANGED) {
        if (record->b > point->line)
            swarm_breaks(reaction->run, "line", "connection %u: %llu of %llu bps", connection,
                         (unsigned long long)record->b, (unsigned long long)point->line);
        if (record->a >= CAUSE_FAST && record->a <= CAUSE_HYPER)
            on_increase(reaction, connection, record);
        /* At line rate the limiter may be released, and all is forgotten. */
        if (record->b == point->line)
            point->cut = false;
        point->rate = record->b == point->line ? 0 : record->b;
    }
}

static void *make_reaction(struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_flows *flows = oche_world_flows(run->world);

    if (config->endpoint != NULL || strcmp(config->cc->name, "dcqcn") != 0 ||
        !is_papers(config->cc_params))
        return NULL;
    struct reaction *reaction = calloc(1, sizeof(*reaction));

    OCHE_MUST(reaction != NULL);
    *reaction = (struct reaction){.run = run,
                                  .params = config->cc_params,
                                  .count = flows->connection_count,
                                  .per_packet = 200};
    reaction->points = calloc(reaction->count + 1, sizeof(*reaction->points));
    OCHE_MUST(reaction->points != NULL);
    return reaction;
}

static void free_reaction(void *context)
{
    struct reaction *reaction = context;

    free(reaction->points);
    free(reaction);
}

const struct swarm_rule swarm_dcqcn_rule = {
    .make = make_reaction, .event = reaction_event, .free = free_reaction};
