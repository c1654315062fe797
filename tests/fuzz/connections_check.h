/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence of events, made from any bytes, into one connection manager whose peers are hostile:
 * messages that are made up, that have the right numbers of a connection, or that are repeated;
 * what a program calls, also from within an event; and time. What must hold, whatever comes:
 *   - a connection has the events that it may have, in their order, and none after its end;
 *   - no connection is used after it is forgotten (each has memory of its own, for a sanitizer);
 *   - no more are half open than there may be, and the manager's lists have exactly what there is;
 *   - a message that arrives causes three at most, and a timer two; all that is sent can be read;
 *   - when no message comes any more, all that waits for a peer ends in nine minutes;
 *   - no invariant of core breaks (oche_panic).
 */
#ifndef OCHE_TESTS_FUZZ_CONNECTIONS_CHECK_H
#define OCHE_TESTS_FUZZ_CONNECTIONS_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "core/cm/cm.h"
#include "core/random.h"

#define CONNS_MOST      48
#define CONNS_HALF_OPEN 8
#define CONNS_PEERS     4
#define CONNS_ACTIONS   64
#define CONNS_SECOND    (1000 * OCHE_MS)
#define CONNS_LONGEST   (540 * CONNS_SECOND)

struct conns_one {
    struct oche_cm_conn *conn; /* NULL: not used */
    uint32_t may_follow;       /* events, a bit each */
};

struct conns {
    const uint8_t *bytes;
    size_t count, at;
    struct oche_cm cm;
    struct oche_random random;
    oche_time now;
    struct conns_one all[CONNS_MOST];
    unsigned actions; /* of programs, until no more are made */
    unsigned sent;
    uint8_t own_gid[OCHE_CM_GID_BYTES], peer_gids[CONNS_PEERS][OCHE_CM_GID_BYTES];
    uint8_t last_sent[OCHE_MAD_BYTES], last_arrived[OCHE_MAD_BYTES];
    unsigned last_from;
    const char *wrong;
};

static inline uint32_t conns_byte(struct conns *c)
{
    return c->at < c->count ? c->bytes[c->at++] : 0;
}

static inline void conns_must(struct conns *c, bool holds, const char *what)
{
    if (!holds && c->wrong == NULL)
        c->wrong = what;
}

/* ---- the actions of a program ---- */

static inline void conns_forget(struct conns *c, struct conns_one *one)
{
    oche_cm_forget(&c->cm, c->now, one->conn);
    conns_must(c, one->conn->state == OCHE_CM_IDLE, "forgotten, and not idle");
    free(one->conn);
    one->conn = NULL;
}

static inline void conns_act(struct conns *c, struct conns_one *one, uint32_t what)
{
    struct oche_cm_message message = {.qpn = 0x300 + (uint32_t)(one - c->all),
                                      .local_response_timeout = (what >> 3) & 31,
                                      .max_cm_retries = 15,
                                      .reason = OCHE_CM_REASON_CONSUMER};

    if (one->conn == NULL || c->actions == 0)
        return;
    c->actions--;
    switch (what & 7) {
    case 0:
        oche_cm_accept(&c->cm, c->now, one->conn, &message);
        return;
    case 1:
        oche_cm_confirm(&c->cm, c->now, one->conn, &message);
        return;
    case 2:
        oche_cm_reject(&c->cm, c->now, one->conn, &message);
        return;
    case 3:
        oche_cm_disconnect(&c->cm, c->now, one->conn);
        return;
    case 4:
        message.status = (uint8_t)(what >> 3);
        oche_cm_tell(&c->cm, c->now, one->conn, &message);
        return;
    case 5:
        oche_cm_established(&c->cm, one->conn);
        return;
    case 6:
        conns_forget(c, one);
        return;
    default:
        return;
    }
}

static inline struct conns_one *conns_fresh(struct conns *c)
{
    for (unsigned i = 0; i < CONNS_MOST; i++)
        if (c->all[i].conn == NULL) {
            c->all[i].conn = calloc(1, sizeof(*c->all[i].conn));
            if (c->all[i].conn == NULL)
                abort();
            c->all[i].conn->owner = &c->all[i];
            return &c->all[i];
        }
    return NULL;
}

