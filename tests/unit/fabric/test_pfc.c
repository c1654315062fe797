/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PFC towards the upstream: XOFF and XON in order, hysteresis, refresh, and the order of resuming.
 */
#include "tests/unit/fabric/rig.h"

#include "fabric/pause.h"
#include "fabric/pfc.h"

#define HALF (oche_pause_duration(OCHE_PFC_MAX_QUANTA, 40 * OCHE_GBPS) / 2)

static void static_rig(struct rig *rig, unsigned ports, uint64_t xoff)
{
    rig_init(rig, ports);
    rig->params.threshold = OCHE_THRESHOLD_STATIC;
    rig->params.xoff_bytes = xoff;
    rig_make(rig);
}

static void fill(struct rig *rig, unsigned in, unsigned out, unsigned cls, unsigned packets)
{
    while (packets-- > 0)
        assert_true(rig_in(rig, in, out, cls, 1000, 0));
}

static void sequence(void **state)
{
    struct rig rig;
    struct oche_switch_port_stats stats;

    (void)state;
    static_rig(&rig, 4, 10000);
    fill(&rig, 0, 1, 0, 10);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
    fill(&rig, 0, 1, 0, 1);
    assert_true(oche_switch_ready(rig.sw, 0)); /* a PFC frame, and nothing else */
    assert_false(oche_switch_is_pausing(rig.sw, 0, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1); /* named once … */
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 100), 0xffff);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 100), -1);
    assert_true(oche_switch_is_pausing(rig.sw, 0, 0));
    assert_false(oche_switch_ready(rig.sw, 0));

    /* Two MTU below the threshold: at 7000, not at 8000. */
    fill(&rig, 0, 1, 0, 3); /* headroom: still paused, so no new frame */
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    for (unsigned left = 13; left >= 8; left--) {
        assert_int_equal(rig_out(&rig, 1, 200), 1000);
        assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    }
    assert_int_equal(rig_out(&rig, 1, 200), 1000);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), 7000);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_true(oche_switch_is_pausing(rig.sw, 0, 0)); /* until the frame has left */
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 350), 0);
    assert_false(oche_switch_is_pausing(rig.sw, 0, 0));
    stats = rig_stats(&rig, 0, 400);
    assert_int_equal(stats.pauses_sent[0], 1);
    assert_int_equal(stats.refreshes_sent[0], 0);
    assert_int_equal(stats.pause_sent_time[0], 250);
    assert_int_equal(oche_switch_next(rig.sw), OCHE_NEVER);
    rig_free(&rig);
}

/* With xon_offset a class resumes that far below its threshold, for any MTU. */
static void resume_offset(void **state)
{
    static const struct {
        uint64_t offset;
        unsigned resumed_with; /* bytes, of a threshold of 10,000 */
    } cases[] = {{0, 10000}, {1, 9000}, {1000, 9000}, {3072, 6000}, {9999, 0}, {20000, 0}};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(cases); i++) {
        unsigned left = 12000;
        struct rig rig;

        rig_init(&rig, 4);
        rig.params.threshold = OCHE_THRESHOLD_STATIC;
        rig.params.xoff_bytes = 10000;
        rig.params.xon_offset_bytes = cases[i].offset;
        rig_make(&rig);
        fill(&rig, 0, 1, 0, 12);
        assert_int_equal(oche_switch_pause_port(rig.sw), 0);
        assert_int_equal(rig_pause_frame(&rig, 0, 0, 100), 0xffff);
        while (oche_switch_pause_port(rig.sw) < 0) {
            assert_int_equal(rig_out(&rig, 1, 200), 1000);
            left -= 1000;
        }
        assert_int_equal(rig_pause_frame(&rig, 0, 0, 300), 0);
        assert_int_equal(left, cases[i].resumed_with);
        assert_int_equal(oche_switch_ingress_bytes(rig.sw, 0, 0), left);
        rig_free(&rig);
    }
}

/* t_PFC below two MTU: the class resumes when it holds nothing. */
static void tiny_threshold(void **state)
{
    struct rig rig;

    (void)state;
    static_rig(&rig, 4, 2000);
    fill(&rig, 0, 1, 0, 3);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0xffff);
    assert_int_equal(rig_out(&rig, 1, 0), 1000);
    assert_int_equal(rig_out(&rig, 1, 0), 1000);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
    assert_int_equal(rig_out(&rig, 1, 0), 1000);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0);
    rig_free(&rig);
}

