/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a connection and the functions that the files of this folder share. */
#ifndef OCHE_ROGUE_INTERNAL_H
#define OCHE_ROGUE_INTERNAL_H

#include "rogue/connection.h"

#define NO_BATCH     UINT64_MAX
#define ECHO_NUMBERS 256 /* of batches, in immediate data: 8 bits */

struct piece {
    uint64_t verb; /* number of the verb, counted since the beginning */
    uint32_t offset, bytes;
    uint8_t direction;
    bool signaled;
};

struct batch {
    uint64_t first, last; /* numbers of pieces; `last` is final once the batch is closed */
    uint64_t bytes;
    uint64_t from;  /* bytes that had been posted in its direction before the batch */
    oche_time free; /* when the limiter is free again (rtt.h) */
    oche_time left; /* UC, once it has ended: when the last byte left */
    /* the last packet: bytes on the line, and the limiter's rate when it leaves */
    uint64_t packet_bytes, rate_bps;
    uint64_t verbs; /* number of verbs that end in this batch or before it, since the beginning */
    uint8_t direction;
    bool measured; /* the batch's round trip can be computed */
    bool ended;    /* UC: the batch's last piece has left the NIC */
};

/* One direction: its window and what is under way. */
struct stream {
    struct rogue_window window;
    struct rogue_rtt rtt;
    /* counted since the beginning; the difference is under way */
    uint64_t posted_bytes, done_bytes;
    uint64_t hold_until; /* samples of bytes posted before this byte are ignored */
    unsigned batches;    /* number of batches under way, including the open one */
    uint64_t in_a_row;   /* batches since the NIC had none (rogue.md#r22) */
    bool exact;          /* the limiter has not changed since the NIC ran empty */
    bool unsettled;      /* the limiter has changed since the NIC ran empty after a hold-off */
    bool unsampled;      /* no round trip is known yet, so no more than the window may leave */
};

enum health {
    QP_READY,    /* in RTS; if the queue pair is not active, no piece is posted on it */
    QP_DRAINING, /* has failed; some completions are still to come */
    QP_WAITING,  /* a resynchronisation is under way */
};

/* One of the two queue pairs. */
struct side {
    enum health health;
    bool restarted;      /* the queue pair is in RTS again, in `epoch` */
    uint32_t epoch, psn; /* epoch of the resynchronisation; our first PSN in it */
    uint32_t peer_psn;   /* the peer's, if told */
    bool peer_told;
    uint64_t last_posted;           /* number of the last piece that was posted on it */
    bool posted;                    /* a piece was posted on it since it last started */
    bool limited[ROGUE_DIRECTIONS]; /* a limit was set on the queue pair */
    bool marks;                     /* the queue pair has drained once a marker is flushed */
    bool marked;                    /* the marker has been posted */
    oche_time repeat;               /* when to send the message again; OCHE_NEVER: do not */
    uint64_t tries;
};

struct rogue_connection {
    struct rogue_config config;
    uint32_t mask, segment_bytes;
    struct rogue_verb *verbs;
    struct piece *pieces;
    struct batch *batches;
    /*
     * Each ring holds the entries _done … _next - 1. Numbers count from the beginning of the
     * connection.
     */
    uint64_t verb_done, verb_next;
    uint64_t verb_complete; /* verbs before this one have completed; from verb_done on, held */
    uint64_t piece_done, piece_next;
    uint64_t batch_done, batch_next;
    uint64_t cursor; /* the verb to post next; cursor_offset: from which byte on */
    uint32_t cursor_offset;
    uint64_t open;        /* number of the batch that takes further pieces, or NO_BATCH */
    uint64_t last_signal; /* number of the piece after the last piece with a signal */
    struct stream streams[ROGUE_DIRECTIONS];
    struct side sides[2];
    unsigned active;
    uint64_t resume;   /* after a failure: the piece with which the shadow must begin */
    uint64_t failures; /* failures of the active queue pair since `progress` */
    uint64_t progress; /* piece_done when it last failed */
    uint64_t most_failures;
    bool broken;
    bool has_limiter, waits_for_limiter;
    uint64_t turn_batches; /* batches that began since it took its limiter */
    /* UC: when all batches under way will count as lost; OCHE_NEVER: none is under way */
    oche_time echo_deadline;
    /* UC: time of answers, with the peer's turnaround: mean and mean deviation */
    oche_time echo_mean, echo_deviation;
    unsigned echo_timeouts;  /* since the last answer */
    uint64_t verbs_answered; /* `verbs` of the last batch that is done */
    struct rogue_counts counts;
};

