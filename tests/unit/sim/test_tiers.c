/* SPDX-License-Identifier: Apache-2.0 */
/* Settings for a tier of switches: which switches get them, and the effects. */
#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/derived.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

/* Queues form at the leaves' only uplink and at the spine's port to leaf0. */
#define LEAVES                                                                                     \
    "duration: 2ms\n"                                                                              \
    "topology: {type: leaf_spine, leaves: 3, spines: 1, hosts_per_leaf: 4, host_rate: 100Gbps,\n"  \
    "           link_rate: 100Gbps}\n"                                                             \
    "workload: {type: transfers, pairs: \"4>0, 5>1, 8>2, 9>3\", bytes: 4MB}\n"

static struct oche_error error;

static struct oche_world *create(const char *text, struct oche_scenario **scenario)
{
    *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
    if (*scenario == NULL)
        fail_msg("%s", error.text);
    struct oche_world *world = oche_world_create(&(*scenario)->config, &error);

    if (world == NULL)
        fail_msg("%s", error.text);
    return world;
}

static void marks_of(const char *switches, uint64_t marks[OCHE_PLACES])
{
    struct oche_world_totals totals;
    struct oche_scenario *scenario;
    char text[1024];

    snprintf(text, sizeof(text), "%s%s", LEAVES, switches);
    struct oche_world *world = create(text, &scenario);

    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &totals);
    memcpy(marks, totals.marks, sizeof(totals.marks));
    oche_world_free(world);
    oche_scenario_close(scenario);
}

static void test_only_the_tier_marks(void **state)
{
    uint64_t marks[OCHE_PLACES];

    (void)state;
    marks_of("switch: {kmin: 5KB, kmax: 5KB, pmax: 1}\n", marks);
    assert_true(marks[OCHE_PLACE_TOR_UP] > 0 && marks[OCHE_PLACE_CORE] > 0);
    marks_of("switch: {kmin: 50MB, kmax: 50MB, leaf: {kmin: 5KB, kmax: 5KB, pmax: 1}}\n", marks);
    assert_true(marks[OCHE_PLACE_TOR_UP] > 0 && marks[OCHE_PLACE_CORE] == 0);
    marks_of("switch: {kmin: 5KB, kmax: 5KB, pmax: 1, leaf: {ecn: false}}\n", marks);
    assert_true(marks[OCHE_PLACE_TOR_UP] == 0 && marks[OCHE_PLACE_TO_HOST] == 0 &&
                marks[OCHE_PLACE_CORE] > 0);
    marks_of("switch: {ecn: false, spine: {ecn: true, kmin: 5KB, kmax: 5KB, pmax: 1}}\n", marks);
    assert_true(marks[OCHE_PLACE_TOR_UP] == 0 && marks[OCHE_PLACE_CORE] > 0);
}

static void check_derived(const struct oche_world *world, const char *key, const char *expected)
{
    char text[128] = "";

    assert_true(oche_world_derived(world, key, text, sizeof(text)));
    assert_string_equal(text, expected);
}

