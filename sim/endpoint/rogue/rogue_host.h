/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoGUE as a host's endpoint: the library of rogue/ above a simulated RNIC (RoGUE, SoCC 2018). A
 * connection has two queue pairs at each end, one of which is the shadow. They have the same
 * numbers at both ends. Each host has one more queue pair, for the datagrams between libraries.
 * Flows become WRITEs.
 */
#ifndef OCHE_SIM_ENDPOINT_ROGUE_HOST_H
#define OCHE_SIM_ENDPOINT_ROGUE_HOST_H

#include "core/qp/heap.h"
#include "core/random.h"
#include "rogue/connection.h"
#include "rogue/limiters.h"
#include "sim/network/endpoint.h"
#include "sim/network/host_memory.h"
#include "sim/network/host_state.h"

/* The parameters of `congestion_control` if its value is rogue. */
struct oche_rogue_params {
    struct rogue_params library;
    uint64_t verb_bytes;
    uint32_t verb; /* enum oche_rogue_verbs */
    uint64_t hardware_retries;
    oche_time rtt_noise; /* round trips are longer by a random time up to this */
};
extern const struct oche_param_table oche_rogue_table;

enum oche_rogue_verbs { OCHE_ROGUE_WRITES, OCHE_ROGUE_READS };

#define OCHE_ROGUE_DATAGRAM_QPN     8
#define OCHE_ROGUE_MOST_CONNECTIONS (UINT32_C(1) << 21) /* a number has 21 bits in datagrams.c */
#define OCHE_ROGUE_QKEY             UINT32_C(0x72)

/*
 * Returns the number of one of a connection's queue pairs: 0, or 1, which is the shadow at first.
 */
static inline uint32_t oche_rogue_qpn(uint32_t connection, unsigned qp)
{
    return (OCHE_FIRST_QPN + connection) | (qp == 1 ? OCHE_SHADOW_QPN : 0);
}

static inline unsigned oche_rogue_which(uint32_t qpn)
{
    return (qpn & OCHE_SHADOW_QPN) != 0;
}

struct oche_rogue_end;
struct oche_rogue_parts;
struct oche_rogue_posted;

#define OCHE_ROGUE_SIZES 10 /* sizes of ends: binary logarithms of oche_rogue_depth */

/* When libraries want to be called (timed.c). */
struct oche_rogue_timers {
    /* ends by the time at which they want to be called; a slot is an end's index */
    struct heap later;
    /* in a round of calls: the ends that are still to be called, by turn */
    struct heap due;
    struct oche_rogue_end **ends; /* by slot */
    uint32_t count;
    uint64_t last_turn; /* turns given so far */
    uint64_t rounds;    /* number of rounds of calls, including the present one */
    uint64_t passed;    /* the present round has passed turns from this one on; 0: there is none */
};

struct oche_rogue {
    struct oche_host_memory memory; /* first: see memory.h */
    struct oche_nic *nic;
    struct oche_host *host;
    const struct oche_rogue_params *params;
    struct oche_qp *datagrams;
    struct oche_cq *datagram_cq;
    struct oche_rogue_end *ends;    /* the ends at this host, newest first */
    struct oche_rogue_end *waiting; /* list of the ends whose completions have not been polled */
    struct oche_rogue_timers timers;
    struct rogue_limiters limiters; /* the adapter's */
    /* ends whose flows are over, in the order in which they may be parked (park.c) */
    struct oche_rogue_end *over_head, *over_tail;
    struct oche_rogue_parts *unused[OCHE_ROGUE_SIZES]; /* parts of ends that are parked, by size */
    /* counters of the ends' libraries, from before they were parked */
    struct rogue_counts parked_counts;
    bool datagram_waits;
    oche_time datagrams_look_at; /* as of an end */
    struct oche_rogue_posted *unused_posted;
    oche_time now;               /* time of the event that is being handled */
    uint64_t doubled_bytes;      /* bytes that a shadow has delivered a second time */
    uint64_t missing_bytes;      /* bytes that were passed over: must stay 0 */
    struct oche_rtt_chunk *rtts; /* round trips that changed a window, of all connections */
};

