/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of core/qp share: the NIC, the queue pair, and functions.
 *
 *   nic.c              making a NIC; where an arriving packet goes
 *   scheduler.c        whose packet leaves next; noticing posts
 *   pacer.c            when a queue pair's next packet may leave
 *   requester.c        work requests become packets
 *   pieces.c           READ data that is asked for in pieces
 *   completer.c        acknowledgements and responses move them on and complete them
 *   losses.c           packets that count as lost, and those that were only late
 *   responder.c        arriving requests: the chain of checks, execution
 *   placement.c        keeps requests that arrive behind a gap
 *   datagram.c         UD: addresses of datagrams; datagrams that arrive
 *   shared_receive.c   shared receive queues
 *   window.c           memory windows
 *   response_stream.c  READ data, atomic results, ACKs and NAKs that leave
 *   timers.c           one deadline a queue pair in the NIC's heap
 *   wake.c, check_*.c  what will make a queue pair go on; invariants, for tests
 *   qp.c, qp_state.c   making queue pairs, posting; the states
 *   completion_queue.c, region.c, congestion.c
 *
 * Each cache line of a queue pair holds the members that one path needs, so that a packet touches
 * few cache lines. Ring indices are not reduced to the ring's size; they wrap at 2^32.
 */
#ifndef OCHE_CORE_QP_QP_INTERNAL_H
#define OCHE_CORE_QP_QP_INTERNAL_H

#include <stdatomic.h>

#include "core/qp/cause.h"
#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/qp/reach.h"
#include "core/qp/regions.h"
#include "core/qp/response.h"
#include "core/qp/rtt.h"
#include "core/qp/slots.h"
#include "core/qp/nic.h"
#include "core/wire/aeth.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define CACHE_ALIGNED __attribute__((aligned(OCHE_CACHE_LINE)))

#define MIN_MTU     64
#define NOBODYS_PD  UINT32_MAX           /* protection domain of regions that represent windows */
#define WINDOW_KEYS UINT32_C(0xffffff00) /* fixed part of a window's key; the rest may change */

/*
 * Most PSNs outstanding, and in one message: less than half the circle, so that PSNs can be
 * ordered.
 */
#define MAX_PSN_WINDOW    ((UINT32_C(1) << 23) - 1)
#define FOR_EVER          UINT32_MAX /* a retry count without a limit */
#define PACE_CREDIT_BYTES UINT64_C(16384)
#define CREDITS_UNLIMITED OCHE_CREDITS_UNLIMITED
#define MOST_DUPLICATES   15 /* qp->duplicates */

/* ---- rings ---- */

/*
 * A posted send work request, in one cache line. Further SGEs, an atomic's operands and inline data
 * are in send_extra.
 */
struct send_entry {
    uint64_t wr_id;
    uint64_t remote_va;
    uint32_t rkey;
    uint32_t imm;
    uint32_t length;
    uint32_t first_psn, last_psn; /* set when the work request starts */
    uint32_t ssn; /* set when the work request starts: number of the message, from 1 */
    uint8_t opcode, flags, sge_count, spare;
    /* set when the work request starts: number of earlier messages that took a receive */
    uint32_t receive;
    struct oche_sge sge;
} CACHE_ALIGNED;

_Static_assert(sizeof(struct send_entry) == OCHE_CACHE_LINE, "a work request is one line");

/* Operands of an atomic, in send_extra. */
struct atomic_operands {
    uint64_t swap_add, compare;
};

struct recv_entry {
    uint64_t wr_id;
    uint32_t length; /* bytes of all SGEs together */
    uint32_t sge_count;
    struct oche_sge sge[];
};

