/* SPDX-License-Identifier: Apache-2.0 */
/* Hands each event to all rules; see the header. */
#include "tests/swarm/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct swarm_rule *const rules[] = {&swarm_order_rule, &swarm_sender_rule,
                                                 &swarm_dcqcn_rule, &swarm_pfc_rule};

struct swarm_watch {
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

    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++)
        if (watch->states[i] != NULL)
            rules[i]->event(watch->states[i], node, record);
}

struct swarm_watch *swarm_watch_start(struct swarm_run *run)
{
    const struct oche_network *network = oche_world_network(run->world);
    struct swarm_watch *watch = calloc(1, sizeof(*watch));

    OCHE_MUST(watch != NULL);
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
