/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symmetric routing: with ExpressPass every packet takes the path of its credits backwards. Checked
 * by walks over many pairs and hashes, and by a mechanism in every switch that notes the packets of
 * a run. Networks that cannot be symmetric are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/topology/routes.h"
#include "sim/topology/walk.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "sim/endpoint/expresspass/xpass.h"

static const struct {
    const char *type, *names[5];
    uint64_t values[5];
} networks[] = {
    {"star", {NULL}, {0}},
    {"dumbbell", {NULL}, {0}},
    {"parking_lot", {NULL}, {0}},
    {"leaf_spine", {NULL}, {0}},
    {"fat_tree", {"k"}, {4}},
    {"fat_tree", {"k"}, {8}},
    {"clos", {"pods", "tors_per_pod"}, {4, 3}},
    /* The testbed of DCQCN: both cores have links to both switches of each pod. */
    {"clos",
     {"pods", "tors_per_pod", "uplinks_per_tor", "cores", "hosts_per_tor"},
     {2, 2, 2, 2, 8}},
};
#define NETWORKS OCHE_COUNT_OF(networks)

static void configure(struct small_world *small, size_t n)
{
    small_world_init(small, networks[n].type, "expresspass", "go_back_n");
    for (unsigned i = 0; i < 5 && networks[n].names[i] != NULL; i++)
        small_world_topology(small, networks[n].names[i], networks[n].values[i]);
}

/* Counts the flows whose paths there and back agree, and the different paths. */
static uint32_t count_walks(const struct small_world *small, bool symmetric, uint32_t flows,
                            uint32_t *ways)
{
    struct oche_topology topology;
    struct oche_topology_routes routes;
    struct oche_random random = oche_random_stream(5, "walks", 0);
    struct oche_error error;
    uint32_t same = 0;
    uint64_t seen = 0;

    assert_true(small->config.topology->build(small->topology_params, &topology, &error));
    assert_true(oche_topology_route(&topology, &routes, &error));
    uint32_t hosts = topology.host_count;
    for (uint32_t i = 0; i < flows; i++) {
        /* Half of the flows are between the first and the last host, to count their paths. */
        uint32_t src = i & 1 ? 0 : (uint32_t)oche_random_below(&random, hosts);
        uint32_t dst =
            i & 1 ? hosts - 1 : (src + 1 + (uint32_t)oche_random_below(&random, hosts - 1)) % hosts;
        uint32_t hash = (uint32_t)oche_random_u64(&random);
        struct oche_walk there, back;
        uint64_t way = 0;

        oche_topology_walk(&topology, routes.of, 1 + i % 7, symmetric, src, dst, hash, &there);
        oche_topology_walk(&topology, routes.of, 1 + i % 7, symmetric, dst, src, hash, &back);
        same += oche_topology_walks_back(&topology, &there, &back);
        for (uint32_t p = 0; p < there.count; p++)
            way = way * 31 + there.ports[p];
        if (i & 1)
            seen |= UINT64_C(1) << (oche_mix64(way) & 63);
    }
    *ways = (uint32_t)__builtin_popcountll(seen);
    oche_topology_routes_free(&routes);
    oche_topology_free(&topology);
    return same;
}

static void test_walks(void **state)
{
    const uint32_t flows = 4000;

    (void)state;
    for (size_t n = 0; n < NETWORKS; n++) {
        struct small_world small;
        uint32_t ways, other_ways;

        configure(&small, n);
        assert_int_equal(count_walks(&small, true, flows, &ways), flows);
        /*
         * Routing is symmetric, and spreads flows as well as independent choices of the switches
         * do.
         */
        uint32_t same = count_walks(&small, false, flows, &other_ways);
        if (other_ways > 1)
            assert_true(same < flows);
        /* In the last network cores go down; which ones depends on the ToRs' choice. */
        assert_int_equal(ways, n + 1 < NETWORKS ? other_ways : 4);
        small_world_free(&small);
    }
}

