/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RCP in a network: N flows converge to C/N, and no packet waits. With two bottlenecks each flow
 * gets its max-min rate. Flows that come and go; a link with a port slower than the hosts'; the
 * host's own port. The same run on any number of threads, as structs and as bytes. Also Dart sec
 * VI-D: it takes many round trips.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "fabric/rcp_rate.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"

#define RATE  (10 * OCHE_GBPS)
#define DELAY (5 * OCHE_US)
#define LONG  1000000000
#define MOST  64

static void open_star(struct small_world *small, uint32_t hosts, oche_time end)
{
    small_world_init(small, "star", "rcp", "go_back_n");
    small_world_topology(small, "hosts", hosts);
    small_world_topology(small, "host_rate", RATE);
    small_world_topology(small, "delay", DELAY);
    small->config.run.duration = end;
    small->config.switches.buffer_bytes = 32000000;
}

static uint64_t rate_of(const struct small_world *small, uint32_t flow)
{
    const struct oche_world *world = small->world;

    return oche_host_rate_bps(world->hosts[world->flows.plan[flow].src],
                              world->flows.plan[flow].connection);
}

static void assert_near(uint64_t rate, double want, double tolerance)
{
    if ((double)rate < want * (1 - tolerance) || (double)rate > want * (1 + tolerance))
        fail_msg("a rate is %.1f Mbps, not %.1f Mbps", (double)rate / 1e6, want / 1e6);
}

/* Returns the bytes in all switches' queues. */
static uint64_t queued(const struct small_world *small)
{
    const struct oche_world *world = small->world;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < world->topology.switch_count; i++)
        bytes += oche_switch_occupied_bytes(world->switches[i]);
    return bytes;
}

/*
 * With 32 senders packets are small. Otherwise each flow has less than one packet in a round trip,
 * and the bytes in T are random.
 */
static void shares(uint32_t senders, oche_time end)
{
    struct oche_flow_plan flows[MOST];
    struct small_world small;

    for (uint32_t i = 0; i < senders; i++)
        flows[i] = small_flow(i + 1, 0, LONG, i * 17 * OCHE_US);
    open_star(&small, senders + 1, end);
    small.config.hosts.mtu_bytes = senders > 8 ? 256 : 1024;
    small_world_run(&small, flows, senders);
    for (uint32_t i = 0; i < senders; i++)
        assert_near(rate_of(&small, i), (double)RATE / senders, 0.03);
    assert_true(queued(&small) <= senders * UINT64_C(1200));
    assert_int_equal(small.totals.nic.retransmitted_packets, 0);
    assert_int_equal(small.totals.pauses_sent, 0);
    small_world_end(&small);
    small_world_free(&small);
}

static void one_has_the_line(void **state)
{
    (void)state;
    shares(1, OCHE_MS);
}

static void n_have_a_share_each(void **state)
{
    (void)state;
    shares(2, 3 * OCHE_MS);
    shares(7, 5 * OCHE_MS);
    shares(32, 10 * OCHE_MS);
}

/* Two chain links: three flows on the first; one of them, and one more, on the second. */
static void two_bottlenecks(void **state)
{
    /* Hosts 0, 1, 2 at the first switch, 3, 4, 5 at the second, 6, 7, 8 at the third. */
    struct oche_flow_plan flows[] = {small_flow(0, 6, LONG, 0), small_flow(1, 3, LONG, 0),
                                     small_flow(2, 4, LONG, 0), small_flow(5, 7, LONG, 0)};
    static const double want[] = {1.0 / 3, 1.0 / 3, 1.0 / 3, 2.0 / 3};
    struct small_world small;

    (void)state;
    small_world_init(&small, "parking_lot", "rcp", "go_back_n");
    small_world_topology(&small, "hops", 2);
    small_world_topology(&small, "hosts_per_switch", 3);
    small_world_topology(&small, "host_rate", RATE);
    small_world_topology(&small, "link_rate", RATE);
    small.config.run.duration = 5 * OCHE_MS;
    small_world_run(&small, flows, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_near(rate_of(&small, i), want[i] * (double)RATE, 0.03);
    assert_true(queued(&small) < 12000);
    small_world_end(&small);
    small_world_free(&small);
}

/* The slow port in the middle decides, and the fast ports agree. */
static void a_slow_link(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(0, 2, LONG, 0), small_flow(1, 3, LONG, 0)};
    struct small_world small;

    (void)state;
    small_world_init(&small, "dumbbell", "rcp", "go_back_n");
    small_world_topology(&small, "host_rate", RATE);
    small_world_topology(&small, "bottleneck_rate", OCHE_GBPS);
    small_world_topology(&small, "delay", 10 * OCHE_US);
    small.config.hosts.mtu_bytes = 256;
    small.config.run.duration = 20 * OCHE_MS;
    small_world_run(&small, flows, 2);
    assert_near(rate_of(&small, 0), 0.5e9, 0.05);
    assert_near(rate_of(&small, 1), 0.5e9, 0.05);
    small_world_end(&small);
    small_world_free(&small);
}

