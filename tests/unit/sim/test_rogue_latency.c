/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host latencies below RoGUE's library (rogue.md#host-latency): what a verb alone takes, what its
 * round trip is computed as, and that connections recover from losses with them.
 */
#include <string.h>

#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

enum mode { WRITES, READS, UNRELIABLE, MODES };

struct latencies {
    oche_time doorbell, dma, completion;
};

static const struct latencies latencies_of[] = {
    {700 * OCHE_NS + 1, 0, 0},
    {0, 900 * OCHE_NS + 3, 0},
    {0, 0, 1100 * OCHE_NS + 7},
    {OCHE_US, 2 * OCHE_US, 3 * OCHE_US},
};

static struct small_world small;

static void open_world(enum mode mode, const struct latencies *latencies)
{
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", 4);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    if (mode == READS)
        small_world_cc(&small, "verb", OCHE_ROGUE_READS);
    if (mode == UNRELIABLE)
        small_world_cc(&small, "transport", ROGUE_UC);
    small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
    small.config.hosts.doorbell_latency = latencies->doorbell;
    small.config.hosts.dma_latency = latencies->dma;
    small.config.hosts.completion_latency = latencies->completion;
    small.config.run.duration = OCHE_SEC;
}

static void close_world(void)
{
    small_world_end(&small);
    small_world_free(&small);
}

struct took {
    oche_time delivered, completed, ideal, rtt;
};

static struct took alone(enum mode mode, uint64_t bytes, const struct latencies *latencies)
{
    const struct oche_flow_plan flow = small_flow(0, 1, bytes, 0);

    open_world(mode, latencies);
    small_world_run(&small, &flow, 1);
    const struct oche_rtt_chunk *rtts = oche_world_rtts(small.world, 0);
    assert_int_equal(small.totals.flows_completed, 1);
    assert_non_null(rtts);
    assert_int_equal(rtts->count, 1);
    const struct took took = {small.world->flows.received[0].delivered,
                              small.world->flows.sent[0].completed,
                              oche_world_ideal_time(small.world, 0), rtts->samples[0].rtt};
    close_world();
    return took;
}

/*
 * The NIC's time stamp of a READ is after two memories, that of a WRITE after one. On UC a round
 * trip begins when the data has left, and has the server's memory and the doorbell of its answer.
 * The time that the server's library has had is not part of it; an answer says that time in units
 * of 16 ns.
 */
static void a_verb_alone_is_exact(void **state)
{
    static const uint64_t sizes[] = {64, 1024, 30000};
    static const struct latencies none = {0};

    (void)state;
    for (enum mode mode = WRITES; mode < MODES; mode++)
        for (size_t b = 0; b < OCHE_COUNT_OF(sizes); b++) {
            const struct took without = alone(mode, sizes[b], &none);

            for (size_t i = 0; i < OCHE_COUNT_OF(latencies_of); i++) {
                const struct latencies *of = &latencies_of[i];
                const struct took with = alone(mode, sizes[b], of);
                const oche_time way = of->doorbell + 2 * of->dma;
                const oche_time trip = mode == READS ? way : of->doorbell + of->dma;
                const oche_time unit = mode == UNRELIABLE ? 16 * OCHE_NS : 0;

                assert_true(with.delivered ==
                            without.delivered + way + (mode == READS ? of->completion : 0));
                assert_true(with.ideal == without.ideal + way);
                assert_true(with.completed == without.completed + (mode == UNRELIABLE ? 2 : 1) *
                                                                      (trip + of->completion));
                assert_in_range(with.rtt + unit, without.rtt + trip, without.rtt + trip + 2 * unit);
            }
        }
}

static uint64_t count_of(const char *name)
{
    const struct oche_counters *counters = small.totals.counters;

    for (unsigned i = 0; i < counters->count; i++)
        if (strcmp(counters->rows[i].name, name) == 0)
            return small.totals.counted[i];
    fail_msg("no counter %s", name);
    return 0;
}

/*
 * Long flows, short ones that follow later, and losses: queue pairs fail, shadows take over, and
 * ends are parked. All arrives, each byte once in the application's eyes.
 */
static void connections_recover(void **state)
{
    static const struct latencies some[] = {
        {OCHE_US, OCHE_US, OCHE_US}, {0, 300 * OCHE_US, 0}, {40 * OCHE_US, 0, 70 * OCHE_US}};
    enum { FLOWS = 60 };
    static struct oche_flow_plan flows[FLOWS];
    uint64_t switches = 0;

    (void)state;
    for (enum mode mode = WRITES; mode <= READS; mode++)
        for (size_t i = 0; i < OCHE_COUNT_OF(some); i++)
            for (unsigned per = OCHE_CONNECTION_PER_FLOW; per <= OCHE_CONNECTION_PER_PAIR; per++) {
                open_world(mode, &some[i]);
                for (uint32_t f = 0; f < FLOWS; f++)
                    flows[f] = small_flow(f % 3, 3, f % 5 == 0 ? 400000 : 1000, f * 700 * OCHE_US);
                small.losses[0] = (struct small_world_loss){"host3", "every 13"};
                small.losses[1] = (struct small_world_loss){"host0", "every 29"};
                small.config.hosts.connections = per;
                small.config.hosts.ack_timeout = 2 * OCHE_MS;
                small_world_cc(&small, "hardware_retries", 0);
                small_world_run(&small, flows, FLOWS);
                assert_int_equal(small.totals.flows_completed, FLOWS);
                assert_int_equal(small.totals.live_packets, 0);
                assert_int_equal(count_of("missing_bytes"), 0);
                switches += count_of("switches");
                for (uint32_t f = 0; f < FLOWS; f++)
                    assert_true(small.world->flows.received[f].delivered -
                                    small.world->flows.sent[f].started >=
                                oche_world_ideal_time(small.world, f));
                close_world();
            }
    assert_true(switches > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verb_alone_is_exact),
        cmocka_unit_test(connections_recover),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
