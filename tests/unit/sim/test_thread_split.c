/* SPDX-License-Identifier: Apache-2.0 */
/* The number of threads of a world, each one's share, and the gain from more threads. */
#include "tests/support/test.h"

#include <string.h>

#include "sim/network/network.h"
#include "sim/network/schedule.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

static const char permutation[] =
    "topology: {type: fat_tree, k: 4, link_rate: 100Gbps, delay: 4us}\n"
    "congestion_control: none\n"
    "workload: {type: permutation, pattern: random, bytes: 20MB}\n";
static const char incast[] = "topology: {type: star, hosts: 17, host_rate: 40Gbps, delay: 1us}\n"
                             "congestion_control: none\n"
                             "workload: {type: incast, degree: 16, bytes: 50MB, receiver: fixed}\n";
static const char short_run[] = "topology: {type: fat_tree, k: 8, link_rate: 100Gbps, delay: 4us}\n"
                                "congestion_control: none\n"
                                "workload: {type: permutation, pattern: random, bytes: 20KB}\n";
static const char shift[] = "topology: {type: fat_tree, k: 4, link_rate: 100Gbps, delay: 1us}\n"
                            "congestion_control: none\n"
                            "workload: {type: permutation, pattern: shift, bytes: 100KB}\n";

struct made {
    struct oche_scenario *scenario;
    struct oche_world *world;
    const struct oche_world_thread_split *shares;
};

static struct made make(const char *text, uint32_t threads, uint32_t processors, bool record)
{
    struct oche_error error;
    struct made made = {.scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error)};

    if (made.scenario == NULL)
        fail_msg("%s", error.text);
    made.scenario->config.threads = threads;
    made.scenario->config.processors = processors;
    made.scenario->config.record_schedule = record;
    made.world = oche_world_create(&made.scenario->config, &error);
    if (made.world == NULL)
        fail_msg("%s", error.text);
    made.shares = oche_world_thread_split(made.world);
    assert_int_equal(oche_world_network(made.world)->shard_count, made.shares->threads);
    return made;
}

static void unmake(struct made *made)
{
    oche_world_free(made->world);
    oche_scenario_close(made->scenario);
}

static uint32_t threads_of(const char *text, uint32_t threads, uint32_t processors)
{
    struct made made = make(text, threads, processors, false);
    uint32_t count = made.shares->threads;

    unmake(&made);
    return count;
}

/* auto: as many as processors, but fewer if windows hold little work; a number: that many. */
static void test_auto(void **state)
{
    (void)state;
    assert_int_equal(threads_of(permutation, 0, 2), 2);
    assert_int_equal(threads_of(permutation, 0, 1), 1);
    assert_int_equal(threads_of(permutation, 0, 0), 1);
    assert_in_range(threads_of(permutation, 0, 64), 2, 16);
    assert_int_equal(threads_of(incast, 0, 2), 1);
    assert_int_equal(threads_of(short_run, 0, 2), 1);
    assert_int_equal(threads_of(permutation, 1, 2), 1);
    assert_int_equal(threads_of(incast, 2, 2), 2);
    assert_int_equal(threads_of(short_run, 3, 2), 3);
}

/* The estimate of a window is close to the run's real number of events. */
static void test_events_a_window(void **state)
{
    struct made made = make(incast, 2, 2, false);
    const double expected = made.shares->events_a_window;

    (void)state;
    /* 40 Gbit/s of slightly more than 1 KB are 4.6 packets a us, two links each way. */
    assert_true(expected > 12 && expected < 30);
    unmake(&made);
}

/*
 * Work is estimated by packets, not by ports. In an incast the switch and the receiver have three
 * fifths, and each sender a fortieth.
 */
static void test_parts(void **state)
{
    struct made made = make(incast, 2, 2, false);
    const struct oche_world_part *part = made.shares->parts;
    const double all = (double)(part[0].work + part[1].work);

    (void)state;
    assert_int_equal(part[0].hosts + part[1].hosts, 17);
    assert_int_equal(part[0].switches + part[1].switches, 1);
    for (unsigned i = 0; i < 2; i++)
        assert_true((double)part[i].work > 0.35 * all && (double)part[i].work < 0.65 * all);
    unmake(&made);
    made = make(permutation, 4, 2, false);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(made.shares->parts[i].hosts, 4); /* a pod each */
        assert_true(made.shares->parts[i].switches >= 4);
    }
    assert_in_range(made.shares->cut_links, 12, 16); /* those to the cores */
    unmake(&made);
}

/* A record of four parts: the same run, and speeds that are consistent with each other. */
static void test_schedule(void **state)
{
    struct oche_schedule_way ways[OCHE_SCHEDULE_WAYS];
    struct made one = make(shift, 1, 1, false), four = make(shift, 4, 1, true);
    const struct oche_network *network = oche_world_network(four.world);

    (void)state;
    oche_world_run(one.world, NULL, NULL);
    oche_world_run(four.world, NULL, NULL);
    assert_true(oche_network_hash(oche_world_network(one.world)) == oche_network_hash(network));
    assert_int_equal(network->windows_together, 0);
    assert_int_equal(oche_schedule_ways(network->schedule, ways), 2);
    assert_true(oche_schedule_windows(network->schedule) > 5);
    for (unsigned w = 0; w < 2; w++) {
        const struct oche_schedule_way *way = &ways[w];

        assert_int_equal(way->threads, 2 << w);
        assert_true(way->all == (double)oche_network_events(network));
        assert_true(way->most >= way->busiest && way->busiest * way->threads >= way->all);
        assert_true(way->barrier[0] > 1 && way->barrier[0] <= way->threads);
        for (unsigned c = 0; c < OCHE_SCHEDULE_COSTS; c++)
            assert_true(way->neighbours[c] >= way->barrier[c] * 0.999);
        assert_true(way->barrier[2] < way->barrier[1] && way->barrier[1] < way->barrier[0]);
        assert_true(way->crossing > 0 && way->links <= way->threads - 1);
    }
    assert_true(ways[1].crossing >= ways[0].crossing);
    unmake(&one);
    unmake(&four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_events_a_window),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
