/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows over ExpressPass whose bytes are produced at a rate of their own. All produced bytes are
 * delivered, and no more. Credits come about as fast as data. A sender that waits long stops them
 * and asks again. Each byte arrives once for any losses.
 */
#include "sim/endpoint/expresspass/params.h"
#include "tests/support/counted.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define RATE (10 * OCHE_GBPS)
#define LONG 1000000000

static void make(struct small_world *small, oche_time duration)
{
    small_world_init(small, "star", "expresspass", "go_back_n");
    small_world_topology(small, "hosts", 8);
    small_world_topology(small, "host_rate", RATE);
    small->config.run.stop_when_done = false;
    small->config.run.duration = duration;
}

static struct oche_flow_plan supplied(uint32_t src, uint64_t bytes, uint64_t bps)
{
    struct oche_flow_plan flow = small_flow(src, 0, bytes, 0);

    flow.supply_bps = bps;
    return flow;
}

/* A long flow alone, with both kinds of feedback: within 1 %, and never more. */
static void within_one_percent(void **state)
{
    static const uint64_t rates[] = {50 * OCHE_MBPS, 150 * OCHE_MBPS, 600 * OCHE_MBPS,
                                     3 * OCHE_GBPS, 8 * OCHE_GBPS};

    (void)state;
    for (unsigned kind = OCHE_XPASS_AUTHORS_CODE; kind <= OCHE_XPASS_PAPER; kind++)
        for (size_t i = 0; i < OCHE_COUNT_OF(rates); i++) {
            struct oche_flow_plan flow = supplied(1, LONG, rates[i]);
            struct small_world small;

            make(&small, 50 * OCHE_MS);
            small_world_cc(&small, "feedback", kind);
            small_world_run(&small, &flow, 1);
            uint64_t made = oche_flow_supplied(&flow, small.config.run.duration);
            uint64_t arrived = oche_world_flow_bytes(small.world, 0);
            if (arrived > made || arrived < made / 100 * 99)
                fail_msg("%llu bytes made, %llu there", (unsigned long long)made,
                         (unsigned long long)arrived);
            assert_int_equal(small.totals.nic.timeouts, 0);
            assert_int_equal(small.totals.nic.retransmitted_packets, 0);
            small_world_free(&small);
        }
}

/*
 * A frame every 20 us, where the link could take sixteen: credits continue; with feedback, fewer
 * than four a frame. A frame every 230 us: credits stop each time, or never with a longer `idle`.
 */
static void credits_follow_the_data(void **state)
{
    static const struct {
        uint64_t bps;
        oche_time idle;
        bool stops;
    } cases[] = {{600 * OCHE_MBPS, 100 * OCHE_US, false},
                 {600 * OCHE_MBPS, 0, true},
                 {50 * OCHE_MBPS, 100 * OCHE_US, true},
                 {50 * OCHE_MBPS, OCHE_MS, false}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_flow_plan flow = supplied(1, LONG, cases[i].bps);
        struct small_world small;

        make(&small, 50 * OCHE_MS);
        small_world_cc(&small, "idle", cases[i].idle);
        small_world_run(&small, &flow, 1);
        uint64_t frames = small.totals.nic.data_packets_sent;
        uint64_t credits = small.totals.nic.cc_packets_received;
        uint64_t line = oche_world_network(small.world)->ports[1].line_bytes;
        uint64_t others = (line - frames * 1538) / 84; /* REQUESTs and STOPs, by turns */
        assert_int_equal(credits,
                         frames + counted(small.totals.counters, small.totals.counted, "wasted"));
        if (cases[i].stops)
            assert_true(others > frames / 4);
        else
            assert_int_equal(others, 1);
        if (i == 0)
            assert_true(credits < 4 * frames);
        small_world_free(&small);
    }
}

/* Flows that end, some between two frames, with losses: each byte arrives once. */
static void every_byte_once(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct oche_flow_plan flows[7];
        struct small_world small;
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < 7; i++) {
            flows[i] = supplied(i + 1, i == 6 ? 1 : 1460 * (20 * i + 1) + seed % 4 * i,
                                (20 + 300 * i) * OCHE_MBPS);
            bytes += flows[i].bytes;
        }
        make(&small, 4 * OCHE_SEC);
        small.config.seed = seed;
        small.config.threads = 1 + seed % 2;
        small.config.run.payload = true;
        small.config.loss.probability = seed == 1 ? 0 : 0.02 * (1 + seed % 3);
        small_world_cc(&small, "rto", 2 * OCHE_MS);
        small_world_cc(&small, "idle", seed % 3 * 50 * OCHE_US);
        small_world_run(&small, flows, 7);
        assert_int_equal(small.totals.flows_completed, 7);
        assert_int_equal(small.totals.nic.delivered_bytes, bytes);
        assert_int_equal(small.totals.live_packets, 0);
        assert_int_equal(small.totals.corrupt_bytes, 0);
        assert_int_equal(small.totals.rejected_packets, 0);
        for (uint32_t i = 0; i < 7; i++)
            assert_true(oche_world_flows(small.world)->received[i].delivered >=
                        oche_time_of_bytes(flows[i].bytes, flows[i].supply_bps));
        small_world_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_one_percent),
        cmocka_unit_test(credits_follow_the_data),
        cmocka_unit_test(every_byte_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
