/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a reliable queue pair, both ways at once, over a link that loses, doubles, holds
 * back and damages packets, and an oracle that knows what must come of it:
 *   - every work request completes once, in order: with success, or, where retries are counted,
 *     with "retries exceeded" or "RNR retries exceeded" and all behind it flushed;
 *   - when it completes, its effect is there, byte for byte; when a receive completes, so is the
 *     effect of all that was posted before the message; receives complete in order, with the right
 *     length and immediate;
 *   - each effect comes once: what a completed work wrote is wiped by the test and stays wiped, an
 *     older WRITE never shows over a newer one, atomics count;
 *   - not a byte beyond that changes in either memory;
 *   - no packet is sent beyond the window;
 *   - on a link that loses nothing there is no timeout, no NAK and no gap, though its two classes
 *     are not equally fast;
 *   - where only packets are lost that others follow, and none twice, no ACK timer is needed; and
 *     where what follows is kept, only they are sent again;
 *   - nothing is stuck, and the counters agree with what was on the link;
 *   - no packet of the peer is refused as one that it must not have sent: an opcode that was not
 *     agreed on, a CNP that does not name its PSN.
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
#define TARGETS       (RECEIVES + RECEIVES_MOST) /* from here: places used once */

/* What one run is like, beside the pair's options. */
struct qp_work_plan {
    struct pair_options pair;
    uint32_t works;        /* of each side */
    uint32_t max_length;   /* of a message */
    uint32_t cell;         /* bytes of the cell */
    uint32_t slots;        /* receives posted at most */
    uint32_t eagerness;    /* post at every n-th step */
    oche_time receive_gap; /* the next receive is posted up to so much later; 0: at once */
    bool clean;            /* a link without faults */
    bool mild;             /* so few faults that no retry count of 7 is ever used up */
    bool finite;           /* retries are counted */
    bool timerless;        /* no ACK timer, and losses that are found without one */
    bool exact;            /* and what is not lost can be kept */
    bool restarts;         /* both sides begin messages again */
    bool rough;            /* qp_rough.c */
};

/* One work request, as it was posted. */
struct qp_item {
    uint8_t opcode, flags;
    bool cell;
    uint32_t length, from, to, imm;
    uint32_t number; /* of its kind: message, atomic, version of the cell */
    uint32_t oldest; /* READ of the cell: the version that was the newest when it was posted */
};

/* The works that one side posts. */
struct qp_way {
    struct qp_item item[WORKS];
    uint32_t posted;
    uint32_t settled; /* items below are known to be done, and have been checked */
    uint32_t placed;  /* WRITEs below have been seen at the other side */
    uint32_t failed, flushed;
    enum oche_status status; /* of the failed one */
    uint32_t message[WORKS], messages;
    uint32_t atomics;
    uint32_t version_from[WORKS + 1], versions; /* version 0: what was there first */
    uint32_t acked;                             /* PSNs below have been acknowledged */
    uint32_t window;                            /* PSNs outstanding at most */
    uint32_t sent[2];  /* one past the highest PSN sent: of requests, of responses to them */
    uint32_t lost;     /* requests, by lose_once */
    uint32_t extended; /* packets that its side sent and that plain RoCEv2 does not know */
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
    struct oche_window *window[2]; /* bound now and then, among all else */
    void *window_memory[2];
    uint32_t window_key[2]; /* when all binds are done */
    struct oche_bind bind;
    uint8_t *first[2]; /* the memories as they were */
    bool ending;       /* the test has ended the queue pairs itself */
    char *wrong;
    size_t wrong_bytes;
    jmp_buf out;
};

/* What happened in many runs: a test that saw none of it proves nothing. */
struct qp_work_tally {
    uint64_t runs, works, retry_exceeded, rnr_exceeded, flushed, damaged, faults, timeouts, naks,
        rnr_naks, retransmitted, placed, cnps, extended;
};

/* One run; false, and what is wrong in `wrong`, if something is. */
bool qp_work_run(const struct oche_recovery_choice of_side[2], uint64_t seed, bool verbose,
                 struct qp_work_tally *tally, char *wrong, size_t wrong_bytes);

/* ---- between the files ---- */

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

/* Makes the plan that of a rough link, if it is this seed's turn. */
void qp_work_plan_rough(struct qp_work_plan *plan);
/* Hooks of the pair: what is sent, and what that may be. */
void qp_work_sent(struct pair *pair, int from, const struct oche_packet *packet);
void qp_work_arrived(struct pair *pair, int to, const struct oche_packet *packet);
/* Takes all completions of both sides, and checks them (qp_oracle.c). */
void qp_work_poll(struct qp_work *w);
/* Memories, states and counters when nothing moves any more. */
void qp_work_check_end(struct qp_work *w);

#endif
