/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviour that papers and standards require, in small worlds: incast under PFC and under DCQCN, a
 * victim behind paused links (DCQCN sec 2.2, Fig 4), loss without PFC, marking at both ends of a
 * queue, control before data, one path for each flow.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/measure/queue_occupancy.h"

#define RECEIVER 0
#define SENDERS  16
#define QUEUE    "tor0:host0" /* the queue of all packets of an incast */

/* A full packet of 1024 bytes, on the line: with headers and gap. */
#define FULL_LINE_BYTES (1024 + 62 + OCHE_GAP_BYTES)

static uint64_t payload_rate(uint64_t line_bps)
{
    return line_bps / FULL_LINE_BYTES * 1024;
}

/* Hosts 1 … SENDERS to host 0, all at once. Returns the number of flows. */
static uint32_t incast(struct oche_flow_plan *flows, uint64_t bytes)
{
    for (uint32_t i = 0; i < SENDERS; i++)
        flows[i] = small_flow(1 + i, RECEIVER, bytes, 0);
    return SENDERS;
}

/* Returns the payload divided by the time from the first start to the last delivery. */
static uint64_t goodput(const struct small_world *small)
{
    const struct oche_flows *flows = oche_world_flows(small->world);
    oche_time end = 0;
    uint64_t bytes = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        assert_true(flows->received[i].delivered != OCHE_NEVER);
        end = flows->received[i].delivered > end ? flows->received[i].delivered : end;
        bytes += flows->plan[i].bytes;
    }
    return oche_rate_of(bytes, end);
}

static uint64_t drops(const struct small_world *small)
{
    uint64_t sum = 0;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        sum += small->totals.drops[cause];
    return sum;
}

static struct oche_queue_occupancy queue(const struct small_world *small)
{
    const char *name;

    assert_int_equal(oche_world_watch_count(small->world), 1);
    return oche_queue_occupancy(oche_world_watch(small->world, 0, &name),
                                oche_world_network(small->world)->now);
}

/* PFC alone: nothing is lost, senders are paused, the link is full. */
static void test_incast_under_pfc(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 4000000);
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.run.duration = 100 * OCHE_MS;
    small_world_run(&small, flows, count);
    assert_int_equal(small.totals.flows_completed, count);
    assert_int_equal(drops(&small), 0);
    assert_int_equal(small.totals.nic.retransmitted_packets, 0);
    assert_int_equal(small.totals.nic.out_of_order_packets, 0);
    assert_true(small.totals.pauses_sent > 0);
    assert_true(small.totals.pauses_received_by_hosts > 0);
    assert_true(small.totals.pause_time > 0);
    assert_false(small.totals.any_port_paused);
    assert_true(goodput(&small) >= payload_rate(40 * OCHE_GBPS) / 100 * 99);
    assert_true(goodput(&small) <= payload_rate(40 * OCHE_GBPS));
    small_world_free(&small);
}

/* The form of CNPs at their sender. */
struct cnps {
    oche_time last[SENDERS], smallest_gap;
    uint32_t count[SENDERS], sent, arrived;
};

static void watch_cnps(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct cnps *cnps = context;
    uint32_t flow = record->qpn - OCHE_FIRST_QPN;

    cnps->arrived += record->kind == OCHE_TRACE_CNP_ARRIVED;
    if (record->kind != OCHE_TRACE_CNP_SENT)
        return;
    assert_int_equal(node, RECEIVER);
    assert_true(flow < SENDERS);
    cnps->sent++;
    if (cnps->count[flow]++ > 0)
        cnps->smallest_gap = oche_time_min(cnps->smallest_gap, record->time - cnps->last[flow]);
    cnps->last[flow] = record->time;
}

/*
 * DCQCN: the queue is a small part of the one under PFC alone. Each flow gets at most one CNP in 50
 * us, and there is almost no PAUSE.
 */
