/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's adaptive retransmission, step by step (docs/papers/nics.md#adaptive). */
#include "tests/support/test.h"

#include "core/nic/habits.h"

#define ASKED   (UINT64_C(4096) * OCHE_NS << 20)
#define WAIT(e) ((oche_time)(4 * OCHE_US) << (e))

/* Two ranges: exponents 3 to 5, each used twice, and 8 to 9, each used once. */
static struct oche_timeouts two_ranges(void)
{
    return (struct oche_timeouts){.kind = OCHE_TIMEOUTS_PROFILE,
                                  .profile = {.time_base = 4 * OCHE_US,
                                              .timeout_init_low_bound = 4,
                                              .timeout_init_range_size = 1,
                                              .range_num = 2,
                                              .retx_total_timeout = 12,
                                              .range = {{.low_bound = 3,
                                                         .size = 2,
                                                         .retry_num = 2,
                                                         .dec_mode = OCHE_DECREASE_BY_2,
                                                         .prev_range_index = 0},
                                                        {.low_bound = 8,
                                                         .size = 1,
                                                         .retry_num = 1,
                                                         .dec_mode = OCHE_DECREASE_BY_4,
                                                         .prev_range_index = 0}}}};
}

static struct oche_timeouts_run started(const struct oche_timeouts *how, uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "test", 0);
    struct oche_timeouts_run run;

    oche_timeouts_start(how, &run, &random);
    return run;
}

static void expect(const struct oche_timeouts *how, struct oche_timeouts_run *run,
                   const unsigned *exponents, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(oche_timeouts_wait(how, run, ASKED), WAIT(exponents[i]));
        assert_int_equal(oche_timeouts_expired(how, run, ASKED, 7), OCHE_TIMEOUT_ADAPTIVE);
    }
}

/* The first timeout is used once, then each exponent retry_num times, range by range. */
static void test_grows(void **state)
{
    static const unsigned exponents[] = {4, 4, 4, 5, 5, 8, 9, 9, 9};
    struct oche_timeouts how = two_ranges();
    struct oche_timeouts_run run = started(&how, 1);

    (void)state;
    expect(&how, &run, exponents, OCHE_COUNT_OF(exponents));
}

/* A first timeout that lies in no range is followed by the lowest of the range to start with. */
static void test_starts_elsewhere(void **state)
{
    static const unsigned exponents[] = {7, 8, 9, 9};
    struct oche_timeouts how = two_ranges();

    (void)state;
    how.profile.timeout_init_low_bound = 7;
    how.profile.start_range_index = 1;
    struct oche_timeouts_run run = started(&how, 1);

    expect(&how, &run, exponents, OCHE_COUNT_OF(exponents));
}

/* The first timeouts of queue pairs are spread over timeout_init_range_size exponents. */
static void test_first_is_drawn(void **state)
{
    struct oche_timeouts how = two_ranges();
    uint32_t seen[16] = {0};

    (void)state;
    how.profile.timeout_init_low_bound = 2;
    how.profile.timeout_init_range_size = 4;
    for (uint64_t seed = 0; seed < 200; seed++)
        seen[started(&how, seed).exponent]++;
    for (unsigned e = 0; e < 16; e++)
        assert_int_equal(seen[e] > 20, e >= 2 && e <= 5);
}

/* No timeout is longer than the queue pair's own. */
static void test_cap(void **state)
{
    struct oche_timeouts how = two_ranges();
    struct oche_timeouts_run run = started(&how, 1);

    (void)state;
    assert_int_equal(oche_timeouts_wait(&how, &run, 30 * OCHE_US), 30 * OCHE_US);
    assert_int_equal(oche_timeouts_wait(&how, &run, OCHE_NEVER), OCHE_NEVER);
}

/* Progress divides by 2 or 4, or goes to the bound; from the bound it leads to another range. */
static void test_decreases(void **state)
{
    struct oche_timeouts how = two_ranges();
    struct oche_timeouts_run run = started(&how, 1);

    (void)state;
    for (int i = 0; i < 7; i++)
        (void)oche_timeouts_expired(&how, &run, ASKED, 7);
    assert_int_equal(run.exponent, 9);
    oche_timeouts_progress(&how, &run); /* 9 - 2 is below the bound, 8 */
    assert_int_equal(run.exponent, 8);
    (void)oche_timeouts_expired(&how, &run, ASKED, 7);
    assert_int_equal(run.exponent, 9);
    oche_timeouts_progress(&how, &run);
    run.expired = 1;
    oche_timeouts_progress(&how, &run); /* at the bound: the range before, its largest */
    assert_int_equal(run.range, 0);
    assert_int_equal(run.exponent, 5);
    run.expired = 1;
    oche_timeouts_progress(&how, &run);
    assert_int_equal(run.exponent, 4);
    oche_timeouts_progress(&how, &run); /* no timer has expired since: it stays */
    assert_int_equal(run.exponent, 4);
    how.profile.range[0].dec_mode = OCHE_DECREASE_TO_LOW;
    run.exponent = 5;
    run.expired = 1;
    oche_timeouts_progress(&how, &run);
    assert_int_equal(run.exponent, 3);
}

