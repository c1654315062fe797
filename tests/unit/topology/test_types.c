/* SPDX-License-Identifier: Apache-2.0 */
/* Counts, degrees, names, port order and places of all types except clos and from_file. */
#include <string.h>

#include "sim/topology/builder.h"
#include "tests/unit/topology/build.h"

/* Rules for every topology: both ends of each link agree, and hosts have one link. */
static void assert_sound(const struct oche_topology *t)
{
    uint32_t ports = 0;

    for (uint32_t n = 0; n < oche_topology_nodes(t); n++) {
        const struct oche_topology_node *node = &t->nodes[n];

        assert_int_equal(node->kind == OCHE_NODE_HOST, n < t->host_count);
        if (n < t->host_count)
            assert_int_equal(node->port_count, 1);
        assert_int_equal(node->first_port, ports);
        ports += node->port_count;
        for (uint32_t p = 0; p < node->port_count; p++) {
            const struct oche_topology_port *end = oche_topology_port(t, n, p);
            const struct oche_topology_port *back =
                oche_topology_port(t, end->peer, end->peer_port);

            assert_int_equal(back->peer, n);
            assert_int_equal(back->peer_port, p);
            assert_int_equal(back->link, end->link);
        }
        assert_int_equal(oche_topology_find(t, node->name), n);
    }
    assert_int_equal(ports, 2 * t->link_count);
}

static void test_star(void **state)
{
    struct oche_topology t = built("star", SET({"hosts", 9}, {"delay", 2 * OCHE_US}));

    (void)state;
    assert_sound(&t);
    assert_int_equal(t.host_count, 9);
    assert_int_equal(t.switch_count, 1);
    assert_int_equal(t.link_count, 9);
    assert_int_equal(t.nodes[9].port_count, 9);
    for (uint32_t p = 0; p < 9; p++) {
        assert_int_equal(oche_topology_port(&t, 9, p)->peer, p);
        assert_int_equal(oche_topology_place(&t, 9, p), OCHE_PLACE_TO_HOST);
        assert_int_equal(oche_topology_place(&t, p, 0), OCHE_PLACE_HOST_NIC);
    }
    assert_int_equal(t.links[0].rate_bps, 40 * OCHE_GBPS);
    assert_int_equal(oche_topology_smallest_delay(&t), 2 * OCHE_US);
    assert_string_equal(t.summary, "star: 9 hosts at 40Gbps, 1 switch");
    oche_topology_free(&t);
}

static void test_dumbbell(void **state)
{
    struct oche_topology t = built("dumbbell", SET({"left_hosts", 3}, {"right_hosts", 2},
                                                   {"bottleneck_rate", 10 * OCHE_GBPS},
                                                   {"bottleneck_delay", 500 * OCHE_NS}));

    (void)state;
    assert_sound(&t);
    assert_int_equal(t.host_count, 5);
    assert_int_equal(t.nodes[5].port_count, 4);
    assert_int_equal(t.nodes[6].port_count, 3);
    assert_int_equal(oche_topology_port(&t, 5, 3)->peer, 6);
    assert_int_equal(oche_topology_port(&t, 4, 0)->peer, 6);
    assert_int_equal(oche_topology_port_link(&t, 5, 3)->rate_bps, 10 * OCHE_GBPS);
    assert_int_equal(oche_topology_place(&t, 5, 3), OCHE_PLACE_TOR_UP);
    assert_int_equal(oche_topology_smallest_delay(&t), 500 * OCHE_NS);
    assert_non_null(strstr(t.summary, "a bottleneck of 10Gbps (12:1 from the left)"));
    oche_topology_free(&t);
}

static void test_parking_lot(void **state)
{
    struct oche_topology t = built("parking_lot", SET({"hops", 3}, {"hosts_per_switch", 2}));

    (void)state;
    assert_sound(&t);
    assert_int_equal(t.host_count, 8);
    assert_int_equal(t.switch_count, 4);
    assert_int_equal(t.link_count, 11);
    assert_int_equal(t.nodes[8].port_count, 3); /* an end of the chain */
    assert_int_equal(t.nodes[9].port_count, 4);
    assert_int_equal(oche_topology_port(&t, 5, 0)->peer, oche_topology_find(&t, "tor2"));
    oche_topology_free(&t);
}

static void test_leaf_spine(void **state)
{
    struct oche_topology t =
        built("leaf_spine", SET({"leaves", 4}, {"spines", 3}, {"hosts_per_leaf", 6},
                                {"link_rate", 40 * OCHE_GBPS}));

    (void)state;
    assert_sound(&t);
    assert_int_equal(t.host_count, 24);
    assert_int_equal(t.switch_count, 7);
    assert_int_equal(t.link_count, 24 + 12);
    assert_int_equal(t.nodes[oche_topology_find(&t, "leaf3")].port_count, 9);
    assert_int_equal(t.nodes[oche_topology_find(&t, "spine2")].port_count, 4);
    assert_int_equal(oche_topology_place(&t, oche_topology_find(&t, "spine2"), 0), OCHE_PLACE_CORE);
    assert_non_null(strstr(t.summary, "oversubscription 5:1"));
    oche_topology_free(&t);
    t = built("leaf_spine", SET({"hosts_per_leaf", 1}, {"spines", 2}, {"host_rate", 50 * OCHE_GBPS},
                                {"link_rate", 100 * OCHE_GBPS}));
    assert_non_null(strstr(t.summary, "oversubscription none (1:4)"));
    oche_topology_free(&t);
}

