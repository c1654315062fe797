/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts around one switch: the smallest event loop that is exact. */
#include "tests/unit/fabric/links.h"

#include <string.h>

#define CHECK_EVERY 16 /* steps between two checks of the switch's invariants */

static void push(struct fifo *fifo, struct oche_packet *packet)
{
    packet->next = NULL;
    if (fifo->head == NULL)
        fifo->head = packet;
    else
        fifo->tail->next = packet;
    fifo->tail = packet;
}

static struct oche_packet *pop(struct fifo *fifo)
{
    struct oche_packet *packet = fifo->head;

    fifo->head = packet->next;
    return packet;
}

void links_make(struct links *links)
{
    links->count = links->rig.config.port_count;
    rig_make(&links->rig);
    for (unsigned i = 0; i < links->count; i++)
        oche_pause_init(&links->hosts[i].pause, links->rig.ports[i].rate_bps,
                        links->rig.params.pfc_response);
}

void links_free(struct links *links)
{
    rig_free(&links->rig);
}

void links_send(struct links *links, unsigned from, struct oche_packet *packet, oche_time when)
{
    packet->src = from;
    packet->when = when;
    push(&links->hosts[from].queue[packet->traffic_class], packet);
}

void links_send_pause(struct links *links, unsigned from, unsigned cls, uint16_t quanta,
                      oche_time when)
{
    struct oche_packet *frame = rig_packet(0, 0, OCHE_MIN_FRAME_BYTES);

    frame->kind = OCHE_PACKET_PFC;
    frame->when = when;
    oche_pfc_set(frame, cls, quanta);
    push(&links->hosts[from].pfc, frame);
}

/* Puts `packet` on the wire now. */
static void launch(struct links *links, unsigned port, struct end *end, struct oche_packet *packet,
                   oche_time wait)
{
    const struct oche_switch_port_config *link = &links->rig.ports[port];
    oche_time start = links->now + wait;

    end->free_at = start + oche_time_of_bytes(packet->frame_bytes + OCHE_GAP_BYTES, link->rate_bps);
    packet->when = start + oche_time_of_bytes(packet->frame_bytes, link->rate_bps) + link->delay;
    push(&end->flying, packet);
}

/*
 * Returns the packet that host `port` sends now, or NULL. `*next` becomes the time at which it may
 * have more.
 */
static struct oche_packet *pull(struct links *links, unsigned port, oche_time *next)
{
    struct host *host = &links->hosts[port];

    if (host->pfc.head != NULL && host->pfc.head->when <= links->now)
        return pop(&host->pfc);
    if (host->pfc.head != NULL)
        *next = oche_time_min(*next, host->pfc.head->when);
    for (unsigned cls = OCHE_CLASSES; cls-- > 0;) {
        struct oche_packet *head = host->queue[cls].head;

        if (head == NULL || host->pause.mask >> cls & 1)
            continue;
        if (head->when <= links->now)
            return pop(&host->queue[cls]);
        *next = oche_time_min(*next, head->when);
    }
    return NULL;
}

/* The host's transmitter. Returns the time of its next call. */
static oche_time run_up(struct links *links, unsigned port)
{
    struct host *host = &links->hosts[port];
    oche_time next = OCHE_NEVER;
    struct oche_packet *packet;

    if (host->up.free_at > links->now)
        return host->up.free_at;
    packet = pull(links, port, &next);
    if (packet == NULL)
        return next;
    if (packet->kind != OCHE_PACKET_PFC) {
        assert_false(host->pause.mask >> packet->traffic_class & 1);
        links->sent++;
        links->sent_bytes += packet->frame_bytes;
    }
    launch(links, port, &host->up, packet, 0);
    return host->up.free_at;
}

/* The switch's transmitter. */
static oche_time run_down(struct links *links, unsigned port)
{
    struct host *host = &links->hosts[port];
    struct oche_switch *sw = links->rig.sw;
    struct oche_packet frame = {.next = NULL};
    struct oche_packet *packet;
    oche_time wait = 0;

    if (host->down.free_at > links->now)
        return host->down.free_at;
    if (oche_switch_take_pause(sw, port, &frame, links->now)) {
        packet = rig_packet(0, 0, 0);
        *packet = frame;
        if (links->pause_waits_mtu)
            wait = oche_time_of_bytes(links->rig.config.mtu_frame_bytes + OCHE_GAP_BYTES,
                                      links->rig.ports[port].rate_bps);
        launch(links, port, &host->down, packet, wait);
        return host->down.free_at;
    }
    if (links->now < host->stalled_until)
        return host->stalled_until;
    packet = oche_switch_transmit(sw, port, links->now);
    assert_true(packet != NULL || !oche_switch_ready(sw, port));
    if (packet == NULL)
        return OCHE_NEVER;
    assert_false(oche_switch_is_paused(sw, port, packet->traffic_class));
    launch(links, port, &host->down, packet, 0);
    return host->down.free_at;
}

