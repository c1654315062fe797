/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue that is known at every moment: three senders send one frame each to one receiver at the
 * same time, again and again. Mean and standard deviation are exact for any step of the histogram,
 * any begin of the measured window, and any number of threads; percentiles are rounded down.
 */
#include <math.h>
#include <stdio.h>

#include "sim/measure/queue_occupancy.h"
#include "tests/support/ran.h"

#define PAYLOAD 1012           /* a multiple of 4, so nothing is padded */
#define FRAME   (PAYLOAD + 62) /* not a multiple of 100 bytes */
#define LINE_PS ((uint64_t)(FRAME + OCHE_GAP_BYTES) * 80) /* at 100 Gbit/s */
#define PERIOD  OCHE_US
#define ROUNDS  50
#define QUEUES  2

/* The queues of hosts 0 and 4, each filled by the three other hosts of its leaf. */
static struct ran run(oche_time warmup, const char *step, uint32_t threads)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "topology: {type: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, host_rate: "
             "100Gbps, delay: 1us}\ncongestion_control: none\n"
             "workload: [{type: incast, degree: 3, bytes: %uB, verb: send, senders: next, period: "
             "1us}, {type: incast, degree: 3, bytes: %uB, verb: send, senders: next, period: 1us, "
             "receiver_host: 4}]\n"
             "measure: {queues: \"leaf0:host0, leaf1:host4\", queue_step: %s}\n"
             "warmup: %lluns\nduration: %lluns\n",
             PAYLOAD, PAYLOAD, step, (unsigned long long)(warmup / OCHE_NS),
             (unsigned long long)((warmup + ROUNDS * PERIOD) / OCHE_NS));
    return ran_open(text, false, threads);
}

static struct oche_queue_occupancy queue(const struct ran *ran, uint32_t number)
{
    const char *name;

    return oche_queue_occupancy(oche_world_watch(ran->world, number, &name),
                                oche_world_network(ran->world)->now);
}

/* In each round two frames wait for the time of a frame on the line, then one does. */
static void assert_exact(const struct oche_queue_occupancy *q)
{
    const uint64_t byte_time = ROUNDS * LINE_PS * (2 + 1) * FRAME;
    const double mean = (double)byte_time / (double)(ROUNDS * PERIOD);
    const double squares = (double)LINE_PS * (4 + 1) * FRAME * FRAME / (double)PERIOD;

    assert_true(q->watched == ROUNDS * PERIOD);
    assert_int_equal(q->max_bytes, 2 * FRAME);
    if (fabs(q->mean_bytes - mean) > 1e-12 * mean)
        fail_msg("mean %.17g, not %.17g", q->mean_bytes, mean);
    const double deviation = sqrt(squares - mean * mean);

    if (fabs(q->deviation - deviation) > 1e-12 * deviation)
        fail_msg("standard deviation %.17g, not %.17g", q->deviation, deviation);
}

/* The window begins while the queue is empty, has two frames, has one, and is empty again. */
static void test_exact(void **state)
{
    static const oche_time begins[] = {0, 100 * OCHE_NS, 200 * OCHE_NS, 500 * OCHE_NS};
    static const struct {
        const char *step;
        uint64_t p90, p99;
    } steps[] = {
        {"1B", FRAME, 2 * FRAME},
        {"100B", 1000, 2100},
        {"1MB", 0, 0},
    };
    bool seen[3] = {false};

    (void)state;
    for (size_t b = 0; b < OCHE_COUNT_OF(begins); b++)
        for (size_t s = 0; s < OCHE_COUNT_OF(steps); s++)
            for (uint32_t threads = 1; threads <= 2; threads++) {
                struct ran ran = run(10 * OCHE_US + begins[b], steps[s].step, threads);

                assert_int_equal(oche_world_watch_count(ran.world), QUEUES);
                for (uint32_t i = 0; i < QUEUES; i++) {
                    struct oche_queue_occupancy q = queue(&ran, i);
                    const char *name;
                    const uint64_t last = oche_world_watch(ran.world, i, &name)->bytes;

                    assert_exact(&q);
                    assert_int_equal(q.percentile[OCHE_P50], 0);
                    assert_int_equal(q.percentile[OCHE_P90], steps[s].p90);
                    assert_int_equal(q.percentile[OCHE_P99], steps[s].p99);
                    assert_true(last % FRAME == 0 && last / FRAME < 3);
                    seen[last / FRAME] = true;
                }
                ran_close(&ran);
            }
    assert_true(seen[0] && seen[1] && seen[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
