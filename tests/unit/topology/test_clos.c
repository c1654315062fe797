/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clos: the networks of Dart and DCQCN result, and numbers that do not divide are rejected with the
 * nearest that do.
 */
#include <string.h>

#include "tests/unit/topology/build.h"

static void count_kinds(const struct oche_topology *t, uint32_t *kinds)
{
    memset(kinds, 0, OCHE_NODE_KINDS * sizeof(*kinds));
    for (uint32_t n = 0; n < oche_topology_nodes(t); n++)
        kinds[t->nodes[n].kind]++;
}

/* Links between two nodes. */
static uint32_t links_between(const struct oche_topology *t, uint32_t a, uint32_t b)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < t->nodes[a].port_count; p++)
        count += oche_topology_port(t, a, p)->peer == b;
    return count;
}

/* The presets make the networks of dart.md#topology. */
static void test_dart_network(void **state)
{
    struct oche_topology t = built("clos", NO_SETTINGS);
    uint32_t kinds[OCHE_NODE_KINDS], agg5, core;

    (void)state;
    count_kinds(&t, kinds);
    assert_int_equal(kinds[OCHE_NODE_HOST], 1024);
    assert_int_equal(kinds[OCHE_NODE_TOR], 64);
    assert_int_equal(kinds[OCHE_NODE_AGGREGATION], 64);
    assert_int_equal(kinds[OCHE_NODE_CORE], 16);
    for (uint32_t n = 1024; n < oche_topology_nodes(&t); n++) {
        static const uint32_t degree[] = {0, 20, 8, 16};

        assert_int_equal(t.nodes[n].port_count, degree[t.nodes[n].kind]);
    }
    for (uint32_t l = 0; l < t.link_count; l++) {
        assert_int_equal(t.links[l].rate_bps, 10 * OCHE_GBPS);
        assert_int_equal(t.links[l].delay, 5 * OCHE_US);
    }
    /* agg5 is the second of pod 1: cores 4 to 7, one link each. */
    agg5 = oche_topology_find(&t, "agg5");
    core = oche_topology_find(&t, "core0");
    for (uint32_t c = 0; c < 16; c++)
        assert_int_equal(links_between(&t, agg5, core + c), c >= 4 && c < 8);
    assert_int_equal(oche_topology_place(&t, agg5, 0), OCHE_PLACE_AGGREGATION);
    assert_int_equal(oche_topology_place(&t, core, 0), OCHE_PLACE_CORE);
    assert_non_null(strstr(t.summary, "oversubscription 4:1 at the ToR, 1:1 at the aggregation"));
    oche_topology_free(&t);
}

/* DCQCN Fig 2: two pods of 2 ToR and 2 leaves; every leaf has a link to both spines. */
static void test_dcqcn_testbed(void **state)
{
    struct oche_topology t =
        built("clos", SET({"pods", 2}, {"tors_per_pod", 2}, {"hosts_per_tor", 5},
                          {"uplinks_per_tor", 2}, {.name = "oversubscription", .real = 0},
                          {"cores", 2}, {"host_rate", 40 * OCHE_GBPS},
                          {"link_rate", 40 * OCHE_GBPS}, {"core_rate", 40 * OCHE_GBPS}));
    uint32_t kinds[OCHE_NODE_KINDS];
    uint32_t agg = oche_topology_find(&t, "agg0"), core = oche_topology_find(&t, "core0");

    (void)state;
    count_kinds(&t, kinds);
    assert_int_equal(kinds[OCHE_NODE_HOST], 20);
    assert_int_equal(kinds[OCHE_NODE_TOR], 4);
    assert_int_equal(kinds[OCHE_NODE_AGGREGATION], 4);
    assert_int_equal(kinds[OCHE_NODE_CORE], 2);
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t c = 0; c < 2; c++)
            assert_int_equal(links_between(&t, agg + a, core + c), 1);
    assert_int_equal(links_between(&t, oche_topology_find(&t, "tor1"), agg), 1);
    assert_int_equal(links_between(&t, oche_topology_find(&t, "tor1"), agg + 2), 0);
    assert_non_null(strstr(t.summary, "oversubscription 5:2 at the ToR"));
    oche_topology_free(&t);
}