/* One end of a connection. */
struct oche_rogue_end {
    struct oche_rogue *rogue;
    struct oche_rogue_end *next, *next_waiting, *next_over;
    /* NULL while it is parked, and so are the next three */
    struct oche_rogue_parts *parts;
    struct rogue_connection *library;
    struct oche_qp *qps[2];
    struct oche_cq *cq;
    uint32_t connection;
    bool over;            /* in the list that begins with rogue->over_head */
    oche_time park_after; /* when it may be parked, if `over` */
    struct {
        uint32_t send_psn, recv_psn, epoch;
    } parked[2]; /* its queue pairs' state while it is parked */
    uint8_t parked_active;
    uint64_t parked_switches; /* number of switches of its libraries before it was parked */
    bool waits;               /* in rogue->waiting */
    /* latency.c. By queue pair: work requests on their way to the NIC, when it has the last one of
       them, and how often the queue pair was reset */
    uint32_t on_way[2], restarts[2];
    oche_time at_nic[2];
    oche_time look_at; /* when the program has the next completion; OCHE_NEVER: none is awaited */
    struct rogue_limited limited;
    bool granted; /* it has got a limiter, and its library has not posted yet */
    /* timed.c */
    uint32_t slot;
    uint64_t turn;        /* 0: it has never had a turn */
    uint64_t quiet_since; /* rounds that had passed its turn when its library last wanted nothing */
    /* Sender. Flows are numbered from 0, in the order of the connection. */
    uint32_t posting;       /* number of the flow that is being posted */
    uint64_t posting_bytes; /* bytes of that flow that have been posted */
    uint64_t supply_bps;    /* the rate at which the data is made; 0: all data exists */
    uint32_t ended, reported;
    uint64_t reported_verbs;          /* verbs of the flows that have been reported */
    uint32_t first_failed;            /* UINT32_MAX: no flow has failed */
    int status;                       /* status of the first flow that failed */
    uint64_t retransmitted, timeouts; /* counted by the queue pairs before their last RESET */
    uint64_t noted;                   /* samples of the library that are in rogue->rtts */
    struct oche_random noise;         /* random numbers for rtt_noise */
    /* Receiver: how many bytes of the flow that is arriving have come. */
    uint64_t arrived;
};

/* ends.c */
void oche_rogue_create(void *state, struct oche_host *host);
/* Returns this host's end of the connection, or NULL if there is none or it is parked. */
struct oche_rogue_end *oche_rogue_find(const struct oche_rogue *rogue, uint32_t connection);
/*
 * Returns how many pieces this host's end of a connection may have under way, a power of two. A
 * destination posts none. If flows are one verb each, all segments of the connection's flows may
 * be, up to 512: so the window and least_batches are the bound, and short flows take little memory.
 */
uint32_t oche_rogue_depth(const struct oche_rogue *rogue, uint32_t connection);
/* Makes the queue pairs, the completion queue and the library of an end. */
void oche_rogue_make_parts(struct oche_rogue_end *end, struct oche_rogue_parts *parts);
/* Returns the bytes of an end's parts. */
size_t oche_rogue_parts_bytes(const struct oche_rogue_end *end);
/* Makes this host's end with both queue pairs, or makes one that is parked work again. */
struct oche_rogue_end *oche_rogue_open(struct oche_rogue *rogue, uint32_t connection);
/*
 * Returns the first PSN that an end of a connection sends in an epoch. `receiver`: at the receiver.
 */
uint32_t oche_rogue_psn(bool receiver, uint32_t connection, unsigned qp, uint32_t epoch);

/*
 * park.c: the parts of ends whose flows are over are used again for new ends. If a packet still
 * comes for such an end, it gets parts once more, and goes on where it was. oche_rogue_find_parked
 * returns this host's end if it is parked, or NULL.
 */
struct oche_rogue_end *oche_rogue_find_parked(const struct oche_rogue *rogue, uint32_t connection);
/* Returns how often the connection's end here has switched queue pairs, parked or not. */
uint64_t oche_rogue_switches(const struct oche_rogue *rogue, uint32_t connection);
/* To be called when something has ended that may have been the end's last flow. */
void oche_rogue_flows_over(struct oche_rogue_end *end, oche_time now);
/* Returns parts for an end, of its size. */
struct oche_rogue_parts *oche_rogue_take_parts(struct oche_rogue_end *end, oche_time now);

