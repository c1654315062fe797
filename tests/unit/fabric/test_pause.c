/* SPDX-License-Identifier: Apache-2.0 */
/* Received PFC: response delay, expiry, refresh, several frames under way, the time counters. */
#include "tests/unit/fabric/rig.h"

#include "fabric/pause.h"

#define RATE     (40 * OCHE_GBPS)
#define RESPONSE (500 * OCHE_NS)
/* One quantum of 512 bits at 40 Gbit/s. */
#define QUANTUM (12800 * OCHE_PS)

static void frame_in(struct oche_pause *pause, unsigned cls, uint16_t quanta, oche_time now)
{
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};

    oche_pfc_set(&frame, cls, quanta);
    oche_pause_receive(pause, &frame, now);
}

static void make(struct oche_pause *pause, oche_time response)
{
    oche_pause_init(pause, RATE, response);
    assert_int_equal(pause->next, OCHE_NEVER);
    assert_int_equal(pause->mask, 0);
}

static void response_and_expiry(void **state)
{
    struct oche_pause pause;
    oche_time on = 1000 + RESPONSE, off = on + 100 * QUANTUM;

    (void)state;
    assert_int_equal(oche_pause_duration(1, RATE), QUANTUM);
    assert_int_equal(oche_pause_duration(0xffff, RATE), 65535 * QUANTUM);
    make(&pause, RESPONSE);
    frame_in(&pause, 3, 100, 1000);
    assert_int_equal(pause.mask, 0);
    assert_int_equal(pause.next, on);
    assert_int_equal(oche_pause_update(&pause, on - 1), 0);
    assert_int_equal(oche_pause_update(&pause, on), 8);
    assert_int_equal(pause.next, off);
    assert_int_equal(oche_pause_update(&pause, off - 1), 8);
    assert_int_equal(oche_pause_update(&pause, off), 0);
    assert_int_equal(pause.next, OCHE_NEVER);
    assert_int_equal(oche_pause_time(&pause, 3, off), 100 * QUANTUM);
    assert_int_equal(oche_pause_received(&pause, 3), 1);
}

static void at_once(void **state)
{
    struct oche_pause pause;

    (void)state;
    make(&pause, 0);
    frame_in(&pause, 0, 10, 50);
    assert_int_equal(pause.mask, 1);
    frame_in(&pause, 0, 0, 60);
    assert_int_equal(pause.mask, 0);
    assert_int_equal(pause.next, OCHE_NEVER);
    assert_int_equal(oche_pause_time(&pause, 0, 60), 10);
    frame_in(&pause, 0, 0, 70); /* an XON that nobody needs */
    assert_int_equal(pause.mask, 0);
    assert_int_equal(oche_pause_received(&pause, 0), 1);
}

/* A refresh counts anew from its own effect, even if it is shorter than the remaining pause. */
static void refresh(void **state)
{
    struct oche_pause pause;

    (void)state;
    make(&pause, RESPONSE);
    frame_in(&pause, 0, 100, 0);
    frame_in(&pause, 0, 100, 50 * QUANTUM);
    assert_int_equal(oche_pause_update(&pause, RESPONSE + 149 * QUANTUM), 1);
    assert_int_equal(pause.next, RESPONSE + 150 * QUANTUM);
    frame_in(&pause, 0, 1, 140 * QUANTUM);
    assert_int_equal(oche_pause_update(&pause, RESPONSE + 149 * QUANTUM), 0);
    assert_int_equal(oche_pause_time(&pause, 0, OCHE_SEC), 141 * QUANTUM);
    assert_int_equal(oche_pause_received(&pause, 0), 3);
}

/* XOFF, XON, XOFF, XON within one response time act one after the other, each at its time. */
static void several_pending(void **state)
{
    struct oche_pause pause;
    static const struct {
        oche_time at;
        uint8_t mask;
    } expected[] = {{0, 1}, {10, 0}, {30, 1}, {33, 0}, {50, 1}, {90, 0}};

    (void)state;
    make(&pause, RESPONSE);
    frame_in(&pause, 0, 65535, 0);
    frame_in(&pause, 0, 0, 10);
    frame_in(&pause, 0, 65535, 30);
    frame_in(&pause, 0, 0, 33);
    frame_in(&pause, 0, 65535, 50);
    frame_in(&pause, 0, 0, 90);
    assert_int_equal(pause.mask, 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(pause.next, RESPONSE + expected[i].at);
        assert_int_equal(oche_pause_update(&pause, pause.next), expected[i].mask);
    }
    assert_int_equal(pause.next, OCHE_NEVER);
    assert_int_equal(oche_pause_time(&pause, 0, OCHE_SEC), 10 + 3 + 40);
}

/* XOFF and XON that take effect together cancel each other, and so does the pause between them. */
static void empty_span(void **state)
{
    struct oche_pause pause;

    (void)state;
    make(&pause, RESPONSE);
    frame_in(&pause, 0, 9, 5);
    frame_in(&pause, 0, 0, 5);
    assert_int_equal(pause.next, OCHE_NEVER);
    frame_in(&pause, 0, 9, 7);
    assert_int_equal(pause.next, 7 + RESPONSE);
}

/*
 * More pending pauses than places: the shortest gap between two of one class is dropped. No pause
 * becomes too short.
 */
