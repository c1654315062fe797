/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of a RoGUE connection on the bench, for tests of queue pairs that fail. */
#ifndef OCHE_TESTS_UNIT_ROGUE_TWO_ENDS_H
#define OCHE_TESTS_UNIT_ROGUE_TWO_ENDS_H

#include "tests/support/rogue_bench.h"
#include "tests/support/test.h"

#define SEGMENT 65536

static struct bench a, b;

/* Two ends whose windows and send queues are no limit. */
static void begin(void)
{
    bench_init(&a);
    bench_init(&b);
    b.config.status_lost = BENCH_STATUS + 1; /* so its PSNs differ */
    a.params.first_batch = b.params.first_batch = ROGUE_FIRST_SEGMENT;
    a.params.initial_packets = b.params.initial_packets = 1000;
    bench_open(&a);
    bench_open(&b);
}

static void end(void)
{
    bench_close(&a);
    bench_close(&b);
}

static void post_writes(struct bench *bench, unsigned count, bool signaled)
{
    for (unsigned i = 0; i < count; i++)
        bench_post(bench, ROGUE_WRITE, 1000, signaled);
}

static void assert_done(const struct bench *bench, unsigned count)
{
    assert_int_equal(bench->ended_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(bench->ended[i].id, i);
        assert_int_equal(bench->ended[i].outcome, ROGUE_DONE);
    }
}

#endif
