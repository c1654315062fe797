/* SPDX-License-Identifier: Apache-2.0 */
/* How a packet fits a connection: what a driver asks before it gives the packet to the NIC. */
#include "core/qp/qp_internal.h"

bool oche_qp_knows(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return qp->transport == OCHE_TRANSPORT_UD || qp->remote_address == packet->src;
}

enum oche_transport oche_qp_transport(const struct oche_qp *qp)
{
    return (enum oche_transport)qp->transport;
}

oche_time oche_qp_ack_timeout(const struct oche_qp *qp)
{
    return qp->ack_timeout;
}

uint32_t oche_qp_retry_count(const struct oche_qp *qp)
{
    return qp->retry_count;
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

static enum oche_fit fit_request(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const enum oche_qp_state state = qp_state(qp);

    if (state < OCHE_QP_RTR || state > OCHE_QP_SQE)
        return OCHE_FIT_OTHER;
    if (packet->psn == qp->rx.epsn)
        return OCHE_FIT_EXPECTED;
    if ((qp->flags & QP_WHOLE_MESSAGES) && packet->psn == qp->rx.message_start)
        return OCHE_FIT_EXPECTED; /* the peer begins the message again */
    return oche_psn_diff(packet->psn, qp->rx.epsn) < 0 ? OCHE_FIT_REPEATED : OCHE_FIT_OTHER;
}

static enum oche_fit fit_response(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const enum oche_qp_state state = qp_state(qp);

    if (state != OCHE_QP_RTS && state != OCHE_QP_SQD)
        return OCHE_FIT_OTHER;
    return qp_is_outstanding(qp, packet->psn) ? OCHE_FIT_EXPECTED : OCHE_FIT_OTHER;
}

enum oche_fit oche_qp_fit(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    if (!takes_service(qp, packet, row->service) || !qp_pkey_matches(packet->pkey, qp->pkey))
        return OCHE_FIT_OTHER;
    return row->flags & OCHE_OP_REQUEST ? fit_request(qp, packet) : fit_response(qp, packet);
}
