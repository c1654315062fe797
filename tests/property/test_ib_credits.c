/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links with credits, over seeds, with random networks, schemes and buffers. No packet is dropped,
 * no buffer holds more than was granted, everything arrives, and nothing is left. Links that lose
 * packets do not lose credit. Results are the same on several threads, and when every packet
 * crosses links as bytes. If a buffer is smaller than a link's round trip, the throughput is one
 * buffer for each round trip.
 *
 * usage: test_ib_credits [SEED]     that seed alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ib_credits.h"
#include "fabric/registry.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

/* With ThreadSanitizer only the parts that use threads are run. */
#define FOR_RACES false
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef FOR_RACES
#define FOR_RACES true
#endif
#endif

#define SEEDS           150
#define FLOWS           24
#define LEAST_THAT_WAIT 75 /* of the seeds */

struct world {
    struct small_world small;
    struct oche_ib_credits_params credits;
    const struct oche_switch_mechanism *mechanisms[2];
    const void *mechanism_params[2];
    struct oche_flow_plan flows[FLOWS];
};

#define PORTS 4096

/* The results that two runs of one world must share: all counters, and what each port sent. */
struct outcome {
    struct oche_world_totals totals;
    uint64_t line_bytes[PORTS];
    uint64_t fcps, waits;
};

static uint32_t hosts_of(const struct small_world *small)
{
    const struct oche_world_config *config = &small->config;
    struct oche_topology topology;
    struct oche_error error;
    uint32_t count;

    if (!config->topology->build(config->topology_params, &topology, &error))
        fail_msg("%s", error.text);
    count = topology.host_count;
    oche_topology_free(&topology);
    return count;
}

/* Adds the credits' mechanism. A mechanism of the congestion control comes after it in the list. */
static void add_credits(struct world *world)
{
    struct small_world *small = &world->small;
    struct oche_world_config *config = &small->config;

    oche_param_defaults(oche_ib_credits.params, &world->credits);
    world->mechanisms[0] = &oche_ib_credits;
    world->mechanism_params[0] = &world->credits;
    if (config->mechanism_count > 0) {
        world->mechanisms[1] = small->mechanism;
        world->mechanism_params[1] = small->mechanism_params;
    }
    config->mechanisms = world->mechanisms;
    config->mechanism_params = world->mechanism_params;
    config->mechanism_count++;
}

static void make_flows(struct world *world, struct oche_random *random)
{
    uint32_t hosts = hosts_of(&world->small);
    bool meet = oche_random_below(random, 2); /* at one receiver, and at the same time */

    for (uint32_t i = 0; i < FLOWS; i++) {
        uint32_t dst = meet ? 0 : (uint32_t)oche_random_below(random, hosts);
        uint32_t src = (dst + 1 + (uint32_t)oche_random_below(random, hosts - 1)) % hosts;

        world->flows[i] = small_flow(src, dst, 1 + oche_random_below(random, 200000),
                                     oche_random_below(random, (meet ? 20 : 200) * OCHE_US));
    }
}

static void make(struct world *world, uint64_t seed)
{
    static const char *const topologies[] = {"star",       "dumbbell", "parking_lot",
                                             "leaf_spine", "fat_tree", "clos"};
    static const char *const schemes[] = {"none", "dcqcn", "ib_cc", "dart"};
    static const uint64_t mtus[] = {256, 1024, 4096};
    struct oche_random random = oche_random_stream(seed, "credit worlds", 0);
    struct small_world *small = &world->small;
    struct oche_host_params *hosts = &small->config.hosts;

    small_world_init(small, topologies[oche_random_below(&random, 6)],
                     schemes[oche_random_below(&random, 4)], "go_back_n");
    add_credits(world);
    small->config.seed = seed;
    small->config.run.duration = 25 * OCHE_MS;
    hosts->mtu_bytes = mtus[oche_random_below(&random, 3)];
    hosts->ack_every_packets = 1 + oche_random_below(&random, 8);
    hosts->ack_timeout = OCHE_MS;
    hosts->connections =
        oche_random_below(&random, 2) ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    hosts->feedback_jitter = oche_random_below(&random, 4) == 0 ? 3 * OCHE_US : 0;
    world->credits.buffer_bytes = 2 * (hosts->mtu_bytes + 160) + oche_random_below(&random, 40000);
    world->credits.update_bytes =
        oche_random_below(&random, 2) ? oche_random_below(&random, hosts->mtu_bytes) : 0;
    make_flows(world, &random);
}

