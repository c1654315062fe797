/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arrives of a connection's data packets is some of what was sent, in the same order: links
 * are FIFOs, a connection keeps one way and one class, and deflection keeps messages apart. Not
 * where routes change on the way, where deflection may not wait (`hold`), and not for RoGUE, whose
 * queue pairs are renewed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/iofd.h"
#include "sim/network/host.h"
#include "tests/swarm/judge.h"

struct sent {
    uint64_t *numbers; /* PSNs or sequence numbers */
    uint32_t count, capacity, arrived;
};

struct swarm_order {
    struct swarm_run *run;
    struct sent *sent; /* by connection */
    uint32_t count;
};

static void note_sent(struct sent *sent, uint64_t number)
{
    if (sent->count == sent->capacity) {
        sent->capacity = sent->capacity == 0 ? 64 : 2 * sent->capacity;
        sent->numbers = realloc(sent->numbers, sent->capacity * sizeof(*sent->numbers));
        OCHE_MUST(sent->numbers != NULL);
    }
    sent->numbers[sent->count++] = number;
}

static void note_arrived(struct swarm_order *order, uint32_t connection, uint64_t number,
                         oche_time now)
{
    struct sent *sent = &order->sent[connection];

    while (sent->arrived < sent->count && sent->numbers[sent->arrived] != number)
        sent->arrived++;
    if (sent->arrived < sent->count)
        sent->arrived++;
    else if (order->run->disorder[0] == '\0')
        snprintf(order->run->disorder, sizeof(order->run->disorder),
                 "connection %u gets number %llu at %llu ps, behind what was sent later",
                 connection, (unsigned long long)number, (unsigned long long)now);
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct swarm_order *order = context;
    uint32_t connection = record->qpn - OCHE_FIRST_QPN;

    (void)node;
    if (record->qpn < OCHE_FIRST_QPN || connection >= order->count)
        return;
    if (record->kind == OCHE_TRACE_DATA_SENT)
        note_sent(&order->sent[connection], record->a);
    else if (record->kind == OCHE_TRACE_DATA_ARRIVED)
        note_arrived(order, connection, record->a, record->time);
}

static bool is_promised(const struct oche_world_config *config)
{
    const struct oche_iofd_params *iofd = oche_world_mechanism(config, &oche_iofd);

    if (iofd != NULL && iofd->hold != OCHE_NEVER)
        return false;
    if (config->failure_count > 0 && config->routes.reroute != OCHE_NEVER)
        return false;
    return config->endpoint == NULL || strcmp(config->endpoint->name, "rogue") != 0;
}

struct swarm_order *swarm_order_watch(struct swarm_run *run)
{
    const struct oche_network *network = oche_world_network(run->world);

    if (!is_promised(oche_world_config(run->world)))
        return NULL;
    struct swarm_order *order = calloc(1, sizeof(*order));

    OCHE_MUST(order != NULL);
    order->run = run;
    order->count = oche_world_flows(run->world)->connection_count;
    order->sent = calloc(order->count + 1, sizeof(*order->sent));
    OCHE_MUST(order->sent != NULL);
    for (uint32_t i = 0; i < network->node_count; i++) {
        network->nodes[i].trace.sink = on_event;
        network->nodes[i].trace.sink_context = order;
    }
    return order;
}

void swarm_order_free(struct swarm_order *order)
{
    if (order == NULL)
        return;
    for (uint32_t i = 0; i < order->count; i++)
        free(order->sent[i].numbers);
    free(order->sent);
    free(order);
}
