/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue against a plain sorted list. Each node's events come out by (time, key), and all
 * of a window before any of the next. Cases: bursts, gaps that empty the ring, far timers, windows
 * that end within a slice, and events that are added while a node's are popped.
 */
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/engine/event_queue.h"

#define MOST  4096
#define NODES 40

struct list {
    struct oche_event event[MOST];
    uint32_t count;
};

static bool is_before(const struct oche_event *a, const struct oche_event *b)
{
    return a->time != b->time ? a->time < b->time : a->key < b->key;
}

static void list_push(struct list *list, struct oche_event event)
{
    uint32_t i = list->count++;

    for (; i > 0 && is_before(&event, &list->event[i - 1]); i--)
        list->event[i] = list->event[i - 1];
    list->event[i] = event;
}

static uint32_t node_of(const struct oche_event *event)
{
    return event->key >> OCHE_EVENT_NODE_SHIFT;
}

/* Removes and returns the first event of a node, or of any one if `by_time`. */
static struct oche_event list_pop(struct list *list, uint32_t node, bool by_time)
{
    uint32_t i = 0;

    while (!by_time && node_of(&list->event[i]) != node) {
        i++;
        assert_true(i < list->count);
    }
    const struct oche_event event = list->event[i];

    list->count--;
    memmove(list->event + i, list->event + i + 1, (list->count - i) * sizeof(list->event[0]));
    return event;
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

struct bench {
    struct oche_random random;
    struct oche_event_queue queue;
    struct list list;
    oche_time independent;
    uint32_t nodes, numbers;
};

/* Adds an event of the node to the queue and to the list. */
static void add(struct bench *bench, oche_time time, uint32_t node)
{
    struct oche_event event = {.time = time,
                               .key = node << OCHE_EVENT_NODE_SHIFT |
                                      (uint32_t)oche_random_below(&bench->random, 4096)};

    event.target = (void *)(uintptr_t)++bench->numbers;
    if (bench->list.count == MOST)
        return;
    for (uint32_t i = 0; i < bench->list.count; i++)
        if (bench->list.event[i].time == time && bench->list.event[i].key == event.key)
            return; /* identities are unique */
    list_push(&bench->list, event);
    oche_event_push(&bench->queue, time, event.key, event.target);
}

static void add_some(struct bench *bench, oche_time now, bool is_open, uint32_t node)
{
    uint64_t count =
        oche_random_below(&bench->random, 100) == 0 ? 300 : oche_random_below(&bench->random, 3);

    for (uint64_t i = 0; i < count; i++) {
        bool own = is_open && oche_random_below(&bench->random, 2) == 0;
        oche_time time =
            now + draw_delay(&bench->random) + (is_open && !own ? bench->independent : 0);

        add(bench, time, own ? node : (uint32_t)oche_random_below(&bench->random, bench->nodes));
    }
}

/* Runs a window: takes its events from the queue and from the list. Returns how many. */
static uint32_t run_window(struct bench *bench, oche_time end, bool by_time)
{
    struct oche_event got = {0};
    uint32_t count = 0;

    for (; oche_event_pop(&bench->queue, end, &got); count++) {
        struct oche_event first = list_pop(&bench->list, node_of(&got), by_time);

        assert_true(got.time < end);
        assert_int_equal(got.time, first.time);
        assert_int_equal(got.key, first.key);
        assert_ptr_equal(got.target, first.target);
        add_some(bench, got.time, true, node_of(&got));
    }
    return count;
}

static void run(uint64_t seed, const struct oche_event_queue_config *config, uint32_t steps)
{
    static struct bench bench;
    oche_time end = 0, window;

    bench =
        (struct bench){.random = oche_random_stream(seed, "event queue test", config->node_count),
                       .independent = config->independent,
                       .nodes = config->node_count};
    window = 1 + oche_random_below(&bench.random, config->independent);
    oche_events_init(&bench.queue, config);
    for (uint32_t count = 0; count < steps;) {
        oche_time next;

        for (unsigned i = 0; i < 4; i++)
            add_some(&bench, end, false, 0);
        next = oche_events_next_time(&bench.queue);
        assert_int_equal(next, bench.list.count == 0 ? OCHE_NEVER : bench.list.event[0].time);
        end = next == OCHE_NEVER ? end + window : (next / window + 1) * window;
        count += 1 + run_window(&bench, end, config->by_time);
        assert_true(bench.list.count == 0 || bench.list.event[0].time >= end);
    }
    oche_events_free(&bench.queue);
}

static void test_order(void **state)
{
    const uint32_t nodes[] = {1, NODES, 20000 /* more than events */};
    struct oche_event_queue_config config = {.independent = OCHE_US, .horizon = OCHE_US};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(20); seed++)
        for (size_t i = 0; i < OCHE_COUNT_OF(nodes); i++) {
            config.node_count = nodes[i];
            run(seed, &config, 3000);
        }
}

static void test_order_by_time(void **state)
{
    const struct oche_event_queue_config config = {
        .independent = OCHE_US, .horizon = OCHE_US, .node_count = NODES, .by_time = true};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(20); seed++)
        run(seed, &config, 3000);
}

/*
 * A short link beside a long one: few buckets of the large ring have events, and the heap has some.
 */
static void test_order_in_a_large_ring(void **state)
{
    const struct oche_event_queue_config config = {
        .independent = 100 * OCHE_NS, .horizon = 10 * OCHE_MS, .node_count = NODES};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(20); seed++)
        run(seed, &config, 1000);
}

static const struct oche_event_queue_config one_node = {
    .independent = OCHE_US, .horizon = OCHE_US, .node_count = 1};

