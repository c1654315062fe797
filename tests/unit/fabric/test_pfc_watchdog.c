/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SONiC's watchdog at a switch: when a storm is detected and when it is over, what each action does
 * to packets, and that the switch's accounts stay right.
 */
#include <string.h>

#include "fabric/pfc_watchdog.h"
#include "tests/unit/fabric/rig.h"

#define POLL    (10 * OCHE_US)
#define DETECT  (4 * POLL)
#define RESTORE (3 * POLL)
#define BYTES   1500
#define STUCK   1 /* the port whose peer pauses it */
#define LONG    UINT16_MAX

struct watch {
    struct rig rig;
    struct oche_pfc_watchdog_params params;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
};

static void make(struct watch *watch, enum oche_pfc_watchdog_action action)
{
    memset(watch, 0, sizeof(*watch));
    rig_init(&watch->rig, 4);
    oche_param_defaults(oche_pfc_watchdog.params, &watch->params);
    watch->params.poll_interval = POLL;
    watch->params.detection_time = DETECT;
    watch->params.restoration_time = RESTORE;
    watch->params.action = action;
    watch->mechanisms[0] = &oche_pfc_watchdog;
    watch->mechanism_params[0] = &watch->params;
    watch->rig.config.mechanisms = watch->mechanisms;
    watch->rig.config.mechanism_params = watch->mechanism_params;
    watch->rig.config.mechanism_count = 1;
    watch->rig.params.pfc_response = 0;
    rig_make(&watch->rig);
}

static uint64_t count(const struct watch *watch, enum oche_pfc_watchdog_counter which)
{
    uint64_t values[OCHE_PFC_WATCHDOG_COUNTERS];

    oche_switch_mechanism_counters(watch->rig.sw, 0, values);
    return values[which];
}

/* Runs all timers until `now`, each at its time. Returns the number of discarded packets. */
static unsigned run_until(struct watch *watch, oche_time now)
{
    struct oche_packet *packet;
    oche_time next;
    unsigned discarded = 0;

    while ((next = oche_switch_next(watch->rig.sw)) <= now) {
        while (oche_switch_expire(watch->rig.sw, next) >= 0)
            continue;
        for (; (packet = oche_switch_take_discarded(watch->rig.sw)) != NULL; discarded++)
            rig_discard(packet);
        rig_check(&watch->rig);
    }
    return discarded;
}

static void fill(struct watch *watch, unsigned packets, oche_time now)
{
    for (unsigned i = 0; i < packets; i++)
        assert_true(rig_in(&watch->rig, 0, STUCK, 0, BYTES, now));
}

/* A switch with `packets` in the queue that is paused from 3 us on, after `until`. */
static void make_stuck(struct watch *watch, enum oche_pfc_watchdog_action action, unsigned packets,
                       oche_time until)
{
    make(watch, action);
    fill(watch, packets, OCHE_US);
    rig_pause(&watch->rig, STUCK, 0, LONG, 3 * OCHE_US);
    run_until(watch, until);
}

static void finish(struct watch *watch)
{
    rig_check(&watch->rig);
    rig_pause(&watch->rig, STUCK, 0, 0, OCHE_SEC);
    run_until(watch, 2 * OCHE_SEC);
    assert_int_equal(oche_switch_next(watch->rig.sw), OCHE_NEVER);
    rig_free(&watch->rig);
}

