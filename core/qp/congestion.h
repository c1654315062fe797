/* SPDX-License-Identifier: Apache-2.0 */
/* The glue between a queue pair and its congestion-control scheme; see congestion.c. */
#ifndef OCHE_CORE_QP_CONGESTION_H
#define OCHE_CORE_QP_CONGESTION_H

#include "core/qp/qp_internal.h"

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
/* Gives the scheme the rest of a trimmed packet as if the whole packet had arrived with a mark. */
void congestion_trimmed_arrived(struct oche_qp *qp, const struct oche_packet *packet,
                                oche_time now);
void congestion_acked(struct oche_qp *qp, const struct oche_packet *packet, uint64_t acked_bytes,
                      oche_time rtt, oche_time now);
/* As congestion_acked, for READ data that leaves in pieces. */
void congestion_read_acked(struct oche_qp *qp, const struct oche_packet *packet,
                           uint64_t acked_bytes, oche_time rtt, oche_time now);
void congestion_loss(struct oche_qp *qp, enum oche_cc_loss kind, oche_time now);
/* A switch has trimmed a packet of ours. `is_new`: the first in a round trip. */
void congestion_trimmed(struct oche_qp *qp, enum oche_trimmed where, bool is_new, oche_time now);
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
/* Gives the scheme a CNP that the peer can have sent. Returns false if it does not react. */
bool congestion_cnp(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
/* Gives the scheme a packet of its own opcode. */
void congestion_own(struct oche_qp *qp, const struct oche_packet *packet, oche_time now);
/* Tell the scheme: there is no work left; there is again; `more`, which it must have, if new. */
void congestion_note_idle(struct oche_qp *qp, oche_time now);
void congestion_note_busy(struct oche_qp *qp, oche_time now);
void congestion_note_more(struct oche_qp *qp, oche_time now);
uint32_t congestion_peer_of(const struct oche_qp *qp); /* the peer device's number */
bool congestion_peer_take(struct oche_qp *qp);
void *congestion_peer_state(const struct oche_cc_nic *cc, uint32_t address); /* see cc_nic.h */
void congestion_peer_release(struct oche_qp *qp);

#endif
