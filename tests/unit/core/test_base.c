/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between time, bytes and rates; sequence numbers; random streams. */
#include "tests/support/test.h"

#include "core/base.h"
#include "core/random.h"

static void test_time_of_bytes(void **state)
{
    (void)state;
    assert_int_equal(oche_time_of_bytes(1, 400 * OCHE_GBPS), 20);
    assert_int_equal(oche_time_of_bytes(1000, 100 * OCHE_GBPS), 80 * OCHE_NS);
    /* 8 bits at 3 bit/s: 2.66… s, rounded up. */
    assert_int_equal(oche_time_of_bytes(1, 3), UINT64_C(2666666666667));
    assert_int_equal(oche_time_of_bytes(0, 1), 0);
    /* Beyond 64 bits of bit-picoseconds. */
    assert_int_equal(oche_time_of_bytes(UINT64_C(1) << 40, 100 * OCHE_GBPS),
                     UINT64_C(87960930222080));
    assert_int_equal(oche_time_of_bytes(UINT64_MAX, 1), OCHE_NEVER);
}

static void test_bytes_in_time(void **state)
{
    (void)state;
    assert_int_equal(oche_bytes_in_time(80 * OCHE_NS, 100 * OCHE_GBPS), 1000);
    assert_int_equal(oche_bytes_in_time(1, 100 * OCHE_GBPS), 1);
    assert_int_equal(oche_bytes_in_time(0, 100 * OCHE_GBPS), 0);
    assert_int_equal(oche_rate_of(1000, 80 * OCHE_NS), 100 * OCHE_GBPS);
    assert_int_equal(oche_rate_of(1000, 0), 0);
}

static void test_time_add_stays_at_never(void **state)
{
    (void)state;
    assert_int_equal(oche_time_add(1, 2), 3);
    assert_int_equal(oche_time_add(OCHE_NEVER, 1), OCHE_NEVER);
    assert_int_equal(oche_time_add(OCHE_NEVER - 1, 5), OCHE_NEVER);
}

static void test_psn_circle(void **state)
{
    (void)state;
    assert_int_equal(oche_psn_add(0xffffff, 1), 0);
    assert_int_equal(oche_psn_diff(0, 0xffffff), 1);
    assert_int_equal(oche_psn_diff(0xffffff, 0), -1);
    assert_int_equal(oche_psn_diff(0x800000 - 1, 0), 0x7fffff);
    assert_int_equal(oche_psn_diff(0x800000, 0), -0x800000);
}

static void test_random_streams_are_named(void **state)
{
    struct oche_random a = oche_random_stream(1, "red", 7);
    struct oche_random again = oche_random_stream(1, "red", 7);
    struct oche_random purpose = oche_random_stream(1, "loss", 7);
    struct oche_random entity = oche_random_stream(1, "red", 8);
    struct oche_random seed = oche_random_stream(2, "red", 7);
    uint64_t first = oche_random_u64(&a);

    (void)state;
    assert_int_equal(first, oche_random_u64(&again));
    assert_int_not_equal(first, oche_random_u64(&purpose));
    assert_int_not_equal(first, oche_random_u64(&entity));
    assert_int_not_equal(first, oche_random_u64(&seed));
}

static void test_random_below_is_uniform(void **state)
{
    struct oche_random random = oche_random_stream(3, "uniform", 0);
    unsigned seen[10] = {0};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t draw = oche_random_below(&random, 10);

        assert_true(draw < 10);
        seen[draw]++;
    }
    /* Each is 10000 within 5 standard deviations (95 each). */
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(seen[i], 9525, 10475);
    for (unsigned i = 0; i < 1000; i++) {
        double unit = oche_random_unit(&random);

        assert_true(unit >= 0.0 && unit < 1.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_of_bytes),
        cmocka_unit_test(test_bytes_in_time),
        cmocka_unit_test(test_time_add_stays_at_never),
        cmocka_unit_test(test_psn_circle),
        cmocka_unit_test(test_random_streams_are_named),
        cmocka_unit_test(test_random_below_is_uniform),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
