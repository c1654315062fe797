/* SPDX-License-Identifier: Apache-2.0 */
/* ibv_post_send and ibv_post_recv: translate verbs' work requests into the core's. */
#include <arpa/inet.h>
#include <string.h>

#include "device/verbs/internal.h"

/* Returns the core's opcode; -1: the core has none. */
static int opcode_of(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
        return OCHE_WORK_WRITE;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return OCHE_WORK_WRITE_IMM;
    case IBV_WR_SEND:
        return OCHE_WORK_SEND;
    case IBV_WR_SEND_WITH_IMM:
        return OCHE_WORK_SEND_IMM;
    case IBV_WR_RDMA_READ:
        return OCHE_WORK_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return OCHE_WORK_COMPARE_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return OCHE_WORK_FETCH_ADD;
    case IBV_WR_SEND_WITH_INV:
        return OCHE_WORK_SEND_INV;
    case IBV_WR_LOCAL_INV:
        return OCHE_WORK_LOCAL_INV;
    case IBV_WR_BIND_MW:
        return OCHE_WORK_BIND_MW;
    default:
        return -1;
    }
}

uint8_t ov_work_flags_of(const struct ov_qp *qp, unsigned int flags)
{
    return (uint8_t)((qp->signal_all || (flags & IBV_SEND_SIGNALED) ? OCHE_WORK_SIGNALED : 0) |
                     (flags & IBV_SEND_SOLICITED ? OCHE_WORK_SOLICITED : 0) |
                     (flags & IBV_SEND_FENCE ? OCHE_WORK_FENCE : 0) |
                     (flags & IBV_SEND_INLINE ? OCHE_WORK_INLINE : 0));
}

const struct oche_group *ov_group_of(const struct ov_qp *qp, uint8_t opcode)
{
    switch (opcode) {
    case OCHE_WORK_SEND:
    case OCHE_WORK_SEND_IMM:
    case OCHE_WORK_WRITE:
    case OCHE_WORK_WRITE_IMM:
        return qp->group;
    default:
        return NULL;
    }
}

/* Copies inline data to `memory`. Returns false if the data is longer than max_inline_data. */
static bool gather_inline(const struct ov_qp *qp, const struct ibv_send_wr *wr,
                          struct oche_send_work *work, uint8_t *memory)
{
    uint64_t length = 0;

    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];

        if (sge->length > qp->cap.max_inline_data - length)
            return false;
        if (sge->length > 0)
            memcpy(memory + length, (const void *)(uintptr_t)sge->addr, sge->length);
        length += sge->length;
    }
    work->inline_data = memory;
    work->sge_count = 1;
    work->sge[0] = (struct oche_sge){.length = (uint32_t)length};
    return true;
}

static void set_operands(const struct ibv_send_wr *wr, struct oche_send_work *work)
{
    work->imm = ntohl(wr->imm_data);
    if (work->opcode != OCHE_WORK_COMPARE_SWAP && work->opcode != OCHE_WORK_FETCH_ADD) {
        work->remote_va = wr->wr.rdma.remote_addr;
        work->rkey = wr->wr.rdma.rkey;
        if (work->opcode == OCHE_WORK_SEND_INV || work->opcode == OCHE_WORK_LOCAL_INV)
            work->imm = wr->invalidate_rkey;
        return;
    }
    work->remote_va = wr->wr.atomic.remote_addr;
    work->rkey = wr->wr.atomic.rkey;
    work->compare = wr->wr.atomic.compare_add;
    work->swap_add =
        work->opcode == OCHE_WORK_FETCH_ADD ? wr->wr.atomic.compare_add : wr->wr.atomic.swap;
}

/* Translates a work request that has no data: an invalidation or a bind. Returns 0 or an errno. */
static int no_data(const struct ov_qp *qp, const struct ibv_send_wr *wr,
                   struct oche_send_work *work, union ov_target *target)
{
    int error = 0;

    if (wr->send_flags & IBV_SEND_INLINE)
        return EINVAL;
    work->sge_count = 0;
    work->sge[0] = (struct oche_sge){0};
    if (work->opcode == OCHE_WORK_LOCAL_INV)
        return 0;
    if (wr->bind_mw.mw == NULL || wr->bind_mw.mw->type != IBV_MW_TYPE_2)
        return EINVAL;
    error = ov_bind_of(qp, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info, &target->bind);
    work->bind = &target->bind;
    return error;
}

int ov_send_work_of(const struct ov_qp *qp, const struct ibv_send_wr *wr,
                    struct oche_send_work *work, uint8_t *inline_memory, union ov_target *target)
{
    const int opcode = opcode_of(wr->opcode);