/* The first whole interval ends at 20 us, and the fourth at 50 us. */
static void test_detected_at_the_time(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_ALERT, 2, 50 * OCHE_US - 1);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    run_until(&watch, 50 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    run_until(&watch, 200 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    finish(&watch);
}

/* A time that is no multiple of the interval: the poll that completes it counts. */
static void test_time_between_polls(void **state)
{
    struct watch watch;

    (void)state;
    make(&watch, OCHE_PFC_WATCHDOG_ALERT);
    watch.params.detection_time = 15 * OCHE_US;
    rig_free(&watch.rig);
    rig_make(&watch.rig);
    fill(&watch, 1, OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, LONG, 3 * OCHE_US);
    run_until(&watch, 30 * OCHE_US - 1);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    run_until(&watch, 30 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    finish(&watch);
}

/* The pause lets one packet go, and later pauses again: detection begins afresh. */
static void test_one_packet_resets(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_DROP, 3, 44 * OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, 0, 44 * OCHE_US);
    assert_int_equal(rig_out(&watch.rig, STUCK, 44 * OCHE_US), BYTES);
    rig_pause(&watch.rig, STUCK, 0, LONG, 44 * OCHE_US);
    assert_int_equal(run_until(&watch, 90 * OCHE_US - 1), 0);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    assert_int_equal(run_until(&watch, 90 * OCHE_US), 2);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    finish(&watch);
}

/* A short end of the PAUSE resets, too, although nothing leaves in it. */
static void test_short_resume_resets(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_ALERT, 3, 44 * OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, 0, 44 * OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, LONG, 44 * OCHE_US + 1);
    run_until(&watch, 90 * OCHE_US - 1);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    run_until(&watch, 90 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    finish(&watch);
}

/* An empty queue is in no storm, nor is a queue that nobody pauses. */
static void test_no_storm(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_DROP, 0, 200 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    finish(&watch);
    make(&watch, OCHE_PFC_WATCHDOG_DROP);
    fill(&watch, 5, 0);
    assert_int_equal(oche_switch_next(watch.rig.sw), OCHE_NEVER);
    rig_pause(&watch.rig, 2, 0, LONG, OCHE_US); /* another port is paused */
    assert_int_equal(run_until(&watch, OCHE_MS), 0);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    finish(&watch);
}

/* The queue is emptied at once, and takes nothing more; other classes and ports go on. */
static void test_drop(void **state)
{
    struct watch watch;
    struct oche_switch_port_stats stats;
    const oche_time now = 60 * OCHE_US;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_DROP, 4, 50 * OCHE_US - 1);
    assert_int_equal(oche_switch_queue_bytes(watch.rig.sw, STUCK), 4 * BYTES);
    assert_int_equal(run_until(&watch, now), 4);
    assert_int_equal(oche_switch_queue_bytes(watch.rig.sw, STUCK), 0);
    assert_int_equal(oche_switch_occupied_bytes(watch.rig.sw), 0);
    assert_false(rig_in(&watch.rig, 0, STUCK, 0, BYTES, now));
    assert_false(rig_in(&watch.rig, STUCK, 2, 0, BYTES, now)); /* from the storm's sender */
    assert_true(rig_in(&watch.rig, 0, STUCK, 1, 64, now));
    assert_true(rig_in(&watch.rig, STUCK, 2, 1, 64, now));
    assert_true(rig_in(&watch.rig, 0, 2, 0, BYTES, now));
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_TX_DROPPED), 5);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RX_DROPPED), 1);
    stats = rig_stats(&watch.rig, STUCK, now);
    assert_int_equal(stats.drops[OCHE_DROP_MECHANISM], 5);
    assert_int_equal(stats.packets, 0);
    assert_int_equal(stats.queueing_time, 0);
    assert_int_equal(rig_out(&watch.rig, STUCK, now), 64);
    finish(&watch);
}

/* An upstream that was paused because of the queue is resumed when the queue is given up. */
static void test_drop_resumes_the_upstream(void **state)
{
    struct watch watch;
    unsigned packets = 0;

    (void)state;
    make(&watch, OCHE_PFC_WATCHDOG_DROP);
    while (rig_pause_frame(&watch.rig, 0, 0, OCHE_US) != LONG) {
        fill(&watch, 1, OCHE_US);
        packets++;
    }
    assert_true(oche_switch_is_pausing(watch.rig.sw, 0, 0));
    rig_pause(&watch.rig, STUCK, 0, LONG, 3 * OCHE_US);
    assert_int_equal(run_until(&watch, 50 * OCHE_US), packets);
    assert_int_equal(oche_switch_pause_port(watch.rig.sw), 0);
    assert_int_equal(rig_pause_frame(&watch.rig, 0, 0, 50 * OCHE_US), 0);
    finish(&watch);
}

/* The queue sends in spite of the PAUSE, and of further ones, until it is restored. */
static void test_forward(void **state)
{
    struct watch watch;
    struct oche_switch *sw;
    oche_time now = 50 * OCHE_US;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_FORWARD, 3, now - 1);
    sw = watch.rig.sw;
    assert_int_equal(rig_out(&watch.rig, STUCK, now - 1), 0);
    assert_true(oche_switch_is_paused(sw, STUCK, 0));
    assert_int_equal(oche_switch_expire(sw, now), STUCK); /* the port is ready */
    run_until(&watch, now);
    assert_false(oche_switch_is_paused(sw, STUCK, 0));
    assert_int_equal(rig_out(&watch.rig, STUCK, now), BYTES);
    rig_pause(&watch.rig, STUCK, 0, LONG, now);
    rig_pause(&watch.rig, STUCK, 1, LONG, now); /* no storm in this class */
    rig_check(&watch.rig);
    assert_int_equal(rig_out(&watch.rig, STUCK, now), BYTES);
    assert_true(rig_in(&watch.rig, 0, STUCK, 1, 64, now));
    assert_int_equal(rig_out(&watch.rig, STUCK, now), BYTES);
    assert_int_equal(rig_out(&watch.rig, STUCK, now), 0);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_TX_PACKETS), 3);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_TX_DROPPED), 0);
    rig_pause(&watch.rig, STUCK, 1, 0, now);
    finish(&watch);
}

/* Restored at the third poll without a frame; a frame in between starts the time again. */
static void test_restored(void **state)
{
    static const enum oche_pfc_watchdog_action actions[] = {OCHE_PFC_WATCHDOG_DROP,
                                                            OCHE_PFC_WATCHDOG_FORWARD};
    struct watch watch;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(actions); i++) {
        make_stuck(&watch, actions[i], 3, 52 * OCHE_US);
        rig_pause(&watch.rig, STUCK, 0, 0, 52 * OCHE_US); /* heard at the poll of 60 us */
        run_until(&watch, 75 * OCHE_US);                  /* the poll of 70 us is quiet */
        rig_pause(&watch.rig, STUCK, 0, 1, 75 * OCHE_US); /* heard at 80 us */
        run_until(&watch, 110 * OCHE_US - 1);
        assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 0);
        run_until(&watch, 110 * OCHE_US);
        assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 1);
        assert_true(rig_in(&watch.rig, 0, STUCK, 0, BYTES, 111 * OCHE_US));
        rig_pause(&watch.rig, STUCK, 0, LONG, 112 * OCHE_US);
        assert_true(oche_switch_is_paused(watch.rig.sw, STUCK, 0));
        run_until(&watch, 160 * OCHE_US); /* and detects the next storm */
        assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 2);
        finish(&watch);
    }
}

