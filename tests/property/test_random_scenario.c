/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of random worlds: the same number gives the same world, and all kinds of worlds
 * occur.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/property/random_scenario.h"
#include "tests/support/test.h"

#define SCENARIOS 300

static void test_pure(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 50; number++) {
        struct random_scenario a, b;

        random_scenario_make(&a, number);
        random_scenario_make(&b, number);
        assert_string_equal(a.text, b.text);
        assert_memory_equal(&a.switches, &b.switches, sizeof(a.switches));
        assert_int_equal(a.flow_count, b.flow_count);
        assert_memory_equal(a.flows, b.flows, a.flow_count * sizeof(*a.flows));
        random_scenario_free(&a);
        random_scenario_free(&b);
    }
}

/* Every switch of every scenario can be made, with full and with half the headroom. */
static void assert_possible(const struct random_scenario *scenario)
{
    for (uint32_t s = 0; s < scenario->topology.switch_count; s++) {
        struct oche_switch_port_config ports[64];
        struct oche_switch_config config;
        struct oche_error why;

        random_scenario_switch(scenario, s, ports, &config);
        if (!oche_switch_check(&config, &why))
            fail_msg("scenario %llu, %s: %s", (unsigned long long)scenario->number, scenario->text,
                     why.text);
    }
}

static void test_possible(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < SCENARIOS; number++) {
        struct random_scenario s;
        uint64_t whole;

        random_scenario_make(&s, number);
        assert_possible(&s);
        whole = s.switches.buffer_bytes;
        random_scenario_scale_headroom(&s, 0.5);
        assert_true(s.switches.buffer_bytes < whole);
        assert_possible(&s);
        random_scenario_scale_headroom(&s, 1);
        assert_int_equal(s.switches.buffer_bytes, whole);
        assert_true(s.flow_count > 0);
        for (uint32_t f = 0; f < s.flow_count; f++) {
            assert_true(s.flows[f].src < s.topology.host_count);
            assert_true(s.flows[f].dst < s.topology.host_count);
            assert_int_not_equal(s.flows[f].src, s.flows[f].dst);
            assert_true(s.flows[f].bytes > 0);
        }
        random_scenario_free(&s);
    }
}

static void test_variety(void **state)
{
    enum {
        DYNAMIC,
        STATIC,
        DCQCN,
        TIMELY,
        PATCHED,
        NONE,
        JITTER,
        PER_PAIR,
        VERBS,
        NO_ECN,
        NO_RESPONSE,
        WINDOW,
        SMALL,
        LARGE,
        MANY
    };
    unsigned kinds[MANY] = {0}, types[16] = {0};

    (void)state;
    for (uint64_t number = 0; number < SCENARIOS; number++) {
        struct random_scenario s;

        random_scenario_make(&s, number);
        kinds[DYNAMIC] += s.switches.threshold == OCHE_THRESHOLD_DYNAMIC;
        kinds[STATIC] += s.switches.threshold == OCHE_THRESHOLD_STATIC;
        kinds[DCQCN] += strcmp(s.congestion_control, "dcqcn") == 0;
        kinds[TIMELY] += strcmp(s.congestion_control, "timely") == 0;
        kinds[PATCHED] += strcmp(s.congestion_control, "timely_patched") == 0;
        kinds[NONE] += strcmp(s.congestion_control, "none") == 0;
        kinds[JITTER] += s.feedback_jitter != 0;
        kinds[PER_PAIR] += s.per_pair;
        kinds[VERBS] += s.mixed_verbs;
        kinds[NO_ECN] += !s.switches.ecn;
        kinds[NO_RESPONSE] += s.switches.pfc_response == 0;
        kinds[WINDOW] += s.window_packets != 0;
        kinds[SMALL] += s.shared_bytes < 20000;
        kinds[LARGE] += s.shared_bytes > 200000;
        for (unsigned i = 0; oche_topology_types[i] != NULL; i++)
            types[i] += oche_topology_types[i] == s.topology_type;
        random_scenario_free(&s);
    }
    for (unsigned i = 0; i < MANY; i++)
        assert_in_range(kinds[i], SCENARIOS / 16, SCENARIOS - SCENARIOS / 16);
    for (unsigned i = 0; oche_topology_types[i] != NULL; i++)
        if (strcmp(oche_topology_types[i]->name, "from_file") != 0)
            assert_in_range(types[i], SCENARIOS / 16, SCENARIOS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_possible),
        cmocka_unit_test(test_variety),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
