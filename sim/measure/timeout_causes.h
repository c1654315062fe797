/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an ACK timer ran out ("Error recovery of RDMA packets in data center networks" sec III.A,
 * Figs 3 and 4). An oracle: it sees both ends of a connection and every packet that was lost, and
 * changes nothing.
 *
 * Let E be the PSN that the receiver waits for when the sender's timer runs out, and a pass what
 * the sender has sent since it went back the last time. What was sent before the timeout has
 * arrived, was lost, or is on its way.
 *
 *   last_packet  E was lost, and everything that was sent behind it in its pass too; mostly it is
 *                the last packet of all and there was nothing. Also: the receiver has all that the
 *                pass sent, and of these duplicates those that asked for an ACK were lost.
 *   last_ack     the receiver has all that the pass sent, and its ACK of the last was lost.
 *   nak_lost     E was lost, and after that a NAK for E; none has reached the sender since.
 *   lost_twice   E was lost, and its repair too, which a NAK or a timeout had asked for. Later
 *                packets came, but the receiver had sent a NAK for E less than an interval ago and
 *                said nothing. Or a NAK had asked, and nothing came behind the repair. Or another
 *                repair is on its way now.
 *   nak_held     E was lost once since the receiver waits for it, later packets came, and no NAK
 *                left, as one had less than an interval ago. The paper does not list it. It needs a
 *                receiver that lets a NAK wait for one of another PSN (REFERENCE L3).
 *   other        E, the NAK or the ACK is on its way or waits to leave (the timeout is too short,
 *                or a PAUSE too long), or an end has refused something.
 *
 * Each timeout is judged by itself: the second one of a stall by what became of what the first one
 * made the sender send again. A last packet that is sent twice is lost when both copies are. Where
 * a receiver restarts its message at a gap (go_back_0), E is the PSN of the gap. A sender that
 * repeats only what is missing (selective_repeat) repeats E because a NAK or a SACK said so, or the
 * oldest packet because of a timeout; that is its whole pass then.
 *
 * Only requests that carry their data are judged so, which is what the simulator's applications
 * use: of a READ the requester is the receiver, and its timeouts would be `other`.
 */
#ifndef OCHE_SIM_MEASURE_TIMEOUT_CAUSES_H
#define OCHE_SIM_MEASURE_TIMEOUT_CAUSES_H

#include "sim/network/mishaps.h"

enum oche_timeout_cause {
    OCHE_TIMEOUT_LAST_PACKET,
    OCHE_TIMEOUT_LAST_ACK,
    OCHE_TIMEOUT_NAK_LOST,
    OCHE_TIMEOUT_LOST_TWICE,
    OCHE_TIMEOUT_NAK_HELD,
    OCHE_TIMEOUT_OTHER,
    OCHE_TIMEOUT_CAUSES
};
/* "last_packet", … */
const char *oche_timeout_cause_name(enum oche_timeout_cause cause);

/* Where a connection stands now, in packets since its first one; so PSNs that wrap do no harm. */
struct oche_connection_progress {
    uint64_t expected;            /* by the receiver */
    uint64_t acknowledged;        /* by the sender; UINT64_MAX: it has no queue pair any more */
    struct oche_qp_losses losses; /* of the receiver's queue pair; all 0: it has none */
};
typedef void oche_connection_look(void *context, uint32_t connection,
                                  struct oche_connection_progress *progress);

struct oche_timeout_causes;

/* `look` is asked during the calls below. Memory grows with what is lost and not yet repaired. */
struct oche_timeout_causes *oche_timeout_causes_create(oche_connection_look *look, void *context);
void oche_timeout_causes_free(struct oche_timeout_causes *causes);
/*
 * A packet was lost. In any order, but before any timeout that is later, and after any that is not:
 * what is sent again at the very time of a timeout is not its cause.
 */
void oche_timeout_causes_lost(struct oche_timeout_causes *causes, uint32_t connection,
                              const struct oche_lost_packet *lost);
/*
 * A timer ran out. The receiver must be looked at before anything that was sent at that time or
 * later can reach it, and after what was sent and could.
 */
enum oche_timeout_cause oche_timeout_causes_judge(struct oche_timeout_causes *causes,
                                                  uint32_t connection,
                                                  const struct oche_timed_out *timed_out);

#endif