static void overflow(void **state)
{
    struct oche_pause pause;
    oche_time unit = RESPONSE / 1000;

    (void)state;
    make(&pause, RESPONSE);
    frame_in(&pause, 5, 65535, 0); /* another class: untouched */
    for (oche_time i = 1; i <= 17; i++) {
        frame_in(&pause, 0, 65535, 10 * i * unit);
        frame_in(&pause, 0, 0, (10 * i + (i == 8 ? 8 : i == 3 ? 7 : 5)) * unit);
    }
    assert_int_equal(pause.merged, 2);
    for (oche_time i = 1; i <= 17; i++) {
        oche_time from = RESPONSE + 10 * i * unit;

        assert_int_equal(oche_pause_update(&pause, from - 1) & 1, i == 9 || i == 4);
        assert_int_equal(oche_pause_update(&pause, from), 0x21);
        assert_int_equal(oche_pause_update(&pause, from + 5 * unit - 1), 0x21);
        assert_int_equal(oche_pause_update(&pause, from + 9 * unit) & 1, i == 8 || i == 3);
    }
    assert_int_equal(oche_pause_time(&pause, 0, OCHE_SEC), (17 * 5 + 5 + 5) * unit);
}

/* One frame names some classes and does not affect the others. */
static void classes(void **state)
{
    struct oche_pause pause;
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};

    (void)state;
    make(&pause, 0);
    oche_pfc_set(&frame, 0, 1000);
    oche_pfc_set(&frame, 4, 500);
    oche_pfc_set(&frame, 7, 2000);
    oche_pause_receive(&pause, &frame, 0);
    assert_int_equal(pause.mask, 0x91);
    assert_int_equal(pause.next, 500 * QUANTUM);
    frame_in(&pause, 0, 0, 10);
    assert_int_equal(pause.mask, 0x90);
    assert_int_equal(oche_pause_update(&pause, 500 * QUANTUM), 0x80);
    assert_int_equal(oche_pause_update(&pause, 2000 * QUANTUM), 0);
    /* Quanta without the class's bit in the vector have no effect. */
    frame.pfc.classes = 0;
    oche_pause_receive(&pause, &frame, OCHE_SEC);
    assert_int_equal(pause.mask, 0);
}

/* Late calls keep the counters exact. A reset splits a pause in two. */
static void counted_exactly(void **state)
{
    struct oche_pause pause;

    (void)state;
    make(&pause, 100);
    frame_in(&pause, 1, 65535, 0);
    assert_int_equal(oche_pause_time(&pause, 1, 50), 0);
    assert_int_equal(oche_pause_time(&pause, 1, 600), 500);
    frame_in(&pause, 1, 0, 1000);
    assert_int_equal(oche_pause_time(&pause, 1, 1050), 950);
    frame_in(&pause, 1, 65535, 5000);
    assert_int_equal(oche_pause_time(&pause, 1, 5200), 1000 + 100);
    oche_pause_reset(&pause, 5300);
    assert_int_equal(oche_pause_received(&pause, 1), 0);
    assert_int_equal(oche_pause_time(&pause, 1, 5300), 0);
    assert_int_equal(oche_pause_time(&pause, 1, 5400), 100);
    frame_in(&pause, 1, 0, 6000);
    oche_pause_update(&pause, OCHE_SEC);
    assert_int_equal(oche_pause_time(&pause, 1, OCHE_SEC), 6100 - 5300);
}

/* At the switch: the named port may send again, and the driver is told when. */
static void through_the_switch(void **state)
{
    struct rig rig;
    oche_time now = 0;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    assert_int_equal(oche_switch_next(rig.sw), OCHE_NEVER);
    assert_int_equal(oche_switch_expire(rig.sw, OCHE_SEC), -1);
    assert_true(rig_in(&rig, 0, 2, 0, 1000, now));
    assert_true(rig_in(&rig, 0, 3, 0, 1000, now));
    rig_pause(&rig, 2, 0, 100, 1000);
    rig_pause(&rig, 3, 0, 100, 1000);
    assert_false(oche_switch_is_paused(rig.sw, 2, 0));
    assert_true(oche_switch_ready(rig.sw, 2));
    now = oche_switch_next(rig.sw);
    assert_int_equal(now, 1000 + 500 * OCHE_NS);
    assert_int_equal(oche_switch_expire(rig.sw, now), -1); /* nobody became ready */
    assert_true(oche_switch_is_paused(rig.sw, 2, 0));
    assert_false(oche_switch_ready(rig.sw, 2));
    assert_int_equal(rig_out(&rig, 2, now), 0);
    rig_pause(&rig, 3, 0, 0, now); /* XON for port 3 */
    assert_int_equal(oche_switch_next(rig.sw), now + 500 * OCHE_NS);
    now += 500 * OCHE_NS;
    assert_int_equal(oche_switch_expire(rig.sw, now), 3);
    assert_int_equal(oche_switch_expire(rig.sw, now), -1);
    now = oche_switch_next(rig.sw);
    assert_int_equal(now, 1000 + 500 * OCHE_NS + 100 * QUANTUM);
    assert_int_equal(oche_switch_expire(rig.sw, now), 2);
    assert_int_equal(oche_switch_expire(rig.sw, now), -1);
    assert_int_equal(oche_switch_next(rig.sw), OCHE_NEVER);
    assert_int_equal(rig_stats(&rig, 2, now).paused_time[0], 100 * QUANTUM);
    assert_int_equal(rig_stats(&rig, 3, now).paused_time[0], 500 * OCHE_NS);
    assert_int_equal(rig_stats(&rig, 3, now).pauses_received[0], 1);
    assert_int_equal(rig_out(&rig, 2, now), 1000);
    assert_int_equal(rig_out(&rig, 3, now), 1000);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(response_and_expiry),
        cmocka_unit_test(at_once),
        cmocka_unit_test(refresh),
        cmocka_unit_test(several_pending),
        cmocka_unit_test(empty_span),
        cmocka_unit_test(overflow),
        cmocka_unit_test(classes),
        cmocka_unit_test(counted_exactly),
        cmocka_unit_test(through_the_switch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
