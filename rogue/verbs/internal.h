/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoGUE between a program and its libibverbs: liboche-rogue.so, which `oche exec --rogue` loads in
 * front (docs/rogue.md). It uses public verbs only. The application keeps the objects of the
 * library below; what is wrapped is the calls. One idea per file:
 *
 *   hooks.c     the functions that replace those of libibverbs    table.c     object to ours
 *   interpose.c those that make objects, if preloaded             samples.c   round trips to read
 *   qp.c        queue pairs; their shadows                        states.c    ibv_modify_qp
 *   uc.c        unreliable connections                            fork.c      what a child has
 *   work.c      what is posted, as verbs of rogue/ and as pieces  port.c      rogue/'s port
 *   receives.c  receives, which move to the shadow                qp_ex.c     ibv_wr_*
 *   cq.c        completion queues as the application sees them    channel.c   their events
 *   hidden.c    completion queues that it does not see            thread.c    what nobody polls for
 *   socket.c    datagrams between libraries                       messages.c  what they say
 *   pair.c      finding the peer's library                        settings.c  OCHE_ROGUE, counters
 *   siphash.c   numbers that nobody can guess                      limiters.c  few limiters
 *
 * Locks, in this order: rv_world.lock, a CQ's members_lock, a queue pair's, a CQ's, a channel's or
 * a device's limiters_lock.
 */
#ifndef OCHE_ROGUE_VERBS_INTERNAL_H
#define OCHE_ROGUE_VERBS_INTERNAL_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include <infiniband/verbs.h>

#include "rogue/connection.h"
#include "rogue/limiters.h"

#pragma GCC visibility push(hidden)

#define RV_MOST_SGE 16
#define RV_NOWHERE  2 /* receives are posted on neither queue pair */

struct rv_channel;
struct rv_qp;

/* ---- a device that is open ---- */

struct rv_context {
    struct ibv_context *context;
    struct ibv_context_ops ops; /* functions of the library below */
    struct ibv_qp *(*create_qp_ex)(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
                                      struct ibv_cq_init_attr_ex *attr);
    int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
    struct ibv_comp_channel *hidden; /* channel of the hidden CQs; the thread waits at it */
    struct ibv_pd *pd;               /* for the queue pairs that wake channels */
    uint32_t most_wr;
    bool limits_rates;
    pthread_mutex_t limiters_lock;
    struct rogue_limiters limiters; /* limiters.c */
};

/* ---- the application's completion queues ---- */

struct rv_cq {
    struct ibv_cq *cq;
    struct rv_context *context;
    struct rv_channel *channel; /* NULL: it has none */
    bool plain;                 /* an extended one: queue pairs with it are not wrapped */
    pthread_mutex_t lock;
    struct ibv_wc *ring; /* completions of wrapped queue pairs */
    uint32_t capacity, first, count;
    bool armed;
    bool due; /* in the channel's list */
    struct rv_cq *next_due;
    uint32_t own_events; /* delivered to the application, but not acknowledged */
    pthread_mutex_t members_lock;
    struct rv_qp **members;
    uint32_t member_count;
    _Atomic uint32_t others; /* queue pairs that use the CQ itself */
};

/* ---- queue pairs ---- */

/* A work request of the application. */
struct rv_work {
    struct ibv_send_wr wr; /* sg_list is `sge`; inline data is in the queue pair's memory */
    struct ibv_sge sge[RV_MOST_SGE];
    uint32_t bytes;
    bool consumes;            /* a receive of the peer */
    uint64_t receives_before; /* receives that earlier verbs of the connection consume */
};

struct rv_receive {
    uint64_t wr_id;
    int num_sge;
    struct ibv_sge sge[RV_MOST_SGE];
};

/* The peer's library, once it has answered. */
struct rv_peer {
    struct sockaddr_in6 address;
    uint32_t qpn; /* number of the first queue pair, which the application knows */
    uint32_t shadow_qpn, shadow_psn;
    uint64_t nonce;
    uint64_t line_rate_bps;
    bool limits_rates; /* its device limits rates */
};

