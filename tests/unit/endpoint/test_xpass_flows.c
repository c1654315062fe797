/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows over ExpressPass: the time of one alone; shared links are used and shared, and nothing is
 * lost with buffers of a few frames. Every byte is delivered once for any losses. Neither bytes
 * mode, payload nor threads change an event.
 */
#include "sim/endpoint/expresspass/params.h"
#include "sim/measure/fairness.h"
#include "tests/support/counted.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

static void make(struct small_world *small, const char *topology)
{
    small_world_init(small, topology, "expresspass", "go_back_n");
    small->config.run.stop_when_done = false; /* credits that come too late arrive as well */
    small->config.run.duration = OCHE_SEC;
}

/* The fate of a credit: used for a frame, wasted, or lost on its way. */
static void check_books(const struct small_world *small)
{
    const struct oche_world_totals *t = &small->totals;

    assert_int_equal(t->nic.cc_packets_received,
                     t->nic.data_packets_sent + counted(t->counters, t->counted, "wasted"));
    if (t->live_packets == 0 && t->lost_packets == 0)
        assert_int_equal(t->nic.cc_packets_sent,
                         t->nic.cc_packets_received + t->drops[OCHE_DROP_MECHANISM]);
    assert_int_equal(t->rejected_packets, 0);
    assert_int_equal(t->corrupt_bytes, 0);
}

static uint64_t bytes_of(const struct oche_flow_plan *flows, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += flows[i].bytes;
    return sum;
}

/* All requested data has arrived, each byte once. */
static void check_delivered(const struct small_world *small)
{
    assert_int_equal(small->totals.flows_completed, small->flow_count);
    assert_int_equal(small->totals.nic.delivered_messages, small->flow_count);
    assert_int_equal(small->totals.nic.delivered_bytes, bytes_of(small->flows, small->flow_count));
    assert_int_equal(small->totals.live_packets, 0);
    assert_int_equal(small->totals.queued_bytes, 0);
    check_books(small);
}

/* A request one way, a credit back, a frame one way: 84 bytes each on two links of 40 Gbit/s. */
static void test_one_byte(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 1, 5 * OCHE_US);
    struct small_world small;

    (void)state;
    make(&small, "star");
    small_world_run(&small, &flow, 1);
    const struct oche_port *port = &oche_world_network(small.world)->ports[0];
    const struct oche_flows *flows = oche_world_flows(small.world);
    assert_true(port->ps_per_byte > 0);
    assert_int_equal(flows->received[0].delivered - flows->sent[0].started,
                     6 * (port->delay + 84 * port->ps_per_byte));
    check_delivered(&small);
    small_world_free(&small);
}

/* A long flow alone: full rate after some round trips, with 84 of 1622 bytes for credits. */
static void test_alone_uses_the_link(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 3, 20000000, 0);
    struct small_world small;

    (void)state;
    for (unsigned kind = OCHE_XPASS_AUTHORS_CODE; kind <= OCHE_XPASS_PAPER; kind++) {
        make(&small, "leaf_spine");
        small_world_cc(&small, "feedback", kind);
        small_world_run(&small, &flow, 1);
        const struct oche_flows *flows = oche_world_flows(small.world);
        oche_time took = flows->received[0].delivered - flows->sent[0].started;
        oche_time ideal = oche_world_ideal_time(small.world, 0);
        assert_true(took > ideal * 1622 / 1538);
        assert_true(took < ideal * 1622 / 1538 * 104 / 100);
        check_delivered(&small);
        small_world_free(&small);
    }
}

#define SENDERS 16
static const uint64_t few_frames = 12 * 1538;

/* Incast to one port with room for a dozen frames: no data is lost, and all get their share. */
static void test_incast(void **state)
{
    struct oche_flow_plan flows[SENDERS];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < SENDERS; i++)
        flows[i] = small_flow(i + 1, 0, 4000000, (i * 13) % 5 * OCHE_US);
    for (unsigned kind = OCHE_XPASS_AUTHORS_CODE; kind <= OCHE_XPASS_PAPER; kind++) {
        make(&small, "star");
        small_world_topology(&small, "hosts", SENDERS + 1);
        small_world_cc(&small, "feedback", kind);
        small.config.switches.port_buffer_bytes = few_frames;
        small_world_run(&small, flows, SENDERS);
        const struct oche_flows *done = oche_world_flows(small.world);
        double rates[SENDERS];
        oche_time last = 0;
        for (uint32_t i = 0; i < SENDERS; i++) {
            oche_time end = done->received[i].delivered;
            rates[i] = 1 / (double)(end - done->sent[i].started);
            last = end > last ? end : last;
        }
        assert_int_equal(small.totals.drops[OCHE_DROP_BUFFER], 0);
        assert_int_equal(small.totals.nic.retransmitted_packets, 0);
        assert_int_equal(small.totals.nic.timeouts, 0);
        assert_true(oche_jain_index(rates, SENDERS) > 0.98);
        /* 64 MB of payload at 40 Gbit/s less credits: 14.22 ms. */
        assert_true(last < 14700 * OCHE_US);
        check_delivered(&small);
        small_world_free(&small);
    }
}