static inline void conns_begin(struct conns *c, bool datagrams)
{
    struct conns_one *one = conns_fresh(c);
    const uint32_t byte = conns_byte(c);
    struct oche_cm_message request = {.service_id = byte,
                                      .qpn = 0x100 + byte,
                                      .mtu = 5,
                                      .remote_response_timeout = byte & 31,
                                      .max_cm_retries = (uint8_t)(byte >> 4)};
    const uint8_t *peer = c->peer_gids[byte % CONNS_PEERS];

    if (one == NULL)
        return;
    one->may_follow = 1u << OCHE_CM_ANSWERED | 1u << OCHE_CM_REJECTED | 1u << OCHE_CM_UNREACHABLE;
    conns_must(c,
               datagrams ? oche_cm_ask(&c->cm, c->now, one->conn, c->own_gid, peer, &request,
                                       byte & 31, byte >> 4 & 15)
                         : oche_cm_connect(&c->cm, c->now, one->conn, c->own_gid, peer, &request),
               "a fresh connection cannot ask");
}

/* ---- hooks ---- */

static inline void conns_send(void *context, const uint8_t *local_gid, const uint8_t *remote_gid,
                              const uint8_t *mad)
{
    struct conns *c = context;
    struct oche_cm_message message;
    bool known = false;

    for (unsigned i = 0; i < CONNS_PEERS; i++)
        known |= memcmp(remote_gid, c->peer_gids[i], OCHE_CM_GID_BYTES) == 0;
    conns_must(c, known, "sent to an address that nothing came from");
    conns_must(c, memcmp(local_gid, c->own_gid, OCHE_CM_GID_BYTES) == 0, "sent from elsewhere");
    conns_must(c, oche_cm_read(mad, OCHE_MAD_BYTES, &message) == OCHE_CM_OK, "sent what is none");
    memcpy(c->last_sent, mad, OCHE_MAD_BYTES);
    c->sent++;
}

/* The service's number chooses the actions of its program. */
static inline struct oche_cm_conn *conns_incoming(void *context, const uint8_t *local_gid,
                                                  const uint8_t *remote_gid,
                                                  const struct oche_cm_message *request,
                                                  uint16_t *reason)
{
    struct conns *c = context;
    const bool datagrams = request->kind == OCHE_CM_SIDR_REQ;
    struct conns_one *one;

    (void)local_gid;
    (void)remote_gid;
    if ((request->service_id & 7) == 7) {
        *reason = datagrams ? OCHE_CM_SIDR_UNSUPPORTED : OCHE_CM_REASON_INVALID_SERVICE;
        return NULL;
    }
    one = (request->service_id & 7) == 6 ? NULL : conns_fresh(c);
    if (one == NULL)
        return NULL;
    one->may_follow = 1u << OCHE_CM_REQUESTED;
    return one->conn;
}

static inline uint32_t conns_may_follow(enum oche_cm_event event)
{
    switch (event) {
    case OCHE_CM_REQUESTED:
        return 1u << OCHE_CM_CONNECTED | 1u << OCHE_CM_REJECTED | 1u << OCHE_CM_UNCONFIRMED |
               1u << OCHE_CM_DISCONNECTED;
    case OCHE_CM_ANSWERED:
        return 1u << OCHE_CM_DISCONNECTED | 1u << OCHE_CM_REJECTED;
    case OCHE_CM_CONNECTED:
        return 1u << OCHE_CM_DISCONNECTED;
    case OCHE_CM_DISCONNECTED:
        return 1u << OCHE_CM_TIMEWAIT_OVER;
    default:
        return 0;
    }
}

static inline void conns_event(void *context, struct oche_cm_conn *conn,
                               const struct oche_cm_news *news)
{
    struct conns *c = context;
    struct conns_one *one = conn->owner;

    conns_must(c, one->conn == conn, "an event of what there is not");
    conns_must(c, (one->may_follow >> news->event & 1) != 0, "an event that may not follow");
    one->may_follow = conns_may_follow(news->event);
    if (news->event == OCHE_CM_REQUESTED)
        conns_act(c, one, (uint32_t)news->message->service_id & 0xff);
    else if (c->at < c->count && (c->bytes[c->at] & 0x80) != 0)
        conns_act(c, one, conns_byte(c) & 0x7f);
}

static inline uint64_t conns_draw(void *context)
{
    return oche_random_u64(&((struct conns *)context)->random);
}

/* ---- what arrives ---- */

