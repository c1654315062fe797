/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two connection managers and the messages between them. The test may lose, repeat and delay these.
 * Times are simulated. Each end is a program that acts on events by its `plan`.
 */
#ifndef OCHE_TESTS_SUPPORT_CM_PAIR_H
#define OCHE_TESTS_SUPPORT_CM_PAIR_H

#include "core/cm/cm.h"
#include "core/random.h"

#define CM_PAIR_MESSAGES 4096
#define CM_PAIR_CONNS    64
#define CM_PAIR_EVENTS   16

enum cm_pair_answer { CM_PAIR_ACCEPT, CM_PAIR_REJECT, CM_PAIR_WAIT, CM_PAIR_REFUSE };

/* A connection at one end, and its events. */
struct cm_pair_conn {
    struct oche_cm_conn conn;
    struct cm_pair_end *end;
    bool used, hung_up;
    enum oche_cm_event events[CM_PAIR_EVENTS];
    unsigned event_count;
    uint16_t reason;         /* reason of the last REJ */
    uint8_t private_data[8]; /* the first bytes of the last message's private data */
};

struct cm_pair;
struct cm_pair_end {
    struct oche_cm cm;
    struct cm_pair *pair;
    uint8_t gid[OCHE_CM_GID_BYTES];
    struct cm_pair_conn conns[CM_PAIR_CONNS];
    enum cm_pair_answer plan;
    bool dead;       /* receives nothing and sends nothing */
    bool no_rtu;     /* does not confirm a REP */
    bool keeps_dreq; /* does not answer a DREQ */
    struct oche_random random;
};

struct cm_pair_message {
    bool used;
    oche_time at;
    unsigned to;
    uint8_t from_gid[OCHE_CM_GID_BYTES];
    uint8_t mad[OCHE_MAD_BYTES];
};

struct cm_pair {
    struct cm_pair_end ends[2];
    struct cm_pair_message messages[CM_PAIR_MESSAGES];
    unsigned count;
    oche_time now, delay;
    uint32_t lose_percent, repeat_percent; /* percent of the messages */
    bool reorder;
    struct oche_random random;
    /* sees each message that is sent; returns false to lose it. NULL: none is lost */
    bool (*filter)(struct cm_pair *pair, unsigned from, const struct oche_cm_message *message);
    void *context;
};

/* The numbers of the ends have 1 and 2 in their uppermost six bits. */
void cm_pair_init(struct cm_pair *pair, uint64_t seed);
/* Begins a connection from end 0 to end 1. */
struct cm_pair_conn *cm_pair_connect(struct cm_pair *pair, uint32_t qpn);
/* Returns the n-th used connection of end `end`, or NULL. */
struct cm_pair_conn *cm_pair_nth(struct cm_pair *pair, unsigned end, unsigned n);
/* Runs until no message is in flight and no timer runs, or until `until`. */
void cm_pair_run(struct cm_pair *pair, oche_time until);
/* True if the connection's events are exactly these `count`. */
bool cm_pair_had(const struct cm_pair_conn *conn, const enum oche_cm_event *events, unsigned count);
#define CM_PAIR_HAD(conn, ...)                                                                     \
    cm_pair_had(conn, (const enum oche_cm_event[]){__VA_ARGS__},                                   \
                sizeof((const enum oche_cm_event[]){__VA_ARGS__}) / sizeof(enum oche_cm_event))

#endif
