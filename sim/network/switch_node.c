/* SPDX-License-Identifier: Apache-2.0 */
/* A switch as a node of the network. */
#include "sim/network/switch_node.h"

#include "core/wire/opcode.h"
#include "fabric/packet_path.h"
#include "sim/network/fcp_trace.h"
#include "sim/network/link_failure.h"

/*
 * Returns the switch's notes of PAUSEs. The first call, at the first PFC frame, creates them and
 * makes the switch record which queues are held, and by what.
 */
static struct oche_pause_notes *pause_notes(struct oche_shard *shard, struct oche_port *port,
                                            oche_time now)
{
    struct oche_node *node = &shard->network->nodes[port->node];
    struct oche_switch *sw = port->device;

    if (node->pauses == NULL) {
        node->pauses = oche_arena_take(&shard->arena, sizeof(*node->pauses));
        oche_switch_keep_holds(sw, oche_arena_take(&shard->arena, oche_switch_holds_bytes(sw)),
                               now);
    }
    return node->pauses;
}

/*
 * Adds a note for each class that the switch's latest PFC frame newly pauses or resumes. `before`
 * is the mask of classes that were paused before this frame.
 */
static void note_pauses(struct oche_shard *shard, struct oche_port *port, uint8_t before,
                        oche_time now)
{
    const struct oche_switch *sw = port->device;
    struct oche_pause_notes *notes = pause_notes(shard, port, now);
    uint8_t after = oche_switch_pausing(sw, port->local);

    for (uint8_t left = before ^ after; left != 0; left &= (uint8_t)(left - 1)) {
        unsigned cls = (unsigned)__builtin_ctz(left);
        struct oche_pause_note note = {.time = now,
                                       .port = (uint32_t)(port - shard->network->ports),
                                       .cls = (uint8_t)cls,
                                       .on = after >> cls & 1,
                                       .cause = OCHE_NO_PORT};
        struct oche_pause_cause cause;

        if (note.on && oche_switch_pause_cause(sw, port->local, cls, now, &cause)) {
            note.held = cause.held;
            note.cause = note.port - port->local + cause.port;
            note.cause_cls = (uint8_t)cause.cls;
            note.bytes = cause.bytes;
            note.ingress_bytes = cause.ingress_bytes;
        }
        oche_pause_notes_add(notes, &note);
    }
}

static void send_pause(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_packet *frame = oche_packet_take(&shard->pool);
    uint8_t before = oche_switch_pausing(port->device, port->local);

    if (!oche_switch_take_pause(port->device, port->local, frame, now)) {
        oche_packet_return(&shard->pool, frame);
        return;
    }
    if (frame->kind == OCHE_PACKET_FCP) {
        oche_fcp_trace(&shard->network->nodes[port->node].trace, OCHE_TRACE_FCP_SENT, port->local,
                       frame, now);
        oche_network_send(shard, port, frame, now);
        return;
    }
    note_pauses(shard, port, before, now);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(frame, cls))
            oche_trace_emit(&shard->network->nodes[port->node].trace, now, OCHE_TRACE_PAUSE_SENT, 0,
                            port->local, (uint64_t)cls << 16 | frame->pfc.quanta[cls]);
    oche_network_send(shard, port, frame, now);
}

/*
 * Sends the next packet or PFC frame from a free port, and asks for an event when the port is free
 * again.
 */
static OCHE_ALWAYS_INLINE void transmit(struct oche_shard *shard, struct oche_port *port,
                                        oche_time now)
{
    struct oche_switch *sw = port->device;

    if (OCHE_UNLIKELY(oche_path_pause_waits(sw, port->local))) {
        send_pause(shard, port, now);
    } else {
        struct oche_packet *packet = oche_path_transmit(sw, port->local, now);
        if (packet == NULL)
            return;
        oche_network_send(shard, port, packet, now);
    }
    if (oche_path_ready(sw, port->local))
        oche_network_want_done(shard, port);
}

static void kick(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    if (port->busy_until > now)
        oche_network_want_done(shard, port);
    else if (!(port->flags & OCHE_PORT_DONE_PENDING))
        transmit(shard, port, now);
}

/* Sends PFC frames that the last call has caused, and schedules the switch's own timers. */
static inline void settle(struct oche_shard *shard, struct oche_switch *sw, struct oche_port *first,
                          oche_time now)
{
    int pausing;

    while (OCHE_UNLIKELY((pausing = oche_path_pause_port(sw)) >= 0))
        kick(shard, first + pausing, now);
    oche_time next = sw->next;
    if (OCHE_UNLIKELY(next != OCHE_NEVER))
        oche_network_wake(shard, first->node, next);
}

void oche_switch_node_begin(struct oche_network *network, uint32_t node)
{
    const struct oche_port *first = &network->ports[network->nodes[node].first_port];
    oche_time next = oche_switch_next(first->device);

    if (next != OCHE_NEVER)
        oche_network_wake(oche_network_shard_of(network, node), node, next);
}

static void receive_pause(struct oche_shard *shard, struct oche_port *port,
                          struct oche_packet *frame, oche_time now)
{
    if (frame->kind == OCHE_PACKET_FCP) {
        oche_fcp_trace(&shard->network->nodes[port->node].trace, OCHE_TRACE_FCP_ARRIVED,
                       port->local, frame, now);
        oche_switch_receive_frame(port->device, port->local, frame, now);
        oche_packet_return(&shard->pool, frame);
        return;
    }
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(frame, cls))
            oche_trace_emit(&shard->network->nodes[port->node].trace, now, OCHE_TRACE_PAUSE_ARRIVED,
                            0, port->local, (uint64_t)cls << 16 | frame->pfc.quanta[cls]);
    pause_notes(shard, port, now); /* the switch records holds from now on */
    oche_switch_receive_pause(port->device, port->local, frame, now);
    oche_packet_return(&shard->pool, frame);
}

