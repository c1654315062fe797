/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ends of a RoGUE connection and the layers below, for test_rogue.c.
 *
 * Each end's NIC has two queue pairs that execute pieces in order. A piece may be lost, with any
 * part of it delivered; its queue pair then goes to ERR. Queue pairs can communicate only while
 * each expects the other's PSNs. Completions come late, in order within a queue pair. Messages
 * between the libraries are lost, doubled, reordered, repeated much later and forged. Packets of a
 * failed queue pair may arrive much later; the peer takes them unless its own queue pair has
 * failed, too.
 */
#ifndef OCHE_TESTS_PROPERTY_ROGUE_MODEL_H
#define OCHE_TESTS_PROPERTY_ROGUE_MODEL_H

#include "core/random.h"
#include "rogue/connection.h"

#define MODEL_VERBS  80
#define MODEL_DEPTH  64 /* most */
#define MODEL_EVENTS 4096
#define MODEL_TOLD   256

/* A verb and its state. */
struct model_verb {
    uint32_t bytes;
    uint8_t kind;
    bool signaled, ended;
    bool late;     /* it was posted after the connection had failed */
    uint64_t base; /* the position of its first byte among those of all verbs; its end counts as one
                      more */
    unsigned executed; /* atomics and messages: how often executed */
    uint64_t messages_before;
};

struct model_piece {
    struct rogue_piece piece; /* the piece, without its verb */
    uint64_t id;
    bool empty; /* an empty WRITE that replaces data which the peer already has */
};

struct model_completion {
    struct rogue_completion done;
    unsigned slots; /* entries of the send queue that the next poll frees */
};

struct model_qp {
    bool error;     /* in ERR; else in RTS */
    bool known;     /* the library knows about the failure, or caused it */
    bool by_itself; /* it failed on its own; the library had not moved it to ERR */
    uint32_t send_psn, recv_psn, generation;
    struct model_piece queue[2 * MODEL_DEPTH]; /* pieces that are not executed yet */
    unsigned head, tail;
    struct model_completion completions[2 * MODEL_DEPTH];
    unsigned first, last;
    oche_time newest; /* when its newest completion comes */
    unsigned slots;   /* entries of the send queue that are used */
    unsigned silent;  /* of these pieces: executed, not yet freed by a completion */
};

/* The faults of a world's NICs and channel. */
struct model_faults {
    double piece_loss, error, message_loss, message_double, forgery;
    oche_time until; /* when faults end */
    bool silence;    /* every message is lost */
    oche_time close; /* when an application closes its end; OCHE_NEVER: no end is closed */
    bool farewell;   /* the peer is told, by a message that is not lost */
    bool ghosts;     /* packets from before a failure may arrive much later */
};

/*
 * The driver's protocol against receiving a message (SEND) twice (rogue.md#r11). After a change of
 * queue pair it asks the peer how many messages have arrived, and waits for the answer.
 */
struct model_messages {
    unsigned qp; /* the failure that the answer belongs to, in `epoch` */
    uint32_t epoch, serial;
    bool known, asking;
    uint64_t peer_received, tries;
    uint64_t posted, ended; /* ours: the last piece was posted; the verb has ended */
    uint64_t received;      /* messages received from the peer */
    uint32_t told_serial;   /* the last question that was answered, and the answer */
    uint64_t told_received;
};

struct model;

struct model_end {
    struct model *model;
    unsigned number;
    struct rogue_params params;
    struct rogue_config config;
    struct rogue_connection *rogue;
    struct model_qp qps[2];
    struct model_verb verbs[MODEL_VERBS];
    unsigned verb_count, posted, ended;
    unsigned send_queue;    /* slots */
    uint64_t frontier;      /* all pieces before it have been executed */
    uint64_t end;           /* end of all verbs */
    bool failed;            /* a verb has ended with an error */
    uint64_t message_count; /* number of messages of all verbs */
    struct model_messages messages;
    struct rogue_resync told[MODEL_TOLD]; /* the newest messages */
    unsigned told_count;
};

struct model_event {
    oche_time at;
    uint64_t order;
    uint8_t kind, end, qp;
    uint32_t generation;
    struct rogue_resync message;
    uint64_t number; /* number of a verb, or of messages */
    uint32_t offset, bytes, serial, epoch;
    bool last, all;
};

struct model {
    uint64_t seed;
    struct oche_random random;
    oche_time now;
    struct model_end ends[2];
    struct model_faults faults;
    struct model_event heap[MODEL_EVENTS];
    unsigned heap_count;
    uint64_t order, steps;
    /* Counters of events. */
    uint64_t losses, partial, markers, forged, refused_posts, late_replays;
    uint64_t at_once; /* both queue pairs failed before either end heard of the other's failure */
    uint64_t messages_kept; /* messages, and works before them, that were not repeated */
    uint64_t ghosts, ghosts_accepted, ghosts_after_end; /* the sender's verb had ended */
};

/* Between these two calls the caller sets the ends' parameters, depths and verbs. */
void model_init(struct model *model, uint64_t seed);
void model_open(struct model *model);
/* Runs until no event is left. */
void model_run(struct model *model);
void model_close(struct model *model);

/* ---- rogue_model_messages.c ---- */

enum model_event_kind {
    MODEL_EXECUTED,
    MODEL_COMPLETED,
    MODEL_HEARD,
    MODEL_POSTING,
    MODEL_FORGERY,
    MODEL_GHOST,
    MODEL_CLOSE,
    MODEL_GONE,
    MODEL_ASK_AGAIN,
    MODEL_ASKED,
    MODEL_COUNTED,
};
void model_schedule(struct model *model, struct model_event event);
uint64_t model_below(struct model *model, uint64_t n);
/* True with probability `p` while faults last. */
bool model_chance(struct model *model, double p);

/* True if a piece must wait until the peer has said how many messages it has received. */
bool model_messages_wait(struct model_end *end, unsigned qp, const struct rogue_verb *verb);
/* True if the peer has received the verb's message, or a later message. */
bool model_messages_have(const struct model_end *end, const struct rogue_verb *verb);
void model_messages_event(struct model_end *end, const struct model_event *event);

/* Adds a verb that its end will post. */
void model_add_verb(struct model_end *end, enum rogue_verb_kind kind, uint32_t bytes,
                    bool signaled);
/* Fails the test, with the seed, unless `condition` holds. */
#define MODEL_MUST(model, condition)                                                               \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("test_rogue %llu, at %llu ns: %s", (unsigned long long)(model)->seed,         \
                     (unsigned long long)((model)->now / OCHE_NS), #condition);                    \
    } while (0)

#endif