static inline struct rogue_verb *verb_at(const struct rogue_connection *r, uint64_t number)
{
    return &r->verbs[number & r->mask];
}

static inline struct piece *piece_at(const struct rogue_connection *r, uint64_t number)
{
    return &r->pieces[number & r->mask];
}

static inline struct batch *batch_at(const struct rogue_connection *r, uint64_t number)
{
    return &r->batches[number & r->mask];
}

/* pump.c: forgets what was posted from piece `number` on; the next pump posts it again. */
void rewind_to(struct rogue_connection *r, uint64_t number);
/* connection.c: ends the verbs that have completed, unless they must be held. */
void end_verbs(struct rogue_connection *r);
/* connection.c: ends every verb that is under way, the first one with `status`. */
void break_connection(struct rogue_connection *r, enum rogue_outcome first, int status);
/*
 * connection.c: removes the oldest batch, with its round trip as a sample; OCHE_NEVER: no sample.
 */
void batch_completed(struct rogue_connection *r, oche_time rtt, oche_time now);
/* connection.c: returns when the last byte of a batch leaves, or has left. */
oche_time batch_left(const struct rogue_connection *r, const struct batch *batch);
/* connection.c: sets the limiter to the window's rate, which was `before` until now. */
void apply_rate(struct rogue_connection *r, enum rogue_direction direction, uint64_t before,
                oche_time now);
/* connection.c: limits a queue pair to the rate of a window. */
void set_limit(struct rogue_connection *r, unsigned qp, enum rogue_direction direction);
/*
 * turn.c: takes one of the adapter's limiters if there is something to post. Returns false if the
 * connection must wait for one.
 */
bool turn_begin(struct rogue_connection *r);
/* turn.c: true if the next piece must wait, because other connections wait for the limiter. */
bool turn_is_over(const struct rogue_connection *r);
/* turn.c: gives the limiter back if nothing is under way, and nothing may be posted now. */
void turn_end(struct rogue_connection *r);
/* turn.c: true if the adapter has fewer limiters than connections may need. */
static inline bool limiters_are_few(const struct rogue_connection *r)
{
    return r->config.port->take_limiter != NULL && r->config.params->rate_limiters > 0;
}
/* echo.c, for UC: to be called when all pieces up to `number` have left the NIC. */
void echo_left(struct rogue_connection *r, uint64_t number, oche_time left, oche_time now);
/* echo.c: returns the immediate data for the last piece of a batch. */
uint32_t echo_of(const struct rogue_connection *r, uint64_t batch);
/* echo.c: begins to wait for the answer to a batch. */
void echo_wait(struct rogue_connection *r, uint64_t number, oche_time now);
void echo_expire(struct rogue_connection *r, oche_time now);
/*
 * switch.c: to be called when piece `number` has failed on the active queue pair. The connection
 * breaks if nothing has completed for too many failures.
 */
void switch_begin(struct rogue_connection *r, uint64_t number);
/*
 * switch.c: to be called for each completion of a failed queue pair that drains. Returns true if it
 * was the last.
 */
bool switch_drains(struct rogue_connection *r, unsigned qp, uint64_t number);
/* switch.c: to be called when the last completion of a failed queue pair has come. */
void switch_drained(struct rogue_connection *r, unsigned qp, oche_time now);

#endif
