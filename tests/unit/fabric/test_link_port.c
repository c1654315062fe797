/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port in virtual time beside a port of a switch: the same packets have room, leave at the same
 * times, and are marked or not, in random traffic around the line's rate.
 */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/ecn.h"
#include "fabric/link_port.h"

#define RATE    OCHE_GBPS
#define QUEUE   20000
#define STEP    8000 /* bytes behind a packet above which it is marked */
#define PACKETS 20000

struct packet_fate {
    bool admitted, marked;
    oche_time starts;
};

static struct oche_link_port *make_port(uint64_t packets)
{
    void *memory = malloc(oche_link_port_bytes(packets));

    assert_non_null(memory);
    return oche_link_port_create(memory, packets);
}

static oche_time line_time(uint32_t bytes)
{
    return oche_time_of_bytes(bytes + OCHE_GAP_BYTES, RATE);
}

/* The switch sends packets until `now`, as its driver would: at the times when the port is free. */
static void drain_switch(struct rig *rig, struct packet_fate *fates, oche_time *free_at,
                         oche_time now)
{
    while (oche_switch_ready(rig->sw, 1) && *free_at <= now) {
        struct oche_packet *packet = oche_switch_transmit(rig->sw, 1, *free_at);

        fates[packet->psn].starts = *free_at;
        fates[packet->psn].marked = packet->ecn == OCHE_ECN_CE;
        *free_at += line_time(packet->frame_bytes);
        rig_discard(packet);
    }
}

/* Returns the fates of the packets with these times and sizes in the switch. */
static void through_switch(const oche_time *times, const uint16_t *bytes, struct packet_fate *fates)
{
    struct rig rig;
    oche_time free_at = 0;

    rig_init(&rig, 2);
    rig.params.pfc = false;
    rig.params.buffer_bytes = QUEUE;
    rig.params.egress_alpha = 0;
    rig.params.kmin_bytes = rig.params.kmax_bytes = STEP;
    rig.params.pmax = 1;
    rig.config.lossless_classes = 0;
    rig.ports[1].rate_bps = RATE;
    rig_make(&rig);
    for (uint32_t i = 0; i < PACKETS; i++) {
        struct oche_packet *packet = rig_packet(1, 0, bytes[i]);

        drain_switch(&rig, fates, &free_at, times[i]);
        packet->psn = i;
        packet->ecn = OCHE_ECN_ECT0;
        fates[i].admitted = oche_switch_receive(rig.sw, 0, packet, times[i]) == 1;
        if (!fates[i].admitted) {
            rig_discard(packet);
            continue;
        }
        if (free_at < times[i])
            free_at = times[i];
        drain_switch(&rig, fates, &free_at, times[i]);
    }
    drain_switch(&rig, fates, &free_at, OCHE_NEVER - OCHE_SEC);
    rig_free(&rig);
}

/* Marks the packets whose transmission starts by `now`. */
static void start_until(const struct oche_link_port *port,
                        const struct oche_link_departure *departures, struct packet_fate *fates,
                        uint32_t *next, uint32_t end, oche_time now)
{
    for (; *next < end; ++*next) {
        if (!fates[*next].admitted)
            continue;
        if (departures[*next].starts > now)
            return;
        fates[*next].marked = oche_link_port_behind(port, &departures[*next]) > STEP;
    }
}

static void through_port(const oche_time *times, const uint16_t *bytes, struct packet_fate *fates)
{
    struct oche_link_port *port = make_port(QUEUE / 64 + 1);
    static struct oche_link_departure departures[PACKETS];
    uint32_t next = 0;

    for (uint32_t i = 0; i < PACKETS; i++) {
        start_until(port, departures, fates, &next, i, times[i]);
        fates[i].admitted = oche_link_port_take(port, times[i], bytes[i], OCHE_GAP_BYTES, RATE,
                                                QUEUE, &departures[i]);
        fates[i].starts = fates[i].admitted ? departures[i].starts : 0;
        if (fates[i].admitted)
            assert_int_equal(departures[i].leaves, departures[i].starts + line_time(bytes[i]));
    }
    start_until(port, departures, fates, &next, PACKETS, OCHE_NEVER);
    assert_int_equal(oche_link_port_queue(port, OCHE_NEVER), 0);
    free(port);
}

