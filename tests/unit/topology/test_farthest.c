/* SPDX-License-Identifier: Apache-2.0 */
/* The longest round trip, against all pairs of hosts and all their shortest paths, one by one. */
#include <string.h>

#include "sim/topology/builder.h"
#include "tests/unit/topology/build.h"

#define BYTES      1106
#define BACK_BYTES 84

/* Returns the time of the slowest shortest path from a switch to a host, in both directions. */
static oche_time slowest_from(const struct oche_topology_routes *routes, uint32_t node,
                              uint32_t dst)
{
    const struct oche_topology *topology = routes->topology;
    const struct oche_routes *of = &routes->of[node - topology->host_count];
    uint32_t group = of->group_of[dst];
    oche_time slowest = 0;

    if (of->own_group == group)
        return 0;
    struct oche_port_set set = of->sets[of->set_of_group[group]];

    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t port = of->ports[set.first + i];
        const struct oche_topology_link *link = oche_topology_port_link(topology, node, port);
        oche_time time = 2 * link->delay + oche_time_of_bytes(BYTES, link->rate_bps) +
                         oche_time_of_bytes(BACK_BYTES, link->rate_bps) +
                         slowest_from(routes, oche_topology_port(topology, node, port)->peer, dst);

        slowest = time > slowest ? time : slowest;
    }
    return slowest;
}

static oche_time time_of_host(const struct oche_topology *topology, uint32_t host)
{
    const struct oche_topology_link *link = oche_topology_port_link(topology, host, 0);

    return 2 * link->delay + oche_time_of_bytes(BYTES, link->rate_bps) +
           oche_time_of_bytes(BACK_BYTES, link->rate_bps);
}

static struct oche_farthest one_by_one(const struct oche_topology_routes *routes, oche_time later)
{
    const struct oche_topology *topology = routes->topology;
    struct oche_farthest farthest = {.round_trip = 0};

    for (uint32_t src = 0; src < topology->host_count; src++)
        for (uint32_t dst = 0; dst < topology->host_count; dst++) {
            if (src == dst)
                continue;
            oche_time time = time_of_host(topology, src) + time_of_host(topology, dst) + later +
                             slowest_from(routes, oche_topology_port(topology, src, 0)->peer, dst);
            uint64_t of_src = oche_topology_port_link(topology, src, 0)->rate_bps;
            uint64_t of_dst = oche_topology_port_link(topology, dst, 0)->rate_bps;
            uint64_t bytes = oche_bytes_in_time(time, of_src < of_dst ? of_src : of_dst);

            if (time > farthest.round_trip)
                farthest.round_trip = time;
            if (bytes > farthest.bytes)
                farthest.bytes = bytes;
        }
    return farthest;
}

static void assert_farthest(const struct oche_topology *topology, bool up_down, oche_time later)
{
    struct oche_topology_routes routes = routed(topology);
    struct oche_farthest found = oche_topology_farthest(&routes, up_down, BYTES, BACK_BYTES, later);
    struct oche_farthest expected = one_by_one(&routes, later);

    assert_int_equal(found.round_trip, expected.round_trip);
    assert_int_equal(found.bytes, expected.bytes);
    oche_topology_routes_free(&routes);
}

static void test_types(void **state)
{
    const struct {
        const char *type;
        const struct setting *settings;
    } cases[] = {
        {"star", SET({"hosts", 5})},
        {"dumbbell", SET({"left_hosts", 3}, {"right_hosts", 2})},
        {"parking_lot", SET({"hops", 4}, {"hosts_per_switch", 2})},
        {"leaf_spine", SET({"leaves", 3}, {"spines", 2}, {"hosts_per_leaf", 2})},
        {"clos", SET({"pods", 2}, {"tors_per_pod", 2}, {"hosts_per_tor", 4}, {"uplinks_per_tor", 2},
                     {"uplinks_per_agg", 2}, {"oversubscription", .real = 0},
                     {"core_rate", 400 * OCHE_GBPS})},
        {"fat_tree", SET({"k", 4})},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_topology topology = built(cases[i].type, cases[i].settings);

        assert_farthest(&topology, oche_topology_type_find(cases[i].type)->up_down, 0);
        oche_topology_free(&topology);
    }
}

