/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that are WRITEs, SENDs and READs, and flows of several messages. The data takes the same
 * way in all of them, and arrives completely for any losses.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "sim/measure/timeout_causes.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

static const char *const recoveries[] = {"go_back_n", "go_back_0", "improved_go_back_n",
                                         "selective_repeat"};

static struct oche_flow_plan flow_of(enum oche_verb verb, uint32_t src, uint32_t dst,
                                     uint64_t bytes, oche_time start)
{
    struct oche_flow_plan flow = small_flow(src, dst, bytes, start);

    flow.verb = (uint8_t)verb;
    return flow;
}

static void open_star(struct small_world *small, const char *scheme, const char *recovery)
{
    small_world_init(small, "star", scheme, recovery);
    small_world_topology(small, "hosts", 6);
    small_world_topology(small, "host_rate", 40 * OCHE_GBPS);
}

static const struct oche_nic_stats *stats_of(const struct small_world *small, uint32_t host)
{
    return oche_host_stats(oche_world_host(small->world, host));
}

/* Alone, a flow takes exactly the ideal time, which includes a READ's request. */
static void alone_is_ideal(void **state)
{
    static const uint64_t sizes[] = {1, 1024, 1025, 2049, 5000, 300000};
    static const char *const schemes[] = {"none", "dcqcn", "dart", "timely"};

    (void)state;
    for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++)
        for (size_t r = 0; r < OCHE_COUNT_OF(recoveries); r++)
            for (size_t s = 0; s < OCHE_COUNT_OF(schemes); s++)
                for (size_t b = 0; b < OCHE_COUNT_OF(sizes); b++) {
                    struct oche_flow_plan flow = flow_of(verb, 2, 5, sizes[b], 7 * OCHE_US);
                    struct small_world small;

                    open_star(&small, schemes[s], recoveries[r]);
                    small_world_run(&small, &flow, 1);
                    const struct oche_flows *flows = oche_world_flows(small.world);
                    oche_time took = flows->received[0].delivered - flows->sent[0].started;
                    if (took != oche_world_ideal_time(small.world, 0))
                        fail_msg("%s, %s, %s, %llu bytes: %llu ps, not %llu", oche_verb_names[verb],
                                 recoveries[r], schemes[s], (unsigned long long)sizes[b],
                                 (unsigned long long)took,
                                 (unsigned long long)oche_world_ideal_time(small.world, 0));
                    assert_true(flows->sent[0].started == 7 * OCHE_US);
                    assert_int_equal(small.totals.flows_completed, 1);
                    small_world_end(&small);
                    small_world_free(&small);
                }
}

/* A READ's request goes one way and its data the other. The data gets no ACK. */
static void a_read_has_one_request(void **state)
{
    struct oche_flow_plan flow = flow_of(OCHE_VERB_READ, 2, 5, 100 * 1024, 0);
    struct small_world small;

    (void)state;
    open_star(&small, "none", "go_back_n");
    small_world_run(&small, &flow, 1);
    assert_int_equal(stats_of(&small, 5)->data_bytes_received, 100 * 1024);
    assert_int_equal(stats_of(&small, 5)->data_packets_received, 100);
    assert_int_equal(stats_of(&small, 5)->delivered_bytes, 100 * 1024);
    assert_int_equal(stats_of(&small, 5)->acks_sent, 0);
    assert_int_equal(stats_of(&small, 2)->data_bytes_received, 0);
    assert_int_equal(stats_of(&small, 2)->acks_sent, 0);
    assert_int_equal(small.totals.hops, 2 * 101);
    /* Both happen when the last byte arrives: no ACK travels back. */
    const struct oche_flows *flows = oche_world_flows(small.world);
    assert_true(flows->sent[0].completed == flows->received[0].delivered);
    small_world_end(&small);
    small_world_free(&small);
}

/* Four to one. Marks cause CNPs, or PAUSEs spread, and both reach the hosts that send the data. */
static void incast_slows_down_the_sources(void **state)
{
    static const char *const schemes[] = {"dcqcn", "none"};

    (void)state;
    for (size_t s = 0; s < 2; s++)
        for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++) {
            struct oche_flow_plan flows[4];
            struct small_world small;

            for (uint32_t i = 0; i < 4; i++)
                flows[i] = flow_of(verb, i + 1, 0, 2000000, 0);
            open_star(&small, schemes[s], "go_back_n");
            small.config.run.duration = 40 * OCHE_MS;
            small.config.run.stop_when_done = true;
            small.config.switches.buffer_bytes = 1000000;
            small_world_run(&small, flows, 4);
            assert_int_equal(small.totals.flows_completed, 4);
            assert_int_equal(small.totals.nic.delivered_bytes, 4 * 2000000);
            assert_int_equal(stats_of(&small, 0)->delivered_bytes, 4 * 2000000);
            for (uint32_t i = 1; i <= 4; i++) {
                struct oche_host_reading host;

                oche_world_read_host(small.world, i, &host);
                if (s == 0) {
                    assert_true(stats_of(&small, i)->cnps_received > 0);
                    assert_int_equal(stats_of(&small, i)->cnps_sent, 0);
                } else {
                    assert_true(host.port.pauses_received[OCHE_DATA_CLASS] > 0);
                }
            }
            assert_int_equal(stats_of(&small, 0)->cnps_received, 0);
            small_world_end(&small);
            small_world_free(&small);
        }
}

