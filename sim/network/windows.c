/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window of a shard. Within a window no shard can affect another, since every packet needs at
 * least one link's delay; after it, packets that crossed shards are taken in.
 */
#include "sim/network/windows.h"

#include "sim/network/host.h"
#include "sim/network/link_failure.h"
#include "sim/network/switch_node.h"

/*
 * Handles the arrival of a packet on a link that can fail. Returns false if the link lost the
 * packet.
 */
static OCHE_NOINLINE bool outlives(struct oche_shard *shard, struct oche_port *port,
                                   struct oche_packet *packet, oche_time now)
{
    struct oche_network *network = shard->network;
    uint32_t number = (uint32_t)(port - network->ports);

    if (oche_network_lost_on_wire(shard, port, packet, now))
        return false;
    if (network->extras[number].tap)
        network->tap(network->tap_context, number, packet, packet->when, false);
    return true;
}

static void timer(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_node *node = &shard->network->nodes[port->node];

    if (node->timer_at == now)
        node->timer_at = OCHE_NEVER;
    if (port->flags & OCHE_PORT_HOST)
        oche_host_timer(shard, port, now);
    else
        oche_switch_node_timer(shard, port, now);
}

/* Handles an event of a node; `site` and `first`, its first port, are the node's. */
static OCHE_ALWAYS_INLINE void handle(struct oche_shard *shard, const struct oche_site *site,
                                      struct oche_port *first, const struct oche_event *event,
                                      bool host)
{
    struct oche_port *port = event->target; /* but of an arrival it is the packet */
    const uint32_t local = oche_event_local(event->key);

    switch (oche_event_kind_of(event->key)) {
    case OCHE_EVENT_TRANSMIT_DONE:
        port->flags &= (uint8_t)~OCHE_PORT_DONE_PENDING;
        if (host)
            oche_host_transmit_done(shard, port, event->time);
        else
            oche_switch_node_transmit_done(shard, port, event->time);
        break;
    case OCHE_EVENT_ARRIVAL:
        if (OCHE_UNLIKELY(site->flags & OCHE_PORT_FAILS) &&
            (first[local].flags & OCHE_PORT_FAILS) &&
            !outlives(shard, first + local, event->target, event->time))
            return;
        if (host)
            oche_host_arrival(shard, first + local, event->target, event->time);
        else
            oche_switch_node_arrival(shard, site, local, event->target, event->time);
        break;
    case OCHE_EVENT_TIMER:
        timer(shard, port, event->time);
        break;
    case OCHE_EVENT_CHANGE:
        oche_network_change(shard, port, event->time);
        break;
    }
}

/*
 * Handles the events of the open batch, which are all of one node unless the queue is in order of
 * time. Returns how many.
 */
static OCHE_ALWAYS_INLINE uint64_t run_batch(struct oche_shard *shard, const struct oche_site *site,
                                             bool host)
{
    struct oche_port *first = &shard->network->ports[site->first_port];
    struct oche_event event;
    uint64_t count = 0;

    for (; oche_event_pop_of_batch(&shard->events, &event); count++)
        handle(shard, site, first, &event, host);
    return count;
}

static uint64_t run_mixed_batch(struct oche_shard *shard)
{
    struct oche_event event;
    uint64_t count = 0;

    for (; oche_event_pop_of_batch(&shard->events, &event); count++) {
        const struct oche_site *site = oche_event_site(shard->network, event.key);

        handle(shard, site, &shard->network->ports[site->first_port], &event,
               site->flags & OCHE_PORT_HOST);
    }
    return count;
}

static void run_window(struct oche_shard *shard, oche_time end)
{
    const struct oche_network *network = shard->network;
    uint64_t handled = 0;
    uint32_t node;

    while (oche_events_next_batch(&shard->events, end, &node)) {
        if (OCHE_UNLIKELY(node == OCHE_MIXED_BATCH))
            handled += run_mixed_batch(shard);
        else if (network->sites[node].flags & OCHE_PORT_HOST)
            handled += run_batch(shard, &network->sites[node], true);
        else
            handled += run_batch(shard, &network->sites[node], false);
    }
    shard->handled_events += handled;
}

oche_time oche_windows_run(struct oche_shard *shard, oche_time end, oche_time limit, uint64_t flows,
                           uint64_t awaited)
{
    const struct oche_network *network = shard->network;
    const struct oche_window_checks *checks = &network->checks;
    const uint64_t most = checks->windows == 0 ? UINT64_MAX : checks->windows;

    for (uint64_t count = 1;; count++) {
        run_window(shard, end);
        shard->windows++;
        if (end >= limit || count == most || shard->crosses_from != OCHE_NEVER ||
            oche_windows_ask(shard) ||
            oche_windows_due(checks, end, flows + shard->flows_completed,
                             awaited + shard->awaited_completed))
            return end;
        oche_time soonest = oche_events_next_time(&shard->events);

        if (soonest >= limit)
            return end;
        end = oche_window_end(network, soonest, limit);
    }
}

void oche_windows_collect(struct oche_shard *shard)
{
    struct oche_network *network = shard->network;

    for (uint32_t from = 0; from < network->shard_count; from++) {
        struct oche_mailbox *box =
            &network->shards[from].outbox[shard->side * network->shard_count + shard->index];

        for (uint32_t i = 0; i < box->count; i++) {
            const struct oche_crossing *crossing = &box->list[i];

            __builtin_prefetch((const char *)crossing + OCHE_MAILBOX_AHEAD);
            oche_event_push(&shard->events, crossing->when, crossing->key, crossing->packet);
        }
        if (box->count > 0)
            box->count = 0;
    }
}
