/* SPDX-License-Identifier: Apache-2.0 */
/* Syndromes, RNR timers and credits against rocev2.md#aeth. */
#include "core/wire/aeth.h"
#include "tests/support/test.h"

static void rnr_waits(void **state)
{
    /* In ms, as rocev2.md#rnr-timers prints them. */
    static const double ms[32] = {655.36, .01,   .02,   .03,    .04,    .06,    .08,    .12,
                                  .16,    .24,   .32,   .48,    .64,    .96,    1.28,   1.92,
                                  2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                                  40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};

    (void)state;
    for (uint8_t code = 0; code < 32; code++)
        assert_int_equal(oche_rnr_wait(code), (uint64_t)(ms[code] * 100 + 0.5) * 10 * OCHE_US);
    assert_int_equal(oche_rnr_wait(0x20 | 5), oche_rnr_wait(5));
}

static void rnr_codes(void **state)
{
    (void)state;
    for (uint8_t code = 1; code < 32; code++) {
        assert_int_equal(oche_rnr_code(oche_rnr_wait(code)), code);
        assert_int_equal(oche_rnr_code(oche_rnr_wait(code) + 1), code == 31 ? 0 : code + 1);
    }
    assert_int_equal(oche_rnr_code(0), 1);
    assert_int_equal(oche_rnr_code(655360 * OCHE_US), 0);
    assert_int_equal(oche_rnr_code(OCHE_NEVER), 0);
}

static void credits(void **state)
{
    (void)state;
    assert_int_equal(oche_credits(0), 0);
    assert_int_equal(oche_credits(5), 6);
    assert_int_equal(oche_credits(13), 96);
    assert_int_equal(oche_credits(30), 32768);
    assert_int_equal(oche_credits(31), OCHE_CREDITS_UNLIMITED);
    for (uint8_t code = 0; code < 32; code++)
        assert_int_equal(oche_credit_code(oche_credits(code)), code);
    assert_int_equal(oche_credit_code(5), 4);
    assert_int_equal(oche_credit_code(127), 13);
    assert_int_equal(oche_credit_code(40000), 30);
}

static void syndromes(void **state)
{
    (void)state;
    assert_string_equal(oche_syndrome_name(0x00), "ACK");
    assert_string_equal(oche_syndrome_name(OCHE_SYNDROME_ACK), "ACK");
    assert_string_equal(oche_syndrome_name(OCHE_SYNDROME_RNR + 31), "RNR NAK");
    assert_string_equal(oche_syndrome_name(0x40), "reserved syndrome");
    assert_string_equal(oche_syndrome_name(0x60), "NAK PSN sequence error");
    assert_string_equal(oche_syndrome_name(0x61), "NAK invalid request");
    assert_string_equal(oche_syndrome_name(0x62), "NAK remote access error");
    assert_string_equal(oche_syndrome_name(0x63), "NAK remote operational error");
    assert_string_equal(oche_syndrome_name(0x64), "NAK invalid RD request");
    assert_string_equal(oche_syndrome_name(0x65), "NAK of reserved code");
    assert_string_equal(oche_syndrome_name(0xe0), "reserved syndrome");
    assert_int_equal(oche_aeth_kind(0xff), OCHE_AETH_RESERVED);
    assert_int_equal(oche_aeth_kind(0x3f), OCHE_AETH_RNR);
    assert_int_equal(oche_aeth_code(0x7f), 31);
    assert_int_equal(oche_aeth(OCHE_SYNDROME_ACK, 0x1000002), 0x1f000002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rnr_waits),
        cmocka_unit_test(rnr_codes),
        cmocka_unit_test(credits),
        cmocka_unit_test(syndromes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
