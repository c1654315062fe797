/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of links and routes; see the header. */
#include "sim/network/link_failure.h"

#include <stdlib.h>

#include "sim/engine/sparse_memory.h"
#include "sim/network/host.h"
#include "sim/network/ranks.h"
#include "sim/network/switch_node.h"

#define HIT_BLOCK 256 /* connections that share an entry of `hit_blocks` */

static void set_rate(struct oche_port *port, struct oche_port_extra *extra, uint64_t rate_bps)
{
    extra->sends.bps = rate_bps;
    port->ps_per_byte = oche_network_ps_per_byte(rate_bps);
}

/* Before the run: a change at its beginning is one before its first packet. */
static void prepare(struct oche_network *network, const struct oche_change *change)
{
    const uint32_t number = network->nodes[change->node].first_port + change->port;
    struct oche_port_extra *extra = &network->extras[number];

    if (change->kind == OCHE_CHANGE_SENDS && change->rate_bps < extra->slowest_bps)
        extra->slowest_bps = change->rate_bps;
    if (change->time > 0)
        return;
    if (change->kind == OCHE_CHANGE_RECEIVES)
        extra->receives.bps = change->rate_bps;
    else
        set_rate(&network->ports[number], extra, change->rate_bps);
    if (change->kind == OCHE_CHANGE_SENDS && extra->grey != NULL)
        extra->grey->threshold = change->loss;
}