static void test_incast_under_dcqcn(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 4000000);
    struct oche_queue_occupancy alone, controlled;
    struct cnps cnps = {.smallest_gap = OCHE_NEVER};
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.run.duration = 100 * OCHE_MS;
    small.config.measure.queues = QUEUE;
    small_world_run(&small, flows, count);
    alone = queue(&small);
    uint64_t pauses = small.totals.pauses_sent;
    assert_int_equal(small.totals.nic.cnps_sent, 0);
    small_world_free(&small);

    small_world_init(&small, "star", "dcqcn", "go_back_n");
    small.config.run.duration = 100 * OCHE_MS;
    small.config.measure.queues = QUEUE;
    small.sink = watch_cnps;
    small.sink_context = &cnps;
    small_world_run(&small, flows, count);
    controlled = queue(&small);
    assert_int_equal(small.totals.flows_completed, count);
    assert_int_equal(drops(&small), 0);
    assert_true(controlled.mean_bytes < alone.mean_bytes / 4);
    assert_true(controlled.percentile[OCHE_P90] < alone.percentile[OCHE_P50]);
    assert_true(small.totals.pauses_sent < pauses / 4);
    /*
     * The cuts of the first milliseconds take the rates to the floor, R_T with them. Recovery takes
     * time.
     */
    assert_true(goodput(&small) >= payload_rate(40 * OCHE_GBPS) / 100 * 75);
    for (unsigned i = 0; i < SENDERS; i++)
        assert_true(cnps.count[i] > 3);
    /* Requested every 50 us. One may have waited for an ACK on the line, and the next one not. */
    oche_time ack = oche_time_of_bytes(66 + OCHE_GAP_BYTES, 40 * OCHE_GBPS);
    assert_true(cnps.smallest_gap >= 50 * OCHE_US - ack && cnps.smallest_gap < 60 * OCHE_US);
    assert_int_equal(cnps.sent, small.totals.nic.cnps_sent);
    assert_int_equal(cnps.arrived, small.totals.nic.cnps_received);
    small_world_free(&small);
}

/* No PFC and little buffer: packets are lost, but every byte arrives once. */
static void test_small_buffer_without_pfc(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 300000);
    struct small_world small;

    (void)state;
    for (unsigned dcqcn = 0; dcqcn < 2; dcqcn++) {
        small_world_init(&small, "star", dcqcn ? "dcqcn" : "none", "go_back_n");
        small.config.switches.pfc = false;
        small.config.switches.buffer_bytes = 100000;
        small.config.hosts.ack_timeout = OCHE_MS;
        small.config.run.duration = 500 * OCHE_MS;
        small.config.run.payload = true;
        small_world_run(&small, flows, count);
        assert_int_equal(small.totals.flows_completed, count);
        assert_true(drops(&small) > 0);
        assert_int_equal(small.totals.pauses_sent, 0);
        assert_true(small.totals.nic.retransmitted_packets > 0);
        assert_true(small.totals.nic.naks_received > 0);
        assert_int_equal(small.totals.nic.delivered_bytes, count * UINT64_C(300000));
        assert_int_equal(small.totals.nic.delivered_messages, count);
        assert_int_equal(small.totals.corrupt_bytes, 0);
        assert_int_equal(small.totals.live_packets, 0);
        small_world_free(&small);
    }
}

/*
 * The victim (DCQCN Fig 4, smaller): hosts 0 … 3 of the left switch send to host 5 of the right
 * one. Host 4 sends to host 6, whose link no other flow uses. The link between the switches is wide
 * enough for all. Returns the victim's payload rate in bit/s.
 */
static uint64_t victim(const char *cc)
{
    struct oche_flow_plan flows[5];
    struct small_world small;

    for (uint32_t i = 0; i < 4; i++)
        flows[i] = small_flow(i, 5, 400000000, 0);
    flows[4] = small_flow(4, 6, 400000000, 0);
    small_world_init(&small, "dumbbell", cc, "go_back_n");
    small_world_topology(&small, "left_hosts", 5);
    small_world_topology(&small, "right_hosts", 2);
    small_world_topology(&small, "bottleneck_rate", 200 * OCHE_GBPS);
    small.config.run.duration = 20 * OCHE_MS;
    small_world_run(&small, flows, 5);
    assert_int_equal(drops(&small), 0);
    const struct oche_nic_stats *stats = oche_host_stats(oche_world_host(small.world, 6));
    uint64_t bps = oche_rate_of(stats->delivered_bytes, small.config.run.duration);
    small_world_free(&small);
    return bps;
}

static void test_victim(void **state)
{
    uint64_t line = payload_rate(40 * OCHE_GBPS), under_pfc = victim("none");

    (void)state;
    /* A quarter: the paused link carries each of the five flows at the rate of an incast's flow. */
    assert_in_range(under_pfc, line / 5, line / 3);
    assert_true(victim("dcqcn") > line / 100 * 85);
}

