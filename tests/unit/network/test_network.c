/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network with a real transport. A flow alone takes exactly the ideal time. Payload arrives as
 * sent. Bytes mode, payload and threads change no event. Losses are repaired. No packet remains on
 * links or in queues.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <string.h>

static void test_alone_is_ideal(void **state)
{
    static const uint64_t sizes[] = {1, 1000, 1024, 1025, 5000, 64000, 1000000};
    struct small_world small;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sizes); i++) {
        struct oche_flow_plan flow = small_flow(0, 3, sizes[i], 5 * OCHE_US);
        small_world_init(&small, "leaf_spine", "none", "go_back_n");
        small_world_run(&small, &flow, 1);
        const struct oche_flows *flows = oche_world_flows(small.world);
        assert_int_equal(small.totals.flows_completed, 1);
        assert_int_equal(flows->received[0].delivered - flows->sent[0].started,
                         oche_world_ideal_time(small.world, 0));
        assert_int_equal(flows->sent[0].started, 5 * OCHE_US);
        assert_int_equal(small.totals.live_packets, 0);
        assert_int_equal(small.totals.nic.delivered_bytes, sizes[i]);
        small_world_free(&small);
    }
}

static void busy_world(struct small_world *small)
{
    small_world_init(small, "fat_tree", "dcqcn", "go_back_n");
    small_world_topology(small, "k", 4);
    small_world_topology(small, "link_rate", 100 * OCHE_GBPS);
    small->config.switches.buffer_bytes = 1500000;
    small->config.run.duration = 5 * OCHE_MS;
    small->config.run.stop_when_done = false; /* so that the last CNPs arrive, too */
}

static void test_modes_change_nothing(void **state)
{
    struct oche_flow_plan flows[64];
    uint32_t count = small_world_busy_flows(flows, 16);
    struct small_world small;

    (void)state;
    busy_world(&small);
    small_world_run(&small, flows, count);
    uint64_t hash = small.totals.hash, events = small.totals.hops;
    assert_int_equal(small.totals.flows_completed, count);
    assert_true(small.totals.nic.cnps_received > 0);
    assert_true(small.totals.pauses_sent > 0);
    assert_int_equal(small.totals.drops[OCHE_DROP_BUFFER], 0);
    assert_int_equal(small.totals.live_packets, 0);
    assert_false(small.totals.any_port_paused);
    small_world_end(&small);

    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (unsigned mode = 0; mode < 4; mode++) {
            small.config.threads = threads;
            small.config.run.bytes = mode & 1;
            small.config.run.payload = mode >> 1 & 1;
            small_world_run(&small, flows, count);
            assert_int_equal(small.totals.hash, hash);
            assert_int_equal(small.totals.hops, events);
            assert_int_equal(small.totals.corrupt_bytes, 0);
            assert_int_equal(small.totals.rejected_packets, 0);
            small_world_end(&small);
        }
    }
    small.config.threads = 1;
    small.config.seed = 2;
    small_world_run(&small, flows, count);
    assert_int_not_equal(small.totals.hash, hash);
    small_world_free(&small);
}

static void test_loss_is_repaired(void **state)
{
    struct oche_flow_plan flows[64];
    uint32_t count = small_world_busy_flows(flows, 16);
    struct small_world small;

    (void)state;
    busy_world(&small);
    small.config.loss.probability = 0.01;
    small.config.run.payload = true;
    small.config.run.duration = 100 * OCHE_MS;
    small.config.hosts.ack_timeout = OCHE_MS;
    small_world_run(&small, flows, count);
    assert_int_equal(small.totals.flows_completed, count);
    assert_int_equal(small.totals.corrupt_bytes, 0);
    assert_true(small.totals.lost_packets > 0);
    assert_true(small.totals.nic.retransmitted_packets > 0);
    assert_int_equal(small.totals.live_packets, 0);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += flows[i].bytes;
    assert_int_equal(small.totals.nic.delivered_bytes, bytes);
    small_world_free(&small);
}

