/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows over TCP in a network that adds no losses: the time of one flow alone, the shares of
 * several. Neither bytes mode, payload nor threads change an event.
 */
#include "sim/endpoint/registry.h"
#include "sim/endpoint/tcp_dctcp/params.h"
#include "sim/measure/fairness.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

static void make(struct small_world *small, const char *topology, const char *scheme)
{
    small_world_init(small, topology, scheme, "go_back_n");
    small_world_cc(small, "os_overhead", 0);
}

/* Marks as DCTCP needs them: every packet above K. */
static void mark_above(struct small_world *small, uint64_t k)
{
    small->config.switches.kmin_bytes = small->config.switches.kmax_bytes = k;
    small->config.switches.pmax = 1;
}

static oche_time took(const struct small_world *small, uint32_t flow)
{
    const struct oche_flows *flows = oche_world_flows(small->world);

    assert_true(flows->received[flow].delivered != OCHE_NEVER);
    return flows->received[flow].delivered - flows->sent[flow].started;
}

/* A flow that fits the initial window leaves at once: exactly the ideal time, and the overhead. */
static void test_alone_is_ideal(void **state)
{
    static const uint64_t sizes[] = {1, 6, 7, 1460, 1461, 5000, 14600};
    struct small_world small;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(sizes); i++) {
        struct oche_flow_plan flow = small_flow(0, 3, sizes[i], 5 * OCHE_US);
        make(&small, "leaf_spine", i & 1 ? "tcp" : "dctcp");
        small.config.hosts.ipv6 = i & 2;
        for (oche_time overhead = 0; overhead <= 300 * OCHE_US; overhead += 300 * OCHE_US) {
            small_world_cc(&small, "os_overhead", overhead);
            small_world_run(&small, &flow, 1);
            assert_int_equal(took(&small, 0), oche_world_ideal_time(small.world, 0) + overhead);
            assert_int_equal(small.totals.flows_completed, 1);
            assert_int_equal(small.totals.live_packets, 0);
            assert_int_equal(small.totals.nic.delivered_bytes, sizes[i]);
            assert_int_equal(small.totals.nic.delivered_messages, 1);
            assert_int_equal(small.totals.rejected_packets, 0);
            small_world_end(&small);
        }
        small_world_free(&small);
    }
}

/* The handshake: a SYN one way (66 bytes) and a SYN-ACK back, each over two links of 40 Gbit/s. */
static void test_handshake(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 5000, 0);
    struct small_world small;

    (void)state;
    make(&small, "star", "dctcp");
    small_world_run(&small, &flow, 1);
    oche_time open = took(&small, 0);
    small_world_end(&small);
    small_world_cc(&small, "handshake", 1);
    small_world_run(&small, &flow, 1);
    const struct oche_port *port = &oche_world_network(small.world)->ports[0];
    oche_time round_trip = 4 * (port->delay + (66 + OCHE_GAP_BYTES) * port->ps_per_byte);
    assert_true(port->ps_per_byte > 0);
    assert_int_equal(took(&small, 0), open + round_trip);
    assert_int_equal(small.totals.nic.acks_sent, small.totals.nic.acks_received);
    assert_int_equal(small.totals.live_packets, 0);
    small_world_free(&small);
}

/* A window a round trip: the receiver's window limits the rate. */
static void test_receive_window(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 20000000, 0);
    struct small_world small;

    (void)state;
    make(&small, "star", "tcp");
    small_world_topology(&small, "delay", 50 * OCHE_US);
    small_world_cc(&small, "receive_window", 20 * 1460);
    small.config.run.duration = OCHE_SEC;
    small_world_run(&small, &flow, 1);
    uint64_t bps = oche_rate_of(20000000, took(&small, 0));
    /* 29200 bytes in slightly more than 200 us: slightly below 1168 Mbit/s. */
    assert_true(bps < 1168 * OCHE_MBPS);
    assert_true(bps > 1120 * OCHE_MBPS);
    small_world_free(&small);
}