    if (opcode < 0)
        return wr->opcode <= IBV_WR_TSO || wr->opcode == IBV_WR_ATOMIC_WRITE ? EOPNOTSUPP : EINVAL;
    if (wr->num_sge < 0 || wr->num_sge > OCHE_MAX_SGE || (wr->num_sge > 0 && wr->sg_list == NULL))
        return EINVAL;
    work->wr_id = wr->wr_id;
    work->opcode = (uint8_t)opcode;
    work->flags = ov_work_flags_of(qp, wr->send_flags);
    work->group = ov_group_of(qp, work->opcode);
    if (qp->qp.qp_type == IBV_QPT_UD) {
        if (!ov_destination(qp, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey,
                            &target->to))
            return EINVAL;
        work->to = &target->to;
        work->imm = ntohl(wr->imm_data);
    } else {
        set_operands(wr, work);
    }
    if (work->opcode == OCHE_WORK_BIND_MW || work->opcode == OCHE_WORK_LOCAL_INV)
        return no_data(qp, wr, work, target);
    if (wr->send_flags & IBV_SEND_INLINE)
        return gather_inline(qp, wr, work, inline_memory) ? 0 : EINVAL;
    work->sge_count = (uint8_t)wr->num_sge;
    work->sge[0] = (struct oche_sge){0};
    for (int i = 0; i < wr->num_sge; i++)
        work->sge[i] = (struct oche_sge){.va = wr->sg_list[i].addr,
                                         .length = wr->sg_list[i].length,
                                         .lkey = wr->sg_list[i].lkey};
    return 0;
}

int ov_post_sends(struct ov_qp *qp, const struct oche_send_work *work, uint32_t count)
{
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < count; i++)
        error = ov_fails(qp->port, OCHE_CALL_POST_SEND);
    if (OCHE_UNLIKELY(error == 0 && qp->strict != NULL))
        error = ov_strict_send(qp, work, count);
    if (error != 0)
        return error;
    error =
        count == 1 ? oche_qp_post_send(qp->core, work) : oche_qp_post_sends(qp->core, work, count);
    if (OCHE_UNLIKELY(error != 0 && qp->strict != NULL))
        ov_strict_unsend(qp, work, count);
    return error;
}

static int post_recv(struct ov_qp *qp, const struct oche_recv_work *work)
{
    int error = ov_fails(qp->port, OCHE_CALL_POST_RECV);

    if (OCHE_UNLIKELY(error == 0 && qp->strict != NULL))
        error = ov_strict_receive(qp);
    if (error != 0)
        return error;
    error = oche_qp_post_recv(qp->core, work);
    if (OCHE_UNLIKELY(error != 0 && qp->strict != NULL))
        ov_strict_unreceive(qp);
    return error;
}

int ov_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct ov_qp *own = ov_qp_of(qp);
    uint8_t inline_memory[OCHE_MAX_INLINE_BYTES];
    union ov_target target;
    struct oche_send_work work;
    int error = 0;

    if (ov_foreign(own->port)) {
        *bad = wr;
        return EPERM;
    }
    pthread_mutex_lock(&own->send_lock);
    for (; wr != NULL; wr = wr->next) {
        error = ov_send_work_of(own, wr, &work, inline_memory, &target);
        if (error == 0)
            error = ov_post_sends(own, &work, 1);
        if (error == 0 && work.opcode == OCHE_WORK_BIND_MW)
            wr->bind_mw.mw->rkey = wr->bind_mw.rkey;
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    pthread_mutex_unlock(&own->send_lock);
    ov_port_posted(own->port);
    return error;
}

int ov_recv_work_of(const struct ibv_recv_wr *wr, struct oche_recv_work *work)
{
    if (wr->num_sge < 0 || wr->num_sge > OCHE_MAX_SGE || (wr->num_sge > 0 && wr->sg_list == NULL))
        return EINVAL;
    work->wr_id = wr->wr_id;
    work->sge_count = (uint8_t)wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
        work->sge[i] = (struct oche_sge){.va = wr->sg_list[i].addr,
                                         .length = wr->sg_list[i].length,
                                         .lkey = wr->sg_list[i].lkey};
    return 0;
}

int ov_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct ov_qp *own = ov_qp_of(qp);
    struct oche_recv_work work;
    int error = 0;

    if (ov_foreign(own->port) || qp->srq != NULL) {
        *bad = wr;
        return qp->srq != NULL ? EINVAL : EPERM;
    }
    pthread_mutex_lock(&own->recv_lock);
    for (; wr != NULL; wr = wr->next) {
        error = ov_recv_work_of(wr, &work);
        if (error == 0)
            error = post_recv(own, &work);
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    pthread_mutex_unlock(&own->recv_lock);
    ov_port_posted(own->port);
    return error;
}
