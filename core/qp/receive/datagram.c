/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams (UD) that arrive. A datagram is never answered: a faulty one is counted and dropped
 * (IBTA 9.9.3, fault classes).
 */
#include "core/qp/objects/objects.h"
#include "core/qp/receive/receiver.h"

static bool too_short(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return OCHE_GRH_BYTES + (uint32_t)packet->payload_bytes >
           recv_at(qp, rcv(qp)->recv_head)->length;
}

/* Returns why an arrived datagram must be rejected, or OCHE_REJECT_CAUSES to accept it. */
static enum oche_reject judge(struct oche_qp *qp, const struct oche_packet *packet)
{
    if (!(packet->ext & OCHE_EXT_DETH) || packet->payload_bytes > qp->mtu)
        return OCHE_REJECT_LENGTH;
    if (packet->deth.qkey != qp->datagrams->qkey)
        return OCHE_REJECT_QKEY;
    rcv(qp)->recv_tail = atomic_load_explicit(&qp->posted_recvs, memory_order_acquire);
    if (rcv(qp)->recv_head == rcv(qp)->recv_tail && !receiver_take_shared(qp))
        return OCHE_REJECT_NOT_READY;
    const struct recv_entry *entry = recv_at(qp, rcv(qp)->recv_head);
    if (!region_check_sges(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count,
                           OCHE_ACCESS_LOCAL_WRITE))
        return OCHE_REJECT_OPERATION;
    if (too_short(qp, packet)) {
        rcv(qp)->recv_taken = true;
        return OCHE_REJECT_LENGTH;
    }
    return OCHE_REJECT_CAUSES;
}

/*
 * Writes the payload into the receive. Returns false if a region is gone; earlier checks make this
 * impossible.
 */
static bool write_receive(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const struct recv_entry *entry = recv_at(qp, rcv(qp)->recv_head);
    const struct oche_nic_port *port = qp->nic->port;
    uint8_t grh[OCHE_GRH_BYTES];

    if (port->write == NULL)
        return true;
    if (port->grh != NULL) {
        port->grh(qp->nic->port_context, packet, grh);
        if (!region_scatter(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count, 0, grh,
                            sizeof(grh)))
            return false;
    }
    if (packet->payload_bytes == 0 || !(packet->ext & OCHE_EXT_PAYLOAD))
        return true;
    return region_scatter(qp->nic, rcv(qp)->recv_pd, entry->sge, entry->sge_count, OCHE_GRH_BYTES,
                          packet->payload, packet->payload_bytes);
}

static void complete(struct oche_qp *qp, const struct oche_packet *packet,
                     const struct oche_opcode_row *row, oche_time now)
{
    bool imm = row->flags & OCHE_OP_HAS(IMM);
    struct oche_completion completion = {
        .wr_id = recv_at(qp, rcv(qp)->recv_head)->wr_id,
        .time = now,
        .qpn = qp->qpn,
        .bytes = OCHE_GRH_BYTES + (uint32_t)packet->payload_bytes,
        .imm = imm ? packet->imm : 0,
        .status = OCHE_STATUS_SUCCESS,
        .opcode = OCHE_DONE_RECV,
        .has_imm = imm,
        .solicited = packet->bth & OCHE_BTH_SOLICITED,
        .src_qpn = packet->deth.src_qpn & OCHE_PSN_MASK,
        .traffic_class = packet->traffic_class,
    };

    qp_trace(qp, now, OCHE_TRACE_COMPLETED, completion.wr_id, OCHE_STATUS_SUCCESS);
    receiver_retire_recv(qp, &completion);
}

static void accept_datagram(struct oche_qp *qp, const struct oche_packet *packet,
                            const struct oche_opcode_row *row, oche_time now)
{
    struct oche_nic *nic = qp->nic;
    uint32_t bytes = packet->payload_bytes;

    rcv(qp)->msn = oche_psn_add(rcv(qp)->msn, 1);
    nic->stats.delivered_messages++;
    nic->stats.delivered_sends++;
    nic->stats.delivered_bytes += bytes;
    qp_trace(qp, now, OCHE_TRACE_DELIVERED, packet->psn, bytes);
    qp_trace(qp, now, OCHE_TRACE_MESSAGE_DELIVERED, rcv(qp)->msn, bytes);
    complete(qp, packet, row, now);
    if (nic->port->delivered != NULL)
        nic->port->delivered(nic->port_context, qp, bytes, true, now);
}

void datagram_receive(struct oche_qp *qp, const struct oche_packet *packet,
                      const struct oche_opcode_row *row, oche_time now)
{
    struct oche_nic *nic = qp->nic;

    nic->stats.data_packets_received++;
    nic->stats.data_bytes_received += packet->payload_bytes;
    nic->stats.ce_received += packet->ecn == OCHE_ECN_CE;
    qp_trace(qp, now, OCHE_TRACE_DATA_ARRIVED, packet->psn,
             packet->payload_bytes | (uint64_t)packet->opcode << 32 | (uint64_t)packet->ecn << 40);
    enum oche_reject cause = judge(qp, packet);
    if (cause == OCHE_REJECT_CAUSES && !write_receive(qp, packet))
        cause = OCHE_REJECT_OPERATION;
    if (cause == OCHE_REJECT_CAUSES) {
        accept_datagram(qp, packet, row, now);
        return;
    }
    nic_reject(nic, qp, cause, packet, now);
    if (cause == OCHE_REJECT_OPERATION) { /* class A: the receive itself is invalid */
        rcv(qp)->recv_taken = true;
        qp_responder_error(qp, OCHE_STATUS_LOCAL_PROTECTION, now);
    } else if (rcv(qp)->recv_taken) {
        rcv(qp)->recv_taken = false;
        if (rcv(qp)->srq !=
            NULL) /* class E: a shared receive fails; class D: any other receive stays */
            receiver_fail_recv(qp, OCHE_STATUS_LOCAL_LENGTH, now);
    }
}
