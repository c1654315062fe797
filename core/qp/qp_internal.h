/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair: what both of its halves need, and the functions that its rooms share.
 *
 *   send/      the half that sends requests: posted work becomes packets, answers complete it
 *   receive/   the half that receives requests, executes them and answers
 *   objects/   completion queues, regions, windows, shared receive queues
 *   nic.c      making a NIC; where an arriving packet goes
 *   scheduler.c, timers.c        whose packet leaves next; one deadline a queue pair
 *   qp.c, qp_state.c             making queue pairs; their states
 *   congestion.c                 calls the hooks of congestion control
 *   wake.c, check_*.c            what will make a queue pair go on; invariants
 *
 * The members of a half are in send/sender.h and receive/receiver.h, which only the files of that
 * half include, and those above that look into one half. Each cache line holds the members that one
 * path needs, so that a packet touches few cache lines. Ring indices are not reduced to the ring's
 * size; they wrap at 2^32.
 */
#ifndef OCHE_CORE_QP_QP_INTERNAL_H
#define OCHE_CORE_QP_QP_INTERNAL_H

#include "core/qp/nic_internal.h"
#include "core/qp/reach.h"
#include "core/wire/aeth.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "core/wire/telemetry.h"

#define MIN_MTU 64

/*
 * Most PSNs outstanding, and in one message: less than half the circle, so that PSNs can be
 * ordered.
 */
#define MAX_PSN_WINDOW ((UINT32_C(1) << 23) - 1)

/* Bytes of the halves; whole cache lines. */
#define SENDER_BYTES   384
#define RECEIVER_BYTES 256

/* Members that only a UD queue pair has. */
struct datagrams {
    struct oche_destination *destinations; /* one for each send_entry */
    uint32_t qkey;
};

enum control_bits {
    CONTROL_CNP = 1 << 0,
    CONTROL_ACK = 1 << 1,
    CONTROL_NAK = 1 << 2,       /* a NAK with nak_syndrome and nak_psn */
    CONTROL_ACK_AGAIN = 1 << 3, /* with CONTROL_ACK: send a second ACK after the first */
    CONTROL_OWN = 1 << 4,       /* congestion control's own packet */
    CONTROL_TRIM = 1 << 5,      /* NACKs for trimmed packets, of which recovery has the list */
};

enum qp_flags {
    QP_LISTED = 1 << 0,         /* in the NIC's control list */
    QP_RESPONSE_TURN = 1 << 1,  /* it is the turn of the response stream to send */
    QP_IDLE_TOLD = 1 << 2,      /* congestion control was told that there is no work */
    QP_LOCAL_ERROR = 1 << 3,    /* the next work request is bad; it fails once it is the oldest */
    QP_GAP_TOLD = 1 << 4,       /* the responses from gap_psn on are missing; recovery was told */
    QP_CREDIT_LIMITED = 1 << 5, /* the peer tells us how many receives it has posted */
    QP_WAS_RNR = 1 << 6,        /* responder: sent an RNR NAK, and waits for that PSN again */
    QP_RETRIED = 1 << 7,        /* a retry was used after the last ACK that made progress */
    QP_TAKES_RTT = 1 << 8,      /* round-trip times are wanted */
    QP_TELLS_CREDITS = 1 << 9,  /* our ACKs say how many receives are posted */
    /* recovery's whole_messages is in use, since the peer has it, too */
    QP_WHOLE_MESSAGES = 1 << 10,
    QP_HOLDS = 1 << 11,       /* responder: packets that came behind a gap are kept */
    QP_EXTENDED = 1 << 12,    /* the extended opcodes are in use; flow.extended is set as well */
    QP_IN_BURST = 1 << 13,    /* the next packet need not wait; see pacer.c */
    QP_CC_STARTED = 1 << 14,  /* congestion control was started and not yet stopped */
    QP_BEHIND_DATA = 1 << 15, /* responder: ACKs leave in the traffic class of data */
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
    uint8_t responding : 1; /* a READ or an atomic is not answered in full yet */
    uint8_t control;        /* enum control_bits */
    uint16_t flags;         /* enum qp_flags */
    uint32_t slot;
    struct oche_qp *control_next;
    struct oche_qp *ready_next, *ready_prev;

    uint8_t snd[SENDER_BYTES] CACHE_ALIGNED;   /* struct sender: send/sender.h */
    uint8_t rcv[RECEIVER_BYTES] CACHE_ALIGNED; /* struct receiver: receive/receiver.h */

    /* Congestion control. */
    struct oche_cc_flow flow CACHE_ALIGNED;

    /* Written by posting threads; read by the NIC after the doorbell has rung. */
    _Atomic uint32_t posted_sends CACHE_ALIGNED;
    _Atomic uint32_t posted_recvs;
    _Atomic uint32_t rung; /* 1: the queue pair is in the doorbell list */
    uint32_t pd;
    struct oche_qp *rung_next;
    /* The next members do not belong to this line, but fit into it. */
    void *user;
    struct datagrams *datagrams; /* UD only, otherwise NULL */
    uint64_t retransmitted_packets;
    struct oche_random random;
    uint32_t peer_slot;
    uint16_t max_mtu;     /* mtu_bytes of the configuration */
    bool windows : 1;     /* work requests may bind memory windows */
    bool cnp_psns : 1;    /* the peer's CNPs name a PSN (core/wire/cnp.h) */
    bool worked : 1;      /* before the last reset: oche_qp_has_worked */
    bool spreads : 1;     /* packets may take several paths (spread.h) */
    bool established : 1; /* the driver was told that the connection is established */
    /* a completion was lost; the queue pair fails when its timer expires, which is due at once */
    bool overrun : 1;
    uint16_t cause : 5; /* enum oche_cause of the first error since the reset */
    /* in ERR, on demand: enum oche_status of the next work request, or success */
    uint16_t demanded : 5;
};

_Static_assert(sizeof(struct oche_qp) <= 896, "a queue pair has 14 cache lines");

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

static inline bool is_read_or_atomic(uint8_t work_opcode)
{
    return work_opcode >= OCHE_WORK_READ;
}

/* True for work requests that send no packet. */
static inline bool is_local(uint8_t work_opcode)
{
    return work_opcode == OCHE_WORK_LOCAL_INV || work_opcode == OCHE_WORK_BIND_MW;
}

/* Returns the smallest power of two that is at least `count`; 0 for 0. */
static inline uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = count > 0 ? 1 : 0;

    while (power < count)
        power *= 2;
    return power;
}

static inline void qp_trace(struct oche_qp *qp, oche_time now, enum oche_trace_kind kind,
                            uint64_t a, uint64_t b)
{
    oche_trace_emit(qp->nic->trace, now, kind, qp->qpn, a, b);
}

/*
 * qp_state.c. Called while qp->learns, for a packet that shows some of OCHE_BTH_SHOWN and that
 * passed the check of its PSN: from then on we use the extensions that the peer has.
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

/* True if the PSN is not the one that was noted last. */
static inline bool qp_note_is_new(const struct oche_psn_note *note, uint32_t psn)
{
    return note->psn != psn || note->last == 0;
}

static inline void qp_note(struct oche_psn_note *note, uint32_t psn, oche_time now)
{
    if (qp_note_is_new(note, psn))
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
    if (nic->telemetry) {
        packet->bth |= OCHE_BTH_TELEMETRY;
        packet->ext |= OCHE_EXT_TRAILER;
        *oche_telemetry_of(packet) = (struct oche_telemetry){.hops = 0};
    }
}

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

#endif
