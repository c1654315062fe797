/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two greedy flows share 10 Gbit/s under TIMELY and under its patch ("ECN or Delay" sec 4;
 * timely.md#patched). Claims for the patch: from 7 and 3 Gbit/s both come within 2 % of each other.
 * The queue is the fixed point's, 78 KB (N = 2, delta 10 Mbit/s, beta 0.008, T_low 50 us), within
 * 10 %. It is within 3 % of the same formula with the empty path's RTT, which counts against T_low
 * here: C * (1.25 * T_low - RTT). Claim for the original: there is no such point. The start
 * determines the rates much later, and they do not approach each other.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <math.h>

#include "sim/measure/queue_occupancy.h"

#define RATE       (10 * OCHE_GBPS)
#define DELAY      (100 * OCHE_NS)
#define FRAME      (1000 + 62)
#define LINE_BYTES (FRAME + OCHE_GAP_BYTES)
#define ACK_LINE   (66 + OCHE_GAP_BYTES)

struct result {
    double share;   /* the first flow's share of the bytes received after warm-up */
    double goodput; /* of both, bits per second */
    double queue;   /* mean queue of the bottleneck, bytes on the line */
};

/* RTT of the last packet of a segment in an empty network, less its own time at line rate. */
static double empty_rtt_s(void)
{
    oche_time there = 3 * (oche_time_of_bytes(LINE_BYTES, RATE) + DELAY);
    oche_time back = 3 * (oche_time_of_bytes(ACK_LINE, RATE) + DELAY);

    return (double)(there + back - oche_time_of_bytes(LINE_BYTES, RATE)) / (double)OCHE_SEC;
}

/* The flows start at these rates; measured from `warmup` to `end`. */
static struct result run(const char *cc, uint64_t first_bps, uint64_t second_bps, oche_time warmup,
                         oche_time end)
{
    struct oche_flow_plan flows[2] = {small_flow(0, 2, 1000000000, 0),
                                      small_flow(1, 3, 1000000000, 0)};
    struct small_world small;
    struct oche_nic_stats nic[2];
    const char *name;

    flows[0].initial_rate_bps = first_bps;
    flows[1].initial_rate_bps = second_bps;
    small_world_init(&small, "dumbbell", cc, "go_back_n");
    small_world_topology(&small, "host_rate", RATE);
    small_world_topology(&small, "bottleneck_rate", RATE);
    small_world_topology(&small, "delay", DELAY);
    small_world_topology(&small, "bottleneck_delay", DELAY);
    small_world_cc(&small, "segment", 16000);
    small_world_cc(&small, "pacing", 1); /* packet */
    small.config.hosts.mtu_bytes = 1000;
    small.config.run.warmup = warmup;
    small.config.run.duration = end;
    small.config.measure.queues = "tor0:tor1";
    small_world_run(&small, flows, 2);
    for (uint32_t i = 0; i < 2; i++)
        oche_world_host_stats(small.world, 2 + i, &nic[i]);
    double bytes[2] = {(double)nic[0].delivered_bytes, (double)nic[1].delivered_bytes};
    const struct oche_queue_watch *watch = oche_world_watch(small.world, 0, &name);
    assert_true(fabs((double)oche_world_empty_rtt(small.world) / (double)OCHE_SEC - empty_rtt_s()) <
                1e-11);
    struct result result = {
        .share = bytes[0] / (bytes[0] + bytes[1]),
        .goodput = 8 * (bytes[0] + bytes[1]) / ((double)(end - warmup) / (double)OCHE_SEC),
        .queue = (double)oche_queue_occupancy(watch, end).mean_bytes * LINE_BYTES / FRAME,
    };
    print_message("%s from %.1f and %.1f Gbit/s: %.3f of %.2f Gbit/s, queue %.1f KB\n", cc,
                  (double)first_bps / 1e9, (double)second_bps / 1e9, result.share,
                  result.goodput / 1e9, result.queue / 1e3);
    small_world_end(&small);
    small_world_free(&small);
    return result;
}

static void test_patched_converges(void **state)
{
    static const uint64_t starts[][2] = {{7, 3}, {3, 7}, {1, 9}};
    double exact = ((50e-6 + 0.25 * 50e-6) - empty_rtt_s()) * (double)RATE / 8;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct result r = run("timely_patched", starts[i][0] * OCHE_GBPS, starts[i][1] * OCHE_GBPS,
                              200 * OCHE_MS, 300 * OCHE_MS);
        assert_true(fabs(r.share - 0.5) < 0.005);
        assert_true(r.goodput > 0.98 * 1000 / LINE_BYTES * (double)RATE);
        assert_true(fabs(r.queue - 78e3) < 0.10 * 78e3);
        assert_true(fabs(r.queue - exact) < 0.03 * exact);
    }
}

static void test_original_keeps_its_start(void **state)
{
    struct result uneven = run("timely", 7 * OCHE_GBPS, 3 * OCHE_GBPS, 20 * OCHE_MS, 60 * OCHE_MS);
    struct result even = run("timely", 5 * OCHE_GBPS, 5 * OCHE_GBPS, 20 * OCHE_MS, 60 * OCHE_MS);
    struct result other = run("timely", 3 * OCHE_GBPS, 7 * OCHE_GBPS, 20 * OCHE_MS, 60 * OCHE_MS);

    (void)state;
    assert_true(uneven.share > 0.65);
    assert_true(other.share < 0.35);
    assert_true(even.share > 0.4 && even.share < 0.6);
    /* Patched, the start has almost no effect by then. */
    struct result patched =
        run("timely_patched", 7 * OCHE_GBPS, 3 * OCHE_GBPS, 20 * OCHE_MS, 60 * OCHE_MS);
    assert_true(patched.share < 0.6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patched_converges),
        cmocka_unit_test(test_original_keeps_its_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