/* For any losses, all bytes arrive, and at the right place. */
static void losses_are_repaired(void **state)
{
    static const char *const schemes[] = {"none", "dcqcn", "cubic"};
    struct oche_flow_plan flows[60];

    (void)state;
    for (uint32_t i = 0; i < 60; i++)
        flows[i] = flow_of((enum oche_verb)(i % 3), i % 4, 4 + i % 2, 1 + i * 1500,
                           i / 12 * 300 * OCHE_US);
    for (size_t s = 0; s < OCHE_COUNT_OF(schemes); s++)
        for (size_t r = 0; r < OCHE_COUNT_OF(recoveries); r++)
            for (unsigned per = 0; per < 3; per++) {
                struct small_world small;

                open_star(&small, schemes[s], recoveries[r]);
                small.config.run.payload = true;
                small.config.run.duration = OCHE_SEC;
                small.config.loss.probability = 0.01;
                small.config.hosts.connections = per;
                small.config.hosts.ack_timeout = 500 * OCHE_US;
                small_world_run(&small, flows, 60);
                if (small.totals.flows_completed != 60 || small.totals.corrupt_bytes != 0 ||
                    small.totals.rejected_packets != 0)
                    fail_msg("%s, %s, %u: %u flows, %llu bytes wrong, %llu packets rejected",
                             schemes[s], recoveries[r], per, (unsigned)small.totals.flows_completed,
                             (unsigned long long)small.totals.corrupt_bytes,
                             (unsigned long long)small.totals.rejected_packets);
                assert_true(small.totals.lost_packets > 10);
                small_world_end(&small);
                small_world_free(&small);
            }
}

/*
 * The source of a READ gives up its queue pair after a while. The end of the first READ's data is
 * lost twice. Before it is requested again, other flows have taken the queue pair's memory.
 */
static void a_source_that_has_forgotten(void **state)
{
    struct oche_flow_plan flows[40];

    (void)state;
    for (size_t r = 0; r < OCHE_COUNT_OF(recoveries); r++) {
        struct small_world small;

        for (uint32_t i = 0; i < 40; i++)
            flows[i] = flow_of(OCHE_VERB_READ, 0, 1 + i % 5, 10 * 1024, i * 100 * OCHE_US);
        open_star(&small, "none", recoveries[r]);
        small.config.run.payload = true;
        small.config.run.duration = 100 * OCHE_MS;
        small.config.hosts.ack_timeout = 2 * OCHE_MS;
        small.config.loss.pattern = "data: 7-10, 211";
        small.config.loss.port = "tor0:host1";
        small_world_run(&small, flows, 40);
        assert_int_equal(small.totals.flows_completed, 40);
        assert_int_equal(small.totals.corrupt_bytes, 0);
        const struct oche_flows *done = oche_world_flows(small.world);
        /* recoveries[3] is faster: its queue pair still exists */
        assert_true(r == 3 || done->received[0].delivered > 2 * OCHE_MS);
        assert_int_equal(done->sent[0].timeouts, 1);
        assert_int_equal(small.totals.timeout_causes[OCHE_TIMEOUT_OTHER],
                         small.totals.nic.timeouts);
        assert_true(done->connections[0].answered);
        small_world_end(&small);
        small_world_free(&small);
    }
}

/* One queue pair may have so many READs under way; the others wait. */
static void few_reads_at_a_time(void **state)
{
    oche_time last[2];

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct oche_flow_plan flows[8];
        struct small_world small;

        for (uint32_t i = 0; i < 8; i++)
            flows[i] = flow_of(OCHE_VERB_READ, 0, 1, 100, 0);
        open_star(&small, "none", "go_back_n");
        small_world_topology(&small, "delay", 10 * OCHE_US);
        small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
        small.config.hosts.outstanding_reads = more ? 8 : 2;
        small_world_run(&small, flows, 8);
        last[more] = oche_world_flows(small.world)->received[7].delivered;
        assert_int_equal(small.totals.flows_completed, 8);
        small_world_end(&small);
        small_world_free(&small);
    }
    /* A round trip has four links. */
    assert_true(last[1] > 40 * OCHE_US && last[1] < 44 * OCHE_US);
    assert_true(last[0] > 160 * OCHE_US && last[0] < 164 * OCHE_US);
}

