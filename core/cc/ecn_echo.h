/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks that are echoed in ACKs: the receiver half keeps a mark until the next ACK or NAK leaves,
 * and sets OCHE_BTH_BECN in it. At the sender the hook `acked` sees it as ecn_echo. Where no ACK
 * answers a packet (UC, UD, READ data), the receiver half asks for a CNP instead, and the sender's
 * hook is `cnp`. Several marks before one ACK are one echo.
 *
 * A scheme has all of the receiver half by one line of its table:
 *
 *     OCHE_ECN_ECHO,
 *
 * A scheme whose receiver half does more calls these two from hooks of its own, as ib_cc.c does.
 */
#ifndef OCHE_CORE_CC_ECN_ECHO_H
#define OCHE_CORE_CC_ECN_ECHO_H

#include "core/cc/cc.h"

OCHE_C_BEGIN

#define OCHE_ECN_ECHO .arrived = oche_ecn_echo_arrived, .stamp_ack = oche_ecn_echo_stamp

/* The hook `arrived`: keeps the packet's mark, if it has one. */
void oche_ecn_echo_arrived(struct oche_cc_flow *flow, oche_time now,
                           const struct oche_packet *packet, struct oche_cc_reply *reply);
/* The hook `stamp_ack`: the ACK or NAK takes the mark with it. */
void oche_ecn_echo_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet);

OCHE_C_END

#endif
