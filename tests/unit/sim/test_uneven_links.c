/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks from a file whose links differ. The link of one host or ToR does not stand for all
 * others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/unfit.h"
#include "sim/scenario/scenario.h"
#include "sim/world/internal.h"
#include "tests/support/test.h"
#include "tests/unit/app/temporary.h"

#define FAST "400Gbps 1us\n"
#define SLOW "25Gbps 1us\n"
/* Storage and GPU servers at one switch, with their lines in two orders. */
#define MIXED_LINKS                                                                                \
    "switch s0\nlink gpu0 s0 " FAST "link gpu1 s0 " FAST "link disk0 s0 " SLOW "link disk1 "       \
    "s0 " SLOW
#define MIXED   "host gpu0\nhost gpu1\nhost disk0\nhost disk1\n" MIXED_LINKS
#define SWAPPED "host disk0\nhost gpu1\nhost gpu0\nhost disk1\n" MIXED_LINKS

struct made {
    struct oche_scenario *scenario;
    struct oche_world *world;
};

/* `rest`: the scenario without its topology. */
static struct made make(const char *topology, const char *rest)
{
    struct oche_error error;
    struct made made;
    char text[2048];

    snprintf(text, sizeof(text), "topology: {type: from_file, file: %s}\n%s",
             temporary_file(topology), rest);
    made.scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
    if (made.scenario == NULL)
        fail_msg("%s", error.text);
    made.world = oche_world_create(&made.scenario->config, &error);
    if (made.world == NULL)
        fail_msg("%s", error.text);
    return made;
}

static void end(struct made *made)
{
    oche_world_free(made->world);
    oche_scenario_close(made->scenario);
    temporary_remove();
}

static uint32_t host(const struct made *made, const char *name)
{
    return oche_topology_find(&made->world->topology, name);
}

/* Returns the bytes of all flows from a host, including flows that the run does not reach. */
static double planned(const struct made *made, const char *name)
{
    struct oche_flow_walk walk = oche_flow_walk(&made->world->flows);
    const struct oche_flow_plan *plan;
    double bytes = 0;

    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        bytes += plan->src == host(made, name) ? (double)plan->bytes : 0;
    return bytes;
}

static void assert_gbps(const struct made *made, const char *name, double expected, double seconds)
{
    double gbps = planned(made, name) * 8 / seconds / 1e9;

    if (gbps < 0.8 * expected || gbps > 1.2 * expected)
        fail_msg("%s offers %.3g Gbit/s, not %.3g", name, gbps, expected);
}

static void test_load_is_of_each_host(void **state)
{
    static const char *const files[] = {MIXED, SWAPPED};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++) {
        struct made made = make(
            files[i], "congestion_control: none\n"
                      "workload: {type: poisson_cdf, cdf: solar2022, load: 20%, stop: 20ms}\n");

        assert_gbps(&made, "gpu0", 80, 0.02);
        assert_gbps(&made, "gpu1", 80, 0.02);
        assert_gbps(&made, "disk0", 5, 0.02);
        assert_gbps(&made, "disk1", 5, 0.02);
        end(&made);
    }
}

/* Each ToR's hosts share its own uplinks, by the rates of their links. */
static void test_load_of_uplinks(void **state)
{
    struct made made =
        make("host a\nhost b\nhost c\nswitch t0 tor\nswitch t1 tor\n"
             "link a t0 10Gbps 1us\nlink b t1 30Gbps 1us\nlink c t1 10Gbps 1us\n"
             "link t0 t1 4Gbps 1us\nlink t0 t1 4Gbps 1us\n",
             "congestion_control: none\nduration: 100ms\n"
             "workload: {type: poisson_cdf, cdf: solar2022, load: 50%, load_of: uplink}\n");

    (void)state;
    assert_gbps(&made, "a", 4, 0.1);
    assert_gbps(&made, "b", 3, 0.1);
    assert_gbps(&made, "c", 1, 0.1);
    end(&made);
}

/* All hosts together offer the load. Hosts drawn at random send equally. */
static void test_load_of_groups(void **state)
{
    struct made made = make(SWAPPED, "congestion_control: none\nduration: 2ms\n"
                                     "workload: {type: incast_groups, degree: 2, load: 40%, "
                                     "share: 0.5, load_of: host}\n");
    double sum = planned(&made, "gpu0") + planned(&made, "gpu1") + planned(&made, "disk0") +
                 planned(&made, "disk1");

    (void)state;
    assert_in_range(sum * 8 / 0.002 / 1e9, 0.9 * 0.2 * 850, 1.1 * 0.2 * 850);
    end(&made);
}

/* Workloads without end continue to the end of the run, on every link. */
static void test_endless(void **state)
{
    static const char *const workloads[] = {
        "transfers, pairs: \"gpu0>gpu1\", bytes: 1MB",
        "closed_cdf, pairs: 12, cdf: solar2022",
        "permutation, messages: 0, bytes: 100KB",
        "background, pairs: 2, bytes: 100KB",
        "incast, back_to_back: true, receiver: random, degree: 3, bytes: 100KB",
        "long_flows, greedy: true, bytes: 100KB"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(workloads); i++) {
        char rest[512];

        snprintf(rest, sizeof(rest),
                 "congestion_control: none\nduration: 1ms\nworkload: {type: %s}\n", workloads[i]);
        struct made made = make(SWAPPED, rest);

        oche_world_run(made.world, NULL, NULL);
        if (oche_world_ended(made.world) != OCHE_END_DURATION || made.world->network.now < OCHE_MS)
            fail_msg("%s ends at %llu ps", workloads[i],
                     (unsigned long long)made.world->network.now);
        if (i == 0) { /* 400 Gbit/s of 1 MB: 20 us each */
            struct oche_nic_stats stats;

            oche_world_host_stats(made.world, host(&made, "gpu1"), &stats);
            assert_true(stats.delivered_bytes > 20000000);
        }
        end(&made);
    }
}