/* RED at either end of the queue marks, and DCQCN answers. */
static void test_marking_at_both_ends(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 500000);
    struct small_world small;
    uint64_t hash[2];

    (void)state;
    small_world_init(&small, "star", "dcqcn", "go_back_n");
    small.config.run.duration = 50 * OCHE_MS;
    for (unsigned at = 0; at < 2; at++) {
        small.config.switches.ecn_at = at == 0 ? OCHE_ECN_AT_DEQUEUE : OCHE_ECN_AT_ENQUEUE;
        small_world_run(&small, flows, count);
        uint64_t marks = 0;
        for (unsigned place = 0; place < OCHE_PLACES; place++)
            marks += small.totals.marks[place];
        assert_true(marks > 0);
        assert_int_equal(marks, small.totals.marks[OCHE_PLACE_TO_HOST]);
        assert_true(small.totals.nic.ce_received == marks);
        assert_true(small.totals.nic.cnps_received > 0);
        assert_int_equal(small.totals.flows_completed, count);
        hash[at] = small.totals.hash;
        small_world_end(&small);
    }
    assert_int_not_equal(hash[0], hash[1]);
    small_world_free(&small);
}

/* ACKs of the flow from host 0 to host 1: their departures, and the longest time of any. */
struct acks {
    oche_time left[1 << 16];
    uint32_t sent, arrived;
    oche_time longest;
};

static void watch_acks(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct acks *acks = context;

    if (record->qpn != OCHE_FIRST_QPN)
        return;
    if (node == 1 && record->kind == OCHE_TRACE_ACK_SENT) {
        assert_true(acks->sent < 1 << 16);
        acks->left[acks->sent++] = record->time;
    }
    if (node != 0 || record->kind != OCHE_TRACE_ACK_ARRIVED)
        return;
    assert_true(acks->arrived < acks->sent); /* ACKs keep their order and none is lost */
    oche_time took = record->time - acks->left[acks->arrived++];
    acks->longest = took > acks->longest ? took : acks->longest;
}

/*
 * Strict priority: host 0 sends to host 1 while 16 others fill the queue towards host 0. Data waits
 * there for a hundred microseconds. An ACK waits only for the packet on the line, and perhaps for a
 * PFC frame.
 */
static void test_control_does_not_wait(void **state)
{
    static struct acks acks;
    struct oche_flow_plan flows[SENDERS + 1];
    struct small_world small;

    (void)state;
    memset(&acks, 0, sizeof(acks));
    flows[0] = small_flow(0, 1, 10000000, 0);
    incast(flows + 1, 1000000);
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.run.duration = 50 * OCHE_MS;
    small.config.measure.queues = QUEUE;
    small.sink = watch_acks;
    small.sink_context = &acks;
    small_world_run(&small, flows, SENDERS + 1);
    assert_int_equal(small.totals.flows_completed, SENDERS + 1);
    assert_true(queue(&small).percentile[OCHE_P50] > 500000);
    assert_true(acks.arrived > 1000);
    oche_time ack = oche_time_of_bytes(66 + OCHE_GAP_BYTES, 40 * OCHE_GBPS);
    oche_time frame = oche_time_of_bytes(64 + OCHE_GAP_BYTES, 40 * OCHE_GBPS);
    oche_time packet = oche_time_of_bytes(FULL_LINE_BYTES + 16, 40 * OCHE_GBPS);
    assert_true(acks.longest > 2 * OCHE_US + 2 * ack + packet / 2); /* some did wait */
    assert_true(acks.longest <= 2 * OCHE_US + 2 * ack + packet + frame);
    small_world_free(&small);
}

/* With ack_priority false the same ACKs wait in the queue of the incast's data. */
static void test_acks_wait_with_data(void **state)
{
    static struct acks acks;
    struct oche_flow_plan flows[SENDERS + 1];
    struct small_world small;

    (void)state;
    memset(&acks, 0, sizeof(acks));
    flows[0] = small_flow(0, 1, 10000000, 0);
    incast(flows + 1, 1000000);
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.hosts.ack_priority = false;
    small.config.run.duration = 50 * OCHE_MS;
    small.config.measure.queues = QUEUE;
    small.sink = watch_acks;
    small.sink_context = &acks;
    small_world_run(&small, flows, SENDERS + 1);
    assert_int_equal(small.totals.flows_completed, SENDERS + 1);
    assert_int_equal(drops(&small), 0);
    assert_int_equal(small.totals.nic.retransmitted_packets, 0);
    assert_true(acks.arrived > 1000);
    assert_true(acks.longest > oche_time_of_bytes(500000, 40 * OCHE_GBPS));
    small_world_free(&small);
}

