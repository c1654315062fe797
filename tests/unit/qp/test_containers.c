/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC's map and heap against plain arrays. */
#include "tests/support/test.h"

#include <stdlib.h>

#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/qp/slots.h"
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

/* A map grows to its maximum and no further, and loses no key. */
static void test_growing_map(void **state)
{
    for (uint32_t most = 0; most < 3000; most = most * 3 + 1) {
        size_t entries = map_growing_capacity(most);
        struct map_entry *memory = malloc(entries * sizeof(*memory)); /* a checker sees its end */
        struct map map;

        assert_non_null(memory);
        map_init_growing(&map, memory, most);
        for (uint32_t i = 0; i < most; i++) {
            map_make_room(&map, i);
            map_add(&map, i * 77, i);
            assert_true(2 * ((size_t)i + 1) <= (size_t)map.mask + 1);
            assert_true(map.entries + map.mask < memory + entries);
            for (uint32_t k = 0; k <= i; k += i < 100 ? 1 : 97)
                assert_int_equal(map_find(&map, k * 77), k);
        }
        assert_int_equal(map_find(&map, most * 77), NO_SLOT);
        free(memory);
    }
    (void)state;
}

/* Numbers come in rising order. Freed ones come first, the last freed one before the others. */
static void test_slots(void **state)
{
    uint32_t memory[4];
    struct slots slots;
    bool fresh;

    (void)state;
    slots_init(&slots, memory, 4);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(slots_take(&slots, &fresh), i);
        assert_true(fresh);
    }
    slots_give(&slots, 0);
    slots_give(&slots, 2);
    assert_int_equal(slots_taken(&slots), 1);
    assert_int_equal(slots_take(&slots, &fresh), 2);
    assert_false(fresh);
    assert_int_equal(slots_take(&slots, &fresh), 0);
    assert_int_equal(slots_take(&slots, &fresh), 3);
    assert_true(fresh);
    assert_int_equal(slots_taken(&slots), 4);
}

/* Returns the earliest of the plain array, by (time, order, slot). */
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
        cmocka_unit_test(test_map),         cmocka_unit_test(test_map_of_none),
        cmocka_unit_test(test_growing_map), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_heap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