/* Long flows to one receiver: a fair Jain's index, and a full link. */
static void test_fair(void **state)
{
    static const uint32_t counts[] = {2, 8};
    struct oche_flow_plan flows[8];
    struct small_world small;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        uint32_t n = counts[c];
        double goodput[8];
        for (uint32_t i = 0; i < n; i++) /* one after the other, so that they begin unequal */
            flows[i] = small_flow(i + 1, 0, UINT64_C(1) << 30, i * 2 * OCHE_MS);
        make(&small, "star", "dctcp");
        small_world_topology(&small, "hosts", 9);
        small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
        small_world_topology(&small, "delay", 10 * OCHE_US);
        mark_above(&small, 97500);
        small.config.run.duration = 200 * OCHE_MS;
        small.config.run.warmup = 50 * OCHE_MS;
        small_world_run(&small, flows, n);
        for (uint32_t i = 0; i < n; i++) {
            /* All have run since they started 2 ms apart: their rates differ by less than 1 %. */
            goodput[i] = (double)oche_world_flow_bytes(small.world, i);
        }
        assert_true(oche_jain_index(goodput, n) > 0.97);
        /* 94 % of 10 Gbit/s for 150 ms */
        assert_true(small.totals.nic.delivered_bytes * 8 > UINT64_C(1410000000));
        assert_int_equal(small.totals.drops[OCHE_DROP_BUFFER], 0);
        assert_int_equal(small.totals.nic.timeouts, 0);
        assert_true(small.totals.marks[OCHE_PLACE_TO_HOST] > 0);
        assert_int_equal(small.totals.nic.cnps_sent, 0);
        small_world_free(&small);
    }
}

/*
 * With PFC, a TCP in a lossless class is paused and loses nothing. In a lossy class it is dropped.
 */
static void test_lossless(void **state)
{
    struct oche_flow_plan flows[16];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        flows[i] = small_flow(i + 1, 0, 1000000, 0);
    for (unsigned lossless = 0; lossless < 2; lossless++) {
        make(&small, "star", "tcp");
        small_world_topology(&small, "hosts", 17);
        small_world_cc(&small, "lossless", lossless);
        small_world_cc(&small, "initial_window", 100);
        small.config.switches.buffer_bytes = 3000000;
        small.config.switches.port_buffer_bytes = lossless ? 0 : 200000;
        small.config.run.duration = OCHE_SEC;
        small_world_run(&small, flows, 16);
        assert_int_equal(small.totals.flows_completed, 16);
        assert_int_equal(small.totals.nic.delivered_bytes, 16000000);
        assert_int_equal(small.totals.drops[OCHE_DROP_BUFFER] == 0, lossless);
        assert_int_equal(small.totals.pauses_sent > 0, lossless);
        assert_int_equal(small.totals.live_packets, 0);
        small_world_free(&small);
    }
}

/* ACKs in the data class wait behind data of the other direction. In a higher class they do not. */
static void test_ack_priority(void **state)
{
    struct oche_flow_plan flows[3] = {small_flow(0, 1, 2000000, 0), small_flow(2, 0, 2000000, 0),
                                      small_flow(3, 0, 2000000, 0)};
    oche_time time[2];
    struct small_world small;

    (void)state;
    for (unsigned priority = 0; priority < 2; priority++) {
        make(&small, "star", "tcp");
        small_world_topology(&small, "hosts", 4);
        small_world_cc(&small, "ack_priority", priority);
        small.config.run.duration = OCHE_SEC;
        small_world_run(&small, flows, 3);
        assert_int_equal(small.totals.flows_completed, 3);
        time[priority] = took(&small, 0);
        small_world_free(&small);
    }
    assert_true(time[1] < time[0]);
}

/* Packets that wait for the host's own port above host.ecn_threshold are marked there. */
static void test_host_marks(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 100000, 0);
    struct small_world small;

    (void)state;
    for (unsigned ecn = 0; ecn < 2; ecn++) {
        make(&small, "star", ecn ? "dctcp" : "tcp");
        small_world_cc(&small, "initial_window", 40);
        /* no ACK before all segments have left */
        small_world_topology(&small, "delay", 20 * OCHE_US);
        small.config.hosts.ecn_threshold_bytes = 20 * 1460;
        small_world_run(&small, &flow, 1);
        /* 40 segments at once: the first 20 leave more than 20 behind or with them. */
        assert_int_equal(small.totals.nic.ce_marked, ecn ? 20 : 0);
        assert_int_equal(small.totals.nic.ce_received, ecn ? 20 : 0);
        assert_int_equal(small.totals.marks[OCHE_PLACE_HOST_NIC], ecn ? 20 : 0);
        small_world_free(&small);
    }
}

