/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams (UD) that leave: fills in the address and the Q_Key of each. The requester sends them
 * like all other packets.
 */
#include "core/qp/send/sender.h"

bool datagram_work_ok(const struct oche_send_work *work)
{
    bool send = work->opcode == OCHE_WORK_SEND || work->opcode == OCHE_WORK_SEND_IMM;

    return send && work->to != NULL && work->to->qpn <= OCHE_PSN_MASK &&
           work->to->traffic_class < OCHE_CLASSES;
}

void datagram_note(struct oche_qp *qp, uint32_t index, const struct oche_destination *to)
{
    qp->datagrams->destinations[index & snd(qp)->send_mask] = *to;
}

static const struct oche_destination *next_destination(const struct oche_qp *qp)
{
    return &qp->datagrams->destinations[snd(qp)->send_next & snd(qp)->send_mask];
}

void datagram_address(const struct oche_qp *qp, struct oche_packet *packet)
{
    const struct oche_destination *to = next_destination(qp);

    packet->dst = to->address;
    packet->flow_hash = to->flow_hash;
    packet->dest_qpn = to->qpn;
    packet->tag = to->tag;
    packet->udp_source_port = to->udp_source_port;
    packet->deth.qkey = to->qkey & OCHE_QKEY_PRIVILEGED ? qp->datagrams->qkey : to->qkey;
    packet->deth.src_qpn = qp->qpn;
    packet->ext |= OCHE_EXT_DETH;
}

void datagram_take_class(struct oche_qp *qp)
{
    OCHE_MUST(snd(qp)->queued == QUEUED_NOT);
    if (snd(qp)->send_next != snd(qp)->send_tail)
        qp->traffic_class = next_destination(qp)->traffic_class & (OCHE_CLASSES - 1U);
}
