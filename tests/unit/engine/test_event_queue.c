/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue against a plain sorted list: whatever is pushed comes out by (time, key), with
 * bursts that spill buckets, gaps that empty the ring, far timers, and any split into windows.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/engine/event_queue.h"

#define MOST 4096

struct list {
    struct oche_event event[MOST];
    uint32_t count;
};

static void list_push(struct list *list, struct oche_event event)
{
    uint32_t i = list->count++;

    while (i > 0 &&
           (event.time < list->event[i - 1].time ||
            (event.time == list->event[i - 1].time && event.key < list->event[i - 1].key))) {
        list->event[i] = list->event[i - 1];
        i--;
    }
    list->event[i] = event;
}

static oche_time draw_delay(struct oche_random *random)
{
    switch (oche_random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return oche_random_below(random, 100);
    case 2:
        return oche_random_below(random, 100 * OCHE_US);
    case 3:
        return oche_random_below(random, 100 * OCHE_MS);
    default:
        return oche_random_below(random, 2 * OCHE_US);
    }
}

static void run(uint64_t seed, uint32_t steps)
{
    struct oche_random random = oche_random_stream(seed, "event queue test", 0);
    struct oche_event_queue queue;
    static struct list list;
    oche_time now = 0, window = 1 + oche_random_below(&random, 3 * OCHE_US), end = window;
    uint32_t next_key = 0;

    list.count = 0;
    oche_events_init(&queue, OCHE_US, NULL, NULL);
    for (uint32_t step = 0; step < steps; step++) {
        uint64_t pushes =
            oche_random_below(&random, 100) == 0 ? 300 : oche_random_below(&random, 3);
        for (uint64_t i = 0; i < pushes && list.count < MOST; i++) {
            struct oche_event event = {.time = now + draw_delay(&random),
                                       .key = oche_mix64(next_key++) & 0xffffffff};
            event.target = (void *)(uintptr_t)(event.key ^ 0x5555);
            list_push(&list, event);
            oche_event_push(&queue, event.time, event.key, event.target);
        }
        assert_int_equal(oche_events_pending(&queue), list.count);
        if (list.count > 0)
            assert_int_equal(oche_events_next_time(&queue), list.event[0].time);
        struct oche_event got = {0};
        while (!oche_event_pop(&queue, end, &got)) {
            now = end;
            if (list.count == 0)
                break;
            assert_true(list.event[0].time >= end);
            end = (list.event[0].time / window + 1) * window;
        }
        if (list.count == 0)
            continue;
        assert_int_equal(got.time, list.event[0].time);
        assert_int_equal(got.key, list.event[0].key);
        assert_ptr_equal(got.target, list.event[0].target);
        now = got.time;
        list.count--;
        memmove(list.event, list.event + 1, list.count * sizeof(list.event[0]));
    }
    oche_events_free(&queue);
}

static void test_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        run(seed, 4000);
}

/* Many events pending at once: the buckets must get narrower, and wider again, without a slip. */
static void test_width_follows_load(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};
    struct oche_random random = oche_random_stream(1, "width", 0);
    oche_time last = 0;

    (void)state;
    oche_events_init(&queue, OCHE_US, NULL, NULL);
    for (uint32_t i = 0; i < 50000; i++)
        oche_event_push(&queue, oche_random_below(&random, OCHE_US), i, NULL);
    unsigned first = queue.shift;
    for (uint32_t i = 0; i < 2000000; i++) {
        assert_true(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
        assert_true(event.time >= last);
        last = event.time;
        if (i < 1000000 || i % 50 == 0)
            oche_event_push(&queue, last + 1 + oche_random_below(&random, OCHE_US), event.key,
                            event.target);
        if (i == 999999) {
            assert_true(queue.shift < first);
            first = queue.shift;
        }
        if (oche_events_pending(&queue) < 100)
            for (uint32_t k = 0; k < 10; k++)
                oche_event_push(&queue, last + k * 100 * OCHE_NS, k, NULL);
    }
    assert_true(queue.shift > first);
    oche_events_free(&queue);
}

static void test_never_is_not_queued(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};

    (void)state;
    oche_events_init(&queue, OCHE_US, NULL, NULL);
    oche_event_push(&queue, OCHE_NEVER, 1, NULL);
    assert_int_equal(oche_events_pending(&queue), 0);
    assert_false(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
    assert_int_equal(oche_events_next_time(&queue), OCHE_NEVER);
    oche_events_free(&queue);
}

/* The packets on a long link are events too: the ring holds them, at any load, and not the heap. */
static void test_ring_reaches_over_long_links(void **state)
{
    const oche_time delay = 100 * OCHE_MS, spacing = 80 * OCHE_NS;
    struct oche_event_queue queue;
    struct oche_event event = {0};

    (void)state;
    oche_events_init(&queue, delay, NULL, NULL);
    for (uint32_t i = 0; i < 1000; i++)
        oche_event_push(&queue, delay + i * spacing, i, NULL);
    assert_int_equal(queue.heap_count, 0);
    for (uint32_t i = 0; i < 300000; i++) {
        assert_true(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
        assert_int_equal(event.key, i % 1000);
        oche_event_push(&queue, event.time + delay, event.key, NULL);
        assert_int_equal(queue.heap_count, 0);
    }
    oche_events_free(&queue);
}

#define TOGETHER 1000

/* For each event the stages of prefetching that it has had, as a mask. */
static void note_stage(void *context, const struct oche_pending *event, uint32_t count,
                       unsigned stage)
{
    unsigned *stages = context;

    for (uint32_t i = 0; i < count; i++)
        stages[oche_pending_key(&event[i])] |= 1U << stage;
}

/* Events that start together share a bucket: each of them is shown in all stages all the same. */
static void test_crowded_buckets_are_prefetched(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};
    static unsigned stages[TOGETHER];

    (void)state;
    oche_events_init(&queue, OCHE_US, note_stage, stages);
    for (uint32_t i = 0; i < TOGETHER; i++)
        oche_event_push(&queue, OCHE_US / 2, TOGETHER - 1 - i, NULL);
    for (uint32_t i = 0; i < TOGETHER; i++) {
        assert_true(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
        assert_int_equal(event.key, i);
        assert_int_equal(stages[i], (1U << OCHE_PREFETCH_STAGES) - 1);
    }
    oche_events_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_width_follows_load),
        cmocka_unit_test(test_ring_reaches_over_long_links),
        cmocka_unit_test(test_crowded_buckets_are_prefetched),
        cmocka_unit_test(test_never_is_not_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