/*
 * Receives a packet at a switch that may deflect. Also traces what the switch did with the packet,
 * and adds a note if it deflected a message's first packet.
 */
static OCHE_NOINLINE int receive_noting(struct oche_shard *shard, struct oche_port *port,
                                        struct oche_packet *packet, oche_time now)
{
    struct oche_node *node = &shard->network->nodes[port->node];
    uint8_t before = packet->bth_reserved & OCHE_BTH_TOKENS;
    int egress = oche_switch_receive(port->device, port->local, packet, now);
    uint8_t left = packet->bth_reserved & OCHE_BTH_TOKENS;

    if (egress < 0 || packet->kind != OCHE_PACKET_ROCE || left == before)
        return egress;
    oche_trace_emit(&node->trace, now, OCHE_TRACE_DEFLECTED, packet->dest_qpn,
                    (uint64_t)egress | (uint64_t)port->local << 16,
                    packet->psn | (uint64_t)left << 24 | (uint64_t)packet->traffic_class << 32);
    if (oche_opcode_has(packet->opcode, OCHE_OP_FIRST))
        oche_deflection_notes_add(&node->deflections,
                                  &(struct oche_deflection_note){.time = now,
                                                                 .qpn = packet->dest_qpn,
                                                                 .psn = packet->psn,
                                                                 .in_port = port->local,
                                                                 .port = (uint16_t)egress,
                                                                 .lane = packet->traffic_class,
                                                                 .tokens = left});
    return egress;
}

/* True if a failure caused the last drop: the port is down, or no route is left. */
static bool is_of_failure(const struct oche_switch *sw)
{
    enum oche_drop cause = oche_switch_last_drop(sw);

    return cause == OCHE_DROP_LINK_DOWN || cause == OCHE_DROP_NO_ROUTE;
}

void oche_switch_node_arrival(struct oche_shard *shard, const struct oche_site *site,
                              uint32_t local, struct oche_packet *packet, oche_time now)
{
    struct oche_switch *sw = site->device;
    struct oche_port *first = &shard->network->ports[site->first_port];

    if (OCHE_UNLIKELY(oche_packet_is_of_link(packet->kind))) {
        receive_pause(shard, first + local, packet, now);
        kick(shard, first + local, now);
        settle(shard, sw, first, now);
        return;
    }
    int egress = OCHE_UNLIKELY(site->flags & OCHE_PORT_DEFLECTS)
                     ? receive_noting(shard, first + local, packet, now)
                     : oche_path_receive(sw, local, packet, now);
    if (OCHE_UNLIKELY(egress < 0)) {
        oche_trace_emit(&shard->network->nodes[first->node].trace, now, OCHE_TRACE_DROPPED,
                        packet->dest_qpn, local, packet->psn);
        if (shard->network->keep_mishaps)
            oche_mishaps_lost(&shard->mishaps, packet, now);
        if (shard->hits != NULL && is_of_failure(sw))
            oche_network_note_hit(shard, packet, now);
        oche_packet_return(&shard->pool, packet);
    } else {
        kick(shard, first + egress, now);
    }
    settle(shard, sw, first, now);
}

void oche_switch_node_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    transmit(shard, port, now);
    settle(shard, port->device, port - port->local, now);
}

/* Returns to the pool the packets that a mechanism has discarded from the switch's queues. */
static void return_discarded(struct oche_shard *shard, struct oche_port *first, oche_time now)
{
    struct oche_packet *packet;

    while ((packet = oche_switch_take_discarded(first->device)) != NULL) {
        oche_trace_emit(&shard->network->nodes[first->node].trace, now, OCHE_TRACE_DROPPED,
                        packet->dest_qpn, UINT64_C(1) << 35, packet->psn);
        if (shard->network->keep_mishaps)
            oche_mishaps_lost(&shard->mishaps, packet, now);
        oche_packet_return(&shard->pool, packet);
    }
}

void oche_switch_node_timer(struct oche_shard *shard, struct oche_port *first, oche_time now)
{
    int ready;

    while ((ready = oche_switch_expire(first->device, now)) >= 0)
        kick(shard, first + ready, now);
    return_discarded(shard, first, now);
    settle(shard, first->device, first, now);
}

void oche_switch_node_link_down(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_network *network = shard->network;
    struct oche_switch *sw = port->device;
    uint8_t before = oche_switch_pausing(sw, port->local);
    struct oche_packet *packet;

    oche_switch_link_down(sw, port->local, now);
    if (before != 0)
        note_pauses(shard, port, before, now);
    while ((packet = oche_switch_flush(sw, port->local, now)) != NULL) {
        oche_trace_emit(&network->nodes[port->node].trace, now, OCHE_TRACE_DROPPED,
                        packet->dest_qpn, UINT64_C(1) << 33, packet->psn);
        if (network->keep_mishaps)
            oche_mishaps_lost(&shard->mishaps, packet, now);
        oche_network_note_hit(shard, packet, now);
        oche_packet_return(&shard->pool, packet);
    }
    settle(shard, port->device, port - port->local, now);
}

void oche_switch_node_link_up(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    oche_switch_link_up(port->device, port->local);
    settle(shard, port->device, port - port->local, now);
}
