/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host whose adapter has fewer limiters than the host has RoGUE connections (rogue.md#r32). Four
 * flows go from host 0 to a host each, so nothing but the host's own link is shared.
 */
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define FLOWS 4
#define SHORT (256 * 1024) /* less than a turn */
#define LONG  (12 * 1024 * 1024)

static struct small_world small;
static oche_time completed[FLOWS];

/* Returns the number of times that a connection waited. `verb`, `transport`: as the parameters. */
static uint64_t run(uint64_t limiters, uint64_t bytes, unsigned verb, unsigned transport)
{
    struct oche_flow_plan flows[FLOWS];
    uint64_t waits = 0;

    for (unsigned i = 0; i < FLOWS; i++)
        flows[i] = small_flow(0, i + 1, bytes, 0);
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", FLOWS + 1);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small_world_topology(&small, "delay", OCHE_US);
    small_world_cc(&small, "segment_bytes", 65536);
    small_world_cc(&small, "rate_limiters", limiters);
    small_world_cc(&small, "verb", verb);
    small_world_cc(&small, "transport", transport);
    small.config.run.duration = OCHE_SEC;
    small_world_run(&small, flows, FLOWS);
    for (unsigned i = 0; i < FLOWS; i++) {
        completed[i] = small.world->flows.sent[i].completed;
        assert_true(completed[i] != OCHE_NEVER);
    }
    const struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[0]);
    for (const struct oche_rogue_end *end = rogue->ends; end != NULL; end = end->next) {
        assert_false(end->limited.has || end->limited.waits || end->granted);
        waits += rogue_counts_of(end->library)->limiter_waits;
    }
    assert_int_equal(rogue->limiters.taken, 0);
    small_world_end(&small);
    small_world_free(&small);
    return waits;
}

/* With one limiter short flows follow each other, in the order in which they were posted. */
static void one_after_another(void **state)
{
    const oche_time alone = oche_time_of_bytes(SHORT, 10 * OCHE_GBPS);

    (void)state;
    assert_int_equal(run(1, SHORT, OCHE_ROGUE_WRITES, ROGUE_RC), FLOWS - 1);
    for (unsigned i = 1; i < FLOWS; i++)
        assert_true(completed[i] >= completed[i - 1] + alone);
    assert_int_equal(run(2, SHORT, OCHE_ROGUE_WRITES, ROGUE_RC), FLOWS - 2);
    assert_true(completed[2] >= completed[0] + alone / 2);
    assert_int_equal(run(1, SHORT, OCHE_ROGUE_READS, ROGUE_RC), FLOWS - 1);
    assert_int_equal(run(1, SHORT, OCHE_ROGUE_WRITES, ROGUE_UC), FLOWS - 1);
}

/* Without the parameter, or with enough of them, nothing waits, and results are the same. */
static void enough_for_all(void **state)
{
    oche_time before[FLOWS];

    (void)state;
    assert_int_equal(run(0, SHORT, OCHE_ROGUE_WRITES, ROGUE_RC), 0);
    for (unsigned i = 0; i < FLOWS; i++)
        before[i] = completed[i];
    assert_int_equal(run(FLOWS, SHORT, OCHE_ROGUE_WRITES, ROGUE_RC), 0);
    assert_memory_equal(before, completed, sizeof(before));
}

/* Long flows take turns: none waits until another one is over. */
static void long_flows_take_turns(void **state)
{
    (void)state;
    assert_true(run(1, LONG, OCHE_ROGUE_WRITES, ROGUE_RC) > 8 * FLOWS);
    for (unsigned i = 1; i < FLOWS; i++)
        assert_true(completed[0] > completed[i] / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_another),
        cmocka_unit_test(enough_for_all),
        cmocka_unit_test(long_flows_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