static void arrive_at_switch(struct links *links, unsigned port)
{
    struct oche_switch *sw = links->rig.sw;
    struct oche_packet *packet = pop(&links->hosts[port].up.flying);
    uint64_t occupied;

    if (packet->kind == OCHE_PACKET_PFC) {
        oche_switch_receive_pause(sw, port, packet, links->now);
        rig_discard(packet);
        return;
    }
    if (oche_switch_receive(sw, port, packet, links->now) < 0) {
        links->dropped++;
        links->dropped_bytes += packet->frame_bytes;
        links->dropped_lossless +=
            links->rig.params.pfc &&
            (links->rig.config.lossless_classes >> packet->traffic_class & 1);
        /* A gap in the sequence numbers, which the test reports to the receiver. */
        links->hosts[packet->dst].next_psn[packet->src][packet->traffic_class] |= 0x80000000;
        rig_discard(packet);
        return;
    }
    occupied = oche_switch_occupied_bytes(sw);
    assert_true(occupied <= links->rig.params.buffer_bytes);
    if (occupied > links->max_occupied)
        links->max_occupied = occupied;
}

static void arrive_at_host(struct links *links, unsigned port)
{
    struct host *host = &links->hosts[port];
    struct oche_packet *packet = pop(&host->down.flying);
    uint32_t *expected;

    if (packet->kind == OCHE_PACKET_PFC) {
        oche_pause_receive(&host->pause, packet, links->now);
        rig_discard(packet);
        return;
    }
    assert_int_equal(packet->dst, port);
    expected = &host->next_psn[packet->src][packet->traffic_class];
    if (*expected & 0x80000000)
        assert_true(packet->psn >= (*expected & 0x7fffffff));
    else
        assert_int_equal(packet->psn, *expected);
    *expected = (*expected & 0x80000000) | (packet->psn + 1);
    links->delivered++;
    links->delivered_bytes += packet->frame_bytes;
    links->hash = oche_mix64(links->hash ^ links->now) + packet->psn + packet->ecn;
    rig_discard(packet);
}

/* Handles everything that is due at links->now. Returns the next time. */
static oche_time step(struct links *links)
{
    oche_time next = OCHE_NEVER;

    while (oche_switch_next(links->rig.sw) <= links->now)
        oche_switch_expire(links->rig.sw, links->now);
    for (unsigned i = 0; i < links->count; i++) {
        struct host *host = &links->hosts[i];

        oche_pause_update(&host->pause, links->now);
        while (host->up.flying.head != NULL && host->up.flying.head->when <= links->now)
            arrive_at_switch(links, i);
        while (host->down.flying.head != NULL && host->down.flying.head->when <= links->now)
            arrive_at_host(links, i);
    }
    for (unsigned i = 0; i < links->count; i++) {
        struct host *host = &links->hosts[i];

        next = oche_time_min(next, run_up(links, i));
        next = oche_time_min(next, run_down(links, i));
        if (host->up.flying.head != NULL)
            next = oche_time_min(next, host->up.flying.head->when);
        if (host->down.flying.head != NULL)
            next = oche_time_min(next, host->down.flying.head->when);
        next = oche_time_min(next, host->pause.next);
    }
    while (oche_switch_pause_port(links->rig.sw) >= 0)
        next = links->now; /* its port may have been visited already: visit it again */
    return oche_time_min(next, oche_switch_next(links->rig.sw));
}

void links_run(struct links *links, oche_time end)
{
    oche_time next;

    while ((next = step(links)) < end) {
        links->now = next;
        if (++links->steps % CHECK_EVERY == 0)
            rig_check(&links->rig);
    }
    if (next != OCHE_NEVER)
        links->now = end;
}

void links_at_rest(const struct links *links)
{
    const struct oche_switch *sw = links->rig.sw;

    assert_int_equal(links->sent, links->delivered + links->dropped);
    assert_int_equal(links->sent_bytes, links->delivered_bytes + links->dropped_bytes);
    assert_int_equal(oche_switch_occupied_bytes(sw), 0);
    for (unsigned port = 0; port < links->count; port++) {
        assert_int_equal(oche_switch_queue_bytes(sw, port), 0);
        assert_int_equal(links->hosts[port].pause.mask, 0);
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
            assert_int_equal(oche_switch_ingress_bytes(sw, port, cls), 0);
            assert_false(oche_switch_is_pausing(sw, port, cls));
            assert_false(oche_switch_is_paused(sw, port, cls));
            assert_null(links->hosts[port].queue[cls].head);
        }
    }
}
