/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeouts of a ConnectX-6 against what was measured on one (docs/papers/nics.md#connectx-6):
 * when they expire until the peer is given up, how many there are of which kind, and how often a
 * packet leaves.
 */
#include "tests/support/test.h"

#include <math.h>

#include "core/nic/timeouts.h"

#define NOMINAL(t) (UINT64_C(4096) * OCHE_NS << (t))
#define ENOUGH     200

/* One request that nobody answers. */
struct outcome {
    uint32_t adaptive, regular, transmissions;
    double detected_ms, last_adaptive_ms, first_regular_ms, interval_ms;
};

static double ms(oche_time time)
{
    return (double)time / (double)OCHE_MS;
}

static struct outcome run_with(const struct oche_timeouts *how, unsigned t, uint32_t retries,
                               uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "test", 0);
    struct oche_timeouts_run run;
    struct outcome outcome = {.transmissions = 1};
    oche_time now = 0;

    oche_timeouts_start(how, &run, &random);
    for (uint32_t i = 0; i < ENOUGH; i++) {
        const oche_time wait = oche_timeouts_wait(how, &run, NOMINAL(t));
        const enum oche_timeout means = oche_timeouts_expired(how, &run, NOMINAL(t), retries);
        const bool adaptive =
            means == OCHE_TIMEOUT_ADAPTIVE || means == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP;

        now += wait;
        outcome.adaptive += adaptive;
        outcome.regular += !adaptive;
        if (adaptive)
            outcome.last_adaptive_ms = ms(now);
        else if (outcome.first_regular_ms == 0)
            outcome.first_regular_ms = ms(now);
        else
            outcome.interval_ms = ms(wait);
        outcome.transmissions += means == OCHE_TIMEOUT_ADAPTIVE || means == OCHE_TIMEOUT_REPEATS;
        outcome.detected_ms = ms(now);
        if (means == OCHE_TIMEOUT_GIVES_UP || means == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP)
            return outcome;
    }
    fail_msg("it never gives up");
    return outcome;
}

static const struct oche_timeouts by_default = {.kind = OCHE_TIMEOUTS_CONNECTX6};
static const struct oche_timeouts no_floor = {.kind = OCHE_TIMEOUTS_CONNECTX6,
                                              .min_ack_timeout_limit_disabled = true};

#define NEAR(what, value, expected)                                                                \
    do {                                                                                           \
        if (fabs((value) - (expected)) > 0.001 * (expected) + 0.7)                                 \
            fail_msg("T %u, R %u: %s is %.1f, not %.1f", row->t, row->r, what, (double)(value),    \
                     (double)(expected));                                                          \
    } while (0)

/* Table A1: medians, in milliseconds, and the range of counts. */
static void test_by_timeout(void **state)
{
    static const struct {
        unsigned t, r;
        double detected, last_adaptive, first_regular, interval;
        uint32_t adaptive[2], transmissions[2];
    } rows[] = {
        {14, 7, 3661.8, 440.4, 977.4, 536.9, {4, 7}, {10, 13}},
        {16, 7, 3661.8, 440.5, 977.2, 536.9, {4, 7}, {10, 13}},
        {17, 7, 7151.7, 977.5, 1782.7, 1073.8, {5, 8}, {11, 14}},
        {18, 7, 14667.8, 1782.5, 3929.9, 2147.6, {6, 9}, {12, 15}},
        {19, 7, 29700.8, 3930.3, 8225.2, 4295.1, {7, 10}, {13, 16}},
        {20, 7, 59766.3, 8225.0, 16815.4, 8590.2, {8, 11}, {14, 17}},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            const __typeof__(rows[0]) *row = &rows[i];
            const struct outcome outcome = run_with(&by_default, row->t, row->r, seed);

            NEAR("detected", outcome.detected_ms, row->detected);
            NEAR("last adaptive", outcome.last_adaptive_ms, row->last_adaptive);
            NEAR("first regular", outcome.first_regular_ms, row->first_regular);
            NEAR("interval", outcome.interval_ms, row->interval);
            assert_in_range(outcome.adaptive, row->adaptive[0], row->adaptive[1]);
            assert_in_range(outcome.transmissions, row->transmissions[0], row->transmissions[1]);
            assert_int_equal(outcome.regular, row->r - 1);
        }
}

