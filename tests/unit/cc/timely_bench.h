/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow of TIMELY or patched TIMELY whose segments are single packets. The test chooses the RTT of
 * each completion. 10 Gbps; a packet is 1000 bytes, 816 ns on the line.
 */
#ifndef OCHE_TESTS_TIMELY_BENCH_H
#define OCHE_TESTS_TIMELY_BENCH_H

#include "tests/support/test.h"
#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS    (10 * OCHE_GBPS)
#define PACKET_TIME UINT64_C(816000) /* of 1020 bytes at 10 Gbps */

/* Not yet started. Without scaling: a packet is a segment, and each step would be scaled. */
static inline void timely_bench(struct bench *bench, const char *scheme)
{
    bench_init(bench, scheme, LINE_BPS);
    bench_set(bench, "segment", 1000);
    bench_choose(bench, "update", "completion");
    bench_choose(bench, "pacing", "packet");
    bench_set_real(bench, "use_to_raise", 0.0);
    bench->flow.initial_rate_bps = 4 * OCHE_GBPS;
}

/* A completion with this RTT: packet `psn` leaves now, and its ACK arrives one RTT later. */
static inline void complete(struct bench *bench, uint32_t psn, oche_time rtt)
{
    oche_time at = bench->now;

    bench_send(bench, at, psn, 1000);
    bench_ack(bench, at + PACKET_TIME + rtt, psn);
}

/* Within 1 bps. */
static inline void assert_rate(const struct bench *bench, double bps)
{
    double off = (double)bench->flow.rate_bps - bps;

    if (off > 1.0 || off < -1.0)
        fail_msg("rate is %llu, not %.1f", (unsigned long long)bench->flow.rate_bps, bps);
}

#endif
