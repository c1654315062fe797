/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RCP over seeds, with random networks, gains, periods, least rates, sizes and losses. Whenever a
 * sender's rate changes, the rate of every switch port is within [R_min, C]. The sender's rate is
 * at most the least of these and of its line. All that is sent is delivered.
 */
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "fabric/rcp_rate.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"

#define SEEDS 300
#define FLOWS 24

struct watch {
    const struct small_world *small;
    uint64_t minimum, seen, at_line, at_minimum;
};

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void check_ports(struct watch *watch)
{
    const struct oche_world *world = watch->small->world;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        uint32_t node = world->topology.host_count + i;
        const struct oche_switch *sw = world->switches[i];

        for (unsigned port = 0; port < sw->port_count; port++) {
            uint64_t line = oche_topology_port_link(&world->topology, node, port)->rate_bps;
            uint64_t rate = oche_rcp_rate_of(sw->mechanisms[0].state, port);
            assert_in_range(rate, lower(watch->minimum, line), line);
            watch->at_line += rate == line;
            watch->at_minimum += rate == watch->minimum;
        }
    }
}

static void sink(void *context, uint32_t node, const struct oche_trace_record *event)
{
    struct watch *watch = context;
    const struct oche_world *world = watch->small->world;

    if (event->kind != OCHE_TRACE_RATE_CHANGED || world == NULL)
        return;
    uint64_t line = oche_topology_port_link(&world->topology, node, 0)->rate_bps;
    uint64_t least = lower(watch->minimum, line / 20);
    watch->seen++;
    assert_in_range(event->b, least - least % OCHE_RATE_UNIT_BPS, line);
    if (watch->seen % 16 == 0)
        check_ports(watch);
}

static void one(uint64_t seed, struct watch *watch)
{
    static const char *const topologies[] = {"star", "dumbbell", "parking_lot", "leaf_spine"};
    static const oche_time periods[] = {0, OCHE_US, 7 * OCHE_US, OCHE_MS};
    struct oche_random random = oche_random_stream(seed, "rcp worlds", 0);
    struct oche_flow_plan flows[FLOWS];
    struct small_world small;
    struct oche_rcp_rate_params *params;
    bool meet = seed % 2 == 0; /* at one receiver, and at the same time */

    small_world_init(&small, topologies[oche_random_below(&random, 4)], "rcp", "go_back_n");
    params = small.mechanism_params;
    params->alpha = oche_random_unit(&random) * (oche_random_below(&random, 8) == 0 ? 16 : 1);
    params->beta = oche_random_unit(&random) * (oche_random_below(&random, 8) == 0 ? 16 : 1);
    params->period = periods[oche_random_below(&random, 4)];
    params->minimum_bps = (1 + oche_random_below(&random, 300)) * 10 * OCHE_MBPS;
    watch->minimum = params->minimum_bps;
    watch->small = &small;
    small.sink = sink;
    small.sink_context = watch;
    small.config.seed = seed;
    small.config.run.duration = 50 * OCHE_MS;
    small.config.hosts.ack_every_packets = 1 + oche_random_below(&random, 20);
    small.config.hosts.connections =
        oche_random_below(&random, 2) ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    small.config.hosts.ack_timeout = OCHE_MS;
    if (oche_random_below(&random, 2))
        small.config.loss.probability = 0.002;
    for (uint32_t i = 0; i < FLOWS; i++) {
        uint32_t src = 1 + (uint32_t)oche_random_below(&random, 3);
        uint32_t dst = meet ? 0 : (src + 1 + (uint32_t)oche_random_below(&random, 3)) % 4;
        uint64_t bytes = 1 + oche_random_below(&random, 100000);
        flows[i] =
            small_flow(src, dst, bytes, oche_random_below(&random, (meet ? 20 : 1000) * OCHE_US));
    }
    small_world_run(&small, flows, FLOWS);
    check_ports(watch);
    for (uint32_t i = 0; i < FLOWS; i++)
        if (small.world->flows.received[i].delivered == OCHE_NEVER)
            fail_msg("seed %llu: flow %u has not arrived", (unsigned long long)seed, i);
    small_world_end(&small);
    small_world_free(&small);
}

static void within_bounds(void **state)
{
    struct watch watch = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(SEEDS); seed++)
        one(seed, &watch);
    print_message("%llu changes of rate; ports at the line %llu times, at the least rate %llu\n",
                  (unsigned long long)watch.seen, (unsigned long long)watch.at_line,
                  (unsigned long long)watch.at_minimum);
    assert_true(watch.seen > seeds_least(10000));
    assert_true(watch.at_line > seeds_least(1000)); /* both bounds were met */
    assert_true(watch.at_minimum > seeds_least(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(within_bounds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
