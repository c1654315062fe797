/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a RoGUE connection with a driver that only notes the library's requests. The test
 * decides what completes, fails and arrives, and when. There is one end alone, or two; bench_pass
 * then carries their messages.
 */
#ifndef OCHE_TESTS_SUPPORT_ROGUE_BENCH_H
#define OCHE_TESTS_SUPPORT_ROGUE_BENCH_H

#include "rogue/connection.h"
#include "rogue/limiters.h"

#define BENCH_NOTES  4096
#define BENCH_MTU    1024
#define BENCH_LINE   (10 * OCHE_GBPS)
#define BENCH_TOKEN  UINT64_C(0x0123456789abcdef)
#define BENCH_STATUS 12 /* the status of exceeded retries */

struct bench_piece {
    struct rogue_piece piece; /* the next member is its verb */
    struct rogue_verb verb;
    unsigned qp;
};

struct bench_limit {
    unsigned qp;
    uint64_t bps;
    bool reads; /* of the peer's answers to READs */
};

struct bench_end {
    uint64_t id;
    enum rogue_outcome outcome;
    int status;
};

struct bench_restart {
    unsigned qp;
    uint32_t send_psn, recv_psn;
};

struct bench {
    /* May be changed between bench_init and bench_open. */
    struct rogue_params params;
    struct rogue_config config;
    struct rogue_connection *rogue;
    oche_time now;
    uint64_t room;      /* free entries of the send queue */
    uint64_t overheads; /* bytes of a piece on the line beside its payload */
    uint64_t next_id;
    /* The library's requests, in order. */
    struct bench_piece posted[BENCH_NOTES];
    struct bench_limit limits[BENCH_NOTES];
    struct bench_end ended[BENCH_NOTES];
    struct bench_restart restarts[BENCH_NOTES];
    struct rogue_resync told[BENCH_NOTES];
    unsigned posted_count, limit_count, ended_count, restart_count, told_count, failed[2];
    uint32_t answers[BENCH_NOTES]; /* UC: immediate data */
    unsigned answer_count;
    /* number of round trips that have changed a window; the last such round trip */
    unsigned sampled[ROGUE_DIRECTIONS];
    oche_time last_sample;
    unsigned markers, marked_qp;
    unsigned passed; /* messages that bench_pass has carried */
    /* If params.rate_limiters is not 0: the adapter's, which ends may share; and this end's place.
     */
    struct rogue_limiters *limiters;
    struct rogue_limited limited;
};

/* Sets all parameters to their defaults, with 10 Gbit/s at both ends and 64 verbs. */
void bench_init(struct bench *bench);
void bench_open(struct bench *bench);
void bench_close(struct bench *bench);

/* Posts a verb; its id is the number of earlier verbs. Returns the library's result. */
bool bench_post(struct bench *bench, enum rogue_verb_kind kind, uint32_t bytes, bool signaled);
/* Piece `number` completes on the queue pair where it was last posted. */
void bench_complete(struct bench *bench, uint64_t number);
/* The piece fails because retries were exceeded; with another status; or it is flushed. */
void bench_lose(struct bench *bench, uint64_t number);
void bench_err(struct bench *bench, uint64_t number, int status);
void bench_flush(struct bench *bench, uint64_t number);
/* The piece fails because retries were exceeded, and later ones are flushed. */
void bench_lose_from(struct bench *bench, uint64_t number);
/* Pieces from `number` on are flushed. */
void bench_flush_from(struct bench *bench, uint64_t number);
/* The marker that was posted last is flushed. */
void bench_flush_marker(struct bench *bench);
/* A message comes from the peer, with the connection's token. */
void bench_hear(struct bench *bench, enum rogue_resync_kind kind, unsigned qp, uint32_t epoch,
                uint32_t psn);
/* Carries new messages of `from` to `to`. Returns how many. */
unsigned bench_pass(struct bench *from, struct bench *to);
/* Carries messages between two ends until neither has any. */
void bench_settle(struct bench *a, struct bench *b);

/* Returns the last piece that was posted. */
const struct bench_piece *bench_last(const struct bench *bench);
/* Returns the newest posting of piece `number`. */
const struct bench_piece *bench_piece(const struct bench *bench, uint64_t number);

#endif
