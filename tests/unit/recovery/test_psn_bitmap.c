/* SPDX-License-Identifier: Apache-2.0 */
/* The bitmap against an array of bools, at places where PSNs and words wrap. */
#include "tests/support/test.h"

#include <string.h>

#include "core/random.h"
#include "core/recovery/psn_bitmap.h"

#define STEPS 20000

static struct oche_psn_bitmap bitmap;
static bool model[OCHE_PSN_BITMAP_BITS];

static bool *at(uint32_t psn)
{
    return &model[psn % OCHE_PSN_BITMAP_BITS];
}

static void check(uint32_t start)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < 64; i++)
        bits |= (uint64_t)*at(oche_psn_add(start, i)) << i;
    assert_int_equal(oche_psn_get64(&bitmap, start), bits);
    for (uint32_t i = 0; i < OCHE_PSN_BITMAP_BITS; i += 97)
        assert_int_equal(oche_psn_has(&bitmap, i), model[i]);
}

static void check_first_clear(uint32_t from, uint32_t count)
{
    uint32_t end = oche_psn_add(from, count), want = from;

    while (want != end && *at(want))
        want = oche_psn_add(want, 1);
    assert_int_equal(oche_psn_first_clear(&bitmap, from, end), want);
}

static void test_random(void **state)
{
    struct oche_random random = oche_random_stream(1, "psn bitmap", 0);
    uint32_t base = OCHE_PSN_MASK - 2000;

    (void)state;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t psn = oche_psn_add(base, (uint32_t)oche_random_below(&random, 300));
        uint32_t count = (uint32_t)oche_random_below(&random, 200);
        switch (oche_random_below(&random, 3)) {
        case 0:
            for (uint32_t i = 0; i < count; i++) {
                oche_psn_set(&bitmap, oche_psn_add(psn, i));
                *at(oche_psn_add(psn, i)) = true;
            }
            break;
        case 1:
            count = oche_random_below(&random, 4) == 0 ? count : count % 3;
            oche_psn_clear(&bitmap, psn, count);
            for (uint32_t i = 0; i < count; i++)
                *at(oche_psn_add(psn, i)) = false;
            break;
        default:
            check_first_clear(psn, count);
            break;
        }
        check(psn);
        base = oche_psn_add(base, step % 7 == 0);
    }
}

static void test_edges(void **state)
{
    (void)state;
    memset(&bitmap, 0xff, sizeof(bitmap));
    assert_int_equal(oche_psn_first_clear(&bitmap, 5, 5), 5);
    assert_int_equal(oche_psn_first_clear(&bitmap, 9, 5), 5); /* nothing to look at */
    assert_int_equal(oche_psn_first_clear(&bitmap, 0, OCHE_PSN_BITMAP_BITS), OCHE_PSN_BITMAP_BITS);
    oche_psn_clear(&bitmap, 64, 64);
    assert_int_equal(oche_psn_get64(&bitmap, 63), 1);
    assert_int_equal(oche_psn_get64(&bitmap, 65), UINT64_C(1) << 63);
    oche_psn_clear(&bitmap, 77, 0);
    oche_psn_clear(&bitmap, 77, OCHE_PSN_BITMAP_BITS - 1);
    assert_true(oche_psn_has(&bitmap, 76) == false && oche_psn_has(&bitmap, 78) == false);
    memset(&bitmap, 0xff, sizeof(bitmap));
    oche_psn_clear(&bitmap, 77, OCHE_PSN_BITMAP_BITS - 1);
    for (uint32_t i = 0; i < OCHE_PSN_BITMAP_BITS; i++)
        assert_int_equal(oche_psn_has(&bitmap, i), i == 76);
    oche_psn_clear(&bitmap, 3, UINT32_C(1) << 23);
    assert_false(oche_psn_has(&bitmap, 76));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