struct rv_qp {
    struct rv_context *context;
    struct rv_qp *next; /* in rv_world.qps */
    struct ibv_qp *qps[2];
    struct rv_cq *send_cq, *recv_cq;
    struct ibv_cq *hidden_send, *hidden_recv;
    struct ibv_cq_ex *stamped; /* hidden_send, if it has time stamps */
    struct rv_uc *uc;          /* NULL: a reliable connection (uc.c) */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool all_signaled;
    struct ibv_qp_cap cap; /* capacities as returned to the application */

    /* The state as the application sees it, and what it asked for. */
    enum ibv_qp_state state;
    struct ibv_qp_attr attr;
    int init_mask, rtr_mask, rts_mask;
    union ibv_gid gid; /* our address */
    /* The port's rate, and the link's rate, which the user may give. */
    uint64_t port_rate_bps, line_rate_bps;

    struct rv_peer peer;
    uint64_t secret[2]; /* the next two are made */
    uint64_t nonce;     /* our number towards the peer, from RTR on */
    uint32_t shadow_psn;
    bool paired; /* the peer's library has answered */
    bool alone;  /* the peer has no library */
    bool heard;  /* … or it may have one: a peer with this name has asked */
    uint32_t heard_qpn;
    struct in6_addr heard_address;
    unsigned asks;       /* since RTR */
    oche_time ask_again; /* by the thread; OCHE_NEVER: not */

    struct rogue_connection *rogue; /* NULL until it is connected */
    struct rogue_params params;     /* the connection's */
    bool up[2];                     /* ready to receive */
    enum ibv_wc_status trouble;     /* the connection must fail with this status; 0: it need not */
    bool ended;                     /* the application has received everything */
    uint32_t lives[2];              /* how often it was started */
    uint64_t out_bps[2], reads_bps[2];
    uint32_t reads_serial[2], peer_reads_serial[2];
    uint32_t send_psn[2]; /* the first PSN that it sends */
    /* Without a limiter: the time when the next piece of WRITEs and of READs may be posted. */
    oche_time paced_until[2];
    uint64_t own_reads_bps; /* 0: no limit */
    struct rogue_limited limited;

    /* Work requests, a ring of `depth`. */
    struct rv_work *works;
    uint8_t *inline_memory;
    uint32_t depth;
    uint64_t work_next, work_done;
    uint64_t receives_wanted;                 /* receives that all work requests so far want */
    uint64_t receives_posted, receives_ended; /* receives of posted pieces; of ended verbs */
    struct rv_builder *builder;               /* NULL: it has no ibv_wr_* (qp_ex.c) */
    struct rv_samples *samples;               /* NULL: nobody wants them (samples.c) */

    /* After a change of queue pair: how many of our messages the peer had received. */
    bool count_known;
    unsigned count_qp;
    uint32_t count_epoch, count_serial;
    uint64_t peer_received;
    oche_time count_repeat; /* when to ask again; OCHE_NEVER: not */
    uint64_t count_tries;

    /* Receives, a ring. */
    struct rv_receive *receives;
    uint32_t receive_mask;
    uint64_t receive_next, receive_done;
    unsigned receive_on; /* 0, 1 or RV_NOWHERE */
    bool flushing;
    uint64_t outstanding; /* receives that are posted on receive_on */
    uint64_t received;    /* number of messages that have consumed a receive */
    uint32_t moved_serial;
    uint64_t moved_received;

    bool busy;                      /* completions may come */
    bool active;                    /* work is under way, so somebody has to poll */
    _Atomic bool polled;            /* by the application, since the thread looked last */
    _Atomic uint32_t shadow_events; /* asynchronous, that the application has not acknowledged */
};

/* ---- all of them ---- */

struct rv_world {
    pthread_mutex_t lock; /* lock of the list */
    struct rv_qp *qps;
    int epoll, wake; /* the thread's */
    int socket;
    bool ipv4_only;
};
extern struct rv_world rv_world;

/* ---- table.c: the application's objects and ours ---- */

enum rv_kind { RV_CONTEXT, RV_CHANNEL, RV_CQ, RV_QP, RV_SHADOW, RV_KINDS };

