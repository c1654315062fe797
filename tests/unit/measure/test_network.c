/* SPDX-License-Identifier: Apache-2.0 */
/* Values by place, port and tier: utilisation, PAUSE, marks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/measure/congestion.h"
#include "sim/measure/imbalance.h"
#include "sim/measure/marks.h"
#include "sim/measure/pauses.h"
#include "sim/measure/utilisation.h"
#include "tests/unit/topology/build.h"

static uint32_t port_index(const struct oche_topology *t, const char *name)
{
    uint32_t node, port;
    struct oche_error error;

    assert_true(oche_topology_find_port(t, name, &node, &port, &error));
    return t->nodes[node].first_port + port;
}

/* fat_tree of 4: 16 hosts at 100 Gbit/s; in 1 us a link carries 12500 bytes. */
static void test_utilisation(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    uint64_t *bytes = calloc(2 * t.link_count, sizeof(*bytes));
    struct oche_utilisation_row rows[OCHE_PLACES];

    (void)state;
    assert_true(oche_utilisation(12500, 100 * OCHE_GBPS, OCHE_US) == 1);
    assert_true(oche_utilisation(12500, 100 * OCHE_GBPS, 4 * OCHE_US) == 0.25);
    assert_true(oche_utilisation(12500, 100 * OCHE_GBPS, 0) == 0);
    assert_non_null(bytes);
    for (uint32_t host = 0; host < 16; host++)
        bytes[t.nodes[host].first_port] = host < 8 ? 12500 : 0;
    bytes[port_index(&t, "tor3:host7")] = 6250;
    bytes[port_index(&t, "tor3:agg2")] = 3125;
    bytes[port_index(&t, "core1:agg4")] = 12500;
    oche_utilisation_by_place(&t, bytes, OCHE_US, rows);
    assert_int_equal(rows[OCHE_PLACE_HOST_NIC].ports, 16);
    assert_true(rows[OCHE_PLACE_HOST_NIC].mean == 0.5 && rows[OCHE_PLACE_HOST_NIC].largest == 1);
    assert_int_equal(rows[OCHE_PLACE_HOST_NIC].node, 0);
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].ports, 16);
    assert_true(rows[OCHE_PLACE_TO_HOST].mean == 0.5 / 16);
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].node, oche_topology_find(&t, "tor3"));
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].port, 1);
    assert_true(rows[OCHE_PLACE_TOR_UP].largest == 0.25);
    assert_int_equal(rows[OCHE_PLACE_AGGREGATION].ports, 32);
    assert_true(rows[OCHE_PLACE_AGGREGATION].largest == 0);
    assert_true(rows[OCHE_PLACE_CORE].mean == 1.0 / 16);
    free(bytes);
    oche_topology_free(&t);
}

/* fat_tree of 4: two uplinks at each ToR and at each aggregation switch. */
static void test_imbalance(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    uint64_t *bytes = calloc(2 * t.link_count, sizeof(*bytes));
    struct oche_imbalance_row rows[OCHE_WHERES];

    (void)state;
    assert_non_null(bytes);
    oche_imbalance(&t, bytes, rows);
    for (unsigned where = 0; where < OCHE_WHERES; where++)
        assert_true(isnan(rows[where].mean) && isnan(rows[where].largest));
    bytes[port_index(&t, "tor0:agg0")] = 3000;
    bytes[port_index(&t, "tor0:agg1")] = 1000;
    bytes[port_index(&t, "tor1:agg0")] = 2000;
    bytes[port_index(&t, "tor1:agg1")] = 2000;
    bytes[port_index(&t, "tor2:agg2")] = 10; /* all by one of them, but very few */
    bytes[port_index(&t, "agg0:core0")] = 700;
    bytes[port_index(&t, "tor0:host0")] = 9000; /* no uplink */
    oche_imbalance(&t, bytes, rows);
    assert_true(fabs(rows[OCHE_WHERE_TOR_UP].mean - 5010 / 4005.0) < 1e-12);
    assert_true(fabs(rows[OCHE_WHERE_TOR_UP].largest - 1.5) < 1e-12);
    assert_int_equal(rows[OCHE_WHERE_TOR_UP].node, oche_topology_find(&t, "tor0"));
    assert_true(fabs(rows[OCHE_WHERE_AGGREGATION_UP].mean - 2) < 1e-12);
    assert_true(fabs(rows[OCHE_WHERE_AGGREGATION_UP].largest - 2) < 1e-12);
    assert_true(isnan(rows[OCHE_WHERE_TO_HOST].mean) && isnan(rows[OCHE_WHERE_ALL].mean));
    free(bytes);
    oche_topology_free(&t);
}

