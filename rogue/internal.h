/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a connection, for the files of this folder. */
#ifndef OCHE_ROGUE_INTERNAL_H
#define OCHE_ROGUE_INTERNAL_H

#include "rogue/connection.h"

#define NO_BATCH     UINT64_MAX
#define ECHO_NUMBERS 256 /* of batches, in immediate data: 8 bits */

struct piece {
    uint64_t verb; /* counted from the first verb on */
    uint32_t offset, bytes;
    uint8_t direction;
    bool signaled;
};

struct batch {
    uint64_t first, last; /* pieces; last is only known of one that is closed */
    uint64_t bytes;
    uint64_t from;  /* bytes that had been posted in its direction before */
    oche_time left; /* when its last byte leaves (rtt.h) */
    uint8_t direction;
    bool measured; /* its round trip can be computed */
    bool ended;    /* UC: its last piece has left the NIC */
};

/* One direction: its window and what is under way. */
struct stream {
    struct rogue_window window;
    struct rogue_rtt rtt;
    uint64_t posted_bytes, done_bytes; /* since the beginning; their difference is under way */
    uint64_t hold_until;               /* samples count from this posted byte on */
    unsigned batches;                  /* under way, the open one included */
    uint64_t in_a_row;                 /* batches since the NIC had none (rogue.md#r22) */
    bool unsampled;                    /* until a round trip is known, the window alone leaves */
};

enum health {
    QP_READY,    /* in RTS, and nothing is posted on one that is not active */
    QP_DRAINING, /* failed; completions are still to come */
    QP_WAITING,  /* a resynchronisation is under way */
};

/* One of the two queue pairs. */
struct side {
    enum health health;
    bool asking;         /* we repeat REQUEST; otherwise we repeat REPLY */
    bool restarted;      /* it is in RTS again, in the epoch */
    uint32_t epoch, psn; /* of the resynchronisation; our first PSN */
    uint32_t peer_psn;   /* the peer's, if told */
    bool peer_told;
    uint64_t last_posted;           /* number of the last piece that was posted on it */
    bool posted;                    /* some piece was, since it started */
    bool limited[ROGUE_DIRECTIONS]; /* a limit was set on it */
    bool marks;                     /* it has drained when a marker is flushed, ... */
    bool marked;                    /* ... which has been posted */
    oche_time repeat;               /* when the message is sent again; OCHE_NEVER: not */
    uint64_t tries;
};

struct rogue_connection {
    struct rogue_config config;
    uint32_t mask, segment_bytes;
    struct rogue_verb *verbs;
    struct piece *pieces;
    struct batch *batches;
    /* Each ring has those from _done on to _next; they count from the beginning. */
    uint64_t verb_done, verb_next;
    uint64_t piece_done, piece_next;
    uint64_t batch_done, batch_next;
    uint64_t cursor; /* the verb that is posted next, and from which byte on */
    uint32_t cursor_offset;
    uint64_t open;        /* the batch that takes further pieces, or NO_BATCH */
    uint64_t last_signal; /* number of the piece after the last one with a signal */
    struct stream streams[ROGUE_DIRECTIONS];
    struct side sides[2];
    unsigned active;
    uint64_t resume; /* after a failure: the piece with which the shadow begins */
    bool broken;
    oche_time echo_deadline; /* UC: when all batches count as lost; OCHE_NEVER: none is under way */
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
/* connection.c: every verb that is under way ends; the first with `status`. */
void break_connection(struct rogue_connection *r, enum rogue_outcome first, int status);
/* connection.c: takes the oldest batch out, which has had the round trip, or none (OCHE_NEVER). */
void batch_completed(struct rogue_connection *r, oche_time rtt, oche_time now);
/* connection.c: sets the limiter to the rate of the window, whose rate was `before`. */
void apply_rate(struct rogue_connection *r, enum rogue_direction direction, uint64_t before,
                oche_time now);
/* connection.c: gives a queue pair the rate of a window. */
void set_limit(struct rogue_connection *r, unsigned qp, enum rogue_direction direction);
/* echo.c, for UC: pieces through `number` have left the NIC. */
void echo_left(struct rogue_connection *r, uint64_t number, oche_time left, oche_time now);
/* echo.c: a batch was closed. Returns its immediate data. */
uint32_t echo_of(const struct rogue_connection *r, uint64_t batch);
/* echo.c: the answer to a batch is waited for. */
void echo_wait(struct rogue_connection *r, uint64_t number, oche_time now);
void echo_expire(struct rogue_connection *r, oche_time now);
/* switch.c: piece `number` has failed on the active queue pair. */
void switch_begin(struct rogue_connection *r, uint64_t number);
/* switch.c: a failed queue pair that drains has had a completion. Returns true if it was the last.
 */
bool switch_drains(struct rogue_connection *r, unsigned qp, uint64_t number);
/* switch.c: the last completion of a failed queue pair has come. */
void switch_drained(struct rogue_connection *r, unsigned qp, oche_time now);

#endif
