/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a reliable queue pair, in both directions at a time, over a link that loses,
 * doubles, delays and damages packets. An oracle knows the right results:
 *   - Every work request completes once, in order. It succeeds or, where retries are counted, ends
 *     with "retries exceeded" or "RNR retries exceeded", and all later ones are flushed.
 *   - When a work completes, its effect is there, byte for byte. When a receive completes, so is
 *     the effect of all that was posted before the message. Receives complete in order, with the
 *     right length and immediate.
 *   - Each effect comes once. The test wipes what a completed work wrote, and it stays wiped; an
 *     older WRITE never overwrites a newer one; atomics count.
 *   - No other byte changes in either memory.
 *   - No packet is sent beyond the window.
 *   - On a link without faults there is no timeout, no NAK and no gap, though its two classes
 *     differ in delay.
 *   - If packets follow each lost one, and none is lost twice, no ACK timer is needed. If those
 *     that follow are stored, only the lost ones are sent again.
 *   - Nothing is stuck, and the counters agree with the packets on the link.
 *   - No packet of the peer is refused as forbidden, such as an opcode that was not agreed on, or a
 *     CNP that does not name its PSN.
 */
#ifndef OCHE_TESTS_PROPERTY_QP_WORK_H
#define OCHE_TESTS_PROPERTY_QP_WORK_H

#include <setjmp.h>

#include "tests/support/pair.h"
#include "params/scheme.h"

#define WORKS         60
#define NONE          UINT32_MAX
#define RECEIVE_ID    UINT64_C(1000000)
#define MAX_SLOTS     16
#define SOURCE        (128 * 1024)  /* bytes at the start of each memory that are only read */
#define COUNTER       SOURCE        /* 8 bytes: atomics */
#define CELL          (SOURCE + 64) /* written and read again and again */
#define CELL_MOST     12288
#define RECEIVES      (CELL + CELL_MOST + 64) /* MAX_SLOTS buffers */
#define RECEIVES_MOST (256 * 1024)
#define TARGETS       (RECEIVES + RECEIVES_MOST) /* places from here on are used only once */

/* The settings of one run, beside the pair's options. */
struct qp_work_plan {
    struct pair_options pair;
    uint32_t works;        /* work requests of each side */
    uint32_t max_length;   /* bytes of the longest message */
    uint32_t cell;         /* bytes of the cell */
    uint32_t slots;        /* receives posted at most */
    uint32_t eagerness;    /* post at every n-th step */
    oche_time receive_gap; /* the longest delay of the next receive; 0: none */
    bool clean;            /* a link without faults */
    bool mild;             /* faults so rare that 7 retries are always enough */
    bool finite;           /* retries are counted */
    bool timerless;        /* no ACK timer; all losses can be found without it */
    bool exact;            /* also, packets after a loss can be stored */
    bool restarts;         /* both sides begin messages again */
    bool rough;            /* qp_rough.c */
};

/* One work request, as it was posted. */
struct qp_item {
    uint8_t opcode, flags;
    bool cell;
    uint32_t length, from, to, imm;
    uint32_t number; /* number within its kind: message, atomic, version of the cell */
    uint32_t oldest; /* READ of the cell: the newest version when it was posted */
};

/* The works that one side has posted. */
struct qp_way {
    struct qp_item item[WORKS];
    uint32_t posted;
    uint32_t settled; /* items below are done and checked */
    uint32_t placed;  /* WRITEs below this number have arrived at the other side */
    uint32_t failed, flushed;
    enum oche_status status; /* status of the failed work request */
    uint32_t message[WORKS], messages;
    uint32_t atomics;
    uint32_t version_from[WORKS + 1], versions; /* version 0: the initial content */
    uint32_t acked;                             /* PSNs below have been acknowledged */
    uint32_t window;                            /* PSNs outstanding at most */
    uint32_t sent[2];  /* one more than the highest PSN sent: of requests, of their responses */
    uint32_t lost;     /* requests, by lose_once */
    uint32_t extended; /* packets from its side with opcodes that plain RoCEv2 lacks */
};

struct qp_receives {
    uint32_t posted, done;
    oche_time next;
};

struct qp_work {
    struct pair *pair;
    struct qp_work_plan plan;
    struct oche_random random;
    struct qp_way way[2];
    struct qp_receives receives[2];
    uint32_t next_target[2];
    struct oche_window *window[2]; /* a memory window that is bound now and then */
    void *window_memory[2];
    uint32_t window_key[2]; /* when all binds are done */
    struct oche_bind bind;
    uint8_t *first[2]; /* the memories before the run */
    bool ending;       /* the test has ended the queue pairs itself */
    char *wrong;
    size_t wrong_bytes;
    jmp_buf out;
};

/* Counts of events in many runs. A test without such events would prove nothing. */
struct qp_work_tally {
    uint64_t runs, works, retry_exceeded, rnr_exceeded, flushed, damaged, faults, timeouts, naks,
        rnr_naks, retransmitted, placed, cnps, extended;
};

/* One run. Returns false if a check failed; `wrong` says which. */
bool qp_work_run(const struct oche_recovery_choice of_side[2], uint64_t seed, bool verbose,
                 struct qp_work_tally *tally, char *wrong, size_t wrong_bytes);

/* ---- shared by the files ---- */

static inline bool qp_work_takes_receive(const struct qp_item *item)
{
    return item->opcode != OCHE_WORK_WRITE && item->opcode < OCHE_WORK_LOCAL_INV;
}

static inline uint32_t qp_work_below(struct qp_work *w, uint32_t n)
{
    return (uint32_t)oche_random_below(&w->random, n);
}

/* Ends the run. */
__attribute__((format(printf, 2, 3))) _Noreturn void qp_work_fail(struct qp_work *w,
                                                                  const char *format, ...);
#define QP_WORK_CHECK(w, condition, ...)                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            qp_work_fail(w, __VA_ARGS__);                                                          \
    } while (0)

/* Turns the plan into that of a rough link, in every fifth run. */
void qp_work_plan_rough(struct qp_work_plan *plan);
/* Hooks of the pair: they see and may change each packet that is sent. */
void qp_work_sent(struct pair *pair, int from, const struct oche_packet *packet);
void qp_work_arrived(struct pair *pair, int to, const struct oche_packet *packet);
/* Takes all completions of both sides, and checks them (qp_oracle.c). */
void qp_work_poll(struct qp_work *w);
/* Checks memories, states and counters when nothing moves any more. */
void qp_work_check_end(struct qp_work *w);

#endif
