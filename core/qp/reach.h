/* SPDX-License-Identifier: Apache-2.0 */
/* Which PSNs the peer can have sent or named. What is farther off is a stranger's, who guesses. */
#ifndef OCHE_CORE_QP_REACH_H
#define OCHE_CORE_QP_REACH_H

/*
 * How far the PSNs of the peer's packets can be from those that we expect, behind losses, resent or
 * late.
 */
#define PSN_REACH 32768

/*
 * How far behind the oldest unacknowledged PSN feedback for congestion control may be: what a CNP
 * or a packet of the scheme's own names as the PSN that its sender expects, or what an ACK
 * acknowledges. It names what was expected when it left, and ACKs that left before it acknowledged
 * no more, so where packets keep their order it is not behind at all. It is only if later ACKs have
 * overtaken it, by what was sent meanwhile: 100 us, the longest jitter of feedback that a paper of
 * ours has, are 500 packets of 1 KB at 40 Gbit/s. What is later than that tells of a queue that is
 * gone, and is no loss: while there is congestion the next comes soon. Who guesses hits 513 PSNs,
 * and those outstanding, of 2^24.
 */
#define FEEDBACK_SLACK 512

#endif
