/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a RoGUE connection: takes the application's verbs, posts them in segments on the
 * active one of two queue pairs, and follows their completions (RoGUE sec 3). Like core, it does
 * no I/O and reads no clock: a driver (the simulator's endpoint, the library above libibverbs)
 * calls it and gives it a port of functions.
 *
 * A piece is a segment of a large verb, or a whole small verb. Pieces are posted. They are numbered
 * from 0 on in the order of the verbs; the driver gives the NIC the number as wr_id. A
 * batch is the pieces that one completion signal covers, in one direction: WRITE and SEND are one,
 * READ is the other, with a window each (RoGUE sec 3.4).
 */
#ifndef OCHE_ROGUE_CONNECTION_H
#define OCHE_ROGUE_CONNECTION_H

#include "rogue/resync.h"
#include "rogue/rtt.h"
#include "rogue/window.h"

enum rogue_direction { ROGUE_OUT, ROGUE_IN, ROGUE_DIRECTIONS };
enum rogue_verb_kind { ROGUE_WRITE, ROGUE_SEND, ROGUE_READ, ROGUE_ATOMIC };

/* A verb of the application. `id` and `user` are for the driver, which knows addresses and keys. */
struct rogue_verb {
    uint64_t id, user;
    uint32_t bytes;
    uint8_t kind; /* enum rogue_verb_kind */
    bool signaled;
    /* The driver cannot cut the verb into pieces (inline data). It is at most one segment long. */
    bool whole;
};

/*
 * The number of a marker: a piece without bytes, which is posted on a queue pair in ERR so that it
 * is flushed after all other pieces.
 */
#define ROGUE_MARKER UINT64_MAX

/* A piece of a verb that the driver must post. */
struct rogue_piece {
    const struct rogue_verb *verb;
    uint64_t number; /* wr_id */
    uint32_t offset, bytes;
    bool last;     /* the verb's last piece: has the flags for the verb's end */
    bool signaled; /* a completion is wanted */
    bool echo;     /* UC: carries immediate data `echo_imm`, which the peer answers */
    uint32_t echo_imm;
};

/* The result of a verb for the application. */
enum rogue_outcome {
    ROGUE_DONE,
    ROGUE_FAILED,  /* the verb failed with the status that the NIC gave */
    ROGUE_FLUSHED, /* the verb was flushed because an earlier verb failed */
};

/* The functions that the driver provides. They must not call functions of the connection. */
struct rogue_port {
    /* Posts a piece on queue pair 0 or 1. Returns false if the send queue is full. */
    bool (*post)(void *context, unsigned qp, const struct rogue_piece *piece);
    /* Sets the limiter of a queue pair. `bps` at or above the line rate means no limit. */
    void (*limit)(void *context, unsigned qp, uint64_t bps);
    /* RC: asks the peer to limit the data of READs on this queue pair (RoGUE sec 3.4). */
    void (*limit_reads)(void *context, unsigned qp, uint64_t bps);
    /*
     * Returns how many bytes a piece takes on the line, as the limiter counts them, and in
     * *last_packet those of its last packet.
     */
    uint64_t (*line_bytes)(void *context, const struct rogue_piece *piece, uint64_t *last_packet);
    /* A verb has ended. Called for every verb, in order, whether the verb is signaled or not. */
    void (*ended)(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                  int status);
    /* Moves a queue pair to ERR, so that what is posted is flushed. */
    void (*fail)(void *context, unsigned qp);
    /*
     * Brings a queue pair from ERR through RESET to RTS. It will send from PSN `send_psn` on, and
     * expects `recv_psn`. Nothing is posted on it.
     */
    void (*restart)(void *context, unsigned qp, uint32_t send_psn, uint32_t recv_psn);
    /* Returns the PSN, hard to guess, with which a queue pair starts again in an epoch. */
    uint32_t (*new_psn)(void *context, unsigned qp, uint32_t epoch);
    /*
     * UC: answers with an empty WRITE that carries `imm`. If there is no room for the WRITE, it is
     * lost.
     */
    void (*answer)(void *context, uint32_t imm);
    /* May be NULL. Called when a round trip has changed the window of its direction. */
    void (*sampled)(void *context, enum rogue_direction direction, oche_time rtt, oche_time now);
    /* Sends a message to the peer's library, in a datagram that may be lost. */
    void (*tell)(void *context, const struct rogue_resync *message);
    /*
     * The adapter's limiters (limiters.h), of which every connection with work under way has one.
     * take: returns true if this connection has one; false: it waits in line, and the driver calls
     * rogue_pump when it has one. give: gives it back, or leaves the line. wanted: returns true if
     * other connections wait. NULL, all three: there is one for each connection.
     */
    bool (*take_limiter)(void *context);
    void (*give_limiter)(void *context);
    bool (*limiter_wanted)(void *context);
};

struct rogue_config {
    const struct rogue_params *params;
    const struct rogue_port *port;
    void *context;
    uint64_t token;  /* the connection's token: the same at both ends, and hard to guess */
    int status_lost; /* the status of a verb that fails because the peer does not answer */
    uint64_t line_rate_bps, peer_line_rate_bps;
    uint32_t mtu_bytes;
    uint32_t depth; /* most verbs under way at a time, and most pieces; a power of two */
    /*
     * True: atomics may be posted again after a failure; false: the connection fails instead
     * (rogue.md#r11).
     */
    bool replay_atomics;
};

/* Counts of a connection; the names are those of rogue_counters. */
struct rogue_counts {
    uint64_t pieces, signals, samples, held_off;
    uint64_t switches;        /* how often a shadow queue pair took over */
    uint64_t replayed_pieces; /* pieces posted again on the shadow */
    uint64_t resynchronised;  /* how often a queue pair became a shadow again */
    uint64_t resync_messages; /* sent */
    uint64_t limiter_changes;
    uint64_t limiter_waits;      /* how often the connection had to wait for a limiter */
    uint64_t unanswered_batches; /* UC: given up before an answer came */
    uint64_t sample_timeouts;    /* UC: how often all batches under way were given up */
    uint64_t answers;            /* UC: answers sent to the peer */
};

struct rogue_connection;

size_t rogue_connection_bytes(const struct rogue_config *config);
/* Makes a connection in `memory`; both queue pairs are in RTS and nothing is posted on them. */
struct rogue_connection *rogue_connection_create(void *memory, const struct rogue_config *config);

/* Sets the retry count that the application asked for, if any (rogue.md#r25). */
void rogue_set_retry_count(struct rogue_connection *rogue, uint32_t count);

/*
 * Continues another connection, which was idle when it was given up: in these epochs, with queue
 * pairs that were started like that one's.
 */
void rogue_resume(struct rogue_connection *rogue, const uint32_t epochs[2], unsigned active);

/* Takes a verb. Returns false if `depth` verbs are already under way. */
bool rogue_post(struct rogue_connection *rogue, const struct rogue_verb *verb, oche_time now);
/*
 * Posts what the windows allow. Functions that report events to the connection do this too, so the
 * driver needs to call it only when a full send queue has room again.
 */
void rogue_pump(struct rogue_connection *rogue, oche_time now);

/*
 * The completion of a piece on queue pair `qp`: the piece asked for a signal, or it has failed. If
 * it has completed, all pieces that were posted before it have completed too. `completed` is the
 * NIC's time stamp. `lost`: the status says that retries were exceeded. `flushed`: the queue pair
 * was in ERR.
 */
struct rogue_completion {
    uint64_t number;
    oche_time completed;
    unsigned qp;
    int status; /* the driver's, for port.ended */
    bool success, lost, flushed;
};
void rogue_completed(struct rogue_connection *rogue, const struct rogue_completion *done,
                     oche_time now);

/*
 * UC: to be called when a WRITE with immediate data has come, at time `came`. `empty`: the WRITE
 * has no data, so it answers one of ours. It may be hostile: an answer without a batch is ignored.
 */
void rogue_immediate(struct rogue_connection *rogue, uint32_t imm, bool empty, oche_time came,
                     oche_time now);

/*
 * To be called when a message of the peer's library has come. It may be hostile: messages in a
 * wrong state are ignored.
 */
void rogue_told(struct rogue_connection *rogue, const struct rogue_resync *message, oche_time now);

/* Returns when to call rogue_expire; OCHE_NEVER: not before another event. */
oche_time rogue_next(const struct rogue_connection *rogue);
void rogue_expire(struct rogue_connection *rogue, oche_time now);

/* The driver has given up the connection: verbs under way end, the first with `status`. */
void rogue_fail(struct rogue_connection *rogue, int status);

/* True if no verb is under way and both queue pairs are ready. */
bool rogue_idle(const struct rogue_connection *rogue);
/*
 * True if no batch is under way. On UC that means that all batches have been answered or given up.
 */
bool rogue_quiet(const struct rogue_connection *rogue);
/* UC: returns how many verbs are in batches that have all been answered or given up. */
uint64_t rogue_verbs_answered(const struct rogue_connection *rogue);
/* True if the connection has failed for good. From then on every verb ends as FLUSHED. */
bool rogue_broken(const struct rogue_connection *rogue);
const struct rogue_window *rogue_window_of(const struct rogue_connection *rogue,
                                           enum rogue_direction direction);
const struct rogue_counts *rogue_counts_of(const struct rogue_connection *rogue);
/* Returns how often the queue pair has failed. */
uint32_t rogue_epoch(const struct rogue_connection *rogue, unsigned qp);
unsigned rogue_active(const struct rogue_connection *rogue);

#endif