static void test_one_connection_a_pair(void **state)
{
    struct oche_flow_plan flows[100];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        flows[i] = small_flow(i % 3, 3, 1 + i * 777, i * OCHE_US);
    small_world_init(&small, "star", "dcqcn", "go_back_n");
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.run.payload = true;
    small_world_run(&small, flows, 100);
    assert_int_equal(small.totals.flows_completed, 100);
    assert_int_equal(oche_world_flows(small.world)->connection_count, 3);
    assert_int_equal(small.totals.corrupt_bytes, 0);
    for (uint32_t i = 3; i < 100; i++) { /* messages of a connection arrive in order */
        const struct oche_flows *done = oche_world_flows(small.world);
        assert_true(done->received[i].delivered > done->received[i - 3].delivered);
    }
    small_world_free(&small);
}

/*
 * Closed loops between the same hosts: each has its own queue pair. So short messages of the second
 * loop do not wait behind the long one of the first, as they do with one queue pair for each pair
 * of hosts. A chain that continues to another host uses another queue pair.
 */
static void test_one_connection_a_chain(void **state)
{
    struct oche_flow_plan flows[12];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 12; i++)
        flows[i] = small_flow(0, i < 10 ? 1 : 2, 1000, i < 2 ? 0 : OCHE_NEVER);
    flows[0].bytes = 10000000; /* two chains that alternate: 0, 2, … 10 and 1, 3, … 11 */
    for (uint32_t i = 0; i < 10; i++)
        flows[i].then_same_source = i + 2;
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.run.duration = 10 * OCHE_MS;
    for (unsigned i = 0; i < 2; i++) {
        small.config.hosts.connections =
            i == 0 ? OCHE_CONNECTION_PER_CHAIN : OCHE_CONNECTION_PER_PAIR;
        small_world_run(&small, flows, 12);
        const struct oche_flows *done = oche_world_flows(small.world);
        assert_int_equal(small.totals.flows_completed, 12);
        assert_int_equal(done->connection_count, i == 0 ? 4 : 2);
        assert_int_equal(done->plan[8].connection, done->plan[0].connection);
        assert_int_equal(done->plan[1].connection == done->plan[0].connection, i);
        assert_int_equal(done->received[9].delivered > OCHE_MS, i);
        small_world_end(&small);
    }
    small_world_free(&small);
}

/*
 * Without congestion control, a sender that policy starts at 5 Gbit/s keeps that rate: each packet
 * but the last takes its spacing. The line rate or more is no limit. A second flow on the same
 * connection finds the rate of the first.
 */
static void test_initial_rate(void **state)
{
    struct oche_flow_plan flows[2] = {small_flow(0, 1, 100 * 1024, 0),
                                      small_flow(0, 1, 100 * 1024, OCHE_MS)};
    struct small_world small;
    oche_time took[2];

    (void)state;
    flows[0].initial_rate_bps = 5 * OCHE_GBPS;
    small_world_init(&small, "star", "none", "go_back_n");
    for (unsigned per_pair = 0; per_pair < 2; per_pair++) {
        small.config.hosts.connections = per_pair;
        small_world_run(&small, flows, 2);
        assert_int_equal(small.totals.flows_completed, 2);
        const struct oche_flows *done = oche_world_flows(small.world);
        for (unsigned i = 0; i < 2; i++)
            took[i] = done->received[i].delivered - done->sent[i].started;
        oche_time ideal = oche_world_ideal_time(small.world, 0);
        oche_time full = 62 + 1024 + 20, first = full + 16;
        oche_time paced =
            oche_time_of_bytes(first, 5 * OCHE_GBPS) + 98 * oche_time_of_bytes(full, 5 * OCHE_GBPS);
        oche_time last = 2 * (oche_time_of_bytes(full, 40 * OCHE_GBPS) + OCHE_US);
        assert_int_equal(took[0], paced + last);
        assert_int_equal(took[1], per_pair ? took[0] : ideal);
        small_world_end(&small);
    }
    flows[0].initial_rate_bps = 41 * OCHE_GBPS;
    small_world_run(&small, flows, 1);
    assert_int_equal(oche_world_flows(small.world)->received[0].delivered,
                     oche_world_ideal_time(small.world, 0));
    small_world_free(&small);
}

