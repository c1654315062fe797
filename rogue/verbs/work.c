/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application's work requests, kept as verbs of rogue/ until they are complete, and their
 * pieces that are posted below.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rogue/verbs/internal.h"

/* ---- the application's work requests ---- */

static int kind_of(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return ROGUE_WRITE;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
        return ROGUE_SEND;
    case IBV_WR_RDMA_READ:
        return ROGUE_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return ROGUE_ATOMIC;
    default:
        return -1;
    }
}

static bool has_inline(const struct ibv_send_wr *wr)
{
    return (wr->send_flags & IBV_SEND_INLINE) != 0;
}

/* Returns 0, or an errno. */
static int check(const struct rv_qp *qp, const struct ibv_send_wr *wr, uint64_t *bytes)
{
    if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR && qp->state != IBV_QPS_SQD)
        return EINVAL;
    if (wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV)
        return EOPNOTSUPP; /* memory windows belong to one queue pair, so the shadow has none */
    if (kind_of(wr->opcode) < 0)
        return EINVAL;
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge ||
        (wr->num_sge > 0 && wr->sg_list == NULL))
        return EINVAL;
    if (kind_of(wr->opcode) == ROGUE_ATOMIC && (wr->num_sge != 1 || wr->sg_list->length != 8))
        return EINVAL;
    *bytes = 0;
    for (int i = 0; i < wr->num_sge; i++)
        *bytes += wr->sg_list[i].length;
    if (has_inline(wr) &&
        (kind_of(wr->opcode) == ROGUE_READ || kind_of(wr->opcode) == ROGUE_ATOMIC))
        return EINVAL;
    if (*bytes > UINT32_C(1) << 31 || (has_inline(wr) && *bytes > qp->cap.max_inline_data))
        return EINVAL;
    if (qp->uc != NULL && rv_uc_refuses(wr, *bytes) != 0)
        return rv_uc_refuses(wr, *bytes);
    return qp->work_next - qp->work_done < qp->depth ? 0 : ENOMEM;
}

/* Copies inline data, so the application may reuse its memory. */
static void keep_inline(struct rv_qp *qp, struct rv_work *work, const struct ibv_send_wr *wr)
{
    uint8_t *memory = qp->inline_memory + (size_t)(work - qp->works) * qp->cap.max_inline_data;
    uint32_t at = 0;

    for (int i = 0; i < wr->num_sge; i++) {
        memcpy(memory + at, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        at += wr->sg_list[i].length;
    }
    work->sge[0] = (struct ibv_sge){.addr = (uintptr_t)memory, .length = at};
    work->wr.num_sge = at > 0 ? 1 : 0;
}

static int post_one(struct rv_qp *qp, const struct ibv_send_wr *wr)
{
    struct rv_work *work = &qp->works[qp->work_next & (qp->depth - 1)];
    struct rogue_verb verb = {.id = wr->wr_id, .user = qp->work_next & (qp->depth - 1)};
    uint64_t bytes;
    int error = check(qp, wr, &bytes);

    if (error != 0)
        return error;
    work->wr = *wr;
    work->wr.next = NULL;
    work->wr.sg_list = work->sge;
    work->bytes = (uint32_t)bytes;
    if (has_inline(wr))
        keep_inline(qp, work, wr);
    else
        memcpy(work->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*work->sge));
    work->consumes = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || kind_of(wr->opcode) == ROGUE_SEND;
    work->receives_before = qp->receives_wanted;
    qp->receives_wanted += work->consumes;
    verb.bytes = work->bytes;
    verb.kind = (uint8_t)kind_of(wr->opcode);
    verb.signaled = qp->all_signaled || (wr->send_flags & IBV_SEND_SIGNALED) != 0;
    /* A message's receiver gets its length, so messages that consume a receive stay whole. */
    verb.whole = has_inline(wr) || work->consumes || verb.kind == ROGUE_ATOMIC;
    qp->work_next++;
    if (rogue_post(qp->rogue, &verb, rv_now()))
        return 0;
    qp->work_next--;
    qp->receives_wanted -= work->consumes;
    return ENOMEM;
}

int rv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct rv_qp *own = rv_find(RV_QP, qp);
    struct rv_context *context;
    int error = 0;

    if (own == NULL) {
        context = rv_find(RV_CONTEXT, qp->context);
        return context->ops.post_send(qp, wr, bad);
    }
    pthread_mutex_lock(&own->lock);
    for (; wr != NULL && error == 0; wr = wr->next) {
        error = own->rogue == NULL ? EINVAL : post_one(own, wr);
        if (error != 0)
            *bad = wr;
    }
    rv_settle(own);
    pthread_mutex_unlock(&own->lock);
    return error;
}

/* ---- pieces ---- */

/* Writes the part [offset, offset + bytes) of the work's memory. Returns the number of entries. */
static int slice(const struct rv_work *work, uint32_t offset, uint32_t bytes, struct ibv_sge *out)
{
    int count = 0;

    for (int i = 0; i < work->wr.num_sge && bytes > 0; i++) {
        const struct ibv_sge *from = &work->sge[i];
        if (offset >= from->length) {
            offset -= from->length;
            continue;
        }
        uint32_t part = from->length - offset < bytes ? from->length - offset : bytes;
        out[count++] =
            (struct ibv_sge){.addr = from->addr + offset, .length = part, .lkey = from->lkey};
        bytes -= part;
        offset = 0;
    }
    return count;
}

/* True if the peer has already received a message of this verb or of a later one. */
static bool has_arrived(const struct rv_qp *qp, const struct rv_work *work, unsigned kind)
{
    return (kind == ROGUE_WRITE || kind == ROGUE_SEND) && work->receives_before < qp->peer_received;
}

int rv_post_piece(struct rv_qp *qp, unsigned side, const struct rogue_piece *piece)
{
    const struct rv_work *work = &qp->works[piece->verb->user];
    struct ibv_sge sge[RV_MOST_SGE];
    struct ibv_send_wr wr = work->wr, *bad;

    wr.wr_id = piece->number;
    wr.sg_list = sge;
    wr.send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
    if (has_arrived(qp, work, piece->verb->kind)) {
        /* An empty WRITE keeps its place, and its completion. */
        wr = (struct ibv_send_wr){.wr_id = piece->number, .opcode = IBV_WR_RDMA_WRITE};
        rv_count(RV_SUPPRESSED);
    } else if (piece->verb->kind == ROGUE_ATOMIC) {
        wr.num_sge = slice(work, 0, UINT32_MAX, sge);
    } else {
        wr.num_sge = slice(work, piece->offset, piece->bytes, sge);
        if (piece->verb->kind != ROGUE_SEND)
            wr.wr.rdma.remote_addr += piece->offset;
        if (piece->offset > 0)
            wr.send_flags &= ~(unsigned int)IBV_SEND_FENCE;
        if (piece->echo) {
            wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
            wr.imm_data = htonl(piece->echo_imm);
        }
    }
    if (piece->signaled)
        wr.send_flags |= IBV_SEND_SIGNALED;
    return qp->context->ops.post_send(qp->qps[side], &wr, &bad);
}
