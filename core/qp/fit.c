/* SPDX-License-Identifier: Apache-2.0 */
/* How a packet fits a connection: what a driver asks before it gives the packet to the NIC. */
#include "core/qp/receive/receive.h"
#include "core/qp/send/send.h"

bool oche_qp_knows(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return qp->transport == OCHE_TRANSPORT_UD || qp->remote_address == packet->src;
}

enum oche_transport oche_qp_transport(const struct oche_qp *qp)
{
    return (enum oche_transport)qp->transport;
}

/* True if the queue pair takes opcodes of this service. */
static bool takes_service(const struct oche_qp *qp, const struct oche_packet *packet,
                          uint8_t service)
{
    if (service == qp->transport)
        return true;
    return service == OCHE_SERVICE_RC_EXTENDED && qp->transport == OCHE_TRANSPORT_RC &&
           (qp->flow.extended ||
            (packet->bth_reserved & qp->nic->shows & OCHE_BTH_EXTENSIONS) != 0);
}

enum oche_fit oche_qp_fit(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (!takes_service(qp, packet, row->service) || !qp_pkey_matches(packet->pkey, qp->pkey))
        return OCHE_FIT_OTHER;
    return row->flags & OCHE_OP_REQUEST ? receiver_fit(qp, packet) : sender_fit(qp, packet);
}