/* All verbs together, with threads. */
static void threads_change_nothing(void **state)
{
    uint64_t hash[3];

    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct oche_flow_plan flows[90];
        struct small_world small;

        for (uint32_t i = 0; i < 90; i++)
            flows[i] = flow_of((enum oche_verb)(i % 3), i % 6, (i + 1 + i / 18) % 6, 20000 + i,
                               i * 7 * OCHE_US);
        for (uint32_t i = 0; i < 30; i += 3) { /* chains */
            uint32_t next = 60 + i;

            flows[next] = flow_of((enum oche_verb)flows[i].verb, flows[i].src, flows[i].dst, 3000,
                                  OCHE_NEVER);
            flows[i].then_same_source = next;
        }
        open_star(&small, "dcqcn", "selective_repeat");
        small.config.hosts.connections = OCHE_CONNECTION_PER_CHAIN;
        small.config.loss.probability = 0.005;
        small.config.threads = threads;
        small.config.together = true;
        small_world_run(&small, flows, 90);
        assert_int_equal(small.totals.flows_completed, 90);
        hash[threads - 1] = small.totals.hash;
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

/* ---- flows of several messages ---- */

#define GIB UINT64_C(1073741824)

/* Four messages in total, with no time between them. */
static void longer_than_a_message(void **state)
{
    (void)state;
    for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++) {
        struct oche_flow_plan flow = flow_of(verb, 0, 1, 6 * GIB + 100001, 0);
        struct small_world small;
        uint64_t there;

        open_star(&small, "none", "selective_repeat");
        small_world_topology(&small, "host_rate", 400 * OCHE_GBPS);
        small.config.hosts.mtu_bytes = 9000;
        small.config.run.duration = 60 * OCHE_MS;
        small_world_run(&small, &flow, 1);
        there = oche_world_flow_bytes(small.world, 0);
        /* 60 ms are 3,000,000,000 bytes on the line. */
        assert_true(there > 2 * GIB + 800000000 && there < 3000000000);
        assert_true(there % 9000 == 0);
        small_world_end(&small);
        small.config.run.duration = 150 * OCHE_MS;
        small_world_run(&small, &flow, 1);
        const struct oche_flows *flows = oche_world_flows(small.world);
        oche_time took = flows->received[0].delivered - flows->sent[0].started;
        oche_time ideal = oche_world_ideal_time(small.world, 0);
        assert_true(took >= ideal && took - ideal < OCHE_US / 10);
        assert_int_equal(small.totals.flows_completed, 1);
        assert_int_equal(small.totals.nic.delivered_bytes, 6 * GIB + 100001);
        assert_int_equal(small.totals.nic.delivered_messages, 4);
        assert_int_equal(small.totals.nic.retransmitted_packets, 0);
        small_world_end(&small);
        small_world_free(&small);
    }
}

/* A flow fails once, even if it has several messages, with the reason of the first failure. */
static void a_message_that_fails(void **state)
{
    (void)state;
    for (unsigned per = 0; per < 2; per++) {
        struct oche_flow_plan flows[2] = {flow_of(OCHE_VERB_WRITE, 0, 1, 20 * GIB, 0),
                                          flow_of(OCHE_VERB_WRITE, 2, 3, 1000, 0)};
        struct small_world small;

        open_star(&small, "none", "go_back_n");
        small.config.hosts.connections = per;
        small.config.hosts.retry_count = 1;
        small.config.hosts.ack_timeout = 100 * OCHE_US;
        small.config.loss.probability = 1;
        small_world_run(&small, flows, 2);
        assert_int_equal(small.totals.flows_failed, 2);
        assert_int_equal(oche_world_flows(small.world)->sent[0].failed, OCHE_STATUS_RETRY_EXCEEDED);
        small_world_end(&small);
        small_world_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_ideal),
        cmocka_unit_test(a_read_has_one_request),
        cmocka_unit_test(incast_slows_down_the_sources),
        cmocka_unit_test(losses_are_repaired),
        cmocka_unit_test(a_source_that_has_forgotten),
        cmocka_unit_test(few_reads_at_a_time),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(longer_than_a_message),
        cmocka_unit_test(a_message_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