/*
 * Marks returned in ACKs: no CNP leaves, senders slow down, and the bit is in the packets' bytes.
 */
static void test_marks_on_acks(void **state)
{
    enum { CUT_PERIODIC = 2, NP_ACK = 4 };
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 4000000);
    double mean[2];
    uint64_t hash[2], pauses[2];
    struct small_world small;

    (void)state;
    for (unsigned controlled = 0; controlled < 2; controlled++)
        for (unsigned bytes = 0; bytes < 2; bytes++) {
            small_world_init(&small, "star", controlled ? "dcqcn" : "none", "go_back_n");
            if (controlled) {
                small_world_cc(&small, "np", NP_ACK);
                small_world_cc(&small, "cut", CUT_PERIODIC);
            }
            small.config.run.bytes = bytes;
            small.config.run.duration = 100 * OCHE_MS;
            small.config.measure.queues = QUEUE;
            small_world_run(&small, flows, count);
            assert_int_equal(small.totals.flows_completed, count);
            assert_int_equal(small.totals.nic.cnps_sent, 0);
            mean[controlled] = (double)queue(&small).mean_bytes;
            pauses[controlled] = small.totals.pauses_sent;
            hash[bytes] = small.totals.hash;
            small_world_free(&small);
            assert_true(bytes == 0 || hash[0] == hash[1]);
        }
    assert_true(mean[1] < mean[0] / 4);
    assert_true(pauses[1] < pauses[0] / 4);
}

/* Returns how many switch ports sent at least `bytes`. */
static uint32_t busy_ports(const struct small_world *small, uint64_t bytes)
{
    const struct oche_network *network = oche_world_network(small->world);
    uint32_t count = 0;

    for (uint32_t i = network->nodes[network->host_count].first_port; i < network->port_count; i++)
        count += oche_world_line_bytes(small->world, i) >= bytes;
    return count;
}

/* ECMP by flow: each flow keeps to one path, many flows use many. */
static void test_one_path_a_flow(void **state)
{
    struct oche_flow_plan flows[16];
    struct small_world small;
    uint32_t most = 0;

    (void)state;
    small_world_init(&small, "fat_tree", "none", "go_back_n");
    small_world_topology(&small, "k", 4);
    flows[0] = small_flow(0, 15, 1000000, 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        small.config.seed = seed;
        small_world_run(&small, flows, 1);
        assert_int_equal(busy_ports(&small, 1000000), 5); /* edge, aggregation, core, … all ports */
        assert_int_equal(busy_ports(&small, 1), 10);      /* and the path of the ACKs */
        small_world_end(&small);
    }
    for (uint32_t i = 0; i < 16; i++)
        flows[i] = small_flow(i, (i + 8) % 16, 1000000, 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        small.config.seed = seed;
        small_world_run(&small, flows, 16);
        assert_int_equal(small.totals.flows_completed, 16);
        assert_int_equal(small.totals.nic.out_of_order_packets, 0);
        assert_int_equal(small.totals.nic.retransmitted_packets, 0);
        assert_int_equal(drops(&small), 0);
        uint32_t busy = busy_ports(&small, 1000000);
        most = busy > most ? busy : most;
        small_world_end(&small);
    }
    assert_true(most > 60); /* of 80: four cores, eight aggregation, eight edge switches */
    small_world_free(&small);
}

/*
 * Pinned to one spine, four flows of a leaf share its link. Pinned to one spine each, they do not.
 * Pinned ACKs return on their own paths.
 */