/* Returns the rate of the first link that leads from switch `name` to another switch. */
static uint64_t uplink_of(const struct oche_topology *t, const char *name)
{
    uint32_t node = oche_topology_find(t, name);

    assert_true(node != UINT32_MAX);
    for (uint32_t port = 0; port < t->nodes[node].port_count; port++)
        if (oche_topology_port(t, node, port)->peer >= t->host_count)
            return oche_topology_port_link(t, node, port)->rate_bps;
    fail();
    return 0;
}

static void check_auto_leaf_spine(uint64_t hosts, uint64_t spines, uint64_t host_gbps,
                                  uint64_t expected_gbps)
{
    struct oche_topology t = built("leaf_spine", SET({"hosts_per_leaf", hosts}, {"spines", spines},
                                                     {"host_rate", host_gbps * OCHE_GBPS},
                                                     {"link_rate", OCHE_RATE_AUTO}));

    assert_int_equal(uplink_of(&t, "leaf0"), expected_gbps * OCHE_GBPS);
    assert_int_equal(uplink_of(&t, "spine0"), expected_gbps * OCHE_GBPS);
    oche_topology_free(&t);
}

static void test_automatic_leaf_spine(void **state)
{
    (void)state;
    check_auto_leaf_spine(16, 4, 100, 400); /* as in HPCC's simulator */
    check_auto_leaf_spine(16, 4, 400, 1600);
    check_auto_leaf_spine(16, 4, 800, 1600); /* no faster Ethernet: 2:1 */
    check_auto_leaf_spine(48, 4, 25, 400);   /* 300 would do */
    check_auto_leaf_spine(4, 4, 25, 25);
    check_auto_leaf_spine(2, 8, 30, 30); /* enough, though no rate of Ethernet */
    check_auto_leaf_spine(2, 1, 30, 100);
    check_auto_leaf_spine(4, 2, 3200, 3200); /* never slower than the hosts */
}

static void check_auto_clos(const struct setting *settings, uint64_t tor_gbps, uint64_t core_gbps)
{
    struct oche_topology t = built("clos", settings);

    assert_int_equal(uplink_of(&t, "tor0"), tor_gbps * OCHE_GBPS);
    assert_int_equal(uplink_of(&t, "core0"), core_gbps * OCHE_GBPS);
    oche_topology_free(&t);
}

#define FAST_CLOS                                                                                  \
    {"pods", 2}, {"host_rate", 400 * OCHE_GBPS}, {"link_rate", OCHE_RATE_AUTO},                    \
    {                                                                                              \
        "core_rate", OCHE_RATE_AUTO                                                                \
    }

static void test_automatic_clos(void **state)
{
    struct setting none[] = {FAST_CLOS, {"oversubscription"}, {"uplinks_per_tor", 2}, {NULL}};
    struct setting two[] = {
        FAST_CLOS, {"oversubscription", .real = 4}, {"uplinks_per_tor", 2}, {NULL}};
    struct setting fast[] = {FAST_CLOS, {"oversubscription", .real = 1}, {NULL}};
    struct setting many[] = {
        FAST_CLOS, {"host_rate", 25 * OCHE_GBPS}, {"hosts_per_tor", 64}, {NULL}};
    struct setting few[] = {
        FAST_CLOS, {"oversubscription", .real = 1}, {"hosts_per_tor", 12}, {NULL}};
    struct setting broken[] = {
        FAST_CLOS, {"oversubscription", .real = 1}, {"hosts_per_tor", 18}, {NULL}};
    struct setting spread[] = {FAST_CLOS,
                               {"oversubscription", .real = 1},
                               {"aggs_per_pod", 8},
                               {"hosts_per_tor", 16},
                               {NULL}};

    (void)state;
    check_auto_clos(SET(FAST_CLOS), 400, 400);
    check_auto_clos(SET(FAST_CLOS, {"core_rate", 800 * OCHE_GBPS}), 400, 800);
    check_auto_clos(SET(FAST_CLOS, {"link_rate", 800 * OCHE_GBPS}), 800, 800);
    check_auto_clos(two, 800, 800); /* two uplinks and 4:1 need this much */
    check_auto_clos(none, 400, 400);
    /* Four times the hosts' rate, if Ethernet has it and at least four uplinks remain. */
    check_auto_clos(fast, 1600, 1600);
    check_auto_clos(many, 100, 100);
    check_auto_clos(few, 400, 400);
    check_auto_clos(broken, 400, 400);
    check_auto_clos(spread, 400, 400);
    /* Eight uplinks and 4:1 would need links slower than the hosts'. */
    assert_error("clos", SET(FAST_CLOS, {"uplinks_per_tor", 8}),
                 "oversubscription: 4, but 8 uplinks_per_tor make it 2; write 2, or 0 to take it "
                 "as it comes");
}

