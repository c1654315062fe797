/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports with the longest queues: they equal those of the switches' counters. Their series is
 * the longest queue of each span, even after spans were joined. The run does not change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/ran.h"

#define MOST_SPANS 256

/* Messages of several sizes to several hosts, so that no two queues are alike. */
#define INCASTS                                                                                    \
    "topology: {type: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, host_rate: 25Gbps, "    \
    "link_rate: 50Gbps, delay: 1us}\nseed: 7\n"                                                    \
    "workload: [{type: incast, degree: 6, bytes: 300KB}, "                                         \
    "{type: incast, degree: 5, bytes: 200KB, receiver_host: 5, start: 100us}, "                    \
    "{type: incast, degree: 3, bytes: 100KB, receiver_host: 9, start: 777us}]\n"

/* Returns the longest queue of a port since the end of warm-up, by its switch's counter. */
static uint64_t counted(const struct oche_world *world, uint32_t port)
{
    struct oche_switch_port_stats *stats =
        calloc(oche_world_network(world)->port_count, sizeof(*stats));
    uint64_t most;

    assert_non_null(stats);
    oche_world_port_stats(world, stats);
    most = stats[port].max_queue_bytes;
    free(stats);
    return most;
}

static uint32_t most_of(const struct oche_world_longest_series *series)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < series->count; i++)
        most = series->bytes[i] > most ? series->bytes[i] : most;
    return most;
}

/* The three are those of the counters, in order. */
static void test_are_the_longest(void **state)
{
    struct ran ran = ran_open(INCASTS "duration: 3ms\n", true, 1);
    const uint32_t ports = oche_world_network(ran.world)->port_count;
    uint64_t before = UINT64_MAX;

    (void)state;
    assert_int_equal(oche_world_longest_count(ran.world), OCHE_WORLD_LONGEST_QUEUES);
    for (uint32_t i = 0; i < OCHE_WORLD_LONGEST_QUEUES; i++) {
        struct oche_world_longest_series series = oche_world_longest_series(ran.world, i);
        uint64_t most = counted(ran.world, series.port);
        uint32_t longer = 0;

        assert_int_equal(most_of(&series), most);
        assert_true(most > 100000 && most <= before);
        for (uint32_t port = 0; port < ports; port++)
            longer += counted(ran.world, port) > most;
        assert_in_range(longer, 0, i);
        before = most;
    }
    ran_close(&ran);
}

static void assert_same_longest(const struct ran *one, const struct ran *other)
{
    assert_int_equal(one->totals.hash, other->totals.hash);
    assert_int_equal(oche_world_longest_count(one->world), oche_world_longest_count(other->world));
    for (uint32_t i = 0; i < oche_world_longest_count(one->world); i++) {
        struct oche_world_longest_series a = oche_world_longest_series(one->world, i);
        struct oche_world_longest_series b = oche_world_longest_series(other->world, i);

        assert_int_equal(a.port, b.port);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.span, b.span);
        assert_memory_equal(a.bytes, b.bytes, a.count * sizeof(*a.bytes));
    }
}

static void test_any_number_of_threads(void **state)
{
    struct ran one = ran_open(INCASTS, true, 1);

    (void)state;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct ran many = ran_open(INCASTS, true, threads);

        assert_same_longest(&one, &many);
        ran_close(&many);
    }
    ran_close(&one);
}

/* Many short intervals: spans are joined, and equal those of longer intervals. */
static void test_joined_spans(void **state)
{
    struct ran fine = ran_open(
        INCASTS "duration: 3ms\nstop_when_done: false\nmeasure: {interval: 1us}\n", true, 1);
    struct ran coarse = ran_open(
        INCASTS "duration: 3ms\nstop_when_done: false\nmeasure: {interval: 16us}\n", true, 1);

    (void)state;
    assert_int_equal(oche_world_series(fine.world, 0).count, 3000);
    assert_int_equal(oche_world_longest_series(fine.world, 0).span, 16 * OCHE_US);
    assert_in_range(oche_world_longest_series(fine.world, 0).count, MOST_SPANS / 2, MOST_SPANS - 1);
    assert_same_longest(&fine, &coarse);
    ran_close(&coarse);
    ran_close(&fine);
}

/* Queues that a scenario names are not among them. */
static void test_named_ones_are_left_out(void **state)
{
    struct ran ran = ran_open(INCASTS "duration: 3ms\n", true, 1);
    struct oche_world_longest_series first = oche_world_longest_series(ran.world, 0);
    struct oche_world_longest_series second = oche_world_longest_series(ran.world, 1);
    char port[OCHE_PORT_NAME_BYTES], text[2048];

    (void)state;
    oche_topology_global_name(oche_world_topology(ran.world), first.port, port, sizeof(port));
    snprintf(text, sizeof(text), INCASTS "duration: 3ms\nmeasure: {queues: \"%s\"}\n", port);
    struct ran named = ran_open(text, true, 1);
    const char *name;
    const struct oche_queue_watch *watch = oche_world_watch(named.world, 0, &name);

    assert_string_equal(name, port);
    assert_int_equal(watch->max_bytes, most_of(&first));
    assert_int_equal(oche_world_longest_count(named.world), OCHE_WORLD_LONGEST_QUEUES);
    assert_int_equal(oche_world_longest_series(named.world, 0).port, second.port);
    for (uint32_t i = 0; i < OCHE_WORLD_LONGEST_QUEUES; i++)
        assert_int_not_equal(oche_world_longest_series(named.world, i).port, first.port);
    ran_close(&named);
    ran_close(&ran);
}

/* Warm-up is left out, and so are ports without a packet. A sweep's runs keep no such series. */
static void test_what_is_left_out(void **state)
{
    static const char one[] = "topology: {type: star, hosts: 3, host_rate: 10Gbps}\n"
                              "workload: {type: incast, degree: 1, bytes: 50KB}\n"
                              "duration: 2ms\nstop_when_done: false\n";
    char text[512];
    struct ran ran = ran_open(one, true, 1), none = ran_open(one, false, 1);

    (void)state;
    assert_int_equal(oche_world_longest_count(ran.world), 2); /* in both directions, for the ACKs */
    assert_int_equal(oche_world_longest_count(none.world), 0);
    assert_int_equal(ran.totals.hash, none.totals.hash);
    snprintf(text, sizeof(text), "%swarmup: 1ms\n", one);
    struct ran late = ran_open(text, true, 1);

    assert_int_equal(oche_world_longest_count(late.world), 0);
    ran_close(&late);
    ran_close(&none);
    ran_close(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_are_the_longest),  cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_joined_spans),     cmocka_unit_test(test_named_ones_are_left_out),
        cmocka_unit_test(test_what_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
