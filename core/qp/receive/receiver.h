/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving half of a queue pair: the members, and functions that only its files call. Files of
 * the sending half do not include this.
 */
#ifndef OCHE_CORE_QP_RECEIVE_RECEIVER_H
#define OCHE_CORE_QP_RECEIVE_RECEIVER_H

#include "core/qp/objects/objects.h"
#include "core/qp/qp_internal.h"
#include "core/qp/receive/receive.h"
#include "core/qp/receive/response.h"

#define MOST_DUPLICATES 15 /* receiver.duplicates */

struct receiver {
    /* Line 0: each request packet. */
    struct oche_recovery_rx rx CACHE_ALIGNED;
    uint64_t write_va; /* address for the arriving message */
    uint32_t write_rkey;
    uint32_t write_length;  /* the DMA length; SEND: the room in the receive */
    uint32_t message_bytes; /* bytes of the message that have arrived */
    uint32_t msn;
    uint32_t last_ack_psn; /* PSN of the last ACK that we sent */
    uint8_t operation : 4; /* enum oche_operation in progress; NONE: between messages */
    /* packets that arrived twice and are still to be reported to the peer */
    uint8_t duplicates : 4;
    uint8_t nak_syndrome;
    uint16_t active_responses;

    /* Line 1: receives. `retired_recvs` is written by the NIC; posting threads read it. */
    _Atomic uint32_t retired_recvs;
    uint32_t recv_mask;
    /* ring indices: the oldest receive; one past the last receive that the NIC has seen */
    uint32_t recv_head, recv_tail;
    uint8_t *recv_ring; /* recv_entry_bytes for each entry */
    struct oche_cq *recv_cq;
    struct oche_srq *srq;  /* the shared receive queue, or NULL */
    uint32_t recv_pd;      /* protection domain of receives: that of the SRQ, or pd */
    uint16_t max_recv_sge; /* at most OCHE_MAX_SGE */
    uint16_t recv_entry_bytes;
    uint16_t access;           /* oche_qp_config.access */
    bool recv_taken;           /* the receive at recv_head belongs to the message in progress */
    uint8_t min_rnr_timer : 5; /* a code */
    /* payloads behind a gap are written to their places as they come */
    bool places_at_once : 1;
    bool only_asked : 1; /* recovery's: packets that fill a gap are answered only if they ask */
    uint32_t nak_psn;
    struct response *responses;

    /* Line 2: responses, and packets that are kept behind a gap. */
    oche_time rnr_silence;   /* valid with QP_WAS_RNR: when the peer's wait ends */
    uint16_t response_count; /* places of `responses` in use, a power of two */
    uint16_t max_responses;  /* places in `responses` */
    uint32_t response_next;  /* index that the next READ or atomic takes */
    uint32_t response_first; /* no response before this index is active */
    uint32_t placed_mask;
    struct placed_packet *placed; /* placed_mask + 1 entries, or NULL */
    uint8_t *held;                /* with held_bytes as in struct oche_qp_config */
    uint32_t held_bytes;
    uint32_t held_count;  /* payloads that find room in `held`, a power of two, or 0 */
    uint32_t placed_end;  /* with QP_HOLDS: one past the highest PSN kept */
    uint16_t held_base;   /* with QP_HOLDS: the low bits of the PSN that is held first */
    uint16_t held_wanted; /* packets that `held` had no room for; 0: none since it was given */

    /* For the causes of timeouts. */
    struct oche_psn_note missing, restarted, nak_sent;
};

_Static_assert(sizeof(struct receiver) == RECEIVER_BYTES, "as struct oche_qp says");

static inline struct receiver *receiver_of(struct oche_qp *qp)
{
    return (void *)qp->rcv;
}

static inline const struct receiver *receiver_of_const(const struct oche_qp *qp)
{
    return (const void *)qp->rcv;
}

/* The receiving half of a queue pair, which may be const. */
#define rcv(qp)                                                                                    \
    _Generic((qp), struct oche_qp * : receiver_of, const struct oche_qp * : receiver_of_const)(qp)

static inline struct recv_entry *recv_at(const struct oche_qp *qp, uint32_t index)
{
    const struct receiver *half = rcv(qp);

    return (void *)(half->recv_ring + (size_t)(index & half->recv_mask) * half->recv_entry_bytes);
}

/* ---- receiver.c ---- */

/* Completes the receive at recv_head. */
void receiver_retire_recv(struct oche_qp *qp, const struct oche_completion *completion);
/* Completes the receive at recv_head with an error. */
void receiver_fail_recv(struct oche_qp *qp, enum oche_status status, oche_time now);
/* Moves the oldest shared receive to the empty recv_head. Returns false if none is posted. */
bool receiver_take_shared(struct oche_qp *qp);

/* ---- response_stream.c ---- */

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
/* Returns the ACK syndrome that tells the peer how many receives are posted. */
uint8_t response_credit_syndrome(const struct oche_qp *qp);

/* Returns how many bytes of a request the region is checked for when this packet arrives. */
static inline uint64_t region_bytes_to_check(const struct oche_qp *qp,
                                             const struct oche_packet *packet,
                                             const struct oche_opcode_row *row)
{
    const struct oche_nic_habits *habits = qp->nic->config.habits;

    if (OCHE_UNLIKELY(habits != NULL && habits->checks_each_packet) &&
        row->operation == OCHE_OPERATION_WRITE)
        return packet->payload_bytes;
    return packet->reth.dma_length;
}

#endif
