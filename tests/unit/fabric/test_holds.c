/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The causes of held buffer space, exact to the byte; why a class is paused; and if it can resume.
 */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"

#define PORTS 5

static void *keep(struct rig *rig, oche_time now)
{
    void *memory = calloc(1, oche_switch_holds_bytes(rig->sw));

    assert_non_null(memory);
    assert_false(oche_switch_keeps_holds(rig->sw));
    oche_switch_keep_holds(rig->sw, memory, now);
    assert_true(oche_switch_keeps_holds(rig->sw));
    return memory;
}

static void fill(struct rig *rig, unsigned in, unsigned out, unsigned cls, unsigned packets,
                 oche_time now)
{
    while (packets-- > 0)
        assert_true(rig_in(rig, in, out, cls, 1000, now));
}

/* Random packets in and out. The tracking begins in the middle. */
static void exact(void **state)
{
    struct oche_random random = oche_random_stream(1, "holds", 0);
    static uint16_t queue[PORTS][2][4096]; /* in << 12 | bytes, as they wait */
    static unsigned head[PORTS][2], tail[PORTS][2];
    struct rig rig;
    void *memory = NULL;

    (void)state;
    rig_init(&rig, PORTS);
    rig_make(&rig);
    for (unsigned step = 0; step < 4000; step++) {
        unsigned in = (unsigned)oche_random_below(&random, PORTS);
        unsigned out = (unsigned)oche_random_below(&random, PORTS);
        unsigned cls = (unsigned)oche_random_below(&random, 2);
        uint16_t bytes = (uint16_t)(64 + oche_random_below(&random, 1437));

        if (step == 1000)
            memory = keep(&rig, step);
        if (oche_random_below(&random, 2) == 0) {
            assert_true(rig_in(&rig, in, out, cls, bytes, step));
            queue[out][cls][tail[out][cls]++] = (uint16_t)(in << 12 | bytes);
        } else if (head[out][1] + head[out][0] < tail[out][1] + tail[out][0]) {
            unsigned from = head[out][1] < tail[out][1];
            assert_int_equal(rig_out(&rig, out, step), queue[out][from][head[out][from]++] & 0xfff);
        }
        if (step < 1000 || step % 50 != 0)
            continue;
        for (in = 0; in < PORTS; in++)
            for (cls = 0; cls < 2; cls++) {
                unsigned sum = 0;
                for (out = 0; out < PORTS; out++) {
                    unsigned held = 0;
                    for (unsigned i = head[out][cls]; i < tail[out][cls]; i++)
                        held += queue[out][cls][i] >> 12 == in ? queue[out][cls][i] & 0xfff : 0;
                    assert_int_equal(oche_switch_held_bytes(rig.sw, in, cls, out, cls), held);
                    sum += held;
                }
                assert_int_equal(oche_switch_ingress_bytes(rig.sw, in, cls), sum);
            }
    }
    rig_free(&rig);
    free(memory);
}

static void not_kept(void **state)
{
    struct oche_pause_cause cause;
    struct rig rig;

    (void)state;
    rig_init(&rig, 3);
    rig_make(&rig);
    fill(&rig, 0, 1, 0, 3, 0);
    assert_int_equal(oche_switch_held_bytes(rig.sw, 0, 0, 1, 0), 0);
    assert_false(oche_switch_pause_cause(rig.sw, 0, 0, 0, &cause));
    rig_free(&rig);
}

/* The queue with most of the class; among equals the first. */
static void cause_is_the_largest(void **state)
{
    struct oche_pause_cause cause;
    struct rig rig;
    void *memory;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    memory = keep(&rig, 0);
    assert_false(oche_switch_pause_cause(rig.sw, 0, 0, 0, &cause));
    fill(&rig, 0, 1, 0, 3, 0);
    fill(&rig, 0, 2, 0, 5, 0);
    fill(&rig, 0, 3, 0, 5, 0);
    fill(&rig, 1, 1, 0, 50, 0); /* of another ingress */
    fill(&rig, 0, 1, 1, 50, 0); /* of another class */
    assert_true(oche_switch_pause_cause(rig.sw, 0, 0, 0, &cause));
    assert_int_equal(cause.port, 2);
    assert_int_equal(cause.bytes, 5000);
    assert_int_equal(cause.ingress_bytes, 13000);
    assert_false(cause.held);
    rig_free(&rig);
    free(memory);
}

