/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slowest flows over time: they equal those in the results. The bytes that arrive in their
 * spans equal the bytes delivered. The run does not change.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/ran.h"

/* Large flows that meet, listed and from a source, and many that are too small. */
#define MEETING                                                                                    \
    "topology: {type: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, host_rate: 25Gbps, "    \
    "link_rate: 50Gbps, delay: 1us}\nseed: 7\n"                                                    \
    "workload: [{type: incast, degree: 6, bytes: 300KB}, "                                         \
    "{type: incast, degree: 5, bytes: 90KB, receiver_host: 5, start: 100us}, "                     \
    "{type: poisson_cdf, cdf: websearch, load: 50%, stop: 4ms}]\n"

static oche_time lost_by(const struct ran *ran, uint32_t flow)
{
    const struct oche_flows *flows = oche_world_flows(ran->world);
    oche_time end = flows->received[flow].delivered;
    oche_time took =
        (end == OCHE_NEVER ? oche_world_network(ran->world)->now : end) - flows->sent[flow].started;

    oche_time alone = oche_world_ideal_time(ran->world, flow);

    return took > alone ? took - alone : 0;
}

static bool counts(const struct ran *ran, uint32_t flow, oche_time from)
{
    const struct oche_flows *flows = oche_world_flows(ran->world);

    return flows->plan[flow].bytes >= 100000 && flows->sent[flow].started != OCHE_NEVER &&
           flows->sent[flow].started >= from;
}

/* The three large flows that lost the most time, in order. */
static void assert_slowest(const struct ran *ran, oche_time from)
{
    const struct oche_flows *flows = oche_world_flows(ran->world);
    oche_time before = OCHE_NEVER;

    assert_int_equal(oche_world_slowest_count(ran->world), OCHE_WORLD_SLOWEST_FLOWS);
    for (uint32_t i = 0; i < OCHE_WORLD_SLOWEST_FLOWS; i++) {
        struct oche_world_slowest_series series = oche_world_slowest_series(ran->world, i);
        const oche_time lost = lost_by(ran, series.flow);
        uint32_t slower = 0;

        assert_int_equal(series.lost, lost);
        assert_true(counts(ran, series.flow, from) && series.slowdown > 1 && lost <= before);
        for (OCHE_EACH_MADE_FLOW(f, flows))
            slower += counts(ran, f, from) && lost_by(ran, f) > lost;
        assert_in_range(slower, 0, i);
        before = lost;
    }
}

/* All arrived bytes are in the spans, from the span of the flow's start. */
static void assert_bytes(const struct ran *ran, oche_time from)
{
    for (uint32_t i = 0; i < oche_world_slowest_count(ran->world); i++) {
        struct oche_world_slowest_series series = oche_world_slowest_series(ran->world, i);
        const struct oche_flow_sent *sent = &oche_world_flows(ran->world)->sent[series.flow];
        uint64_t sum = 0;

        for (uint32_t k = 0; k < series.count; k++)
            sum += series.bytes[k];
        assert_int_equal(sum, oche_world_flow_bytes(ran->world, series.flow));
        assert_int_equal(series.first, (sent->started - from) / series.span);
    }
}

static void test_are_the_slowest(void **state)
{
    struct ran ran = ran_open(MEETING "duration: 8ms\nstop_when_done: false\n", true, 1);
    struct ran late = ran_open(MEETING "duration: 8ms\nwarmup: 1ms\n", true, 1);
    struct ran none = ran_open(MEETING "duration: 8ms\nstop_when_done: false\n", false, 1);

    (void)state;
    assert_slowest(&ran, 0);
    assert_bytes(&ran, 0);
    assert_slowest(&late, OCHE_MS);
    assert_bytes(&late, OCHE_MS);
    assert_int_equal(oche_world_slowest_count(none.world), 0);
    assert_int_equal(ran.totals.hash, none.totals.hash);
    ran_close(&none);
    ran_close(&late);
    ran_close(&ran);
}

static void assert_same(const struct ran *one, const struct ran *other)
{
    assert_int_equal(one->totals.hash, other->totals.hash);
    assert_int_equal(oche_world_slowest_count(one->world), oche_world_slowest_count(other->world));
    for (uint32_t i = 0; i < oche_world_slowest_count(one->world); i++) {
        struct oche_world_slowest_series a = oche_world_slowest_series(one->world, i);
        struct oche_world_slowest_series b = oche_world_slowest_series(other->world, i);

        assert_int_equal(a.flow, b.flow);
        assert_int_equal(a.first, b.first);
        assert_int_equal(a.count, b.count);
        assert_int_equal(a.span, b.span);
        assert_memory_equal(a.bytes, b.bytes, a.count * sizeof(*a.bytes));
    }
}

