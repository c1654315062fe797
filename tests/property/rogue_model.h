/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ends of a RoGUE connection and what lies below them, for test_rogue.c. Each end's NIC has
 * two queue pairs that execute pieces in order; a piece may be lost, with any part of it delivered,
 * and takes its queue pair to ERR with it. A queue pair reaches the peer's only while each expects
 * the other's PSNs. Completions come late, in order a queue pair; messages between the libraries
 * are lost, doubled, delayed past each other, repeated much later and forged.
 */
#ifndef OCHE_TESTS_PROPERTY_ROGUE_MODEL_H
#define OCHE_TESTS_PROPERTY_ROGUE_MODEL_H

#include "core/random.h"
#include "rogue/connection.h"

#define MODEL_VERBS  80
#define MODEL_DEPTH  64 /* most */
#define MODEL_EVENTS 4096
#define MODEL_TOLD   256

/* A verb, and what has become of it. */
struct model_verb {
    uint32_t bytes;
    uint8_t kind;
    bool signaled, ended;
    bool late;         /* it was posted when the connection had failed */
    uint64_t base;     /* its first byte among those of all verbs; its end counts as one more */
    unsigned executed; /* atomics: how often */
};

struct model_piece {
    struct rogue_piece piece; /* not its verb */
    uint64_t id;
};

struct model_completion {
    struct rogue_completion done;
    unsigned slots; /* of the send queue that are free when it has been polled */
};

struct model_qp {
    bool error; /* in ERR; else in RTS */
    bool known; /* the library knows, or has done it */
    uint32_t send_psn, recv_psn, generation;
    struct model_piece queue[2 * MODEL_DEPTH]; /* not executed yet */
    unsigned head, tail;
    struct model_completion completions[2 * MODEL_DEPTH];
    unsigned first, last;
    oche_time newest; /* when its newest completion comes */
    unsigned slots;   /* of the send queue, taken */
    unsigned silent;  /* of these: executed, without a completion that frees them */
};

/* What a world's NICs and channel do to it. */
struct model_faults {
    double piece_loss, error, message_loss, message_double, forgery;
    oche_time until; /* then all is well */
    bool silence;    /* no message ever arrives */
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
    unsigned send_queue;                  /* slots */
    uint64_t frontier;                    /* all before it has been executed */
    uint64_t end;                         /* of all verbs */
    bool failed;                          /* a verb has ended other than well */
    bool asked;                           /* it has told REQUEST in the newest epoch */
    struct rogue_resync told[MODEL_TOLD]; /* the newest messages */
    unsigned told_count;
};

struct model_event {
    oche_time at;
    uint64_t order;
    uint8_t kind, end, qp;
    uint32_t generation;
    struct rogue_resync message;
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
    /* What has happened. */
    uint64_t losses, partial, markers, forged, refused_posts, late_replays;
};

/* The ends' parameters, depths and verbs are chosen by the caller between these two. */
void model_init(struct model *model, uint64_t seed);
void model_open(struct model *model);
/* Runs until nothing is to happen any more. */
void model_run(struct model *model);
void model_close(struct model *model);

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
