/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data under way on a connection where a round trip takes far longer than a segment. The window
 * allows it, or least_batches, for long flows and for many short ones. An end has no more memory
 * than its flows need.
 */
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define LINE    (10 * OCHE_GBPS)
#define DELAY   (25 * OCHE_US) /* of a link; a round trip takes four, in which 125 KB leave */
#define SEGMENT 4096
#define FLOWS   4000

static struct small_world small;
static struct oche_flow_plan flows[FLOWS];

static void open_world(void)
{
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", 2);
    small_world_topology(&small, "host_rate", LINE);
    small_world_topology(&small, "delay", DELAY);
    small_world_cc(&small, "segment_bytes", SEGMENT);
    small_world_cc(&small, "anchor_batches", 0);
    small_world_cc(&small, "hold_off_bytes", 0);
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.run.duration = OCHE_SEC;
}

static void close_world(void)
{
    small_world_end(&small);
    small_world_free(&small);
}

/*
 * Runs `count` flows at once. Returns their bytes as a share of the line's capacity in that time.
 */
static double share_of_line(uint32_t count, uint64_t bytes)
{
    oche_time last = 0;

    for (uint32_t i = 0; i < count; i++)
        flows[i] = small_flow(0, 1, bytes, 0);
    small_world_run(&small, flows, count);
    for (uint32_t i = 0; i < count; i++)
        if (small.world->flows.sent[i].completed > last)
            last = small.world->flows.sent[i].completed;
    assert_true(last != OCHE_NEVER);
    return (double)oche_time_of_bytes(count * bytes, LINE) / (double)last;
}

static void test_window(void **state)
{
    static const struct {
        uint32_t flows;
        uint64_t bytes, verb;
        double least, most;
    } rows[] = {
        {1, FLOWS * SEGMENT, OCHE_ROGUE_WRITES, 0.85, 1},
        {FLOWS, SEGMENT, OCHE_ROGUE_WRITES, 0.85, 1},
        /* The NIC has at most 16 READs outstanding. */
        {1, FLOWS * SEGMENT, OCHE_ROGUE_READS, 0.42, 0.53},
        {FLOWS, SEGMENT, OCHE_ROGUE_READS, 0.42, 0.53},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        open_world();
        small_world_cc(&small, "verb", rows[i].verb);
        double share = share_of_line(rows[i].flows, rows[i].bytes);
        assert_true(share > rows[i].least && share < rows[i].most);
        close_world();
    }
}

/* The window is a packet, but the limiter does not limit: posted pieces leave at once. */
static void test_least_batches(void **state)
{
    static const uint64_t least_batches[] = {4, 8, 16, 24, 64};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(least_batches); i++) {
        open_world();
        small_world_cc(&small, "least_batches", least_batches[i]);
        small_world_cc(&small, "least_rate", LINE);
        small_world_cc_real(&small, "most_window", 1e-9);
        double share = share_of_line(1, FLOWS * SEGMENT);
        oche_time leave = oche_time_of_bytes(least_batches[i] * SEGMENT, LINE);
        double in_round_trip = (double)leave / (4.0 * DELAY);
        double most = in_round_trip < 1 ? in_round_trip : 1;
        assert_true(share > 0.9 * most && share < most);
        close_world();
    }
}

static size_t bytes_of_end(uint32_t host)
{
    struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[host]);

    return oche_rogue_parts_bytes(oche_rogue_find(rogue, 0));
}

static void test_memory(void **state)
{
    static const struct {
        uint64_t segments, most_bytes;
    } rows[] = {{1, 6 << 10}, {8, 6 << 10}, {9, 12 << 10}, {100, 56 << 10}, {FLOWS, 208 << 10}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        open_world();
        share_of_line(1, rows[i].segments * SEGMENT);
        assert_in_range(bytes_of_end(0), 1, rows[i].most_bytes);
        assert_in_range(bytes_of_end(1), 1, 5 << 10);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_least_batches),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