static void test_pinned_paths(void **state)
{
    char path[] = "/tmp/oche-pins-XXXXXX";
    struct oche_flow_plan flows[4];
    struct oche_error error;
    struct small_world small;
    uint64_t rates[3];
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0 && close(file) == 0);
    small_world_init(&small, "leaf_spine", "none", "go_back_n");
    small_world_topology(&small, "leaves", 2);
    small_world_topology(&small, "spines", 4);
    small_world_topology(&small, "hosts_per_leaf", 4);
    small_world_topology(&small, "host_rate", 40 * OCHE_GBPS);
    small_world_topology(&small, "link_rate", 40 * OCHE_GBPS);
    for (uint32_t i = 0; i < 4; i++)
        flows[i] = small_flow(i, 4 + i, 4000000, 0);
    for (unsigned way = 1; way < 3; way++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            FILE *text = fopen(path, "w");
            struct oche_walk walk;

            assert_non_null(text);
            for (unsigned i = 0; i < 4; i++)
                fprintf(text,
                        "flow %u host%u leaf0 spine%u leaf1 host%u\n"
                        "flow %u host%u leaf1 spine3 leaf0 host%u\n",
                        i, i, way == 1 ? 2 : i, 4 + i, i, 4 + i, i);
            assert_int_equal(fclose(text), 0);
            small.config.routes.file = path;
            small.config.threads = threads;
            small_world_run(&small, flows, 4);
            assert_int_equal(small.totals.flows_completed, 4);
            assert_int_equal(small.totals.nic.out_of_order_packets, 0);
            assert_int_equal(busy_ports(&small, 4000000), way == 1 ? 6 : 12);
            rates[way] = goodput(&small);
            for (uint32_t i = 0; i < 4; i++) {
                oche_world_walk(small.world, i, true, &walk);
                assert_int_equal(walk.end, OCHE_WALK_ARRIVES);
                assert_int_equal(
                    oche_topology_node_of_port(oche_world_topology(small.world), walk.ports[2]),
                    oche_topology_find(oche_world_topology(small.world), "spine3"));
            }
            small_world_end(&small);
        }
    assert_true(rates[2] > 3 * rates[1]);

    /* Flows that share a queue pair share its path. A missing flow has none. */
    flows[1].src = 0;
    flows[1].dst = 4;
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.flows = flows;
    small.flow_count = 4;
    FILE *text = fopen(path, "w");
    fputs("flow 0 host0 leaf0 spine0 leaf1 host4\nflow 1 host0 leaf0 spine1 leaf1 host4\n", text);
    assert_int_equal(fclose(text), 0);
    assert_false(small_world_can(&small, &error));
    assert_non_null(strstr(error.text, ":2: line 1 has a path for this flow's queue pair in this "
                                       "direction already; one would be right"));
    small_world_free(&small);
    assert_int_equal(unlink(path), 0);
}

/* At any end of a run: no link has carried more than its capacity, and a busy one no less. */
static void test_use_of_links(void **state)
{
    static const uint64_t rates[] = {40 * OCHE_GBPS, 3 * OCHE_GBPS};
    struct oche_flow_plan flow = small_flow(0, 1, 100000000, 0);
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small_world_topology(&small, "hosts", 2);
    for (unsigned i = 0; i < 400; i++) {
        uint64_t bps = rates[i % 2];

        small_world_topology(&small, "host_rate", bps);
        small.config.run.warmup = i % 4 < 2 ? 0 : i * 9973;
        small.config.run.duration = small.config.run.warmup + 1 + i * 20011;
        small_world_run(&small, &flow, 1);
        const struct oche_network *network = oche_world_network(small.world);
        uint64_t most = oche_bytes_in_time(small.totals.measured, bps);
        for (uint32_t port = 0; port < network->port_count; port++)
            assert_in_range(oche_world_line_bytes(small.world, port), 0, most);
        /* A byte is allowed at each end, because parts of bytes do not count. */
        assert_true(oche_world_line_bytes(small.world, 0) + 2 >= most);
        small_world_end(&small);
    }
    small_world_free(&small);
}

/*
 * Links that lose one packet in five lose no PFC frame: no port stays paused, no buffer overflows.
 */
static void test_pauses_are_not_lost(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    uint32_t count = incast(flows, 200000);
    struct small_world small;
    uint64_t pauses = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        small_world_init(&small, "star", "none", "go_back_n");
        small.config.seed = seed;
        small.config.loss.probability = 0.2;
        small.config.switches.beta = 1.0 / 8; /* so even such a small buffer pauses */
        small.config.switches.buffer_bytes = 7000000;
        small.config.hosts.ack_timeout = 200 * OCHE_US;
        small.config.run.duration = OCHE_SEC;
        small_world_run(&small, flows, count);
        pauses += small.totals.pauses_sent;
        assert_int_equal(small.totals.flows_completed, count);
        assert_true(small.totals.lost_packets > 0);
        assert_int_equal(drops(&small), 0);
        assert_false(small.totals.any_port_paused);
        small_world_free(&small);
    }
    assert_true(pauses > 0);
}

