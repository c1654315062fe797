/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retries: how often the oldest outstanding request is repeated before the peer is given up. There
 * are two counts (rocev2.md#retries), of timeouts and of RNR NAKs. The first tells whether the path
 * delivers packets and the peer answers, the second whether the peer's program is ready.
 *
 * Both begin anew with progress, when a new packet is acknowledged. The count of timeouts also
 * begins anew when an RNR NAK names the oldest outstanding packet: the path has delivered this very
 * packet, and the peer has answered. How often it may do so is what the other count is for. So with
 * that count infinite (rnr_retry 7) a queue pair does not fail, however long the receiver is not
 * ready and however many packets are lost meanwhile.
 *
 * All other signs that the peer lives leave the count as it is: a NAK that names a gap, an ACK of
 * what was acknowledged before, a response behind a missing one, a CNP, a request of the peer's.
 * They answer other packets than the oldest one, and that may never arrive: a path that drops long
 * packets (an MTU that is too large) lets short ones behind them through, for ever. IBTA counts
 * NAKs for gaps among the retries for that reason. Here they spend none where a timer runs, but the
 * timer goes on.
 */
#ifndef OCHE_CORE_QP_SEND_RETRIES_H
#define OCHE_CORE_QP_SEND_RETRIES_H

#include "core/qp/send/sender.h"

/*
 * Resets the retry counts after progress. With whole_messages only the end of a message is
 * progress, because recovery may begin an unfinished message again.
 */
void retries_restore(struct oche_qp *qp, uint32_t before);
/* Spends one of a count. Returns false if there was none left. */
bool retries_spend(struct oche_qp *qp, uint32_t *left);
/* The peer has answered the oldest outstanding packet, even if only with an RNR NAK. */
void retries_answered(struct oche_qp *qp);
/*
 * A timer has expired: spends a retry, and returns what to do. The peer is given up when all
 * retries are used up, or when an adapter's own timeouts end (core/nic/timeouts.h).
 */
enum oche_timeout retries_timeout(struct oche_qp *qp, oche_time now);
/* The queue pair has been connected: draws the first of an adapter's own timeouts. */
void retries_start(struct oche_qp *qp);

#endif
