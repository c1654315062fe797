/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with the same trace are found, whatever their order. */
#include "lab/measures/same_runs.h"

#include "tests/support/test.h"

static void test_first_of_each(void **state)
{
    const uint64_t hashes[] = {7, 5, 7, 9, 5, 7};
    const size_t expected[] = {0, 1, 0, 3, 1, 0};
    size_t first[OCHE_COUNT_OF(hashes)];

    (void)state;
    assert_int_equal(oche_same_runs(hashes, OCHE_COUNT_OF(hashes), first), 3);
    for (size_t i = 0; i < OCHE_COUNT_OF(hashes); i++)
        assert_int_equal(first[i], expected[i]);
    assert_int_equal(oche_same_runs(hashes, 0, first), 0);
}

static void test_runs_without_a_trace(void **state)
{
    const uint64_t hashes[] = {0, 0, 4};
    size_t first[OCHE_COUNT_OF(hashes)];

    (void)state;
    assert_int_equal(oche_same_runs(hashes, OCHE_COUNT_OF(hashes), first), 0);
    for (size_t i = 0; i < OCHE_COUNT_OF(hashes); i++)
        assert_int_equal(first[i], i);
}

static void test_verdicts(void **state)
{
    (void)state;
    assert_string_equal(oche_same_runs_verdict("switch.kmin"), "made no difference here");
    assert_string_equal(oche_same_runs_verdict("measure.interval"),
                        "changes only what is measured");
    assert_string_equal(oche_same_runs_verdict("warmup"), "changes only what is measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_of_each),
        cmocka_unit_test(test_runs_without_a_trace),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
