/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the network and moves packets over links. */
#include "sim/network/network.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/packet_path.h"
#include "sim/engine/big_memory.h"
#include "sim/network/bytes_mode.h"
#include "sim/network/host.h"
#include "sim/network/link_failure.h"
#include "sim/network/port_events.h"
#include "sim/network/ranks.h"
#include "sim/network/schedule.h"
#include "sim/network/team.h"

/*
 * With the thread sanitizer, threads run all windows together, so that the sanitizer checks all of
 * their work.
 */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define ALWAYS_TOGETHER true
#endif
#elif defined(__SANITIZE_THREAD__)
#define ALWAYS_TOGETHER true
#endif
#ifndef ALWAYS_TOGETHER
#define ALWAYS_TOGETHER false
#endif

#define LARGE_FRAME 4200 /* bytes; hardly any frame is longer */
#define TRACE_RING  64   /* trace records kept per node: the latest ones */

static void *make(size_t count, size_t bytes)
{
    return oche_big_memory(count * bytes);
}

bool oche_network_init(struct oche_network *network, uint32_t host_count, uint32_t switch_count,
                       const uint32_t *degree, uint32_t shard_count)
{
    uint64_t nodes = (uint64_t)host_count + switch_count, ports = 0;

    if (nodes >= OCHE_MAX_NODES)
        return false;
    for (uint64_t i = 0; i < nodes; i++) {
        if (degree[i] > OCHE_MAX_PORTS)
            return false;
        ports += degree[i];
    }
    memset(network, 0, sizeof(*network));
    network->gap_bytes = OCHE_GAP_BYTES;
    network->window = OCHE_NEVER;
    network->host_count = host_count;
    network->node_count = (uint32_t)nodes;
    network->port_count = (uint32_t)ports;
    network->shard_count = shard_count;
    network->pace.always = network->pace.together = ALWAYS_TOGETHER;
    network->nodes = make(nodes, sizeof(*network->nodes));
    network->ports = make(ports, sizeof(*network->ports));
    network->extras = make(ports, sizeof(*network->extras));
    network->sites = make(nodes, sizeof(*network->sites));
    network->shards = make(shard_count, sizeof(*network->shards));
    struct oche_trace_record *rings = make(nodes * TRACE_RING, sizeof(struct oche_trace_record));
    for (uint32_t i = 0, port = 0; i < network->node_count; i++) {
        struct oche_node *node = &network->nodes[i];
        node->first_port = port;
        node->port_count = (uint16_t)degree[i];
        node->timer_at = OCHE_NEVER;
        oche_trace_init(&node->trace, i, rings + (size_t)i * TRACE_RING, TRACE_RING);
        for (uint32_t local = 0; local < degree[i]; local++, port++) {
            network->ports[port].node = i;
            network->ports[port].local = (uint16_t)local;
            network->ports[port].peer = UINT32_MAX;
            network->ports[port].flags = i < host_count ? OCHE_PORT_HOST : 0;
        }
    }
    for (uint32_t s = 0; s < shard_count; s++) {
        struct oche_shard *shard = &network->shards[s];
        shard->network = network;
        shard->index = s;
        oche_packet_pool_init(&shard->pool);
        oche_arena_init(&shard->arena);
        oche_arena_init(&shard->tables);
        shard->crosses_from = OCHE_NEVER;
        shard->outbox = make(2 * (size_t)shard_count, sizeof(*shard->outbox));
    }
    return true;
}

