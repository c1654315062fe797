/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of RoGUE flows that share a connection. When the connection fails, all end at once. On UC
 * each ends when its own last batch has been answered. Also the end of runs, and the minimum time
 * of a flow.
 */
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define FLOWS 40

static struct small_world small;
static struct oche_flow_plan flows[FLOWS];

static void open_world(uint64_t verb_bytes)
{
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", 3);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small_world_cc(&small, "verb_bytes", verb_bytes);
    small.config.hosts.ack_timeout = 100 * OCHE_US;
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.run.duration = OCHE_SEC;
}

static void close_world(void)
{
    small_world_end(&small);
    small_world_free(&small);
}

/* Nothing arrives. Some flows begin long after the connection has failed. */
static void test_failed(void **state)
{
    static const uint64_t verb_bytes[] = {0, 1000};

    (void)state;
    for (size_t row = 0; row < OCHE_COUNT_OF(verb_bytes); row++) {
        open_world(verb_bytes[row]);
        small_world_cc(&small, "shadow", false);
        small.losses[0].port = "host0";
        small.losses[0].pattern = "1-1000000000";
        for (uint32_t i = 0; i < FLOWS; i++)
            flows[i] = small_flow(0, 1, 1000000, i * OCHE_MS);
        small_world_run(&small, flows, FLOWS);
        assert_int_equal(small.totals.flows_failed, FLOWS);
        for (uint32_t i = 0; i < FLOWS; i++) {
            const struct oche_flow_sent *sent = &small.world->flows.sent[i];
            assert_int_equal(sent->failed,
                             i == 0 ? OCHE_STATUS_RETRY_EXCEEDED : OCHE_STATUS_FLUSHED);
            if (i > 0)
                assert_true(sent->completed - sent->started < OCHE_MS || sent->started < OCHE_MS);
        }
        close_world();
    }
}

/* Flows are posted all the time, so data is always under way. */
static void test_answered(void **state)
{
    static const uint64_t verb_bytes[] = {0, 30000};

    (void)state;
    for (size_t row = 0; row < OCHE_COUNT_OF(verb_bytes); row++) {
        open_world(verb_bytes[row]);
        small_world_cc(&small, "transport", ROGUE_UC);
        for (uint32_t i = 0; i < FLOWS; i++)
            flows[i] = small_flow(0, 1, 100000, 0);
        small_world_run(&small, flows, FLOWS);
        for (uint32_t i = 0; i < FLOWS; i++) {
            oche_time delivered = small.world->flows.received[i].delivered;
            oche_time completed = small.world->flows.sent[i].completed;
            assert_true(delivered != OCHE_NEVER && completed != OCHE_NEVER);
            assert_true(completed > delivered && completed - delivered < 20 * OCHE_US);
        }
        close_world();
    }
}

static const struct oche_flow_received *run_impatient(const char *lost)
{
    open_world(0);
    small_world_cc(&small, "transport", ROGUE_UC);
    small_world_cc(&small, "uc_timeout", 20 * OCHE_US);
    small_world_cc(&small, "least_base_rtt", OCHE_SEC);
    small.losses[0].port = "host0";
    small.losses[0].pattern = lost;
    for (uint32_t i = 0; i < 2; i++)
        flows[i] = small_flow(i, 2, 100000, 0);
    small_world_run(&small, flows, 2);
    return small.world->flows.received;
}

/* Batches are given up before their data has left the queue. The run waits for the data. */
static void test_last_data(void **state)
{
    const struct oche_flow_received *received = run_impatient(NULL);

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(received[i].delivered != OCHE_NEVER);
        assert_true(received[i].delivered >= small.world->flows.sent[i].completed);
    }
    close_world();
    /* The last packet is lost, and no end will ever notice. */
    received = run_impatient("98-200");
    assert_true(received[0].delivered == OCHE_NEVER);
    assert_true(received[1].delivered != OCHE_NEVER);
    assert_true(small.world->network.now < small.config.run.duration);
    close_world();
}

/* A verb smaller than a packet is one packet, with all headers. */
static void test_small_verbs(void **state)
{
    const uint64_t bytes[] = {500, 501, 1000, 4000, 4499};
    const uint64_t verb = 500;

    (void)state;
    for (size_t row = 0; row < OCHE_COUNT_OF(bytes); row++) {
        open_world(verb);
        flows[0] = small_flow(0, 1, bytes[row], 0);
        small_world_run(&small, flows, 1);
        assert_int_equal(small.world->flows.received[0].delivered,
                         oche_world_ideal_time(small.world, 0));
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed),
        cmocka_unit_test(test_answered),
        cmocka_unit_test(test_last_data),
        cmocka_unit_test(test_small_verbs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
