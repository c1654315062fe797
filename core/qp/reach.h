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
 * How far feedback for congestion control may be behind the oldest unacknowledged PSN. The PSN of
 * the feedback is the one that a CNP or a packet of the scheme names as the next that its sender
 * expects, or the one that an ACK acknowledges. Where packets keep their order, it is not behind at
 * all: ACKs that left before the feedback acknowledged no more than it names. It is behind only if
 * later ACKs have overtaken it, by the packets sent meanwhile. The longest jitter of feedback in
 * our papers, 100 us, is 500 packets of 1 KB at 40 Gbit/s. Later feedback tells of a queue that is
 * gone, so it can be ignored: while there is congestion the next feedback comes soon. An attacker
 * who guesses a PSN hits these 513 PSNs, or the outstanding ones, of 2^24.
 */
#define FEEDBACK_SLACK 512

#endif