/* Table A2: T is 14; medians in milliseconds. */
static void test_by_retries(void **state)
{
    static const struct {
        unsigned t, r;
        double detected;
    } rows[] = {{14, 1, 440.6},  {14, 2, 977.6},  {14, 3, 1514.3}, {14, 4, 2051.4},
                {14, 5, 2588.2}, {14, 6, 3124.8}, {14, 7, 3661.8}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        for (uint64_t seed = 0; seed < 40; seed++) {
            const __typeof__(rows[0]) *row = &rows[i];
            const struct outcome outcome = run_with(&by_default, row->t, row->r, seed);

            NEAR("detected", outcome.detected_ms, row->detected);
            assert_int_equal(outcome.regular, row->r - 1);
            assert_int_equal(outcome.transmissions, 1 + outcome.adaptive + row->r - 2);
        }
}

/* With a retry_cnt of 0 a packet leaves 8 times, and the number of regular timeouts follows. */
static void test_no_retries(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const struct outcome outcome = run_with(&by_default, 14, 0, seed);
        const struct {
            unsigned t, r;
        } at = {14, 0}, *row = &at;

        assert_int_equal(outcome.transmissions, 8);
        assert_int_equal(outcome.adaptive + outcome.regular, 8);
        NEAR("detected", outcome.detected_ms, 440.4 + 536.9 * outcome.regular);
    }
}

/* Table B, min_ack_timeout_limit_disabled: medians in milliseconds. */
static void test_no_floor(void **state)
{
    static const struct {
        unsigned t, r;
        double detected, within;
    } rows[] = {
        {8, 0, 2.24, 0.5},    {8, 1, 3.11, 0.5},    {8, 3, 5.43, 0.5},    {8, 7, 9.49, 0.5},
        {10, 0, 8.38, 0.1},   {10, 3, 20.97, 0.1},  {10, 7, 37.91, 0.1},  {12, 0, 29.56, 0.1},
        {12, 3, 79.94, 0.2},  {12, 7, 147.04, 0.2}, {14, 0, 105.07, 0.5}, {14, 3, 306.29, 0.5},
        {14, 7, 574.90, 0.5}, {16, 7, 2319.72, 1},  {17, 7, 4735.57, 1},  {18, 7, 9219.88, 1},
        {20, 7, 37939.02, 3},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        const __typeof__(rows[0]) *row = &rows[i];
        const struct outcome outcome = run_with(&no_floor, row->t, row->r, 1);

        if (fabs(outcome.detected_ms - row->detected) > row->within)
            fail_msg("T %u, R %u: detected after %.2f, not %.2f ms", row->t, row->r,
                     outcome.detected_ms, row->detected);
        assert_int_equal(outcome.transmissions, row->r + 1);
        assert_int_equal(outcome.adaptive, 0);
        assert_int_equal(outcome.regular, row->r + 2); /* the counter, local_ack_timeout_err */
    }
}

/* The first adaptive retransmission is at one of four times; queue pairs differ. */
static void test_first(void **state)
{
    static const double times[4] = {12.5, 20.9, 37.6, 71.4};
    uint32_t seen[4] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct oche_random random = oche_random_stream(seed, "test", 0);
        struct oche_timeouts_run run;
        double first;

        oche_timeouts_start(&by_default, &run, &random);
        first = ms(oche_timeouts_wait(&by_default, &run, NOMINAL(14)));
        for (int i = 0; i < 4; i++)
            seen[i] += fabs(first - times[i]) < 0.4;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(seen[i], 10, 50);
    assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3], 100);
}

