/* SPDX-License-Identifier: Apache-2.0 */
/* A switch as a node of the network. */
#include "sim/network/switch_node.h"

static void send_pause(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_packet *frame = oche_packet_take(&shard->pool);

    if (!oche_switch_take_pause(port->device, port->local, frame, now)) {
        oche_packet_return(&shard->pool, frame);
        return;
    }
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (frame->rkey >> cls & 1)
            oche_trace_emit(&shard->network->nodes[port->node].trace, now, OCHE_TRACE_PAUSE_SENT, 0,
                            port->local, (uint64_t)cls << 16 | oche_pfc_quanta(frame, cls));
    oche_network_send(shard, (uint32_t)(port - shard->network->ports), frame, now);
}

/* The port is free: sends what is due, and asks to be told when it is free again. */
static void transmit(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_switch *sw = port->device;

    if (OCHE_UNLIKELY(oche_switch_pause_waits(sw, port->local))) {
        send_pause(shard, port, now);
    } else {
        struct oche_packet *packet = oche_switch_transmit(sw, port->local, now);
        if (packet == NULL)
            return;
        oche_network_send(shard, (uint32_t)(port - shard->network->ports), packet, now);
    }
    if (oche_switch_ready(sw, port->local))
        oche_network_want_done(shard, port);
}

static void kick(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    if (port->busy_until > now)
        oche_network_want_done(shard, port);
    else if (!(port->flags & OCHE_PORT_DONE_PENDING))
        transmit(shard, port, now);
}

/* PFC frames that the last call gave rise to, and the switch's own timers. */
static inline void settle(struct oche_shard *shard, struct oche_port *first, oche_time now)
{
    struct oche_switch *sw = first->device;
    int pausing;

    while (OCHE_UNLIKELY((pausing = oche_switch_pause_port(sw)) >= 0))
        kick(shard, first + pausing, now);
    oche_time next = oche_switch_next(sw);
    if (OCHE_UNLIKELY(next != OCHE_NEVER))
        oche_network_wake(shard, first->node, next);
}

static void receive_pause(struct oche_shard *shard, struct oche_port *port,
                          struct oche_packet *frame, oche_time now)
{
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (frame->rkey >> cls & 1)
            oche_trace_emit(&shard->network->nodes[port->node].trace, now, OCHE_TRACE_PAUSE_ARRIVED,
                            0, port->local, (uint64_t)cls << 16 | oche_pfc_quanta(frame, cls));
    oche_switch_receive_pause(port->device, port->local, frame, now);
    oche_packet_return(&shard->pool, frame);
}

void oche_switch_node_arrival(struct oche_shard *shard, struct oche_port *port,
                              struct oche_packet *packet, oche_time now)
{
    struct oche_port *first = port - port->local;

    if (OCHE_UNLIKELY(packet->kind == OCHE_PACKET_PFC)) {
        receive_pause(shard, port, packet, now);
        kick(shard, port, now);
        settle(shard, first, now);
        return;
    }
    int egress = oche_switch_receive(port->device, port->local, packet, now);
    if (OCHE_UNLIKELY(egress < 0)) {
        oche_trace_emit(&shard->network->nodes[port->node].trace, now, OCHE_TRACE_DROPPED,
                        packet->dest_qpn, port->local, packet->psn);
        if (shard->network->keep_mishaps)
            oche_mishaps_lost(&shard->mishaps, packet, now);
        oche_packet_return(&shard->pool, packet);
    } else {
        kick(shard, first + egress, now);
    }
    settle(shard, first, now);
}

void oche_switch_node_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    transmit(shard, port, now);
    settle(shard, port - port->local, now);
}

void oche_switch_node_timer(struct oche_shard *shard, struct oche_port *first, oche_time now)
{
    int ready;

    while ((ready = oche_switch_expire(first->device, now)) >= 0)
        kick(shard, first + ready, now);
    settle(shard, first, now);
}