void oche_network_set_changes(struct oche_network *network, const struct oche_change *changes,
                              size_t count, uint32_t connections)
{
    network->connections = connections;
    for (uint32_t s = 0; s < network->shard_count; s++) {
        struct oche_shard *shard = &network->shards[s];

        shard->hits = oche_sparse_take(connections * sizeof(struct oche_hit));
        shard->hit_blocks = calloc(connections / HIT_BLOCK + 1, 1);
        OCHE_GOT(shard->hits != NULL && shard->hit_blocks != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        struct oche_node *node = &network->nodes[changes[i].node];

        if (node->changes == NULL)
            node->changes = &changes[i];
        node->change_count++;
        if (changes[i].kind == OCHE_CHANGE_ROUTES)
            continue;
        OCHE_MUST(changes[i].port < node->port_count);
        if (changes[i].kind == OCHE_CHANGE_SENDS || changes[i].kind == OCHE_CHANGE_RECEIVES) {
            prepare(network, &changes[i]);
            continue;
        }
        oche_network_can_fail(network, node->first_port + changes[i].port);
        network->extras[node->first_port + changes[i].port].last_down = OCHE_NEVER;
    }
}

static void want_change(struct oche_shard *shard, const struct oche_node *node)
{
    if (node->change_count > 0)
        oche_event_push(&shard->events, node->changes->time,
                        oche_event_key(node->changes->node, OCHE_EVENT_CHANGE, 0),
                        &shard->network->ports[node->first_port]);
}

void oche_network_begin_changes(struct oche_network *network)
{
    for (uint32_t i = 0; i < network->node_count; i++)
        if (oche_network_has(network, i))
            want_change(oche_network_shard_of(network, i), &network->nodes[i]);
}

static void change_link(struct oche_shard *shard, struct oche_port *port, bool down, oche_time now)
{
    struct oche_network *network = shard->network;
    struct oche_port_extra *extra = &network->extras[port - network->ports];

    OCHE_MUST(extra->down != down);
    extra->down = down;
    if (down)
        extra->last_down = now;
    oche_trace_emit(&network->nodes[port->node].trace, now,
                    down ? OCHE_TRACE_LINK_DOWN : OCHE_TRACE_LINK_UP, 0, port->local, 0);
    if (port->flags & OCHE_PORT_HOST)
        oche_host_link_changed(shard, port, now);
    else if (down)
        oche_switch_node_link_down(shard, port, now);
    else
        oche_switch_node_link_up(shard, port, now);
}

static void change_rate(struct oche_port_rate *rate, uint64_t bps, oche_time now)
{
    if (rate->bps != bps)
        *rate = (struct oche_port_rate){.bps = bps, .old_bps = rate->bps, .since = now};
}

static void change_sends(const struct oche_network *network, struct oche_port *port,
                         const struct oche_change *change, oche_time now)
{
    struct oche_port_extra *extra = &network->extras[port - network->ports];

    if (extra->sends.bps != change->rate_bps) {
        change_rate(&extra->sends, change->rate_bps, now);
        extra->old_until = port->busy_until;
        set_rate(port, extra, change->rate_bps);
    }
    if (extra->grey != NULL)
        extra->grey->threshold = change->loss;
    oche_trace_emit(&network->nodes[port->node].trace, now, OCHE_TRACE_LINK_CHANGED, 0, port->local,
                    change->rate_bps);
}

void oche_network_change(struct oche_shard *shard, struct oche_port *first, oche_time now)
{
    struct oche_node *node = &shard->network->nodes[first->node];

    while (node->change_count > 0 && node->changes->time == now) {
        const struct oche_change *change = node->changes++;

        node->change_count--;
        if (change->kind == OCHE_CHANGE_ROUTES) {
            oche_trace_emit(&node->trace, now, OCHE_TRACE_REROUTED, 0, 0, 0);
            oche_switch_reroute(first->device, change->routes, change->onward);
        } else if (change->kind == OCHE_CHANGE_SENDS) {
            change_sends(shard->network, first + change->port, change, now);
        } else if (change->kind == OCHE_CHANGE_RECEIVES) {
            change_rate(&shard->network->extras[node->first_port + change->port].receives,
                        change->rate_bps, now);
        } else {
            change_link(shard, first + change->port, change->kind == OCHE_CHANGE_LINK_DOWN, now);
        }
    }
    want_change(shard, node);
}

void oche_network_note_hit(struct oche_shard *shard, const struct oche_packet *packet,
                           oche_time now)
{
    uint32_t connection = oche_connection_of(packet->dest_qpn);

    if (shard->hits == NULL || oche_packet_is_of_link(packet->kind) ||
        packet->dest_qpn < OCHE_FIRST_QPN || connection >= shard->network->connections)
        return;
    struct oche_hit *hit = &shard->hits[connection];

    shard->hit_blocks[connection / HIT_BLOCK] = 1;
    /* Nodes come one after the other, so a loss may be noted after later ones of other nodes. */
    if (hit->packets == 0 || now < hit->first)
        hit->first = now;
    if (hit->packets == 0 || now > hit->last)
        hit->last = now;
    hit->packets++;
}

const struct oche_hit *oche_network_hit(const struct oche_shard *shard, uint32_t connection)
{
    if (shard->hits == NULL || shard->hit_blocks[connection / HIT_BLOCK] == 0 ||
        shard->hits[connection].packets == 0)
        return NULL;
    return &shard->hits[connection];
}

uint32_t oche_network_next_hit(const struct oche_shard *shard, uint32_t from)
{
    const uint32_t connections = shard->network->connections;

    while (from < connections && shard->hits != NULL) {
        if (shard->hit_blocks[from / HIT_BLOCK] != 0)
            return from;
        from = (from / HIT_BLOCK + 1) * HIT_BLOCK;
    }
    return UINT32_MAX;
}

void oche_network_set_hit(struct oche_shard *shard, uint32_t connection, const struct oche_hit *hit)
{
    shard->hits[connection] = *hit;
    shard->hit_blocks[connection / HIT_BLOCK] = 1;
}

void oche_network_free_hits(struct oche_shard *shard)
{
    oche_sparse_free(shard->hits);
    free(shard->hit_blocks);
}

/* Returns when the packet's first bit was put on the link. */
static oche_time begun(const struct oche_network *network, const struct oche_port *port,
                       const struct oche_packet *packet)
{
    const struct oche_port_rate *rate = &network->extras[port - network->ports].receives;
    const uint32_t line_bytes = packet->frame_bytes + network->gap_bytes;
    const oche_time left = packet->when - port->delay;

    if (rate->old_bps != 0 && left - oche_time_of_bytes(line_bytes, rate->old_bps) <= rate->since)
        return left - oche_time_of_bytes(line_bytes, rate->old_bps);
    return left - oche_time_of_bytes(line_bytes, rate->bps);
}

bool oche_network_lost_on_wire(struct oche_shard *shard, struct oche_port *port,
                               struct oche_packet *packet, oche_time now)
{
    struct oche_network *network = shard->network;
    struct oche_port_extra *extra = &network->extras[port - network->ports];

    if (!extra->down &&
        (extra->last_down == OCHE_NEVER || extra->last_down < begun(network, port, packet)))
        return false;
    if (!oche_packet_is_of_link(packet->kind)) {
        extra->cut_packets++;
        extra->cut_bytes += packet->frame_bytes;
    }
    oche_trace_emit(&network->nodes[port->node].trace, now, OCHE_TRACE_DROPPED, packet->dest_qpn,
                    UINT64_C(1) << 33, packet->psn);
    if (network->keep_mishaps && !oche_packet_is_of_link(packet->kind))
        oche_mishaps_lost(&shard->mishaps, packet, now);
    oche_network_note_hit(shard, packet, now);
    oche_packet_return(&shard->pool, packet);
    return true;
}