/* A scheme whose packets all carry the place of their payload is not slow because of that. */
static void test_alone_with_every_recovery(void **state)
{
    static const uint64_t mtus[] = {256, 1000, 4096}, sizes[] = {1, 256, 300, 100000, 1000001};

    (void)state;
    for (size_t scheme = 0; scheme < oche_recovery_scheme_count; scheme++)
        for (size_t i = 0; i < OCHE_COUNT_OF(mtus) * OCHE_COUNT_OF(sizes); i++) {
            struct oche_flow_plan flow = small_flow(0, 1, sizes[i / OCHE_COUNT_OF(mtus)], 0);
            struct small_world small;

            small_world_init(&small, "star", "none", oche_recovery_schemes[scheme]->name);
            small.config.hosts.mtu_bytes = mtus[i % OCHE_COUNT_OF(mtus)];
            small_world_run(&small, &flow, 1);
            assert_int_equal(oche_world_flows(small.world)->received[0].delivered,
                             oche_world_ideal_time(small.world, 0));
            small_world_free(&small);
        }
}

/* All data goes from one shard to the other, and few ACKs come back: packets are reused. */
static void test_packets_are_used_again(void **state)
{
    struct oche_flow_plan flows[2] = {small_flow(0, 2, 50000000, 0), small_flow(1, 3, 50000000, 0)};
    struct small_world small;
    uint64_t hash = 0;

    (void)state;
    small_world_init(&small, "dumbbell", "none", "go_back_n");
    small.config.hosts.ack_every_packets = 64;
    small.config.run.duration = 100 * OCHE_MS;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        small.config.threads = threads;
        small_world_run(&small, flows, 2);
        const struct oche_network *network = oche_world_network(small.world);
        assert_int_equal(network->shard_count, threads);
        assert_true(small.totals.nic.data_packets_sent > 95000);
        int64_t made = 0;
        for (uint32_t s = 0; s < threads; s++) {
            made += network->shards[s].pool.made;
            assert_true(oche_packet_pool_idle(&network->shards[s].pool) >= 0);
        }
        assert_true(made < 4 * OCHE_PACKET_POOL_SHARE);
        assert_true(threads == 1 || small.totals.hash == hash);
        hash = small.totals.hash;
        small_world_end(&small);
    }
    small_world_free(&small);
}

/* Threads run together if there is enough work for all, and where the test forces it. */
static void test_threads_meet_for_many_events(void **state)
{
    const struct oche_flow_plan flow = small_flow(0, 3, 10000, 0);
    struct oche_flow_plan flows[64];
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.threads = 2;
    small_world_run(&small, &flow, 1);
    assert_int_equal(small.totals.flows_completed, 1);
    if (!oche_world_network(small.world)->pace.always)
        assert_int_equal(oche_world_network(small.world)->windows_together, 0);
    small_world_free(&small);
    busy_world(&small);
    small.config.threads = 2;
    small.config.together = true;
    small_world_run(&small, flows, small_world_busy_flows(flows, 16));
    assert_true(oche_world_network(small.world)->windows_together > 20);
    small_world_free(&small);
}