/* A class that resumes before its XOFF has left: no frame, and no class named. */
static void cancelled(void **state)
{
    struct rig rig;

    (void)state;
    static_rig(&rig, 4, 10000);
    fill(&rig, 0, 1, 0, 11);
    for (unsigned i = 0; i < 4; i++)
        rig_out(&rig, 1, 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    assert_false(oche_switch_ready(rig.sw, 0));
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
    /* The same with XON: paused, resumed, and paused again before the XON has left. */
    fill(&rig, 0, 1, 0, 4);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0xffff);
    for (unsigned i = 0; i < 4; i++)
        rig_out(&rig, 1, 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    fill(&rig, 0, 1, 0, 4);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
    assert_true(oche_switch_is_pausing(rig.sw, 0, 0));
    assert_int_equal(rig_stats(&rig, 0, 0).pauses_sent[0], 1);
    rig_free(&rig);
}

static void refreshed(void **state)
{
    struct rig rig;
    oche_time now = 1000;

    (void)state;
    static_rig(&rig, 4, 10000);
    fill(&rig, 0, 1, 0, 11);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, now), 0xffff);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(oche_switch_next(rig.sw), now + HALF);
        assert_int_equal(oche_switch_expire(rig.sw, now + HALF - 1), -1);
        assert_int_equal(oche_switch_expire(rig.sw, now + HALF), 0);
        assert_int_equal(oche_switch_expire(rig.sw, now + HALF), -1);
        assert_int_equal(oche_switch_pause_port(rig.sw), 0);
        now += HALF + 777; /* the frame had to wait */
        assert_int_equal(rig_pause_frame(&rig, 0, 0, now), 0xffff);
        assert_int_equal(rig_stats(&rig, 0, now).refreshes_sent[0], i);
    }
    assert_int_equal(rig_stats(&rig, 0, now).pauses_sent[0], 1);
    assert_int_equal(rig_stats(&rig, 0, now).pause_sent_time[0], now - 1000);
    /* A refresh that became due just before the class resumed becomes an XON. */
    assert_int_equal(oche_switch_expire(rig.sw, now + HALF), 0);
    for (unsigned i = 0; i < 4; i++)
        rig_out(&rig, 1, now + HALF);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, now + HALF), 0);
    assert_int_equal(oche_switch_next(rig.sw), OCHE_NEVER);
    assert_int_equal(oche_switch_expire(rig.sw, OCHE_SEC), -1);
    rig_free(&rig);
}

/* Two classes of one port share frames; each keeps its own account and counters. */
static void two_classes(void **state)
{
    struct rig rig;
    struct oche_packet frame;

    (void)state;
    static_rig(&rig, 4, 10000);
    fill(&rig, 0, 1, 0, 11);
    fill(&rig, 0, 2, 1, 11);
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    frame = (struct oche_packet){.tag = 1};
    assert_true(oche_switch_take_pause(rig.sw, 0, &frame, 10));
    assert_int_equal(frame.pfc.classes, 3);
    assert_int_equal(frame.pfc.quanta[0], 0xffff);
    assert_int_equal(frame.pfc.quanta[1], 0xffff);
    for (unsigned i = 0; i < 4; i++)
        rig_out(&rig, 2, 20);
    frame = (struct oche_packet){.tag = 1};
    assert_true(oche_switch_take_pause(rig.sw, 0, &frame, 30));
    /* class 1 resumes; class 0 is refreshed in the same frame */
    assert_int_equal(frame.pfc.classes, 3);
    assert_int_equal(frame.pfc.quanta[0], 0xffff);
    assert_int_equal(frame.pfc.quanta[1], 0);
    assert_int_equal(rig_stats(&rig, 0, 50).pause_sent_time[0], 40);
    assert_int_equal(rig_stats(&rig, 0, 50).pause_sent_time[1], 20);
    assert_int_equal(rig_stats(&rig, 0, 50).refreshes_sent[0], 1);
    assert_int_equal(rig_stats(&rig, 0, 50).refreshes_sent[1], 0);
    rig_free(&rig);
}

/*
 * Dynamic threshold: bytes held by other ports count. Port 0 is paused because port 1 fills the
 * buffer. When the packets of port 1 leave, port 0 resumes, though none of its own has left.
 */
