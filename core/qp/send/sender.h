/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending half of a queue pair: the members, and functions that only its files call. Files of
 * the receiving half do not include this.
 */
#ifndef OCHE_CORE_QP_SEND_SENDER_H
#define OCHE_CORE_QP_SEND_SENDER_H

#include "core/qp/qp_internal.h"
#include "core/qp/send/rtt.h"
#include "core/qp/send/send.h"

#define FOR_EVER          UINT32_MAX /* a retry count without a limit */
#define CREDITS_UNLIMITED OCHE_CREDITS_UNLIMITED

/* ---- the send ring ---- */

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

/* ---- the half ---- */

enum queued { QUEUED_NOT, QUEUED_PACED, QUEUED_READY };

/* Losses that may prove to be none. */
enum doubts { DOUBTS_NOTHING, DOUBTS_LOSS, DOUBTS_TIMEOUT };

/* Keeps messages apart or in order, for switches that deflect (deflection.h says what they mean).
 */
struct message_order {
    oche_time deadline; /* ends struct oche_deflection's hold; follow: then STARTs wait */
    bool is_short : 1;  /* valid with deadline: the last message was short */
    bool leads : 1, followed : 1, released : 1, strays : 1; /* follow */
    uint8_t tokens : 4; /* follow: what packets carry until all is acknowledged */
};

struct sender {
    /* Line 0: each packet that leaves. */
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

    /* Line 1: pacing, and each ACK that arrives. */
    oche_time pace_base CACHE_ALIGNED; /* base time of pacing (pacer.c) */
    oche_time pace_due;                /* when the next packet may leave; valid while queued */
    oche_time ack_deadline, ack_timeout;
    uint64_t flight_bytes; /* payload in [tx.una, tx.next); READ data with `pieces` alone */
    uint32_t head_first_psn, head_last_psn;
    uint32_t head_length;
    uint32_t send_head;         /* ring index of the oldest work request not completed */
    uint16_t pace_bytes;        /* bytes on the line of the last packet */
    uint8_t queued : 2;         /* enum queued */
    uint8_t asks : 1;           /* READ data is missing and has to be asked for again (pieces.h) */
    uint8_t read_waits : 1;     /* no READ request may leave before its pacing time (pieces.h) */
    uint8_t supplied : 1;       /* the program makes its data at supply_bps */
    uint8_t limit_lags : 1;     /* rate_limit_bps takes effect after limit_lag_bytes */
    uint8_t resends_singly : 1; /* as in struct oche_nic_habits */
    uint8_t own_timeouts : 1;   /* ACK timeouts follow one another by core/nic/timeouts.h */
    uint8_t doubts : 2;         /* enum doubts: recovery's `judge` will say */
    uint8_t timed_from_last_packet : 1; /* as in struct oche_nic_habits */
    uint32_t last_ack_request;          /* PSN of the last packet that asked for an ACK */

    /* Line 2: what does not change with every packet. */
    struct send_entry *send_ring CACHE_ALIGNED;
    oche_time rnr_deadline; /* the peer is not ready until then; OCHE_NEVER: the peer is ready */
    uint64_t pace_rate_bps;
    oche_time pace_full; /* spacing of full packets; 0: only the port limits the rate */
    struct rtt_log *rtt; /* NULL if nobody wants round-trip times */
    uint32_t send_mask, ack_every, window_packets;
    uint32_t full_line_bytes; /* bytes of a full packet on the line */
    uint32_t reads_started;   /* requests for READs and atomics that are not answered */
    uint32_t retries_left;

    /* Line 3: once a message. `retired_sends` is written by the NIC; posting threads read it. */
    _Atomic uint32_t retired_sends CACHE_ALIGNED;
    uint32_t doubt_psn;               /* losses.c */
    uint32_t limit_lag_bytes;         /* on the line until a new limit takes effect */
    uint8_t resent_for, resent_twice; /* the cause: requester.c, count_again */
    uint16_t send_extra_bytes;
    oche_time least_rtt;    /* shortest round trip of this connection; OCHE_NEVER: none yet */
    oche_time silent_since; /* since then no progress; OCHE_NEVER: no timer has expired since */
    uint32_t retry_count, rnr_retry, rnr_retries_left;
    uint32_t initiator_depth;
    oche_time ack_waited; /* the timeout, from rto, with which the ACK timer was last armed */
    struct oche_cq *send_cq;

    /* Line 4. */
    uint8_t *send_extra; /* send_extra_bytes for each entry of send_ring */
    /* for each entry its group, or NULL; the array itself is NULL if groups are not used */
    const struct oche_group **send_groups;
    /* 24 bits each; credit_limit: the peer has posted receives up to this SSN */
    uint32_t next_ssn, credit_limit;
    uint32_t gap_psn, rtt_head, rtt_tail;
    uint32_t next_receive; /* number of messages started so far that take a receive */
    uint32_t patience_us;  /* nic.h */
    uint16_t max_send_sge; /* at most OCHE_MAX_SGE */
    uint16_t max_inline_bytes;
    struct read_pieces *pieces; /* NULL: READs leave whole, and no window counts them */
    uint64_t rate_limit_bps;