/* After progress it begins anew, as a queue pair that has just been connected. */
static void test_progress(void **state)
{
    struct oche_random random = oche_random_stream(1, "test", 0);
    struct oche_timeouts_run run, before;

    (void)state;
    oche_timeouts_start(&by_default, &run, &random);
    before = run;
    for (int i = 0; i < 9; i++)
        (void)oche_timeouts_expired(&by_default, &run, NOMINAL(14), 100);
    oche_timeouts_progress(&by_default, &run);
    assert_int_equal(oche_timeouts_wait(&by_default, &run, NOMINAL(14)),
                     oche_timeouts_wait(&by_default, &before, NOMINAL(14)));
    assert_int_equal(run.expired + run.regular, 0);
}

/* Timeouts that were not asked for never expire; the largest T gives no overflow. */
static void test_extremes(void **state)
{
    struct oche_random random = oche_random_stream(1, "test", 0);
    struct oche_timeouts_run run;

    (void)state;
    oche_timeouts_start(&by_default, &run, &random);
    assert_int_equal(oche_timeouts_wait(&by_default, &run, OCHE_NEVER), OCHE_NEVER);
    assert_int_equal(oche_timeouts_wait(&no_floor, &run, OCHE_NEVER), OCHE_NEVER);
    for (int i = 0; i < 30; i++)
        (void)oche_timeouts_expired(&by_default, &run, NOMINAL(31), 1000);
    assert_int_equal(oche_timeouts_wait(&by_default, &run, NOMINAL(31)), 2 * NOMINAL(31));
}

/* Returns the longest wait of a queue pair until its request fails. */
static oche_time longest_seen(const struct oche_timeouts *how, unsigned t, uint32_t retries,
                              uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "test", 0);
    struct oche_timeouts_run run;
    enum oche_timeout means;
    oche_time longest = 0;

    oche_timeouts_start(how, &run, &random);
    do {
        longest = oche_time_max(longest, oche_timeouts_wait(how, &run, NOMINAL(t)));
        means = oche_timeouts_expired(how, &run, NOMINAL(t), retries);
    } while (means != OCHE_TIMEOUT_GIVES_UP && means != OCHE_TIMEOUT_ADAPTIVE_GIVES_UP);
    return longest;
}

/* The longest wait is the longest one of all queue pairs, for every timeout and retry count. */
static void test_longest(void **state)
{
    static const struct oche_timeouts as_asked = {.kind = OCHE_TIMEOUTS_AS_ASKED},
                                      doubling = {.kind = OCHE_TIMEOUTS_DOUBLING};
    static const struct oche_timeouts *const all[] = {&as_asked, &doubling, &by_default, &no_floor};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++)
        for (unsigned t = 1; t <= 31; t++)
            for (uint32_t retries = 0; retries <= 20; retries++) {
                oche_time seen = 0;

                for (uint64_t seed = 0; seed < 40; seed++)
                    seen = oche_time_max(seen, longest_seen(all[i], t, retries, seed));
                assert_int_equal(oche_timeouts_longest(all[i], NOMINAL(t), retries), seen);
                assert_int_equal(oche_timeouts_most(all[i], NOMINAL(t)), 0);
            }
    assert_int_equal(oche_timeouts_longest(&as_asked, OCHE_NEVER, 7), OCHE_NEVER);
    assert_int_equal(oche_timeouts_longest(&by_default, OCHE_NEVER, 7), OCHE_NEVER);
    assert_int_equal(oche_timeouts_longest(&no_floor, OCHE_NEVER, 7), OCHE_NEVER);
    assert_int_equal(oche_timeouts_longest(&doubling, OCHE_NEVER, 1), 4 * OCHE_MS);
    assert_int_equal(oche_timeouts_longest(&doubling, OCHE_NEVER, UINT32_MAX), 16 * OCHE_MS);
    assert_int_equal(oche_timeouts_longest(&by_default, NOMINAL(1), UINT32_MAX), 2 * NOMINAL(16));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_timeout), cmocka_unit_test(test_by_retries),
        cmocka_unit_test(test_no_retries), cmocka_unit_test(test_no_floor),
        cmocka_unit_test(test_first),      cmocka_unit_test(test_progress),
        cmocka_unit_test(test_extremes),   cmocka_unit_test(test_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
