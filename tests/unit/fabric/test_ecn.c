/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RED marking: the probability exactly at its edges, by counting in the middle, and which packets
 * may be marked.
 */
#include <math.h>

#include "tests/unit/fabric/rig.h"

#include "fabric/ecn.h"
#include "fabric/switch_state.h"

#define ALWAYS (UINT64_C(1) << 63)

/* A ramp, and the random numbers of its marks. */
struct red {
    struct oche_red_ramp ramp;
    struct oche_random random;
};

static struct red red_of(uint64_t kmin, uint64_t kmax, double pmax)
{
    struct oche_switch_params params;

    oche_param_defaults(&oche_switch_params, &params);
    params.kmin_bytes = kmin;
    params.kmax_bytes = kmax;
    params.pmax = pmax;
    return (struct red){.ramp = oche_red_ramp(&params, 40 * OCHE_GBPS),
                        .random = oche_random_stream(1, "red", 2)};
}

static void probability(void **state)
{
    struct red red = red_of(5000, 200000, 0.01);
    double exact;

    (void)state;
    assert_int_equal(oche_red_probability(&red.ramp, 0), 0);
    assert_int_equal(oche_red_probability(&red.ramp, 5000), 0);
    assert_true(oche_red_probability(&red.ramp, 5001) > 0);
    assert_int_equal(oche_red_probability(&red.ramp, 200001), ALWAYS);
    exact = (double)oche_red_probability(&red.ramp, 200000) / (double)ALWAYS;
    assert_float_equal(exact, 0.01, 1e-12);
    exact = (double)oche_red_probability(&red.ramp, 102500) / (double)ALWAYS;
    assert_float_equal(exact, 0.005, 1e-12);

    red = red_of(40000, 40000, 1); /* DCTCP: a step */
    assert_int_equal(oche_red_probability(&red.ramp, 40000), 0);
    assert_int_equal(oche_red_probability(&red.ramp, 40001), ALWAYS);
    red = red_of(0, 1, 1);
    assert_int_equal(oche_red_probability(&red.ramp, 1), ALWAYS);
    red = red_of(0, 1000, 1);
    assert_true(oche_red_probability(&red.ramp, 1000) > ALWAYS - 1000);
    red = red_of(1000, 2000, 0);
    assert_int_equal(oche_red_probability(&red.ramp, 2000), 0);
    assert_int_equal(oche_red_probability(&red.ramp, 2001), ALWAYS);
}

static void automatic_thresholds_follow_the_rate(void **state)
{
    struct oche_switch_params params;

    (void)state;
    oche_param_preset(&oche_switch_params, OCHE_PRESET_DEPLOYED, &params);
    struct oche_red_ramp ramp = oche_red_ramp(&params, 100 * OCHE_GBPS);

    assert_int_equal(ramp.kmin, 100000);
    assert_int_equal(ramp.kmax, 400000);
    double exact = (double)oche_red_probability(&ramp, 400000) / (double)ALWAYS;

    assert_true(fabs(exact - 0.2) < 1e-9);
    ramp = oche_red_ramp(&params, 800 * OCHE_GBPS);
    assert_int_equal(ramp.kmin, 800000);
    assert_int_equal(ramp.kmax, 3200000);
    params.kmin_time = 32 * OCHE_US; /* as HPCC's simulator: 4 and 16 KB for each Gbit/s */
    params.kmax_time = 128 * OCHE_US;
    ramp = oche_red_ramp(&params, 25 * OCHE_GBPS);
    assert_int_equal(ramp.kmin, 100000);
    assert_int_equal(ramp.kmax, 400000);
    params.kmin_time = params.kmax_time = OCHE_SEC; /* no more than a queue may have */
    assert_int_equal(oche_red_ramp(&params, 800 * OCHE_GBPS).kmin, INT32_MAX);
    oche_param_preset(&oche_switch_params, OCHE_PRESET_DEPLOYED, &params);
    ramp = oche_red_ramp(&params, OCHE_GBPS); /* a few packets at least */
    assert_int_equal(ramp.kmin, 5000);
    assert_int_equal(ramp.kmax, 20000);
    params.kmin_bytes = 900000; /* the other one gives way */
    ramp = oche_red_ramp(&params, 100 * OCHE_GBPS);
    assert_int_equal(ramp.kmax, 900000);
    params.kmin_bytes = OCHE_NEVER;
    params.kmax_bytes = 30000;
    ramp = oche_red_ramp(&params, 100 * OCHE_GBPS);
    assert_int_equal(ramp.kmin, 30000);
    params.ecn = false;
    assert_true(oche_red_ramp(&params, OCHE_GBPS).kmin == UINT64_MAX);
}