    /* Line 5. */
    uint64_t supply_bps;  /* rate at which data is made (pacer.c); 0: all posted data exists */
    oche_time supply_due; /* when the byte after the last one sent will exist */
    uint64_t timeouts;
    struct oche_psn_note nak_taken;
    struct message_order order;
};

_Static_assert(sizeof(struct sender) == SENDER_BYTES, "as struct oche_qp says");

static inline struct sender *sender_of(struct oche_qp *qp)
{
    return (void *)qp->snd;
}

static inline const struct sender *sender_of_const(const struct oche_qp *qp)
{
    return (const void *)qp->snd;
}

/* The sending half of a queue pair, which may be const. */
#define snd(qp)                                                                                    \
    _Generic((qp), struct oche_qp * : sender_of, const struct oche_qp * : sender_of_const)(qp)

/* ---- small things ---- */

/* True if what we have sent with this PSN is not acknowledged yet. */
static inline bool qp_is_outstanding(const struct oche_qp *qp, uint32_t psn)
{
    return oche_psn_diff(psn, snd(qp)->tx.una) >= 0 && oche_psn_diff(psn, snd(qp)->tx.high) < 0;
}

static inline struct send_entry *send_at(const struct oche_qp *qp, uint32_t index)
{
    return &snd(qp)->send_ring[index & snd(qp)->send_mask];
}

static inline void *send_extra_at(const struct oche_qp *qp, uint32_t index)
{
    return snd(qp)->send_extra + (size_t)(index & snd(qp)->send_mask) * snd(qp)->send_extra_bytes;
}

/* retries.c: what ack_wait returns if own_timeouts is set. */
oche_time own_ack_wait(const struct oche_qp *qp);

/*
 * Returns how long to wait for an ACK, and stores it in ack_waited. A scheme's own timer applies
 * until the retries are used up, then the connection's (retries.c).
 */
static inline oche_time ack_wait(struct oche_qp *qp)
{
    const struct oche_recovery_scheme *recovery = qp->nic->recovery;

    if (OCHE_UNLIKELY(snd(qp)->own_timeouts))
        return own_ack_wait(qp);
    if (OCHE_LIKELY(recovery->rto == NULL) || snd(qp)->ack_timeout == OCHE_NEVER)
        return snd(qp)->ack_timeout;
    snd(qp)->ack_waited = recovery->rto(&snd(qp)->tx, snd(qp)->ack_timeout);
    if (OCHE_UNLIKELY(snd(qp)->retries_left == 0) && snd(qp)->ack_waited < snd(qp)->ack_timeout) {
        const oche_time probe =
            recovery->probe != NULL ? recovery->probe(snd(qp)->tx.params) : OCHE_NEVER;

        snd(qp)->ack_waited =
            oche_time_min(snd(qp)->ack_timeout, oche_time_max(snd(qp)->ack_waited, probe));
    }
    return snd(qp)->ack_waited;
}

/* ---- pacer.c ---- */

/* Notes that `bytes` of data made at supply_bps have left for the first time. */
void pacer_supply(struct oche_qp *qp, uint32_t bytes);

/* ---- rtt.c ---- */

/* Notes that packet `psn`, which asks for an ACK, leaves for the first time. */
void rtt_sent(struct oche_qp *qp, uint32_t psn, oche_time now);
/*
 * Returns the round-trip time of the newest packet below tx.una, or OCHE_NEVER. Tells recovery of
 * it, too.
 */
oche_time rtt_acked(struct oche_qp *qp, oche_time now);
/*
 * Returns the oldest PSN that has asked for an ACK and waits for it, or, if that is not known, the
 * latest.
 */
uint32_t rtt_first_asked(const struct oche_qp *qp);
/*
 * Returns the round-trip time of packet `psn`, which has arrived behind a gap, or OCHE_NEVER if it
 * is not measured.
 */
oche_time rtt_sacked(const struct oche_qp *qp, uint32_t psn, oche_time now);
/*
 * If packet `psn` is measured: it has left at `sent`, because its first copy has certainly not
 * arrived; OCHE_NEVER: it is not measured any more.
 */
void rtt_set(struct oche_qp *qp, uint32_t psn, oche_time sent);
/*
 * Drops the time stamps of packets that will be sent again, as an ACK could be for either
 * transmission.
 */
void rtt_forget(struct oche_qp *qp);

/* ---- requester.c ---- */

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
 * If QP_WHOLE_MESSAGES is set, moves una back to the start of its message. Returns true if it
 * moved.
 */
bool completer_forget_partial(struct oche_qp *qp, oche_time now);
/* Called after every arrival: what is in flight is timed, and the next packet may leave. */
void completer_settle(struct oche_qp *qp, oche_time now);

/* Completes the oldest work request with a completion that carries the time `done`. */
void completer_retire(struct oche_qp *qp, enum oche_status status, oche_time now, oche_time done);

/* ---- datagram.c ---- */

/* True if a UD queue pair can send this work request; its length is not checked. */
bool datagram_work_ok(const struct oche_send_work *work);
void datagram_note(struct oche_qp *qp, uint32_t index, const struct oche_destination *to);
/* Addresses the packet of the work request at send_next. */
void datagram_address(const struct oche_qp *qp, struct oche_packet *packet);

#endif
