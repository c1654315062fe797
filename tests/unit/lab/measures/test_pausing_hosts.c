/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that sent PAUSEs themselves: which, the time they paused others, and the longest of many
 * first.
 */
#include "tests/support/test.h"

#include <string.h>

#include "lab/measures/outcome.h"
#include "sim/scenario/scenario.h"

static struct oche_error error;

/* Runs the scenario, and takes its outcome. */
static void run(const char *text, struct oche_outcome *outcome)
{
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(world, NULL, NULL);
    oche_outcome_take(outcome, world, "", 0);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

#define STAR                                                                                       \
    "topology: {type: star, hosts: 8, host_rate: 100Gbps}\ncongestion_control: none\n"             \
    "duration: 1ms\nworkload: {type: transfers, pairs: \"7>0\", bytes: 100MB, messages: 1}\n"

static void test_longest_first(void **state)
{
    static struct oche_outcome outcome;
    static const char *const wanted[OCHE_PAUSING_HOSTS] = {"host4", "host1", "host5", "host2"};

    (void)state;
    run(STAR "pause_storms:\n"
             "  - {hosts: host1, at: 0, until: 500us}\n"
             "  - {hosts: host2, at: 0, until: 300us}\n"
             "  - {hosts: host3, at: 0, until: 100us}\n"
             "  - {hosts: host4, at: 0, until: 600us, priorities: 0}\n"
             "  - {hosts: host5, at: 0, until: 400us}\n"
             "  - {hosts: host6, at: 0, until: 200us}\n",
        &outcome);
    const struct oche_pausing_hosts *hosts = &outcome.pausing_hosts;

    assert_int_equal(hosts->count, 6);
    assert_int_equal(hosts->listed_count, OCHE_PAUSING_HOSTS);
    for (uint32_t i = 0; i < hosts->listed_count; i++) {
        assert_string_equal(hosts->listed[i].name, wanted[i]);
        assert_false(hosts->listed[i].slow);
        assert_in_range(hosts->listed[i].held, (600 - 100 * i) * OCHE_US - OCHE_US,
                        (600 - 100 * i) * OCHE_US);
    }
    assert_string_equal(hosts->listed[0].port, "tor0:host4");
    assert_int_equal(hosts->listed[0].pauses, 1); /* of one class; the others of both */
    assert_int_equal(hosts->listed[1].pauses, 2);
    oche_outcome_free(&outcome);
}

static void test_slow_receivers_are_told(void **state)
{
    static struct oche_outcome outcome;

    (void)state;
    run(STAR "slow_receivers: {hosts: \"host0, host1\", drain_rate: 10Gbps, buffer: 200KB}\n",
        &outcome);
    assert_int_equal(outcome.pausing_hosts.count, 1); /* nothing is sent to host1 */
    assert_string_equal(outcome.pausing_hosts.listed[0].name, "host0");
    assert_true(outcome.pausing_hosts.listed[0].slow);
    assert_int_equal(outcome.pausing_hosts.listed[0].pauses, outcome.pauses[OCHE_NODE_HOST].sent);
    oche_outcome_free(&outcome);
    run(STAR, &outcome);
    assert_int_equal(outcome.pausing_hosts.count, 0);
    oche_outcome_free(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longest_first),
        cmocka_unit_test(test_slow_receivers_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