static bool is_held(struct rig *rig, oche_time now)
{
    struct oche_pause_cause cause;

    while (oche_switch_expire(rig->sw, now) >= 0)
        continue;
    assert_true(oche_switch_pause_cause(rig->sw, 0, 0, now, &cause));
    assert_int_equal(cause.port, 1);
    return cause.held;
}

/* Pauses port 1 for so long from then on. The response time is set to 0. */
static void hold(struct rig *rig, oche_time from, oche_time duration)
{
    while (oche_switch_expire(rig->sw, from) >= 0)
        continue;
    rig_pause(rig, 1, 0, UINT16_MAX, from);
    while (oche_switch_expire(rig->sw, from + duration) >= 0)
        continue;
    rig_pause(rig, 1, 0, 0, from + duration);
}

static void *held_rig(struct rig *rig)
{
    rig_init(rig, 3);
    rig->params.pfc_response = 0;
    rig_make(rig);
    return keep(rig, 0);
}

/*
 * 60 packets are 60 KB; at 40 Gbit/s 10 us are 50 KB. A pause explains a long queue if it accounts
 * for half of its bytes and a twentieth of its time.
 */
static void held_or_hot(void **state)
{
    struct rig rig;
    void *memory = held_rig(&rig);

    (void)state;
    fill(&rig, 0, 1, 0, 60, 0);
    assert_false(is_held(&rig, 5 * OCHE_US));
    hold(&rig, 10 * OCHE_US, 5 * OCHE_US); /* 25 KB of 60 */
    assert_false(is_held(&rig, 20 * OCHE_US));
    hold(&rig, 20 * OCHE_US, 2 * OCHE_US); /* 35 KB of 60 */
    assert_true(is_held(&rig, 30 * OCHE_US));
    assert_true(is_held(&rig, 139 * OCHE_US));  /* 7 us of 140 are a twentieth, */
    assert_false(is_held(&rig, 141 * OCHE_US)); /* of 141 they are less */
    rig_free(&rig);
    free(memory);
}

/* A PAUSE that still lasts counts up to now. One from before the queue filled does not count. */
static void held_now(void **state)
{
    struct rig rig;
    void *memory = held_rig(&rig);

    (void)state;
    hold(&rig, OCHE_US, 50 * OCHE_US);
    fill(&rig, 0, 1, 0, 60, 60 * OCHE_US);
    assert_false(is_held(&rig, 61 * OCHE_US));
    rig_pause(&rig, 1, 0, UINT16_MAX, 61 * OCHE_US);
    assert_false(is_held(&rig, 66 * OCHE_US));
    assert_true(is_held(&rig, 68 * OCHE_US));
    rig_pause(&rig, 1, 0, 0, 68 * OCHE_US);
    /* When the queue has been empty, everything starts anew. */
    while (rig_out(&rig, 1, 69 * OCHE_US) > 0)
        continue;
    fill(&rig, 0, 1, 0, 4, 70 * OCHE_US);
    assert_false(is_held(&rig, 71 * OCHE_US));
    rig_free(&rig);
    free(memory);
}

/* The end of warm-up resets counters, but not the state of the queue. */
static void reset(void **state)
{
    struct rig rig;
    void *memory = held_rig(&rig);

    (void)state;
    fill(&rig, 0, 1, 0, 60, 0);
    hold(&rig, 10 * OCHE_US, 4 * OCHE_US);
    rig_pause(&rig, 1, 0, UINT16_MAX, 20 * OCHE_US);
    while (oche_switch_expire(rig.sw, 21 * OCHE_US) >= 0)
        continue;
    oche_switch_reset_stats(rig.sw, 21 * OCHE_US);
    assert_false(is_held(&rig, 21 * OCHE_US));
    assert_true(is_held(&rig, 22 * OCHE_US)); /* 4 and 2 us */
    rig_pause(&rig, 1, 0, 0, 22 * OCHE_US);
    rig_free(&rig);
    free(memory);
}