static void test_any_number_of_threads(void **state)
{
    struct ran one = ran_open(MEETING, true, 1);

    (void)state;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct ran many = ran_open(MEETING, true, threads);

        assert_same(&one, &many);
        ran_close(&many);
    }
    ran_close(&one);
}

/* Many short intervals: spans are joined, and equal those of longer intervals. */
static void test_joined_spans(void **state)
{
    static const char fine[] = MEETING "duration: 4ms\nstop_when_done: false\n"
                                       "measure: {interval: 1us}\n";
    static const char coarse[] = MEETING "duration: 4ms\nstop_when_done: false\n"
                                         "measure: {interval: 16us}\n";
    struct ran one = ran_open(fine, true, 1), other = ran_open(coarse, true, 1);

    (void)state;
    assert_int_equal(oche_world_slowest_series(one.world, 0).span, 16 * OCHE_US);
    assert_true(oche_world_slowest_series(one.world, 0).count > 20);
    assert_same(&one, &other);
    ran_close(&other);
    ran_close(&one);
}

/* A flow that never arrives is the slowest. Flows that are too small do not count. */
static void test_unfinished_and_small(void **state)
{
    static const char star[] = "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n"
                               "workload: {type: incast, degree: 3, bytes: %s}\n"
                               "duration: 2ms\nstop_when_done: false\n";
    char text[512];

    (void)state;
    snprintf(text, sizeof(text), star, "90KB");
    struct ran small = ran_open(text, true, 1);

    assert_int_equal(oche_world_slowest_count(small.world), 0);
    ran_close(&small);
    snprintf(text, sizeof(text), star, "1MB");
    struct ran large = ran_open(text, true, 1);

    assert_slowest(&large, 0);
    assert_true(oche_world_slowest_series(large.world, 0).lost > OCHE_MS);
    assert_true(oche_world_slowest_series(large.world, 0).bytes[0] > 0);
    ran_close(&large);
}

/* Messages of a job are followed, in whatever order they are sent. */
static void test_of_a_job(void **state)
{
    static const char job[] =
        "topology: {type: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, host_rate: 25Gbps, "
        "link_rate: 25Gbps, delay: 1us}\nseed: 7\n"
        "workload: [{type: collective, operation: all_to_all, algorithm: direct, bytes: 12MB, "
        "repeat: 2}, {type: incast, degree: 3, bytes: 200KB}]\nduration: 50ms\n";
    struct ran one = ran_open(job, true, 1), many = ran_open(job, true, 3);
    struct ran none = ran_open(job, false, 1);

    (void)state;
    assert_slowest(&one, 0);
    assert_bytes(&one, 0);
    assert_same(&one, &many);
    assert_int_equal(one.totals.hash, none.totals.hash);
    assert_int_equal(
        oche_world_flows(one.world)->plan[oche_world_slowest_series(one.world, 0).flow].workload,
        0);
    ran_close(&none);
    ran_close(&many);
    ran_close(&one);
}

/* When very many flows wait or are under way, none is followed, and the run is the same. */
static void test_too_many(void **state)
{
    static const char star[] = "topology: {type: star, hosts: 17, host_rate: 100Gbps}\n"
                               "workload: {type: incast, degree: 16, bytes: 100KB, period: 100ns}\n"
                               "duration: %s\nstop_when_done: false\n";
    char text[512];

    (void)state;
    snprintf(text, sizeof(text), star, "100us"); /* 16,000 flows */
    struct ran few = ran_open(text, true, 1);

    assert_int_equal(oche_world_slowest_count(few.world), OCHE_WORLD_SLOWEST_FLOWS);
    ran_close(&few);
    snprintf(text, sizeof(text), star, "105us"); /* 16,800 */
    struct ran many = ran_open(text, true, 1), none = ran_open(text, false, 1);

    assert_int_equal(oche_world_slowest_count(many.world), 0);
    assert_true(oche_world_longest_count(many.world) > 0);
    assert_int_equal(many.totals.hash, none.totals.hash);
    ran_close(&none);
    ran_close(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_are_the_slowest), cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_joined_spans),    cmocka_unit_test(test_unfinished_and_small),
        cmocka_unit_test(test_of_a_job),        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