/* Writes a star of hosts; one in the middle of the file is far away. */
static void write_far(char *text, size_t bytes, unsigned hosts, unsigned far, const char *far_link)
{
    size_t used = 0;

    for (unsigned i = 0; i < hosts; i++)
        used += (size_t)snprintf(text + used, bytes - used, "host h%u\n", i);
    used += (size_t)snprintf(text + used, bytes - used, "switch s\n");
    for (unsigned i = 0; i < hosts; i++)
        used += (size_t)snprintf(text + used, bytes - used, "link h%u s %s\n", i,
                                 i == far ? far_link : "100Gbps 1us");
}

/* True if a remark on the network has these words. */
static bool says(const struct made *made, const char *words)
{
    struct oche_unfit unfit;
    bool found = false;

    oche_unfit_take(&unfit, made->world);
    for (unsigned i = 0; i < unfit.count; i++)
        found |= strstr(unfit.text[i], words) != NULL;
    return found;
}

/* Timeouts and windows suit the farthest pair, for any pair of hosts, also above 256 hosts. */
static void test_far_hosts(void **state)
{
    static const unsigned counts[] = {3, 300};
    static char text[32768];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++) {
        write_far(text, sizeof(text), counts[i], counts[i] / 2 + 1 - counts[i] / 3 % 2,
                  "100Gbps 3ms");
        struct made made = make(
            text, "congestion_control: none\nrecovery: selective_repeat\nswitch: {pfc: false}\n"
                  "workload: {type: transfers, pairs: \"h0>h1\", messages: 1}\n");
        struct oche_recovery_network network = oche_world_recovery_network(made.world);

        assert_in_range(network.round_trip, 6 * OCHE_MS, 7 * OCHE_MS);
        assert_in_range(network.packets, 60000, 80000); /* of about 1,100 bytes */
        assert_true(oche_world_host_params(made.world)->ack_timeout >= 24 * OCHE_MS);
        assert_true(says(&made, "more than window can be (4,096), so that one queue pair never "
                                "fills the link; a larger host.mtu, or recovery: go_back_n"));
        end(&made);
    }
}

/* A slow host far away lengthens timeouts, and the windows of its own rate. */
static void test_slow_host_far_away(void **state)
{
    static char text[4096];

    (void)state;
    write_far(text, sizeof(text), 5, 3, "1Gbps 3ms");
    struct made made =
        make(text, "congestion_control: none\nrecovery: selective_repeat\nswitch: {pfc: false}\n"
                   "workload: {type: transfers, pairs: \"h0>h1\", messages: 1}\n");

    assert_in_range(oche_world_recovery_network(made.world).packets, 600, 800);
    end(&made);
}

/* A remark on the rate names a host that has this rate. */
static void test_rate_remark(void **state)
{
    static const char *const files[] = {MIXED, SWAPPED};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++) {
        struct made made =
            make(files[i], "congestion_control: {name: dcqcn, preset: paper}\n"
                           "workload: {type: transfers, pairs: \"gpu0>gpu1\", messages: 1}\n");

        assert_true(says(&made, "some hosts' links carry 400Gbps"));
        end(&made);
    }
}

/* The name of parallel links means both; with a number it means one of them. */
static void test_parallel_links_fail(void **state)
{
    static const struct {
        const char *link;
        uint64_t lost; /* at least; 0: nothing */
    } cases[] = {{"t0:t1", 1}, {"t0:t1/1", 0}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        char rest[512];

        snprintf(rest, sizeof(rest),
                 "congestion_control: none\nduration: 1ms\n"
                 "workload: {type: transfers, pairs: \"a>b\", bytes: 1MB}\n"
                 "failures: [{link: \"%s\", at: 1us}]\nroutes: {reroute: 0}\n",
                 cases[i].link);
        struct made made = make("host a\nhost b\nswitch t0\nswitch t1\nlink a t0 10Gbps 1us\n"
                                "link b t1 10Gbps 1us\nlink t0 t1 10Gbps 1us\n"
                                "link t0 t1 10Gbps 1us\n",
                                rest);
        struct oche_nic_stats stats;

        oche_world_run(made.world, NULL, NULL);
        oche_world_host_stats(made.world, host(&made, "b"), &stats);
        if (cases[i].lost > 0)
            assert_true(stats.delivered_bytes < 10000);
        else
            assert_true(stats.delivered_bytes > 100000);
        end(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_load_is_of_each_host),
                                       cmocka_unit_test(test_load_of_uplinks),
                                       cmocka_unit_test(test_load_of_groups),
                                       cmocka_unit_test(test_endless),
                                       cmocka_unit_test(test_far_hosts),
                                       cmocka_unit_test(test_slow_host_far_away),
                                       cmocka_unit_test(test_rate_remark),
                                       cmocka_unit_test(test_parallel_links_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
