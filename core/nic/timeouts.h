/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ACK timeouts of a queue pair follow one another, where an adapter does not simply wait
 * for the timeout that its program has set (docs/papers/nics.md). A pure state machine: the sender
 * asks how long to wait, and tells when a timer has expired or an ACK has brought progress.
 *
 * `asked` is the timeout that the program has set: 4.096 us * 2^T in verbs.
 */
#ifndef OCHE_CORE_NIC_TIMEOUTS_H
#define OCHE_CORE_NIC_TIMEOUTS_H

#include "core/base.h"
#include "core/random.h"

OCHE_C_BEGIN

enum oche_timeouts_kind {
    OCHE_TIMEOUTS_AS_ASKED,  /* each is the one that was asked for */
    OCHE_TIMEOUTS_DOUBLING,  /* 2, 4, 8, 16, 16, … ms, whatever was asked: nics.md#doubling */
    OCHE_TIMEOUTS_CONNECTX6, /* an adaptive phase, then regular ones: nics.md#connectx-6 */
    OCHE_TIMEOUTS_PROFILE,   /* NVIDIA's adaptive retransmission profile: nics.md#adaptive */
};

/* How the exponent of an adaptive profile becomes smaller with progress. */
enum oche_adaptive_decrease { OCHE_DECREASE_BY_4, OCHE_DECREASE_BY_2, OCHE_DECREASE_TO_LOW };

#define OCHE_ADAPTIVE_RANGES  4
#define OCHE_CONNECTX6_FIRSTS 4 /* a ConnectX-6 begins at one of so many steps */

/* A range of exponents: adp_retx_to_range_ext. */
struct oche_adaptive_range {
    uint64_t size, low_bound; /* exponents low_bound … low_bound + size */
    uint64_t retry_num;       /* expiries of one exponent before the next one; 0 is as 1 */
    uint32_t dec_mode;        /* enum oche_adaptive_decrease */
    uint64_t prev_range_index;
};

/* An adaptive profile: adp_retx_profile_ext. A timeout of exponent e lasts time_base * 2^e. */
struct oche_adaptive_profile {
    oche_time time_base;
    uint64_t timeout_init_low_bound, timeout_init_range_size;
    uint64_t range_num, start_range_index;
    bool qp_total_timeout; /* in total `asked` * retry_count; else time_base * 2^retx_total… */
    uint64_t retx_total_timeout;
    struct oche_adaptive_range range[OCHE_ADAPTIVE_RANGES];
};

struct oche_timeouts {
    uint32_t kind; /* enum oche_timeouts_kind */
    /* CONNECTX6: ROCE_ACCL's field; the timeout is not raised to 268 ms, nothing is adaptive */
    bool min_ack_timeout_limit_disabled;
    struct oche_adaptive_profile profile; /* PROFILE alone */
};

/* The state of one queue pair. */
struct oche_timeouts_run {
    uint32_t expired; /* timers in a row without progress */
    uint32_t regular; /* those of them that belong to the regular phase */
    uint32_t first;   /* CONNECTX6: the step at which the queue pair begins, drawn once */
    uint8_t exponent; /* PROFILE: the present one */
    uint8_t range;    /* the range that it is in; OCHE_ADAPTIVE_RANGES: in none yet */
    uint32_t in_row;  /* expiries with this exponent */
    oche_time waited; /* in all since the last progress */
};

/* Meanings of a timer's expiry. */
enum oche_timeout {
    OCHE_TIMEOUT_REPEATS,  /* send again */
    OCHE_TIMEOUT_ADAPTIVE, /* the same, and another counter counts it (roce_adp_retrans) */
    OCHE_TIMEOUT_SILENT,   /* it is counted, and nothing is sent */
    OCHE_TIMEOUT_GIVES_UP, /* the request fails */
    /* the last adaptive one: the request fails, too */
    OCHE_TIMEOUT_ADAPTIVE_GIVES_UP,
};

/* Draws the first timeout of a queue pair. For all kinds but AS_ASKED, as the functions below. */
void oche_timeouts_start(const struct oche_timeouts *how, struct oche_timeouts_run *run,
                         struct oche_random *random);
/* Returns how long to wait now. */
oche_time oche_timeouts_wait(const struct oche_timeouts *how, const struct oche_timeouts_run *run,
                             oche_time asked);
/* The timer has expired. `retry_count` is the connection's. */
enum oche_timeout oche_timeouts_expired(const struct oche_timeouts *how,
                                        struct oche_timeouts_run *run, oche_time asked,
                                        uint32_t retry_count);
/*
 * Returns the longest wait that a queue pair can have, whatever it draws at random; OCHE_NEVER: it
 * waits for ever.
 */
oche_time oche_timeouts_longest(const struct oche_timeouts *how, oche_time asked,
                                uint32_t retry_count);
/*
 * Returns how many timeouts a request can have at most if the adapter gives up after a time of its
 * own; 0: it counts them, or multiplies `asked` by the retry count.
 */
uint64_t oche_timeouts_most(const struct oche_timeouts *how, oche_time asked);
/* A new packet has been acknowledged, or the peer has answered the oldest one. */
void oche_timeouts_progress(const struct oche_timeouts *how, struct oche_timeouts_run *run);

/* ---- the kinds, for timeouts.c ---- */

oche_time timeouts_connectx6_wait(const struct oche_timeouts *how,
                                  const struct oche_timeouts_run *run, oche_time asked);
enum oche_timeout timeouts_connectx6_expired(const struct oche_timeouts *how,
                                             struct oche_timeouts_run *run, oche_time asked,
                                             uint32_t retry_count);

oche_time timeouts_connectx6_longest(const struct oche_timeouts *how, oche_time asked,
                                     uint32_t retry_count);

void timeouts_profile_start(const struct oche_timeouts *how, struct oche_timeouts_run *run,
                            struct oche_random *random);
oche_time timeouts_profile_wait(const struct oche_timeouts *how,
                                const struct oche_timeouts_run *run, oche_time asked);
enum oche_timeout timeouts_profile_expired(const struct oche_timeouts *how,
                                           struct oche_timeouts_run *run, oche_time asked,
                                           uint32_t retry_count);
void timeouts_profile_progress(const struct oche_timeouts *how, struct oche_timeouts_run *run);
oche_time timeouts_profile_longest(const struct oche_timeouts *how, oche_time asked);
uint64_t timeouts_profile_most(const struct oche_timeouts *how, oche_time asked);

OCHE_C_END

#endif
