/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of PFC on a network, in worlds that run. PAUSEs add up in every view. A victim is
 * found, with the hot spot that hurts it. A deadlock ends the run soon, and a similar situation
 * does not. Any number of threads finds the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

static char topology_path[] = "/tmp/oche-pathologies-topology-XXXXXX";
static char routes_path[] = "/tmp/oche-pathologies-routes-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Sums over the branches of the forest, and over the ports' own counters, in one class or all. */
struct sums {
    uint64_t pauses;
    oche_time held;
};

static struct sums of_tree(const struct oche_world *world)
{
    struct sums sums = {0}, roots = {0};
    uint32_t count;
    const struct oche_pause_node *nodes =
        oche_pause_tree_nodes(oche_world_pause_tree(world), &count);

    for (uint32_t i = 0; i < count; i++) {
        struct sums *to = nodes[i].depth == 0 ? &roots : &sums;
        to->pauses += nodes[i].pauses;
        to->held += nodes[i].held;
    }
    assert_int_equal(roots.pauses, sums.pauses);
    assert_int_equal(roots.held, sums.held);
    return sums;
}

static struct sums of_ports(const struct oche_world *world)
{
    uint32_t ports = oche_world_network(world)->port_count;
    struct oche_switch_port_stats *stats = calloc(ports, sizeof(*stats));
    struct sums sums = {0};

    assert_non_null(stats);
    oche_world_port_stats(world, stats);
    for (uint32_t i = 0; i < ports; i++)
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
            sums.pauses += stats[i].pauses_sent[cls];
            sums.held += stats[i].paused_time[cls];
        }
    free(stats);
    return sums;
}

/* An incast and a permutation on a fat tree, with little buffer. */
static uint32_t busy_flows(struct oche_flow_plan *flows)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < 16; i++)
        flows[count++] = small_flow(i, (i + 9) % 16, 300000, i * 10 * OCHE_NS);
    for (uint32_t i = 1; i < 16; i++)
        flows[count++] = small_flow(i, 0, 200000, 20 * OCHE_US);
    return count;
}

static void busy_world(struct small_world *small)
{
    small_world_init(small, "fat_tree", "none", "go_back_n");
    small_world_topology(small, "k", 4);
    small->config.switches.buffer_bytes = 1500000;
    small->config.run.duration = 5 * OCHE_MS;
}

/*
 * Every PAUSE is in the forest, and every picosecond that a port was held, with and without
 * warm-up. At the end the forest may count times that a port has only a link's delay later.
 */
static void test_adds_up(void **state)
{
    static const oche_time warmups[] = {0, 61 * OCHE_US, 200 * OCHE_US};
    struct oche_flow_plan flows[64];
    uint32_t count = busy_flows(flows);
    struct small_world small;

    (void)state;
    busy_world(&small);
    small.config.run.stop_when_done = false;
    for (size_t i = 0; i < 3; i++) {
        small.config.run.warmup = warmups[i];
        small_world_run(&small, flows, count);
        struct sums tree = of_tree(small.world), ports = of_ports(small.world);
        assert_true(ports.pauses > (i == 0 ? 100 : 10));
        assert_int_equal(tree.pauses, ports.pauses);
        assert_int_equal(tree.held, ports.held);
        assert_int_equal(oche_world_pauses_unnoted(small.world), 0);
        assert_null(oche_world_deadlock(small.world));
        small_world_end(&small);
    }
    small_world_free(&small);
}

/* The worst hot spot of an incast is the port to its receiver, with all of its senders. */
static void test_hot_spot(void **state)
{
    struct oche_flow_plan flows[16];
    struct small_world small;
    uint32_t all, order[4096], senders[4096];
    char name[64];

    (void)state;
    for (uint32_t i = 0; i < 7; i++)
        flows[i] = small_flow(i + 1 + i / 2, 0, 2000000, 0);
    busy_world(&small);
    small_world_run(&small, flows, 7);
    const struct oche_pause_tree *tree = oche_world_pause_tree(small.world);
    const struct oche_pause_node *nodes = oche_pause_tree_nodes(tree, &all);
    assert_true(all < 4096);
    oche_pause_tree_order(tree, order);
    oche_world_pause_senders(small.world, senders);
    oche_topology_global_name(oche_world_topology(small.world), nodes[order[0]].port, name,
                              sizeof(name));
    assert_string_equal(name, "tor0:host0");
    assert_int_equal(nodes[order[0]].depth, 0);
    assert_int_equal(senders[order[0]], 7);
    for (uint32_t i = 0; i < 7; i++) { /* each crosses the hot spot: there is no victim */
        struct oche_flow_pause_loss holds;
        oche_world_flow_pause_loss(small.world, i, &holds);
        assert_int_equal(holds.own, holds.held);
        assert_int_equal(holds.lost, 0);
    }
    small_world_free(&small);
}