static void pausing_since(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 3);
    rig.params.threshold = OCHE_THRESHOLD_STATIC;
    rig.params.xoff_bytes = 10000;
    rig_make(&rig);
    fill(&rig, 0, 1, 0, 11, 50);
    assert_int_equal(oche_switch_pausing(rig.sw, 0), 0); /* the frame has not left */
    assert_int_equal(oche_switch_pausing_since(rig.sw, 0, 0), OCHE_NEVER);
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 100), 0xffff);
    assert_int_equal(oche_switch_pausing(rig.sw, 0), 1);
    assert_int_equal(oche_switch_pausing_since(rig.sw, 0, 0), 100);
    assert_int_equal(oche_switch_pausing_since(rig.sw, 0, 1), OCHE_NEVER);
    for (unsigned i = 0; i < 4; i++)
        rig_out(&rig, 1, 200);
    assert_int_equal(oche_switch_pausing(rig.sw, 0), 1); /* the RESUME has not left, */
    assert_int_equal(oche_switch_pausing_since(rig.sw, 0, 0), OCHE_NEVER); /* but it will */
    assert_int_equal(rig_pause_frame(&rig, 0, 0, 300), 0);
    assert_int_equal(oche_switch_pausing(rig.sw, 0), 0);
    rig_free(&rig);
}

/* A switch of random thresholds with random packets in it, and every PAUSE sent. */
static void *random_rig(struct rig *rig, struct oche_random *random, bool dynamic)
{
    rig_init(rig, PORTS);
    rig->params.threshold = dynamic ? OCHE_THRESHOLD_DYNAMIC : OCHE_THRESHOLD_STATIC;
    rig->params.buffer_bytes = 300000 + oche_random_below(random, 200000);
    rig->params.beta = 0.125 * (double)(1 + oche_random_below(random, 32));
    rig->params.xoff_bytes = 1000 + oche_random_below(random, 20000);
    rig_make(rig);
    void *memory = keep(rig, 0);

    /* packets that do not fit are dropped */
    for (uint64_t i = oche_random_below(random, 500); i > 0; i--)
        rig_in(rig, (unsigned)oche_random_below(random, 3),
               (unsigned)oche_random_below(random, PORTS), (unsigned)oche_random_below(random, 2),
               (uint16_t)(64 + oche_random_below(random, 1437)), 0);
    for (unsigned port = 0; port < PORTS; port++)
        while (oche_switch_pause_waits(rig->sw, port))
            rig_pause_frame(rig, port, 0, 0);
    return memory;
}

/* Bytes by ingress and class that remain when the queues of these ports are empty. */
static void count_left(const struct rig *rig, uint64_t emptied, uint32_t left[PORTS * 2])
{
    memset(left, 0, PORTS * 2 * sizeof(*left));
    for (unsigned in = 0; in < PORTS; in++)
        for (unsigned out = 0; out < PORTS; out++)
            for (unsigned cls = 0; cls < 2; cls++)
                if (!(emptied >> out & 1))
                    left[in * 2 + cls] += oche_switch_held_bytes(rig->sw, in, cls, out, cls);
}

/*
 * The prediction for a partly emptied switch, compared with the real result. Random buffers and
 * packets, a random choice of emptied queues, both kinds of threshold.
 */
static void stays_pausing(void **state)
{
    struct oche_random random = oche_random_stream(7, "stays pausing", 0);
    unsigned stayed = 0, resumed = 0;

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        uint32_t left[PORTS * 2];
        bool predicted[PORTS * 2];
        struct rig rig;
        void *memory = random_rig(&rig, &random, round % 2 == 0);
        uint64_t emptied = oche_random_below(&random, 1 << PORTS);

        count_left(&rig, emptied, left);
        for (unsigned i = 0; i < PORTS * 2; i++)
            predicted[i] = oche_switch_pausing_since(rig.sw, i / 2, i % 2) != OCHE_NEVER &&
                           oche_switch_stays_pausing(rig.sw, i / 2, i % 2, left);
        for (unsigned out = 0; out < PORTS; out++)
            while ((emptied >> out & 1) && rig_out(&rig, out, 1) > 0)
                continue;
        for (unsigned i = 0; i < PORTS * 2; i++) {
            bool told = oche_switch_pausing(rig.sw, i / 2) >> i % 2 & 1;
            bool stays = oche_switch_pausing_since(rig.sw, i / 2, i % 2) != OCHE_NEVER;

            assert_int_equal(stays, predicted[i]);
            stayed += stays;
            resumed += told && !stays;
        }
        rig_free(&rig);
        free(memory);
    }
    assert_true(stayed > 200);
    assert_true(resumed > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(not_kept),
        cmocka_unit_test(cause_is_the_largest),
        cmocka_unit_test(held_or_hot),
        cmocka_unit_test(held_now),
        cmocka_unit_test(reset),
        cmocka_unit_test(pausing_since),
        cmocka_unit_test(stays_pausing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
