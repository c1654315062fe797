/* SPDX-License-Identifier: Apache-2.0 */
/* The state of Dart (dart.c) per queue pair, peer, tenant and NIC; only for the files of Dart. */
#ifndef OCHE_CORE_CC_DART_DART_STATE_H
#define OCHE_CORE_CC_DART_DART_STATE_H

#include "core/cc/cc_counting.h"
#include "core/cc/dart/auss.h"
#include "core/cc/dart/dart.h"
#include "core/cc/dart/dart_params.h"
#include "core/cc/dart/look_ahead.h"

#define CACHE_ALIGNED __attribute__((aligned(OCHE_CACHE_LINE)))

struct dart_peer;
struct dart_set;
struct dart_nic;

/*
 * A queue pair. Its first cache lines are DCQCN's own; then come the members that each sent packet
 * needs, and then those that each arriving packet needs.
 */
struct dart_flow {
    struct dcqcn_state dcqcn; /* first */
    /* Sender. */
    oche_time asked;  /* when an ACK was last asked for */
    uint32_t unasked; /* packets sent since `asked` */
    bool active;      /* has sent something and has not been idle since */
    bool idle;        /* has nothing to send nor to be acknowledged, though its last packet may
                         only be leaving */
    bool sending;     /* active, and has more to send: it divides the share */
    bool limited;     /* copy of dcqcn.rp.limited */
    struct dart_peer *receiver;
    /* Receiver. */
    struct dart_nic *nic CACHE_ALIGNED;
    struct dart_said *said;
    struct dart_peer *sender;
    struct oche_auss_member member;
    struct dart_set *set;
    /* For sending: messages and shares. */
    struct oche_cc_flow *flow;
    uint64_t dcqcn_bps, cap_bps;     /* the queue pair's rate is the smaller of the two */
    uint64_t together;               /* payload of the present burst; only with `stagger` */
    uint64_t window_bps;             /* the rate for which the window was computed last */
    struct dart_flow *next, *before; /* neighbours in the peer's list of active queue pairs */
};

_Static_assert(offsetof(struct dart_flow, asked) >= OCHE_CACHE_LINE, "a line of DCQCN's before it");
_Static_assert(offsetof(struct dart_flow, nic) == 2 * OCHE_CACHE_LINE, "two lines before it");

/* The state about one peer that a tenant's queue pairs share. */
struct dart_peer {
    /* For sending to the peer. */
    struct dart_flow *active;
    uint32_t active_count, sending_count;
    uint32_t senders;   /* the n that the peer told last; 0: none yet */
    oche_time heard_at; /* when the peer told n; valid if no queue pair is active */
    bool heard;
    uint8_t heard_sequence, void_count;
    /* For receiving from the peer. */
    struct dart_flow *voice; /* a queue pair for updates while no message arrives; NULL: none */
    bool told_ahead; /* no message has begun since an update that was meant for an idle sender */
    uint8_t told_sequence;
    uint32_t told_version; /* version of the share that the peer was told last */
    oche_time told_at; /* when the peer was told, or an update was asked for; valid if told_version
                          is above 0 */
};

/* The value that a tenant's senders are told now, and how often it has changed. */
struct dart_said {
    uint32_t told, version;
};

/* A tenant: the hosts that send to us. */
struct dart_set {
    struct dart_said *said;
    uint32_t granted; /* work_conserving: the value told instead of n; 0: n itself is told */
    uint32_t share;   /* share of the line, relative to other tenants' shares */
    struct oche_auss auss;
    struct oche_look_ahead look;
};