/* Without PFC, and without a full queue, the forest is empty. */
static void test_nothing(void **state)
{
    struct oche_flow_plan flows[64];
    uint32_t count = busy_flows(flows), nodes;
    struct small_world small;
    struct oche_flow_pause_loss holds;

    (void)state;
    busy_world(&small);
    small.config.switches.pfc = false;
    small_world_run(&small, flows, count);
    oche_pause_tree_nodes(oche_world_pause_tree(small.world), &nodes);
    assert_int_equal(nodes, 0);
    oche_world_flow_pause_loss(small.world, 0, &holds);
    assert_true(holds.life > 0);
    assert_int_equal(holds.held, 0);
    for (uint32_t i = 0; i < small.world->network.node_count; i++)
        assert_null(small.world->network.nodes[i].pauses);
    small_world_free(&small);
}

/* ---- a ring of three, whose routes take the long way ---- */

static void ring_world(struct small_world *small)
{
    write_file(topology_path, "switch s0\nswitch s1\nswitch s2\n"
                              "host h0\nhost h1\nhost h2\nhost h3\nhost h4\nhost h5\n"
                              "host h6\nhost h7\nhost h8\n"
                              "link h0 s0 40Gbps 1us\nlink h1 s0 40Gbps 1us\n"
                              "link h2 s1 40Gbps 1us\nlink h3 s1 40Gbps 1us\n"
                              "link h4 s2 40Gbps 1us\nlink h5 s2 40Gbps 1us\n"
                              "link s0 s1 40Gbps 1us\nlink s1 s2 40Gbps 1us\n"
                              "link s2 s0 40Gbps 1us\n"
                              "link h6 s0 5Gbps 1us\nlink h7 s1 5Gbps 1us\n"
                              "link h8 s2 5Gbps 1us\n");
    write_file(routes_path, "s0 s2 s1\ns1 s0 s2\ns2 s1 s0\n");
    small_world_init(small, "from_file", "none", "go_back_n");
    small_world_topology_file(small, topology_path);
    small->config.routes.file = routes_path;
    small->config.switches.buffer_bytes = 3000000;
    small->config.switches.pfc_priorities = 2;
    small->config.run.duration = OCHE_SEC;
}

static struct oche_flow_plan ring_flow(uint32_t src, uint32_t dst, uint64_t bytes)
{
    return small_flow(src, dst, bytes, 0);
}

static void test_deadlock(void **state)
{
    struct small_world small;
    uint64_t hash = 0;
    oche_time noticed = 0;

    (void)state;
    ring_world(&small);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        const struct oche_flow_plan flows[] = {
            ring_flow(0, 5, 100000000), ring_flow(2, 1, 100000000), ring_flow(4, 3, 100000000)};
        small.config.threads = threads;
        small_world_run(&small, flows, 3);
        const struct oche_deadlock *deadlock = oche_world_deadlock(small.world);
        assert_non_null(deadlock);
        char *text = oche_deadlock_text(small.world, deadlock);
        assert_string_equal(text, "s0:s1 → s1:s2 → s2:s0 → s0:s1, class 0");
        free(text);
        assert_int_equal(deadlock->stuck_ports, 3);
        assert_true(deadlock->stuck_bytes > 1000000);
        assert_true(deadlock->noticed - deadlock->since > OCHE_DEADLOCK_PATIENCE);
        assert_true(deadlock->noticed - deadlock->since < OCHE_MS);
        assert_int_equal(oche_world_network(small.world)->now, deadlock->noticed);
        if (threads == 1) {
            hash = small.totals.hash;
            noticed = deadlock->noticed;
        }
        assert_int_equal(small.totals.hash, hash);
        assert_int_equal(deadlock->noticed, noticed);
        small_world_end(&small);
    }
    small_world_free(&small);
}

/* Returns how many ports of switches were held at all. */
static unsigned switch_ports_held(const struct oche_world *world)
{
    uint32_t count;
    const struct oche_topology *topology = oche_world_topology(world);
    unsigned held = 0;

    for (uint32_t node = topology->host_count; node < oche_topology_nodes(topology); node++)
        for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
            oche_pause_tree_episodes(oche_world_pause_tree(world),
                                     topology->nodes[node].first_port + port, 0, &count);
            held += count > 0;
        }
    return held;
}

/*
 * The same ring and the same circle of waiting, but filled by flows to slow receivers one switch
 * further. All ports of the ring are held, again and again, and yet it drains completely.
 */
static void test_near_deadlock(void **state)
{
    const struct oche_flow_plan flows[] = {ring_flow(0, 7, 4000000), ring_flow(2, 8, 4000000),
                                           ring_flow(4, 6, 4000000), ring_flow(1, 5, 100000),
                                           ring_flow(3, 1, 100000),  ring_flow(5, 3, 100000)};
    struct small_world small;
    struct oche_route_faults faults;

    (void)state;
    ring_world(&small);
    small_world_run(&small, flows, 6);
    assert_true(oche_world_find_route_faults(small.world, &faults));
    assert_int_equal(faults.circle.count, 3);
    assert_int_equal(faults.lost_flows, 0);
    oche_route_faults_free(&faults);
    assert_int_equal(switch_ports_held(small.world), 3);
    assert_int_equal(small.totals.flows_completed, 6);
    assert_null(oche_world_deadlock(small.world));
    small_world_free(&small);
}

