/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link with faults: rates by counting, delays by their mean and spread, the order of packets, and
 * that one kind of fault changes nothing in the others. Counts may be five standard deviations off.
 */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"

#include "fabric/link.h"

#define PACKETS 200000
#define APART   OCHE_US

static struct oche_link_params defaults(void)
{
    struct oche_link_params params;

    oche_param_defaults(&oche_link_params, &params);
    params.seed = 7;
    return params;
}

static struct oche_link make(const struct oche_link_params *params)
{
    struct oche_link link;

    assert_null(oche_link_check(params));
    oche_link_init(&link, params, 3, 0);
    return link;
}

/* True if `count` of `all` is what the probability gives. */
static bool is_share(uint64_t count, uint64_t all, double probability)
{
    const double mean = (double)all * probability;

    return fabs((double)count - mean) <= 5 * sqrt(mean * (1 - probability)) + 1;
}

static void no_faults(void **state)
{
    const struct oche_link_params params = defaults();
    struct oche_link link = make(&params);
    struct oche_link_fate fate;

    (void)state;
    for (oche_time now = 0; now < 1000 * APART; now += APART) {
        oche_link_cross(&link, now, 1000, &fate);
        assert_int_equal(fate.copies, 1);
        assert_int_equal(fate.arrives[0], now);
        assert_false(fate.corrupt);
    }
    assert_int_equal(link.arrived, 1000);
}

static void losses(void **state)
{
    static const double rates[] = {1e-4, 0.001, 0.5, 1};
    struct oche_link_fate fate;

    (void)state;
    for (size_t r = 0; r < OCHE_COUNT_OF(rates); r++) {
        struct oche_link_params params = defaults();

        params.loss = rates[r];
        struct oche_link link = make(&params);
        for (unsigned i = 0; i < PACKETS; i++)
            oche_link_cross(&link, i * APART, 1000, &fate);
        assert_true(is_share(link.lost[OCHE_LINK_LOST], PACKETS, rates[r]));
        assert_int_equal(link.arrived + link.lost[OCHE_LINK_LOST], PACKETS);
    }
}

/* Bursts have the share and the mean length that were asked for. */
static void bursts(void **state)
{
    struct oche_link_params params = defaults();
    struct oche_link_fate fate;
    uint64_t begun = 0;
    bool before = false;

    (void)state;
    params.burst_loss = 0.02;
    params.burst_loss_length = 20;
    struct oche_link link = make(&params);
    for (unsigned i = 0; i < 10 * PACKETS; i++) {
        oche_link_cross(&link, i * APART, 1000, &fate);
        begun += fate.copies == 0 && !before;
        before = fate.copies == 0;
    }
    const double lost = (double)link.lost[OCHE_LINK_LOST_BURST];

    /* 2,000 bursts, whose lengths are geometric: 2.2 % a standard deviation of the mean */
    assert_true(fabs(lost / (double)begun - 20) < 20 * 0.12);
    assert_true(fabs(lost / (10.0 * PACKETS) - 0.02) < 0.02 * 0.17);
}

/* Returns mean and standard deviation of the delay, of packets that are far apart. */
static double delays(const struct oche_link_params *params, double *deviation, oche_time *least)
{
    struct oche_link link = make(params);
    struct oche_link_fate fate;
    double sum = 0, squares = 0;

    *least = OCHE_NEVER;
    for (unsigned i = 0; i < PACKETS; i++) {
        const oche_time left = i * OCHE_SEC / 1000;

        oche_link_cross(&link, left, 1000, &fate);
        const double delay = (double)(fate.arrives[0] - left);

        *least = oche_time_min(*least, fate.arrives[0] - left);
        sum += delay;
        squares += delay * delay;
    }
    *deviation = sqrt(squares / PACKETS - sum / PACKETS * (sum / PACKETS));
    return sum / PACKETS;
}

static void jitter(void **state)
{
    struct oche_link_params params = defaults();
    double deviation, mean;
    oche_time least;

    (void)state;
    params.delay = 50 * OCHE_US;
    assert_float_equal(delays(&params, &deviation, &least), 50e6, 0);
    assert_float_equal(deviation, 0, 1);
    params.jitter = 10 * OCHE_US;
    mean = delays(&params, &deviation, &least);
    assert_true(fabs(mean - 50e6) < 0.07e6 && fabs(deviation - 10e6 / sqrt(3)) < 0.05e6);
    assert_true(least >= 40 * OCHE_US);
    params.jitter_shape = OCHE_LINK_NORMAL;
    mean = delays(&params, &deviation, &least);
    assert_true(fabs(mean - 50e6) < 0.12e6 && fabs(deviation - 10e6) < 0.1e6);
    params.jitter_shape = OCHE_LINK_EXPONENTIAL;
    mean = delays(&params, &deviation, &least);
    assert_true(fabs(mean - 60e6) < 0.12e6 && fabs(deviation - 10e6) < 0.2e6);
    assert_true(least >= 50 * OCHE_US);
    params.delay = 0; /* never negative */
    params.jitter_shape = OCHE_LINK_NORMAL;
    mean = delays(&params, &deviation, &least);
    assert_true(mean > 3.8e6 && mean < 4.2e6); /* half a normal distribution: 0.4 sigma */
}

/* Packets that are close to each other keep their order. */
static void order(void **state)
{
    struct oche_link_params params = defaults();
    struct oche_link_fate fate;
    oche_time before = 0;

    (void)state;
    params.delay = 50 * OCHE_US;
    params.jitter = 30 * OCHE_US;
    struct oche_link link = make(&params);
    for (unsigned i = 0; i < 10000; i++) {
        oche_link_cross(&link, i * OCHE_NS, 1000, &fate);
        assert_true(fate.arrives[0] >= before);
        before = fate.arrives[0];
    }
    params.delay = 0; /* also if the delay falls */
    oche_link_change(&link, &params, 10 * OCHE_US);
    oche_link_cross(&link, 10 * OCHE_US, 1000, &fate);
    assert_true(fate.arrives[0] >= before);
}