/* Return the entry for `object`, or NULL. Reading takes no lock. */
void *rv_find(enum rv_kind kind, const void *object);
bool rv_put(enum rv_kind kind, const void *object, void *value);
void rv_remove(enum rv_kind kind, const void *object);
/* Around a fork. */
void rv_tables_hold(void);
void rv_tables_release(void);

/* ---- hooks.c: the functions below ours ---- */

/* Why a queue pair has no RoGUE. Each reason has a text (settings.c) and an errno (qp.c). */
enum rv_refusal {
    RV_TYPE,
    RV_SRQ,
    RV_ELSEWHERE, /* its completion queues or its device belong to another library */
    RV_TOO_LARGE,
    RV_FEATURES,
    RV_FAILED, /* no memory, or the library below has refused */
    RV_REFUSALS,
    RV_WRAPPED = RV_REFUSALS
};

struct rv_next {
    struct ibv_context *(*open_device)(struct ibv_device *device);
    int (*close_device)(struct ibv_context *context);
    struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
    int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
    struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context,
                                struct ibv_comp_channel *channel, int vector);
    int (*destroy_cq)(struct ibv_cq *cq);
    int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
    void (*ack_cq_events)(struct ibv_cq *cq, unsigned int count);
    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
    int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                    struct ibv_qp_init_attr *init_attr);
    int (*destroy_qp)(struct ibv_qp *qp);
    int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
    void (*ack_async_event)(struct ibv_async_event *event);
};
extern struct rv_next rv_next;
void rv_release(struct rv_context *own);
/* rv_qp_create, from the shorter attributes. */
struct ibv_qp *rv_wrapped_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, bool asked,
                             enum rv_refusal *refusal);
/* interpose.c: true if objects that the program makes with libibverbs' functions have RoGUE. */
bool rv_interposes(void);
void rv_others_use(const struct ibv_qp *qp, int change);

/* ---- cq.c, channel.c, hidden.c ---- */

struct rv_cq *rv_cq_create(struct rv_context *context, struct ibv_cq *cq, bool plain);
/* Returns 0, or EBUSY if a queue pair uses it. */
int rv_cq_destroy(struct rv_cq *cq);
bool rv_cq_join(struct rv_cq *cq, struct rv_qp *qp);
void rv_cq_leave(struct rv_cq *cq, const struct rv_qp *qp);
/* Adds a completion, and raises the event if one was asked for. */
void rv_cq_push(struct rv_cq *cq, const struct ibv_wc *wc);
/* Removes the completions of a queue pair. */
void rv_cq_forget(struct rv_cq *cq, uint32_t qpn);
int rv_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int rv_req_notify_cq(struct ibv_cq *cq, int solicited_only);

struct rv_channel *rv_channel_create(struct rv_context *context, struct ibv_comp_channel *channel);
void rv_channel_destroy(struct rv_channel *channel);
/* Makes the channel's descriptor readable, for this CQ. */
void rv_channel_raise(struct rv_channel *channel, struct rv_cq *cq);
void rv_channel_forget(struct rv_channel *channel, struct rv_cq *cq);
int rv_channel_get(struct rv_channel *channel, struct ibv_cq **cq, void **cq_context);

bool rv_hidden_create(struct rv_qp *qp);
void rv_hidden_destroy(struct rv_qp *qp);
void rv_hidden_arm(struct rv_qp *qp);
struct rv_done {
    uint64_t wr_id;
    oche_time when;
    unsigned side;
    enum ibv_wc_status status;
};
/* Polls the sends' CQ. Returns how many completions there were, 0 to `most`. */
int rv_hidden_poll(struct rv_qp *qp, struct rv_done *done, int most);
/* Takes and handles all completions of the queue pair. The caller holds its lock. */
void rv_drain(struct rv_qp *qp);

/* ---- qp.c, states.c ---- */

/*
 * `asked`: made by a function of rogue/rogue.h, so UC has RoGUE, too. Returns NULL with errno and
 * the reason if the queue pair has none. `context` may be NULL.
 */
struct ibv_qp *rv_qp_create(struct rv_context *context, struct ibv_qp_init_attr_ex *attr,
                            bool asked, enum rv_refusal *refusal);
int rv_qp_destroy(struct rv_qp *qp);
int rv_qp_modify(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask);
int rv_qp_query(struct rv_qp *qp, struct ibv_qp_attr *attr, int mask,
                struct ibv_qp_init_attr *init_attr);
