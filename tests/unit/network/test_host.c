/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's flows with errors: counters by flow on a shared connection, connections that fail, queue
 * pairs that are opened again for a late duplicate.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

/* Three messages on one connection, a packet lost in each of the first two. */
static void test_retransmissions_by_flow(void **state)
{
    struct oche_flow_plan flows[3];
    struct small_world small;

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        flows[i] = small_flow(0, 1, 10 * 1024, i * 20 * OCHE_MS);
    small_world_init(&small, "star", "none", "go_back_n");
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.run.duration = 100 * OCHE_MS;
    small.config.loss.pattern = "psn 8, psn 19";
    small.config.loss.port = "host0:0";
    small_world_run(&small, flows, 3);
    const struct oche_flows *done = oche_world_flows(small.world);
    assert_int_equal(small.totals.flows_completed, 3);
    assert_int_equal(small.totals.lost_packets, 2);
    /*
     * The ninth packet, and the tenth, which showed the gap to the receiver; the last, by timeout
     */
    assert_int_equal(done->sent[0].retransmitted_packets, 2);
    assert_int_equal(done->sent[0].timeouts, 0);
    assert_int_equal(done->sent[1].retransmitted_packets, 1);
    assert_int_equal(done->sent[1].timeouts, 1);
    assert_int_equal(done->sent[2].retransmitted_packets, 0);
    assert_int_equal(done->sent[2].timeouts, 0);
    small_world_free(&small);
}

/* Nothing arrives: every flow fails, also those that start after the connection has failed. */
static void test_all_fail(void **state)
{
    struct oche_flow_plan flows[300];
    struct small_world small;

    (void)state;
    small_world_init(&small, "star", "dcqcn", "go_back_n");
    small.config.loss.probability = 1;
    small.config.hosts.retry_count = 1;
    small.config.hosts.ack_timeout = 100 * OCHE_US;
    small.config.run.duration = 100 * OCHE_MS;
    for (unsigned per_pair = 0; per_pair < 2; per_pair++) {
        for (unsigned i = 0; i < 300; i++)
            flows[i] = small_flow(i % 3, 3, 1000, i < 150 ? 0 : OCHE_MS + i * OCHE_US);
        flows[0].then_same_source = 299;
        flows[299] = small_flow(0, 2, 5, OCHE_NEVER);
        small.config.hosts.connections = per_pair;
        small_world_run(&small, flows, 300);
        assert_int_equal(small.totals.flows_failed, 300);
        assert_int_equal(small.totals.flows_completed, 0);
        assert_int_equal(small.totals.nic.delivered_bytes, 0);
        assert_int_equal(small.totals.live_packets, 0);
        assert_true(oche_world_network(small.world)->now < 10 * OCHE_MS); /* it knew the end */
        small_world_end(&small);
    }
    small_world_free(&small);
}

/*
 * The last ACK is lost. When the sender asks again, another flow has the receiver's queue pair. It
 * is opened again, knows that all was delivered, and reports it.
 */
static void test_duplicate_after_the_queue_pair_is_gone(void **state)
{
    struct oche_flow_plan flows[6] = {small_flow(0, 1, 10 * 1024, 0)};
    struct small_world small;

    (void)state;
    for (uint32_t i = 1; i < 6; i++)
        flows[i] = small_flow(2, 1, 3000, 2 * OCHE_MS * i);
    small_world_init(&small, "star", "dcqcn", "go_back_n");
    small.config.hosts.connections = OCHE_CONNECTION_PER_FLOW;
    small.config.loss.pattern = "10";
    small.config.loss.port = "host1:0";
    small.config.run.payload = true;
    small.config.run.duration = 50 * OCHE_MS;
    small.config.run.stop_when_done = false;
    small_world_run(&small, flows, 6);
    const struct oche_flows *done = oche_world_flows(small.world);
    assert_int_equal(small.totals.flows_completed, 6);
    assert_int_equal(small.totals.lost_packets, 1);
    assert_true(done->received[0].delivered < 10 * OCHE_US);
    assert_int_equal(done->sent[0].timeouts, 1);
    assert_int_equal(done->sent[0].retransmitted_packets, 1);
    assert_true(done->sent[0].completed > 10 * OCHE_MS);
    assert_int_equal(small.totals.nic.delivered_bytes, 10 * 1024 + 5 * 3000);
    assert_int_equal(small.totals.nic.delivered_messages, 6);
    assert_int_equal(small.totals.nic.duplicate_packets, 1);
    assert_int_equal(small.totals.rejected_packets, 0);
    assert_int_equal(small.totals.late_packets, 0);
    assert_int_equal(small.totals.corrupt_bytes, 0);
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retransmissions_by_flow),
        cmocka_unit_test(test_all_fail),
        cmocka_unit_test(test_duplicate_after_the_queue_pair_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
