/* SPDX-License-Identifier: Apache-2.0 */
/* The prediction of a run's work is right, and long runs are announced before they start. */
#include "lab/measures/long_run.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

struct opened {
    struct oche_scenario *scenario;
    struct oche_world *world;
};

static struct opened open_text(const char *text)
{
    struct oche_error error;
    struct opened opened = {oche_scenario_parse("s.yaml", text, strlen(text), &error), NULL};

    if (opened.scenario == NULL)
        fail_msg("%s", error.text);
    opened.world = oche_world_create(&opened.scenario->config, &error);
    if (opened.world == NULL)
        fail_msg("%s", error.text);
    return opened;
}

static void close_all(struct opened *opened)
{
    oche_world_free(opened->world);
    oche_scenario_close(opened->scenario);
}

#define STAR  "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n"
#define RACKS "topology: {type: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"

static void test_estimate(void **state)
{
    static const char *const texts[] = {
        STAR "workload: {type: permutation, bytes: 1MB}\n",
        STAR "workload: {type: permutation, bytes: 1MB}\nhost: {ack_every: 8}\n",
        /* Longer than the run: the links' capacity counts. */
        STAR "workload: {type: permutation, bytes: 1GB}\nduration: 1ms\n",
        STAR "workload: {type: poisson_cdf, load: 50%, load_of: host, cdf: "
             "alistorage2019}\nduration: 3ms\n",
        STAR "workload: {type: long_flows, load: 50%, load_of: host}\nduration: 1ms\n",
        RACKS "workload: {type: permutation, bytes: 1MB}\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        struct opened opened = open_text(texts[i]);
        char text[OCHE_LONG_RUN_BYTES];
        double said = oche_world_estimate_work(opened.world).hops;

        assert_false(oche_long_run_remark(opened.world, text));
        oche_world_run(opened.world, NULL, NULL);
        double came = (double)oche_network_hops(oche_world_network(opened.world));

        if (said < came / 2 || said > came * 3)
            fail_msg("%s: %.0f said, %.0f came", texts[i], said, came);
        close_all(&opened);
    }
}

static void check_said(const char *text, const char *expected)
{
    struct opened opened = open_text(text);
    char said[OCHE_LONG_RUN_BYTES] = "nothing";

    oche_long_run_remark(opened.world, said);
    if (strstr(said, expected) == NULL)
        fail_msg("%s", said);
    close_all(&opened);
}

static void test_remarks(void **state)
{
    (void)state;
    check_said(STAR "workload: {type: permutation, bytes: 2GB, messages: 100}\n",
               "ahead: some 3.1e+09 packet-hops, at four million a second 13 min; Ctrl-C");
#define LOSS STAR "workload: {type: permutation, bytes: 1MB}\nloss: {probability: 1%}\n"
    check_said(LOSS "recovery: go_back_0\n",
               "recovery: go_back_0 begins a message again at each loss, and with loss.probability "
               "1.00 % one of 1.84e+04 tries at 1MB meets none");
    check_said(LOSS "recovery: go_back_0\nduration: 1ms\n", "nothing");
    check_said(LOSS "recovery: go_back_n\n", "nothing");
    check_said(LOSS "recovery: go_back_0\ncongestion_control: tcp\n", "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_remarks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
