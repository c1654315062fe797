/* SPDX-License-Identifier: Apache-2.0 */
/* RED marking: the probability's edges exactly, its middle by counting, and what may be marked. */
#include "tests/unit/fabric/rig.h"

#include "fabric/ecn.h"

#define ALWAYS (UINT64_C(1) << 63)

static struct oche_red red_of(uint64_t kmin, uint64_t kmax, double pmax)
{
    struct oche_switch_params params;
    struct oche_red red;

    oche_param_defaults(&oche_switch_params, &params);
    params.kmin_bytes = kmin;
    params.kmax_bytes = kmax;
    params.pmax = pmax;
    oche_red_init(&red, &params, 1, 2);
    return red;
}

static void probability(void **state)
{
    struct oche_red red = red_of(5000, 200000, 0.01);
    double exact;

    (void)state;
    assert_int_equal(oche_red_probability(&red, 0), 0);
    assert_int_equal(oche_red_probability(&red, 5000), 0);
    assert_true(oche_red_probability(&red, 5001) > 0);
    assert_int_equal(oche_red_probability(&red, 200001), ALWAYS);
    exact = (double)oche_red_probability(&red, 200000) / (double)ALWAYS;
    assert_float_equal(exact, 0.01, 1e-12);
    exact = (double)oche_red_probability(&red, 102500) / (double)ALWAYS;
    assert_float_equal(exact, 0.005, 1e-12);

    red = red_of(40000, 40000, 1); /* DCTCP: a step */
    assert_int_equal(oche_red_probability(&red, 40000), 0);
    assert_int_equal(oche_red_probability(&red, 40001), ALWAYS);
    red = red_of(0, 1, 1);
    assert_int_equal(oche_red_probability(&red, 1), ALWAYS);
    red = red_of(0, 1000, 1);
    assert_true(oche_red_probability(&red, 1000) > ALWAYS - 1000);
    red = red_of(1000, 2000, 0);
    assert_int_equal(oche_red_probability(&red, 2000), 0);
    assert_int_equal(oche_red_probability(&red, 2001), ALWAYS);
}

static unsigned marks_of(struct oche_red *red, uint64_t queue, unsigned packets)
{
    unsigned marks = 0;

    for (unsigned i = 0; i < packets; i++) {
        struct oche_packet packet = {.ecn = i % 2 ? OCHE_ECN_ECT0 : OCHE_ECN_ECT1};
        bool marked = oche_red_mark(red, &packet, queue);

        assert_int_equal(packet.ecn == OCHE_ECN_CE, marked);
        marks += marked;
    }
    return marks;
}

static void statistics(void **state)
{
    struct oche_red red = red_of(10000, 20000, 0.2);

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
    struct oche_red red = red_of(0, 0, 1);
    struct oche_packet not_capable = {.ecn = OCHE_ECN_NOT_ECT};
    struct oche_packet already = {.ecn = OCHE_ECN_CE};

    (void)state;
    assert_false(oche_red_mark(&red, &not_capable, 1000));
    assert_int_equal(not_capable.ecn, OCHE_ECN_NOT_ECT);
    assert_false(oche_red_mark(&red, &already, 1000)); /* marked elsewhere, not counted here */
    assert_int_equal(already.ecn, OCHE_ECN_CE);
}

/* Five packets of 1000 bytes, K = 2500: which of them leave marked, as bits, first lowest. */
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
    /* At dequeue: left behind are 4000, 3000, 2000, 1000, 0 bytes: the first two are marked. */
    assert_int_equal(pattern(OCHE_ECN_AT_DEQUEUE, true, &marks), 0x03);
    assert_int_equal(marks, 2);
    /* At enqueue: found are 0, 1000, 2000, 3000, 4000 bytes: the last two are marked. */
    assert_int_equal(pattern(OCHE_ECN_AT_ENQUEUE, true, &marks), 0x18);
    assert_int_equal(marks, 2);
    assert_int_equal(pattern(OCHE_ECN_AT_DEQUEUE, false, &marks), 0);
    assert_int_equal(marks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probability),
        cmocka_unit_test(statistics),
        cmocka_unit_test(only_capable),
        cmocka_unit_test(dequeue_and_enqueue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
