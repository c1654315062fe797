/* SPDX-License-Identifier: Apache-2.0 */
/* Hands each event to all rules; see the header. */
#include "tests/swarm/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/world/internal.h"

static const struct swarm_rule *const rules[] = {
    &swarm_order_rule,  &swarm_sender_rule,     &swarm_dcqcn_rule,        &swarm_pfc_rule,
    &swarm_buffer_rule, &swarm_pause_time_rule, &swarm_loss_rule,         &swarm_feedback_rule,
    &swarm_credit_rule, &swarm_nak_rule,        &swarm_nak_interval_rule,
};

struct swarm_watch {
    struct swarm_run *run;
    oche_time when; /* time of the last event */
    uint32_t node;  /* node of the last event */
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

    /* Events of one time at different nodes are independent; they may come in any order. */
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

/* Packets of all links, in the order in which they are sent and arrive. */
static void on_packet(void *context, uint32_t port, const struct oche_packet *packet,
                      oche_time when, bool sent)
{
    struct swarm_watch *watch = context;

    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++) {
        void (*look)(void *, uint32_t, const struct oche_packet *, oche_time) =
            sent ? rules[i]->sent : rules[i]->arrived;

        if (watch->states[i] != NULL && look != NULL)
            look(watch->states[i], port, packet, when);
    }
}

/* If the port's link may fail, an event shows a packet on arrival; otherwise when it is sent. */
static void tap_all(struct swarm_watch *watch, struct oche_network *network)
{
    network->tap = on_packet;
    network->tap_context = watch;
    for (uint32_t i = 0; i < network->port_count; i++) {
        if (!(network->ports[i].flags & OCHE_PORT_FAILS))
            network->extras[i].last_down = OCHE_NEVER;
        network->ports[i].flags |= OCHE_PORT_SPECIAL;
        oche_network_can_fail(network, i);
        network->extras[i].tap = true;
    }
}

struct swarm_watch *swarm_watch_start(struct swarm_run *run)
{
    struct oche_network *network = &run->world->network;
    struct swarm_watch *watch = calloc(1, sizeof(*watch));
    bool packets = false;

    OCHE_MUST(watch != NULL);
    watch->run = run;
    for (size_t i = 0; i < OCHE_COUNT_OF(rules); i++) {
        watch->states[i] = rules[i]->make(run);
        packets |=
            watch->states[i] != NULL && (rules[i]->sent != NULL || rules[i]->arrived != NULL);
    }
    if (packets)
        tap_all(watch, network);
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