/* Credits of two receivers meet at a bottleneck; both directions carry data at the same time. */
static void test_both_ways(void **state)
{
    const struct oche_flow_plan flows[] = {
        small_flow(0, 4, 8000000, 0), small_flow(1, 5, 8000000, 0), small_flow(6, 2, 8000000, 0),
        small_flow(7, 3, 8000000, 0)};
    struct small_world small;

    (void)state;
    make(&small, "dumbbell");
    small_world_topology(&small, "left_hosts", 4);
    small_world_topology(&small, "right_hosts", 4);
    small.config.switches.port_buffer_bytes = 2 * few_frames;
    small_world_run(&small, flows, 4);
    assert_int_equal(small.totals.drops[OCHE_DROP_BUFFER], 0);
    assert_true(small.totals.drops[OCHE_DROP_MECHANISM] > 0);
    check_delivered(&small);
    small_world_free(&small);
}

/* Flows that follow each other on one connection, with or without a second REQUEST. */
static void test_connections(void **state)
{
    struct oche_flow_plan flows[] = {
        small_flow(0, 1, 3000, 0),         small_flow(0, 1, 2000000, OCHE_US),
        small_flow(0, 1, 1, 10 * OCHE_US), small_flow(0, 1, 50000, 5 * OCHE_MS),
        small_flow(1, 0, 700000, 0),       small_flow(0, 1, 1460, OCHE_NEVER)};
    struct small_world small;

    (void)state;
    flows[3].then_same_source = 5;
    for (uint32_t per = OCHE_CONNECTION_PER_FLOW; per <= OCHE_CONNECTION_PER_CHAIN; per++) {
        make(&small, "star");
        small.config.hosts.connections = per;
        small.config.run.payload = true;
        small_world_run(&small, flows, 6);
        check_delivered(&small);
        assert_int_equal(small.totals.nic.retransmitted_packets, 0);
        small_world_free(&small);
    }
}

/* Lost data, credits, requests or stops: each byte arrives once. */
static void test_losses(void **state)
{
    struct oche_flow_plan flows[40];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        flows[i] =
            small_flow(i % 5, 5 + i * 3 % 7, 1 + i * i * 997 % 90000, i * 11 % 17 * 10 * OCHE_US);
    for (unsigned seed = 1; seed <= 12; seed++) {
        make(&small, "leaf_spine");
        small.config.seed = seed;
        small.config.loss.probability = seed % 3 == 0 ? 0.2 : 0.02;
        small.config.hosts.connections =
            seed & 1 ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
        small.config.run.payload = true;
        small.config.run.duration = 20 * OCHE_SEC;
        small_world_cc(&small, "rto", 2 * OCHE_MS);
        small_world_cc(&small, "size_jitter", seed % 9);
        small_world_run(&small, flows, 40);
        assert_true(small.totals.lost_packets > 0);
        assert_true(small.totals.nic.retransmitted_packets > 0);
        check_delivered(&small);
        small_world_free(&small);
    }
}

/* One packet of a kind is lost; the others continue. */
static void test_one_loss(void **state)
{
    static const struct {
        const char *port, *pattern;
        bool again;
    } cases[] = {
        {"host0", "1", false}, /* the REQUEST */
        {"host0", "2", true},  /* the first frame */
        {"host0", "11", true}, /* the last one */
        {"host0", "12", false} /* the STOP */
    };
    struct oche_flow_plan flow = small_flow(0, 1, 14600, 0);
    struct small_world small;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        make(&small, "star");
        small.config.run.payload = true;
        small.losses[0] = (struct small_world_loss){cases[i].port, cases[i].pattern};
        small_world_run(&small, &flow, 1);
        assert_int_equal(small.totals.lost_packets, 1);
        assert_int_equal(small.totals.nic.retransmitted_packets > 0, cases[i].again);
        check_delivered(&small);
        small_world_free(&small);
    }
}

/* Bytes mode, payload and threads: the same events. IPv6: other sizes, the same share. */
static void test_same_events(void **state)
{
    struct oche_flow_plan flows[24];
    struct small_world small;
    uint64_t hash[2] = {0, 0};

    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        flows[i] = small_flow(i % 16, (i * 5 + 3) % 16 == i % 16 ? 15 - i % 16 : (i * 5 + 3) % 16,
                              20000 + 3000 * i, i * OCHE_US);
    for (unsigned variant = 0; variant < 10; variant++) {
        make(&small, "fat_tree");
        small_world_topology(&small, "k", 4);
        small_world_cc(&small, "size_jitter", 8);
        small.config.hosts.ipv6 = variant & 1;
        small.config.run.bytes = variant & 2;
        small.config.run.payload = variant & 4;
        small.config.threads = variant < 8 ? 1 : 3;
        small_world_run(&small, flows, 24);
        check_delivered(&small);
        if (variant < 2)
            hash[variant] = small.totals.hash;
        assert_int_equal(small.totals.hash, hash[variant & 1]);
        small_world_free(&small);
    }
    assert_true(hash[0] != hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_byte),    cmocka_unit_test(test_alone_uses_the_link),
        cmocka_unit_test(test_incast),      cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_connections), cmocka_unit_test(test_losses),
        cmocka_unit_test(test_one_loss),    cmocka_unit_test(test_same_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
