/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: one FIFO over all packets that may leave. Each lane is paused and accounted for alone. A
 * packet that changes lanes is charged to the class of its arrival.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "fabric/mechanism.h"

#define LANES   3
#define CONTROL LANES

/* Moves packets with an odd PSN one lane up. */
static size_t no_bytes(const struct oche_switch_config *config, const void *params)
{
    (void)config;
    (void)params;
    return 1;
}

static void nothing(void *state, const struct oche_switch_config *config, const void *params)
{
    (void)state;
    (void)config;
    (void)params;
}

static int lift(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                int port, oche_time now)
{
    (void)state;
    (void)sw;
    (void)in_port;
    (void)now;
    packet->traffic_class = (uint8_t)(packet->traffic_class + (packet->psn & 1));
    return port;
}

static const struct oche_switch_mechanism lifter = {
    .name = "lifter", .state_bytes = no_bytes, .create = nothing, .route = lift};
static const struct oche_switch_mechanism *const mechanisms[] = {&lifter};
static const void *const mechanism_params[] = {NULL};

static void open_rig(struct rig *rig)
{
    rig_init(rig, 4);
    rig->config.class_count = LANES + 1;
    rig->config.lossless_classes = 0xf;
    rig->config.lanes = LANES;
    rig->params.pfc_priorities = 4;
    rig->params.pfc_response = 0;
    rig->config.mechanisms = mechanisms;
    rig->config.mechanism_params = mechanism_params;
    rig->config.mechanism_count = 1;
}

static void put(struct rig *rig, unsigned in, unsigned cls, bool lifted, uint16_t bytes,
                oche_time now)
{
    struct oche_packet *packet = rig_packet(1, cls, bytes);

    packet->psn = lifted;
    assert_int_equal(oche_switch_receive(rig->sw, in, packet, now), 1);
}

/* Bytes of what leaves port 1, in order, as decimal digits times 100. */
static unsigned long drain(struct rig *rig, oche_time now)
{
    unsigned long order = 0, bytes;

    while ((bytes = rig_out(rig, 1, now)) > 0)
        order = order * 10 + bytes / 100;
    return order;
}

static void one_fifo(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig);
    rig_make(&rig);
    put(&rig, 0, 1, false, 100, 1);
    put(&rig, 0, 0, false, 200, 2);
    put(&rig, 0, 2, false, 300, 3);
    put(&rig, 0, 0, true, 400, 4); /* to lane 1 */
    put(&rig, 0, 0, false, 500, 5);
    put(&rig, 0, CONTROL, false, 600, 6);
    assert_int_equal(drain(&rig, 10), 612345);
    /* At the same moment, the higher lane has come further. */
    put(&rig, 0, 0, false, 100, 20);
    put(&rig, 2, 2, false, 200, 20);
    assert_int_equal(drain(&rig, 20), 21);
    rig_free(&rig);
}

/* The others pass a paused lane, which keeps its own order. */
static void paused(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig);
    rig_make(&rig);
    put(&rig, 0, 0, false, 100, 1);
    put(&rig, 0, 1, false, 200, 2);
    put(&rig, 0, 0, false, 300, 3);
    put(&rig, 0, 2, false, 400, 4);
    rig_pause(&rig, 1, 0, UINT16_MAX, 5);
    assert_int_equal(drain(&rig, 6), 24);
    put(&rig, 0, 1, false, 500, 7);
    rig_pause(&rig, 1, 0, 0, 8);
    assert_int_equal(drain(&rig, 9), 135);
    rig_free(&rig);
}

static void accounts(void **state)
{
    struct rig rig;
    struct oche_pause_cause cause;
    void *memory;

    (void)state;
    open_rig(&rig);
    rig.params.threshold = OCHE_THRESHOLD_STATIC;
    rig.params.xoff_bytes = 2500;
    rig_make(&rig);
    memory = test_calloc(1, oche_switch_holds_bytes(rig.sw));
    put(&rig, 0, 0, true, 1000, 1);
    oche_switch_keep_holds(rig.sw, memory, 2); /* waiting packets are seen, too */
    put(&rig, 0, 0, true, 1000, 3);
    put(&rig, 0, 1, false, 900, 4);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 2000);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 1), 900);
    assert_int_equal(oche_switch_held_bytes(rig.sw, 0, 0, 1, 1), 2000);
    assert_int_equal(oche_switch_held_bytes(rig.sw, 0, 1, 1, 1), 900);
    assert_int_equal(oche_switch_held_bytes(rig.sw, 0, 1, 1, 2), 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    /* One more in lane 0 pauses lane 0 of the upstream, though all packets wait in lane 1. */
    put(&rig, 0, 0, true, 1000, 5);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_true(oche_switch_pause_cause(rig.sw, 0, 0, 6, &cause));
    assert_int_equal(cause.port, 1);
    assert_int_equal(cause.cls, 1);
    assert_int_equal(cause.bytes, 3000);
    assert_int_equal(cause.ingress_bytes, 3000);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 6), UINT16_MAX);
    assert_false(oche_switch_is_pausing(rig.sw, 0, 1));
    assert_int_equal(drain(&rig, 7), (10 * 100 + 10 * 10 + 9) * 10 + 10);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 0);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 1), 0);
    assert_int_equal(oche_switch_held_bytes(rig.sw, 0, 0, 1, 1), 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 8), 0);
    rig_free(&rig);
    test_free(memory);
}

/* Marks and limits treat the lanes of a class as one queue. */
static void one_queue(void **state)
{
    struct rig rig;

    (void)state;
    open_rig(&rig);
    rig.params.kmin_bytes = rig.params.kmax_bytes = 1500;
    rig.params.pmax = 1;
    rig.params.ecn_at = OCHE_ECN_AT_ENQUEUE;
    rig_make(&rig);
    put(&rig, 0, 0, false, 800, 1);
    put(&rig, 0, 0, true, 800, 2);
    assert_int_equal(rig_stats(&rig, 1, 3).marks, 0);
    put(&rig, 0, 0, false, 800, 3); /* meets 1600, 800 of them in its own lane */
    assert_int_equal(rig_stats(&rig, 1, 3).marks, 1);
    rig_free(&rig);
}

static void refused(void **state)
{
    struct rig rig;
    struct oche_error why;

    (void)state;
    open_rig(&rig);
    rig.config.lanes = 5;
    assert_false(oche_switch_check(&rig.config, &why));
    assert_non_null(strstr(why.text, "lanes: 5"));
    rig.config.lanes = LANES;
    rig.config.lossless_classes = 0xb;
    assert_false(oche_switch_check(&rig.config, &why));
    assert_non_null(strstr(why.text, "all or none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_fifo), cmocka_unit_test(paused),
                                       cmocka_unit_test(accounts), cmocka_unit_test(one_queue),
                                       cmocka_unit_test(refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
