/* SPDX-License-Identifier: Apache-2.0 */
/* Slots for packets under way: their order, and that none is lost or given twice. */
#include "tests/support/test.h"

#include "core/random.h"
#include "device/link/hold.h"

#define SLOTS 1000

static void in_order_of_time(void **state)
{
    struct oche_random random = oche_random_stream(1, "hold", 0);
    struct oche_hold hold;
    oche_time last = 0;
    uint32_t *slot;

    (void)state;
    assert_true(oche_hold_open(&hold, 64, SLOTS));
    assert_true(oche_hold_next(&hold) == OCHE_NEVER);
    for (unsigned i = 0; i < SLOTS; i++) {
        slot = oche_hold_take(&hold);
        assert_non_null(slot);
        *slot = i;
        oche_hold_put(&hold, slot, oche_random_below(&random, 500));
    }
    assert_null(oche_hold_take(&hold));
    for (unsigned i = 0; i < SLOTS; i++) {
        const oche_time next = oche_hold_next(&hold);

        assert_true(next >= last);
        last = next;
        assert_true(next == 0 || oche_hold_due(&hold, next - 1) == NULL);
        slot = oche_hold_due(&hold, next);
        assert_non_null(slot);
        oche_hold_give_back(&hold, slot);
    }
    assert_null(oche_hold_due(&hold, OCHE_NEVER));
    oche_hold_close(&hold);
}

/* Slots that are due at the same time come in the order in which they were put. */
static void in_order_of_puts(void **state)
{
    struct oche_hold hold;
    uint32_t *slot;

    (void)state;
    assert_true(oche_hold_open(&hold, 64, SLOTS));
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < SLOTS; i++) {
            slot = oche_hold_take(&hold);
            *slot = i;
            oche_hold_put(&hold, slot, 7);
        }
        for (unsigned i = 0; i < SLOTS; i++) {
            slot = oche_hold_due(&hold, 7);
            assert_int_equal(*slot, i);
            oche_hold_give_back(&hold, slot);
        }
    }
    oche_hold_close(&hold);
}

/* Random takes, puts and ends: what is in a slot stays. */
static void nothing_is_mixed_up(void **state)
{
    struct oche_random random = oche_random_stream(2, "hold", 0);
    uint64_t put = 0, ended = 0, *slot;
    struct oche_hold hold;
    oche_time now = 0;

    (void)state;
    assert_true(oche_hold_open(&hold, 64, 64));
    for (unsigned i = 0; i < 100000; i++) {
        now += oche_random_below(&random, 10);
        while ((slot = oche_hold_due(&hold, now)) != NULL) {
            assert_true(slot[0] <= now);
            assert_int_equal(slot[1], slot[0] ^ 0x5a5a);
            ended++;
            oche_hold_give_back(&hold, slot);
        }
        slot = oche_hold_take(&hold);
        if (slot == NULL)
            continue;
        slot[0] = now + oche_random_below(&random, 500);
        slot[1] = slot[0] ^ 0x5a5a;
        oche_hold_put(&hold, slot, slot[0]);
        put++;
    }
    assert_int_equal(put - ended, hold.count);
    assert_true(put > 1000);
    oche_hold_close(&hold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order_of_time),
        cmocka_unit_test(in_order_of_puts),
        cmocka_unit_test(nothing_is_mixed_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