/* Changes a queue pair of the library below. Returns 0 or an errno. */
int rv_real_modify(struct rv_qp *qp, unsigned side, const struct ibv_qp_attr *attr, int mask);
/* Starts a queue pair that is in RESET, with these PSNs. Returns false on failure. */
bool rv_bring_up(struct rv_qp *qp, unsigned side, uint32_t send_psn, uint32_t recv_psn);
/* The peer's library is known and so is the application's peer: makes them a pair. */
void rv_pair(struct rv_qp *qp);
void rv_forget_connection(struct rv_qp *qp);

/* ---- work.c, port.c, receives.c, qp_ex.c ---- */

int rv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Posts a piece. Returns 0, or an errno. */
int rv_post_piece(struct rv_qp *qp, unsigned side, const struct rogue_piece *piece);
extern const struct rogue_port rv_port;
bool rv_connect_rogue(struct rv_qp *qp);
/* After each call of rogue/: does the work that could not be done within it. */
void rv_settle(struct rv_qp *qp);
void rv_apply_limit(struct rv_qp *qp, unsigned side);
/* Without a limiter: returns when more may be posted; OCHE_NEVER if no piece waits for that. */
oche_time rv_paced_until(const struct rv_qp *qp);
/* Asks the peer how many messages it has received. */
void rv_ask_count(struct rv_qp *qp, oche_time now);

int rv_receive_post(struct rv_qp *qp, const struct ibv_recv_wr *wr);
void rv_receives_take(struct rv_qp *qp);
void rv_receives_flush(struct rv_qp *qp);
/* Posts all receives on a queue pair; they are on neither. */
void rv_receives_move(struct rv_qp *qp, unsigned side);
/* The queue pair is reset, so nothing is posted on it any more. */
void rv_receives_returned(struct rv_qp *qp, unsigned side);

/* ---- limiters.c: of rogue/'s port; `context` is a struct rv_qp ---- */

bool rv_limiter_take(void *context);
void rv_limiter_give(void *context);
bool rv_limiter_wanted(void *context);

/* ---- uc.c, samples.c ---- */

/* To be called before the queue pair is made. Returns false if there is no memory. */
bool rv_uc_create(struct rv_qp *qp);
void rv_uc_destroy(struct rv_qp *qp);
/* Work requests and receives of the library beside the application's. */
#define RV_UC_RECEIVES 256
#define RV_UC_ANSWERS  128
#define RV_UC_ANSWER   (UINT64_MAX - 1) /* wr_id of those that have a signal */
/* Returns an errno if an unreliable connection cannot do the work, or 0. */
int rv_uc_refuses(const struct ibv_send_wr *wr, uint64_t bytes);
/* Posts the receives of a queue pair that is in INIT. */
void rv_uc_receive(struct rv_qp *qp);
/* rv_drain of an unreliable connection. */
void rv_uc_drain(struct rv_qp *qp);
/* An event of the queue pair has come: the next one must be requested. */
void rv_uc_event(struct rv_qp *qp);
/* Forgets received completions, because the queue pair is in RESET. */
void rv_uc_reset(struct rv_qp *qp);
/* rogue_port.answer */
void rv_uc_answer(void *context, uint32_t imm);
/* rogue_port.sampled */
void rv_sampled(void *context, enum rogue_direction direction, oche_time rtt, oche_time now);
/* Handles the completions of sends. */
void rv_drain_sends(struct rv_qp *qp);
/* Returns the time of our clock at the wall-clock time of a stamp, which is not in the future. */
oche_time rv_time_of(uint64_t stamp_ns, uint64_t wall_ns, oche_time now);
uint64_t rv_wall_ns(void);

bool rv_qp_ex_init(struct rv_qp *qp);
void rv_qp_ex_destroy(struct rv_qp *qp);

/* ---- socket.c, messages.c, pair.c, thread.c ---- */

#define RV_FIRST_PORT   4793
#define RV_PORTS        64
#define RV_MOST_MESSAGE 80

enum rv_message_kind { RV_ASK = 1, RV_ANSWER, RV_RESYNC, RV_LIMIT, RV_MOVE, RV_MOVED, RV_GONE };

