/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that do not fit the network cause a warning with numbers. Others do not. */
#include "lab/measures/unfit.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

static struct oche_unfit unfit;

static void take(const char *text)
{
    struct oche_error error;
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s", error.text);
    oche_unfit_take(&unfit, world);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

static void check_none(const char *text)
{
    take(text);
    if (unfit.count > 0)
        fail_msg("%s", unfit.text[0]);
}

static void check_said(const char *text, const char *expected)
{
    take(text);
    assert_int_equal(unfit.count, 1);
    if (strstr(unfit.text[0], expected) == NULL)
        fail_msg("%s", unfit.text[0]);
}

/* Two racks of 8 hosts at 100 Gbit/s, each with two uplinks of 100. */
#define RACKS                                                                                      \
    "duration: 100us\n"                                                                            \
    "topology: {type: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 8, host_rate: 100Gbps,\n"  \
    "           link_rate: 100Gbps}\n"

static void test_load(void **state)
{
    (void)state;
    /* 8 of 15 receivers are in the other rack; of 1122 bytes on the line 1024 are payload. */
    check_said(RACKS "workload: {type: poisson_cdf, load: 60%}\n",
               "leaf0 is to send 280Gbps to other racks, and its links there carry 200Gbps (load "
               "140");
    check_none(RACKS "workload: {type: poisson_cdf, load: 40%}\n");
    check_said(RACKS "workload: {type: poisson_cdf, load: 60%, headers: true}\n", "send 256Gbps");
    check_none(RACKS "workload: {type: poisson_cdf, load: 1, load_of: uplink}\n");
    check_none(RACKS "workload: {type: poisson_cdf, load: 60%, pairs: 8}\n");
    check_said(RACKS "workload: {type: poisson_cdf, load: 30%, senders: 8}\n", "send 263Gbps");
    /* The load is that of all workloads together … */
    check_said(RACKS "workload:\n"
                     "- {type: long_flows, load: 60%, load_of: host, share: 50%}\n"
                     "- {type: incast_groups, load: 60%, load_of: host, share: 50%, degree: 4}\n",
               "send 280Gbps");
    /* … and a workload that sends as fast as it can has none. */
    check_none(RACKS "workload: {type: long_flows, load: 10, greedy: true}\n");
    check_none(RACKS "workload: {type: permutation, bytes: 1GB}\n");
}

static void test_load_of_pods(void **state)
{
    (void)state;
    check_said("duration: 10us\n"
               "topology: {type: clos, pods: 2, tors_per_pod: 2, hosts_per_tor: 4, cores: 1,\n"
               "           host_rate: 10Gbps,"
               "           oversubscription: 1, aggs_per_pod: 1, uplinks_per_agg: 1}\n"
               "workload: {type: poisson_cdf, load: 50%, headers: true}\n",
               "pod 0 is to send 21.3Gbps to other pods, and its links there carry 10Gbps");
}

#define STAR(load)                                                                                 \
    "duration: 10us\ntopology: {type: star, hosts: 4, host_rate: 40Gbps}\n"                        \
    "workload: {type: poisson_cdf, " load "}\n"

static void test_load_of_hosts(void **state)
{
    (void)state;
    check_said(STAR("load: 2"),
               "workload: more than a host's link carries, so that what waits there grows: host0 "
               "is to send 87.7Gbps with headers, and its link carries 40Gbps (load 219");
    check_none(STAR("load: 1, headers: true"));
    check_said(STAR("load: 1"), "is to send 43.8Gbps");
    check_none(STAR("load: 90%"));
    /* Three senders, and one host to send to. */
    check_said(STAR("load: 40%, senders: 3"), "for it grows: host3 is to get 52.6Gbps");
    check_none(STAR("load: 30%, senders: 3"));
}

#define LONG                                                                                       \
    "duration: 1ms\nswitch: {pfc: false}\nworkload: {type: permutation, bytes: 1KB}\n"             \
    "topology: {type: dumbbell, host_rate: 100Gbps, bottleneck_delay: 10ms}\n"

static void test_timeouts(void **state)
{
    (void)state;
    check_none(LONG);
    check_said(LONG "host: {ack_timeout: 1ms}\n",
               "host.ack_timeout: where nothing waits, a round trip takes up to 20.0ms: more than "
               "1ms");
    check_said(LONG "host: {timeouts: connectx}\n", "first timeout of 2ms");
    check_said(LONG "recovery: {name: selective_repeat, rto_low: 1ms}\n", "more than rto_low");
    check_said(LONG "recovery: {name: selective_repeat, rto_high: 1ms}\n", "more than rto_high");
    check_said(LONG "recovery: {name: selective_repeat, rto_low: 1ms, few_packets: 0}\n",
               "more than window can be (4,096), so that one queue pair never fills the link");
    check_said(LONG "recovery: {name: selective_repeat, preset: paper}\n", "more than rto_low");
    check_none(LONG "congestion_control: tcp\n");
    check_said(LONG "congestion_control: {name: tcp, rto_initial: 15ms}\n",
               "congestion_control: where nothing waits, a round trip takes up to 20.0ms: more "
               "than rto_initial, so that");
    check_none(LONG "congestion_control: {name: dctcp, rto_initial: 15ms, rto_min: 30ms}\n");
    check_said(LONG "congestion_control: {name: dctcp, rto_max: 15ms}\n", "than rto_max, so");
    check_none(RACKS "workload: {type: permutation, bytes: 1KB}\nrecovery: selective_repeat\n");
}

#define MARKS(more)                                                                                \
    "duration: 100us\ntopology: {type: star, hosts: 4, host_rate: 10Gbps}\n"                       \
    "workload: {type: permutation, bytes: 1KB}\nswitch: {" more "}\n"

static void test_thresholds(void **state)
{
    (void)state;
    check_said(MARKS("buffer: 2MB, kmin: 2MB, kmax: 3MB"),
               "switch.kmin: nothing is ever marked: marks begin above a queue of 2MB, and at "
               "tor0 a queue has room for 2MB");
    check_said(
        MARKS("buffer: 2MB, kmin: 1MB, kmax: 3MB, pmax: 1"),
        "switch.kmax: at most 50.0 % of the packets are marked: all would be above a queue of "
        "3MB, and at tor0 a queue has room for 2MB");
    check_said(MARKS("pfc: false, port_buffer: 50KB, kmin: 60KB, kmax: 70KB"), "room for 50KB");
    check_none(MARKS("buffer: 2MB, kmin: 1MB, kmax: 1.9MB"));
    check_said(MARKS("buffer: 2MB, kmin: 1MB"),
               "switch.kmax: auto is less than kmin, so it is raised to kmin, 1MB: every packet");
    check_none(MARKS("buffer: 2MB, kmin: 1MB, kmax: 1MB")); /* a step, by the user's own words */
    check_none(MARKS("buffer: 2MB, kmin: 1KB"));
    check_none(MARKS("buffer: 2MB, kmin: 2MB, kmax: 3MB") "congestion_control: none\n");
    check_said(MARKS("buffer: 2MB, threshold: static, xoff: 2MB"),
               "switch.xoff: PAUSEs begin only where nothing is free: they would at 2MB of a "
               "port, and the ports of tor0 share 1.95MB");
    check_none(MARKS("buffer: 2MB, threshold: static, xoff: 1MB"));
    check_none(MARKS("buffer: 2MB, threshold: static"));
    check_none(MARKS("pfc: false") "congestion_control: rogue\n");
    check_said(MARKS("buffer: 52200B"), "switch.buffer: PAUSEs begin with the first packets: of ");
}

#define TIERS(more) RACKS "workload: {type: permutation, bytes: 1KB}\nswitch: {" more "}\n"

/* Each switch is judged by its tier's settings, and the warning names the tier. */
static void test_tiers(void **state)
{
    (void)state;
    check_none(TIERS("spine: {ecn: false}"));
    check_none(TIERS("ecn: false, leaf: {ecn: true}"));
    check_said(TIERS("ecn: false, leaf: {ecn: true, kmin: 100MB}"),
               "switch.leaf.kmin: nothing is ever marked: marks begin above a queue of 100MB, and "
               "at leaf0 ");
    check_said(TIERS("spine: {kmin: 100MB}"), "switch.spine.kmin: nothing is ever marked");
    check_said(TIERS("kmin: 100MB, leaf: {kmin: 5KB}"), "switch.kmin: nothing is ever marked");
    check_said(TIERS("leaf: {kmax: 100MB, pmax: 1}"), "switch.leaf.kmax: at most ");
    check_said(TIERS("spine: {threshold: static, xoff: 100MB}"), "switch.spine.xoff: PAUSEs begin");
    check_none(TIERS("xoff: 20KB, leaf: {threshold: static}"));
    check_none(TIERS("xoff: 20KB, threshold: static, leaf: {threshold: dynamic}"));
}

#define SLOW(more, end)                                                                            \
    "duration: 100us\ntopology: {type: star, hosts: 4, host_rate: 100Gbps}\n"                      \
    "workload: {type: permutation, bytes: 1KB}\n"                                                  \
    "slow_receivers: [{hosts: host1, drain_rate: 10Gbps" more "}]\n" end

static void test_slow_receivers(void **state)
{
    (void)state;
    check_none(SLOW("", ""));
    check_none(SLOW(", buffer: 1MB, xoff: 500KB, xon: 400KB", ""));
    check_said(SLOW(", buffer: 1MB, xoff: 1MB", ""),
               "slow_receivers[0].xoff: PAUSEs come too late to lose nothing: they begin at 1MB of "
               "1MB, and ");
    check_none(SLOW("", "switch: {pfc: false}\n"));
    check_said(SLOW(", xoff: 10KB", "switch: {pfc: false}\n"),
               "slow_receivers[0].xoff: nothing comes of it without PFC");
    check_said(SLOW(", xon: 1KB", "switch: {pfc: false}\n"),
               "slow_receivers[0].xon: nothing comes");
}

#define OF_RATE(rate, more)                                                                        \
    "duration: 100us\ntopology: {type: star, hosts: 4, host_rate: " rate "}\n"                     \
    "workload: {type: permutation, bytes: 1KB}\n" more

/* Parameters that belong to slower links. */
static void test_line_rates(void **state)
{
    (void)state;
    check_said(
        OF_RATE("100Gbps", "congestion_control: {name: dcqcn, preset: paper}\n"),
        "congestion_control: the hosts' links carry 100Gbps: the paper's values are made for "
        "40Gbps; preset: deployed has those of NICs at this rate");
    check_none(OF_RATE("40Gbps", "congestion_control: {name: dcqcn, preset: paper}\n"));
    check_none(OF_RATE("400Gbps", ""));
    check_none(OF_RATE("100Gbps", "congestion_control: timely\n"));
    check_said(OF_RATE("100Gbps", "congestion_control: {name: timely, preset: paper}\n"),
               "congestion_control: the hosts' links carry 100Gbps: delta, by which rates rise, is "
               "less than 1/4000 of that");
    check_none(
        OF_RATE("100Gbps", "congestion_control: {name: timely, preset: paper, delta: 100Mbps}\n"));
    check_none(OF_RATE("40Gbps", "congestion_control: {name: timely, preset: paper}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),           cmocka_unit_test(test_load_of_pods),
        cmocka_unit_test(test_load_of_hosts),  cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_thresholds),     cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_slow_receivers), cmocka_unit_test(test_line_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