/* `load`: about the traffic's mean rate, in percent of the line's. */
static void same_as_a_switch(unsigned load, bool has_drops)
{
    static struct packet_fate in_switch[PACKETS], in_port[PACKETS];
    static oche_time times[PACKETS];
    static uint16_t bytes[PACKETS];
    struct oche_random random = oche_random_stream(load, "traffic", 0);
    unsigned dropped = 0, marked = 0;
    oche_time now = 0;

    memset(in_switch, 0, sizeof(in_switch));
    memset(in_port, 0, sizeof(in_port));
    for (uint32_t i = 0; i < PACKETS; i++) {
        bytes[i] = (uint16_t)(64 + oche_random_below(&random, 1400));
        /* bursts: every other packet comes at once */
        if (oche_random_below(&random, 2) == 0)
            now += oche_random_below(&random, 4 * line_time(bytes[i]) * 100 / load);
        times[i] = now;
    }
    through_switch(times, bytes, in_switch);
    through_port(times, bytes, in_port);
    for (uint32_t i = 0; i < PACKETS; i++) {
        assert_int_equal(in_port[i].admitted, in_switch[i].admitted);
        assert_int_equal(in_port[i].starts, in_switch[i].starts);
        assert_int_equal(in_port[i].marked, in_switch[i].marked);
        dropped += !in_switch[i].admitted;
        marked += in_switch[i].marked;
    }
    assert_int_equal(dropped > 0, has_drops);
    assert_true(marked > 0);
}

static void like_a_switch(void **state)
{
    (void)state;
    same_as_a_switch(20, false);
    same_as_a_switch(80, true);
    same_as_a_switch(95, true);
    same_as_a_switch(300, true);
}

/* Packets that wait keep their times; later ones have the new rate. */
static void another_rate(void **state)
{
    struct oche_link_port *port = make_port(16);
    struct oche_link_departure first, second, third;

    (void)state;
    assert_true(oche_link_port_take(port, 0, 1000, 0, OCHE_GBPS, QUEUE, &first));
    assert_true(oche_link_port_take(port, 0, 1000, 0, OCHE_GBPS, QUEUE, &second));
    assert_true(oche_link_port_take(port, 1, 1000, 0, 10 * OCHE_GBPS, QUEUE, &third));
    assert_int_equal(first.leaves, 8 * OCHE_US);
    assert_int_equal(second.leaves, 16 * OCHE_US);
    assert_int_equal(third.starts, 16 * OCHE_US);
    assert_int_equal(third.leaves, 16800 * OCHE_NS);
    free(port);
}

/* No more packets wait than there is memory for. */
static void full_memory(void **state)
{
    struct oche_link_port *port = make_port(3); /* rounded up to 4 */
    struct oche_link_departure departure;

    (void)state;
    for (unsigned i = 0; i < 5; i++) /* the first one does not wait */
        assert_true(oche_link_port_take(port, 0, 64, 0, OCHE_GBPS, QUEUE, &departure));
    assert_false(oche_link_port_take(port, 0, 64, 0, OCHE_GBPS, QUEUE, &departure));
    assert_true(oche_link_port_take(port, departure.starts, 64, 0, OCHE_GBPS, QUEUE, &departure));
    free(port);
}

/* A packet that is larger than the queue has no room, even if nothing waits. */
static void larger_than_the_queue(void **state)
{
    struct oche_link_port *port = make_port(1);
    struct oche_link_departure departure;

    (void)state;
    assert_false(oche_link_port_take(port, 0, 1001, 0, OCHE_GBPS, 1000, &departure));
    assert_true(oche_link_port_take(port, 0, 1000, 0, OCHE_GBPS, 1000, &departure));
    assert_int_equal(oche_link_port_behind(port, &departure), 0);
    free(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_a_switch),
        cmocka_unit_test(another_rate),
        cmocka_unit_test(full_memory),
        cmocka_unit_test(larger_than_the_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
