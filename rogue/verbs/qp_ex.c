/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ibv_wr_*: the requests between ibv_wr_start and ibv_wr_complete are a list of work requests,
 * which is then posted like any other. The functions replace those that the library below has put
 * into the queue pair.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rogue/verbs/internal.h"

struct rv_builder {
    pthread_mutex_t lock; /* from wr_start to wr_complete */
    struct ibv_send_wr *wr;
    struct ibv_sge (*sge)[RV_MOST_SGE];
    uint8_t *inline_memory;
    uint32_t count;
    int error;
};

static struct rv_qp *own(struct ibv_qp_ex *qp)
{
    return rv_find(RV_QP, &qp->qp_base);
}

static void wr_start(struct ibv_qp_ex *qp)
{
    struct rv_builder *builder = own(qp)->builder;

    pthread_mutex_lock(&builder->lock);
    builder->count = 0;
    builder->error = 0;
}

/* Begins a work request. Returns NULL if there is no room. */
static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
    struct rv_qp *mine = own(qp);
    struct rv_builder *builder = mine->builder;
    struct ibv_send_wr *wr;

    if (builder->count == mine->depth) {
        builder->error = ENOMEM;
        return NULL;
    }
    wr = &builder->wr[builder->count];
    *wr = (struct ibv_send_wr){.wr_id = qp->wr_id,
                               .opcode = opcode,
                               .send_flags = qp->wr_flags & ~(unsigned int)IBV_SEND_INLINE,
                               .sg_list = builder->sge[builder->count]};
    builder->count++;
    return wr;
}

static struct ibv_send_wr *begin_rdma(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode,
                                      uint32_t rkey, uint64_t remote_addr)
{
    struct ibv_send_wr *wr = begin(qp, opcode);

    if (wr != NULL) {
        wr->wr.rdma.remote_addr = remote_addr;
        wr->wr.rdma.rkey = rkey;
    }
    return wr;
}

static void begin_atomic(struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode, uint32_t rkey,
                         uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
    struct ibv_send_wr *wr = begin(qp, opcode);

    if (wr == NULL)
        return;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.compare_add = compare_add;
    wr->wr.atomic.swap = swap;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_rdma(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
    begin_rdma(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              __be32 imm_data)
{
    struct ibv_send_wr *wr = begin_rdma(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

    if (wr != NULL)
        wr->imm_data = imm_data;
}

static void wr_send(struct ibv_qp_ex *qp)
{
    begin(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
    struct ibv_send_wr *wr = begin(qp, IBV_WR_SEND_WITH_IMM);

    if (wr != NULL)
        wr->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    struct ibv_send_wr *wr = begin(qp, IBV_WR_SEND_WITH_INV);

    if (wr != NULL)
        wr->invalidate_rkey = rkey;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                              uint64_t compare, uint64_t swap)
{
    begin_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
                                uint64_t add)
{
    begin_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

/* Memory windows belong to one queue pair, so the shadow has none (work.c rejects both). */
static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
                       const struct ibv_mw_bind_info *info)
{
    (void)mw;
    (void)rkey;
    (void)info;
    begin(qp, IBV_WR_BIND_MW);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
    (void)rkey;
    begin(qp, IBV_WR_LOCAL_INV);
}

/* ---- its data ---- */

/* Returns the work request that was begun last; NULL: there was no room for it. */
static struct ibv_send_wr *current(struct rv_builder *builder)
{
    return builder->error != 0 || builder->count == 0 ? NULL : &builder->wr[builder->count - 1];
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
    struct rv_qp *mine = own(qp);
    struct ibv_send_wr *wr = current(mine->builder);

    if (wr == NULL)
        return;
    if (count > mine->cap.max_send_sge) {
        mine->builder->error = EINVAL;
        return;
    }
    memcpy(wr->sg_list, list, count * sizeof(*list));
    wr->num_sge = (int)count;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge one = {.addr = addr, .length = length, .lkey = lkey};

    wr_set_sge_list(qp, length > 0 ? 1 : 0, &one);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t count,
                                    const struct ibv_data_buf *list)
{
    struct rv_qp *mine = own(qp);
    struct rv_builder *builder = mine->builder;
    struct ibv_send_wr *wr = current(builder);
    size_t most = mine->cap.max_inline_data, at = 0;
    uint8_t *memory;

    if (wr == NULL)
        return;
    memory = builder->inline_memory + (builder->count - 1) * most;
    for (size_t i = 0; i < count; i++) {
        if (list[i].length > most - at) {
            builder->error = EINVAL;
            return;
        }
        memcpy(memory + at, list[i].addr, list[i].length);
        at += list[i].length;
    }
    wr->send_flags |= IBV_SEND_INLINE;
    wr->sg_list[0] = (struct ibv_sge){.addr = (uintptr_t)memory, .length = (uint32_t)at};
    wr->num_sge = at > 0 ? 1 : 0;
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
    const struct ibv_data_buf one = {.addr = addr, .length = length};

    wr_set_inline_data_list(qp, 1, &one);
}

/* ---- the end ---- */

static int wr_complete(struct ibv_qp_ex *qp)
{
    struct rv_builder *builder = own(qp)->builder;
    struct ibv_send_wr *bad;
    int error = builder->error;

    for (uint32_t i = 0; i + 1 < builder->count; i++)
        builder->wr[i].next = &builder->wr[i + 1];
    if (error == 0 && builder->count > 0)
        error = rv_post_send(&qp->qp_base, builder->wr, &bad);
    pthread_mutex_unlock(&builder->lock);
    return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    pthread_mutex_unlock(&own(qp)->builder->lock);
}

static void replace(struct ibv_qp_ex *ex)
{
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    ex->wr_rdma_read = wr_rdma_read;
    ex->wr_rdma_write = wr_rdma_write;
    ex->wr_rdma_write_imm = wr_rdma_write_imm;
    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_send_inv = wr_send_inv;
    ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    ex->wr_bind_mw = wr_bind_mw;
    ex->wr_local_inv = wr_local_inv;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
}

bool rv_qp_ex_init(struct rv_qp *qp)
{
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp->qps[0]);
    struct rv_builder *builder = calloc(1, sizeof(*builder));

    if (builder == NULL || ex == NULL) {
        free(builder);
        return false;
    }
    pthread_mutex_init(&builder->lock, NULL);
    qp->builder = builder;
    builder->wr = calloc(qp->depth, sizeof(*builder->wr));
    builder->sge = calloc(qp->depth, sizeof(*builder->sge));
    builder->inline_memory = malloc((size_t)qp->depth * qp->cap.max_inline_data + 1);
    if (builder->wr == NULL || builder->sge == NULL || builder->inline_memory == NULL)
        return false;
    replace(ex);
    return true;
}

void rv_qp_ex_destroy(struct rv_qp *qp)
{
    if (qp->builder == NULL)
        return;
    pthread_mutex_destroy(&qp->builder->lock);
    free(qp->builder->wr);
    free(qp->builder->sge);
    free(qp->builder->inline_memory);
    free(qp->builder);
}
