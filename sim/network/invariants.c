/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about pending events, and about the hosts and switches that wait for them. */
#include "sim/network/invariants.h"

#include <stdlib.h>

#include "sim/engine/invariants.h"
#include "sim/network/host_state.h"

/* ---- of events ---- */

/* Facts about all events of a shard together. */
struct summary {
    const struct oche_network *network;
    const struct oche_shard *shard;
    bool past, strange, unasked;
    uint32_t dones;
    bool *woken; /* by node: has a timer event when it is to be woken */
};

static const struct oche_node *node_of(const struct oche_network *network,
                                       const struct oche_event *event)
{
    return &network->nodes[event->key >> OCHE_EVENT_NODE_SHIFT];
}

static bool is_of_shard(const struct summary *all, const struct oche_event *event)
{
    return event->key >> OCHE_EVENT_NODE_SHIFT < all->network->node_count &&
           node_of(all->network, event)->shard == all->shard->index &&
           oche_event_local(event->key) < node_of(all->network, event)->port_count;
}

static void look_at(void *context, const struct oche_event *event)
{
    struct summary *all = context;
    const struct oche_node *node;

    if (!is_of_shard(all, event)) {
        all->strange = true;
        return;
    }
    node = node_of(all->network, event);
    all->past |= event->time < all->network->now;
    switch (oche_event_kind_of(event->key)) {
    case OCHE_EVENT_TRANSMIT_DONE: {
        const struct oche_port *port =
            &all->network->ports[node->first_port + oche_event_local(event->key)];

        all->unasked |= !(port->flags & OCHE_PORT_DONE_PENDING) || event->time > port->busy_until;
        all->dones++;
        break;
    }
    case OCHE_EVENT_TIMER:
        /* One that was asked for before an earlier one may be left over, and does no harm. */
        if (event->time == node->timer_at)
            all->woken[event->key >> OCHE_EVENT_NODE_SHIFT] = true;
        break;
    case OCHE_EVENT_ARRIVAL:
    case OCHE_EVENT_CHANGE:
        break;
    }
}

/* Returns how many ports of the shard wait for a transmit-done event. */
static uint32_t waiting_ports(const struct summary *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->network->port_count; i++) {
        const struct oche_port *port = &all->network->ports[i];

        count += (port->flags & OCHE_PORT_DONE_PENDING) &&
                 all->network->nodes[port->node].shard == all->shard->index &&
                 port->busy_until < OCHE_TIME_LIMIT;
    }
    return count;
}

static bool all_are_woken(const struct summary *all)
{
    for (uint32_t i = 0; i < all->network->node_count; i++)
        if (all->network->nodes[i].shard == all->shard->index &&
            all->network->nodes[i].timer_at < OCHE_TIME_LIMIT && !all->woken[i])
            return false;
    return true;
}

static const char *what_is_broken(const struct summary *all)
{
    if (all->strange)
        return "a shard's events are of its nodes and their ports";
    if (all->past)
        return "no event is in the past";
    if (all->unasked)
        return "a transmit-done event is of a port that waits for it";
    if (all->dones != waiting_ports(all))
        return "a port that waits for a transmit-done event has one";
    if (!all_are_woken(all))
        return "a node that is to be woken has a timer event then";
    return NULL;
}

static const char *broken_events(const struct oche_network *network, const struct oche_shard *shard)
{
    struct summary all = {
        .network = network, .shard = shard, .woken = calloc(network->node_count, sizeof(bool))};

    if (all.woken == NULL)
        oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY);
    oche_events_each(&shard->events, look_at, &all);
    const char *broken = what_is_broken(&all);

    free(all.woken);
    return broken;
}

/* ---- of hosts ---- */

static bool host_is_woken_in_time(const struct oche_network *network, const struct oche_host *host)
{
    oche_time due = oche_time_min(host->next_start, host->pause.next);

    if (host->defers & OCHE_HOST_DEFERS_FEEDBACK)
        due = oche_time_min(due, oche_feedback_next(&host->feedback));
    if (host->defers & OCHE_HOST_DEFERS_WORK)
        due = oche_time_min(due, oche_deferred_next(&host->latency->heap));
    return network->nodes[host->address].timer_at <= due;
}

static bool paused_classes_rest(const struct oche_network *network, const struct oche_host *host)
{
    (void)network;
    return host->credits != NULL || (host->classes & host->pause.mask) == 0;
}

static bool held_feedback_is_a_heap(const struct oche_network *network,
                                    const struct oche_host *host)
{
    (void)network;
    return oche_deferred_is_heap(&host->feedback.held);
}

static bool held_feedback_is_not_too_late(const struct oche_network *network,
                                          const struct oche_host *host)
{
    for (uint32_t i = 0; i < host->feedback.held.count; i++)
        if (host->feedback.held.heap[i].until > network->now + host->feedback.jitter)
            return false;
    return true;
}

static bool deferred_work_is_a_heap(const struct oche_network *network,
                                    const struct oche_host *host)
{
    (void)network;
    return host->latency == NULL || oche_deferred_is_heap(&host->latency->heap);
}

static const struct {
    const char *words;
    bool (*holds)(const struct oche_network *network, const struct oche_host *host);
} of_hosts[] = {
    {"a host is woken in time", host_is_woken_in_time},
    {"a host does not send what is paused", paused_classes_rest},
    {"held feedback is a heap", held_feedback_is_a_heap},
    {"feedback is held no longer than the jitter", held_feedback_is_not_too_late},
    {"deferred work is a heap", deferred_work_is_a_heap},
};

static const char *broken_host(const struct oche_network *network, uint32_t number)
{
    const struct oche_host *host = network->ports[network->nodes[number].first_port].device;

    for (size_t i = 0; host != NULL && i < OCHE_COUNT_OF(of_hosts); i++)
        if (!of_hosts[i].holds(network, host))
            return of_hosts[i].words;
    return NULL;
}

/* ---- of switches ---- */

static const char *broken_switch(const struct oche_network *network, uint32_t number)
{
    const struct oche_node *node = &network->nodes[number];
    const struct oche_port *first = &network->ports[node->first_port];
    const struct oche_switch *sw = first->device;

    if (sw == NULL)
        return NULL;
    if (node->timer_at > oche_switch_next(sw))
        return "a switch is woken in time";
    for (uint16_t port = 0; port < node->port_count; port++)
        if (oche_switch_ready(sw, port) && !(first[port].flags & OCHE_PORT_DONE_PENDING))
            return "a port with a packet that may leave waits for an event";
    return NULL;
}

/* ---- all ---- */

const char *oche_network_broken(const struct oche_network *network, uint32_t *node)
{
    const char *broken = NULL;

    *node = UINT32_MAX;
    for (uint32_t i = 0; broken == NULL && i < network->shard_count; i++) {
        broken = oche_events_broken(&network->shards[i].events);
        if (broken == NULL)
            broken = broken_events(network, &network->shards[i]);
    }
    for (uint32_t i = 0; broken == NULL && i < network->node_count; i++) {
        broken = i < network->host_count ? broken_host(network, i) : broken_switch(network, i);
        if (broken != NULL)
            *node = i;
    }
    return broken;
}
