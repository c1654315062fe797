/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP with packet loss: each way of repair, forced, and then at random, with every byte checked.
 * Byte n has sequence number n + 1, so segment i of a connection is "psn 1 + 1460 i".
 */
#include <stdio.h>

#include "core/random.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define SEGMENT(i) (1 + 1460 * (i))

static void make(struct small_world *small, const char *scheme)
{
    small_world_init(small, "star", scheme, "go_back_n");
    small_world_cc(small, "os_overhead", 0);
    small->config.run.payload = true;
    small->config.run.duration = 10 * OCHE_SEC;
}

static char text[256];

/* Loses these packets of a flow of 100 segments from host 0 to host 1, on the sender's link. */
static void lose(struct small_world *small, const char *pattern)
{
    struct oche_flow_plan flow = small_flow(0, 1, 146000, 0);

    make(small, "tcp");
    small->config.loss.pattern = pattern;
    small->config.loss.port = "host0:0";
    small_world_run(small, &flow, 1);
    assert_int_equal(small->totals.flows_completed, 1);
    assert_int_equal(small->totals.nic.delivered_bytes, 146000);
    assert_int_equal(small->totals.nic.delivered_messages, 1);
    assert_int_equal(small->totals.corrupt_bytes, 0);
    assert_int_equal(small->totals.live_packets, 0);
}

static oche_time took(const struct small_world *small)
{
    return oche_world_flows(small->world)->received[0].delivered;
}

/* One segment: three duplicate ACKs cause its retransmission, and nothing else. */
static void test_fast_retransmit(void **state)
{
    struct small_world small;

    (void)state;
    snprintf(text, sizeof(text), "psn %d", SEGMENT(20));
    lose(&small, text);
    assert_int_equal(small.totals.nic.retransmitted_packets, 1);
    assert_int_equal(small.totals.nic.timeouts, 0);
    assert_int_equal(small.totals.nic.duplicate_packets, 0);
    assert_true(took(&small) < OCHE_MS);
    small_world_free(&small);
}

/* Three of one window: each partial ACK repairs one a round trip, without a timeout (RFC 6582). */
static void test_partial_acks(void **state)
{
    struct small_world small;

    (void)state;
    snprintf(text, sizeof(text), "psn %d, psn %d, psn %d", SEGMENT(30), SEGMENT(32), SEGMENT(35));
    lose(&small, text);
    assert_int_equal(small.totals.nic.retransmitted_packets, 3);
    assert_int_equal(small.totals.nic.timeouts, 0);
    assert_int_equal(small.totals.nic.duplicate_packets, 0);
    small_world_free(&small);
}

/* The last segment: no packet follows it, so there is a timeout of rto_min. */
static void test_last_segment(void **state)
{
    struct small_world small;

    (void)state;
    snprintf(text, sizeof(text), "psn %d", SEGMENT(99));
    lose(&small, text);
    assert_int_equal(small.totals.nic.timeouts, 1);
    assert_int_equal(small.totals.nic.retransmitted_packets, 1);
    assert_int_equal(oche_world_flows(small.world)->sent[0].timeouts, 1);
    assert_int_equal(oche_world_flows(small.world)->sent[0].retransmitted_packets, 1);
    assert_true(took(&small) > 10 * OCHE_MS);
    assert_true(took(&small) < 11 * OCHE_MS);
    small_world_free(&small);
}

/*
 * The first segment and its retransmission: packets 1 and 11 of the sender, where 10 leave at
 * first. Limited transmit sends two more (11 and 12), so the retransmission is number 13.
 */
static void test_repair_is_lost(void **state)
{
    struct small_world small;

    (void)state;
    lose(&small, "1, 13");
    assert_int_equal(small.totals.nic.timeouts, 1);
    assert_int_equal(oche_world_flows(small.world)->sent[0].timeouts, 1);
    assert_true(took(&small) > 10 * OCHE_MS);
    small_world_free(&small);
}

/* All of the first window, and the first two retransmissions: 10, then 20, then 40 ms, doubling. */
static void test_backoff(void **state)
{
    struct small_world small;

    (void)state;
    lose(&small, "1-10, 11, 12");
    assert_int_equal(small.totals.nic.timeouts, 3);
    assert_true(took(&small) > 70 * OCHE_MS);
    assert_true(took(&small) < 71 * OCHE_MS);
    small_world_free(&small);
}

/*
 * A lost ACK costs nothing, because the next one acknowledges as much. The last one costs a
 * timeout.
 */
