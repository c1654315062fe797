/* SPDX-License-Identifier: Apache-2.0 */
/* The two sets of defaults: the choice between them, and `auto` in a network. */
#include <stdio.h>
#include <string.h>

#include "core/cc/dcqcn.h"
#include "lab/sweep/point.h"
#include "sim/scenario/scenario.h"
#include "sim/world/derived.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

#define STAR     "topology: {type: star, hosts: 9, host_rate: 100Gbps}\n"
#define WORKLOAD "workload: {type: incast, degree: 4, bytes: 5MB}\n"

static struct oche_error error;

static struct oche_scenario *parse(const char *text)
{
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

static void check_sets(const char *text, bool dcqcn_is_paper, bool switch_is_paper)
{
    struct oche_scenario *scenario = parse(text);
    const struct dcqcn_params *dcqcn = scenario->config.cc_params;
    const struct oche_switch_params *switches = &scenario->config.switches;

    assert_int_equal(dcqcn->preset, dcqcn_is_paper ? OCHE_PRESET_PAPER : OCHE_PRESET_DEPLOYED);
    assert_int_equal(dcqcn->rai, dcqcn_is_paper ? 40 * OCHE_MBPS : OCHE_NEVER);
    assert_int_equal(dcqcn->mode, dcqcn_is_paper ? 0 : 2);
    assert_int_equal(switches->kmin_bytes, switch_is_paper ? 5000 : OCHE_NEVER);
    assert_int_equal(switches->buffer_bytes, switch_is_paper ? 12000000 : OCHE_NEVER);
    oche_scenario_close(scenario);
}

static void test_who_chooses(void **state)
{
    (void)state;
    check_sets(STAR WORKLOAD, false, false);
    check_sets(STAR WORKLOAD "defaults: deployed\n", false, false);
    check_sets(STAR WORKLOAD "defaults: paper\n", true, true); /* wherever it stands */
    check_sets(STAR WORKLOAD "congestion_control: {name: dcqcn, preset: paper}\n", true, false);
    check_sets(STAR WORKLOAD "switch: {preset: paper}\n", false, true);
    check_sets(STAR WORKLOAD "defaults: paper\nswitch: {preset: deployed}\n", true, false);
    check_sets(STAR WORKLOAD "congestion_control: {name: dart, preset: paper}\n", true, false);
}

/* A given value counts for any preset, before or after it. */
static void test_what_is_given_counts(void **state)
{
    static const char *const texts[] = {
        STAR WORKLOAD "switch: {kmin: 7KB, preset: paper}\n",
        STAR WORKLOAD "switch: {preset: paper, kmin: 7KB}\n",
        STAR WORKLOAD "defaults: deployed\nswitch: {kmin: 7KB}\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        struct oche_scenario *scenario = parse(texts[i]);

        assert_int_equal(scenario->config.switches.kmin_bytes, 7000);
        assert_true(scenario->config.switches.pmax == (i < 2 ? 0.01 : 0.2));
        oche_scenario_close(scenario);
    }
}

static void check_derived(const struct oche_world *world, const char *key, const char *expected)
{
    char text[128] = "";

    assert_true(oche_world_derived(world, key, text, sizeof(text)));
    assert_string_equal(text, expected);
}

static void test_what_auto_is(void **state)
{
    struct oche_scenario *scenario =
        parse("topology: {type: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 8,\n"
              "           host_rate: 100Gbps, link_rate: 400Gbps}\n" WORKLOAD);
    struct oche_world *world = oche_world_create(&scenario->config, &error);
    char text[128];

    (void)state;
    assert_non_null(world);
    check_derived(world, "switch.chip", "tomahawk3");
    check_derived(world, "switch.buffer", "64MB");
    check_derived(world, "switch.kmin", "100KB to 400KB");
    check_derived(world, "switch.kmax", "400KB to 1.6MB");
    check_derived(world, "switch.pfc_priorities", "2");
    check_derived(world, "switch.xon_offset", "2204B");
    check_derived(world, "congestion_control.timer", "75us");
    check_derived(world, "congestion_control.rai", "50Mbps");
    check_derived(world, "congestion_control.rhai", "100Mbps");
    check_derived(world, "congestion_control.np", "arrival, by mode nic");
    check_derived(world, "congestion_control.hyper_halves", "no, by mode nic");
    check_derived(world, "congestion_control.min_rate", "1Mbps, by mode nic");
    check_derived(world, "host.ack_timeout", "10ms");
    check_derived(world, "switch.beta", "2");
    assert_false(oche_world_derived(world, "switch.pmax", text, sizeof(text)));
    assert_false(oche_world_derived(world, "duration", text, sizeof(text)));
    oche_world_free(world);
    oche_scenario_close(scenario);
}

static void check_rate(const char *text, const char *key, const char *expected)
{
    struct oche_scenario *scenario = parse(text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s", error.text);
    check_derived(world, key, expected);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

#define FAST(type)                                                                                 \
    "topology: {type: " type ", host_rate: 400Gbps}\nworkload: {type: permutation, bytes: 1KB}\n"

static void check_head(const char *text, const char *expected)
{
    struct oche_scenario *scenario = parse(text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    assert_non_null(world);
    if (strstr(oche_world_topology(world)->summary, expected) == NULL)
        fail_msg("%s", oche_world_topology(world)->summary);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

/* The line above the tables gives the rates of hosts and links. */
static void test_heads_name_rates(void **state)
{
    (void)state;
    check_head(FAST("leaf_spine"), " hosts at 400Gbps, ");
    check_head(FAST("leaf_spine"), " links of 1600Gbps, ");
    check_head(FAST("clos"), " hosts at 400Gbps, ");
    check_head(FAST("clos"), " links of 1600Gbps, to cores 1600Gbps, ");
}

/* Links between switches follow the hosts' rate, unless the paper's defaults are chosen. */
static void test_rates_follow_the_hosts(void **state)
{
    (void)state;
    check_rate(FAST("leaf_spine"), "topology.link_rate", "1.6Tbps");
    check_rate(FAST("clos"), "topology.link_rate", "1.6Tbps");
    check_rate(FAST("clos"), "topology.core_rate", "1.6Tbps");
    check_rate(FAST("dumbbell"), "topology.bottleneck_rate", "400Gbps");
    check_rate(FAST("parking_lot"), "topology.link_rate", "400Gbps");

    struct oche_scenario *scenario = parse(FAST("leaf_spine") "defaults: paper\n");
    const struct oche_param *rate = oche_param_find(scenario->config.topology->table, "link_rate");

    assert_int_equal(oche_param_get(rate, scenario->config.topology_params).u, 100 * OCHE_GBPS);
    oche_scenario_close(scenario);
}

static void check_network(const char *type, const char *preset, const char *expected)
{
    char text[256];

    snprintf(text, sizeof(text),
             "topology: {type: %s}\ndefaults: %s\nworkload: {type: permutation, bytes: 1KB}\n",
             type, preset);
    check_head(text, expected);
}

static void check_delays(const char *type)
{
    char text[256];

    snprintf(text, sizeof(text),
             "topology: {type: %s}\nworkload: {type: permutation, bytes: 1KB}\n", type);
    struct oche_scenario *scenario = parse(text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    assert_non_null(world);
    const struct oche_topology *topology = oche_world_topology(world);

    for (uint32_t i = 0; i < topology->link_count; i++)
        assert_int_equal(topology->links[i].delay, OCHE_US);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

/* Deployed networks have hosts of 100 Gbit/s and links of 1 us, for any topology type. */
static void test_networks_in_use(void **state)
{
    static const char *const types[] = {"star",       "dumbbell", "parking_lot",
                                        "leaf_spine", "clos",     "fat_tree"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(types); i++)
        check_delays(types[i]);
    check_network("star", "deployed", "17 hosts at 100Gbps");
    check_network("dumbbell", "deployed", "hosts at 100Gbps, a bottleneck of 100Gbps");
    check_network("parking_lot", "deployed", "chain of 100Gbps links, 2 hosts at 100Gbps");
    check_network("leaf_spine", "deployed",
                  "hosts at 100Gbps, 8 leaves, 4 spines, links of 400Gbps");
    check_network("clos", "deployed",
                  "hosts at 100Gbps, 16 pods, 64 ToR, 64 aggregation, 16 core, links of 400Gbps, "
                  "to cores 400Gbps, oversubscription 1:1 at the ToR");
    check_network("fat_tree", "deployed", "100Gbps links");
    check_network("star", "paper", "17 hosts at 40Gbps");
    check_network("dumbbell", "paper", "hosts at 40Gbps, a bottleneck of 40Gbps");
    check_network("parking_lot", "paper", "chain of 40Gbps links, 2 hosts at 40Gbps");
    check_network("clos", "paper",
                  "hosts at 10Gbps, 16 pods, 64 ToR, 64 aggregation, 16 core, links of 10Gbps, to "
                  "cores 10Gbps, oversubscription 4:1 at the ToR");
}

/* A scenario's beta is the given one; alpha is 1 if not given. */
static void test_beta(void **state)
{
    (void)state;
    check_rate(STAR WORKLOAD "switch: {pfc_priorities: 5}\n", "switch.beta", "5");
    check_rate(STAR WORKLOAD "defaults: paper\nswitch: {beta: auto}\n", "switch.beta", "8");
}

#define LONG                                                                                       \
    "topology: {type: dumbbell, host_rate: 100Gbps, bottleneck_delay: 1ms}\nswitch: {pfc: "        \
    "false}\n"                                                                                     \
    "workload: {type: permutation, bytes: 1KB}\n"
#define SELECTIVE "recovery: selective_repeat\n"

/* Timeouts and windows follow the longest round trip, 2 ms and a little: 22.5 thousand packets. */
static void test_timeouts_follow_the_round_trip(void **state)
{
    (void)state;
    check_rate(STAR WORKLOAD SELECTIVE, "recovery.window", "110");
    check_rate(STAR WORKLOAD SELECTIVE, "recovery.rto_low", "100us");
    check_rate(STAR WORKLOAD SELECTIVE, "recovery.rto_high", "320us");
    check_rate(LONG SELECTIVE, "recovery.window", "4096");
    check_rate(LONG SELECTIVE, "recovery.rto_low", "8018us");
    check_rate(LONG SELECTIVE, "recovery.rto_high", "8238us");
    check_rate(LONG SELECTIVE "host: {feedback_jitter: 1ms}\n", "recovery.rto_low", "12018us");
    check_rate(LONG "host: {feedback_jitter: 1ms}\n", "host.ack_timeout", "12018us");
    check_rate(LONG "host: {ack_timeout: auto}\n", "host.ack_timeout", "10ms");
    check_rate(LONG "host: {feedback_jitter: 1ms}\ncongestion_control: tcp\n",
               "congestion_control.rto_initial", "12018us");
    check_rate(LONG "congestion_control: {name: dctcp, rto_initial: auto}\n",
               "congestion_control.rto_initial", "10ms");
    check_rate(LONG "host: {timeouts: connectx}\n", "host.ack_timeout",
               "16ms, by timeouts connectx");

    struct oche_scenario *scenario =
        parse(LONG "recovery: {name: selective_repeat, preset: paper}");
    struct oche_world *world = oche_world_create(&scenario->config, &error);
    char text[128];

    assert_false(oche_world_derived(world, "recovery.window", text, sizeof(text)));
    oche_world_free(world);
    oche_scenario_close(scenario);
}

static void test_long_trips_are_told(void **state)
{
    struct dcqcn_params params;

    (void)state;
    oche_param_preset(&oche_cc_dcqcn.table, OCHE_PRESET_PAPER, &params);
    assert_null(oche_cc_dcqcn.advice->remark(&params, 61 * OCHE_US, 40 * OCHE_GBPS));
    assert_non_null(oche_cc_dcqcn.advice->remark(&params, 20 * OCHE_MS, 40 * OCHE_GBPS));
    oche_param_preset(&oche_cc_dcqcn.table, OCHE_PRESET_DEPLOYED, &params);
    assert_null(oche_cc_dcqcn.advice->remark(&params, OCHE_MS, 25 * OCHE_GBPS));
    assert_non_null(oche_cc_dcqcn.advice->remark(&params, OCHE_MS, 100 * OCHE_GBPS));
}

static void test_who_decides(void **state)
{
    (void)state;
    check_rate(STAR WORKLOAD "congestion_control: {name: dcqcn, preset: paper}\n",
               "congestion_control.min_rate", "100Mbps, by min_rate_fraction");
    check_rate(STAR WORKLOAD "congestion_control: {name: dcqcn, preset: paper, mode: ns3}\n",
               "congestion_control.release", "never, by mode ns3");
    check_rate(STAR WORKLOAD "congestion_control: dart\n", "congestion_control.timer", "75us");
    check_rate(STAR WORKLOAD "congestion_control: {name: timely, preset: paper}\n",
               "congestion_control.min_rate", "100Mbps, by min_rate_fraction");
    check_rate(STAR WORKLOAD "congestion_control: timely\n", "congestion_control.min_rate",
               "1Gbps, by min_rate_fraction");
}

#define TIMELY(line, rest)                                                                         \
    "topology: {type: star, hosts: 9, host_rate: " line "}\n" WORKLOAD                             \
    "congestion_control: {name: timely" rest "}\n"

/* TIMELY's thresholds are the longest round trip, here 4 us and a little, plus times in a queue. */
static void test_timely_follows_line_and_round_trip(void **state)
{
    (void)state;
    check_rate(TIMELY("100Gbps", ""), "congestion_control.t_low", "13us");
    check_rate(TIMELY("100Gbps", ""), "congestion_control.t_high", "45us");
    check_rate(TIMELY("100Gbps", ""), "congestion_control.min_rtt", "13us");
    check_rate(TIMELY("100Gbps", ""), "congestion_control.delta", "500Mbps");
    check_rate(TIMELY("100Gbps", ""), "congestion_control.segment", "16KB");
    check_rate(TIMELY("800Gbps", ""), "congestion_control.t_low", "13us");
    check_rate(TIMELY("800Gbps", ""), "congestion_control.delta", "4Gbps");
    check_rate(TIMELY("800Gbps", ""), "congestion_control.segment", "16KB");
    check_rate(TIMELY("25Gbps", ""), "congestion_control.segment", "4KB");
    check_rate(TIMELY("10Gbps", ""), "congestion_control.t_low", "26us");
    check_rate(TIMELY("10Gbps", ""), "congestion_control.t_high", "106us");
    check_rate(TIMELY("10Gbps", ""), "congestion_control.segment", "4KB");
    check_rate(TIMELY("100Gbps", "") "host: {feedback_jitter: 100us}\n", "congestion_control.t_low",
               "113us");
    check_rate(TIMELY("100Gbps", ", t_high: 20us"), "congestion_control.t_low", "10us");
    check_rate(TIMELY("100Gbps", ", t_low: 50us"), "congestion_control.t_high", "82us");
    check_rate(TIMELY("100Gbps", ", t_low: 50us"), "congestion_control.min_rtt", "50us");
}

/* InfiniBand's marking: the minimum weight stands for kmin, if links have no credits. */
static void test_fecn_follows_the_port(void **state)
{
    (void)state;
    check_rate(STAR WORKLOAD "congestion_control: ib_cc\n", "fecn.buffer", "1.6MB");
    check_rate(STAR WORKLOAD "congestion_control: ib_cc\n", "fecn.marking_rate", "12");
    check_rate(STAR WORKLOAD "congestion_control: ib_cc\nswitch: {pfc: false, mechanisms: "
                             "ib_credits}\nib_credits: {buffer: 128KiB}\n",
               "fecn.buffer", "128KiB");
}

/* Networks of 400 and 800 Gbit/s need only their topology. */
static void test_fast_networks(void **state)
{
    static const char *const topologies[] = {
        "{type: leaf_spine, host_rate: 400Gbps, link_rate: 400Gbps}",
        "{type: leaf_spine, host_rate: 800Gbps, link_rate: 800Gbps, leaves: 32, spines: 32}",
        "{type: star, hosts: 64, host_rate: 800Gbps}",
        "{type: leaf_spine, host_rate: 800Gbps}",
        "{type: fat_tree, k: 8, link_rate: 800Gbps}",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(topologies); i++) {
        char text[512];

        snprintf(text, sizeof(text), "topology: %s\nworkload: {type: permutation, bytes: 1KB}\n",
                 topologies[i]);
        struct oche_scenario *scenario = parse(text);
        struct oche_world *world = oche_world_create(&scenario->config, &error);

        if (world == NULL)
            fail_msg("%s: %s", topologies[i], error.text);
        oche_world_free(world);
        oche_scenario_close(scenario);
    }
}

static void check_refused(const char *text, const char *expected)
{
    struct oche_scenario *scenario = parse(text);

    assert_null(oche_world_create(&scenario->config, &error));
    if (strncmp(error.text, expected, strlen(expected)) != 0)
        fail_msg("%s", error.text);
    oche_scenario_close(scenario);
}

#define WAN                                                                                        \
    "topology: {type: dumbbell, host_rate: 100Gbps, bottleneck_rate: 100Gbps, "                    \
    "bottleneck_delay: %s}\nworkload: {type: permutation, bytes: 1KB}\n"

static void test_long_links(void **state)
{
    char text[512];

    (void)state;
    snprintf(text, sizeof(text), WAN "switch: {pfc: false}\n", "10ms");
    struct oche_scenario *scenario = parse(text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);
    char timeout[128];

    assert_non_null(world);
    assert_true(oche_world_derived(world, "host.ack_timeout", timeout, sizeof(timeout)));
    assert_memory_equal(timeout, "800", 3); /* slightly more than 80 ms, in microseconds */
    oche_world_free(world);
    oche_scenario_close(scenario);
    /* Advice that works … */
    snprintf(text, sizeof(text), WAN, "10ms");
    check_refused(text, "switch: buffer: 32000000 bytes is less than the PFC headroom");
    assert_non_null(strstr(error.text, "or pfc: false"));
    /* … and none outside a parameter's range. */
    snprintf(text, sizeof(text), WAN, "500ms");
    check_refused(text, "switch: headroom: PFC needs up to");
    assert_non_null(strstr(error.text, "or pfc: false"));
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(STAR WORKLOAD "host: {ack_timeout: 5ns}\n", "host.ack_timeout: less than 1us");
    check_refused(STAR WORKLOAD "switch: {chip: tomahawk5, buffer: 1MB}\n",
                  "switch: chip: buffer is 1000000 bytes");
}

static double goodput(const char *defaults)
{
    const char *sets[] = {defaults,
                          "topology.host_rate=100Gbps",
                          "workload.degree=4",
                          "workload.bytes=5MB",
                          "measure.interval=0",
                          "duration=50ms"};
    struct oche_point_result result;

    oche_point_run("scenarios/incast.yaml", sets, OCHE_COUNT_OF(sets), &result);
    if (result.status != OCHE_POINT_DONE)
        fail_msg("%s", result.error);
    double bps = oche_point_metric(&result, "goodput");

    oche_point_free(&result);
    return bps;
}

/* The purpose of the defaults: an incast of 5 MB at 100 Gbit/s (dcqcn.md#deployed). */
static void test_an_incast_at_100_gbps(void **state)
{
    (void)state;
    assert_true(goodput("defaults=paper") < 25e9);
    assert_true(goodput("defaults=deployed") > 75e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_chooses),
        cmocka_unit_test(test_what_is_given_counts),
        cmocka_unit_test(test_what_auto_is),
        cmocka_unit_test(test_heads_name_rates),
        cmocka_unit_test(test_rates_follow_the_hosts),
        cmocka_unit_test(test_networks_in_use),
        cmocka_unit_test(test_beta),
        cmocka_unit_test(test_fast_networks),
        cmocka_unit_test(test_who_decides),
        cmocka_unit_test(test_timely_follows_line_and_round_trip),
        cmocka_unit_test(test_fecn_follows_the_port),
        cmocka_unit_test(test_timeouts_follow_the_round_trip),
        cmocka_unit_test(test_long_trips_are_told),
        cmocka_unit_test(test_long_links),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_an_incast_at_100_gbps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