/* 100G hosts, 400G above: the ratio counts rates, not links. */
static void test_rates(void **state)
{
    struct oche_topology t =
        built("clos", SET({"pods", 2}, {"hosts_per_tor", 16}, {"aggs_per_pod", 2},
                          {.name = "oversubscription", .real = 2}, {"host_rate", 100 * OCHE_GBPS},
                          {"link_rate", 400 * OCHE_GBPS}, {"core_rate", 400 * OCHE_GBPS}));
    uint32_t tor = oche_topology_find(&t, "tor0"), agg = oche_topology_find(&t, "agg0");

    (void)state;
    assert_int_equal(t.nodes[tor].port_count, 18); /* 1600 / 2 / 400 = 2 uplinks */
    assert_int_equal(links_between(&t, tor, agg), 1);
    assert_int_equal(t.nodes[agg].port_count, 8); /* 4 down, 4 up */
    assert_int_equal(t.links[0].rate_bps, 100 * OCHE_GBPS);
    assert_int_equal(oche_topology_port_link(&t, tor, 17)->rate_bps, 400 * OCHE_GBPS);
    oche_topology_free(&t);
}

static void test_ratios_that_are_no_integers(void **state)
{
    struct oche_topology t =
        built("clos", SET({.name = "oversubscription", .real = 16.0 / 3}, {"pods", 2}));

    (void)state;
    assert_non_null(strstr(t.summary, "oversubscription 16:3 at the ToR"));
    oche_topology_free(&t);
}

static void test_errors(void **state)
{
    (void)state;
    assert_error("clos", SET({.name = "oversubscription", .real = 5}),
                 "oversubscription: 5 needs 3.2 uplinks of 10Gbps for 16 hosts of 10Gbps; 16/3 (3 "
                 "uplinks) or 4 (4) would do");
    assert_error("clos", SET({.name = "oversubscription", .real = 64}),
                 "oversubscription: 64 needs 0.25 uplinks of 10Gbps for 16 hosts of 10Gbps; 16 (1) "
                 "would do");
    assert_error("clos", SET({"aggs_per_pod", 3}),
                 "oversubscription: 4 needs 4 uplinks of 10Gbps for 16 hosts of 10Gbps, not a "
                 "multiple of aggs_per_pod; 16/3 (3 uplinks) or 8/3 (6) would do");
    assert_error("clos", SET({"uplinks_per_tor", 2}),
                 "oversubscription: 4, but 2 uplinks_per_tor make it 8; write 8, or 0 to take it "
                 "as it comes");
    assert_error("clos", SET({.name = "oversubscription", .real = 0}),
                 "uplinks_per_tor: 0, and oversubscription is 0 too; one of them decides the "
                 "uplinks");
    assert_error("clos", SET({.name = "oversubscription", .real = 1e-6}),
                 "oversubscription: 1e-06 needs 1.6e+07 uplinks; a ToR has at most 1024 ports");
    assert_error("clos", SET({"uplinks_per_tor", 4}, {"aggs_per_pod", 3}),
                 "aggs_per_pod: 4 uplinks of a ToR do not spread evenly over 3; 1, 2 or 4 would "
                 "do");
    assert_error("clos", SET({"cores", 5}),
                 "cores: 16 uplinks of a pod do not spread evenly over 5; 1, 2, 4, 8 or 16 would "
                 "do");
    assert_error("clos", SET({"core_rate", 15 * OCHE_GBPS}),
                 "uplinks_per_agg: 40Gbps of downlinks are no multiple of core_rate 15Gbps, or too "
                 "many; give a number of uplinks, or another core_rate");
    assert_error("clos", SET({"pods", 1024}, {"tors_per_pod", 256}, {"hosts_per_tor", 16}),
                 "pods: 4194304 hosts and 267264 switches; at most 1048576 nodes");
    /* The largest in the ranges must be rejected, not attempted. */
    assert_error("clos",
                 SET({"pods", 1024}, {"tors_per_pod", 2}, {"hosts_per_tor", 1},
                     {"uplinks_per_tor", 1024}, {.name = "oversubscription", .real = 0},
                     {"aggs_per_pod", 256}, {"uplinks_per_agg", 1024}, {"cores", 512}),
                 "pods: 270534656 links; at most 16777216");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dart_network), cmocka_unit_test(test_dcqcn_testbed),
        cmocka_unit_test(test_rates),        cmocka_unit_test(test_ratios_that_are_no_integers),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
