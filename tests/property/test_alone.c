/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow alone takes exactly the time that sim/topology computes, to the picosecond, in 200 random
 * networks. Slowdowns are measured against that time. So modelling errors cannot make one less than
 * 1, and 1 means that nothing delayed the flow.
 */
#include "tests/property/random_world.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

/* One flow, limited only by the line. */
static void test_alone(void **state)
{
    (void)state;
    for (uint64_t number = 2000; number < 2000 + seeds_of(200); number++) {
        struct random_scenario scenario;
        struct random_world random;
        const struct oche_flows *flows;
        oche_time took, ideal;

        random_scenario_make(&scenario, number);
        scenario.flow_count = 1;
        scenario.flow_bytes = scenario.flows[0].bytes;
        scenario.congestion_control = "none";
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
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
