/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_wr_*: work requests are staged, one builder call after the other, and posted together by
 * ibv_wr_complete, or not at all after an error or ibv_wr_abort. The send lock is held from
 * ibv_wr_start on.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/internal.h"

static struct ov_qp *own(struct ibv_qp_ex *qp)
{
    return (struct ov_qp *)(void *)qp;
}

static void fail(struct ov_qp *qp, int error)
{
    if (qp->stage.error == 0)
        qp->stage.error = error;
}

/* Returns the current work request; NULL: there was an error, or none has begun. */
static struct oche_send_work *current(struct ov_qp *qp)
{
    if (qp->stage.error != 0)
        return NULL;
    if (qp->stage.count == 0) {
        fail(qp, EINVAL);
        return NULL;
    }
    return &qp->stage.work[qp->stage.count - 1];
}

static struct oche_send_work *begin(struct ibv_qp_ex *qp, uint8_t opcode)
{
    struct ov_qp *mine = own(qp);
    struct oche_send_work *work;

    if (mine->stage.error != 0)
        return NULL;
    if (mine->stage.count == mine->cap.max_send_wr) {
        fail(mine, ENOMEM);
        return NULL;
    }
    work = &mine->stage.work[mine->stage.count++];
    work->wr_id = qp->wr_id;
    work->opcode = opcode;
    work->flags = (uint8_t)(ov_work_flags_of(mine, qp->wr_flags) & ~OCHE_WORK_INLINE);
    work->sge_count = 0;
    work->sge[0] = (struct oche_sge){0};
    work->group = ov_group_of(mine, opcode);
    work->imm = 0;
    work->to = NULL;
    return work;
}