static unsigned marks_of(struct red *red, uint64_t queue, unsigned packets)
{
    unsigned marks = 0;

    for (unsigned i = 0; i < packets; i++) {
        struct oche_packet packet = {.ecn = i % 2 ? OCHE_ECN_ECT0 : OCHE_ECN_ECT1};

        marks += oche_red_chooses(&red->ramp, &red->random, &packet, queue);
    }
    return marks;
}

static void statistics(void **state)
{
    struct red red = red_of(10000, 20000, 0.2);

    (void)state;
    /* Five standard deviations of 10^6 draws are at most 0.0025. */
    assert_int_equal(marks_of(&red, 10000, 1000000), 0);
    assert_in_range(marks_of(&red, 12500, 1000000), 50000 - 1100, 50000 + 1100);
    assert_in_range(marks_of(&red, 15000, 1000000), 100000 - 1500, 100000 + 1500);
    assert_in_range(marks_of(&red, 20000, 1000000), 200000 - 2000, 200000 + 2000);
    assert_int_equal(marks_of(&red, 20001, 1000000), 1000000);
}

static void only_capable(void **state)
{
    struct red red = red_of(0, 0, 1);
    struct oche_packet not_capable = {.ecn = OCHE_ECN_NOT_ECT};
    struct oche_packet already = {.ecn = OCHE_ECN_CE};

    (void)state;
    assert_false(oche_red_chooses(&red.ramp, &red.random, &not_capable, 1000));
    assert_false(oche_red_chooses(&red.ramp, &red.random, &already, 1000)); /* marked elsewhere */
}

/*
 * Five packets of 1000 bytes, K = 2500. Returns which of them leave marked, as bits, first lowest.
 */
static unsigned pattern(uint32_t ecn_at, bool ecn, uint64_t *marks)
{
    struct rig rig;
    unsigned bits = 0;

    rig_init(&rig, 4);
    rig.params.kmin_bytes = rig.params.kmax_bytes = 2500;
    rig.params.ecn_at = ecn_at;
    rig.params.ecn = ecn;
    rig_make(&rig);
    for (unsigned i = 0; i < 5; i++)
        assert_true(rig_in(&rig, 0, 1, 0, 1000, 0));
    assert_true(rig_in(&rig, 0, 1, 1, 1000, 0)); /* another class has a queue of its own */
    rig_discard(oche_switch_transmit(rig.sw, 1, 0));
    for (unsigned i = 0; i < 5; i++) {
        struct oche_packet *packet = oche_switch_transmit(rig.sw, 1, 0);

        bits |= (packet->ecn == OCHE_ECN_CE ? 1U : 0) << i;
        rig_discard(packet);
    }
    *marks = rig_stats(&rig, 1, 0).marks;
    rig_free(&rig);
    return bits;
}

static void dequeue_and_enqueue(void **state)
{
    uint64_t marks;

    (void)state;
    /* At dequeue: 4000, 3000, 2000, 1000, 0 bytes remain, so the first two are marked. */
    assert_int_equal(pattern(OCHE_ECN_AT_DEQUEUE, true, &marks), 0x03);
    assert_int_equal(marks, 2);
    /* At enqueue: 0, 1000, 2000, 3000, 4000 bytes wait, so the last two are marked. */
    assert_int_equal(pattern(OCHE_ECN_AT_ENQUEUE, true, &marks), 0x18);
    assert_int_equal(marks, 2);
    assert_int_equal(pattern(OCHE_ECN_AT_DEQUEUE, false, &marks), 0);
    assert_int_equal(marks, 0);
}

/* The function that RED and every mechanism call: each codepoint, and the port's count. */
static void a_mark_is_counted_once(void **state)
{
    const struct {
        uint8_t before, after;
        bool marked;
    } cases[] = {
        {OCHE_ECN_NOT_ECT, OCHE_ECN_NOT_ECT, false},
        {OCHE_ECN_ECT0, OCHE_ECN_CE, true},
        {OCHE_ECN_ECT1, OCHE_ECN_CE, true},
        {OCHE_ECN_CE, OCHE_ECN_CE, false},
    };
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_packet packet = {.ecn = cases[i].before};

        assert_int_equal(oche_switch_mark(rig.sw, 2, &packet), cases[i].marked);
        assert_int_equal(packet.ecn, cases[i].after);
    }
    assert_int_equal(rig_stats(&rig, 2, 0).marks, 2);
    assert_int_equal(rig_stats(&rig, 1, 0).marks, 0);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probability),
        cmocka_unit_test(automatic_thresholds_follow_the_rate),
        cmocka_unit_test(statistics),
        cmocka_unit_test(only_capable),
        cmocka_unit_test(dequeue_and_enqueue),
        cmocka_unit_test(a_mark_is_counted_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
