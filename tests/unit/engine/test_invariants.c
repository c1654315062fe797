/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of sim/engine/invariants.h hold through random windows, between any two events;
 * each is broken on purpose once, so that none can be a statement that never fails. Likewise each
 * assertion of the queue and of the arena.
 */
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#include "core/random.h"
#include "sim/engine/arena.h"
#include "sim/engine/invariants.h"

#define NODES  8
#define WINDOW OCHE_US

static uint32_t key_of(uint32_t node, uint32_t number)
{
    return node << OCHE_EVENT_NODE_SHIFT | number;
}

static void check(const struct oche_event_queue *queue)
{
    const char *broken = oche_events_broken(queue);

    if (broken != NULL)
        fail_msg("%s", broken);
}

static void init(struct oche_event_queue *queue, bool by_time)
{
    oche_events_init(queue, &(struct oche_event_queue_config){.independent = WINDOW,
                                                              .horizon = WINDOW,
                                                              .node_count = NODES,
                                                              .by_time = by_time});
    check(queue);
}

/* ---- they hold ---- */

static oche_time some_time(struct oche_random *random)
{
    switch (oche_random_below(random, 8)) {
    case 0:
        return oche_random_below(random, OCHE_MS); /* mostly beyond the ring */
    case 1:
        return 0;
    default:
        return oche_random_below(random, 3 * WINDOW);
    }
}

/* Adds one or two events after an event of `node`: of that node soon, of others a window later. */
static void add_after(struct oche_event_queue *queue, struct oche_random *random, oche_time now,
                      uint32_t node)
{
    const uint32_t other = (uint32_t)oche_random_below(random, NODES);

    if (oche_random_below(random, 3) == 0)
        oche_event_push(queue, now + some_time(random), key_of(node, 1), NULL);
    if (oche_random_below(random, 3) < 2)
        oche_event_push(queue, now + WINDOW + some_time(random), key_of(other, 2), NULL);
}

static void run(uint64_t seed, bool by_time)
{
    struct oche_random random = oche_random_stream(seed, "queue invariants", by_time);
    struct oche_event_queue queue;
    struct oche_event event = {0};
    oche_time end = 0;

    init(&queue, by_time);
    for (unsigned window = 0; window < 60; window++) {
        for (unsigned i = 0; i < 3; i++)
            oche_event_push(&queue, end + some_time(&random),
                            key_of((uint32_t)oche_random_below(&random, NODES), i), NULL);
        check(&queue);
        end += 1 + oche_random_below(&random, WINDOW);
        while (oche_event_pop(&queue, end, &event)) {
            check(&queue);
            add_after(&queue, &random, event.time, event.key >> OCHE_EVENT_NODE_SHIFT);
            check(&queue);
        }
        check(&queue);
    }
    oche_events_free(&queue);
}

static void test_they_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(20); seed++) {
        run(seed, false);
        run(seed, true);
    }
}

/* ---- each can break ---- */

/*
 * Three batches of the first slice, of which the first is open and has one more event; two later
 * slices with events; and far ones.
 */
static void fill(struct oche_event_queue *queue)
{
    struct oche_event event = {0};

    init(queue, false);
    for (uint32_t i = 0; i < 40; i++) {
        oche_event_push(queue, 100 + i, key_of(i % 3, i), NULL);
        oche_event_push(queue, 5 * WINDOW + 10 + i, key_of(1, i), NULL);
    }
    for (uint32_t i = 0; i < 6; i++)
        oche_event_push(queue, OCHE_SEC + i, key_of(2, i), NULL);
    assert_true(oche_event_pop(queue, WINDOW, &event));
    oche_event_push(queue, 200, key_of(0, 1), NULL);
    oche_event_push(queue, 300, key_of(0, 2), NULL);
    assert_int_equal(queue->heap_count, 6);
    check(queue);
}

static struct oche_event_bucket *later_bucket(struct oche_event_queue *queue)
{
    return &queue->buckets[5 * WINDOW / queue->slice & queue->mask];
}

