/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended completion queues, which are polled one completion at a time; functions read the
 * completion's fields. Timestamps are in nanoseconds, of device time or since 1970.
 */
#include <arpa/inet.h>

#include "device/verbs/internal.h"

static struct ov_cq *own(struct ibv_cq_ex *cq)
{
    return (struct ov_cq *)(void *)cq;
}

/* To be called when a completion has been polled. */
static void take(struct ov_cq *cq)
{
    if (OCHE_UNLIKELY(cq->port->strict))
        ov_strict_polled(cq, &cq->current, 1);
    cq->ex.wr_id = cq->current.wr_id;
    cq->ex.status = ov_wc_status_of(cq->current.status);
}

static void end_poll(struct ibv_cq_ex *cq)
{
    if (!own(cq)->single_threaded)
        pthread_mutex_unlock(&own(cq)->poll_lock);
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    struct ov_cq *mine = own(cq);

    if (attr != NULL && attr->comp_mask != 0)
        return EINVAL;
    if (ov_foreign(mine->port))
        return EPERM;
    if (!mine->single_threaded)
        pthread_mutex_lock(&mine->poll_lock);
    if (ov_cq_take(mine, &mine->current, 1) == 1) {
        take(mine);
        return 0;
    }
    end_poll(cq); /* the application does not call ibv_end_poll after an error */
    return oche_cq_overflowed(mine->ring) ? EOVERFLOW : ENOENT;
}

static int next_poll(struct ibv_cq_ex *cq)
{
    struct ov_cq *mine = own(cq);

    if (oche_cq_poll(mine->ring, &mine->current, 1) == 0)
        return ENOENT;
    take(mine);
    return 0;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
    return ov_wc_opcode_of(own(cq)->current.opcode);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
    return ov_vendor_err(&own(cq)->current);
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
    return own(cq)->current.bytes;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
    const struct oche_completion *done = &own(cq)->current;

    return done->opcode == OCHE_DONE_RECV_INV ? done->imm : htonl(done->imm);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
    return own(cq)->current.qpn;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
    return own(cq)->current.src_qpn;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
    return ov_wc_flags_of(&own(cq)->current);
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
    return ov_sl_of(own(cq), &own(cq)->current);
}

/* This network has no LIDs, VLANs or tags. */
static uint32_t read_nothing_32(struct ibv_cq_ex *cq)
{
    (void)cq;
    return 0;
}

static uint8_t read_nothing_8(struct ibv_cq_ex *cq)
{
    (void)cq;
    return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
    return own(cq)->current.time / OCHE_NS;
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
    return own(cq)->port->wall_ns + own(cq)->current.time / OCHE_NS;
}

void ov_cq_ex_init(struct ov_cq *cq)
{
    cq->ex.start_poll = start_poll;
    cq->ex.next_poll = next_poll;
    cq->ex.end_poll = end_poll;
    cq->ex.read_opcode = read_opcode;
    cq->ex.read_vendor_err = read_vendor_err;
    cq->ex.read_byte_len = read_byte_len;
    cq->ex.read_imm_data = read_imm_data;
    cq->ex.read_qp_num = read_qp_num;
    cq->ex.read_src_qp = read_src_qp;
    cq->ex.read_wc_flags = read_wc_flags;
    cq->ex.read_slid = read_nothing_32;
    cq->ex.read_sl = read_sl;
    cq->ex.read_dlid_path_bits = read_nothing_8;
    cq->ex.read_completion_ts = read_completion_ts;
    cq->ex.read_flow_tag = read_nothing_32;
    cq->ex.read_completion_wallclock_ns = read_completion_wallclock_ns;
}
