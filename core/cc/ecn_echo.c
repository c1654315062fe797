/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that are echoed in ACKs; see the header. */
#include "core/cc/ecn_echo.h"

#include "core/wire/opcode.h"

void oche_ecn_echo_arrived(struct oche_cc_flow *flow, oche_time now,
                           const struct oche_packet *packet, struct oche_cc_reply *reply)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    (void)now;
    if (packet->ecn != OCHE_ECN_CE)
        return;
    const bool rc = row->service == OCHE_SERVICE_RC || row->service == OCHE_SERVICE_RC_EXTENDED;

    if (!rc || (row->flags & OCHE_OP_RESPONSE))
        reply->send_cnp = true;
    else
        flow->mark_waits = true;
}

void oche_ecn_echo_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    (void)now;
    if (!flow->mark_waits || packet->opcode == OCHE_CNP ||
        oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD))
        return; /* the peer's hook is not called for READ data that acknowledges nothing */
    packet->bth |= OCHE_BTH_BECN;
    flow->mark_waits = false;
}