static void test_never_is_not_queued(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};

    (void)state;
    oche_events_init(&queue, &one_node);
    oche_event_push(&queue, OCHE_NEVER, 1, NULL);
    assert_false(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
    assert_int_equal(oche_events_next_time(&queue), OCHE_NEVER);
    oche_events_free(&queue);
}

/* Pops all events before `end` of a queue whose keys are to come in the order 0, 1, …. */
static void pops_in_order(struct oche_event_queue *queue, uint32_t count, oche_time end)
{
    struct oche_event event = {0};

    for (uint32_t i = 0; i < count; i++) {
        assert_true(oche_event_pop(queue, end, &event));
        assert_int_equal(event.key, i);
    }
    assert_false(oche_event_pop(queue, end, &event));
}

/*
 * A node's events may be spread over the slice, lie in a small part of it, or have one time. Each
 * case is sorted in another way.
 */
static void test_crowds(void **state)
{
    const oche_time spacings[] = {300 * OCHE_PS, 1, 0};
    enum { COUNT = 3000 };

    (void)state;
    for (unsigned s = 0; s < 3; s++) {
        struct oche_event_queue queue;

        oche_events_init(&queue, &one_node);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t key = i * 7 % COUNT;

            oche_event_push(&queue, 10 * OCHE_US + key * spacings[s], key, NULL);
        }
        pops_in_order(&queue, COUNT, 11 * OCHE_US);
        oche_events_free(&queue);
    }
}

/* Hosts that start together have their packets arrive together, a few or many at a time. */
static void test_ties(void **state)
{
    (void)state;
    for (uint32_t tied = 1; tied <= 256; tied *= 2) {
        struct oche_event_queue queue;
        uint32_t count = 9 * tied;

        oche_events_init(&queue, &one_node);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t key = i * 7 % count;

            oche_event_push(&queue, 10 * OCHE_US + key / tied * 80 * OCHE_NS, key, NULL);
        }
        pops_in_order(&queue, count, 11 * OCHE_US);
        oche_events_free(&queue);
    }
}

/* The packets on a long link are events, too. The ring holds them, not the heap. */
static void test_ring_reaches_over_long_links(void **state)
{
    const oche_time delay = 100 * OCHE_MS, spacing = 80 * OCHE_NS;
    struct oche_event_queue queue;
    struct oche_event event = {0};

    (void)state;
    oche_events_init(&queue, &(struct oche_event_queue_config){
                                 .independent = 10 * OCHE_US, .horizon = delay, .node_count = 1});
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

/*
 * Slices are shorter than the time in which nodes are independent, if that is long. A run that
 * takes samples opens a slice again and again.
 */
static void test_long_slices_are_cut(void **state)
{
    struct oche_event_queue queue;

    (void)state;
    oche_events_init(&queue, &(struct oche_event_queue_config){.independent = 20 * OCHE_MS,
                                                               .horizon = 20 * OCHE_MS,
                                                               .node_count = 1});
    assert_true(queue.slice <= 20 * OCHE_US);
    for (uint32_t i = 0; i < 1000; i++)
        oche_event_push(&queue, (999 - i) * 100 * OCHE_US, 999 - i, NULL);
    pops_in_order(&queue, 1000, OCHE_SEC);
    oche_events_free(&queue);
}

#define FETCHED 1000

/* Bit mask for each node: the fetch steps it has had. */
static void note_step(void *context, const struct oche_pending *event, uint32_t count,
                      unsigned step)
{
    unsigned *steps = context;

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(oche_pending_key(&event[i]) >> OCHE_EVENT_NODE_SHIFT,
                         oche_pending_key(event) >> OCHE_EVENT_NODE_SHIFT);
    steps[oche_pending_key(event) >> OCHE_EVENT_NODE_SHIFT] |= 1U << step;
}

/* Makes a queue of FETCHED nodes that notes in `steps` what it fetches. */
static void make_fetching(struct oche_event_queue *queue, unsigned *steps)
{
    oche_events_init(queue, &(struct oche_event_queue_config){.independent = OCHE_US,
                                                              .horizon = OCHE_US,
                                                              .node_count = FETCHED,
                                                              .fetch = note_step,
                                                              .fetch_context = steps});
}

/* Each node is fetched in all steps before its batch begins. */
static void test_batches_are_fetched(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};
    static unsigned steps[FETCHED];

    (void)state;
    make_fetching(&queue, steps);
    for (uint32_t i = 0; i < 2 * FETCHED; i++)
        oche_event_push(&queue, OCHE_US / 2 + i, i % FETCHED << OCHE_EVENT_NODE_SHIFT, NULL);
    for (uint32_t i = 0; i < 2 * FETCHED; i++) {
        assert_true(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
        assert_int_equal(steps[node_of(&event)], (1U << OCHE_FETCH_STEPS) - 1);
    }
    oche_events_free(&queue);
}

/* A quiet slice has too few events for fetching. */
static void test_few_events_are_not_fetched(void **state)
{
    struct oche_event_queue queue;
    struct oche_event event = {0};
    static unsigned steps[FETCHED];

    (void)state;
    make_fetching(&queue, steps);
    for (uint32_t i = 0; i < FETCHED; i++)
        oche_event_push(&queue, i * OCHE_US / 4, i << OCHE_EVENT_NODE_SHIFT, NULL);
    for (uint32_t i = 0; i < FETCHED; i++) {
        assert_true(oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event));
        assert_int_equal(node_of(&event), i);
        assert_int_equal(steps[i], 0);
    }
    oche_events_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_by_time),
        cmocka_unit_test(test_order_in_a_large_ring),
        cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_ring_reaches_over_long_links),
        cmocka_unit_test(test_long_slices_are_cut),
        cmocka_unit_test(test_batches_are_fetched),
        cmocka_unit_test(test_few_events_are_not_fetched),
        cmocka_unit_test(test_never_is_not_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
