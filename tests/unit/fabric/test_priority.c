/* SPDX-License-Identifier: Apache-2.0 */
/* Egress queues: FIFO in a class, strict priority between classes, pauses, counters, the watch. */
#include "tests/unit/fabric/rig.h"

#include "fabric/priority.h"

/* Returns the classes of the packets that leave port 1, in order, as decimal digits. */
static unsigned long drain(struct rig *rig)
{
    unsigned long order = 0;
    struct oche_packet *packet;

    while ((packet = oche_switch_transmit(rig->sw, 1, 0)) != NULL) {
        order = order * 10 + packet->traffic_class;
        rig_discard(packet);
    }
    return order;
}

static void strict(void **state)
{
    static const unsigned arrivals[] = {1, 5, 3, 7, 3, 5, 2, 6, 4, 7};
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig.config.class_count = 8;
    rig.config.lossless_classes = 0x5a;
    rig.params.pfc_priorities = 4;
    rig_make(&rig);
    assert_false(oche_switch_ready(rig.sw, 1));
    for (unsigned i = 0; i < 10; i++)
        assert_true(rig_in(&rig, 0, 1, arrivals[i], 1000, 0));
    assert_true(oche_switch_ready(rig.sw, 1));
    assert_int_equal(oche_switch_queue_bytes(rig.sw, 1), 10000);
    assert_int_equal(drain(&rig), 7765543321);
    assert_false(oche_switch_ready(rig.sw, 1));

    /* With 7 and 3 paused, and the rest after they resume. */
    for (unsigned i = 0; i < 10; i++)
        assert_true(rig_in(&rig, 0, 1, arrivals[i], 1000, 0));
    rig.params.pfc_response = 0;
    rig_pause(&rig, 1, 7, 1, 0);
    rig_pause(&rig, 1, 3, 1, 0);
    oche_switch_expire(rig.sw, 500 * OCHE_NS); /* the response time */
    assert_int_equal(drain(&rig), 655421);
    assert_false(oche_switch_ready(rig.sw, 1));
    assert_int_equal(oche_switch_expire(rig.sw, OCHE_US), 1);
    assert_int_equal(drain(&rig), 7733);
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), 0);
    rig_free(&rig);
}

static void fifo(void **state)
{
    struct rig rig;
    struct oche_packet *packet;
    uint32_t expected[2] = {0, 0};

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    for (uint32_t i = 0; i < 40; i++) {
        packet = rig_packet(1, i % 4 == 0, 100);
        packet->psn = i % 4 == 0 ? i / 4 : i - i / 4 - 1;
        assert_int_equal(oche_switch_receive(rig.sw, i % 3, packet, i), 1);
        assert_int_equal(packet->when, i);
        assert_int_equal(packet->ingress_port, i % 3);
    }
    while ((packet = oche_switch_transmit(rig.sw, 1, 0)) != NULL) {
        assert_int_equal(packet->psn, expected[packet->traffic_class]++);
        rig_discard(packet);
    }
    assert_int_equal(expected[0], 30);
    assert_int_equal(expected[1], 10);
    rig_free(&rig);
}

/* A class that is not in use counts as class 0. */
static void unused_class(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    assert_true(rig_in(&rig, 0, 1, 7, 1000, 0));
    assert_true(rig_in(&rig, 0, 1, 255, 1000, 0));
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 2000);
    assert_int_equal(rig_out(&rig, 1, 0), 1000);
    assert_int_equal(rig_out(&rig, 1, 0), 1000);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 0);
    rig_free(&rig);
}

