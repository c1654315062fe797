/* SPDX-License-Identifier: Apache-2.0 */
/* The device's choice of CRC: isa-l if it is installed (as here), with the same results as zlib. */
#include <string.h>

#include "core/random.h"
#include "device/path/crc.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

static void choice(void **state)
{
    const char *name = "";
    oche_crc32 *crc32 = oche_crc_choose(&name);

    (void)state;
    assert_string_equal(name, "isa-l");
    assert_true(crc32 != oche_crc_zlib);
    assert_true(oche_crc_choose(NULL) == crc32);
    assert_int_equal(crc32(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
    assert_int_equal(oche_crc_zlib(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
}

static void equal(void **state)
{
    struct oche_random random = oche_random_stream(1, "crc", 0);
    oche_crc32 *crc32 = oche_crc_choose(NULL);
    uint8_t bytes[4200];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)oche_random_u64(&random);
    for (size_t count = 1; count < sizeof(bytes); count += 7) {
        const size_t at = oche_random_below(&random, sizeof(bytes) - count + 1);
        const uint32_t start = (uint32_t)oche_random_u64(&random);

        assert_int_equal(crc32(start, bytes + at, count), crc_zlib(start, bytes + at, count));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choice), cmocka_unit_test(equal)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
