/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RoCEv2 congestion notification packet (rocev2.md#cnp): opcode 0x81, BECN set, PSN 0, 16
 * reserved bytes, no payload. It goes to the queue pair that sent the marked packet. The
 * congestion-control scheme decides when a CNP is sent and how the sender reacts to it.
 *
 * A CNP is acknowledged by nobody and has no PSN of its own, so whoever knows a queue pair's number
 * could forge it. So a CNP to a peer that has shown that it reads them (OCHE_BTH_EXTENSIONS or
 * OCHE_BTH_CNP_PSN) names, in its reserved bytes, the PSN that its sender expects next: byte 0 is
 * 1, bytes 1 to 3 are the PSN, the others 0.
 */
#ifndef OCHE_CORE_WIRE_CNP_H
#define OCHE_CORE_WIRE_CNP_H

#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/opcode.h"

OCHE_C_BEGIN

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

/* Writes the PSN that we expect next into a CNP. */
static inline void oche_cnp_put_psn(struct oche_packet *cnp, uint32_t psn)
{
    memset(cnp->cnp_reserved, 0, sizeof(cnp->cnp_reserved));
    cnp->cnp_reserved[0] = 1;
    oche_put24(cnp->cnp_reserved + 1, psn & OCHE_PSN_MASK);
    cnp->ext |= OCHE_EXT_CNP;
}

/* Returns true if the CNP names the PSN that its sender expects next, and sets `psn` to it. */
static inline bool oche_cnp_get_psn(const struct oche_packet *cnp, uint32_t *psn)
{
    if (!(cnp->ext & OCHE_EXT_CNP) || cnp->cnp_reserved[0] != 1)
        return false;
    *psn = oche_get24(cnp->cnp_reserved + 1);
    return true;
}

OCHE_C_END

#endif