static inline void recv_entry_fill(struct recv_entry *entry, const struct oche_recv_work *work)
{
    uint64_t length = 0;

    for (uint32_t i = 0; i < work->sge_count; i++) {
        length += work->sge[i].length;
        entry->sge[i] = work->sge[i];
    }
    entry->wr_id = work->wr_id;
    entry->sge_count = work->sge_count;
    entry->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

/* ---- queue pair ---- */

/* Members that only a UD queue pair has. */
struct datagrams {
    struct oche_destination *destinations; /* one for each send_entry */
    uint32_t qkey;
};

enum queued { QUEUED_NOT, QUEUED_PACED, QUEUED_READY };

/* Losses that may prove to be none. */
enum doubts { DOUBTS_NOTHING, DOUBTS_LOSS, DOUBTS_TIMEOUT };

enum control_bits {
    CONTROL_CNP = 1 << 0,
    CONTROL_ACK = 1 << 1,
    CONTROL_NAK = 1 << 2,       /* a NAK with nak_syndrome and nak_psn */
    CONTROL_ACK_AGAIN = 1 << 3, /* with CONTROL_ACK: send a second ACK after the first */
    CONTROL_OWN = 1 << 4,       /* congestion control's own packet */
};

enum qp_flags {
    QP_LISTED = 1 << 0,          /* in the NIC's control list */
    QP_RESPONSE_TURN = 1 << 1,   /* it is the turn of the response stream to send */
    QP_IDLE_TOLD = 1 << 2,       /* congestion control was told that there is no work */
    QP_LOCAL_ERROR = 1 << 3,     /* the next work request is bad; it fails once it is the oldest */
    QP_GAP_TOLD = 1 << 4,        /* the responses from gap_psn on are missing; recovery was told */
    QP_CREDIT_LIMITED = 1 << 5,  /* the peer tells us how many receives it has posted */
    QP_WAS_RNR = 1 << 6,         /* responder: sent an RNR NAK, and waits for that PSN again */
    QP_RETRIED = 1 << 7,         /* a retry was used after the last ACK that made progress */
    QP_TAKES_RTT = 1 << 8,       /* round-trip times are wanted */
    QP_TELLS_CREDITS = 1 << 9,   /* our ACKs say how many receives are posted */
    QP_WHOLE_MESSAGES = 1 << 10, /* recovery's whole_messages is in use: the peer has it, too */
    QP_HOLDS = 1 << 11,          /* responder: packets that came behind a gap are kept */
    QP_EXTENDED = 1 << 12,       /* the extended opcodes are in use; flow.extended is set as well */
    QP_IN_BURST = 1 << 13,       /* the next packet need not wait; see pacer.c */
    QP_CC_STARTED = 1 << 14,     /* congestion control was started and not yet stopped */
    QP_BEHIND_DATA = 1 << 15,    /* responder: ACKs leave in the traffic class of data */
};

/* Flags that are set at creation and never change. */
#define QP_FIXED_FLAGS (QP_TAKES_RTT | QP_TELLS_CREDITS)

struct oche_qp {
    /* Cache line 0: identity, and links of the lists that hold the queue pair. */
    struct oche_nic *nic;
    uint32_t qpn, remote_qpn;
    uint32_t remote_address, flow_hash;
    uint16_t udp_source_port, pkey;
    uint16_t mtu;
    _Atomic uint8_t state; /* enum oche_qp_state; posting threads look at it */
    uint8_t tag;           /* the driver's; copied into every packet */
    uint8_t transport : 2; /* enum oche_transport */
    uint8_t traffic_class : 3;
    uint8_t shows : 1; /* our packets tell what we can do (nic->shows) */
    /* the peer has not told yet what it can do, and we could use some of it */
    uint8_t learns : 1;
    uint8_t responding : 1; /* active_responses is not 0 */
    uint8_t control;        /* enum control_bits */
    uint16_t flags;         /* enum qp_flags */
    uint32_t slot;
    struct oche_qp *control_next;
    struct oche_qp *ready_next, *ready_prev;

    /* Cache line 1: members that are used for each packet that leaves. */
    struct oche_recovery_tx tx CACHE_ALIGNED;
    uint32_t send_next;    /* ring index of the work request that holds tx.next */
    uint32_t send_started; /* ring index of the first work request that has no PSNs yet */
    uint32_t send_tail;    /* ring index after the last posted work request that the NIC has seen */
    uint32_t cursor_offset; /* bytes of the message at send_next that precede tx.next */
    uint32_t cursor_length;
    uint32_t since_ack_request; /* packets sent after the last one that asked for an ACK */
    uint8_t cursor_opcode : 4;  /* enum oche_work_opcode */
    uint8_t cursor_tokens : 4;  /* tokens (OCHE_BTH_TOKENS) that the message's packets carry */
    uint8_t data_ecn;           /* enum oche_ecn of the packets that we send */
    uint16_t ready_bytes;       /* bytes of our next frame, as counted in the NIC's backlog */
    /* one past the last packet that asked for an ACK and need not leave again */
    uint32_t asked : 24;
    uint32_t head_opcode : 8; /* enum oche_work_opcode of the oldest work request */

    /* Cache line 2: pacing, and members that are used for each ACK that arrives. */
    oche_time pace_base CACHE_ALIGNED; /* base time of pacing (pacer.c) */
    oche_time pace_due;                /* when the next packet may leave; valid while queued */
    oche_time ack_deadline, ack_timeout;
    uint64_t flight_bytes; /* payload in [tx.una, tx.next); READ data with `pieces` alone */
    uint32_t head_first_psn, head_last_psn;
    uint32_t head_length;
    uint32_t send_head;     /* ring index of the oldest work request not completed */
    uint16_t pace_bytes;    /* bytes on the line of the last packet */
    uint8_t queued : 2;     /* enum queued */
    uint8_t asks : 1;       /* READ data is missing and has to be asked for again (pieces.h) */
    uint8_t read_waits : 1; /* no READ request may leave before its pacing time (pieces.h) */
    uint8_t supplied : 1;   /* the program makes its data at supply_bps */
    uint8_t limit_lags : 1; /* rate_limit_bps takes effect after limit_lag_bytes */
    uint8_t resends_singly : 1, own_timeouts : 1; /* as in struct oche_nic_habits */
    uint8_t doubts;                               /* enum doubts: recovery's `judge` will say */
    uint32_t last_ack_request;                    /* PSN of the last packet that asked for an ACK */

    /* Line 3: the responder. */
    struct oche_recovery_rx rx CACHE_ALIGNED;
    uint64_t write_va; /* address for the arriving message */
    uint32_t write_rkey;
    uint32_t write_length;  /* the DMA length; SEND: the room in the receive */
    uint32_t message_bytes; /* bytes of the message that have arrived */
    uint32_t msn;
    uint32_t last_ack_psn;  /* PSN of the last ACK that we sent */
    uint8_t operation : 4;  /* enum oche_operation in progress; NONE: between messages */
    uint8_t duplicates : 4; /* packets that arrived twice, of which the peer is to be told */
    uint8_t nak_syndrome;
    uint16_t active_responses;

    /* Congestion control. */
    struct oche_cc_flow flow CACHE_ALIGNED;

    /* Members that sending needs and that do not change with every packet. */
    struct send_entry *send_ring CACHE_ALIGNED;
    oche_time rnr_deadline; /* the peer is not ready until then; OCHE_NEVER: the peer is ready */
    uint64_t pace_rate_bps;
    oche_time pace_full; /* spacing of full packets; 0: only the port limits the rate */
    struct rtt_log *rtt; /* NULL if nobody wants round-trip times */
    uint32_t send_mask, ack_every, window_packets;
    uint32_t full_line_bytes; /* bytes of a full packet on the line */
    uint32_t reads_started;   /* requests for READs and atomics that are not answered */
    uint32_t retries_left;

    /* Written by posting threads; read by the NIC after the doorbell has rung. */
    _Atomic uint32_t posted_sends CACHE_ALIGNED;
    _Atomic uint32_t posted_recvs;
    _Atomic uint32_t rung; /* 1: the queue pair is in the doorbell list */
    uint32_t doubt_psn;    /* losses.c; like those after the next it only fits here */
    struct oche_qp *rung_next;
    /* The next members do not belong to this line, but fit into it. */
    uint32_t limit_lag_bytes;         /* on the line until a new limit takes effect */
    uint8_t resent_for, resent_twice; /* the cause: requester.c, count_again */
    uint16_t held_base;           /* with QP_HOLDS: the low bits of the PSN that is held first */
    oche_time least_rtt;          /* of this connection; OCHE_NEVER: none yet */
    struct placed_packet *placed; /* placed_mask + 1 entries, or NULL */
    uint8_t *held;                /* with held_bytes as in struct oche_qp_config */
    uint32_t placed_mask, held_bytes;

    /* Written by the NIC; read by posting threads. */
    _Atomic uint32_t retired_sends CACHE_ALIGNED;
    _Atomic uint32_t retired_recvs;

    /* Touched rarely, or once a message. */
    uint32_t held_count; /* payloads that find room in `held`, a power of two, or 0 */
    uint32_t retry_count, rnr_retry, rnr_retries_left;
    oche_time silent_since; /* since then no progress; OCHE_NEVER: no timer has expired since */
    uint8_t *send_extra;    /* send_extra_bytes for each entry of send_ring */
    const struct oche_group *
        /* for each entry its group, or NULL; the array itself is NULL if groups are not used */
        *send_groups;
    uint8_t *recv_ring; /* recv_entry_bytes for each entry */
    struct response *responses;
    struct oche_cq *send_cq, *recv_cq;
    void *user;
    struct oche_random random;
    uint64_t rate_limit_bps;
    uint64_t supply_bps;  /* rate at which data is made (pacer.c); 0: all posted data exists */
    oche_time supply_due; /* when the byte after the last one sent will exist */
    uint64_t retransmitted_packets, timeouts;
    uint32_t initiator_depth;
    /* 24 bits each; credit_limit: the peer has posted receives up to this SSN */
    uint32_t next_ssn, credit_limit;
    uint32_t gap_psn, rtt_head, rtt_tail, recv_mask, send_extra_bytes, recv_entry_bytes;
    uint16_t max_send_sge, max_recv_sge; /* at most OCHE_MAX_SGE */
    uint16_t max_inline_bytes;
    uint16_t held_wanted; /* packets that `held` had no room for; 0: none since it was given */
    /* ring indices: the oldest receive; one past the last receive that the NIC has seen */
    uint32_t recv_head, recv_tail;
    uint32_t response_count; /* places of `responses` in use, a power of two */
    uint32_t response_next;  /* index that the next READ or atomic takes */
    uint32_t response_first; /* no response before this index is active */
    uint32_t nak_psn, pd, access;
    uint32_t peer_slot;
    uint32_t next_receive;            /* number of messages started so far that take a receive */
    uint32_t placed_end, patience_us; /* with QP_HOLDS: one past the highest PSN kept; nic.h */
    uint32_t recv_pd;                 /* protection domain of receives: that of the SRQ, or pd */
    oche_time ack_waited; /* the timeout, from rto, with which the ACK timer was last armed */
    struct oche_psn_note nak_taken, missing, restarted, nak_sent;
    oche_time order_deadline; /* ends struct oche_deflection's hold; follow: then STARTs wait */
    oche_time rnr_silence;    /* valid with QP_WAS_RNR: when the peer's wait ends */
    uint16_t max_mtu, max_responses; /* mtu_bytes of the configuration; places in `responses` */
    bool recv_taken;           /* the receive at recv_head belongs to the message in progress */
    uint8_t min_rnr_timer : 5; /* with the next three, and each following line: one byte */
    bool order_short : 1;      /* valid with order_deadline: the last message was short */
    bool order_leads : 1, order_followed : 1; /* follow */
    bool order_released : 1, order_strays : 1;
    uint8_t order_tokens : 4; /* follow: what packets carry until all is acknowledged */
    bool windows : 1;         /* work requests may bind memory windows */
    bool cnp_psns : 1;        /* the peer's CNPs name a PSN (core/wire/cnp.h) */
    uint8_t cause : 5;        /* enum oche_cause of the first error since the reset */
    bool worked : 1;          /* before the last reset: oche_qp_has_worked */
    bool established : 1;     /* the driver was told that the connection is established */
    bool overrun : 1; /* a completion was lost; it fails when its timer expires, due at once */
    struct datagrams *datagrams; /* UD only, otherwise NULL */
    struct read_pieces *pieces;  /* NULL: READs leave whole, and no window counts them */
    struct oche_srq *srq;        /* the shared receive queue, or NULL */
};

/* ---- completion queue ---- */

struct oche_cq {
    _Atomic uint32_t head CACHE_ALIGNED; /* written by the polling thread */
    /* 0: no; 1: for the next solicited or failed completion; 2: for the next */
    _Atomic uint32_t armed;
    _Atomic uint32_t tail CACHE_ALIGNED; /* written by the NIC */
    uint32_t mask;
    _Atomic bool overflowed;
    struct oche_completion *entries;
};

/* ---- NIC ---- */

struct ready_list {
    struct oche_qp *head, *tail;
};

struct peer {
    uint32_t address, users;
};

struct oche_nic {
    /* Cache line 0: members that every packet reads and no packet changes. */
    struct map qp_map;
    struct oche_qp **qps; /* by slot */
    const struct oche_nic_port *port;
    void *port_context;
    const struct oche_cc_scheme *cc;
    const struct oche_recovery_scheme *recovery;
    struct oche_trace *trace;

    /* Line 1. */
    uint64_t ecn_threshold_bytes CACHE_ALIGNED;
    oche_time pace_credit; /* pacing makes up for a wait for the port of at most this long */
    uint64_t backlog_bytes;
    struct oche_qp *control_head, *control_tail;
    uint32_t address;
    /* data packets sent so far; with it, queue pairs are ordered by when they last sent */
    uint32_t serve_count;
    uint16_t gap_bytes;
    bool ipv6;
    uint8_t trailer_bytes; /* bytes of trailer in each data packet */
    uint8_t control_class;
    uint8_t ready_classes; /* mask of the classes whose ready list is not empty */
    bool cc_touched;       /* a hook may have changed cc_nic */
    uint8_t shows;         /* bits of OCHE_BTH_SHOWN in the packets of our connections */
    uint64_t received_line_bytes;

    /* Cache lines 2 to 4: heaps, and a list for each class; few of the lists are in use. */
    struct heap timers CACHE_ALIGNED;
    struct heap pacing;
    uint16_t sender_line, receiver_line; /* of struct oche_cc_nic_hooks */
    struct ready_list ready[OCHE_CLASSES];

    /* The cache line that posting threads write. */
    /* list of the queue pairs that rang the doorbell, latest first */
    _Atomic(struct oche_qp *) doorbell CACHE_ALIGNED;
    /* list of queue pairs taken from `doorbell` and not yet answered */
    struct oche_qp *rung_head, *rung_tail;

    struct oche_nic_stats stats CACHE_ALIGNED; /* every packet changes the first cache line */
    uint64_t rejected[OCHE_REJECT_CAUSES], resent[OCHE_RESENT_CAUSES];
    struct oche_nic_config config;

    struct slots slots, peer_slots; /* of queue pairs; of peers */
    struct regions regions;
    struct oche_window *windows;
    struct map peer_map;
    struct peer *peers;
    uint8_t *peer_states;
    size_t peer_state_stride;
    struct oche_cc_nic cc_nic;
};

/* ---- small things ---- */

static inline enum oche_qp_state qp_state(const struct oche_qp *qp)
{
    return (enum oche_qp_state)atomic_load_explicit(&qp->state, memory_order_relaxed);
}

/* Partition keys match if the low 15 bits do and at least one end is a full member. */
static inline bool qp_pkey_matches(uint16_t a, uint16_t b)
{
    return a == b ? (a & 0x8000) : ((a ^ b) & 0x7fff) == 0;
}

/* True if what we have sent with this PSN is not acknowledged yet. */
static inline bool qp_is_outstanding(const struct oche_qp *qp, uint32_t psn)
{
    return oche_psn_diff(psn, qp->tx.una) >= 0 && oche_psn_diff(psn, qp->tx.high) < 0;
}

static inline struct send_entry *send_at(const struct oche_qp *qp, uint32_t index)
{
    return &qp->send_ring[index & qp->send_mask];
}

static inline void *send_extra_at(const struct oche_qp *qp, uint32_t index)
{
    return qp->send_extra + (size_t)(index & qp->send_mask) * qp->send_extra_bytes;
}

static inline struct recv_entry *recv_at(const struct oche_qp *qp, uint32_t index)
{
    return (void *)(qp->recv_ring + (size_t)(index & qp->recv_mask) * qp->recv_entry_bytes);
}

static inline bool is_read_or_atomic(uint8_t work_opcode)
{
    return work_opcode >= OCHE_WORK_READ;
}

/* True for work requests that send no packet. */
static inline bool is_local(uint8_t work_opcode)
{
    return work_opcode == OCHE_WORK_LOCAL_INV || work_opcode == OCHE_WORK_BIND_MW;
}

/* timers.c: what ack_wait returns if own_timeouts is set. */
oche_time own_ack_wait(const struct oche_qp *qp);

/*
 * Returns how long to wait for an ACK, and stores it in ack_waited. A scheme's own timer applies
 * until the retries are used up, then the connection's (retries.c).
 */
static inline oche_time ack_wait(struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;

    if (OCHE_UNLIKELY(qp->own_timeouts))
        return own_ack_wait(qp);
    if (OCHE_LIKELY(recovery->rto == NULL) || qp->ack_timeout == OCHE_NEVER)
        return qp->ack_timeout;
    qp->ack_waited = recovery->rto(&qp->tx, qp->ack_timeout);
    if (OCHE_UNLIKELY(qp->retries_left == 0) && qp->ack_waited < qp->ack_timeout) {
        const oche_time probe =
            recovery->probe != NULL ? recovery->probe(qp->tx.params) : OCHE_NEVER;

        qp->ack_waited = oche_time_min(qp->ack_timeout, oche_time_max(qp->ack_waited, probe));
    }
    return qp->ack_waited;
}

static inline void qp_trace(struct oche_qp *qp, oche_time now, enum oche_trace_kind kind,
                            uint64_t a, uint64_t b)
{
    oche_trace_emit(qp->nic->trace, now, kind, qp->qpn, a, b);
}

/*
 * qp_state.c. Called while qp->learns, for a packet that shows some of OCHE_BTH_SHOWN and that
 * passed the check of its PSN: what the peer can do, we use from then on.
 */
void qp_learn(struct oche_qp *qp, const struct oche_packet *packet);

/*
 * To be called for an arriving packet before anything is done with it. `psn_ok`: its PSN is the one
 * expected, or lies within what is outstanding. A stranger, who does not know the PSNs, must not
 * tell us what our peer can do.
 */
static inline void qp_heard(struct oche_qp *qp, const struct oche_packet *packet, bool psn_ok)
{
    if (OCHE_UNLIKELY(qp->learns) && psn_ok && (packet->bth_reserved & OCHE_BTH_SHOWN))
        qp_learn(qp, packet);
}

static inline void qp_note(struct oche_psn_note *note, uint32_t psn, oche_time now)
{
    if (note->psn != psn || note->last == 0)
        *note = (struct oche_psn_note){.psn = psn, .first = now};
    note->last = now;
}

/* Fills in the common fields of a packet to the peer. Its second cache line is empty (ext 0). */
static inline void packet_begin(const struct oche_qp *qp, struct oche_packet *packet,
                                uint8_t opcode, uint32_t psn, uint32_t payload_bytes)
{
    const struct oche_nic *nic = qp->nic;

    packet->src = nic->address;
    packet->dst = qp->remote_address;
    packet->flow_hash = qp->flow_hash;
    packet->dest_qpn = qp->remote_qpn;
    packet->psn = psn;
    packet->aeth = 0;
    packet->frame_bytes = (uint16_t)oche_frame_bytes(opcode, payload_bytes, nic->ipv6);
    packet->payload_bytes = (uint16_t)payload_bytes;
    packet->tag = qp->tag;
    packet->udp_source_port = qp->udp_source_port;
    packet->pkey = qp->pkey;
    packet->kind = OCHE_PACKET_ROCE;
    packet->opcode = opcode;
    packet->bth = (uint8_t)(oche_pad_bytes(payload_bytes) << OCHE_BTH_PAD_SHIFT);
    packet->bth_reserved = qp->shows ? nic->shows : 0;
    packet->ext = 0;
    packet->hops = 0;
}

/*
 * If the scheme has a trailer, makes room for it in a data packet. The scheme's hook `sent` fills
 * it in.
 */
static inline void packet_trailer(const struct oche_qp *qp, struct oche_packet *packet)
{
    const struct oche_nic *nic = qp->nic;

    if (OCHE_LIKELY(nic->trailer_bytes == 0))
        return;
    packet->bth_reserved |= OCHE_BTH_TRAILER;
    packet->frame_bytes = (uint16_t)oche_frame_bytes_with(packet->opcode, packet->payload_bytes,
                                                          nic->trailer_bytes, nic->ipv6);
}

/* ---- nic.c ---- */

void nic_reject(struct oche_nic *nic, struct oche_qp *qp, enum oche_reject cause,
                const struct oche_packet *packet, oche_time now);

/* ---- scheduler.c ---- */

/* Queues the queue pair if it has a data packet to send and is not queued yet. */
void scheduler_kick(struct oche_qp *qp, oche_time now);
/* Moves a queue pair whose pacing has changed to its new place. */
void scheduler_repace(struct oche_qp *qp, oche_time now);
/* Removes the queue pair from all lists and heaps. */
void scheduler_forget(struct oche_qp *qp);
/* Puts the queue pair into the control list if it has an ACK, a NAK, a CNP or an atomic's result to
 * send. */
void scheduler_control(struct oche_qp *qp);
void scheduler_ring(struct oche_qp *qp);
void scheduler_unring(struct oche_qp *qp);
/* Looks at all work that was posted since the last call. */
void scheduler_answer_doorbell(struct oche_nic *nic, oche_time now);

/* ---- pacer.c ---- */

oche_time pacer_spacing(const struct oche_qp *qp, uint32_t line_bytes);
/*
 * To be called when a data packet leaves: computes when the next one may leave. `burst`: at once.
 */
void pacer_sent(struct oche_qp *qp, oche_time now, uint32_t line_bytes, bool burst);
/* Notes that `bytes` of data made at supply_bps have left for the first time. */
void pacer_supply(struct oche_qp *qp, uint32_t bytes);
/* Applies the current rate of congestion control and the rate limit. */
void pacer_update_rate(struct oche_qp *qp, oche_time now);
/* Sets the limit of the rate, which takes effect at once or after the lag of an RNIC that has one.
 */
void pacer_limit(struct oche_qp *qp, uint64_t bps, oche_time now);
/* Returns when a queue pair that was not queued may send. */
oche_time pacer_due(const struct oche_qp *qp, oche_time now);

/* ---- congestion.c ---- */

/* True if a packet's mark counts: a stranger must not have us send CNPs. UC takes any PSN. */
static inline bool congestion_mark_counts(const struct oche_qp *qp, int32_t ahead)
{
    return qp->transport != OCHE_TRANSPORT_RC || (ahead <= PSN_REACH && ahead >= -PSN_REACH);
}

void congestion_start(struct oche_qp *qp, oche_time now);
/* Tells the scheme, if it was started, that nothing more will be sent. */
void congestion_stop(struct oche_qp *qp);
/* Carries out what the scheme has decided in a hook. */
void congestion_apply(struct oche_qp *qp, oche_time now);
void congestion_arrived(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
void congestion_acked(struct oche_qp *qp, const struct oche_packet *packet, uint64_t acked_bytes,
                      oche_time rtt, oche_time now);
/* As congestion_acked, for READ data that leaves in pieces. */
void congestion_read_acked(struct oche_qp *qp, const struct oche_packet *packet,
                           uint64_t acked_bytes, oche_time rtt, oche_time now);
void congestion_loss(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now);
void congestion_undo(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now); /* see cc_nic.h */
void congestion_timers(struct oche_qp *qp, oche_time now);
/* Runs the scheme's timer of the NIC. */
void congestion_nic_timer(struct oche_nic *nic, oche_time now);
/*
 * Tell the scheme, if it has the hook, that a message begins or has ended; each once per message.
 */
void congestion_message_begins(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
/* Tells the scheme about the group of senders that a first packet names (cc.h, group). */
void congestion_group(struct oche_qp *qp, const struct oche_packet *packet, bool begins,
                      oche_time now);
void congestion_message_ends(struct oche_qp *qp, oche_time now);
void congestion_read_begins(struct oche_qp *qp, oche_time now);
void congestion_read_ends(struct oche_qp *qp, oche_time now);
/* Gives the scheme a packet of its own opcode. */
void congestion_own(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
/* Tell the scheme: there is no work left; there is again; `more`, which it must have, if new. */
void congestion_note_idle(struct oche_qp *qp, oche_time now);
void congestion_note_busy(struct oche_qp *qp, oche_time now);
void congestion_note_more(struct oche_qp *qp, oche_time now);
/* Measure the round-trip times of acknowledged packets, for schemes that ask for them. */
void congestion_rtt_sent(struct oche_qp *qp, uint32_t psn, oche_time now);
oche_time congestion_rtt_acked(struct oche_qp *qp, oche_time now);
uint32_t congestion_peer_of(const struct oche_qp *qp); /* the peer device's number */
uint32_t congestion_first_asked(const struct oche_qp *qp);
bool congestion_peer_take(struct oche_qp *qp);
void *congestion_peer_state(const struct oche_cc_nic *cc, uint32_t address); /* see cc_nic.h */
void congestion_peer_release(struct oche_qp *qp);

/* ---- requester.c ---- */

/* Why the request stream sends nothing now. */
enum requester_wait {
    REQUESTER_GO,
    REQUESTER_STATE,
    REQUESTER_NO_WORK,
    REQUESTER_DRAINING,
    REQUESTER_RNR,
    REQUESTER_WINDOW,
    REQUESTER_CC_WINDOW,
    REQUESTER_DEPTH,
    REQUESTER_PACED,
    REQUESTER_FENCE,
    REQUESTER_ORDER,
    REQUESTER_CREDITS,
    REQUESTER_LOCAL_ERROR,
    REQUESTER_RESEND,
    REQUESTER_WAITS
};
enum requester_wait requester_wait(const struct oche_qp *qp);
/*
 * Fills in the next packet of the request stream. Returns false if it turns out that there is none.
 */
bool requester_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
/* Notes that packet `psn` asks for an ACK because congestion control wants one. */
void requester_asked(struct oche_qp *qp, uint32_t psn, oche_time now);
/* Returns the frame size of the packet that would leave next, to be counted in the backlog. */
uint32_t requester_next_frame_bytes(const struct oche_qp *qp);
/* Points the cursor at tx.next after recovery has moved it. */
void requester_seek(struct oche_qp *qp, uint32_t before, oche_time now);
/* Moves on tx.next if READ data for it has been kept meanwhile (pieces.h). */
void requester_pass_over(struct oche_qp *qp);
/* Reloads the head_ members after the oldest work request has changed or started. */
void requester_load_head(struct oche_qp *qp);
/* Returns the bind of the work request at `index`, which is a BIND_MW. */
const struct oche_bind *requester_bind(const struct oche_qp *qp, uint32_t index);
/* Returns the ring index of the started work request that holds `psn`, or send_started. */
uint32_t requester_find(const struct oche_qp *qp, uint32_t psn);

/* ---- completer.c ---- */

/*
 * True if an ACK or a NAK answers what is outstanding, or repeats the last answer: its PSN says
 * that it is the peer's, and not an old one.
 */
bool completer_psn_ok(const struct oche_qp *qp, const struct oche_packet *packet);
/* True if a SACK names only packets that are outstanding. */
bool completer_sack_ok(const struct oche_qp *qp, const struct oche_packet *packet);
void completer_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now);
/* Completes the oldest work request with a completion that carries the time `done`. */
void completer_retire(struct oche_qp *qp, enum oche_status status, oche_time now, oche_time done);
void completer_ack_timeout(struct oche_qp *qp, oche_time now);
void completer_rnr_over(struct oche_qp *qp, oche_time now);

/* ---- responder.c ---- */

void responder_receive(struct oche_qp *qp, const struct oche_packet *packet,
                       const struct oche_opcode_row *row, oche_time now);
void responder_timer(struct oche_qp *qp, oche_time now);
/* Completes the receive at recv_head. */
void responder_retire_recv(struct oche_qp *qp, const struct oche_completion *completion);
/* Completes the receive at recv_head with an error. */
void responder_fail_recv(struct oche_qp *qp, enum oche_status status, oche_time now);

/* ---- shared_receive.c ---- */

void srq_attach(struct oche_qp *qp, struct oche_srq *srq);
void srq_detach(struct oche_qp *qp);
uint32_t srq_max_sge(const struct oche_srq *srq);
/* Moves the oldest shared receive to the empty recv_head. Returns false if none is posted. */
bool srq_take(struct oche_qp *qp);

/* ---- window.c ---- */

/* True if the slot belongs to a window that the queue pair may use. */
bool window_open(const struct oche_qp *qp, uint32_t slot);
/* Count a bind of the window: when it was posted, and when it has ended. */
void window_bind_posted(struct oche_window *window);
void window_bind_over(struct oche_window *window);
/* Bind and invalidate windows. Return false, and change nothing, if that is not allowed. */
bool window_bind(struct oche_qp *qp, const struct oche_bind *bind);
bool window_invalidate(struct oche_qp *qp, uint32_t key);
bool window_may_invalidate(const struct oche_qp *qp, uint32_t key);
/* Releases the windows that the queue pair or its posted work has bound. */
void windows_forget(struct oche_qp *qp);

/* ---- datagram.c ---- */

/* True if a UD queue pair can send this work request; its length is not checked. */
bool datagram_work_ok(const struct oche_send_work *work);
void datagram_note(struct oche_qp *qp, uint32_t index, const struct oche_destination *to);
/* Addresses the packet of the work request at send_next. */
void datagram_address(const struct oche_qp *qp, struct oche_packet *packet);
/*
 * If there is a next work request, gives its traffic class to the queue pair, which must not be
 * queued.
 */
void datagram_take_class(struct oche_qp *qp);
void datagram_receive(struct oche_qp *qp, const struct oche_packet *packet,
                      const struct oche_opcode_row *row, oche_time now);

/* ---- response_stream.c ---- */

void response_ask_ack(struct oche_qp *qp);
/*
 * Asks for an ACK of a duplicate. If an ACK is about to leave already, a second one follows, in
 * case the first is lost.
 */
void response_ask_ack_again(struct oche_qp *qp);
void response_ask_nak(struct oche_qp *qp, uint8_t syndrome, uint32_t psn);
/* Notes that response `index`, or part of it, must be sent. */
void response_activate(struct oche_qp *qp, uint32_t index, oche_time now);
/* Notes that nothing of the response is left to send. */
void response_finish(struct oche_qp *qp, struct response *response);
/* Returns the response that must leave first, or NULL. */
struct response *response_head(const struct oche_qp *qp);
bool response_data_waits(const struct oche_qp *qp);
uint32_t response_next_frame_bytes(const struct oche_qp *qp);
bool response_transmit(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
bool response_control_waits(const struct oche_qp *qp);
/* Returns the traffic class in which the next control packet leaves. */
uint8_t response_control_class(const struct oche_qp *qp);
bool response_transmit_control(struct oche_qp *qp, struct oche_packet *packet, oche_time now);
/* Returns the ACK syndrome that tells the peer how many receives are posted. */
uint8_t response_credit_syndrome(const struct oche_qp *qp);

/* ---- timers.c ---- */

/* Makes sure that timers_run is called for the queue pair at `when` or earlier. */
void timers_want(struct oche_qp *qp, oche_time when);
void timers_run(struct oche_qp *qp, oche_time now);

/* ---- qp_state.c ---- */

/* Tells the driver that `event` has happened to the queue pair. */
void qp_tell(struct oche_qp *qp, enum oche_qp_event event);
void qp_set_state(struct oche_qp *qp, enum oche_qp_state state, oche_time now);
/*
 * To be called after a completion of the queue pair was lost: moves the queue pair to ERR and tells
 * the driver.
 */
void qp_overrun(struct oche_qp *qp, oche_time now);
/*
 * Handles an error that the requester has found: work request `index` completes with `status`, and
 * all others before and after it are flushed. RC goes to ERR, UC and UD to SQE.
 */
void qp_requester_error(struct oche_qp *qp, uint32_t index, enum oche_status status, oche_time now);
/* Returns the cause with which a receive fails. */
enum oche_cause qp_receive_cause(const struct oche_qp *qp, enum oche_status status);
/* Handles an error that the responder has found. A receive in progress completes with `status`. */
void qp_responder_error(struct oche_qp *qp, enum oche_status status, oche_time now);
/* Traces the work that was posted since the last call. Flushes it if the state demands that. */
void qp_notice_posts(struct oche_qp *qp, oche_time now);

/* ---- qp.c ---- */

/*
 * Tells the driver that there was no room for a payload so many packets ahead of the oldest one
 * that is missing. *wanted is what it was told before, in packets.
 */
void qp_want_room(struct oche_qp *qp, uint16_t *wanted, uint32_t ahead);

/* ---- completion_queue.c ---- */

void cq_push(struct oche_qp *qp, struct oche_cq *cq, const struct oche_completion *completion);

/* ---- region.c ---- */

/* As region_check, for an access by the peer. The key may be that of a memory window. */
const struct oche_region *region_check_remote(const struct oche_qp *qp, uint32_t key, uint64_t va,
                                              uint64_t length, uint32_t access);
/*
 * Returns the region of `key` if protection domain, bounds and access rights allow the access, else
 * NULL. `length` must be above 0.
 */
const struct oche_region *region_check(const struct oche_nic *nic, uint32_t pd, uint32_t key,
                                       uint64_t va, uint64_t length, uint32_t access);
/*
 * Copy `bytes` between a packet and a list of SGEs; `offset` says where in the list to begin.
 * Return false if a region no longer exists.
 */
bool region_gather(const struct oche_qp *qp, const struct oche_sge *sge, uint32_t count,
                   uint32_t offset, void *to, uint32_t bytes);
bool region_scatter(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                    uint32_t count, uint32_t offset, const void *from, uint32_t bytes);
/* True if `access` to the memory of all SGEs is allowed. */
bool region_check_sges(const struct oche_nic *nic, uint32_t pd, const struct oche_sge *sge,
                       uint32_t count, uint32_t access);

#endif
