/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an ACK timer expired ("Error recovery of RDMA packets in data center networks" sec III.A,
 * Figs 3 and 4). These functions see both ends of a connection and every lost packet, which no
 * protocol could, and change nothing.
 *
 * Let E be the PSN that the receiver expects when the sender's timer expires, and let a pass be
 * the packets that the sender has sent since it last went back. A packet sent before the timeout
 * has arrived, was lost, or is on its way.
 *
 *   last_packet  E was lost, and everything sent after it in its pass was lost too; usually E is
 *                the last packet of all, and nothing was sent after it. Also: the receiver had all
 *                packets of the pass before, and the duplicates that ask for an ACK were lost.
 *   last_ack     the receiver has all packets of the pass, and its ACK for the last one was lost.
 *   nak_lost     E was lost, and then a NAK for E; no NAK for E has reached the sender since.
 *   lost_twice   E was lost, and then its repair, which a NAK or a timeout had asked for, was lost
 *                too. There are three cases: later packets arrived, but the receiver sent no NAK
 *                because it had sent one for E less than an interval ago; or a NAK had asked for
 *                the repair, and nothing arrived after the repair; or another repair is on its way
 *                now.
 *   nak_held     E was lost once since the receiver expects it, later packets arrived, and no NAK
 *                was sent because a NAK had left less than an interval ago. The paper does not list
 *                this cause. It occurs only if the receiver delays a NAK although the last NAK was
 *                for another PSN (error-recovery.md#l3).
 *   other        E, the NAK or the ACK is on its way or waits to be sent (the timeout is too short,
 *                or a PAUSE too long), or an end has refused something.
 *
 * Each timeout is judged by itself: the second timeout of a stall is judged by the fate of the
 * packets that were resent after the first. A last packet that is sent twice counts as lost if both
 * copies are lost. Where a receiver restarts its message at a gap (go_back_0), E is the PSN of the
 * gap. A sender that resends only missing packets (selective_repeat) resends E because a NAK or a
 * SACK asked for E, or the oldest packet because of a timeout; in the latter case that packet is
 * the whole pass.
 *
 * This covers only requests that carry their data. For a READ the requester receives the data, and
 * all of its timeouts count as `other`.
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

/*
 * The progress of a connection, in packets since its first packet; these numbers do not wrap as
 * PSNs do.
 */
struct oche_connection_progress {
    uint64_t expected;     /* next packet that the receiver expects */
    uint64_t acknowledged; /* packets acknowledged at the sender; UINT64_MAX: the sender's queue
                              pair is gone */
    struct oche_qp_losses losses; /* losses of the receiver's queue pair; all 0: no queue pair */
};
typedef void oche_connection_reader(void *context, uint32_t connection,
                                    struct oche_connection_progress *progress);

struct oche_timeout_causes;

/*
 * Creates the state. The functions below call `read_progress` for the progress of connections.
 * Memory grows with the number of losses that are not yet repaired.
 */
struct oche_timeout_causes *oche_timeout_causes_create(oche_connection_reader *read_progress,
                                                       void *context);
void oche_timeout_causes_free(struct oche_timeout_causes *causes);
/*
 * Records a lost packet. Losses may be recorded in any order among themselves. But a loss must be
 * recorded before any later timeout is judged, and after all timeouts at the same time or earlier
 * are judged, because a packet that is resent at the very time of a timeout is not its cause.
 */
void oche_timeout_causes_lost(struct oche_timeout_causes *causes, uint32_t connection,
                              const struct oche_lost_packet *lost);
/*
 * Returns why a timer expired, by looking at both ends of the connection. At the call, the receiver
 * must have received all packets that could have reached it by the time of the timeout, but no
 * packet that was sent at that time or later.
 */
enum oche_timeout_cause oche_timeout_causes_judge(struct oche_timeout_causes *causes,
                                                  uint32_t connection,
                                                  const struct oche_timed_out *timed_out);
/*
 * Frees the memory of losses that can no longer cause a timeout. To be called when all timeouts so
 * far are judged: a queue pair that is gone by now may still have a timeout that is not.
 */
void oche_timeout_causes_tidy(struct oche_timeout_causes *causes);

/*
 * Calls `each` for the connections of losses that are kept, in any order, some more than once, if
 * the functions above may look at them while `more` further losses and timeouts are handled.
 */
void oche_timeout_causes_each(const struct oche_timeout_causes *causes, uint32_t more,
                              void (*each)(void *context, uint32_t connection), void *context);

#endif