static void test_automatic_chains(void **state)
{
    struct oche_topology t =
        built("dumbbell", SET({"host_rate", 400 * OCHE_GBPS}, {"bottleneck_rate", OCHE_RATE_AUTO}));

    (void)state;
    assert_int_equal(uplink_of(&t, "tor1"), 400 * OCHE_GBPS);
    oche_topology_free(&t);
    t = built("parking_lot", SET({"host_rate", 200 * OCHE_GBPS}, {"link_rate", OCHE_RATE_AUTO}));
    assert_int_equal(uplink_of(&t, "tor1"), 200 * OCHE_GBPS);
    oche_topology_free(&t);
}

static void check_fat_tree(uint64_t k, uint32_t hosts)
{
    struct oche_topology t = built("fat_tree", SET({"k", k}));
    uint32_t kinds[OCHE_NODE_KINDS] = {0};

    assert_sound(&t);
    assert_int_equal(t.host_count, hosts);
    assert_int_equal(t.link_count, 3 * hosts);
    for (uint32_t n = 0; n < oche_topology_nodes(&t); n++) {
        kinds[t.nodes[n].kind]++;
        if (n >= hosts)
            assert_int_equal(t.nodes[n].port_count, k);
    }
    assert_int_equal(kinds[OCHE_NODE_TOR], k * k / 2);
    assert_int_equal(kinds[OCHE_NODE_AGGREGATION], k * k / 2);
    assert_int_equal(kinds[OCHE_NODE_CORE], k * k / 4);
    oche_topology_free(&t);
}

static void test_fat_tree(void **state)
{
    (void)state;
    check_fat_tree(2, 2);
    check_fat_tree(4, 16);
    check_fat_tree(8, 128);
    check_fat_tree(16, 1024);
    assert_error("fat_tree", SET({"k", 7}), "k: 7 is odd; 6 or 8 would do");
}

static void test_ports_by_name(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    char text[80];
    struct oche_error error;
    uint32_t node, port, tor3 = oche_topology_find(&t, "tor3");

    (void)state;
    assert_true(oche_topology_find_port(&t, "tor3:host7", &node, &port, &error));
    assert_int_equal(node, tor3);
    assert_int_equal(port, 1);
    assert_true(oche_topology_find_port(&t, "tor3:3", &node, &port, &error));
    assert_int_equal(port, 3);
    oche_topology_port_name(&t, node, port, text, sizeof(text));
    assert_string_equal(text, "tor3:agg3");
    assert_int_equal(oche_topology_place(&t, node, port), OCHE_PLACE_TOR_UP);
    assert_true(oche_topology_find_port(&t, "host15", &node, &port, &error));
    assert_int_equal(node, 15);
    assert_int_equal(port, 0);

    assert_false(oche_topology_find_port(&t, "tor9:host7", &node, &port, &error));
    assert_string_equal(
        error.text,
        "no node is called \"tor9\"; hosts are host0 to host15, switches tor0 to core3");
    assert_false(oche_topology_find_port(&t, "tor3", &node, &port, &error));
    assert_string_equal(error.text, "tor3 has 4 ports; name one as tor3:host6 or tor3:0");
    assert_false(oche_topology_find_port(&t, "tor3:host0", &node, &port, &error));
    assert_string_equal(
        error.text,
        "tor3 has no port \"host0\"; its ports are 0 to 3, and the first leads to host6");
    assert_false(oche_topology_find_port(&t, "tor3:4", &node, &port, &error));
    assert_false(oche_topology_find_port(&t, "tor3:", &node, &port, &error));
    oche_topology_free(&t);
}

static void test_registry(void **state)
{
    (void)state;
    assert_null(oche_topology_type_find("torus"));
    for (size_t i = 0; oche_topology_types[i] != NULL; i++) {
        const struct oche_topology_type *type = oche_topology_types[i];
        struct oche_topology t;
        struct oche_error error;

        assert_ptr_equal(oche_topology_type_find(type->name), type);
        for (size_t p = 0; p < type->table->count; p++)
            assert_true(
                oche_param_in_range(&type->table->params[p], type->table->params[p].preset));
        if (strcmp(type->name, "from_file") == 0)
            continue;
        /* Every type's presets make a network. */
        assert_true(try_build(type->name, NO_SETTINGS, &t, &error));
        assert_sound(&t);
        oche_topology_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_star),           cmocka_unit_test(test_dumbbell),
        cmocka_unit_test(test_parking_lot),    cmocka_unit_test(test_leaf_spine),
        cmocka_unit_test(test_fat_tree),       cmocka_unit_test(test_ports_by_name),
        cmocka_unit_test(test_registry),       cmocka_unit_test(test_automatic_leaf_spine),
        cmocka_unit_test(test_automatic_clos), cmocka_unit_test(test_automatic_chains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
