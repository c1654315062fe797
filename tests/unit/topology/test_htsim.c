/* SPDX-License-Identifier: Apache-2.0 */
/* htsim's fat trees: their shape, bundles, delays, and every error with its line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/topology/build.h"

#define TIER_0                                                                                     \
    "Tier 0\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\nRadix_Down 8\nRadix_Up 4\n"        \
    "Oversubscribed 2\n"
#define TIER_1 "Tier 1\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 500\nRadix_Down 4\n"
#define TWO    "Nodes 32\nTiers 2\nPodsize 32\n" TIER_0 TIER_1

/* Three tiers, with two cables from each aggregation switch to each of its cores. */
#define THREE                                                                                      \
    "nodes 8\ntiers 3\npodsize 4\n"                                                                \
    "TIER 0\ndownlink_speed_gbps 200\nradix_down 2\nradix_up 2\ndownlink_latency_ns 1000\n"        \
    "switch_latency_ns 301\n"                                                                      \
    "Tier 1\nDownlink_Speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\nDownlink_Latency_ns 500\n"         \
    "Tier 2\nDownlink_Speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 700\nBundle 2\n"           \
    "Queue_Down 1000000\n"

static char path[] = "/tmp/oche-topology-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct oche_topology read_text(const char *text)
{
    write_file(text);
    return built("from_file", SET({.name = "file", .text = path}));
}

static void assert_file_error(const char *text, const char *expected)
{
    struct oche_topology topology;
    struct oche_error error = {""};
    const size_t length = strlen(path);

    write_file(text);
    assert_false(try_build("from_file", SET({.name = "file", .text = path}), &topology, &error));
    assert_memory_equal(error.text, path, length);
    assert_string_equal(error.text + length, expected);
}

static void test_leaf_spine(void **state)
{
    struct oche_topology t = read_text("# 2:1\n\n" TWO);

    (void)state;
    assert_int_equal(t.host_count, 32);
    assert_int_equal(t.switch_count, 4 + 4);
    assert_int_equal(t.link_count, 32 + 16);
    assert_int_equal(oche_topology_port(&t, 15, 0)->peer, oche_topology_find(&t, "tor1"));
    assert_int_equal(t.nodes[oche_topology_find(&t, "spine3")].kind, OCHE_NODE_CORE);
    assert_int_equal(t.links[0].delay, OCHE_US);
    assert_int_equal(t.links[47].delay, 500 * OCHE_NS);
    assert_string_equal(t.remark, "");
    assert_non_null(strstr(t.summary, "32 hosts, 4 ToR, 4 spine, ToR oversubscription 2:1, from "));
    oche_topology_free(&t);
}

static void test_three_tiers(void **state)
{
    struct oche_topology t = read_text(THREE);
    uint32_t agg = oche_topology_find(&t, "agg3"), parallel = 0, number;

    (void)state;
    assert_int_equal(t.host_count, 8);
    assert_int_equal(t.switch_count, 4 + 4 + 4);
    assert_int_equal(t.link_count, 8 + 8 + 16);
    /* agg3 is the second one of its pod: it leads to core1 and core3, by two cables each. */
    assert_int_equal(t.nodes[agg].port_count, 2 + 4);
    for (uint32_t port = 2; port < 6; port++) {
        const uint32_t core = oche_topology_port(&t, agg, port)->peer;

        assert_int_equal(core, oche_topology_find(&t, port < 4 ? "core1" : "core3"));
        parallel += oche_topology_parallel(&t, agg, port, &number);
    }
    assert_int_equal(parallel, 8);
    assert_int_equal(t.nodes[agg].pod, 1);
    /* half of 301 ns is in each delay of a ToR's links */
    assert_int_equal(t.links[0].delay, 1150500);
    assert_int_equal(oche_topology_port_link(&t, agg, 0)->delay, 650500);
    assert_int_equal(oche_topology_port_link(&t, agg, 2)->delay, 700000);
    assert_int_equal(oche_topology_port_link(&t, agg, 2)->rate_bps, 100 * OCHE_GBPS);
    assert_string_equal(t.remark,
                        "Queue_Up and Queue_Down are not used, as a switch has one buffer: set "
                        "switch.buffer; half of a switch's Switch_Latency_ns is in the delay of "
                        "each of its links");
    oche_topology_free(&t);
}

