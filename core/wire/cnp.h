/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RoCEv2 congestion notification packet (rocev2.md#cnp): opcode 0x81, BECN set, PSN 0, 16
 * reserved bytes, no payload. It goes to the queue pair that sent the marked packet. The
 * congestion-control scheme decides when a CNP is sent and how the sender reacts to it.
 */
#ifndef OCHE_CORE_WIRE_CNP_H
#define OCHE_CORE_WIRE_CNP_H

#include "core/wire/opcode.h"

/*
 * Writes the BTH facts, sizes and flags of a CNP into `cnp`; addresses, flow hash, source port and
 * traffic class are left for the caller to set. CNPs are not ECN capable here, since nobody reacts
 * to a mark on a CNP. `dest_qpn` is the queue pair that sent the marked packet.
 */
static inline void oche_cnp_fill(struct oche_packet *cnp, uint32_t dest_qpn, uint16_t pkey,
                                 bool ipv6)
{
    cnp->kind = OCHE_PACKET_ROCE;
    cnp->opcode = OCHE_CNP;
    cnp->bth = OCHE_BTH_BECN;
    cnp->bth_reserved = 0;
    cnp->dest_qpn = dest_qpn & OCHE_PSN_MASK;
    cnp->psn = 0;
    cnp->pkey = pkey;
    cnp->ecn = OCHE_ECN_NOT_ECT;
    cnp->ext = 0;
    cnp->payload_bytes = 0;
    cnp->frame_bytes = (uint16_t)oche_frame_bytes(OCHE_CNP, 0, ipv6);
}

#endif