/* timed.c: when libraries want to be called. */
void oche_rogue_make_timers(struct oche_rogue *rogue, uint32_t most_ends);
void oche_rogue_add_timer(struct oche_rogue_end *end); /* of a new end */
/* To be called after each call of the library: notes when it wants to be called next. */
void oche_rogue_note_time(struct oche_rogue_end *end);
/* True if the end has a turn: its library wants to be called, or did until a moment ago. */
bool oche_rogue_has_turn(const struct oche_rogue_end *end);
/* Returns the earliest time at which a library wants to be called. */
oche_time oche_rogue_next_time(const struct oche_rogue *rogue);
/* Calls the libraries that want to be called by `now`, which is rogue->now. */
void oche_rogue_call_due(struct oche_rogue *rogue, oche_time now);

/* flows.c: the flows of a connection as verbs of the library. */
void oche_rogue_post(struct oche_rogue_end *end, oche_time now);
void oche_rogue_verb_ended(struct oche_rogue_end *end, const struct rogue_verb *verb,
                           enum rogue_outcome outcome, int status);
/* Adds the packets that the end has sent again so far, and its timeouts. It is not parked. */
void oche_rogue_sent_again(const struct oche_rogue_end *end, uint64_t *retransmitted,
                           uint64_t *timeouts);
/* Tells the host of flows that have ended. */
void oche_rogue_report(struct oche_rogue_end *end, oche_time now);
/* A WRITE of `bytes` bytes to the address `va` has been delivered here. */
void oche_rogue_arrived(struct oche_rogue_end *end, uint64_t va, uint32_t bytes, oche_time now);

/*
 * latency.c: host latencies. Both post as oche_qp_post_send, and the NIC has the work later; the
 * first returns false if there is no room.
 */
bool oche_rogue_post_work(struct oche_rogue_end *end, unsigned qp,
                          const struct oche_send_work *work);
void oche_rogue_post_datagram(struct oche_rogue *rogue, const struct oche_send_work *work);
/* The queue pair is reset, and with it all that was posted. */
void oche_rogue_forget_posts(struct oche_rogue_end *end, unsigned qp);
/* True if posts are on their way to the NIC, or completions to the program. */
bool oche_rogue_awaits_host(const struct oche_rogue_end *end);
/* Returns the time stamp of a completion. */
oche_time oche_rogue_written(const struct oche_rogue *rogue, const struct oche_completion *done);
/* As oche_cq_poll, of those completions that the program has by rogue->now. */
unsigned oche_rogue_take_completions(const struct oche_rogue *rogue, struct oche_cq *cq,
                                     struct oche_completion *out, unsigned max);
/*
 * To be called when all of these are taken, or a first one has come: the end (NULL: the datagrams)
 * is polled when the program has the next one.
 */
void oche_rogue_await_completions(struct oche_rogue *rogue, struct oche_cq *cq,
                                  struct oche_rogue_end *end);
void oche_rogue_deferred(void *state, const struct oche_deferred *due, oche_time now);
bool oche_rogue_reads_memory(const void *state, const struct oche_packet *packet);

/* gauges.c: gauges of windows and round trips. */
extern const struct oche_gauges oche_rogue_gauges;
/*
 * To be called when the library may have measured a round trip. Notes the round trip if there is
 * one.
 */
void oche_rogue_note_sample(struct oche_rogue_end *end, oche_time now);

/* datagrams.c: messages between libraries. */
void oche_rogue_tell(struct oche_rogue_end *end, const struct rogue_resync *message);
void oche_rogue_receive_datagrams(struct oche_rogue *rogue); /* posts receives */
void oche_rogue_poll_datagrams(struct oche_rogue *rogue, oche_time now);

/* Polls the end's completions later, and then reports its flows that are over. */
void oche_rogue_wait_for_poll(struct oche_rogue_end *end);
/* Polls completions until none is left. Returns true if there was any. */
bool oche_rogue_poll(struct oche_rogue *rogue, oche_time now);

#endif
