/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that count as lost, and losses that prove to be none. Recovery decides both. These
 * functions run its timer, tell congestion control of a loss, and tell it again if nothing was lost
 * (cc.h, undo).
 */
#ifndef OCHE_CORE_QP_SEND_LOSSES_H
#define OCHE_CORE_QP_SEND_LOSSES_H

#include "core/qp/send/sender.h"

/* Tells congestion control of a loss. It may turn out that nothing was lost. */
void losses_tell(struct oche_qp *qp, oche_time now);
/*
 * una has moved on after a timeout or a loss (snd(qp)->doubts). Checks whether that shows that
 * nothing was lost. After a timeout it shows this only when the first packet that had asked for an
 * ACK is acknowledged. If that packet is lost, the packets before it are acknowledged only when a
 * copy of them asks again.
 */
void losses_look_back(struct oche_qp *qp, oche_time now);
/* The peer has a packet for the second time: sending it again may have been in vain. */
void losses_duplicated(struct oche_qp *qp, oche_time now);
/*
 * The peer tells that a switch has trimmed a packet of ours, which leaves again at once. A NACK for
 * what we have not sent, or for a request without payload, is rejected.
 */
void losses_trimmed(struct oche_qp *qp, const struct oche_packet *nack, oche_time now);
/* Arms the timer of packets that may be late. */
void losses_await(struct oche_qp *qp);
/*
 * Returns when packets that are missing count as lost (recovery's loss_due), or OCHE_NEVER. While
 * the peer is not ready nothing is lost: all from una on is sent again after the wait.
 */
oche_time losses_due(const struct oche_qp *qp);
void losses_timer(struct oche_qp *qp, oche_time now);
/* Returns how many packets between una and high are known to have arrived behind a gap. */
uint32_t losses_arrived(const struct oche_qp *qp);
/*
 * Returns the payload that has newly arrived in any order: `acked_bytes` in order, and behind a gap
 * there were `before` packets.
 */
uint64_t losses_with_arrived(const struct oche_qp *qp, uint64_t acked_bytes, uint32_t before);
/*
 * With recovery's `trim_told`: returns the payload of PSNs from una to high that have neither
 * arrived nor wait to leave again because a switch trimmed them, as if all packets were full.
 */
uint64_t losses_outstanding(const struct oche_qp *qp);
/* The same, for every recovery. */
uint64_t losses_in_flight(const struct oche_qp *qp);
/* Returns the payload in flight, without what has arrived behind a gap. */
uint64_t losses_flight(const struct oche_qp *qp);

#endif