static void test_modes_change_nothing(void **state)
{
    struct oche_flow_plan flows[64];
    uint32_t count = small_world_busy_flows(flows, 16);
    struct small_world small;
    uint64_t bytes = 0;

    (void)state;
    flows[count++] = small_flow(1, 0, 7, 3 * OCHE_MS); /* a second one from 1 to 0 */
    for (uint32_t i = 0; i < count; i++)
        bytes += flows[i].bytes;
    for (unsigned variant = 0; variant < 4; variant++) {
        make(&small, "fat_tree", variant & 1 ? "tcp" : "dctcp");
        small_world_topology(&small, "k", 4);
        small_world_cc(&small, "handshake", variant >> 1);
        mark_above(&small, 40000);
        small.config.hosts.connections = variant >> 1;
        small.config.hosts.feedback_jitter = variant == 3 ? 3 * OCHE_US : 0;
        small.config.switches.port_buffer_bytes = 150000;
        small.config.run.duration = 300 * OCHE_MS;
        small.config.run.stop_when_done = false;
        uint64_t hash = 0;
        for (uint32_t run = 0; run < 8; run++) {
            small.config.threads = 1 + run % 3;
            small.config.run.bytes = run & 2;
            small.config.run.payload = run & 4;
            small_world_run(&small, flows, count);
            hash = run == 0 ? small.totals.hash : hash;
            assert_int_equal(small.totals.hash, hash);
            assert_int_equal(small.totals.flows_completed, count);
            assert_int_equal(small.totals.nic.delivered_bytes, bytes);
            assert_int_equal(small.totals.nic.delivered_messages, count);
            assert_int_equal(small.totals.corrupt_bytes, 0);
            assert_int_equal(small.totals.rejected_packets, 0);
            assert_int_equal(small.totals.live_packets, 0);
            assert_true(small.totals.drops[OCHE_DROP_BUFFER] > 0 || !(variant & 1));
            assert_int_equal(small.totals.marks[OCHE_PLACE_TO_HOST] > 0, !(variant & 1));
            small_world_end(&small);
        }
        small_world_free(&small);
    }
}

/* A connection that was idle for longer than a timeout restarts with the initial window. */
static void test_idle(void **state)
{
    struct oche_flow_plan flows[3] = {small_flow(0, 1, 3000000, 0),
                                      small_flow(0, 1, 300000, 5 * OCHE_MS),
                                      small_flow(0, 1, 300000, 50 * OCHE_MS)};
    struct small_world small;

    (void)state;
    make(&small, "star", "tcp");
    small_world_topology(&small, "delay", 50 * OCHE_US);
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.run.duration = 100 * OCHE_MS;
    small_world_run(&small, flows, 3);
    assert_int_equal(small.totals.flows_completed, 3);
    assert_true(took(&small, 1) < 350 * OCHE_US); /* all at once, the path and a little */
    assert_true(took(&small, 2) > 800 * OCHE_US); /* 10, 20, 40, 80 segments … */
    small_world_free(&small);
}

/* A workload offers the same flows for every endpoint. */
static void test_same_flows(void **state)
{
    static const char *const schemes[] = {"dcqcn", "dctcp", "tcp"};
    const struct oche_workload_type *type = oche_workload_type_find("poisson_cdf");
    void *params = test_calloc(1, type->table->struct_bytes);
    struct oche_flow_plan first[2000];
    uint32_t count = 0;

    (void)state;
    oche_param_defaults(type->table, params);
    for (size_t i = 0; i < 3; i++) {
        struct small_world small;
        small_world_init(&small, "star", schemes[i], "go_back_n");
        small_world_topology(&small, "hosts", 8);
        small.workload = (struct oche_workload_config){.type = type, .params = params};
        small.config.run.duration = 2 * OCHE_MS;
        small.config.run.stop_when_done = false;
        small_world_run(&small, NULL, 0);
        const struct oche_flows *flows = oche_world_flows(small.world);
        count = i == 0 ? flows->count : count;
        assert_int_equal(flows->count, count);
        assert_true(count > 5 && count <= 2000);
        for (uint32_t f = 0; f < count; f++) {
            if (i == 0)
                first[f] = flows->plan[f];
            assert_int_equal(flows->plan[f].start, first[f].start);
            assert_int_equal(flows->plan[f].bytes, first[f].bytes);
            assert_int_equal(flows->plan[f].dst, first[f].dst);
        }
        small_world_free(&small);
    }
    test_free(params);
}

/* An endpoint without a byte form is rejected with `bytes: true`. */
static void test_no_bytes(void **state)
{
    struct oche_endpoint without = *oche_endpoint_find("tcp");
    struct oche_flow_plan flow = small_flow(0, 1, 5000, 0);
    struct small_world small;
    struct oche_error error = {""};

    (void)state;
    without.encode = NULL;
    without.decode = NULL;
    make(&small, "star", "tcp");
    small.config.endpoint = &without;
    small_world_run(&small, &flow, 1);
    assert_int_equal(small.totals.flows_completed, 1);
    small_world_end(&small);
    small.config.run.bytes = true;
    assert_null(oche_world_create(&small.config, &error));
    assert_string_equal(error.text, "bytes: the packets of congestion_control tcp have no form as "
                                    "bytes; make this false");
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone_is_ideal),
        cmocka_unit_test(test_handshake),
        cmocka_unit_test(test_receive_window),
        cmocka_unit_test(test_fair),
        cmocka_unit_test(test_lossless),
        cmocka_unit_test(test_ack_priority),
        cmocka_unit_test(test_host_marks),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_no_bytes),
        cmocka_unit_test(test_same_flows),
        cmocka_unit_test(test_modes_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