static uint64_t below(struct oche_random *random, uint64_t n)
{
    return oche_random_below(random, n);
}

static void add_link(struct oche_topology *topology, struct oche_random *random, uint32_t a,
                     uint32_t b, unsigned rates)
{
    uint64_t rate = (1 + below(random, rates)) * 25 * OCHE_GBPS;
    oche_time delay = OCHE_NS << below(random, 20);

    oche_topology_link(topology, a, b, rate, delay);
}

/* A connected random graph of switches, some links double, with hosts at random switches. */
static struct oche_topology draw(struct oche_random *random)
{
    uint32_t hosts = 2 + (uint32_t)below(random, 12), switches = 1 + (uint32_t)below(random, 8);
    uint32_t more = switches < 2 ? 0 : (uint32_t)below(random, 10);
    unsigned rates = 1 + (unsigned)below(random, 5);
    struct oche_topology topology;
    struct oche_error error;

    assert_true(
        oche_topology_begin(&topology, hosts, switches, hosts + switches - 1 + more, &error));
    for (uint32_t host = 0; host < hosts; host++) {
        oche_topology_name(&topology, host, OCHE_NODE_HOST, OCHE_NO_POD, "h", host);
        add_link(&topology, random, host, hosts + (uint32_t)below(random, switches), rates);
    }
    for (uint32_t s = 0; s < switches; s++) {
        oche_topology_name(&topology, hosts + s, OCHE_NODE_TOR, OCHE_NO_POD, "s", s);
        if (s > 0)
            add_link(&topology, random, hosts + s, hosts + (uint32_t)below(random, s), rates);
    }
    for (uint32_t i = 0; i < more; i++) {
        uint32_t a = (uint32_t)below(random, switches);
        uint32_t b = (a + 1 + (uint32_t)below(random, switches - 1)) % switches;

        add_link(&topology, random, hosts + a, hosts + b, rates);
    }
    assert_true(oche_topology_finish(&topology, &error));
    return topology;
}

static void test_random(void **state)
{
    struct oche_random random = oche_random_stream(1, "farthest", 0);

    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct oche_topology topology = draw(&random);

        assert_farthest(&topology, false, below(&random, 2) * 7 * OCHE_US);
        oche_topology_free(&topology);
    }
}

/*
 * A host far away with a slow link lengthens round trips, but windows only up to its link's
 * capacity. The far host would not be in a sample.
 */
static void test_one_slow_host(void **state)
{
    struct oche_topology topology;
    struct oche_error error;
    const uint32_t hosts = 600, far = 301;

    (void)state;
    assert_true(oche_topology_begin(&topology, hosts, 1, hosts, &error));
    oche_topology_name(&topology, hosts, OCHE_NODE_TOR, OCHE_NO_POD, "s", 0);
    for (uint32_t host = 0; host < hosts; host++) {
        oche_topology_name(&topology, host, OCHE_NODE_HOST, OCHE_NO_POD, "h", host);
        oche_topology_link(&topology, host, hosts, (host == far ? 1 : 400) * OCHE_GBPS,
                           host == far ? 10 * OCHE_MS : OCHE_US);
    }
    assert_true(oche_topology_finish(&topology, &error));
    assert_farthest(&topology, false, 0);
    struct oche_topology_routes routes = routed(&topology);
    struct oche_farthest found = oche_topology_farthest(&routes, false, BYTES, BACK_BYTES, 0);

    assert_in_range(found.round_trip, 20 * OCHE_MS, 21 * OCHE_MS);
    assert_in_range(found.bytes, 2500000, 2600000); /* of 1 Gbit/s in 20 ms */
    oche_topology_routes_free(&routes);
    oche_topology_free(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_one_slow_host)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