static void test_lost_acks(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 146000, 0);
    struct small_world small;

    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        make(&small, "dctcp");
        small.config.loss.port = "host1:0";
        small.config.loss.pattern = last ? "50" : "1, 3, 5, 8, 11, 20-22";
        small_world_run(&small, &flow, 1);
        assert_int_equal(small.totals.flows_completed, 1);
        assert_int_equal(small.totals.nic.delivered_bytes, 146000);
        assert_int_equal(small.totals.nic.timeouts, last);
        assert_int_equal(small.totals.nic.retransmitted_packets, last);
        /* The receiver's end was closed. It is opened again and knows that all data has arrived. */
        assert_int_equal(small.totals.nic.duplicate_packets, last);
        assert_int_equal(small.totals.rejected_packets, 0);
        assert_int_equal(small.totals.late_packets, 0);
        small_world_free(&small);
    }
}

/* SYN, then SYN-ACK are lost: each is sent again after a timeout. */
static void test_lost_handshake(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 1000, 0);
    struct small_world small;

    (void)state;
    make(&small, "tcp");
    small_world_cc(&small, "handshake", 1);
    small.losses[0] = (struct small_world_loss){.port = "host0:0", .pattern = "1"};
    small.losses[1] = (struct small_world_loss){.port = "host1:0", .pattern = "1"};
    small_world_run(&small, &flow, 1);
    assert_int_equal(small.totals.flows_completed, 1);
    assert_int_equal(small.totals.nic.timeouts, 2);
    assert_int_equal(small.totals.nic.retransmitted_packets, 0); /* of data */
    assert_true(took(&small) > 30 * OCHE_MS);
    assert_true(took(&small) < 31 * OCHE_MS);
    small_world_free(&small);
}

/*
 * After SYNs that were sent again, the first data has three times rto_initial. It is not doubled
 * for each SYN (RFC 6298 sec 5.7): 10, 20 and 40 ms for three SYNs, then 30 ms.
 */
static void test_after_lost_handshake(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 1000, 0);
    struct small_world small;

    (void)state;
    make(&small, "tcp");
    small_world_cc(&small, "handshake", 1);
    small_world_cc(&small, "rto_initial", 10 * OCHE_MS);
    small.losses[0] = (struct small_world_loss){.port = "host0:0", .pattern = "1-3, 5"};
    small_world_run(&small, &flow, 1);
    assert_int_equal(small.totals.flows_completed, 1);
    assert_int_equal(small.totals.nic.timeouts, 4);
    assert_int_equal(small.totals.nic.retransmitted_packets, 1);
    assert_true(took(&small) > 100 * OCHE_MS);
    assert_true(took(&small) < 101 * OCHE_MS);
    small_world_free(&small);
}

/*
 * Round trips of 200 ms: a timeout of 10 ms doubles until it is longer. ACKs of retransmitted
 * segments keep it doubled (Karn; RFC 6298 sec 5.7, last note). If the network sets the timeout, it
 * is long enough from the start.
 */
static void test_long_path(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 1460000, 0);
    struct small_world small;

    (void)state;
    for (unsigned automatic = 0; automatic < 2; automatic++) {
        make(&small, "tcp");
        small_world_topology(&small, "delay", 50 * OCHE_MS);
        small_world_cc(&small, "rto_initial", automatic ? 0 : 10 * OCHE_MS);
        small_world_run(&small, &flow, 1);
        assert_int_equal(small.totals.flows_completed, 1);
        assert_int_equal(small.totals.nic.delivered_bytes, 1460000);
        assert_int_equal(small.totals.nic.timeouts, automatic ? 0 : 5);
        small_world_free(&small);
    }
}

/* Nothing arrives. Every flow fails, also flows that start later or follow another. */
static void test_all_fail(void **state)
{
    struct oche_flow_plan flows[60];
    struct small_world small;

    (void)state;
    make(&small, "dctcp");
    small.config.loss.probability = 1;
    small_world_cc(&small, "retries", 2);
    small.config.run.duration = 2 * OCHE_SEC;
    for (unsigned variant = 0; variant < 4; variant++) {
        small.config.hosts.connections = variant & 1;
        small_world_cc(&small, "handshake", variant >> 1);
        for (uint32_t i = 0; i < 60; i++)
            flows[i] = small_flow(i % 3, 3, 1000, i < 30 ? 0 : 500 * OCHE_MS + i * OCHE_US);
        flows[0].then_same_source = 59;
        flows[59] = small_flow(0, 2, 5, OCHE_NEVER);
        flows[3].then_same_source = 57; /* on the same connection, if it is one a pair */
        flows[57] = small_flow(0, 3, 5, OCHE_NEVER);
        small_world_run(&small, flows, 60);
        assert_int_equal(small.totals.flows_failed, 60);
        assert_int_equal(small.totals.flows_completed, 0);
        assert_int_equal(small.totals.nic.delivered_bytes, 0);
        assert_int_equal(small.totals.live_packets, 0);
        assert_true(oche_world_network(small.world)->now < OCHE_SEC);
        small_world_end(&small);
    }
    small_world_free(&small);
}

