/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base.h"
#include "sim/endpoint/rogue/read_limit.h"
#include "tests/support/test.h"

#define LEAST OCHE_KBPS
#define MOST  (UINT64_C(8000) * OCHE_GBPS) /* the fastest link of a scenario */

static void assert_round_trip(uint64_t bps)
{
    uint64_t back = oche_read_limit_bps(oche_read_limit_imm(bps));

    if (back < bps || back - bps > bps >> 26)
        fail_msg("%llu bit/s become %llu", (unsigned long long)bps, (unsigned long long)back);
}

/*
 * Every power of two and its neighbours, and steps of a thousandth: never below the rate, never
 * unlimited.
 */
static void test_range(void **state)
{
    (void)state;
    for (uint64_t bps = LEAST; bps <= MOST; bps += bps / 1000)
        assert_round_trip(bps);
    for (uint64_t bps = 1; bps <= MOST; bps *= 2)
        for (uint64_t near = bps - 1; near <= bps + 1; near++)
            if (near > 0)
                assert_round_trip(near);
    assert_round_trip(MOST);
}

/* A lower rate never gives a higher limit. */
static void test_order(void **state)
{
    uint64_t before = 0;

    (void)state;
    for (uint64_t bps = 1; bps <= MOST; bps += bps / 7 + 1) {
        uint64_t limit = oche_read_limit_bps(oche_read_limit_imm(bps));
        assert_true(limit > before);
        before = limit;
    }
}

static void test_exact(void **state)
{
    static const uint64_t bps[] = {
        1, LEAST, 999999, 10 * OCHE_MBPS, (1 << 27) - 1, UINT64_C(1) << 57};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(bps); i++)
        assert_int_equal(oche_read_limit_bps(oche_read_limit_imm(bps[i])), bps[i]);
    assert_int_equal(oche_read_limit_imm(UINT64_MAX), 0);
    assert_int_equal(oche_read_limit_bps(0), 0);
    assert_int_equal(oche_read_limit_bps(UINT32_MAX), UINT64_C(0x7ffffff) << 31); /* hostile */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