/* `auto` follows from the ports of the tier. A tier's own values follow from missing ones. */
static void test_what_auto_is_by_tier(void **state)
{
    struct oche_scenario *scenario;
    struct oche_world *world =
        create("topology: {type: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 8,\n"
               "           host_rate: 100Gbps, link_rate: 400Gbps}\n"
               "workload: {type: incast, degree: 4, bytes: 5MB}\n"
               "switch: {kmin: 30KB, buffer: 80MB, leaf: {kmin: auto}, spine: {buffer: auto}}\n",
               &scenario);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    char text[128];

    (void)state;
    check_derived(world, "switch.leaf.kmin", "100KB to 400KB");
    check_derived(world, "switch.spine.kmax", "1.6MB");
    check_derived(world, "switch.spine.chip", "tomahawk3");
    assert_false(oche_world_derived(world, "switch.leaf.chip", text, sizeof(text)));
    assert_false(oche_world_derived(world, "switch.agg.kmin", text, sizeof(text)));
    oche_world_switch_config(world, 0, &config, ports);
    assert_int_equal(config.params->buffer_bytes, 80000000);
    assert_int_equal(config.params->kmin_bytes, OCHE_NEVER);
    oche_world_switch_config(world, 4, &config, ports);
    assert_int_equal(config.params->buffer_bytes, OCHE_NEVER);
    assert_int_equal(config.params->kmin_bytes, 30000);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

/* An endpoint that changes all switches' settings changes those of tiers, too. */
static void test_dctcp_marks_by_k_in_every_tier(void **state)
{
    struct oche_scenario *scenario;
    struct oche_world *world =
        create(LEAVES "congestion_control: {name: dctcp, k: 97KB}\nswitch: {leaf: {pmax: 0.3}}\n",
               &scenario);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    (void)state;
    oche_world_switch_config(world, 0, &config, ports);
    assert_int_equal(config.params->kmin_bytes, 97000);
    assert_true(config.params->pmax == 1);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

static void test_wrong_tiers_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"switch: {tor: {kmin: 1KB}}\n",
         "s.yaml:5: switch.tor: topology leaf_spine has no such tier; it has leaf, spine"},
        {"switch:\n  leaf:\n    pfc: false\n",
         "s.yaml:7: switch.leaf.pfc: has one value for the whole network; write it as switch.pfc"},
        {"switch:\n  kmax: 9KB\n  leaf:\n    kmin: 10KB\n",
         "s.yaml:8: switch.leaf.kmin: 10000 bytes is above kmax, 9000 bytes; would be right: at "
         "most kmax (at leaf0)"},
        {"switch: {leaf: {ecn: false}, spine: {ecn: false}}\n",
         "s.yaml:5: switch.ecn: congestion_control dcqcn needs switches that mark; set this to "
         "true in a tier, or choose another scheme"},
        {"switch: {leaf: 7}\n",
         "s.yaml:5: switch.leaf: is not a section; write its keys below it, as KEY: VALUE"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char text[1024];

        snprintf(text, sizeof(text), "%s%s", LEAVES, rows[i].text);
        struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
        struct oche_error why;

        if (scenario != NULL) {
            if (oche_world_create(&scenario->config, &why) != NULL)
                fail_msg("accepted: %s", rows[i].text);
            oche_scenario_place(scenario, why.text, &error);
        }
        assert_string_equal(error.text, rows[i].error);
        oche_scenario_close(scenario);
    }
}

static void test_the_middle_tier(void **state)
{
    static const char text[] = "topology: {type: fat_tree, k: 4}\n"
                               "workload: {type: incast, degree: 4, bytes: 5MB}\n"
                               "switch: {agg: {kmin: 7KB}}\n";
    struct oche_scenario *scenario;
    struct oche_world *world = create(text, &scenario);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    const struct oche_topology *topology = oche_world_topology(world);

    (void)state;
    for (uint32_t i = 0; i < topology->switch_count; i++) {
        bool agg = strncmp(topology->nodes[topology->host_count + i].name, "agg", 3) == 0;

        oche_world_switch_config(world, i, &config, ports);
        assert_int_equal(config.params->kmin_bytes == 7000, agg);
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
}

/* A list of nodes may be empty for a tier that the topology's type knows. */
static void test_a_tier_without_switches_is_refused(void **state)
{
    static const char text[] =
        "topology: {type: from_file, file: tests/swarm/files/ring.topology}\n"
        "workload: permutation\n"
        "switch: {core: {kmin: 7KB}}\n";
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    (void)state;
    assert_non_null(scenario);
    assert_null(oche_world_create(&scenario->config, &error));
    assert_string_equal(error.text,
                        "switch.core: this from_file has no switch of that tier; its tiers are "
                        "tor, aggregation");
    oche_scenario_close(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_tier_marks),
        cmocka_unit_test(test_what_auto_is_by_tier),
        cmocka_unit_test(test_dctcp_marks_by_k_in_every_tier),
        cmocka_unit_test(test_wrong_tiers_are_refused),
        cmocka_unit_test(test_the_middle_tier),
        cmocka_unit_test(test_a_tier_without_switches_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
