/* SPDX-License-Identifier: Apache-2.0 */
/* Retransmissions and timeouts, flow by flow, also of flows that are not completed. */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

struct counted {
    uint64_t flows, unfinished, retransmitted, timeouts;
    uint64_t again_unfinished; /* packets sent again and timeouts of unfinished flows */
    struct oche_world_totals totals;
};

/* Runs a star of 4 hosts, and adds up the flows' counters. */
static struct counted run(const char *rest)
{
    struct counted counted = {.flows = 0};
    struct oche_error error;
    char text[1024];

    snprintf(text, sizeof(text), "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n%s", rest);
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s: %s", rest, error.text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s: %s", rest, error.text);
    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &counted.totals);
    const struct oche_flows *flows = oche_world_flows(world);

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_sent *sent = &flows->sent[i];
        bool unfinished = sent->started != OCHE_NEVER && sent->completed == OCHE_NEVER;

        counted.flows++;
        counted.unfinished += unfinished;
        counted.retransmitted += sent->retransmitted_packets;
        counted.timeouts += sent->timeouts;
        if (unfinished)
            counted.again_unfinished += sent->retransmitted_packets + sent->timeouts;
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    return counted;
}

#define LOSSY   "duration: 2ms\nloss: {probability: 1%}\n"
#define CUT     "duration: 60ms\nfailures: [{switch: tor0, at: 1ms}]\n"
#define SHIFTED "workload: {type: permutation, pattern: shift, bytes: 5MB}\n"
/* Flows that share their connections, some of them completed */
#define SHORT "workload: {type: permutation, pattern: shift, bytes: 100KB, messages: 40}\n"
#define PAIRS "host: {connections: per_pair}\nworkload: {type: poisson_cdf, load: 90%}\n"

/* The flows' counters add up to the hosts', also if the run ends before the flows do. */
static void test_adds_up(void **state)
{
    static const char *const all[] = {
        LOSSY SHIFTED,
        LOSSY SHIFTED "recovery: selective_repeat\n",
        LOSSY SHIFTED "recovery: go_back_0\n",
        LOSSY SHIFTED "recovery: improved_go_back_n\n",
        LOSSY SHORT,
        LOSSY SHORT "host: {connections: per_pair}\n",
        LOSSY PAIRS,
        LOSSY SHIFTED "congestion_control: tcp\n",
        LOSSY SHORT "congestion_control: dctcp\n",
        LOSSY SHIFTED "congestion_control: rogue\n",
        LOSSY SHIFTED "congestion_control: expresspass\n",
        CUT SHIFTED,
        CUT SHIFTED "congestion_control: tcp\n",
        CUT SHIFTED "congestion_control: rogue\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        struct counted counted = run(all[i]);

        if (counted.unfinished == 0 || counted.again_unfinished == 0)
            fail_msg("%s: %llu unfinished flows, which sent nothing again", all[i],
                     (unsigned long long)counted.unfinished);
        if (counted.retransmitted != counted.totals.nic.retransmitted_packets ||
            counted.timeouts != counted.totals.nic.timeouts)
            fail_msg("%s: %llu packets, %llu timeouts of flows; %llu, %llu of hosts", all[i],
                     (unsigned long long)counted.retransmitted,
                     (unsigned long long)counted.timeouts,
                     (unsigned long long)counted.totals.nic.retransmitted_packets,
                     (unsigned long long)counted.totals.nic.timeouts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_adds_up)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
