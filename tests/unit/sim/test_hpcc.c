/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC in a network: senders share a link at eta, and hardly a packet waits. Telemetry of several
 * hops. The same run on any number of threads, as structs and as bytes, with losses and READs. It
 * needs its switches.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "fabric/registry.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"

#define RATE (100 * OCHE_GBPS)
#define LONG 1000000000

static void open_world(struct small_world *small, const char *topology, uint32_t hosts)
{
    small_world_init(small, topology, "hpcc", "go_back_n");
    if (hosts > 0)
        small_world_topology(small, "hosts", hosts);
    small_world_topology(small, hosts > 0 ? "host_rate" : "link_rate", RATE);
    small_world_topology(small, "delay", OCHE_US);
    small_world_cc(small, "base_rtt", 6 * OCHE_US);
}

static void shares(uint32_t senders)
{
    struct oche_flow_plan flows[16];
    struct small_world small;
    uint64_t bytes, rates = 0;

    for (uint32_t i = 0; i < senders; i++)
        flows[i] = small_flow(i + 1, 0, LONG, i * 7 * OCHE_US);
    open_world(&small, "star", senders + 1);
    small_world_cc(&small, "ai_flows", 16); /* so that shares become equal soon */
    small.config.run.duration = 4 * OCHE_MS;
    small_world_run(&small, flows, senders);
    for (uint32_t i = 0; i < senders; i++) {
        const struct oche_flow_plan *plan = &small.world->flows.plan[i];
        const double share =
            (double)oche_host_rate_bps(small.world->hosts[plan->src], plan->connection) /
            (0.95 * (double)RATE / senders);

        rates += oche_host_rate_bps(small.world->hosts[plan->src], plan->connection);
        if (share < 0.75 || share > 1.3)
            fail_msg("flow %u of %u has %.2f of its share", i, senders, share);
    }
    bytes = oche_switch_occupied_bytes(small.world->switches[0]);
    assert_true(bytes <= UINT64_C(8) * 1200);
    assert_in_range(rates / OCHE_MBPS, 90000, 100500);
    assert_int_equal(small.totals.nic.retransmitted_packets, 0);
    assert_int_equal(small.totals.pauses_sent, 0);
    small_world_end(&small);
    small_world_free(&small);
}

static void n_have_a_share_each(void **state)
{
    (void)state;
    shares(1);
    shares(2);
    shares(8);
    shares(16);
}

/* Among 16 hosts of a fat tree: five records a packet, losses, READs of the same queue pairs. */
static void the_same_run(void **state)
{
    struct oche_flow_plan flows[24];
    uint64_t hash = 0, records = 0;

    (void)state;
    for (unsigned how = 0; how < 6; how++) {
        struct small_world small;

        open_world(&small, "fat_tree", 0);
        small.config.loss.probability = 0.002;
        for (uint32_t i = 0; i < 24; i++)
            flows[i] = small_flow(i % 8, (i * 5 + 3) % 16 == i % 8 ? 15 : (i * 5 + 3) % 16,
                                  200000 + i * 1000, i * 3 * OCHE_US);
        small.config.run.duration = 3 * OCHE_MS;
        small.config.threads = how < 4 ? how + 1 : 1;
        small.config.run.bytes = how >= 4;
        small.config.run.payload = how == 5;
        small_world_run(&small, flows, 24);
        if (how == 0) {
            hash = small.totals.hash;
            for (unsigned i = 0; oche_switch_mechanisms[i] != NULL; i++)
                if (oche_switch_mechanisms[i] == small.mechanism)
                    records = small.totals.mechanisms[i][0];
            assert_true(records > 10000);
            assert_true(small.totals.nic.retransmitted_packets > 0);
        }
        assert_true(small.totals.hash == hash);
        small_world_end(&small);
        small_world_free(&small);
    }
}

static void needs_its_switches(void **state)
{
    struct oche_error error = {""};
    struct small_world small;

    (void)state;
    open_world(&small, "star", 3);
    small.config.mechanism_count = 0;
    assert_null(oche_world_create(&small.config, &error));
    assert_string_equal(error.text, "switch.mechanisms: congestion_control hpcc needs int_stamp");
    small_world_free(&small);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(n_have_a_share_each),
        cmocka_unit_test(the_same_run),
        cmocka_unit_test(needs_its_switches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