/* ---- a mechanism that notes packets ---- */

#define CONNECTIONS 128

struct ends {
    uint16_t in, out; /* port + 1; 0: none seen */
};

struct spy {
    struct ends of[CONNECTIONS][2]; /* data; packets that come back */
    uint32_t packets, strays;
};

static struct spy *spies[4096];
static unsigned spy_count;

static size_t spy_bytes(const struct oche_switch_config *config, const void *params)
{
    (void)config;
    (void)params;
    return sizeof(struct spy);
}

static void spy_create(void *state, const struct oche_switch_config *config, const void *params)
{
    (void)config;
    (void)params;
    spies[spy_count++] = state;
}

static void spy_enqueue(void *state, struct oche_switch *sw, unsigned port,
                        struct oche_packet *packet, oche_time now)
{
    struct spy *spy = state;
    bool back = packet->xpass.type == OCHE_XPASS_CREDIT || packet->xpass.type == OCHE_XPASS_DONE;
    struct ends *ends = spy->of[packet->dest_qpn - OCHE_FIRST_QPN];
    struct ends here = {.in = (uint16_t)(packet->ingress_port + 1), .out = (uint16_t)(port + 1)};

    (void)sw;
    (void)now;
    spy->packets++;
    if (ends[back].in == 0)
        ends[back] = here;
    spy->strays += ends[back].in != here.in || ends[back].out != here.out;
    spy->strays +=
        ends[!back].in != 0 && (ends[!back].in != here.out || ends[!back].out != here.in);
}

static const struct oche_switch_mechanism spying = {
    .name = "spy", .state_bytes = spy_bytes, .create = spy_create, .enqueue = spy_enqueue};

static void test_packets(void **state)
{
    struct oche_flow_plan flows[CONNECTIONS];

    (void)state;
    for (size_t n = 3; n < NETWORKS; n++) {
        struct small_world small;
        struct oche_random random = oche_random_stream(n, "flows", 0);

        configure(&small, n);
        const struct oche_switch_mechanism *mechanisms[] = {small.mechanism, &spying};
        const void *params[] = {small.mechanism_params, NULL};
        small.config.mechanisms = mechanisms;
        small.config.mechanism_params = params;
        small.config.mechanism_count = 2;
        for (uint32_t i = 0; i < CONNECTIONS; i++) {
            uint32_t src = (uint32_t)oche_random_below(&random, 16);
            uint32_t dst = (src + 1 + (uint32_t)oche_random_below(&random, 15)) % 16;
            flows[i] = small_flow(src, dst, 1 + oche_random_below(&random, 60000), i * OCHE_US);
        }
        spy_count = 0;
        small_world_run(&small, flows, CONNECTIONS);
        assert_int_equal(small.totals.flows_completed, CONNECTIONS);
        uint64_t packets = 0;
        for (unsigned i = 0; i < spy_count; i++) {
            packets += spies[i]->packets;
            assert_int_equal(spies[i]->strays, 0);
        }
        assert_true(packets > 5000);
        small_world_free(&small);
    }
}

/* Two links between the same switches: one end cannot know which link the other chooses. */
static void test_refused(void **state)
{
    struct oche_flow_plan flows[32];
    struct small_world small;
    struct oche_error error = {""};

    (void)state;
    for (uint32_t i = 0; i < 32; i++)
        flows[i] = small_flow(i % 8, 64 + i, 1000, 0);
    small_world_init(&small, "clos", "expresspass", "go_back_n");
    small_world_topology(&small, "pods", 2);
    small_world_topology(&small, "aggs_per_pod", 2);
    small.flows = flows;
    small.flow_count = 32;
    assert_false(small_world_can(&small, &error));
    assert_non_null(strstr(error.text, "topology: expresspass needs credits and data to take the "
                                       "same way, and between host"));
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