void oche_network_free(struct oche_network *network)
{
    oche_team_free(network->team);
    oche_ranks_free(network->ranks);
    oche_schedule_free(network->schedule);
    for (uint32_t i = 0; i < network->node_count; i++) {
        if (network->nodes[i].pauses != NULL)
            oche_pause_notes_free(network->nodes[i].pauses);
        oche_deflection_notes_free(&network->nodes[i].deflections);
    }
    for (uint32_t s = 0; s < network->shard_count; s++) {
        struct oche_shard *shard = &network->shards[s];
        if (shard->events.buckets != NULL)
            oche_events_free(&shard->events);
        oche_packet_pool_free(&shard->pool);
        oche_mishaps_free(&shard->mishaps);
        oche_arena_free(&shard->arena);
        oche_arena_free(&shard->tables);
        for (uint32_t d = 0; d < 2 * network->shard_count; d++)
            free(shard->outbox[d].list);
        free(shard->outbox);
        free(shard->scratch);
        oche_network_free_hits(shard);
    }
    if (network->nodes != NULL)
        free(network->nodes[0].trace.ring);
    free(network->nodes);
    free(network->ports);
    free(network->extras);
    free(network->sites);
    free(network->shards);
    memset(network, 0, sizeof(*network));
}

static void set_end(struct oche_network *network, uint32_t here, uint32_t there, uint64_t rate_bps,
                    oche_time delay)
{
    struct oche_port *port = &network->ports[here];

    port->peer = there;
    port->arrival_key =
        oche_event_key(network->ports[there].node, OCHE_EVENT_ARRIVAL, network->ports[there].local);
    port->delay = delay;
    network->extras[here].rate_bps = network->extras[here].slowest_bps = rate_bps;
    network->extras[here].sends.bps = network->extras[here].receives.bps = rate_bps;
    port->ps_per_byte = oche_network_ps_per_byte(rate_bps);
}

void oche_network_link(struct oche_network *network, uint32_t node_a, uint32_t local_a,
                       uint32_t node_b, uint32_t local_b, uint64_t rate_bps, oche_time delay)
{
    uint32_t a = network->nodes[node_a].first_port + local_a;
    uint32_t b = network->nodes[node_b].first_port + local_b;

    OCHE_MUST(delay > 0 && rate_bps > 0);
    OCHE_MUST(network->ports[a].peer == UINT32_MAX && network->ports[b].peer == UINT32_MAX);
    set_end(network, a, b, rate_bps, delay);
    set_end(network, b, a, rate_bps, delay);
    network->window = oche_time_min(network->window, delay);
}

void oche_network_assign(struct oche_network *network, uint32_t node, uint32_t shard)
{
    network->nodes[node].shard = (uint8_t)shard;
}

#define FEW_NODES    100 /* all of so few are in the cache */
#define MOST_FETCHED 8   /* events of a host's batch that are looked at before it begins */

/* Fetches into the cache what a batch of a host will touch. */
static void fetch_host(const struct oche_network *network, const struct oche_site *site,
                       const struct oche_pending *event, uint32_t count, unsigned step)
{
    if (step == 0)
        __builtin_prefetch(&network->ports[site->first_port], 1);
    if (step < OCHE_NIC_FETCH_STEPS) {
        oche_host_fetch(site->device, NULL, step);
        return;
    }
    for (uint32_t i = 0; i < count && i < MOST_FETCHED; i++) {
        bool arrival = oche_event_kind_of(oche_pending_key(&event[i])) == OCHE_EVENT_ARRIVAL;

        oche_host_fetch(site->device, arrival ? event[i].target : NULL, step);
    }
}

/* Fetches the ports of a switch: all of them if most have something to do. */
static void fetch_switch(const struct oche_network *network, const struct oche_site *site,
                         const struct oche_pending *event, uint32_t count, unsigned step)
{
    if (step == 1)
        oche_path_fetch_switch(site->device);
    if (step != 2)
        return;
    uint32_t ports = network->nodes[oche_pending_key(event) >> OCHE_EVENT_NODE_SHIFT].port_count;

    if (count > ports)
        count = ports;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t local = count < ports ? oche_event_local(oche_pending_key(&event[i])) : i;

        __builtin_prefetch(&network->ports[site->first_port + local], 1);
        oche_path_fetch_port(site->device, local);
    }
}

static void fetch(void *context, const struct oche_pending *event, uint32_t count, unsigned step)
{
    const struct oche_network *network = context;
    const struct oche_site *site = oche_event_site(network, oche_pending_key(event));

    if (site->flags & OCHE_PORT_HOST)
        fetch_host(network, site, event, count, step);
    else
        fetch_switch(network, site, event, count, step);
}