static void reordering(void **state)
{
    struct oche_link_params params = defaults();
    struct oche_link_fate fate;
    unsigned overtaken = 0;

    (void)state;
    params.reorder = 0.01;
    params.reorder_by = 20 * OCHE_US;
    struct oche_link link = make(&params);
    for (unsigned i = 0; i < PACKETS; i++) {
        oche_link_cross(&link, i * APART, 1000, &fate);
        if (fate.arrives[0] == i * APART)
            continue;
        assert_int_equal(fate.arrives[0], i * APART + 20 * OCHE_US);
        overtaken++;
    }
    assert_true(is_share(overtaken, PACKETS, 0.01));
    assert_int_equal(overtaken, link.reordered);
}

/* Each path has its share, its delay, and its order. */
static void spraying(void **state)
{
    struct oche_link_params params = defaults();
    uint64_t on_path[4] = {0};
    struct oche_link_fate fate;

    (void)state;
    params.spray = 4;
    params.spray_by = 3 * OCHE_US;
    struct oche_link link = make(&params);
    for (unsigned i = 0; i < PACKETS; i++) {
        oche_link_cross(&link, i * APART, 1000, &fate);
        const oche_time late = fate.arrives[0] - i * APART;

        assert_int_equal(late % (3 * OCHE_US), 0);
        assert_in_range(late / (3 * OCHE_US), 0, 3);
        on_path[late / (3 * OCHE_US)]++;
    }
    for (unsigned path = 0; path < 4; path++)
        assert_true(is_share(on_path[path], PACKETS, 0.25));
}

static void duplicates_and_corruption(void **state)
{
    struct oche_link_params params = defaults();
    uint64_t twice = 0, corrupt = 0, bits[64] = {0};
    struct oche_link_fate fate;

    (void)state;
    params.duplicate = 0.02;
    params.corrupt = 0.05;
    struct oche_link link = make(&params);
    for (unsigned i = 0; i < PACKETS; i++) {
        oche_link_cross(&link, i * APART, 8, &fate);
        twice += fate.copies == 2;
        assert_true(fate.copies < 2 || fate.arrives[1] > fate.arrives[0]);
        if (!fate.corrupt)
            continue;
        corrupt++;
        assert_in_range(fate.bit, 0, 63);
        bits[fate.bit]++;
    }
    assert_true(is_share(twice, PACKETS, 0.02));
    assert_true(is_share(corrupt, PACKETS, 0.05));
    for (unsigned bit = 0; bit < 64; bit++)
        assert_true(is_share(bits[bit], corrupt, 1.0 / 64));
    /* per bit: 1 - (1 - 1e-5)^8000 */
    params.corrupt = 1e-5;
    params.corrupt_per = OCHE_LINK_PER_BIT;
    link = make(&params);
    for (unsigned i = 0; i < PACKETS; i++)
        oche_link_cross(&link, i * APART, 1000, &fate);
    assert_true(is_share(link.corrupted, PACKETS, 1 - exp(8000 * log1p(-1e-5))));
}

static void flapping(void **state)
{
    struct oche_link_params params = defaults();
    struct oche_link_fate fate;

    (void)state;
    params.flap_up = 2 * OCHE_MS;
    params.flap_down = OCHE_MS;
    struct oche_link link = make(&params);
    for (oche_time now = 0; now < 9 * OCHE_MS; now += 100 * OCHE_US) {
        oche_link_cross(&link, now, 1000, &fate);
        assert_int_equal(fate.copies > 0, now % (3 * OCHE_MS) < 2 * OCHE_MS);
    }
    assert_int_equal(link.lost[OCHE_LINK_LOST_DOWN], 30);
}

/* The same packets are lost whatever the other faults are. */
static void independent_streams(void **state)
{
    struct oche_link_params params = defaults();
    struct oche_link_fate plain, with;

    (void)state;
    params.loss = 0.1;
    struct oche_link alone = make(&params);
    params.delay = params.jitter = OCHE_US;
    params.reorder = params.duplicate = params.corrupt = 0.3;
    params.spray = 3;
    struct oche_link all = make(&params);
    for (unsigned i = 0; i < 10000; i++) {
        oche_link_cross(&alone, i * APART, 1000, &plain);
        oche_link_cross(&all, i * APART, 1000, &with);
        assert_int_equal(plain.copies > 0, with.copies > 0);
    }
}

static void combinations(void **state)
{
    struct oche_link_params params = defaults();

    (void)state;
    assert_null(oche_link_check(&params));
    params.flap_up = OCHE_SEC;
    assert_non_null(oche_link_check(&params));
    params.flap_down = OCHE_SEC;
    assert_null(oche_link_check(&params));
    params.ecn_min_bytes = 1000;
    assert_non_null(oche_link_check(&params)); /* no rate */
    params.rate_bps = OCHE_GBPS;
    assert_null(oche_link_check(&params));
    params.ecn_max_bytes = 999;
    assert_non_null(oche_link_check(&params));
    params.ecn_min_bytes = OCHE_NEVER;
    assert_non_null(oche_link_check(&params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_faults),    cmocka_unit_test(losses),
        cmocka_unit_test(bursts),       cmocka_unit_test(jitter),
        cmocka_unit_test(order),        cmocka_unit_test(reordering),
        cmocka_unit_test(spraying),     cmocka_unit_test(duplicates_and_corruption),
        cmocka_unit_test(flapping),     cmocka_unit_test(independent_streams),
        cmocka_unit_test(combinations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