static uint64_t later_slot(struct oche_event_queue *queue)
{
    return (uint64_t)(later_bucket(queue) - queue->buckets);
}

static struct oche_pending *of_batch(struct oche_event_queue *queue)
{
    return queue->batch_memory + (queue->batch - queue->batch_memory);
}

static struct oche_pending *waiting(struct oche_event_queue *queue)
{
    return queue->slice_events + (queue->batch_starts[0] - queue->slice_events);
}

static void start_is_moved(struct oche_event_queue *queue)
{
    queue->open_start++;
}

static void window_is_too_long(struct oche_event_queue *queue)
{
    queue->open_limit = queue->open_start + queue->slice + 1;
}

static void own_end_is_lost(struct oche_event_queue *queue)
{
    queue->own_end--;
}

static void batch_is_swapped(struct oche_event_queue *queue)
{
    of_batch(queue)[1].order = of_batch(queue)[0].order - 1;
}

static void own_is_swapped(struct oche_event_queue *queue)
{
    queue->own[1].order = queue->own[0].order - 1;
}

static void batch_is_of_another_node(struct oche_event_queue *queue)
{
    queue->open_node++;
}

static void batch_is_too_late(struct oche_event_queue *queue)
{
    queue->own[1].order += queue->slice << 32;
}

static void batches_cross(struct oche_event_queue *queue)
{
    queue->batch_starts[0] = queue->batch_starts[1] + 1;
}

static void waiting_is_too_late(struct oche_event_queue *queue)
{
    waiting(queue)->order += queue->slice << 32;
}

static void waiting_is_of_a_later_node(struct oche_event_queue *queue)
{
    waiting(queue)->order += (uint64_t)(NODES - 2) << OCHE_EVENT_NODE_SHIFT;
}

static void a_node_is_counted(struct oche_event_queue *queue)
{
    queue->counts[3] = 1;
}

static void empty_bucket_has_a_time(struct oche_event_queue *queue)
{
    queue->buckets[(later_slot(queue) + 1) & queue->mask].soonest = 7 * WINDOW;
}

static void event_is_beyond_its_slice(struct oche_event_queue *queue)
{
    later_bucket(queue)->last->order += queue->slice << 32;
}

static void chunk_is_not_counted(struct oche_event_queue *queue)
{
    later_bucket(queue)->chunks--;
}

static void soonest_is_too_late(struct oche_event_queue *queue)
{
    later_bucket(queue)->soonest++;
}

static void bucket_is_not_marked(struct oche_event_queue *queue)
{
    queue->filled[later_slot(queue) / 64] = 0;
}

static void word_is_not_marked(struct oche_event_queue *queue)
{
    queue->filled_words[0] = 0;
}

static void something_is_in_the_past(struct oche_event_queue *queue)
{
    struct oche_pending old = {.order = UINT64_C(50) << 32 | key_of(1, 1)};
    const uint64_t slot = queue->cursor & queue->mask;

    oche_events_extend(queue, slot, old);
    queue->buckets[slot].soonest = queue->open_start + 50;
}

static void heap_is_swapped(struct oche_event_queue *queue)
{
    queue->heap[5].time = queue->heap[2].time - 1;
}

static void far_is_near(struct oche_event_queue *queue)
{
    queue->heap[0].time = 2 * WINDOW;
}

static void far_is_after_the_end(struct oche_event_queue *queue)
{
    queue->heap[5].time = OCHE_TIME_LIMIT;
}