static inline void conns_arrive(struct conns *c, unsigned from, const uint8_t *mad, size_t bytes)
{
    const unsigned before = c->sent;

    oche_cm_arrive(&c->cm, c->now, c->own_gid, c->peer_gids[from % CONNS_PEERS], mad, bytes);
    if (bytes == OCHE_MAD_BYTES) {
        memmove(c->last_arrived, mad, bytes);
        c->last_from = from;
    }
    /* a REJ for the displaced one, the answer of the event's program, and one when it forgets */
    conns_must(c, c->sent - before <= 4, "one message causes many");
}

/* A message of any kind with the numbers of a connection. */
static inline void conns_forge(struct conns *c)
{
    const uint32_t what = conns_byte(c), which = conns_byte(c), field = conns_byte(c);
    const struct oche_cm_conn *conn = c->all[which % CONNS_MOST].conn;
    struct oche_cm_message message = {
        .kind = (uint8_t)(OCHE_CM_REQ + what % (OCHE_CM_KINDS_END - OCHE_CM_REQ)),
        .local_id = 1 + which,
        .tid = which,
        .service_id = field,
        .qpn = 0x100 + which,
        .mtu = (uint8_t)(1 + field % 5),
        .local_response_timeout = field & 31,
        .max_cm_retries = (uint8_t)(field >> 4),
        .service_timeout = field & 31,
        .reason = (uint16_t)(field % 40),
        .status = field & 3,
        .transport = field >> 5 == 7 ? OCHE_CM_EXTENDED : OCHE_CM_RC,
    };
    uint8_t mad[OCHE_MAD_BYTES];
    unsigned from = what >> 6;

    if (conn != NULL && (what & 0x20) == 0) {
        message.local_id = conn->remote_id != 0 ? conn->remote_id : 1 + which;
        message.remote_id = (what & 0x10) == 0 ? conn->local_id : 0;
        message.tid = conn->tid;
        if (message.kind == OCHE_CM_SIDR_REP)
            message.local_id = conn->local_id;
        if (message.kind == OCHE_CM_DREQ)
            message.qpn = conn->local_qpn;
        for (unsigned i = 0; i < CONNS_PEERS; i++)
            if (memcmp(conn->remote_gid, c->peer_gids[i], OCHE_CM_GID_BYTES) == 0)
                from = i;
    }
    oche_cm_write(&message, mad);
    conns_arrive(c, from, mad, sizeof(mad));
}

static inline void conns_raw(struct conns *c, unsigned from)
{
    const size_t left = c->count - c->at;
    const size_t bytes = left < OCHE_MAD_BYTES ? left : OCHE_MAD_BYTES;

    conns_arrive(c, from, c->bytes + c->at, bytes);
    c->at += bytes;
}

/* ---- what must hold ---- */

static inline unsigned conns_heap(struct conns *c, const struct oche_cm_conn *conn, oche_time least)
{
    unsigned count = 0;

    for (; conn != NULL; conn = conn->next_timer) {
        conns_must(c, conn->due >= least && *conn->timer_link == conn, "timers are out of order");
        count += 1 + conns_heap(c, conn->timer_child, conn->due);
    }
    return count;
}

static inline void conns_numbers(struct conns *c)
{
    unsigned known = 0, listed = 0;

    for (unsigned i = 0; i < CONNS_MOST; i++)
        known += c->all[i].conn != NULL && c->all[i].conn->state != OCHE_CM_IDLE;
    for (unsigned b = 0; b < OCHE_CM_BUCKETS; b++)
        for (const struct oche_cm_conn *conn = c->cm.by_id[b]; conn != NULL;
             conn = conn->next_by_id)
            listed++;
    conns_must(c, known == listed, "numbers are of what there is not");
}

static inline void conns_lists(struct conns *c)
{
    unsigned timers = 0, half_open = 0, unconfirmed = 0, waiting = 0;

    for (unsigned i = 0; i < CONNS_MOST; i++) {
        const struct oche_cm_conn *conn = c->all[i].conn;

        if (conn == NULL)
            continue;
        timers += conn->timer_link != NULL;
        half_open += conn->state == OCHE_CM_REQ_RCVD || conn->state == OCHE_CM_REP_SENT ||
                     conn->state == OCHE_CM_SIDR_RCVD;
        unconfirmed += conn->state == OCHE_CM_REP_SENT;
    }
    for (const struct oche_cm_conn *conn = c->cm.unconfirmed; conn != NULL;
         conn = conn->next_unconfirmed)
        waiting++;
    conns_must(c, timers == conns_heap(c, c->cm.timers, 0), "timers of what there is not");
    conns_must(c, half_open == c->cm.half_open_count && half_open <= CONNS_HALF_OPEN,
               "too many are half open");
    conns_must(c, unconfirmed == waiting, "others are unconfirmed");
}