static void begin_remote(struct ibv_qp_ex *qp, uint8_t opcode, uint32_t rkey, uint64_t remote_addr,
                         __be32 imm)
{
    struct oche_send_work *work = begin(qp, opcode);

    if (work == NULL)
        return;
    work->rkey = rkey;
    work->remote_va = remote_addr;
    work->imm = ntohl(imm);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              uint64_t compare, uint64_t swap)
{
    begin_remote(qp, OCHE_WORK_COMPARE_SWAP, rkey, remote_addr, 0);
    if (own(qp)->stage.error != 0)
        return;
    current(own(qp))->compare = compare;
    current(own(qp))->swap_add = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                uint64_t add)
{
    begin_remote(qp, OCHE_WORK_FETCH_ADD, rkey, remote_addr, 0);
    if (own(qp)->stage.error == 0)
        current(own(qp))->swap_add = add;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_remote(qp, OCHE_WORK_READ, rkey, remote_addr, 0);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_remote(qp, OCHE_WORK_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              __be32 imm_data)
{
    begin_remote(qp, OCHE_WORK_WRITE_IMM, rkey, remote_addr, imm_data);
}

static void wr_send(struct ibv_qp_ex *qp)
{
    begin_remote(qp, OCHE_WORK_SEND, 0, 0, 0);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
    begin_remote(qp, OCHE_WORK_SEND_IMM, 0, 0, imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    begin_remote(qp, OCHE_WORK_SEND_INV, 0, 0, htonl(invalidate_rkey));
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t invalidate_rkey)
{
    begin_remote(qp, OCHE_WORK_LOCAL_INV, 0, 0, htonl(invalidate_rkey));
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *bind_info)
{
    struct ov_qp *mine = own(qp);
    struct oche_send_work *work = begin(qp, OCHE_WORK_BIND_MW);
    int error;

    if (work == NULL)
        return;
    work->bind = &mine->stage.bind[mine->stage.count - 1];
    error = mw == NULL || mw->type != IBV_MW_TYPE_2
                ? EINVAL
                : ov_bind_of(mine, mw, rkey, bind_info, &mine->stage.bind[mine->stage.count - 1]);
    if (error != 0)
        fail(mine, error);
    mine->stage.binds = true;
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
                           uint32_t remote_qkey)
{
    struct ov_qp *mine = own(qp);
    struct oche_send_work *work = current(mine);

    if (work == NULL)
        return;
    if (!ov_destination(mine, ah, remote_qpn, remote_qkey,
                        &mine->stage.to[mine->stage.count - 1])) {
        fail(mine, EINVAL);
        return;
    }
    work->to = &mine->stage.to[mine->stage.count - 1];
}

/* ---- the data ---- */

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sg_list)
{
    struct oche_send_work *work = current(own(qp));

    if (work == NULL)
        return;
    if (num_sge > own(qp)->cap.max_send_sge) {
        fail(own(qp), EINVAL);
        return;
    }
    work->sge_count = (uint8_t)num_sge;
    for (size_t i = 0; i < num_sge; i++)
        work->sge[i] = (struct oche_sge){
            .va = sg_list[i].addr, .length = sg_list[i].length, .lkey = sg_list[i].lkey};
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    struct oche_send_work *work = current(own(qp));

    if (work == NULL)
        return;
    work->sge_count = 1;
    work->sge[0] = (struct oche_sge){.va = addr, .length = length, .lkey = lkey};
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
                                    const struct ibv_data_buf *buf_list)
{
    struct ov_qp *mine = own(qp);
    struct oche_send_work *work = current(mine);
    uint8_t *memory;
    size_t length = 0;

    if (work == NULL)
        return;
    memory = mine->stage.bytes + (size_t)(mine->stage.count - 1) * mine->cap.max_inline_data;
    for (size_t i = 0; i < num_buf; i++) {
        if (buf_list[i].length > mine->cap.max_inline_data - length) {
            fail(mine, EINVAL);
            return;
        }
        if (buf_list[i].length > 0)
            memcpy(memory + length, buf_list[i].addr, buf_list[i].length);
        length += buf_list[i].length;
    }
    work->flags |= OCHE_WORK_INLINE;
    work->inline_data = memory;
    work->sge_count = 1;
    work->sge[0] = (struct oche_sge){.length = (uint32_t)length};
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
    const struct ibv_data_buf one = {.addr = addr, .length = length};

    wr_set_inline_data_list(qp, 1, &one);
}

/* ---- from start to end ---- */

static void wr_start(struct ibv_qp_ex *qp)
{
    pthread_mutex_lock(&own(qp)->send_lock);
    own(qp)->stage.count = 0;
    own(qp)->stage.binds = false;
    own(qp)->stage.error = ov_foreign(own(qp)->port) ? EPERM : 0;
}

/* Stores the new keys in the windows. To be called after binds have been posted. */
static void take_keys(const struct ov_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (stage->work[i].opcode == OCHE_WORK_BIND_MW) {
            struct ov_mw *window = oche_window_user(stage->bind[i].window);

            window->mw.rkey = stage->bind[i].rkey;
        }
}

/* Posts all staged work requests, or none if there was an error or the core rejects one. */
static int wr_complete(struct ibv_qp_ex *qp)
{
    struct ov_qp *mine = own(qp);
    int error = mine->stage.error;

    if (error == 0)
        error = ov_post_sends(mine, mine->stage.work, mine->stage.count);
    if (OCHE_UNLIKELY(error == 0 && mine->stage.binds))
        take_keys(&mine->stage);
    pthread_mutex_unlock(&mine->send_lock);
    if (error == 0)
        ov_port_posted(mine->port);
    return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    pthread_mutex_unlock(&own(qp)->send_lock);
}

bool ov_qp_ex_init(struct ov_qp *qp, bool datagrams)
{
    struct ibv_qp_ex *ex = &qp->ex;

    if (datagrams) {
        qp->stage.to = calloc(qp->cap.max_send_wr, sizeof(*qp->stage.to));
        if (qp->stage.to == NULL)
            return false;
        ex->wr_set_ud_addr = wr_set_ud_addr;
    } else {
        qp->stage.bind = calloc(qp->cap.max_send_wr, sizeof(*qp->stage.bind));
        if (qp->stage.bind == NULL)
            return false;
        ex->wr_bind_mw = wr_bind_mw;
        ex->wr_local_inv = wr_local_inv;
        ex->wr_send_inv = wr_send_inv;
    }
    qp->stage.work = calloc(qp->cap.max_send_wr, sizeof(*qp->stage.work));
    qp->stage.bytes = malloc((size_t)qp->cap.max_send_wr * qp->cap.max_inline_data + 1);
    if (qp->stage.work == NULL || qp->stage.bytes == NULL) {
        ov_qp_ex_destroy(qp);
        return false;
    }
    qp->extended = true;
    ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    ex->wr_rdma_read = wr_rdma_read;
    ex->wr_rdma_write = wr_rdma_write;
    ex->wr_rdma_write_imm = wr_rdma_write_imm;
    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    return true;
}

void ov_qp_ex_destroy(struct ov_qp *qp)
{
    free(qp->stage.work);
    free(qp->stage.bytes);
    free(qp->stage.to);
    free(qp->stage.bind);
    qp->stage = (struct ov_stage){0};
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), qp->context->device, ibv_qp_to_qp_ex, qp);
    return ov_qp_of(qp)->extended ? &ov_qp_of(qp)->ex : NULL;
}
