/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bench for congestion-control schemes: one flow without a NIC. The test chooses when CNPs and
 * marked packets arrive, and when the flow has data to send. The bench paces packets at the flow's
 * rate and runs its timers in the NIC's order (sent, arrived, timer). It records every change of
 * rate, every CC_STATE and every CNP that the receiver half asks for.
 */
#ifndef OCHE_TESTS_CC_BENCH_H
#define OCHE_TESTS_CC_BENCH_H

#include "core/cc/cc.h"

#define BENCH_RECORDS    4096
#define BENCH_LINE_BYTES 1020

struct bench {
    const struct oche_cc_scheme *scheme;
    struct oche_cc_flow flow;
    oche_time now, next_packet; /* next_packet: OCHE_NEVER: nothing to send */
    struct oche_trace_record rates[BENCH_RECORDS], states[BENCH_RECORDS];
    unsigned rate_count, state_count;
    oche_time cnps[BENCH_RECORDS]; /* asked for by the receiver half */
    unsigned cnp_count;
    unsigned timer_calls;
    /* memory of the flow */
    uint64_t params[128], state[1024];
    uint64_t nic_state[8];
    struct oche_random random;
    struct oche_trace trace;
    struct oche_trace_record ring[8];
};

/* A flow of scheme `name` with its defaults, not yet started, on a line of `line_bps`. */
void bench_init(struct bench *bench, const char *name, uint64_t line_bps);
/*
 * Sets a parameter by name to a number, a real, or the name of a choice. The test fails if the
 * value is rejected.
 */
void bench_set(struct bench *bench, const char *param, uint64_t value);
void bench_set_real(struct bench *bench, const char *param, double value);
void bench_choose(struct bench *bench, const char *param, const char *choice);
/* Starts the flow at time 0. If greedy, it has packets to send from then on. */
void bench_start(struct bench *bench, bool greedy);
/* Runs up to and including time `until`. */
void bench_run(struct bench *bench, oche_time until);
/* Runs up to `at`, without timers due at `at`. Then delivers a CNP or a data packet. */
void bench_cnp(struct bench *bench, oche_time at);
void bench_data(struct bench *bench, oche_time at, bool marked);
/*
 * Runs nothing. A packet of `payload` leaves at `at`, with its line bytes; or an ACK of everything
 * up to `psn` arrives. Returns the scheme's result.
 */
struct oche_packet bench_send(struct bench *bench, oche_time at, uint32_t psn, uint32_t payload);
void bench_ack(struct bench *bench, oche_time at, uint32_t psn);
/* Returns alpha of the last CC_STATE. */
double bench_alpha(const struct bench *bench);

#endif
