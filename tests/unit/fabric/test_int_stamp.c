/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC's part in a switch: which packets get a record, and the four numbers in it, worked out by
 * hand.
 */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/telemetry.h"
#include "fabric/int_stamp.h"
#include "fabric/registry.h"
#include "fabric/switch_state.h"

#define LINE (25 * OCHE_GBPS) /* units are 128 and 80 bytes */

static const struct oche_switch_mechanism *const mechanisms[] = {&oche_int_stamp};

struct scene {
    struct rig rig;
    struct oche_int_stamp_params params;
    const void *values[1];
};

static void open_scene(struct scene *scene, uint64_t least_queue)
{
    memset(scene, 0, sizeof(*scene));
    rig_init(&scene->rig, 3);
    for (unsigned port = 0; port < 3; port++)
        scene->rig.ports[port].rate_bps = LINE;
    scene->params.least_queue_bytes = least_queue;
    scene->values[0] = &scene->params;
    scene->rig.config.mechanisms = mechanisms;
    scene->rig.config.mechanism_params = scene->values;
    scene->rig.config.mechanism_count = 1;
    rig_make(&scene->rig);
}

/* A data packet with telemetry behind it, of so many bytes on the line. */
static struct oche_packet *data(uint16_t line_bytes)
{
    struct oche_packet *small = rig_packet(2, 0, line_bytes - OCHE_GAP_BYTES);
    struct oche_packet *packet =
        aligned_alloc(OCHE_CACHE_LINE, sizeof(*packet) + OCHE_TELEMETRY_ROOM);

    assert_non_null(packet);
    *packet = *small;
    rig_discard(small);
    packet->kind = OCHE_PACKET_ROCE;
    packet->opcode = OCHE_RC_WRITE_MIDDLE;
    packet->bth_reserved = OCHE_BTH_EXTENSIONS | OCHE_BTH_TRAILER;
    packet->bth = OCHE_BTH_TELEMETRY;
    packet->ext = OCHE_EXT_TRAILER;
    *oche_telemetry_of(packet) = (struct oche_telemetry){.hops = 0};
    return packet;
}

static void arrive(struct scene *scene, struct oche_packet *packet, oche_time now)
{
    assert_int_equal(oche_switch_receive(scene->rig.sw, 0, packet, now), 2);
}

/* Takes the next packet out, and checks its record number `i`. */
static struct oche_packet *leave(struct scene *scene, oche_time now)
{
    struct oche_packet *packet = oche_switch_transmit(scene->rig.sw, 2, now);

    assert_non_null(packet);
    return packet;
}

static void assert_hop(const struct oche_packet *packet, unsigned i, uint32_t time_ns,
                       uint64_t sent, uint64_t queue)
{
    const struct oche_hop hop = oche_telemetry_hop(oche_telemetry_at(packet), i);

    assert_int_equal(hop.rate_bps, LINE);
    assert_int_equal(hop.time_ns, time_ns);
    assert_int_equal(hop.sent_bytes, sent);
    assert_int_equal(hop.queue_bytes, queue);
}

static void test_record(void **state)
{
    uint64_t counted[OCHE_MOST_MECHANISM_COUNTERS];
    struct oche_packet *packet;
    struct scene scene;

    (void)state;
    open_scene(&scene, 0);
    for (unsigned i = 0; i < 3; i++)
        arrive(&scene, data(1280), 10);
    packet = leave(&scene, 5 * OCHE_US);
    assert_int_equal(oche_telemetry_count(oche_telemetry_at(packet)), 1);
    assert_hop(packet, 0, 5000, 0, 2560); /* nothing sent before it; two wait behind it */
    arrive(&scene, packet, 6 * OCHE_US);  /* as if by another switch */
    packet = leave(&scene, 7 * OCHE_US);
    assert_hop(packet, 0, 7000, 1280, 2560);
    rig_discard(packet);
    packet = leave(&scene, 8 * OCHE_US);
    assert_hop(packet, 0, 8000, 2560, 1280);
    rig_discard(packet);
    packet = leave(&scene, 9 * OCHE_US);
    assert_hop(packet, 0, 5000, 0, 2560); /* the first record stays */
    assert_hop(packet, 1, 9000, 3840, 0);
    assert_int_equal(oche_telemetry_count(oche_telemetry_at(packet)), 2);
    oche_switch_mechanism_counters(scene.rig.sw, 0, counted);
    assert_int_equal(counted[0], 4);
    assert_int_equal(counted[1], 0);

    /* A packet with five records keeps them. */
    oche_telemetry_of(packet)->hops = OCHE_TELEMETRY_HOPS;
    arrive(&scene, packet, 10 * OCHE_US);
    assert_ptr_equal(leave(&scene, 11 * OCHE_US), packet);
    assert_int_equal(oche_telemetry_of(packet)->hops, OCHE_TELEMETRY_HOPS);
    oche_switch_mechanism_counters(scene.rig.sw, 0, counted);
    assert_int_equal(counted[0], 4);
    assert_int_equal(counted[1], 1);
    rig_discard(packet);
    rig_free(&scene.rig);
}

/* Packets without telemetry get no record, but count as sent and as waiting. */
static void test_others(void **state)
{
    struct oche_packet *packet;
    struct scene scene;

    (void)state;
    open_scene(&scene, 0);
    assert_true(rig_in(&scene.rig, 0, 2, 0, 640 - OCHE_GAP_BYTES, 10));
    packet = data(1280);
    packet->bth = 0; /* RCP's trailer */
    memset(&packet->trailer, 0x5a, sizeof(packet->trailer));
    arrive(&scene, packet, 10);
    arrive(&scene, data(1280), 10);
    assert_true(rig_in(&scene.rig, 0, 2, 0, 640 - OCHE_GAP_BYTES, 10));
    assert_int_equal(rig_out(&scene.rig, 2, 20), 640 - OCHE_GAP_BYTES);
    assert_ptr_equal(leave(&scene, 20), packet);
    assert_int_equal(packet->trailer.rate_10kbps, 0x5a5a5a5a);
    assert_int_equal(oche_telemetry_of(packet)->hops, 0);
    rig_discard(packet);
    packet = leave(&scene, OCHE_US);
    assert_hop(packet, 0, 1000, 640 + 1280, 640);
    rig_discard(packet);
    rig_free(&scene.rig);
}

static void test_least_queue(void **state)
{
    struct oche_packet *packet;
    struct scene scene;

    (void)state;
    open_scene(&scene, 2560);
    for (unsigned i = 0; i < 3; i++)
        arrive(&scene, data(1280), 10);
    packet = leave(&scene, OCHE_US);
    assert_hop(packet, 0, 1000, 0, 2560);
    rig_discard(packet);
    packet = leave(&scene, OCHE_US);
    assert_hop(packet, 0, 1000, 1280, 0);
    rig_discard(packet);
    rig_free(&scene.rig);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_least_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