/* A PAUSE in effect is no quiet time, although no frame arrives. */
static void test_long_pause_is_not_quiet(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_FORWARD, 3, 3 * OCHE_US);
    /* 65535 quanta at 40 Gbit/s are 839 us: polls are quiet from 850 us on */
    run_until(&watch, 870 * OCHE_US - 1);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 0);
    run_until(&watch, 870 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 1);
    finish(&watch);
}

/* Alert changes nothing for packets. The storm is over at the first poll that does not show it. */
static void test_alert(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_ALERT, 3, 52 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    assert_int_equal(oche_switch_queue_bytes(watch.rig.sw, STUCK), 3 * BYTES);
    assert_int_equal(rig_out(&watch.rig, STUCK, 52 * OCHE_US), 0);
    fill(&watch, 1, 52 * OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, 0, 55 * OCHE_US);
    run_until(&watch, 60 * OCHE_US - 1);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 0);
    run_until(&watch, 60 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(rig_out(&watch.rig, STUCK, 61 * OCHE_US), BYTES);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_TX_DROPPED), 0);
    finish(&watch);
}

/* A link that goes down ends the pause; the watchdog then restores the queue. */
static void test_link_down(void **state)
{
    struct watch watch;

    (void)state;
    make(&watch, OCHE_PFC_WATCHDOG_FORWARD);
    rig_free(&watch.rig);
    watch.rig.config.links_fail = true;
    rig_make(&watch.rig);
    fill(&watch, 3, OCHE_US);
    rig_pause(&watch.rig, STUCK, 0, LONG, 3 * OCHE_US);
    run_until(&watch, 52 * OCHE_US);
    oche_switch_link_down(watch.rig.sw, STUCK, 52 * OCHE_US);
    for (struct oche_packet *packet;
         (packet = oche_switch_flush(watch.rig.sw, STUCK, 52 * OCHE_US)) != NULL;)
        rig_discard(packet);
    run_until(&watch, 80 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_RESTORED), 1);
    oche_switch_link_up(watch.rig.sw, STUCK);
    finish(&watch);
}

/* Counters are reset with the switch's, and a storm under way goes on. */
static void test_reset(void **state)
{
    struct watch watch;

    (void)state;
    make_stuck(&watch, OCHE_PFC_WATCHDOG_ALERT, 3, 35 * OCHE_US);
    oche_switch_reset_stats(watch.rig.sw, 35 * OCHE_US);
    run_until(&watch, 50 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 1);
    oche_switch_reset_stats(watch.rig.sw, 51 * OCHE_US);
    run_until(&watch, 100 * OCHE_US);
    assert_int_equal(count(&watch, OCHE_PFC_WATCHDOG_DETECTED), 0);
    finish(&watch);
}

static void test_refused(void **state)
{
    struct watch watch;
    struct oche_error why;

    (void)state;
    make(&watch, OCHE_PFC_WATCHDOG_DROP);
    assert_true(oche_pfc_watchdog.fits(&watch.rig.config, &watch.params, &why));
    assert_null(oche_pfc_watchdog.check(&watch.params));
    watch.params.poll_interval = DETECT + 1;
    assert_string_equal(oche_pfc_watchdog.check(&watch.params),
                        "poll_interval: is above detection_time; make it at most that");
    watch.params.poll_interval = RESTORE + 1;
    assert_string_equal(oche_pfc_watchdog.check(&watch.params),
                        "poll_interval: is above restoration_time; make it at most that");
    watch.params.poll_interval = POLL;
    rig_free(&watch.rig);
    watch.rig.params.pfc = false;
    assert_false(oche_pfc_watchdog.fits(&watch.rig.config, &watch.params, &why));
    assert_string_equal(why.text, "action: no PAUSE to watch: switch.pfc is false; leave the "
                                  "mechanism out, or change that");
    watch.rig.params.pfc = true;
    watch.rig.config.lossless_classes = 0;
    assert_false(oche_pfc_watchdog.fits(&watch.rig.config, &watch.params, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detected_at_the_time),
        cmocka_unit_test(test_time_between_polls),
        cmocka_unit_test(test_one_packet_resets),
        cmocka_unit_test(test_short_resume_resets),
        cmocka_unit_test(test_no_storm),
        cmocka_unit_test(test_drop),
        cmocka_unit_test(test_drop_resumes_the_upstream),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_long_pause_is_not_quiet),
        cmocka_unit_test(test_alert),
        cmocka_unit_test(test_link_down),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