static oche_time until_given_up(const struct oche_timeouts *how, oche_time asked, uint32_t retries)
{
    struct oche_timeouts_run run = started(how, 1);
    oche_time now = 0;

    for (int i = 0; i < 1000; i++) {
        assert_true(oche_timeouts_wait(how, &run, asked) <=
                    oche_timeouts_longest(how, asked, retries));
        now += oche_timeouts_wait(how, &run, asked);
        if (oche_timeouts_expired(how, &run, asked, retries) == OCHE_TIMEOUT_ADAPTIVE_GIVES_UP)
            return now;
    }
    fail_msg("it never gives up");
    return 0;
}

/* The total: by an exponent, or the queue pair's timeout times its retry count. */
static void test_total(void **state)
{
    struct oche_timeouts how = two_ranges();
    const oche_time last = WAIT(9);

    (void)state;
    assert_in_range(until_given_up(&how, ASKED, 7), WAIT(12), WAIT(12) + last);
    how.profile.qp_total_timeout = true;
    assert_in_range(until_given_up(&how, 10 * OCHE_MS, 7), 70 * OCHE_MS, 70 * OCHE_MS + last);
    assert_in_range(until_given_up(&how, 10 * OCHE_MS, 0), 10 * OCHE_MS, 10 * OCHE_MS + last);
}

/* The longest wait, and the most timeouts until a request fails, by the profile and as asked. */
static void test_longest(void **state)
{
    struct oche_timeouts how = two_ranges();
    uint64_t count = 0;

    (void)state;
    how.profile.range[0] = (struct oche_adaptive_range){.low_bound = 3, .size = 1, .retry_num = 2};
    how.profile.range[1] = (struct oche_adaptive_range){.low_bound = 8, .size = 2, .retry_num = 1};
    how.profile.timeout_init_low_bound = 5;
    how.profile.timeout_init_range_size = 2;
    assert_int_equal(oche_timeouts_longest(&how, ASKED, 7), WAIT(10));
    assert_int_equal(oche_timeouts_longest(&how, WAIT(4), 7), WAIT(4));
    assert_int_equal(oche_timeouts_longest(&how, OCHE_NEVER, 7), OCHE_NEVER);
    how.profile.timeout_init_range_size = 7; /* 5 to 11 */
    assert_int_equal(oche_timeouts_longest(&how, ASKED, 7), WAIT(11));
    for (oche_time asked = WAIT(0); asked <= ASKED; asked *= 2) {
        struct oche_timeouts_run run = started(&how, 1);

        for (count = 1; oche_timeouts_expired(&how, &run, asked, 0) == OCHE_TIMEOUT_ADAPTIVE;)
            count++;
        assert_in_range(count, 2, oche_timeouts_most(&how, asked));
    }
    assert_int_equal(oche_timeouts_most(&how, OCHE_NEVER), 0);
    how.profile.qp_total_timeout = true;
    assert_int_equal(oche_timeouts_most(&how, ASKED), 0);
}

/* Values at the ends of their ranges: no time overflows, and no range is read that is not there. */
static void test_extremes(void **state)
{
    struct oche_timeouts how = two_ranges();

    (void)state;
    how.profile.time_base = OCHE_SEC;
    how.profile.timeout_init_low_bound = how.profile.timeout_init_range_size = 31;
    how.profile.retx_total_timeout = 31;
    how.profile.range_num = 0;
    struct oche_timeouts_run run = started(&how, 3);

    for (int i = 0; i < 5; i++) {
        assert_int_equal(oche_timeouts_wait(&how, &run, ASKED), ASKED);
        (void)oche_timeouts_expired(&how, &run, ASKED, 7);
    }
    oche_timeouts_progress(&how, &run);
    assert_true(oche_timeouts_wait(&how, &run, OCHE_NEVER - 1) <= OCHE_NEVER - 1);
}

static void test_check(void **state)
{
    struct oche_nic_habits habits;

    (void)state;
    oche_param_defaults(&oche_nic_habits_table, &habits);
    assert_null(oche_nic_habits_check(&habits));
    habits.timeouts = two_ranges();
    assert_null(oche_nic_habits_check(&habits));
    habits.timeouts.profile.range[1].low_bound = 5;
    assert_non_null(oche_nic_habits_check(&habits));
    habits.timeouts = two_ranges();
    habits.timeouts.profile.start_range_index = 2;
    assert_non_null(oche_nic_habits_check(&habits));
    habits.timeouts = two_ranges();
    habits.timeouts.profile.range[1].prev_range_index = 3;
    assert_non_null(oche_nic_habits_check(&habits));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),          cmocka_unit_test(test_starts_elsewhere),
        cmocka_unit_test(test_first_is_drawn), cmocka_unit_test(test_cap),
        cmocka_unit_test(test_decreases),      cmocka_unit_test(test_total),
        cmocka_unit_test(test_extremes),       cmocka_unit_test(test_longest),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
