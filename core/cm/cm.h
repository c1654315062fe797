/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection manager (IBTA, volume 1, chapter 12; rocev2.md#cm): who answers whom, when a
 * message is repeated, when a connection is up, gone, or given up. It does no I/O, reads no clock
 * and allocates nothing: the caller hands in messages and the time, gives it the memory of each
 * connection, and gets events and messages to send through callbacks.
 *
 *   cm.c         connections: their numbers, finding them, repeating messages, ending them
 *   timers.c     when what is due
 *   connect.c    what a program asks for: connect, accept, confirm, reject, disconnect
 *   arrive.c     what arrives
 *   half_open.c  how many connections there may be that nobody has confirmed
 *   grace.c      requests that nobody listens to, for a moment
 *   sidr.c       datagrams: which queue pair takes them for a service
 *
 * A connection's states, as in IBTA Figs 140 and 141 and with their names there:
 *
 *   active   IDLE → REQ_SENT → REP_RCVD → ESTABLISHED     (a MRA makes REQ_SENT wait for longer)
 *   passive  IDLE → REQ_RCVD → REP_SENT → ESTABLISHED
 *   both     ESTABLISHED → DREQ_SENT or DREQ_RCVD → TIMEWAIT → IDLE
 *
 * What is repeated (REQ, REP, DREQ, SIDR REQ) is sent again after a 16th of the time in which the
 * peer promises to answer, then after twice as long, and so on up to that time: a lost message
 * costs little, and peers drop the second of two. It is given up after the time that the standard
 * allows: max_cm_retries + 1 times the whole of it.
 */
#ifndef OCHE_CORE_CM_CM_H
#define OCHE_CORE_CM_CM_H

#include "core/cm/mad.h"

OCHE_C_BEGIN

/* Linux's values: a peer has 4.3 s to answer, and is asked up to 15 times more. */
#define OCHE_CM_RESPONSE_TIMEOUT 20
#define OCHE_CM_RETRIES          15

enum oche_cm_state {
    OCHE_CM_IDLE,
    OCHE_CM_REQ_SENT,
    OCHE_CM_REQ_RCVD,
    OCHE_CM_REP_SENT,
    OCHE_CM_REP_RCVD,
    OCHE_CM_ESTABLISHED,
    OCHE_CM_DREQ_SENT,
    OCHE_CM_DREQ_RCVD,
    OCHE_CM_TIMEWAIT,
    OCHE_CM_SIDR_SENT,
    OCHE_CM_SIDR_RCVD,
    OCHE_CM_SIDR_TOLD, /* SIDR REP sent, and sent again if asked again */
    OCHE_CM_STATES,
};

enum oche_cm_event {
    OCHE_CM_REQUESTED,     /* REQ, SIDR REQ: to be accepted or rejected */
    OCHE_CM_ANSWERED,      /* REP: to be confirmed or rejected; SIDR REP: it is over */
    OCHE_CM_CONNECTED,     /* passive: RTU, so the peer has confirmed */
    OCHE_CM_REJECTED,      /* REJ, or a SIDR REP whose status is not 0 */
    OCHE_CM_UNREACHABLE,   /* no answer to REQ or SIDR REQ */
    OCHE_CM_UNCONFIRMED,   /* passive: no answer to REP */
    OCHE_CM_DISCONNECTED,  /* DREQ, DREP, or no answer to DREQ; or the peer has forgotten us */
    OCHE_CM_TIMEWAIT_OVER, /* nothing of the connection is in the network any more */
};

/* One connection, in memory of the caller's. All fields are the manager's; read those above the
 * line. */
struct oche_cm_conn {
    uint8_t state;
    bool active; /* this side asked for the connection */
    uint8_t local_gid[OCHE_CM_GID_BYTES], remote_gid[OCHE_CM_GID_BYTES];
    uint32_t local_id, remote_id;
    uint32_t local_qpn, remote_qpn;
    void *owner; /* the caller's own */
    /* ---- */
    uint64_t tid;
    struct oche_cm_conn *next_by_id, *next_by_remote, *next_by_qpn;
    /* in the heap of timers; timer_link NULL: no timer runs */
    struct oche_cm_conn *timer_child, *next_timer, **timer_link;
    struct oche_cm_conn *next_unconfirmed, **unconfirmed_link; /* NULL: none waits for its peer */
    oche_time due;                                             /* deadline of the timer */
    oche_time wait, longest_wait;                              /* until the next repeat; at most */
    oche_time until;                                           /* repeats are given up then */
    oche_time linger;                                          /* in TIMEWAIT */
    bool half_open;                 /* a peer has asked, and not confirmed */
    bool waited;                    /* the peer was asked to wait; done at most once */
    uint8_t last[OCHE_MAD_BYTES];   /* the last message that may be repeated */
    uint8_t answer[OCHE_MAD_BYTES]; /* RTU, DREP, SIDR REP: as the peer may repeat */
};

/* The details of an event. `message` is NULL if nothing arrived. */
struct oche_cm_news {
    enum oche_cm_event event;
    const struct oche_cm_message *message;
};

struct oche_cm_hooks {
    /* Sends a message of OCHE_MAD_BYTES from one address to another. It may get lost. */
    void (*send)(void *context, const uint8_t *local_gid, const uint8_t *remote_gid,
                 const uint8_t *mad);
    /*
     * Someone asks for a service. Returns memory for the connection, or NULL with *reason, the
     * enum oche_cm_reason to answer with (of a SIDR REQ, its status); 0: no answer, so that the
     * peer asks again. The event OCHE_CM_REQUESTED follows.
     */
    struct oche_cm_conn *(*incoming)(void *context, const uint8_t *local_gid,
                                     const uint8_t *remote_gid,
                                     const struct oche_cm_message *request, uint16_t *reason);
    /* An event. The hook may destroy the connection, and call whatever else. */
    void (*event)(void *context, struct oche_cm_conn *conn, const struct oche_cm_news *news);
    /* Returns 64 bits that nobody can guess. */
    uint64_t (*random)(void *context);
    void *context;
};

#define OCHE_CM_BUCKETS 1024

struct oche_cm_stats {
    uint64_t received[OCHE_CM_KINDS_END - OCHE_CM_REQ];
    uint64_t sent[OCHE_CM_KINDS_END - OCHE_CM_REQ]; /* counts repeated messages too */
    uint64_t wrong[OCHE_CM_ERROR_COUNT];            /* arrived, and could not be read */
    uint64_t repeated;                              /* sent again, as no answer came */
    uint64_t duplicates;                            /* arrived again */
    uint64_t unknown;                               /* about no connection of ours */
    uint64_t strangers;                             /* about a connection, but not from its peer */
    uint64_t out_of_place;                          /* not meant for the connection's state */
    uint64_t refused;                               /* REQ and SIDR REQ that `incoming` refused */
    uint64_t crowded;   /* REQ and SIDR REQ that were dropped as too many are half open */
    uint64_t displaced; /* half open, and given up for another */
};

/*
 * A REQ or SIDR REQ for a service without a listener is refused only if there is still no listener
 * after this time. Some programs listen anew for each connection (perftest -R). Between two
 * connections they have no listener, on a busy machine for more than 50 ms, and their peers do not
 * ask again.
 */
#define OCHE_CM_GRACE      (250 * OCHE_MS)
#define OCHE_CM_MOST_GRACE 32 /* requests that may wait; others are refused at once */

/*
 * Connections that a peer has asked for and not confirmed: REQ_RCVD, REP_SENT, SIDR_RCVD. With what
 * librdmacm keeps beside each that is 9 MB.
 */
#define OCHE_CM_MOST_HALF_OPEN 4096

struct oche_cm_waiting {
    bool used;
    oche_time due;
    uint8_t local_gid[OCHE_CM_GID_BYTES], remote_gid[OCHE_CM_GID_BYTES];
    uint8_t mad[OCHE_MAD_BYTES];
};

struct oche_cm {
    struct oche_cm_hooks hooks;
    uint32_t id_prefix, id_mask; /* bits that all our communication IDs have, and which bits */
    uint64_t ca_guid;
    uint64_t secret; /* hides which numbers share a bucket */
    struct oche_cm_conn *by_id[OCHE_CM_BUCKETS], *by_remote[OCHE_CM_BUCKETS];
    struct oche_cm_conn *by_qpn[OCHE_CM_BUCKETS];
    struct oche_cm_conn *timers; /* the one that is due first */
    uint32_t half_open_count, most_half_open;
    struct oche_cm_conn *unconfirmed, **last_unconfirmed; /* REP_SENT, in the order of their REP */
    struct oche_cm_waiting waiting[OCHE_CM_MOST_GRACE];
    struct oche_cm_stats stats;
};

/*
 * `id_prefix` are the uppermost `id_bits` bits of all communication IDs, by which messages are told
 * from those for other processes of the address.
 */
void oche_cm_init(struct oche_cm *cm, const struct oche_cm_hooks *hooks, uint64_t ca_guid,
                  uint32_t id_prefix, unsigned id_bits);

/* A message has arrived. `bytes` may be any number, and the bytes anything. */
void oche_cm_arrive(struct oche_cm *cm, oche_time now, const uint8_t *local_gid,
                    const uint8_t *remote_gid, const uint8_t *mad, size_t bytes);
/* Runs the timers that are due. */
void oche_cm_tick(struct oche_cm *cm, oche_time now);
/* Returns when a timer is due next; OCHE_NEVER: none runs. */
oche_time oche_cm_due(const struct oche_cm *cm);

/*
 * The functions below return false if the connection's state does not allow them. Of `message` they
 * set IDs and the transaction; the rest, with private data, is the caller's. A connection that is
 * not known to the manager has state IDLE and all fields 0.
 */

/* Sends a REQ. `message` needs the fields of a REQ. */
bool oche_cm_connect(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                     const uint8_t *local_gid, const uint8_t *remote_gid,
                     struct oche_cm_message *message);
/*
 * Answers a REQ with a REP, and repeats that for local_response_timeout and max_cm_retries of
 * `message`, which should be the REQ's.
 */
bool oche_cm_accept(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                    struct oche_cm_message *message);
/* Answers a REP with a RTU: the queue pair is ready. */
bool oche_cm_confirm(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                     struct oche_cm_message *message);
/* Answers a REQ or REP with a REJ, whose reason, info and private data are in `message`. */
bool oche_cm_reject(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                    struct oche_cm_message *message);
/*
 * To be called at the passive end in REP_SENT, when data of the peer arrives before its RTU. Acts
 * as if the RTU had arrived.
 */
bool oche_cm_established(struct oche_cm *cm, struct oche_cm_conn *conn);
/* Sends a DREQ, or the DREP that a DREQ waits for. */
bool oche_cm_disconnect(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn);
/* Asks which queue pair takes datagrams: service_id, pkey and private data are in `message`. */
bool oche_cm_ask(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                 const uint8_t *local_gid, const uint8_t *remote_gid,
                 struct oche_cm_message *message, uint8_t response_timeout, uint8_t retries);
/* Answers that: status, qpn, qkey and private data are in `message`. */
bool oche_cm_tell(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn,
                  struct oche_cm_message *message);
/*
 * Forgets the connection, in any state, and tells the peer if it waits for something or may still
 * be connected. There are no more events, and the memory is the caller's.
 */
void oche_cm_forget(struct oche_cm *cm, oche_time now, struct oche_cm_conn *conn);

OCHE_C_END

#endif
