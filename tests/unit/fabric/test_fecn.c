/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand's marking: a threshold's weight in bytes, small packets, packets that are not ECN
 * capable, roots and victims, and the share of candidates that are marked.
 */
#include <string.h>

#include "fabric/fecn.h"
#include "tests/unit/fabric/rig.h"

#define MTU 1000

struct marker {
    struct rig rig;
    struct oche_fecn_params params;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
};

static void prepare(struct marker *marker)
{
    memset(marker, 0, sizeof(*marker));
    rig_init(&marker->rig, 4);
    oche_param_defaults(oche_fecn.params, &marker->params);
    marker->mechanisms[0] = &oche_fecn;
    marker->mechanism_params[0] = &marker->params;
    marker->rig.config.mechanisms = marker->mechanisms;
    marker->rig.config.mechanism_params = marker->mechanism_params;
    marker->rig.config.mechanism_count = 1;
    marker->rig.params.pfc_response = 0;
    marker->rig.params.kmin_bytes = marker->rig.params.kmax_bytes = 1; /* RED would mark at once */
    marker->rig.ports[1].place = OCHE_PLACE_TOR_UP;
}

/*
 * Asserts that so many of `count` packets to `out` leave with a mark when `queued` bytes wait
 * there.
 */
static unsigned marked(struct marker *marker, unsigned out, unsigned count, uint16_t bytes)
{
    unsigned marks = 0;
    struct oche_packet *packet;

    for (unsigned i = 0; i < count; i++) {
        packet = rig_packet(out, 0, bytes);
        assert_int_equal(oche_switch_receive(marker->rig.sw, 3, packet, 0), out);
        marks += packet->ecn == OCHE_ECN_CE;
    }
    return marks;
}

static void test_weights(void **state)
{
    struct oche_fecn_params params = {.buffer_bytes = 65536};

    (void)state;
    assert_int_equal(oche_fecn_queue(&params, NULL, 100 * OCHE_GBPS), OCHE_NEVER);
    params.threshold = 1;
    assert_int_equal(oche_fecn_queue(&params, NULL, 100 * OCHE_GBPS), 61440);
    params.threshold = 8;
    assert_int_equal(oche_fecn_queue(&params, NULL, 100 * OCHE_GBPS), 32768);
    params.threshold = 15;
    assert_int_equal(oche_fecn_queue(&params, NULL, 100 * OCHE_GBPS), 4096);
}

/* Above the threshold, by the queue that the packet meets at its own port. RED is not used. */
static void test_threshold(void **state)
{
    struct marker marker;

    (void)state;
    prepare(&marker);
    rig_make(&marker.rig);
    assert_int_equal(marked(&marker, 0, 5, MTU), 0); /* the last one met 4000 bytes */
    assert_int_equal(marked(&marker, 0, 7, MTU), 7);
    assert_int_equal(marked(&marker, 2, 5, MTU), 0);
    assert_int_equal(rig_stats(&marker.rig, 0, 0).marks, 7);
    rig_free(&marker.rig);
}

static void test_never(void **state)
{
    struct marker marker;

    (void)state;
    prepare(&marker);
    marker.params.threshold = 0;
    rig_make(&marker.rig);
    assert_int_equal(marked(&marker, 0, 100, MTU), 0);
    rig_free(&marker.rig);
}

static void test_who_is_left_alone(void **state)
{
    struct marker marker;
    struct oche_packet *packet;

    (void)state;
    prepare(&marker);
    rig_make(&marker.rig);
    marked(&marker, 0, 10, MTU);
    assert_int_equal(marked(&marker, 0, 3, 511), 0);
    assert_int_equal(marked(&marker, 0, 3, 512), 3);
    packet = rig_packet(0, 0, MTU);
    packet->ecn = OCHE_ECN_NOT_ECT;
    oche_switch_receive(marker.rig.sw, 3, packet, 0);
    assert_int_equal(packet->ecn, OCHE_ECN_NOT_ECT);
    rig_free(&marker.rig);
}

/*
 * A paused port is a victim. Towards a host it marks all the same; towards a switch only if
 * configured.
 */
static void test_victims(void **state)
{
    (void)state;
    for (unsigned mask = 0; mask < 3; mask++)
        for (unsigned out = 0; out < 2; out++) {
            struct marker marker;
            uint64_t counted[OCHE_FECN_COUNTERS];
            bool to_host = out == 0;
            bool marks =
                mask == OCHE_FECN_VICTIMS_ALL || (mask == OCHE_FECN_VICTIMS_HOSTS && to_host);

            prepare(&marker);
            marker.params.victim_mask = mask;
            rig_make(&marker.rig);
            marked(&marker, out, 10, MTU);
            rig_pause(&marker.rig, out, 0, 0xffff, 0);
            assert_int_equal(marked(&marker, out, 4, MTU), marks ? 4 : 0);
            oche_switch_mechanism_counters(marker.rig.sw, 0, counted);
            assert_int_equal(counted[OCHE_FECN_MARKED], marks ? 9 : 5);
            assert_int_equal(counted[OCHE_FECN_VICTIMS], marks ? 0 : 4);
            rig_pause(&marker.rig, out, 0, 0, 0);
            assert_int_equal(marked(&marker, out, 4, MTU), 4);
            rig_free(&marker.rig);
        }
}

/* The mean distance between two marks. */
static void test_marking_rate(void **state)
{
    struct marker marker;
    unsigned marks = 0;

    (void)state;
    prepare(&marker);
    marker.params.marking_rate = 9;
    rig_make(&marker.rig);
    marked(&marker, 0, 20, MTU);
    for (unsigned i = 0; i < 20000; i++) {
        marks += marked(&marker, 0, 1, MTU);
        rig_out(&marker.rig, 0, 0);
    }
    assert_in_range(marks, 1900, 2100);
    rig_free(&marker.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights), cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_never),   cmocka_unit_test(test_who_is_left_alone),
        cmocka_unit_test(test_victims), cmocka_unit_test(test_marking_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