/* Losses are on the links that the scenario names, in both directions of a path. */
static void test_losses_are_where_they_are_wanted(void **state)
{
    /* Losses of hosts, of ToR switches towards hosts, and of ports between switches. */
    static const struct {
        uint32_t where;
        bool of_host, to_host, between;
    } rows[] = {
        {OCHE_LOSS_ALL_LINKS, true, true, true},      {OCHE_LOSS_HOST_LINKS, true, true, false},
        {OCHE_LOSS_SWITCH_LINKS, false, false, true}, {OCHE_LOSS_LAST_HOP, false, true, false},
        {OCHE_LOSS_FIRST_HOP, true, false, false},
    };
    const struct oche_flow_plan flow =
        small_flow(0, 3, 1000000, 0); /* left to right, and ACKs back */

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct small_world small;
        bool of_host = false, to_host = false, between = false;

        small_world_init(&small, "dumbbell", "none", "go_back_n");
        small_world_topology(&small, "left_hosts", 2);
        small_world_topology(&small, "right_hosts", 2);
        small.config.loss.probability = 0.05;
        small.config.loss.where = rows[i].where;
        small.config.hosts.ack_timeout = 200 * OCHE_US;
        small.config.run.duration = OCHE_SEC;
        small_world_run(&small, &flow, 1);
        const struct oche_network *network = oche_world_network(small.world);

        for (uint32_t p = 0; p < network->port_count; p++) {
            const struct oche_port *port = &network->ports[p];

            if (port->peer == UINT32_MAX || oche_world_lost_packets(small.world, p) == 0)
                continue;
            if ((port->flags & OCHE_PORT_HOST) != 0)
                of_host = true;
            else if ((network->ports[port->peer].flags & OCHE_PORT_HOST) != 0)
                to_host = true;
            else
                between = true;
        }
        assert_int_equal(of_host, rows[i].of_host);
        assert_int_equal(to_host, rows[i].to_host);
        assert_int_equal(between, rows[i].between);
        small_world_free(&small);
    }
}

/*
 * At the first hop a pattern counts each host's own packets, ACKs among them (rogue.md#r30): each
 * host loses every tenth.
 */
static void test_a_pattern_counts_each_host(void **state)
{
    const struct oche_flow_plan flows[] = {small_flow(0, 2, 1000000, 0),
                                           small_flow(1, 2, 500000, 0)};
    struct oche_switch_port_stats stats[64];
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "none", "go_back_n");
    small_world_topology(&small, "hosts", 3);
    small.config.loss.pattern = "every 10";
    small.config.loss.where = OCHE_LOSS_FIRST_HOP;
    small.config.hosts.ack_timeout = 200 * OCHE_US;
    small.config.run.duration = OCHE_SEC;
    small_world_run(&small, flows, 2);
    const struct oche_network *network = oche_world_network(small.world);

    assert_in_range(network->port_count, 1, OCHE_COUNT_OF(stats));
    oche_world_port_stats(small.world, stats);
    for (uint32_t host = 0; host < 3; host++) {
        const uint32_t port = network->nodes[host].first_port;
        const uint64_t lost = oche_world_lost_packets(small.world, port);

        assert_true((network->ports[port].flags & OCHE_PORT_HOST) != 0);
        assert_true(lost > 0);
        if (host < 2) /* a sender; its packets all have data */
            assert_int_equal(lost, stats[port].packets / 10);
    }
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incast_under_pfc),
        cmocka_unit_test(test_incast_under_dcqcn),
        cmocka_unit_test(test_small_buffer_without_pfc),
        cmocka_unit_test(test_victim),
        cmocka_unit_test(test_marking_at_both_ends),
        cmocka_unit_test(test_control_does_not_wait),
        cmocka_unit_test(test_acks_wait_with_data),
        cmocka_unit_test(test_marks_on_acks),
        cmocka_unit_test(test_one_path_a_flow),
        cmocka_unit_test(test_pinned_paths),
        cmocka_unit_test(test_use_of_links),
        cmocka_unit_test(test_pauses_are_not_lost),
        cmocka_unit_test(test_losses_are_where_they_are_wanted),
        cmocka_unit_test(test_a_pattern_counts_each_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