/* Warm-up, series and watched queues are the same with any number of threads. */
static void test_measures_with_threads(void **state)
{
    static double first[160][512];
    static struct oche_world_paused_port held[20000];
    struct oche_world_totals one = {0};
    struct oche_flow_plan flows[64];
    uint32_t count = small_world_busy_flows(flows, 16);
    struct small_world small;

    (void)state;
    busy_world(&small);
    small.config.run.stop_when_done = true;
    small.config.run.warmup = 13 * OCHE_US + 7;
    small.config.measure.interval = 3 * OCHE_US + 1;
    small.config.measure.queues = "tor0:host0, core0:0";
    small.config.measure.rates = true;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        small.config.threads = threads;
        small_world_run(&small, flows, count);
        uint32_t columns = oche_world_series_count(small.world);
        assert_int_equal(columns, 2 + 16 + count + 2 + count);
        uint64_t goodput = 0, of_hosts = 0, of_flows = 0;
        for (uint32_t c = 0; c < columns; c++) {
            struct oche_world_series series = oche_world_series(small.world, c);
            assert_in_range(series.count, 10, 512);
            /* A sample is taken at the end of each whole interval. */
            assert_int_equal(series.count, small.totals.measured / small.config.measure.interval);
            if (threads == 1)
                memcpy(first[c], series.values, series.count * sizeof(double));
            assert_memory_equal(first[c], series.values, series.count * sizeof(double));
            if (strcmp(series.name, "goodput") != 0)
                continue;
            for (uint32_t i = 0; i < series.count; i++)
                *(c == 0                                    ? &goodput
                  : strncmp(series.entity, "flow ", 5) == 0 ? &of_flows
                                                            : &of_hosts) +=
                    (uint64_t)series.values[i];
        }
        /* Rates are rounded down. */
        assert_in_range(goodput - of_hosts, 0, 16 * 512);
        assert_in_range(goodput - of_flows, 0, count * 512);
        size_t holds;
        const struct oche_world_paused_port *hold = oche_world_paused_ports(small.world, &holds);
        assert_in_range(holds, 10, 20000);
        if (threads == 1)
            memcpy(held, hold, holds * sizeof(*hold));
        for (size_t i = 0; i < holds; i++) {
            assert_true(hold[i].node == held[i].node && hold[i].port == held[i].port);
            assert_true(hold[i].row == held[i].row && hold[i].held == held[i].held);
            assert_in_range(hold[i].held, 1, small.config.measure.interval);
        }
        /* The bytes delivered after the warm-up, without the last, incomplete interval. */
        uint64_t bytes = oche_bytes_in_time(small.config.measure.interval, goodput);
        assert_true(bytes <= small.totals.nic.delivered_bytes);
        assert_true(bytes > small.totals.nic.delivered_bytes / 10 * 9);
        if (threads == 1)
            one = small.totals;
        assert_memory_equal(&one, &small.totals, sizeof(one));
        small_world_end(&small);
    }
    small_world_free(&small);
}

static void test_warmup_is_left_out(void **state)
{
    struct oche_flow_plan flows[2] = {small_flow(0, 1, 100000, 0),
                                      small_flow(2, 3, 200000, 2 * OCHE_MS)};
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.run.warmup = OCHE_MS;
    small.config.run.duration = 5 * OCHE_MS;
    small_world_run(&small, flows, 2);
    assert_int_equal(small.totals.nic.delivered_bytes, 200000);
    assert_int_equal(small.totals.flows_completed, 2);
    small_world_free(&small);
}

/* On short links, sending a packet takes longer than its way: the ring of events covers both. */
static void test_ring_reaches_over_slow_links(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 100000, 0);
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small_world_topology(&small, "hosts", 2);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small_world_topology(&small, "delay", OCHE_NS);
    small.config.hosts.mtu_bytes = 4096;
    small_world_run(&small, &flow, 1);
    const struct oche_event_queue *events = &oche_world_network(small.world)->shards[0].events;
    assert_true(events->mask * events->slice >= oche_time_of_bytes(4096, 10 * OCHE_GBPS));
    assert_int_equal(small.totals.flows_completed, 1);
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone_is_ideal),
        cmocka_unit_test(test_alone_with_every_recovery),
        cmocka_unit_test(test_modes_change_nothing),
        cmocka_unit_test(test_loss_is_repaired),
        cmocka_unit_test(test_one_connection_a_pair),
        cmocka_unit_test(test_one_connection_a_chain),
        cmocka_unit_test(test_warmup_is_left_out),
        cmocka_unit_test(test_initial_rate),
        cmocka_unit_test(test_packets_are_used_again),
        cmocka_unit_test(test_measures_with_threads),
        cmocka_unit_test(test_threads_meet_for_many_events),
        cmocka_unit_test(test_ring_reaches_over_slow_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
