/* SPDX-License-Identifier: Apache-2.0 */
/* Host latencies: what a flow takes with them, to the picosecond, and what else they change. */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

struct latencies {
    oche_time doorbell, dma, completion;
};

static const struct latencies latencies_of[] = {
    {700 * OCHE_NS + 1, 0, 0},        {0, 900 * OCHE_NS + 3, 0}, {0, 0, 1100 * OCHE_NS + 7},
    {OCHE_US, 2 * OCHE_US, OCHE_US},  {0, 60 * OCHE_US, 0}, /* an ACK comes before the delivery */
    {300 * OCHE_NS, 50 * OCHE_US, 1},
};

static void open_star(struct small_world *small, const struct latencies *latencies)
{
    small_world_init(small, "star", "none", "go_back_n");
    small_world_topology(small, "hosts", 4);
    small->config.hosts.doorbell_latency = latencies->doorbell;
    small->config.hosts.dma_latency = latencies->dma;
    small->config.hosts.completion_latency = latencies->completion;
}

/* When a flow is delivered, and when it is completed, since its start. */
struct took {
    oche_time delivered, completed, ideal;
};

static struct took alone(enum oche_verb verb, uint64_t bytes, const struct latencies *latencies)
{
    struct oche_flow_plan flow = small_flow(0, 1, bytes, 3 * OCHE_US);
    struct small_world small;

    flow.verb = (uint8_t)verb;
    open_star(&small, latencies);
    small_world_run(&small, &flow, 1);
    const struct oche_flows *flows = oche_world_flows(small.world);
    const oche_time started = flows->sent[0].started;
    const struct took took = {flows->received[0].delivered - started,
                              flows->sent[0].completed - started,
                              oche_world_ideal_time(small.world, 0)};
    assert_true(started == 3 * OCHE_US);
    assert_int_equal(small.totals.flows_completed, 1);
    assert_int_equal(small.totals.live_packets, 0);
    assert_int_equal(oche_network_pending_deliveries(oche_world_network(small.world)), 0);
    small_world_end(&small);
    small_world_free(&small);
    return took;
}

/*
 * Alone a flow takes what it takes without latencies, and in addition the doorbell and two
 * transactions with memory, one at each end. The program has the completion when the ACK has come
 * or, for a READ, when the data is in memory, and the completion's latency after that.
 */
static void alone_is_exact(void **state)
{
    static const uint64_t sizes[] = {1, 1024, 5000, 300000};
    static const struct latencies none = {0};

    (void)state;
    for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++)
        for (size_t b = 0; b < OCHE_COUNT_OF(sizes); b++) {
            const struct took without = alone(verb, sizes[b], &none);

            assert_true(without.delivered == without.ideal);
            for (size_t i = 0; i < OCHE_COUNT_OF(latencies_of); i++) {
                const struct latencies *of = &latencies_of[i];
                const struct took with = alone(verb, sizes[b], of);
                const unsigned memories = verb == OCHE_VERB_READ ? 2 : 1;

                assert_true(with.delivered == without.delivered + of->doorbell + 2 * of->dma);
                assert_true(with.ideal == with.delivered);
                assert_true(with.completed ==
                            without.completed + of->doorbell + memories * of->dma + of->completion);
            }
        }
}

/* A flow that follows starts when the program has the completion, not before. */
static void the_next_waits_for_the_program(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(0, 1, 5000, 0), small_flow(0, 1, 5000, OCHE_NEVER)};

    (void)state;
    flows[0].then_same_source = 1;
    for (unsigned per = OCHE_CONNECTION_PER_FLOW; per <= OCHE_CONNECTION_PER_PAIR; per++)
        for (size_t i = 0; i < OCHE_COUNT_OF(latencies_of); i++) {
            struct small_world small;

            open_star(&small, &latencies_of[i]);
            small.config.hosts.connections = per;
            small_world_run(&small, flows, 2);
            const struct oche_flows *of = oche_world_flows(small.world);
            assert_true(of->sent[1].started == of->sent[0].completed);
            for (uint32_t f = 0; f < 2; f++)
                assert_true(of->received[f].delivered - of->sent[f].started ==
                            oche_world_ideal_time(small.world, f));
            small_world_end(&small);
            small_world_free(&small);
        }
}

/*
 * Transactions are pipelined: 40 messages that are posted at once, more than the send queue holds,
 * take one latency in all, whatever the verb. On a queue pair they keep their order.
 */