static void test_pauses(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    struct oche_switch_port_stats *stats = calloc(2 * t.link_count, sizeof(*stats));
    struct oche_pause_sum sums[OCHE_NODE_KINDS];
    struct oche_switch_port_stats *port;

    (void)state;
    assert_non_null(stats);
    port = &stats[port_index(&t, "host7")];
    port->pauses_received[3] = 5;
    port->paused_time[3] = 70 * OCHE_US;
    port = &stats[port_index(&t, "tor3:host7")];
    port->pauses_sent[3] = 4;
    port->refreshes_sent[3] = 1;
    port->pause_sent_time[3] = 71 * OCHE_US;
    port = &stats[port_index(&t, "core1:agg4")];
    port->pauses_received[0] = 2;
    port->paused_time[0] = 9 * OCHE_US;
    port->pauses_received[3] = 1;
    port->paused_time[3] = 1 * OCHE_US;

    oche_pause_by_kind(&t, stats, sums);
    assert_int_equal(sums[OCHE_NODE_HOST].received, 5);
    assert_int_equal(sums[OCHE_NODE_HOST].longest_held, 70 * OCHE_US);
    assert_int_equal(sums[OCHE_NODE_TOR].sent, 4);
    assert_int_equal(sums[OCHE_NODE_TOR].received, 0);
    assert_int_equal(sums[OCHE_NODE_AGGREGATION].received, 0);
    assert_int_equal(sums[OCHE_NODE_CORE].received, 3);
    assert_int_equal(sums[OCHE_NODE_CORE].received_time, 10 * OCHE_US);
    assert_int_equal(sums[OCHE_NODE_CORE].longest_held, 9 * OCHE_US);
    free(stats);
    oche_topology_free(&t);
}

static void test_marks(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    struct oche_switch_port_stats *stats = calloc(2 * t.link_count, sizeof(*stats));
    struct oche_mark_row rows[OCHE_PLACES];

    (void)state;
    assert_non_null(stats);
    stats[port_index(&t, "tor3:host7")] =
        (struct oche_switch_port_stats){.packets = 100, .marks = 30};
    stats[port_index(&t, "tor0:host0")] = (struct oche_switch_port_stats){
        .packets = 50,
        .marks = 15,
        /* A packet without a route is counted where it came in: it was not for host0. */
        .drops = {[OCHE_DROP_BUFFER] = 2,
                  [OCHE_DROP_LINK_DOWN] = 1,
                  [OCHE_DROP_TTL] = 4,
                  [OCHE_DROP_NO_ROUTE] = 8}};
    stats[port_index(&t, "tor3:agg2")] = (struct oche_switch_port_stats){.packets = 7, .marks = 3};
    stats[port_index(&t, "core1:agg4")] = (struct oche_switch_port_stats){.packets = 9};
    oche_marks_by_place(&t, stats, 200, 12, rows);
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].packets, 150);
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].marks, 45);
    assert_int_equal(rows[OCHE_PLACE_TO_HOST].drops, 3);
    assert_int_equal(rows[OCHE_PLACE_TOR_UP].marks, 3);
    assert_int_equal(rows[OCHE_PLACE_CORE].packets, 9);
    assert_int_equal(rows[OCHE_PLACE_HOST_NIC].packets, 200);
    assert_int_equal(rows[OCHE_PLACE_HOST_NIC].marks, 12);
    free(stats);
    oche_topology_free(&t);
}

/* Every kind of link, with a port that has a counter above zero. */
static void test_congestion(void **state)
{
    static const struct {
        const char *port;
        enum oche_where where;
    } ports[] = {{"host3", OCHE_WHERE_HOST_NIC},
                 {"tor0:agg1", OCHE_WHERE_TOR_UP},
                 {"agg1:core3", OCHE_WHERE_AGGREGATION_UP},
                 {"core0:agg0", OCHE_WHERE_CORE_DOWN},
                 {"agg0:tor1", OCHE_WHERE_AGGREGATION_DOWN},
                 {"tor3:host7", OCHE_WHERE_TO_HOST}};
    struct oche_topology t = built("fat_tree", SET({"k", 4}));
    struct oche_switch_port_stats *stats = calloc(2 * t.link_count, sizeof(*stats));
    struct oche_congestion_row rows[OCHE_WHERES];

    (void)state;
    assert_non_null(stats);
    for (unsigned i = 0; i < 6; i++)
        stats[port_index(&t, ports[i].port)] =
            (struct oche_switch_port_stats){.packets = 10,
                                            .marks = i,
                                            .queueing_time = 100 * i,
                                            .max_queue_bytes = 7 * i,
                                            .paused_time = {3, i}};
    stats[port_index(&t, "tor3:host6")] =
        (struct oche_switch_port_stats){.packets = 30, .queueing_time = 100};
    oche_congestion(&t, stats, rows);
    for (unsigned i = 0; i < 6; i++) {
        const struct oche_congestion_row *row = &rows[ports[i].where];
        uint32_t node, port;

        assert_int_equal(row->ports, 16);
        assert_int_equal(row->marks, i);
        assert_int_equal(row->queue_most, 7 * i);
        assert_int_equal(row->paused, 3 + i);
        assert_true(row->queueing_worst == 10.0 * i);
        assert_true(oche_topology_find_port(&t, ports[i].port, &node, &port, NULL));
        assert_int_equal(row->node, node);
        assert_int_equal(row->port, port);
    }
    assert_true(rows[OCHE_WHERE_TO_HOST].queueing_mean == 15);
    assert_int_equal(rows[OCHE_WHERE_LEVEL].ports, 0);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].marks, 1 + 2 + 3 + 4);
    assert_int_equal(rows[OCHE_WHERE_INSIDE].queueing, 1000);
    assert_int_equal(rows[OCHE_WHERE_ALL].queueing, 1600);
    assert_int_equal(rows[OCHE_WHERE_ALL].packets, 90);
    free(stats);
    oche_topology_free(&t);
    t = built("dumbbell", SET({"left_hosts", 1}));
    assert_int_equal(oche_where_of(&t, oche_topology_find(&t, "tor0"), 1), OCHE_WHERE_LEVEL);
    oche_topology_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utilisation), cmocka_unit_test(test_imbalance),
        cmocka_unit_test(test_pauses),      cmocka_unit_test(test_marks),
        cmocka_unit_test(test_congestion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
