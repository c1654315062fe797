/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds give the same trace hash, counters, flow times, ports and queues when two or four
 * processes run them as in one process and on two threads, also those that end when all is
 * delivered, or when nothing is any more.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/property/random_world.h"
#include "tests/support/rank_sockets.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

typedef void run_world(struct random_world *random, struct random_scenario *scenario,
                       uint32_t threads);

static const char *who; /* the other run, for messages */

#define ASSERT_SAME(one, left, right)                                                              \
    do {                                                                                           \
        if ((uint64_t)(left) != (uint64_t)(right))                                                 \
            fail_msg("scenario %llu: " #left " is %llx in one process, %llx on %s; %s",            \
                     (unsigned long long)(one)->scenario->number, (unsigned long long)(left),      \
                     (unsigned long long)(right), who, (one)->scenario->text);                     \
    } while (0)

static void assert_same_flows(const struct random_world *one, const struct random_world *many)
{
    const struct oche_flows *a = oche_world_flows(one->world), *b = oche_world_flows(many->world);

    ASSERT_SAME(one, a->count, b->count);
    ASSERT_SAME(one, oche_flows_made(a), oche_flows_made(b));
    for (OCHE_EACH_MADE_FLOW(f, a)) {
        ASSERT_SAME(one, a->sent[f].started, b->sent[f].started);
        ASSERT_SAME(one, a->sent[f].completed, b->sent[f].completed);
        ASSERT_SAME(one, a->sent[f].retransmitted_packets, b->sent[f].retransmitted_packets);
        ASSERT_SAME(one, a->received[f].delivered, b->received[f].delivered);
        ASSERT_SAME(one, oche_world_flow_bytes(one->world, f),
                    oche_world_flow_bytes(many->world, f));
    }
}

static void assert_same_ports(const struct random_world *one, const struct random_world *many)
{
    uint32_t count = oche_world_network(one->world)->port_count;
    struct oche_switch_port_stats *a = calloc(count, sizeof(*a)), *b = calloc(count, sizeof(*b));

    assert_true(a != NULL && b != NULL);
    oche_world_port_stats(one->world, a);
    oche_world_port_stats(many->world, b);
    for (uint32_t port = 0; port < count; port++) {
        ASSERT_SAME(one, oche_world_line_bytes(one->world, port),
                    oche_world_line_bytes(many->world, port));
        ASSERT_SAME(one, oche_world_lost_packets(one->world, port),
                    oche_world_lost_packets(many->world, port));
        ASSERT_SAME(one, a[port].queueing_time, b[port].queueing_time);
        ASSERT_SAME(one, memcmp(&a[port], &b[port], sizeof(a[port])), 0);
    }
    free(a);
    free(b);
}

static void assert_same_series(const struct random_world *one, const struct random_world *many)
{
    size_t a, b;
    const struct oche_world_hold *holds = oche_world_holds(one->world, &a);
    const struct oche_world_hold *others = oche_world_holds(many->world, &b);

    ASSERT_SAME(one, oche_world_series_count(one->world), oche_world_series_count(many->world));
    ASSERT_SAME(one, oche_world_interval(one->world), oche_world_interval(many->world));
    for (uint32_t i = 0; i < oche_world_series_count(one->world); i++) {
        struct oche_world_series x = oche_world_series(one->world, i);
        struct oche_world_series y = oche_world_series(many->world, i);

        ASSERT_SAME(one, x.count, y.count);
        ASSERT_SAME(one, memcmp(x.values, y.values, x.count * sizeof(*x.values)), 0);
    }
    ASSERT_SAME(one, a, b);
    if (a > 0)
        ASSERT_SAME(one, memcmp(holds, others, a * sizeof(*holds)), 0);
}

static void assert_same(const struct random_world *one, const struct random_world *many)
{
    uint32_t pauses, others;

    ASSERT_SAME(one, one->totals.hash, many->totals.hash);
    ASSERT_SAME(one, oche_world_ended(one->world), oche_world_ended(many->world));
    ASSERT_SAME(one, oche_world_network(one->world)->now, oche_world_network(many->world)->now);
    ASSERT_SAME(one, one->totals.events, many->totals.events);
    ASSERT_SAME(one, one->totals.nic.timeouts, many->totals.nic.timeouts);
    ASSERT_SAME(one, memcmp(&one->totals, &many->totals, sizeof(one->totals)), 0);
    oche_pause_tree_nodes(oche_world_pause_tree(one->world), &pauses);
    oche_pause_tree_nodes(oche_world_pause_tree(many->world), &others);
    ASSERT_SAME(one, pauses, others);
    assert_same_flows(one, many);
    assert_same_ports(one, many);
    assert_same_series(one, many);
}

static void on_ranks(run_world *run, struct random_world *one, struct random_scenario *scenario,
                     uint32_t ranks)
{
    struct rank_sockets sockets;
    struct random_world many;

    who = ranks == 2 ? "two ranks" : "four ranks";
    rank_sockets_open(&sockets, ranks);
    random_world_use_mail(&sockets.mail);
    run(&many, scenario, 0);
    random_world_use_mail(NULL);
    rank_sockets_close(&sockets);
    assert_same(one, &many);
    random_world_free(&many);
}

static void compare(run_world *run, uint64_t first, uint64_t count)
{
    for (uint64_t number = first; number < first + count; number++) {
        struct random_scenario scenario;
        struct random_world one, threads;

        random_scenario_make(&scenario, number);
        run(&one, &scenario, 1);
        who = "two threads";
        run(&threads, &scenario, 2);
        assert_same(&one, &threads);
        random_world_free(&threads);
        on_ranks(run, &one, &scenario, 2);
        on_ranks(run, &one, &scenario, 4);
        random_world_free(&one);
        random_scenario_free(&scenario);
    }
}

/* Returns how many worlds to run: 1,000 of all three kinds with OCHE_LONG, else some dozens. */
static uint64_t worlds(uint64_t few, uint64_t all)
{
    return getenv("OCHE_LONG") != NULL ? all : seeds_of(few);
}

static void test_for_a_duration(void **state)
{
    (void)state;
    compare(random_world_run, 21000, worlds(96, 400));
}

static void test_until_delivered(void **state)
{
    (void)state;
    compare(random_world_run_until_done, 22000, worlds(64, 400));
}

static void test_that_never_end(void **state)
{
    (void)state;
    compare(random_world_run_cut, 23000, worlds(32, 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_for_a_duration),
        cmocka_unit_test(test_until_delivered),
        cmocka_unit_test(test_that_never_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
