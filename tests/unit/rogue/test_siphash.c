/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the authors' table and of OpenSSL: key 00 01 … 0f, bytes 00 01 …, 0 to 32 of them. */
#include "rogue/verbs/siphash.h"
#include "tests/support/test.h"

static void hashes_are_those_of_others(void **state)
{
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    const struct {
        size_t count;
        uint64_t hash;
    } rows[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},
                {8, UINT64_C(0x93f5f5799a932462)},
                {24, UINT64_C(0xb8ad50c6f649af94)},
                {32, UINT64_C(0x7127512f72f27cce)}};
    uint8_t bytes[32];

    (void)state;
    for (uint8_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_true(rv_siphash(key, bytes, rows[i].count) == rows[i].hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_are_those_of_others)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