/* A receiver so slow that its senders are held for many milliseconds at a time. */
static void test_long_hold(void **state)
{
    const struct oche_flow_plan flows[] = {ring_flow(0, 2, 1000000), ring_flow(1, 2, 1000000)};
    struct small_world small;
    oche_time longest = 0;

    (void)state;
    write_file(topology_path, "switch s0\nswitch s1\nhost h0\nhost h1\nhost h2\n"
                              "link h0 s0 40Gbps 1us\nlink h1 s0 40Gbps 1us\n"
                              "link s0 s1 40Gbps 1us\nlink h2 s1 100Mbps 1us\n");
    small_world_init(&small, "from_file", "none", "go_back_n");
    small_world_topology_file(&small, topology_path);
    small.config.switches.buffer_bytes = 600000;
    small.config.switches.pfc_priorities = 2;
    small.config.run.duration = OCHE_SEC;
    small.config.hosts.ack_timeout = OCHE_SEC;
    small_world_run(&small, flows, 2);
    assert_int_equal(small.totals.flows_completed, 2);
    assert_null(oche_world_deadlock(small.world));
    uint32_t count;
    const struct oche_pause_node *nodes =
        oche_pause_tree_nodes(oche_world_pause_tree(small.world), &count);
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].depth > 0 && nodes[i].held / nodes[i].pauses > longest)
            longest = nodes[i].held / nodes[i].pauses;
    assert_true(longest > OCHE_MS); /* one hold, on average */
    small_world_free(&small);
}

/* host1 shares the way out of s0 with h0, whose receiver is slow. Its own receiver is not. */
static void test_victim(void **state)
{
    const struct oche_flow_plan flows[] = {ring_flow(0, 2, 3000000), ring_flow(1, 3, 3000000)};
    struct small_world small;
    struct oche_flow_pause_loss holds;
    uint32_t count;
    char name[64];

    (void)state;
    write_file(topology_path, "switch s0\nswitch s1\nhost h0\nhost h1\nhost h2\nhost h3\n"
                              "link h0 s0 40Gbps 1us\nlink h1 s0 40Gbps 1us\n"
                              "link s0 s1 40Gbps 1us\nlink h2 s1 5Gbps 1us\n"
                              "link h3 s1 40Gbps 1us\n");
    small_world_init(&small, "from_file", "none", "go_back_n");
    small_world_topology_file(&small, topology_path);
    small.config.switches.buffer_bytes = 600000;
    small.config.switches.pfc_priorities = 2;
    small.config.run.duration = OCHE_SEC;
    small_world_run(&small, flows, 2);
    oche_world_flow_pause_loss(small.world, 0, &holds);
    assert_int_equal(holds.lost, 0);
    oche_world_flow_pause_loss(small.world, 1, &holds);
    assert_true(oche_flow_is_victim(&holds, 0.3));
    oche_topology_global_name(
        oche_world_topology(small.world),
        oche_pause_tree_nodes(oche_world_pause_tree(small.world), &count)[holds.root].port, name,
        sizeof(name));
    assert_string_equal(name, "s1:h2");
    small_world_free(&small);
}

/* Flows that can never arrive are reported before the run. */
static void test_loop(void **state)
{
    const struct oche_flow_plan flows[] = {ring_flow(2, 1, 1000), ring_flow(2, 0, 1000),
                                           ring_flow(0, 4, 1000), ring_flow(4, 2, 1000)};
    struct small_world small;
    struct oche_route_faults faults;

    (void)state;
    ring_world(&small);
    write_file(routes_path, "s1 h0 s2\ns2 h0 s1\n");
    small.config.run.duration = OCHE_MS;
    small_world_run(&small, flows, 4);
    assert_true(oche_world_find_route_faults(small.world, &faults));
    assert_int_equal(faults.lost_flows, 2);
    char *text = oche_route_faults_lost_text(small.world, &faults);
    assert_string_equal(text, "flow 1, h2 to h0, can never arrive: its packets go round in a loop, "
                              "s2:s1 → s1:s2 → s2:s1; nor can 1 other");
    free(text);
    oche_route_faults_free(&faults);
    assert_int_equal(small.totals.flows_completed, 2);
    assert_true(small.totals.drops[OCHE_DROP_TTL] > 0);
    small_world_free(&small);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(topology_path);
    return unlink(routes_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds_up),       cmocka_unit_test(test_hot_spot),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_near_deadlock), cmocka_unit_test(test_long_hold),
        cmocka_unit_test(test_victim),        cmocka_unit_test(test_loop),
    };
    int topology = mkstemp(topology_path), routes = mkstemp(routes_path);

    if (topology < 0 || routes < 0)
        return 1;
    close(topology);
    close(routes);
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
