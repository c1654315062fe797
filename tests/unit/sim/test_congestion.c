/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of congestion, in worlds with only one possible place: an incast, two flows on one
 * uplink, a host with more flows than its line carries.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>

#include "sim/measure/congestion.h"

#define RATE       (10 * OCHE_GBPS)
#define FRAME      (1024 + 62)
#define LINE_BYTES (FRAME + OCHE_GAP_BYTES)
#define RETH       16
#define LONG       100000000

/* Reads the rows, and tests that sums are right. */
static void look(const struct small_world *small, struct oche_congestion_row rows[OCHE_WHERES])
{
    struct oche_congestion_row all = {.ports = 0}, inside = {.ports = 0};
    struct oche_switch_port_stats *stats =
        calloc(oche_world_network(small->world)->port_count, sizeof(*stats));

    assert_non_null(stats);
    oche_world_port_stats(small->world, stats);
    oche_congestion(oche_world_topology(small->world), stats, rows);
    free(stats);
    for (unsigned where = 0; where < OCHE_WHERE_LINKS; where++) {
        bool within = where != OCHE_WHERE_HOST_NIC && where != OCHE_WHERE_TO_HOST;

        all.ports += rows[where].ports;
        all.marks += rows[where].marks;
        all.packets += rows[where].packets;
        all.queueing += rows[where].queueing;
        inside.marks += within ? rows[where].marks : 0;
        inside.queueing += within ? rows[where].queueing : 0;
        inside.paused += within ? rows[where].paused : 0;
    }
    assert_int_equal(rows[OCHE_WHERE_ALL].ports, all.ports);
    assert_int_equal(rows[OCHE_WHERE_ALL].marks, all.marks);
    assert_int_equal(rows[OCHE_WHERE_ALL].packets, all.packets);
    assert_int_equal(rows[OCHE_WHERE_ALL].queueing, all.queueing);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].marks, inside.marks);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].queueing, inside.queueing);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].paused, inside.paused);
}

/*
 * Two leaves of four hosts. Every link of a host has the hosts' rate; links between switches have
 * `rate`.
 */
static void open_leaf_spine(struct small_world *small, uint64_t spines, uint64_t rate)
{
    small_world_init(small, "leaf_spine", "dcqcn", "go_back_n");
    small_world_topology(small, "leaves", 2);
    small_world_topology(small, "hosts_per_leaf", 4);
    small_world_topology(small, "spines", spines);
    small_world_topology(small, "host_rate", RATE);
    small_world_topology(small, "link_rate", rate);
    small->config.switches.ecn = true;
    small->config.run.duration = OCHE_MS;
}

/* Nine tenths of all waiting, and all marks, are at `where`. */
static void all_is_at(const struct oche_congestion_row rows[OCHE_WHERES], enum oche_where where)
{
    assert_true(rows[where].marks > 0);
    assert_int_equal(rows[where].marks, rows[OCHE_WHERE_ALL].marks);
    assert_true(rows[where].queueing > rows[OCHE_WHERE_ALL].queueing / 10 * 9);
    assert_true(rows[where].queueing_worst == rows[OCHE_WHERE_ALL].queueing_worst);
    assert_int_equal(rows[where].node, rows[OCHE_WHERE_ALL].node);
}

/* Three hosts to one, over a network with room for all: its last link. */
static void incast_is_at_the_receiver(void **state)
{
    struct oche_congestion_row rows[OCHE_WHERES];
    struct oche_flow_plan flows[3];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        flows[i] = small_flow(i, 4, LONG, 0);
    open_leaf_spine(&small, 1, 4 * RATE);
    small_world_run(&small, flows, 3);
    look(&small, rows);
    all_is_at(rows, OCHE_WHERE_TO_HOST);
    assert_int_equal(rows[OCHE_WHERE_TO_HOST].node,
                     oche_topology_find(oche_world_topology(small.world), "leaf1"));
    assert_int_equal(rows[OCHE_WHERE_LEVEL].ports, 0);
    assert_true(isnan(rows[OCHE_WHERE_LEVEL].queueing_mean));
    small_world_end(&small);
    small_world_free(&small);
}

/* Three flows of different hosts over two uplinks of a host's rate: two share one. */
static void collision_is_inside(void **state)
{
    struct oche_congestion_row rows[OCHE_WHERES];
    struct oche_flow_plan flows[3];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        flows[i] = small_flow(i, i + 4, LONG, 0);
    open_leaf_spine(&small, 2, RATE);
    small_world_run(&small, flows, 3);
    look(&small, rows);
    all_is_at(rows, OCHE_WHERE_TOR_UP);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].marks, rows[OCHE_WHERE_ALL].marks);
    assert_int_equal(rows[OCHE_WHERE_CORE_DOWN].marks, 0);
    small_world_end(&small);
    small_world_free(&small);
}

static void open_source(struct small_world *small, const char *cc)
{
    small_world_init(small, "star", cc, "go_back_n");
    small_world_topology(small, "hosts", 5);
    small_world_topology(small, "host_rate", RATE);
    small->config.switches.ecn = true;
    small->config.hosts.ecn_threshold_bytes = 2 * FRAME;
    small->config.run.duration = OCHE_MS;
}

/* One host to four: each packet waits for one of each other flow. Alone, none waits. */
static void source_congestion_is_at_the_host(void **state)
{
    const double line_time = (double)oche_time_of_bytes(LINE_BYTES, RATE);
    const oche_time header = oche_time_of_bytes(RETH, RATE);
    struct oche_congestion_row rows[OCHE_WHERES];
    struct oche_flow_plan flows[4];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        flows[i] = small_flow(0, i + 1, LONG, 0);
    open_source(&small, "none");
    small_world_run(&small, flows, 1);
    look(&small, rows);
    assert_true(rows[OCHE_WHERE_HOST_NIC].packets > 1000);
    assert_int_equal(rows[OCHE_WHERE_HOST_NIC].queueing, 0);
    /*
     * The first packet has a longer header, so the second one waits at the switch, as do all later
     * ones.
     */
    assert_int_equal(rows[OCHE_WHERE_ALL].queueing % header, 0);
    assert_in_range(rows[OCHE_WHERE_ALL].queueing / header + 1,
                    small.totals.nic.data_packets_received, small.totals.nic.data_packets_sent);
    assert_int_equal(rows[OCHE_WHERE_ALL].marks, 0);
    small_world_end(&small);
    small_world_run(&small, flows, 4);
    look(&small, rows);
    assert_true(rows[OCHE_WHERE_HOST_NIC].queueing_mean > 2.99 * line_time);
    assert_true(rows[OCHE_WHERE_HOST_NIC].queueing_mean <= 3 * line_time);
    small_world_end(&small);
    small_world_free(&small);
    open_source(&small, "dcqcn");
    small_world_run(&small, flows, 4);
    look(&small, rows);
    all_is_at(rows, OCHE_WHERE_HOST_NIC);
    small_world_end(&small);
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incast_is_at_the_receiver),
        cmocka_unit_test(collision_is_inside),
        cmocka_unit_test(source_congestion_is_at_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