static void unmake(struct world *world)
{
    small_world_free(&world->small);
}

/* At the end nothing waits, and no buffer has held more than was granted. */
static void run(struct world *world, uint64_t seed, struct outcome *outcome)
{
    struct small_world *small = &world->small;
    const struct oche_topology *topology;
    uint64_t counted[OCHE_IB_CREDITS_COUNTERS];

    memset(outcome, 0, sizeof(*outcome));

    small_world_run(small, world->flows, FLOWS);
    topology = oche_world_topology(small->world);
    for (uint32_t i = 0; i < FLOWS; i++)
        if (oche_world_flows(small->world)->received[i].delivered == OCHE_NEVER)
            fail_msg("test_ib_credits %llu: flow %u has not arrived%s", (unsigned long long)seed, i,
                     small->config.loss.probability > 0 ? ", with losses" : "");
    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        if (small->totals.drops[cause] > 0)
            fail_msg("test_ib_credits %llu: dropped, cause %u", (unsigned long long)seed, cause);
    assert_int_equal(small->totals.pauses_sent, 0);
    for (uint32_t s = 0; s < topology->switch_count; s++) {
        const struct oche_switch *sw = oche_world_switch(small->world, s);

        if (!small->config.run.stop_when_done)
            assert_int_equal(oche_switch_occupied_bytes(sw), 0);
        oche_switch_mechanism_counters(sw, 0, counted);
        assert_in_range(counted[OCHE_IB_CREDITS_PEAK], 0, world->credits.buffer_bytes);
        outcome->fcps += counted[OCHE_IB_CREDITS_FCPS];
        outcome->waits += counted[OCHE_IB_CREDITS_WAITS];
    }
    outcome->totals = small->totals;
    assert_in_range(oche_world_network(small->world)->port_count, 1, PORTS);
    for (uint32_t port = 0; port < oche_world_network(small->world)->port_count; port++)
        outcome->line_bytes[port] = oche_world_line_bytes(small->world, port);
    small_world_end(small);
}

static void assert_same(struct world *world, uint64_t seed, const struct outcome *wanted)
{
    static struct outcome outcome;

    run(world, seed, &outcome);
    if (memcmp(&outcome, wanted, sizeof(outcome)) != 0)
        fail_msg("test_ib_credits %llu: %u threads, bytes %d: another outcome, packet-hops %llu "
                 "and %llu, FCPs %llu and %llu",
                 (unsigned long long)seed, world->small.config.threads,
                 world->small.config.run.bytes, (unsigned long long)wanted->totals.hops,
                 (unsigned long long)outcome.totals.hops, (unsigned long long)wanted->fcps,
                 (unsigned long long)outcome.fcps);
}

/* True if the world is run on several threads as well. */
static bool on_threads(uint64_t seed)
{
    return seed % 5 == 3;
}

static bool one(uint64_t seed)
{
    static struct outcome outcome;
    struct world world = {0};

    make(&world, seed);
    run(&world, seed, &outcome);
    assert_true(outcome.fcps > 0);
    if (seed % 4 == 0) {
        world.small.config.run.bytes = true;
        assert_same(&world, seed, &outcome);
        world.small.config.run.bytes = false;
    }
    if (on_threads(seed)) {
        world.small.config.run.stop_when_done = seed % 10 == 3;
        run(&world, seed, &outcome);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            world.small.config.threads = threads;
            assert_same(&world, seed, &outcome);
        }
        world.small.config.threads = 1;
    }
    if (seed % 4 == 1) {
        world.small.config.run.duration = 200 * OCHE_MS;
        world.small.config.run.stop_when_done = true;
        world.small.config.loss.probability = 0.01;
        run(&world, seed, &outcome);
    }
    unmake(&world);
    return outcome.waits > 0;
}

static void test_worlds(void **state)
{
    unsigned waited = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= seeds_of(SEEDS); seed++)
        if (!FOR_RACES || on_threads(seed))
            waited += one(seed);
    print_message("%u of %u worlds wait for credits\n", waited, (unsigned)seeds_of(SEEDS));
    assert_true(FOR_RACES || waited >= seeds_least(LEAST_THAT_WAIT));
}