/*
 * More senders than the buffer has room for. Whole windows are lost, and only timeouts repair that
 * (the collapse in sec 2.3.2 of DCTCP's paper). All data arrives in the end.
 */
static void test_incast(void **state)
{
    struct oche_flow_plan flows[40];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        flows[i] = small_flow(i + 1, 0, 32000, 0);
    make(&small, "tcp");
    small_world_topology(&small, "hosts", 41);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small.config.switches.port_buffer_bytes = 100000;
    small_world_run(&small, flows, 40);
    assert_int_equal(small.totals.flows_completed, 40);
    assert_int_equal(small.totals.nic.delivered_bytes, 40 * 32000);
    assert_int_equal(small.totals.corrupt_bytes, 0);
    assert_true(small.totals.nic.timeouts > 0);
    assert_true(oche_world_network(small.world)->now > 10 * OCHE_MS);
    small_world_free(&small);
}

/*
 * Random worlds: sizes, starts, loss on every link, late and reordered ACKs, overflowing buffers.
 * Every byte arrives once and in order, every flow completes, and nothing remains.
 */
static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct oche_random random = oche_random_stream(seed, "tcp world", 0);
        struct oche_flow_plan flows[24];
        struct small_world small;
        uint64_t bytes = 0;
        uint32_t count = 1 + (uint32_t)(oche_random_u64(&random) % 24);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t src = (uint32_t)(oche_random_u64(&random) % 4);
            uint32_t dst = (src + 1 + (uint32_t)(oche_random_u64(&random) % 3)) % 4;
            uint64_t size = UINT64_C(1) << oche_random_u64(&random) % 20;
            flows[i] = small_flow(src, dst, size + oche_random_u64(&random) % size,
                                  oche_random_u64(&random) % (2 * OCHE_MS));
            bytes += flows[i].bytes;
        }
        make(&small, seed & 1 ? "tcp" : "dctcp");
        small.config.seed = seed;
        small_world_topology(&small, "hosts", 4);
        small.config.loss.probability = (double)(oche_random_u64(&random) % 6) / 100;
        small.config.hosts.connections = seed >> 1 & 1;
        small.config.hosts.feedback_jitter = seed & 4 ? 50 * OCHE_US : 0;
        small.config.run.bytes = seed >> 3 & 1;
        small.config.switches.port_buffer_bytes = 20000 + oche_random_u64(&random) % 100000;
        small.config.switches.kmin_bytes = small.config.switches.kmax_bytes = 10000;
        small.config.switches.pmax = 1;
        small.config.run.duration = 1000 * OCHE_SEC;
        small_world_cc(&small, "handshake", seed >> 4 & 1);
        small_world_cc(&small, "ack_priority", seed >> 5 & 1);
        small_world_cc(&small, "ack_every", 1 + seed % 3);
        small_world_cc(&small, "os_overhead", seed % 7 * 50 * OCHE_US);
        small_world_cc(&small, "receive_window", 2000 + oche_random_u64(&random) % 200000);
        small_world_cc(&small, "mss", 64 + oche_random_u64(&random) % 1900);
        small_world_cc(&small, "rto_max", OCHE_SEC);
        small_world_cc(&small, "retries", 1000000);
        for (uint32_t threads = 1; threads <= 2; threads++) {
            static uint64_t hash;
            small.config.threads = threads;
            small_world_run(&small, flows, count);
            const struct oche_world_totals *totals = &small.totals;
            if (totals->flows_completed != count || totals->nic.delivered_bytes != bytes ||
                totals->nic.delivered_messages != count || totals->corrupt_bytes != 0 ||
                totals->rejected_packets != 0 || (threads > 1 && totals->hash != hash))
                fail_msg("seed %llu: %llu of %u flows, %llu of %llu bytes, %llu corrupt, %llu "
                         "rejected, hash %016llx",
                         (unsigned long long)seed, (unsigned long long)totals->flows_completed,
                         count, (unsigned long long)totals->nic.delivered_bytes,
                         (unsigned long long)bytes, (unsigned long long)totals->corrupt_bytes,
                         (unsigned long long)totals->rejected_packets,
                         (unsigned long long)totals->hash);
            hash = totals->hash;
            small_world_end(&small);
        }
        small_world_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_retransmit), cmocka_unit_test(test_partial_acks),
        cmocka_unit_test(test_last_segment),    cmocka_unit_test(test_repair_is_lost),
        cmocka_unit_test(test_backoff),         cmocka_unit_test(test_lost_acks),
        cmocka_unit_test(test_lost_handshake),  cmocka_unit_test(test_after_lost_handshake),
        cmocka_unit_test(test_long_path),       cmocka_unit_test(test_all_fail),
        cmocka_unit_test(test_incast),          cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