void oche_network_can_fail(struct oche_network *network, uint32_t port)
{
    network->ports[port].flags |= OCHE_PORT_FAILS;
    network->sites[network->ports[port].node].flags |= OCHE_PORT_FAILS;
}

/* Fills in what arrivals have to know of the node. */
static void find_site(struct oche_network *network, uint32_t node)
{
    struct oche_site *site = &network->sites[node];

    if (network->nodes[node].port_count == 0)
        return;
    site->first_port = network->nodes[node].first_port;
    site->device = network->ports[site->first_port].device;
    for (uint32_t i = 0; i < network->nodes[node].port_count; i++)
        site->flags |= network->ports[site->first_port + i].flags &
                       (OCHE_PORT_HOST | OCHE_PORT_DEFLECTS | OCHE_PORT_FAILS);
}

void oche_network_ready(struct oche_network *network)
{
    oche_time longest = 0;

    for (uint32_t i = 0; i < network->port_count; i++) {
        struct oche_port *port = &network->ports[i];
        struct oche_port_extra *extra = &network->extras[i];
        if (port->peer == UINT32_MAX)
            continue;
        port->peer_shard = network->nodes[network->ports[port->peer].node].shard;
        if (port->peer_shard != network->nodes[port->node].shard)
            port->flags |= OCHE_PORT_REMOTE;
        if (extra->loss != NULL || extra->grey != NULL || extra->late != NULL ||
            extra->events != NULL || extra->tap || network->bytes_mode)
            port->flags |= OCHE_PORT_SPECIAL;
        longest = oche_time_max(longest,
                                port->delay + oche_time_of_bytes(LARGE_FRAME, extra->slowest_bps));
    }
    for (uint32_t i = 0; i < network->node_count; i++)
        find_site(network, i);
    for (uint32_t s = 0; s < network->shard_count; s++) {
        if (network->ranks != NULL && s != network->ranks->rank)
            continue;
        oche_events_init(&network->shards[s].events,
                         &(struct oche_event_queue_config){
                             .independent = network->window,
                             .horizon = longest,
                             .node_count = network->node_count,
                             .by_time = network->in_order || network->tap != NULL,
                             .fetch = network->node_count < FEW_NODES ? NULL : fetch,
                             .fetch_context = network,
                         });
        if (network->bytes_mode)
            network->shards[s].scratch = make(2, OCHE_BYTES_MODE_FRAME);
    }
}

void oche_network_cross(struct oche_shard *shard, const struct oche_port *port,
                        struct oche_packet *packet)
{
    struct oche_mailbox *box =
        &shard->outbox[shard->side * shard->network->shard_count + port->peer_shard];