static void latencies_cost_no_throughput(void **state)
{
    enum { MESSAGES = 40 };
    static const struct latencies none = {0}, some = {OCHE_US, 3 * OCHE_US, 20 * OCHE_US};
    struct oche_flow_plan flows[MESSAGES];

    (void)state;
    for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++) {
        oche_time last[2];

        for (unsigned with = 0; with < 2; with++) {
            struct small_world small;

            for (uint32_t f = 0; f < MESSAGES; f++) {
                flows[f] = small_flow(0, 1, 5000, 0);
                flows[f].verb = (uint8_t)verb;
            }
            open_star(&small, with ? &some : &none);
            small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
            small.config.hosts.outstanding_reads = MESSAGES;
            small_world_run(&small, flows, MESSAGES);
            const struct oche_flows *of = oche_world_flows(small.world);
            for (uint32_t f = 1; f < MESSAGES; f++)
                assert_true(of->received[f].delivered > of->received[f - 1].delivered);
            last[with] = of->received[MESSAGES - 1].delivered;
            assert_int_equal(small.totals.flows_completed, MESSAGES);
            assert_int_equal(small.totals.nic.retransmitted_packets, 0);
            small_world_end(&small);
            small_world_free(&small);
        }
        assert_true(last[1] == last[0] + some.doorbell + 2 * some.dma);
    }
}

/* Bytes that have arrived count as such while they are on their way to memory. */
static void arrived_bytes_do_not_vanish(void **state)
{
    const struct latencies slow = {0, 500 * OCHE_US, 0};
    struct oche_flow_plan flows[] = {small_flow(0, 1, 50000, 0), small_flow(0, 1, 50000, 0)};

    (void)state;
    for (oche_time end = 510 * OCHE_US; end < 1010 * OCHE_US; end += 10 * OCHE_US) {
        struct small_world small;

        open_star(&small, &slow);
        small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
        small.config.run.duration = end;
        small.config.run.stop_when_done = false;
        small_world_run(&small, flows, 2);
        assert_true(oche_world_flows(small.world)->received[0].delivered == OCHE_NEVER);
        if (end > 600 * OCHE_US) {
            assert_int_equal(oche_world_flow_bytes(small.world, 0), 50000);
            assert_int_equal(oche_world_flow_bytes(small.world, 1), 50000);
        }
        small_world_end(&small);
        small_world_free(&small);
    }
}

/* Work that fails is completed with the latency, too, and what follows on it as well. */
static void failures_are_completed(void **state)
{
    static const struct latencies some = {OCHE_US, OCHE_US, OCHE_US};
    struct oche_flow_plan flows[] = {small_flow(0, 1, 5000, 0), small_flow(0, 1, 5000, 0),
                                     small_flow(0, 1, 5000, 5 * OCHE_MS)};

    (void)state;
    for (enum oche_verb verb = OCHE_VERB_WRITE; verb <= OCHE_VERB_READ; verb++) {
        struct small_world small;

        for (size_t f = 0; f < OCHE_COUNT_OF(flows); f++)
            flows[f].verb = (uint8_t)verb;
        open_star(&small, &some);
        small.losses[0] = (struct small_world_loss){"host0", "every 1"};
        small.losses[1] = (struct small_world_loss){"host1", "every 1"};
        small.config.hosts.connections = OCHE_CONNECTION_PER_PAIR;
        small.config.hosts.ack_timeout = 100 * OCHE_US;
        small.config.hosts.retry_count = 1;
        small_world_run(&small, flows, OCHE_COUNT_OF(flows));
        assert_int_equal(small.totals.flows_failed, OCHE_COUNT_OF(flows));
        const struct oche_flows *of = oche_world_flows(small.world);
        /* The queue pair has failed by then. The doorbell and memory take their time all the same.
         */
        assert_true(of->sent[2].completed == 5 * OCHE_MS + 3 * OCHE_US);
        small_world_end(&small);
        small_world_free(&small);
    }
}

/* The same results for any number of threads. */
static void threads_change_nothing(void **state)
{
    static const struct latencies some = {OCHE_US, 2 * OCHE_US, OCHE_US};
    enum { HOSTS = 16 };
    struct oche_flow_plan flows[3 * HOSTS];
    uint64_t hash[3];

    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct small_world small;
        const uint32_t count = small_world_busy_flows(flows, HOSTS);

        for (uint32_t f = 0; f < count; f++)
            flows[f].verb = (uint8_t)(f % 3 == 0 ? OCHE_VERB_SEND : OCHE_VERB_WRITE);
        small_world_init(&small, "fat_tree", "dcqcn", "go_back_n");
        small_world_topology(&small, "k", 4);
        small.config.hosts.doorbell_latency = some.doorbell;
        small.config.hosts.dma_latency = some.dma;
        small.config.hosts.completion_latency = some.completion;
        small.config.threads = threads;
        small_world_run(&small, flows, count);
        assert_int_equal(small.totals.flows_completed, count);
        hash[threads - 1] = small.totals.hash;
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_true(hash[0] == hash[1] && hash[1] == hash[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_is_exact),
        cmocka_unit_test(the_next_waits_for_the_program),
        cmocka_unit_test(latencies_cost_no_throughput),
        cmocka_unit_test(arrived_bytes_do_not_vanish),
        cmocka_unit_test(failures_are_completed),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
