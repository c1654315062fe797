/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posting of work requests. A post checks the work request, writes a ring entry, publishes it, and
 * rings the NIC's doorbell; it takes no lock.
 */
#include <errno.h>
#include <string.h>

#include "core/qp/objects/objects.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/sender.h"

/* Returns the total length, or UINT64_MAX if the list is not acceptable. */
static uint64_t sge_length(const struct oche_sge *sge, uint32_t count, uint32_t max)
{
    uint64_t length = 0;

    if (count > max)
        return UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        length += sge[i].length;
    return length;
}

static bool group_ok(const struct oche_qp *qp, const struct oche_send_work *work)
{
    return snd(qp)->send_groups != NULL && qp->transport == OCHE_TRANSPORT_RC &&
           !is_read_or_atomic(work->opcode) && work->group->members != NULL &&
           work->group->count > 0 && work->group->count <= OCHE_GROUP_MOST &&
           work->group->id <= OCHE_PSN_MASK;
}

/* True if this work request, which binds or invalidates a window, is acceptable. */
static bool window_work_ok(const struct oche_qp *qp, const struct oche_send_work *work)
{
    if (work->opcode == OCHE_WORK_SEND_INV)
        return qp->transport == OCHE_TRANSPORT_RC;
    if (qp->transport == OCHE_TRANSPORT_UD || (work->flags & OCHE_WORK_INLINE))
        return false;
    return work->opcode == OCHE_WORK_LOCAL_INV ||
           (qp->windows && work->bind != NULL && work->bind->window != NULL);
}

/* Returns the length of a work request, or UINT64_MAX if it is not acceptable. */
static uint64_t send_length(const struct oche_qp *qp, const struct oche_send_work *work)
{
    bool atomic = work->opcode >= OCHE_WORK_COMPARE_SWAP;
    bool inlined = work->flags & OCHE_WORK_INLINE;
    uint64_t length;

    if (work->opcode >= OCHE_WORK_OPCODES)
        return UINT64_MAX;
    if (is_read_or_atomic(work->opcode) &&
        (qp->transport != OCHE_TRANSPORT_RC || snd(qp)->initiator_depth == 0 || inlined))
        return UINT64_MAX;
    if (OCHE_UNLIKELY(work->opcode >= OCHE_WORK_SEND_INV && work->opcode < OCHE_WORK_READ)) {
        if (!window_work_ok(qp, work))
            return UINT64_MAX;
        if (is_local(work->opcode))
            return 0;
    }
    length = inlined ? work->sge[0].length
                     : sge_length(work->sge, work->sge_count, snd(qp)->max_send_sge);
    if (inlined && length > snd(qp)->max_inline_bytes)
        return UINT64_MAX;
    if (atomic && (work->sge_count != 1 || length != 8))
        return UINT64_MAX;
    if (work->group != NULL && !group_ok(qp, work))
        return UINT64_MAX;
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD) && !datagram_work_ok(work))
        return UINT64_MAX;
    if (length > OCHE_MAX_MESSAGE_BYTES || length > (uint64_t)qp->mtu * MAX_PSN_WINDOW)
        return UINT64_MAX;
    return length;
}

static void write_send_entry(struct oche_qp *qp, uint32_t index, const struct oche_send_work *work,
                             uint32_t length)
{
    struct send_entry *entry = send_at(qp, index);

    entry->wr_id = work->wr_id;
    entry->remote_va = work->remote_va;
    entry->rkey = work->rkey;
    entry->imm = work->imm;
    entry->length = length;
    entry->opcode = work->opcode;
    entry->flags = work->flags;
    entry->sge_count = work->flags & OCHE_WORK_INLINE ? 0 : work->sge_count;
    entry->sge = work->sge[0];
    if (OCHE_UNLIKELY(snd(qp)->send_groups != NULL))
        snd(qp)->send_groups[index & snd(qp)->send_mask] = work->group;
    if (OCHE_UNLIKELY(qp->transport == OCHE_TRANSPORT_UD))
        datagram_note(qp, index, work->to);
    if (OCHE_UNLIKELY(is_local(work->opcode))) {
        entry->sge_count = 0;
        if (work->opcode == OCHE_WORK_BIND_MW) {
            *(struct oche_bind *)send_extra_at(qp, index) = *work->bind;
            window_bind_posted(work->bind->window);
        }
        return;
    }
    if (work->flags & OCHE_WORK_INLINE) {
        if (length > 0)
            memcpy(send_extra_at(qp, index), work->inline_data, length);
    } else if (work->opcode >= OCHE_WORK_COMPARE_SWAP) {
        *(struct atomic_operands *)send_extra_at(qp, index) =
            (struct atomic_operands){.swap_add = work->swap_add, .compare = work->compare};
    } else if (work->sge_count > 1) {
        memcpy(send_extra_at(qp, index), work->sge, work->sge_count * sizeof(work->sge[0]));
    }
}

int oche_qp_post_send(struct oche_qp *qp, const struct oche_send_work *work)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_relaxed);
    uint8_t state = atomic_load_explicit(&qp->state, memory_order_acquire);

    if (state < OCHE_QP_RTS)
        return EINVAL;
    uint64_t length = send_length(qp, work);
    if (length == UINT64_MAX)
        return EINVAL;
    if (tail - atomic_load_explicit(&snd(qp)->retired_sends, memory_order_acquire) >
            snd(qp)->send_mask ||
        snd(qp)->send_mask == UINT32_MAX)
        return ENOMEM;
    write_send_entry(qp, tail, work, (uint32_t)length);
    atomic_store_explicit(&qp->posted_sends, tail + 1, memory_order_release);
    scheduler_ring(qp);
    return 0;
}

uint32_t oche_qp_send_room(const struct oche_qp *qp)
{
    const uint32_t used = atomic_load_explicit(&qp->posted_sends, memory_order_relaxed) -
                          atomic_load_explicit(&snd(qp)->retired_sends, memory_order_acquire);

    return snd(qp)->send_mask == UINT32_MAX ? 0 : snd(qp)->send_mask + 1 - used;
}

int oche_qp_post_sends(struct oche_qp *qp, const struct oche_send_work *work, uint32_t count)
{
    uint32_t tail = atomic_load_explicit(&qp->posted_sends, memory_order_relaxed);
    uint32_t used = tail - atomic_load_explicit(&snd(qp)->retired_sends, memory_order_acquire);

    if (atomic_load_explicit(&qp->state, memory_order_acquire) < OCHE_QP_RTS)
        return EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (send_length(qp, &work[i]) == UINT64_MAX)
            return EINVAL;
    if (snd(qp)->send_mask == UINT32_MAX || count > snd(qp)->send_mask + 1 - used)
        return ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        write_send_entry(qp, tail + i, &work[i], (uint32_t)send_length(qp, &work[i]));
    atomic_store_explicit(&qp->posted_sends, tail + count, memory_order_release);
    if (count > 0)
        scheduler_ring(qp);
    return 0;
}