static void test_lines(void **state)
{
    (void)state;
    assert_file_error("Nodes\n", ":1: Nodes: 0 words; one number would be right");
    assert_file_error("Nodes x\n", ":1: Nodes: \"x\"; a whole number from 2 to 1048576");
    assert_file_error("Nodes 32\nNodes 32\n", ":2: Nodes: is there twice");
    assert_file_error("Nodes 32\nPods 2\n",
                      ":2: Pods: unknown; Nodes, Tiers, Podsize, then Tier 0");
    assert_file_error("Nodes 32\nTiers 4\n", ":2: Tiers: \"4\"; a whole number from 2 to 3");
    assert_file_error("Nodes 32\nTiers 2\n" TIER_0, ":3: Podsize is missing above the first tier");
    assert_file_error(
        "Nodes 32\nTiers 2\nPodsize 32\n",
        ": has no tiers; \"Tier 0\" and its keys come after Nodes, Tiers and Podsize");
    assert_file_error(TWO "Tier 2\n", ":14: Tier: \"2\"; a whole number from 0 to 1");
    assert_file_error(TWO "Tier 1\n", ":14: Tier 1: is there twice");
    assert_file_error(TWO "Radix_Down 4\n", ":14: Radix_Down: is there twice in tier 1");
    assert_file_error(TWO "Bundle 0\n", ":14: Bundle: \"0\"; a whole number from 1 to 1000000000");
    assert_file_error(TWO "Radix 4\n",
                      ":14: Radix: unknown; Downlink_speed_Gbps, Downlink_Latency_ns, Radix_Down, "
                      "Radix_Up, Oversubscribed, Bundle, Switch_Latency_ns, Queue_Up, Queue_Down");
    assert_file_error("Nodes 32\nTiers 2\nPodsize 32\n" TIER_0,
                      ": there is no Tier 1, and Tiers is 2");
    assert_file_error("Nodes 32\nTiers 2\nPodsize 32\n" TIER_0 "Tier 1\nRadix_Down 4\n",
                      ":10: Downlink_speed_Gbps: is missing in this tier");
    assert_file_error(TWO "Radix_Up 4\n",
                      ":10: Radix_Up: the top tier has no uplinks; leave it out");
    assert_file_error("Nodes 32\nTiers 2\nPodsize 32\n" TIER_0
                      "Tier 1\nDownlink_speed_Gbps 9000\nDownlink_Latency_ns 1\nRadix_Down 4\n",
                      ":10: Downlink_speed_Gbps: is above 8000, the fastest here");
    assert_file_error("Nodes 32\nTiers 2\nPodsize 32\n" TIER_0
                      "Tier 1\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000000000\n"
                      "Radix_Down 4\nSwitch_Latency_ns 1\n",
                      ":10: Downlink_Latency_ns: is more than a second, with half of the latency "
                      "of switches");
}

/* A tree of 16 hosts, with the numbers that htsim checks. */
static void shaped(char *text, size_t bytes, const char *head, const char *tor, const char *agg)
{
    snprintf(text, bytes,
             "%s\nTier 0\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1\n%s\nTier 1\n"
             "Downlink_speed_Gbps 100\nDownlink_Latency_ns 1\n%s\n",
             head, tor, agg);
}

static void test_shapes(void **state)
{
    static const struct {
        const char *head, *tor, *agg, *expected;
    } rows[] = {
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 4\nRadix_Up 4", "Radix_Down 6\nBundle 4",
         ":9: Bundle: a radix is no multiple of its bundle"},
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 4\nRadix_Up 4\nBundle 2", "Radix_Down 4",
         ":4: Bundle: a host has one link; 1 would be right"},
        {"Nodes 16\nTiers 2\nPodsize 5", "Radix_Down 4\nRadix_Up 4", "Radix_Down 4",
         ": Podsize: Nodes is no multiple of it"},
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 3\nRadix_Up 3", "Radix_Down 4",
         ":4: Radix_Down: Podsize is no multiple of a ToR's hosts"},
        {"Nodes 16\nTiers 2\nPodsize 8", "Radix_Down 4\nRadix_Up 4", "Radix_Down 4",
         ": Podsize: two tiers are one pod; write as many as Nodes"},
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 4\nRadix_Up 2", "Radix_Down 4",
         ":4: Oversubscribed: is not Radix_Down / Radix_Up, which htsim asks of tier 0"},
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 4\nRadix_Up 4", "Radix_Down 5",
         ":9: Radix_Down: Nodes x speed / (speed of the uplinks x Oversubscribed) uplinks do not "
         "fill aggregation switches of that many links"},
        {"Nodes 16\nTiers 2\nPodsize 16", "Radix_Down 4\nRadix_Up 4", "Radix_Down 8",
         ":4: Radix_Up: is not the number of aggregation switches of a pod times their Bundle, as "
         "their Radix_Down gives them"},
        {"Nodes 16\nTiers 3\nPodsize 4", "Radix_Down 4\nRadix_Up 4",
         "Radix_Down 1\nRadix_Up 1\nTier 2\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1\n"
         "Radix_Down 5",
         ":14: Radix_Down: the uplinks of the aggregation switches do not fill core switches of "
         "that many links, a multiple of the aggregation switches of a pod"},
        {"Nodes 16\nTiers 3\nPodsize 4", "Radix_Down 4\nRadix_Up 4",
         "Radix_Down 1\nRadix_Up 2\nTier 2\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1\n"
         "Radix_Down 4",
         ":9: Radix_Up: is not the number of core switches over the aggregation switches of a pod, "
         "times the cores' Bundle"},
        {"Nodes 1048576\nTiers 2\nPodsize 1048576", "Radix_Down 1048576\nRadix_Up 1048576",
         "Radix_Down 1", ": Nodes: 1048576 hosts and 1048577 switches; at most 1048576 nodes"},
        {"Nodes 2048\nTiers 2\nPodsize 2048", "Radix_Down 2048\nRadix_Up 2048", "Radix_Down 1",
         ": Nodes: a switch would have 4096 ports; at most 1024"},
    };
    char text[500];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        shaped(text, sizeof(text), rows[i].head, rows[i].tor, rows[i].agg);
        assert_file_error(text, rows[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaf_spine),
        cmocka_unit_test(test_three_tiers),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_shapes),
    };
    int failed, file = mkstemp(path);

    if (file < 0)
        return 1;
    close(file);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
