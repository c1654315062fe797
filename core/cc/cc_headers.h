/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers and packets of a scheme's own. Opcodes are rows of core/wire/opcode.c, and are used with
 * peers that have shown OCHE_BTH_EXTENSIONS (oche_cc_flow.extended). The hook `stamp_ack` fills in
 * the headers of both kinds.
 */
#ifndef OCHE_CORE_CC_CC_HEADERS_H
#define OCHE_CORE_CC_CC_HEADERS_H

#include "core/cc/cc.h"
#include "core/wire/opcode.h"

OCHE_C_BEGIN

struct oche_cc_headers {
    /*
     * Replaces the opcode of ACKs and NAKs (but not of SACKs): the packet has an AETH and a header
     * of the scheme. 0: none.
     */
    uint8_t ack_opcode;
    /*
     * A packet of the scheme's own, of service OCHE_SERVICE_SCHEME. A scheme asks for one by
     * OCHE_CC_WANTS_OWN. 0: none.
     */
    uint8_t own_opcode;
    /*
     * Packets of SENDs, WRITEs and READ data carry a trailer (OCHE_BTH_TRAILER), which `sent` fills
     * in and switches rewrite. Only for schemes that do not run on the wire: in the simulator all
     * peers know the trailer.
     */
    bool trailer;
    /*
     * Such packets carry telemetry instead (core/wire/telemetry.h), to which switches add records.
     * Also only for schemes that do not run on the wire. The driver provides OCHE_TELEMETRY_ROOM
     * bytes behind each packet that it gives to the NIC.
     */
    bool telemetry;
    /*
     * Required with `own_opcode`: a packet of that opcode has arrived from the peer, usually for
     * the sender half.
     */
    void (*own)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet);
};

/* Returns the bytes of the trailer that the scheme's data packets have behind the ICRC, or 0. */
static inline uint32_t oche_cc_trailer_bytes(const struct oche_cc_scheme *cc)
{
    if (cc->headers == NULL)
        return 0;
    return cc->headers->telemetry ? OCHE_INT_BYTES : cc->headers->trailer ? OCHE_TRAILER_BYTES : 0;
}

OCHE_C_END

#endif