static void counters(void **state)
{
    struct rig rig;
    struct oche_switch_port_stats stats;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    for (unsigned i = 0; i < 3; i++)
        assert_true(rig_in(&rig, 0, 1, i % 2, 1000, 10 * i));
    rig_out(&rig, 1, 50); /* the one of the higher class, which came at 10 */
    stats = rig_stats(&rig, 1, 50);
    assert_int_equal(stats.packets, 1);
    assert_int_equal(stats.queueing_time, 40);
    assert_int_equal(stats.max_queue_bytes, 3000);
    oche_switch_reset_stats(rig.sw, 0);
    stats = rig_stats(&rig, 1, 0);
    assert_int_equal(stats.packets, 0);
    assert_int_equal(stats.max_queue_bytes, 2000);
    assert_int_equal(stats.queueing_time, 0);
    while (rig_out(&rig, 1, 100) > 0)
        continue;
    assert_int_equal(rig_stats(&rig, 1, 0).packets, 2);
    assert_int_equal(rig_stats(&rig, 1, 0).queueing_time, 100 + 80);
    rig_free(&rig);
}

/* The longest queue of each span of time. Reading it does not change the counter. */
static void peaks(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    assert_int_equal(oche_switch_take_peak(rig.sw, 1), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_true(rig_in(&rig, 0, 1, i % 2, 1000, 10 * i));
    rig_out(&rig, 1, 50);
    assert_int_equal(oche_switch_take_peak(rig.sw, 1), 3000);
    assert_int_equal(oche_switch_take_peak(rig.sw, 2), 0);
    assert_int_equal(oche_switch_take_peak(rig.sw, 1), 2000); /* nothing came or left */
    rig_out(&rig, 1, 60);
    assert_true(rig_in(&rig, 0, 1, 0, 500, 70));
    assert_int_equal(rig_stats(&rig, 1, 80).max_queue_bytes, 3000);
    assert_int_equal(oche_switch_take_peak(rig.sw, 1), 2000);
    assert_int_equal(oche_switch_take_peak(rig.sw, 1), 1500);
    assert_int_equal(rig_stats(&rig, 1, 80).max_queue_bytes, 3000);
    oche_switch_reset_stats(rig.sw, 80);
    assert_int_equal(rig_stats(&rig, 1, 80).max_queue_bytes, 1500);
    while (rig_out(&rig, 1, 100) > 0)
        continue;
    rig_free(&rig);
}

static void watch(void **state)
{
    struct rig rig;
    oche_time time[4] = {0}, after[4] = {0};
    struct oche_queue_watch first = {.step_bytes = 1000, .steps = 4, .time = time};
    struct oche_queue_watch second = {.step_bytes = 1000, .steps = 4, .time = after};

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    oche_switch_watch(rig.sw, 1, &first, 100);
    assert_true(rig_in(&rig, 0, 1, 0, 1500, 110)); /* 0 bytes for 10 */
    assert_true(rig_in(&rig, 0, 2, 0, 1500, 115)); /* another port */
    assert_true(rig_in(&rig, 0, 1, 1, 1500, 130)); /* 1500 for 20 */
    assert_true(rig_in(&rig, 0, 1, 0, 1500, 160)); /* 3000 for 30 */
    rig_out(&rig, 1, 200);                         /* 4500 for 40, in the last step */
    rig_out(&rig, 1, 250);                         /* 3000 for 50, too */
    oche_switch_watch(rig.sw, 1, &second, 255);    /* 1500 for 5 */
    assert_int_equal(time[0], 10);
    assert_int_equal(time[1], 25);
    assert_int_equal(time[2], 0);
    assert_int_equal(time[3], 30 + 40 + 50);
    assert_int_equal(first.max_bytes, 4500);
    assert_true(first.byte_time == 1500 * 25 + 3000 * 80 + 4500 * 40);
    assert_true(first.square_time ==
                1500 * 1500 * 25 + UINT64_C(3000) * 3000 * 80 + UINT64_C(4500) * 4500 * 40);
    rig_out(&rig, 1, 300);
    oche_switch_watch(rig.sw, 1, NULL, 310);
    assert_int_equal(after[1], 45);
    assert_int_equal(after[0], 10);
    assert_int_equal(second.max_bytes, 1500);
    assert_true(second.byte_time == 1500 * 45 && second.square_time == 1500 * 1500 * 45);
    rig_out(&rig, 2, 320);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict),   cmocka_unit_test(fifo),  cmocka_unit_test(unused_class),
        cmocka_unit_test(counters), cmocka_unit_test(peaks), cmocka_unit_test(watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
