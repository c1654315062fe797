/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC's map and heap against plain arrays. */
#include "tests/support/test.h"

#include <stdlib.h>

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/random.h"

#define SLOTS 37

static void test_map(void **state)
{
    struct oche_random random = oche_random_stream(1, "test map", 0);
    struct map map;
    uint32_t slot_of[64], count = 0;

    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        slot_of[i] = NO_SLOT;
    struct map_entry *memory = malloc(map_capacity(SLOTS) * sizeof(struct map_entry));
    assert_non_null(memory);
    map_init(&map, memory, SLOTS);
    for (int i = 0; i < 200000; i++) {
        uint32_t k = (uint32_t)oche_random_below(&random, 64);
        uint32_t key = k * UINT32_C(0x10001000); /* these collide */
        assert_int_equal(map_find(&map, key), slot_of[k]);
        if (slot_of[k] != NO_SLOT || count == SLOTS) {
            map_remove(&map, key);
            count -= slot_of[k] != NO_SLOT;
            slot_of[k] = NO_SLOT;
        } else {
            slot_of[k] = (uint32_t)i;
            map_add(&map, key, slot_of[k]);
            count++;
        }
        if (i % 1000 == 0)
            for (k = 0; k < 64; k++)
                assert_int_equal(map_find(&map, k * UINT32_C(0x10001000)), slot_of[k]);
    }
    free(memory);
}

static void test_map_of_none(void **state)
{
    struct map_entry memory[4];
    struct map map;

    (void)state;
    assert_int_equal(map_capacity(0), 4);
    map_init(&map, memory, 0);
    assert_int_equal(map_find(&map, 0), NO_SLOT);
    map_remove(&map, 0);
}

/* The earliest of the plain array, by (time, order, slot). */
static uint32_t earliest(const oche_time *times, const uint32_t *orders)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < SLOTS; i++)
        if (times[i] < times[best] || (times[i] == times[best] && orders[i] < orders[best]))
            best = i;
    return best;
}

static void test_heap(void **state)
{
    struct oche_random random = oche_random_stream(1, "test heap", 0);
    struct heap_entry entries[SLOTS];
    uint32_t positions[SLOTS], orders[SLOTS] = {0};
    oche_time times[SLOTS];
    struct heap heap;

    (void)state;
    heap_init(&heap, entries, positions, SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++)
        times[i] = OCHE_NEVER;
    assert_int_equal(heap_next(&heap), OCHE_NEVER);
    for (int i = 0; i < 200000; i++) {
        uint32_t slot = (uint32_t)oche_random_below(&random, SLOTS);
        switch (oche_random_below(&random, 4)) {
        case 0:
            heap_remove(&heap, slot);
            times[slot] = OCHE_NEVER;
            break;
        case 1:
            heap_set(&heap, slot, OCHE_NEVER, 0);
            times[slot] = OCHE_NEVER;
            break;
        default:
            times[slot] = oche_random_below(&random, 50);
            orders[slot] = (uint32_t)oche_random_below(&random, 3);
            heap_set(&heap, slot, times[slot], orders[slot]);
        }
        uint32_t best = earliest(times, orders);
        assert_int_equal(heap_next(&heap), times[best]);
        if (times[best] != OCHE_NEVER)
            assert_int_equal(heap.entries[0].slot, best);
        assert_int_equal(heap_time(&heap, slot), times[slot]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_of_none),
        cmocka_unit_test(test_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
