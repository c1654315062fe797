/* SPDX-License-Identifier: Apache-2.0 */
/* Threads run together where that is quicker. The other way is not tried too often. */
#include "tests/support/test.h"

#include "sim/network/pace.h"

static uint64_t clock_now;

static uint64_t clock_ns(void)
{
    return clock_now;
}

struct run {
    uint64_t together, alone; /* windows */
};

/*
 * Runs windows of so many events for `ns`. A window takes the first or the second time. After a
 * change the next three are as before, because threads come and go.
 */
static struct run run_for(struct oche_pace *pace, uint64_t ns, uint64_t events, uint64_t alone_ns,
                          uint64_t together_ns)
{
    const uint64_t until = clock_now + ns;
    struct run run = {0};
    bool together = pace->together;
    unsigned late = 0;

    while (clock_now < until) {
        if (together != pace->together && late++ == 3) {
            together = pace->together;
            late = 0;
        }
        clock_now += together ? together_ns : alone_ns;
        run.together += together;
        run.alone += !together;
        oche_pace_count(pace, events, together, clock_ns);
    }
    return run;
}

#define SECOND UINT64_C(1000000000)

static void test_the_quicker_way(void **state)
{
    struct oche_pace pace = {.always = false};
    struct run run;

    (void)state;
    clock_now = SECOND;
    run = run_for(&pace, SECOND, 400, 30000, 20000);
    assert_true(run.together > 40000 && run.alone > 0);
    /* Now it is six times as slow, as if other programs ran. */
    run_for(&pace, SECOND / 2, 400, 30000, 120000);
    assert_false(pace.together);
    run = run_for(&pace, SECOND, 400, 30000, 120000);
    /* Trials cost less than 4 % of the time. */
    assert_true(run.alone > 32000 && run.together > 0);
    run = run_for(&pace, SECOND, 400, 30000, 20000);
    assert_true(run.together > 35000);
}

static void test_by_number(void **state)
{
    struct oche_pace pace = {.always = false};
    struct run run;

    (void)state;
    clock_now = SECOND;
    run = run_for(&pace, SECOND / 10, OCHE_PACE_MANY, 1600000, 900000);
    assert_in_range(run.alone, 1, 5);
    assert_true(pace.together && pace.met);
    run = run_for(&pace, SECOND / 100, OCHE_PACE_FEW - 1, 1000, 900);
    assert_false(pace.together);
    assert_true(run.together < 300);
    /* Not even a trial. */
    run = run_for(&pace, SECOND, OCHE_PACE_FEW - 1, 1000, 900);
    assert_int_equal(run.together, 0);
}

static void test_always(void **state)
{
    struct oche_pace pace = {.always = true};
    struct run run;

    (void)state;
    clock_now = SECOND;
    oche_pace_count(&pace, 0, false, clock_ns);
    assert_true(pace.together);
    run = run_for(&pace, SECOND / 100, 1, 1000, 90000);
    assert_int_equal(run.alone, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_quicker_way),
        cmocka_unit_test(test_by_number),
        cmocka_unit_test(test_always),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