/* Time that 8 MB take from one host to another over a switch, every link so long. */
static oche_time takes(uint64_t buffer, uint64_t update, oche_time delay, uint64_t *frame)
{
    struct world world = {0};
    struct small_world *small = &world.small;
    struct oche_flow_plan flow = small_flow(0, 1, 8000000, 0);
    oche_time time;

    small_world_init(small, "star", "none", "go_back_n");
    small_world_topology(small, "hosts", 2);
    small_world_topology(small, "host_rate", 100 * OCHE_GBPS);
    small_world_topology(small, "delay", delay);
    add_credits(&world);
    world.credits.buffer_bytes = buffer;
    world.credits.update_bytes = update;
    small->config.run.duration = OCHE_SEC;
    small->config.run.stop_when_done = true;
    small->config.hosts.mtu_bytes = 1000;
    *frame = OCHE_ETH_BYTES + OCHE_IPV4_BYTES + OCHE_UDP_BYTES + OCHE_BTH_BYTES + 1000 +
             OCHE_ICRC_BYTES + OCHE_FCS_BYTES;
    small_world_run(small, &flow, 1);
    time = oche_world_flows(small->world)->received[0].delivered;
    assert_true(time != OCHE_NEVER);
    small_world_end(small);
    small_world_free(small);
    return time;
}

/*
 * A round trip of credit: a packet is sent and travels, the switch sends it on, the FCP is sent and
 * travels. In that time a host sends what it has credit for, as long as a largest packet fits.
 */
static void test_throughput(void **state)
{
    static const oche_time delays[] = {5 * OCHE_US, 20 * OCHE_US};
    static const uint64_t packets[] = {2, 5, 20, 60};
    const uint64_t rate = 100 * OCHE_GBPS;

    (void)state;
    if (FOR_RACES)
        skip();
    for (unsigned d = 0; d < 2; d++)
        for (unsigned p = 0; p < 4; p++) {
            uint64_t frame, blocks = 17; /* blocks of a packet of 1062 bytes */
            uint64_t buffer = (packets[p] * blocks + 1) * OCHE_IB_BLOCK_BYTES;
            oche_time time = takes(buffer, 1, delays[d], &frame);
            oche_time round = 2 * delays[d] + oche_time_of_bytes(frame + OCHE_GAP_BYTES, rate) +
                              oche_time_of_bytes(OCHE_IB_FCP_BYTES + OCHE_GAP_BYTES, rate);
            double wanted = 8000.0 / (double)packets[p] * (double)round;

            assert_int_equal(oche_ib_blocks((uint32_t)frame), blocks);
            if ((double)time < wanted * 0.99 || (double)time > wanted * 1.02)
                fail_msg("%llu packets of buffer, %llu us: %g us, by rule %g us",
                         (unsigned long long)packets[p], (unsigned long long)(delays[d] / OCHE_US),
                         (double)time / OCHE_US, wanted / OCHE_US);
        }
}

/*
 * If credits are reported in quarters of the buffer, the throughput lies between that of three
 * quarters of the buffer and that of the whole buffer.
 */
static void test_quarters(void **state)
{
    const uint64_t rate = 100 * OCHE_GBPS;
    const double all = 65536.0 / (17 * 64); /* packets */
    const oche_time delay = 10 * OCHE_US;
    uint64_t frame;

    (void)state;
    if (FOR_RACES) /* one thread */
        skip();

    oche_time time = takes(65536, 0, delay, &frame);
    double round = (double)(2 * delay + oche_time_of_bytes(frame + 20, rate));

    assert_true((double)time > 8000.0 / all * round);
    assert_true((double)time < 8000.0 / (all * 0.75) * round * 1.05);
}

/* Room for what a link holds in a round trip, and for a quarter more: as if there were no credits.
 */
static void test_enough(void **state)
{
    const uint64_t rate = 100 * OCHE_GBPS;
    uint64_t frame;

    (void)state;
    if (FOR_RACES) /* one thread */
        skip();

    oche_time time = takes(65536, 0, OCHE_US, &frame);
    double line = (double)oche_time_of_bytes(8000 * (frame + OCHE_GAP_BYTES), rate);

    assert_true((double)time < line * 1.01 + 4 * OCHE_US);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worlds),
        cmocka_unit_test(test_throughput),
        cmocka_unit_test(test_quarters),
        cmocka_unit_test(test_enough),
    };

    if (argc == 2) {
        printf("%s\n", one(strtoull(argv[1], NULL, 10)) ? "waits for credits" : "does not wait");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