/* A jump of time runs all timers that are due, each at its time. */
static inline void conns_pass(struct conns *c, oche_time until)
{
    while (c->wrong == NULL && oche_cm_due(&c->cm) <= until) {
        const oche_time due = oche_cm_due(&c->cm);
        const unsigned before = c->sent;

        conns_must(c, due != OCHE_NEVER, "never is due");
        c->now = due > c->now ? due : c->now;
        oche_cm_tick(&c->cm, c->now);
        conns_must(c, oche_cm_due(&c->cm) > c->now, "a timer was due and is still");
        conns_must(c, c->sent - before <= 4 * (CONNS_MOST + OCHE_CM_MOST_GRACE),
                   "timers send without end");
    }
    c->now = until;
}

/* No more messages come: no connection may wait for one for ever. */
static inline void conns_end(struct conns *c)
{
    c->actions = 0;
    c->at = c->count;
    conns_numbers(c);
    conns_pass(c, c->now + CONNS_LONGEST);
    conns_must(c, c->cm.timers == NULL && oche_cm_due(&c->cm) == OCHE_NEVER,
               "a timer runs for ever");
    for (unsigned i = 0; i < CONNS_MOST && c->wrong == NULL; i++) {
        const struct oche_cm_conn *conn = c->all[i].conn;

        if (conn == NULL)
            continue;
        conns_must(c,
                   conn->state != OCHE_CM_REQ_SENT && conn->state != OCHE_CM_REP_SENT &&
                       conn->state != OCHE_CM_DREQ_SENT && conn->state != OCHE_CM_TIMEWAIT &&
                       conn->state != OCHE_CM_SIDR_SENT,
                   "a connection waits for its peer for ever");
        conns_forget(c, &c->all[i]);
    }
    conns_lists(c);
    conns_numbers(c);
    for (unsigned b = 0; b < OCHE_CM_BUCKETS; b++)
        conns_must(c, c->cm.by_remote[b] == NULL && c->cm.by_qpn[b] == NULL, "something is left");
}

static inline void conns_step(struct conns *c)
{
    const uint32_t op = conns_byte(c);

    switch (op % 8) {
    case 0:
    case 1:
        conns_forge(c);
        break;
    case 2:
        conns_act(c, &c->all[op / 8 % CONNS_MOST], conns_byte(c));
        break;
    case 3:
        conns_begin(c, op >= 0x80);
        break;
    case 4: /* up to 2^35 ns, 34 s */
        conns_pass(c, c->now + (OCHE_NS << (op / 8 + 4)));
        break;
    case 5:
        conns_arrive(c, c->last_from, c->last_arrived, OCHE_MAD_BYTES);
        break;
    case 6: /* our own message comes back */
        conns_arrive(c, op / 8, c->last_sent, OCHE_MAD_BYTES);
        break;
    default:
        conns_raw(c, op / 8);
        break;
    }
}

/* Returns the broken rule, or NULL. */
static inline const char *connections_check(const uint8_t *bytes, size_t count)
{
    static struct conns fuzzed;
    struct conns *c = &fuzzed;
    const struct oche_cm_hooks hooks = {.send = conns_send,
                                        .incoming = conns_incoming,
                                        .event = conns_event,
                                        .random = conns_draw,
                                        .context = c};

    *c = (struct conns){.bytes = bytes, .count = count, .actions = CONNS_ACTIONS};
    c->random = oche_random_stream(1, "connections", 0);
    c->own_gid[15] = 1;
    for (unsigned i = 0; i < CONNS_PEERS; i++)
        c->peer_gids[i][15] = (uint8_t)(2 + i);
    oche_cm_init(&c->cm, &hooks, 7, 3, 6);
    c->cm.most_half_open = CONNS_HALF_OPEN;
    while (c->at < count && c->wrong == NULL) {
        conns_step(c);
        conns_lists(c);
    }
    if (c->wrong == NULL)
        conns_end(c);
    for (unsigned i = 0; i < CONNS_MOST; i++)
        free(c->all[i].conn);
    return c->wrong;
}

#endif
