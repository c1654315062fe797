/* SPDX-License-Identifier: Apache-2.0 */
/* Hands each event to all rules; see the header. */
#include "tests/swarm/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct swarm_rule *const rules[] = {&swarm_order_rule, &swarm_sender_rule,
                                                 &swarm_dcqcn_rule, &swarm_pfc_rule};

struct swarm_watch {
    struct swarm_run *run;
    oche_time when; /* of the last event */
    uint32_t node;  /* where it was */
    void *states[OCHE_COUNT_OF(rules)];
};

void swarm_breaks(struct swarm_run *run, const char *rule, const char *format, ...)
{
    va_list arguments;

    if (run->broken[0] != '\0')
        return;
    run->rule = rule;
    va_start(arguments, format);
    vsnprintf(run->broken, sizeof(run->broken), format, arguments);
    va_end(arguments);
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct swarm_watch *watch = context;
    bool of_links = record->kind == OCHE_TRACE_LINK_DOWN || record->kind == OCHE_TRACE_LINK_UP ||
                    record->kind == OCHE_TRACE_REROUTED;

    /* No node has an effect on another at the same time: those of one time take turns. */
    if (!of_links &&
        (record->time < watch->when || (record->time == watch->when && node < watch->node)))
        swarm_breaks(watch->run, "sequence",
                     "an event of node %u at %llu ps comes after one of node %u at %llu", node,
                     (unsigned long long)record->time, watch->node,
                     (unsigned long long)watch->when);
    watch->when = record->time;
    watch->node = of_links ? 0 : node;
    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++)
        if (watch->states[i] != NULL)
            rules[i]->event(watch->states[i], node, record);
}

struct swarm_watch *swarm_watch_start(struct swarm_run *run)
{
    const struct oche_network *network = oche_world_network(run->world);
    struct swarm_watch *watch = calloc(1, sizeof(*watch));

    OCHE_MUST(watch != NULL);
    watch->run = run;
    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++)
        watch->states[i] = rules[i]->make(run);
    for (uint32_t i = 0; i < network->node_count; i++) {
        network->nodes[i].trace.sink = on_event;
        network->nodes[i].trace.sink_context = watch;
    }
    return watch;
}

void swarm_watch_end(struct swarm_watch *watch)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++)
        if (watch->states[i] != NULL && rules[i]->end != NULL)
            rules[i]->end(watch->states[i]);
}

void swarm_watch_free(struct swarm_watch *watch)
{
    if (watch == NULL)
        return;
    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++)
        if (watch->states[i] != NULL)
            rules[i]->free(watch->states[i]);
    free(watch);
}