struct rv_message {
    uint8_t kind; /* enum rv_message_kind */
    uint8_t side;
    uint32_t to_qpn, from_qpn;       /* first queue pairs */
    uint64_t token;                  /* ASK, ANSWER: the teller's nonce */
    uint64_t echo;                   /* ANSWER: the nonce of the ASK */
    uint32_t shadow_qpn, shadow_psn; /* ASK, ANSWER; shadow_qpn 0: no shadow */
    uint32_t serial;                 /* LIMIT, MOVE, MOVED */
    uint64_t number;                 /* ASK, ANSWER, LIMIT: a rate; MOVED: a count */
    bool limits_rates;               /* ASK, ANSWER: the sender's device limits rates */
    union ibv_gid gid;               /* ASK, ANSWER: the destination */
    struct rogue_resync resync;      /* RESYNC */
};

bool rv_socket_open(void);
/* Sends from the address `from`. A datagram that cannot be sent is lost. */
void rv_socket_send(const struct sockaddr_in6 *to, const union ibv_gid *from, const uint8_t *bytes,
                    size_t count);
ssize_t rv_socket_receive(struct sockaddr_in6 *from, uint8_t *bytes, size_t most);

size_t rv_message_encode(const struct rv_message *message, uint8_t bytes[RV_MOST_MESSAGE]);
bool rv_message_decode(const uint8_t *bytes, size_t count, struct rv_message *message);
/* Prints the counters, once, if OCHE_STATS is set: at the end of the process, however it ends. */
void rv_tell_stats(void);
/* Sends to the peer's library; fills in both numbers and the token. */
void rv_tell(struct rv_qp *qp, struct rv_message *message);
/* Returns the token that a message must carry to count for this connection. */
uint64_t rv_token(const struct rv_qp *qp);
/* Handles one datagram, from anybody. */
void rv_told(const struct sockaddr_in6 *from, const uint8_t *bytes, size_t count);

/* Searches for the peer's library, for a limited time. Then qp->paired or qp->alone is set. */
void rv_find_peer(struct rv_qp *qp);
/* ASK and ANSWER. The caller holds the lock. */
void rv_asked(struct rv_qp *qp, const struct rv_message *message, const struct sockaddr_in6 *from);
/* True if the connection is to use the peer's library. */
bool rv_wants_peer(const struct rv_qp *qp);
/* In RTR: asks without waiting. */
void rv_begin_asking(struct rv_qp *qp);
/* Asks again if it is time to. */
void rv_ask_again(struct rv_qp *qp, oche_time now);
/* True if the address is one of the device's. */
bool rv_owns(const struct rv_context *context, const union ibv_gid *gid);

bool rv_thread_start(void);
/* In the child of a fork: resets it to the initial state. */
void rv_thread_leave(void);
/* Returns the processor time of the thread. */
oche_time rv_thread_time(void);
bool rv_thread_watch(int fd, void *what);
/* Work is under way: the thread must check it. */
void rv_thread_wake(void);
/* Also if it is about to look by itself: somebody waits for it. */
void rv_thread_wake_now(void);

/* ---- settings.c ---- */

/* Reads OCHE_ROGUE. Returns false, after a line, if it is wrong. */
bool rv_settings(void);
const struct rogue_params *rv_params(bool paired);
const struct rogue_params *rv_uc_params(void);
/* True if OCHE_ROGUE has a value for the parameter. */
bool rv_is_given(const char *name);
/* The rate of OCHE_LINE_RATE; 0: that of the port. */
uint64_t rv_line_rate(void);
void rv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rv_count_connection(const struct rv_qp *qp); /* adds its counters to those of the process */
void rv_count_left(enum rv_refusal refusal);      /* a queue pair that was made without RoGUE */

enum rv_event { RV_STRANGERS, RV_SUPPRESSED, RV_MOVES, RV_EVENTS };
void rv_count(enum rv_event event);
/* In the child of a fork: the parent's counts belong to the parent. */
void rv_counts_leave(void);

oche_time rv_now(void);
uint64_t rv_random(void);

#pragma GCC visibility pop

#endif
