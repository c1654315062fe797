/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of Dart's shares and look-ahead: each event counts once, over all hosts, after warm-up.
 * Other schemes have no such counters.
 */
#include "tests/support/counted.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <string.h>

#define RATE    (10 * OCHE_GBPS)
#define END     (4 * OCHE_MS)
#define SENDERS 2

/* Two senders to host 0, the second one later. A third one of their group never comes. */
static void run(struct small_world *small, const char *scheme, oche_time warmup, oche_time end)
{
    static uint32_t members[SENDERS + 1] = {1, 2, 3};
    static const struct small_world_group group = {members, SENDERS + 1};
    struct oche_flow_plan flows[SENDERS + 1] = {small_flow(1, 0, 500000, 0),
                                                small_flow(2, 0, 500000, OCHE_MS / 10),
                                                small_flow(1, 0, 500000, 2 * OCHE_MS)};

    small_world_init(small, "star", scheme, "go_back_n");
    small_world_topology(small, "hosts", 4);
    small_world_topology(small, "host_rate", RATE);
    small_world_topology(small, "delay", 2 * OCHE_US);
    small->config.run.warmup = warmup;
    if (strcmp(scheme, "dart") == 0) {
        small_world_cc(small, "look_ahead_timeout", 500 * OCHE_US);
        small_world_cc(small, "ack_packets", 1000); /* so an update comes before an ACK */
        small_world_cc(small, "base_rtt", 60 * OCHE_US);
    }
    small->config.hosts.ack_every_packets = 1000;
    small->config.run.duration = end;
    small->config.switches.buffer_bytes = 32000000;
    small->config.switches.ecn = true;
    flows[0].group = flows[1].group = 1;
    small->groups = &group;
    small->group_count = 1;
    small_world_run(small, flows, SENDERS + 1);
}

static struct oche_world_totals totals_of(const char *scheme, oche_time warmup, oche_time end)
{
    struct small_world small;

    run(&small, scheme, warmup, end);
    struct oche_world_totals totals = small.totals;
    small_world_end(&small);
    small_world_free(&small);
    return totals;
}

static uint64_t of(const struct oche_world_totals *totals, const char *name)
{
    return counted(totals->counters, totals->counted, name);
}

static void each_is_counted(void **state)
{
    const struct oche_world_totals totals = totals_of("dart", 0, END);

    (void)state;
    assert_int_equal(totals.flows_completed, SENDERS + 1);
    assert_true(of(&totals, "share_acks") > 0);
    assert_int_equal(of(&totals, "share_acks"), totals.nic.acks_sent + totals.nic.naks_sent);
    assert_true(totals.nic.cc_packets_sent > 0); /* not among them */
    assert_int_equal(of(&totals, "updates"), totals.nic.cc_packets_sent);
    assert_int_equal(of(&totals, "groups"), 1);
    assert_int_equal(of(&totals, "groups.not_come"), 1);
    assert_int_equal(of(&totals, "groups.void"), 0);
}

static void warm_up_is_not(void **state)
{
    const oche_time warmup = 2 * OCHE_MS - 1; /* the group is over, and the sender has not come */
    const struct oche_world_totals all = totals_of("dart", 0, END);
    const struct oche_world_totals early = totals_of("dart", 0, warmup);
    const struct oche_world_totals late = totals_of("dart", warmup, END);

    (void)state;
    assert_true(of(&early, "share_acks") > 0 && of(&late, "share_acks") > 0);
    assert_int_equal(of(&early, "share_acks") + of(&late, "share_acks"), of(&all, "share_acks"));
    assert_int_equal(of(&early, "updates") + of(&late, "updates"), of(&all, "updates"));
    assert_int_equal(of(&late, "updates"), late.nic.cc_packets_sent);
    assert_int_equal(of(&early, "groups"), 1);
    assert_int_equal(of(&late, "groups"), 0);
    assert_int_equal(of(&early, "groups.not_come"), 1);
    assert_int_equal(of(&late, "groups.not_come"), 0);
}

static void others_have_none(void **state)
{
    const struct oche_world_totals totals = totals_of("dcqcn", 0, END);

    (void)state;
    assert_null(totals.counters);
    for (unsigned i = 0; i < OCHE_MOST_COUNTERS; i++)
        assert_int_equal(totals.counted[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_counted),
        cmocka_unit_test(warm_up_is_not),
        cmocka_unit_test(others_have_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
