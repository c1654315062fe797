/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds give the same trace hash, counters and flow times on any number of threads; and a
 * flow alone takes exactly the time that sim/topology says it would, which is what slowdowns are
 * measured against.
 */
#include "tests/property/random_world.h"
#include "tests/support/test.h"

#define SCENARIOS 24

static void assert_same(const struct random_world *one, const struct random_world *many)
{
    const struct oche_flows *a = oche_world_flows(one->world), *b = oche_world_flows(many->world);

    if (one->totals.hash != many->totals.hash)
        fail_msg("scenario %llu: hash %016llx on 1 thread, %016llx on %u; %s",
                 (unsigned long long)one->scenario->number, (unsigned long long)one->totals.hash,
                 (unsigned long long)many->totals.hash, many->config.threads, one->scenario->text);
    assert_int_equal(one->totals.hops, many->totals.hops);
    assert_int_equal(one->totals.pauses_sent, many->totals.pauses_sent);
    assert_int_equal(one->totals.pause_time, many->totals.pause_time);
    assert_memory_equal(one->totals.marks, many->totals.marks, sizeof(one->totals.marks));
    assert_memory_equal(&one->totals.nic, &many->totals.nic, sizeof(one->totals.nic));
    assert_int_equal(a->count, b->count);
    for (uint32_t f = 0; f < a->count; f++) {
        assert_int_equal(a->sent[f].completed, b->sent[f].completed);
        assert_int_equal(a->received[f].delivered, b->received[f].delivered);
    }
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    for (uint64_t number = 1000; number < 1000 + SCENARIOS; number++) {
        struct random_scenario scenario;
        struct random_world one;

        random_scenario_make(&scenario, number);
        random_world_run(&one, &scenario, 1);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct random_world many;

            random_world_run(&many, &scenario, threads);
            assert_same(&one, &many);
            random_world_free(&many);
        }
        random_world_free(&one);
        random_scenario_free(&scenario);
    }
}

/* One flow, no limit but the line. */
static void test_alone(void **state)
{
    (void)state;
    for (uint64_t number = 2000; number < 2200; number++) {
        struct random_scenario scenario;
        struct random_world random;
        const struct oche_flows *flows;
        oche_time took, ideal;

        random_scenario_make(&scenario, number);
        scenario.flow_count = 1;
        scenario.flow_bytes = scenario.flows[0].bytes;
        scenario.congestion_control = false;
        scenario.window_packets = 0;
        scenario.switches.ecn = false;
        scenario.shared_bytes = 100000000; /* no PAUSE where a fast link meets a slow one */
        scenario.switches.threshold = OCHE_THRESHOLD_STATIC;
        scenario.switches.xoff_bytes = 0;
        random_scenario_scale_headroom(&scenario, 1);
        random_world_run(&random, &scenario, 1);
        flows = oche_world_flows(random.world);
        took = flows->received[0].delivered - flows->sent[0].started;
        ideal = oche_world_ideal_time(random.world, 0);
        if (took != ideal)
            fail_msg("scenario %llu: %llu bytes took %llu ps, ideal %llu; %s",
                     (unsigned long long)number, (unsigned long long)scenario.flow_bytes,
                     (unsigned long long)took, (unsigned long long)ideal, scenario.text);
        random_world_free(&random);
        random_scenario_free(&scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