    if (box->count == box->capacity) {
        box->capacity = box->capacity == 0 ? 256 : box->capacity * 2;
        box->list = realloc(box->list, box->capacity * sizeof(*box->list));
        if (box->list == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for a mailbox");
    }
    /* The other thread has read these lines: fetching them back takes longer than filling one. */
    __builtin_prefetch((const char *)&box->list[box->count] + OCHE_MAILBOX_AHEAD, 1);
    box->list[box->count++] =
        (struct oche_crossing){.packet = packet, .when = packet->when, .key = port->arrival_key};
    shard->crosses_from = oche_time_min(shard->crosses_from, packet->when);
}

void oche_network_lose(struct oche_shard *shard, uint32_t number, struct oche_packet *packet,
                       oche_time now)
{
    struct oche_network *network = shard->network;
    struct oche_port_extra *extra = &network->extras[number];

    extra->lost_packets++;
    extra->lost_bytes += packet->frame_bytes;
    oche_trace_emit(&network->nodes[network->ports[number].node].trace, now, OCHE_TRACE_DROPPED,
                    packet->dest_qpn, UINT64_C(1) << 32, packet->psn);
    if (network->keep_mishaps)
        oche_mishaps_lost(&shard->mishaps, packet, now);
    oche_packet_return(&shard->pool, packet);
}

/* The packet becomes bytes and back, and a capture at the far end sees it. */
static void cross_link(struct oche_shard *shard, uint32_t number, struct oche_packet *packet)
{
    struct oche_network *network = shard->network;
    const uint32_t peer = network->ports[number].peer;

    if (network->bytes_mode)
        oche_bytes_mode(shard->scratch, network->endpoint, network->ipv6, packet);
    if (network->extras[peer].tap && !(network->ports[peer].flags & OCHE_PORT_FAILS))
        network->tap(network->tap_context, peer, packet, packet->when, false);
}

bool oche_network_special(struct oche_shard *shard, uint32_t number, struct oche_packet *packet,
                          oche_time now)
{
    struct oche_network *network = shard->network;
    struct oche_port_extra *extra = &network->extras[number];

    if (extra->tap)
        network->tap(network->tap_context, number, packet, now, true);
    if (extra->loss != NULL && oche_loss_drop(extra->loss, packet)) {
        oche_network_lose(shard, number, packet, now);
        return false;
    }
    if (extra->grey != NULL && oche_loss_drop(extra->grey, packet)) {
        extra->grey_packets++;
        oche_network_note_hit(shard, packet, now);
        oche_network_lose(shard, number, packet, now);
        return false;
    }
    if (extra->late != NULL)
        packet->when = oche_late_arrival(extra->late, packet, packet->when);
    if (extra->events != NULL && !oche_port_events_send(shard, number, packet, now))
        return false;
    cross_link(shard, number, packet);
    return true;
}

void oche_network_launch(struct oche_shard *shard, uint32_t number, struct oche_packet *packet)
{
    const struct oche_port *port = &shard->network->ports[number];

    cross_link(shard, number, packet);
    if (port->flags & OCHE_PORT_REMOTE)
        oche_network_cross(shard, port, packet);
    else if (packet->when < OCHE_TIME_LIMIT)
        oche_event_push_later(&shard->events, packet->when, port->arrival_key, packet);
}

void oche_network_wake(struct oche_shard *shard, uint32_t node, oche_time when)
{
    struct oche_node *at = &shard->network->nodes[node];

    if (when >= at->timer_at)
        return;
    at->timer_at = when;
    oche_event_push(&shard->events, when, oche_event_key(node, OCHE_EVENT_TIMER, 0),
                    &shard->network->ports[at->first_port]);
}

uint64_t oche_network_unsent_bytes(const struct oche_network *network, uint32_t port, oche_time now)
{
    oche_time busy_until = network->ports[port].busy_until;

    if (busy_until <= now)
        return 0;
    const struct oche_port_extra *extra = &network->extras[port];
    const bool old = busy_until <= extra->old_until;
    uint64_t bytes =
        oche_bytes_in_time(busy_until - now, old ? extra->sends.old_bps : extra->sends.bps);
    return bytes < network->ports[port].line_bytes ? bytes : network->ports[port].line_bytes;
}

uint64_t oche_network_hops(const struct oche_network *network)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < network->shard_count; s++)
        sum += network->shards[s].hops;
    return sum;
}

uint64_t oche_network_events(const struct oche_network *network)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < network->shard_count; s++)
        sum += network->shards[s].handled_events;
    return sum;
}

int64_t oche_network_live_packets(const struct oche_network *network)
{
    int64_t sum = 0;

    for (uint32_t s = 0; s < network->shard_count; s++)
        sum += network->shards[s].pool.taken - network->shards[s].kept_packets;
    return sum;
}

uint64_t oche_network_pending_deliveries(const struct oche_network *network)
{
    uint64_t sum = 0;

    for (uint32_t s = 0; s < network->shard_count; s++)
        sum += network->shards[s].pending_deliveries;
    return sum;
}

uint64_t oche_network_hash(const struct oche_network *network)
{
    uint64_t hash = UINT64_C(0x6f636865);

    for (uint32_t i = 0; i < network->node_count; i++)
        hash = oche_mix64(hash ^ network->nodes[i].trace.hash) + network->nodes[i].trace.count;
    return hash;
}