static const struct fault {
    const char *words;
    void (*breaks)(struct oche_event_queue *queue);
} faults[] = {
    {"the slice begins at the cursor", start_is_moved},
    {"the open window ends within its slice", window_is_too_long},
    {"added events of the open batch end where they are said to", own_end_is_lost},
    {"the open batch is in order", batch_is_swapped},
    {"added events of the open batch are in order", own_is_swapped},
    {"the open batch is of one node", batch_is_of_another_node},
    {"the open batch is of the open window", batch_is_too_late},
    {"batches begin one after the other", batches_cross},
    {"the batches that wait are of the open window", waiting_is_too_late},
    {"the batches that wait are in order of nodes", waiting_is_of_a_later_node},
    {"no node is counted between two slices", a_node_is_counted},
    {"a bucket without events has no time and no chunks", empty_bucket_has_a_time},
    {"a bucket's events are in its slice", event_is_beyond_its_slice},
    {"a bucket knows its chunks", chunk_is_not_counted},
    {"a bucket knows its soonest event", soonest_is_too_late},
    {"buckets with events are marked", bucket_is_not_marked},
    {"words with marks are marked", word_is_not_marked},
    {"nothing waits in the past", something_is_in_the_past},
    {"far events are a heap", heap_is_swapped},
    {"far events lie beyond the ring", far_is_near},
    {"far events lie before the end of time", far_is_after_the_end},
};

static void test_each_can_break(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++) {
        struct oche_event_queue queue;

        fill(&queue);
        faults[i].breaks(&queue);
        const char *broken = oche_events_broken(&queue);
        assert_non_null(broken);
        assert_string_equal(broken, faults[i].words);
        oche_events_free(&queue);
    }
}

/* ---- assertions, which are in every build ---- */

static void independent_of_nothing(struct oche_event_queue *queue)
{
    oche_events_init(queue, &(struct oche_event_queue_config){.node_count = 1});
}

static void bucket_beyond_the_ring(struct oche_event_queue *queue)
{
    oche_events_extend(queue, queue->mask + 1, (struct oche_pending){0});
}

static void next_batch(struct oche_event_queue *queue)
{
    struct oche_event event;

    while (oche_event_pop(queue, 10 * WINDOW, &event))
        continue;
}

static void batch_of_nothing(struct oche_event_queue *queue)
{
    queue->batch_starts[1] = queue->batch_starts[0];
    next_batch(queue);
}

static void slice_of_nothing(struct oche_event_queue *queue)
{
    later_bucket(queue)->last = NULL;
    next_batch(queue);
}

static void all_of_the_slice_is_later(struct oche_event_queue *queue)
{
    struct oche_event event;

    later_bucket(queue)->soonest -= 5;
    while (oche_event_pop(queue, 5 * WINDOW + 8, &event))
        continue;
}

static void time_goes_back(struct oche_event_queue *queue)
{
    struct oche_event event;

    while (oche_event_pop(queue, 2 * WINDOW, &event))
        continue;
    later_bucket(queue)->soonest = 0;
    next_batch(queue);
}

static void beyond_the_end_of_time(struct oche_event_queue *queue)
{
    struct oche_event event;

    while (oche_event_pop(queue, WINDOW, &event))
        continue;
    oche_event_pop(queue, OCHE_TIME_LIMIT + 1, &event);
}

static void events_are_left(struct oche_event_queue *queue)
{
    uint32_t node;

    while (oche_events_next_batch(queue, WINDOW, &node))
        continue;
}

static void test_each_assertion_can_fail(void **state)
{
    void (*const breaks[])(struct oche_event_queue *) = {
        independent_of_nothing,    bucket_beyond_the_ring, batch_of_nothing,       slice_of_nothing,
        all_of_the_slice_is_later, time_goes_back,         beyond_the_end_of_time, events_are_left,
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(breaks); i++) {
        struct oche_event_queue queue;

        fill(&queue);
        expect_assert_failure(breaks[i](&queue));
        oche_events_free(&queue);
    }
}

static void test_an_arena_has_limits(void **state)
{
    struct oche_arena arena;

    (void)state;
    oche_arena_init(&arena);
    expect_assert_failure(oche_arena_take(&arena, SIZE_MAX));
    expect_assert_failure(oche_arena_take(&arena, SIZE_MAX / 2));
    oche_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_hold),
        cmocka_unit_test(test_each_can_break),
        cmocka_unit_test(test_each_assertion_can_fail),
        cmocka_unit_test(test_an_arena_has_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
