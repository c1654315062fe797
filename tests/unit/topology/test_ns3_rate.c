/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/topology/ns3_rate.h"
#include "tests/support/test.h"

static void test_reads(void **state)
{
    static const struct {
        const char *text;
        uint64_t bps;
    } rates[] = {
        {"100Gbps", UINT64_C(100000000000)},
        {"50Mb/s", 50000000},
        {"5kb/s", 5000},
        {"5Kbps", 5000},
        {"12.5GB/s", UINT64_C(100000000000)},
        {"1Kib/s", 1024},
        {"2MiBps", 2 * 8 * UINT64_C(1048576)},
        {"25000000000.0", UINT64_C(25000000000)},
        {"1Tbps", UINT64_C(1000000000000)},
        {"8bps", 8},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rates); i++) {
        uint64_t bps = 0;

        assert_true(oche_ns3_rate(rates[i].text, &bps));
        assert_int_equal(bps, rates[i].bps);
    }
}

static void test_refuses(void **state)
{
    static const char *const texts[] = {
        "",     "Gbps",   "-1Gbps",      "1Pbps",
        "1Gb",  "1Gbp",   "1Gi/s",       "1e9",
        "1..0", "1Gbps ", "9999999Tbps", "00000000000000000000000000000000000000000000001bps"};
    uint64_t bps;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++)
        assert_false(oche_ns3_rate(texts[i], &bps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