struct dart_nic {
    /* Members that are used for each packet. */
    struct dcqcn_nic_state dcqcn; /* first */
    oche_time window_end;
    struct dart_said said; /* shares of tenant 0; other tenants have tables */
    uint64_t share_acks;   /* ACKs and NAKs that carried a share, for all tenants */
    struct dart_set *sets;
    uint32_t set_count;
    enum oche_dart_state state;
    bool at_line, marked;
    /* Windows, messages, updates. */
    struct oche_cc_nic *nic;
    oche_time window_start;
    /* bytes on the line that had arrived when the window began */
    uint64_t window_bytes;
    uint64_t slack_windows;              /* consecutive windows without marks and below line rate */
    uint64_t updates, updates_sent;      /* updates asked for; updates sent */
    oche_time updates_due, updates_done; /* if there are none, OCHE_NEVER and 0 */
    /* counts of other NICs for tenant 0; other tenants are counted only here */
    struct oche_cc_elsewhere elsewhere;
    uint64_t void_groups; /* lists whose tenant is not the queue pair's */
    /*
     * Updates to announced senders that are still idle: number sent; bytes that may still be spent
     * on them, and bytes that arrived (may_tell_ahead).
     */
    uint64_t ahead_updates, ahead_credit, ahead_bytes;
};

_Static_assert(offsetof(struct dart_nic, nic) <= OCHE_CACHE_LINE, "a line for each packet");

/*
 * Returns the number of lists of senders so far that were not used: the list was invalid, had
 * unknown addresses, or found no room.
 */
static inline uint64_t dart_void_lists(const struct dart_set *set)
{
    uint64_t sum = 0;

    for (unsigned look = OCHE_LOOK_WRONG; look < OCHE_LOOKS; look++)
        sum += set->look.seen[look];
    return sum;
}

static inline struct dart_flow *dart_of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* Returns the bytes on the line that have arrived by the port, here and elsewhere. */
static inline uint64_t dart_received(const struct dart_nic *d)
{
    return *d->nic->received_line_bytes + d->elsewhere.received_line_bytes;
}

/* True if marks are answered with CNPs, or with echoes in ACKs, in the present state (Fig 5). */
static inline bool dart_answers_marks(const struct dart_nic *d)
{
    const struct dart_params *p = d->nic->params;

    return d->state == OCHE_DART_NON_RECEIVER || !p->suppress_marks;
}

/* ---- dart_tell.c ---- */

/* Each update to a sender that was announced takes so much of what has arrived, on the line. */
#define DART_AHEAD_BYTES UINT64_C(1400)
#define DART_AHEAD_BURST (200 * DART_AHEAD_BYTES) /* at once, for a list's most senders */

/* Moves the NIC's timer to the next due time, unless it is set to an earlier one. */
void dart_rearm(struct dart_nic *d);
/* Recompute the value that senders are told. `now` is OCHE_NEVER if unknown. */
void dart_tell(struct dart_nic *d, struct dart_set *set, oche_time now);
void dart_tell_all(struct dart_nic *d, oche_time now);
/* To be called when a tenant's AUSS has changed. */
void dart_set_changed(struct dart_nic *d, struct dart_set *set, oche_time now);
/*
 * Returns when the peer, which sends to us, needs an update; OCHE_NEVER if it is up to date.
 * `ahead`: it was announced and is idle.
 */
oche_time dart_update_due(const struct dart_flow *s, bool ahead);
/* Asks for an update to the queue pair's peer. */
void dart_update(struct dart_nic *d, struct oche_cc_flow *flow, oche_time now);
/* Hooks of the scheme. */
uint32_t dart_senders(const void *nic_state, uint32_t *addresses, uint32_t most, uint32_t *version);
void dart_elsewhere(struct oche_cc_nic *nic, oche_time now,
                    const struct oche_cc_elsewhere *elsewhere);
void dart_nic_timer(struct oche_cc_nic *nic, oche_time now);
void dart_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet);

/* ---- dart_view.c ---- */

/* The hook oche_cc_counting.counts: the senders of all tenants. */
struct oche_cc_senders dart_counts(const void *nic_state);

/* ---- dart_counters.c ---- */

extern const struct oche_counters dart_counters;

#endif