/*
 * Dart sec VI-D, Fig 15(a): the newcomer begins fast, but it takes long until both rates are right.
 */
static void a_newcomer_takes_many_round_trips(void **state)
{
    const oche_time rtt = 22600 * OCHE_NS, join = 40 * rtt;
    struct oche_flow_plan flows[] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, LONG, join)};
    uint64_t first[3], second[3];
    const oche_time at[3] = {join, join + 8 * rtt, join + 80 * rtt};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct small_world small;

        open_star(&small, 3, at[i]);
        small_world_run(&small, flows, 2);
        first[i] = rate_of(&small, 0);
        second[i] = rate_of(&small, 1);
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_near(first[0], (double)RATE, 0.03);
    assert_true(first[1] < RATE / 5); /* all too low */
    assert_near(first[2], (double)RATE / 2, 0.03);
    assert_near(second[2], (double)RATE / 2, 0.03);
}

/* A flow that ends leaves its part to the others. A new flow on an idle queue pair asks again. */
static void comes_and_goes(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, 1000000, 0),
                                     small_flow(2, 0, 1000000, 20 * OCHE_MS)};
    struct small_world small;

    (void)state;
    open_star(&small, 3, 10 * OCHE_MS);
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small_world_run(&small, flows, 3);
    assert_true(small.world->flows.received[1].delivered < 5 * OCHE_MS);
    assert_near(rate_of(&small, 0), (double)RATE, 0.03);
    small_world_end(&small);
    /* 20 ms later: one packet, then at the rate it was given, which is not its last rate. */
    small.config.run.duration = 20 * OCHE_MS + 15 * OCHE_US;
    small_world_run(&small, flows, 3);
    assert_true(rate_of(&small, 2) == RATE / 20);
    small_world_end(&small);
    small.config.run.duration = 20 * OCHE_MS + 30 * OCHE_US;
    small_world_run(&small, flows, 3);
    assert_near(rate_of(&small, 2), (double)RATE, 0.1);
    small_world_end(&small);
    small_world_free(&small);
}

/* One hash for both packet forms and any number of threads. */
static void the_same_run(void **state)
{
    struct oche_flow_plan flows[MOST];
    uint64_t hash = 0, updates = 0;

    (void)state;
    for (unsigned how = 0; how < 5; how++) {
        struct small_world small;

        small_world_init(&small, "leaf_spine", "rcp", "go_back_n");
        for (uint32_t i = 0; i < 24; i++)
            flows[i] = small_flow(i % 8, (i * 5 + 3) % 16 == i % 8 ? 15 : (i * 5 + 3) % 16,
                                  200000 + i * 1000, i * 3 * OCHE_US);
        small.config.run.duration = 3 * OCHE_MS;
        small.config.threads = how < 3 ? how + 1 : 1;
        small.config.run.bytes = how >= 3;
        small.config.run.payload = how == 4;
        small_world_run(&small, flows, 24);
        if (how == 0) {
            hash = small.totals.hash;
            updates = small.totals.mechanisms[1][0];
        }
        assert_true(small.totals.hash == hash);
        assert_true(updates > 100);
        assert_int_equal(small.totals.mechanisms[1][0], updates);
        small_world_end(&small);
        small_world_free(&small);
    }
}

/* A scenario without RCP's switches is rejected. */
static void needs_its_switches(void **state)
{
    struct oche_error error = {""};
    struct small_world small;

    (void)state;
    open_star(&small, 3, OCHE_MS);
    small.config.mechanism_count = 0;
    assert_null(oche_world_create(&small.config, &error));
    assert_string_equal(error.text, "switch.mechanisms: congestion_control rcp needs rcp_rate");
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_has_the_line),
        cmocka_unit_test(n_have_a_share_each),
        cmocka_unit_test(two_bottlenecks),
        cmocka_unit_test(a_slow_link),
        cmocka_unit_test(a_newcomer_takes_many_round_trips),
        cmocka_unit_test(comes_and_goes),
        cmocka_unit_test(the_same_run),
        cmocka_unit_test(needs_its_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