static void others_leave(void **state)
{
    struct rig rig;
    struct oche_buffer_plan plan;
    unsigned left;

    (void)state;
    rig_init(&rig, 4);
    rig.params.beta = 2; /* t_PFC equals the free space, with two priorities */
    plan = oche_buffer_plan(&rig.config);
    rig.params.buffer_bytes = plan.headroom_total + 100000;
    rig_make(&rig);
    fill(&rig, 0, 2, 0, 20);
    fill(&rig, 1, 3, 0, 40); /* s = 60000, t = 40000: port 1 is not above it */
    assert_int_equal(oche_switch_xoff_bytes(rig.sw), 40000);
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    fill(&rig, 1, 3, 0, 1);
    assert_int_equal(oche_switch_pause_port(rig.sw), 1);
    fill(&rig, 0, 2, 0, 10); /* s = 71000, t = 29000 */
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0xffff);
    assert_int_equal(rig_pause_frame(&rig, 1, 0, 0), 0xffff);
    /* Port 0 resumes at t >= 30000 + 3000: s <= 67000, when port 1 holds 37000 or less. */
    for (left = 41; oche_switch_pause_port(rig.sw) != 0; left--)
        assert_int_equal(rig_out(&rig, 3, 0), 1000);
    assert_int_equal(left, 37);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0);
    /* Port 1: 33500 + 3000 = 100000 - 30000 - 33500: at 33 packets. */
    for (; oche_switch_pause_port(rig.sw) != 1; left--)
        assert_int_equal(rig_out(&rig, 3, 0), 1000);
    assert_int_equal(left, 33);
    rig_free(&rig);
}

/* The same when the leaving packets belong to a port that is not paused, or to a lossy class. */
static void unpaused_leave(void **state)
{
    for (unsigned lossy = 0; lossy < 2; lossy++) {
        struct rig rig;
        struct oche_buffer_plan plan;

        (void)state;
        rig_init(&rig, 4);
        rig.params.beta = 1;
        rig.params.pfc_priorities = 1; /* t_PFC = what is free */
        rig.params.egress_alpha = 0;
        rig.config.lossless_classes = 1;
        plan = oche_buffer_plan(&rig.config);
        rig.params.buffer_bytes = plan.headroom_total + 100000;
        rig_make(&rig);
        fill(&rig, 1, 3, lossy, 30);
        fill(&rig, 2, 3, lossy, 30);
        fill(&rig, 0, 2, 0, 20); /* s = 80000, t = 20000 */
        assert_int_equal(oche_switch_pause_port(rig.sw), -1);
        fill(&rig, 0, 2, 0, 1);
        assert_int_equal(oche_switch_pause_port(rig.sw), 0);
        assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0xffff);
        /* t >= 21000 + 3000 after five have left. */
        for (unsigned i = 0; i < 5; i++) {
            assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
            assert_int_equal(rig_out(&rig, 3, 0), 1000);
        }
        assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0);
        rig_free(&rig);
    }
}

/* Packets in the headroom leave first. The class does not resume before that. */
static void headroom_first(void **state)
{
    struct rig rig;
    struct oche_buffer_plan plan;

    (void)state;
    rig_init(&rig, 4);
    rig.params.beta = 2;
    plan = oche_buffer_plan(&rig.config);
    rig.params.buffer_bytes = plan.headroom_total + 50000;
    rig_make(&rig);
    fill(&rig, 1, 3, 0, 20);
    fill(&rig, 0, 2, 0, 16); /* 36000: t = 14000 */
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    fill(&rig, 0, 2, 0, 2); /* headroom */
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(rig_out(&rig, 3, 0), 1000);
    /* s = 15000, t = 35000: far above, but the headroom is in use. */
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0xffff);
    assert_int_equal(rig_out(&rig, 2, 0), 1000);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), -1);
    assert_int_equal(rig_out(&rig, 2, 0), 1000);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 0), 0);
    rig_free(&rig);
}

/* A reset in the middle of a pause splits its time. */
static void reset(void **state)
{
    struct rig rig;

    (void)state;
    static_rig(&rig, 4, 10000);
    fill(&rig, 0, 1, 0, 11);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 100), 0xffff);
    oche_switch_reset_stats(rig.sw, 300);
    assert_int_equal(rig_stats(&rig, 0, 1000).pauses_sent[0], 0);
    assert_int_equal(rig_stats(&rig, 0, 1000).pause_sent_time[0], 700);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequence),       cmocka_unit_test(tiny_threshold),
        cmocka_unit_test(cancelled),      cmocka_unit_test(refreshed),
        cmocka_unit_test(two_classes),    cmocka_unit_test(others_leave),
        cmocka_unit_test(unpaused_leave), cmocka_unit_test(headroom_first),
        cmocka_unit_test(reset),          cmocka_unit_test(resume_offset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
