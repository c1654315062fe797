/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about a NIC's lists and heaps, and the check of all queue pairs. */
#include "core/qp/check_internal.h"
#include "core/qp/send/sender.h"

static const char *first_broken(const struct qp_statement *statements, const struct oche_qp *qp)
{
    for (; statements->words != NULL; statements++)
        if (!statements->holds(qp))
            return statements->words;
    return NULL;
}

const char *oche_qp_check(const struct oche_qp *qp)
{
    const char *broken;

    if (!is_connected(qp))
        return NULL; /* it has neither PSNs nor work */
    broken = first_broken(qp_send_statements, qp);
    if (broken != NULL || qp_state(qp) == OCHE_QP_ERR)
        return broken; /* after an error nothing is received any more */
    return first_broken(qp_receive_statements, qp);
}

/* ---- the NIC ---- */

static bool heap_is_ordered(const struct heap *heap)
{
    for (uint32_t i = 0; i < heap->count; i++) {
        if (heap->position[heap->entries[i].slot] != i)
            return false;
        if (i > 0 && heap_before(&heap->entries[i], &heap->entries[(i - 1) / 4]))
            return false;
    }
    return true;
}

static bool timers_are_ordered(const struct oche_nic *nic)
{
    return heap_is_ordered(&nic->timers);
}

static bool pacing_is_ordered(const struct oche_nic *nic)
{
    return heap_is_ordered(&nic->pacing);
}

/* Returns how many queue pairs the list has; UINT32_MAX: it is broken. */
static uint32_t ready_length(const struct oche_nic *nic, unsigned traffic_class)
{
    const struct ready_list *list = &nic->ready[traffic_class];
    const struct oche_qp *before = NULL;
    uint32_t length = 0;

    for (const struct oche_qp *qp = list->head; qp != NULL; before = qp, qp = qp->ready_next) {
        if (qp->ready_prev != before || snd(qp)->queued != QUEUED_READY ||
            qp->traffic_class != traffic_class || ++length > nic->config.max_qps)
            return UINT32_MAX;
    }
    return list->head == NULL || list->tail == before ? length : UINT32_MAX;
}

static bool ready_lists_are_linked(const struct oche_nic *nic)
{
    for (unsigned i = 0; i < OCHE_CLASSES; i++) {
        const uint32_t length = ready_length(nic, i);
        if (length == UINT32_MAX || (length > 0) != (nic->ready_classes >> i & 1))
            return false;
    }
    return true;
}

static bool backlog_is_that_of_the_ready(const struct oche_nic *nic)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < OCHE_CLASSES; i++)
        for (const struct oche_qp *qp = nic->ready[i].head; qp != NULL; qp = qp->ready_next)
            bytes += snd(qp)->ready_bytes;
    return bytes == nic->backlog_bytes;
}

static uint32_t count_queued(const struct oche_nic *nic, enum queued queued)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < nic->slots.fresh; slot++)
        count += nic->qps[slot] != NULL && snd(nic->qps[slot])->queued == queued;
    return count;
}

static bool all_ready_are_listed(const struct oche_nic *nic)
{
    uint32_t listed = 0;

    for (unsigned i = 0; i < OCHE_CLASSES; i++)
        listed += ready_length(nic, i);
    return listed == count_queued(nic, QUEUED_READY);
}

static bool all_paced_are_in_the_heap(const struct oche_nic *nic)
{
    return nic->pacing.count == count_queued(nic, QUEUED_PACED);
}

static bool control_list_is_linked(const struct oche_nic *nic)
{
    const struct oche_qp *last = NULL;
    uint32_t listed = 0, flagged = 0;

    for (const struct oche_qp *qp = nic->control_head; qp != NULL; last = qp, qp = qp->control_next)
        if (!(qp->flags & QP_LISTED) || ++listed > nic->config.max_qps)
            return false;
    for (uint32_t slot = 0; slot < nic->slots.fresh; slot++)
        flagged += nic->qps[slot] != NULL && (nic->qps[slot]->flags & QP_LISTED);
    return listed == flagged && (nic->control_head == NULL || nic->control_tail == last);
}

static bool queue_pairs_are_found(const struct oche_nic *nic)
{
    for (uint32_t slot = 0; slot < nic->slots.fresh; slot++)
        if (nic->qps[slot] != NULL &&
            (nic->qps[slot]->slot != slot || map_find(&nic->qp_map, nic->qps[slot]->qpn) != slot))
            return false;
    return true;
}

static const struct {
    const char *words;
    bool (*holds)(const struct oche_nic *nic);
} statements[] = {
    {"the heap of timers is ordered", timers_are_ordered},
    {"the heap of pacing times is ordered", pacing_is_ordered},
    {"the ready lists are linked, and their classes known", ready_lists_are_linked},
    {"the backlog is the bytes of those that are ready", backlog_is_that_of_the_ready},
    {"who is ready is in a ready list", all_ready_are_listed},
    {"who is paced is in the heap of pacing times", all_paced_are_in_the_heap},
    {"the control list is linked and complete", control_list_is_linked},
    {"each queue pair is found by its number", queue_pairs_are_found},
};

const char *oche_nic_check(const struct oche_nic *nic, const struct oche_qp **which)
{
    const struct oche_qp *none;

    which = which != NULL ? which : &none;
    *which = NULL;
    for (size_t i = 0; i < OCHE_COUNT_OF(statements); i++)
        if (!statements[i].holds(nic))
            return statements[i].words;
    for (uint32_t slot = 0; slot < nic->slots.fresh; slot++) {
        const char *broken = nic->qps[slot] == NULL ? NULL : oche_qp_check(nic->qps[slot]);
        if (broken != NULL) {
            *which = nic->qps[slot];
            return broken;
        }
    }
    return NULL;
}
