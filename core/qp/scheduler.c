/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which queue pair sends next. The port asks for a packet when it is free, so not packets
 * are queued but queue pairs:
 *
 *   control list   queue pairs with an ACK, a NAK, a CNP or an atomic's result to send, first come
 *                  first served; those whose class may not send are passed over. Packets are built
 *                  when they leave, so ACKs are merged only while the port is busy
 *   pacing heap    queue pairs with data that are not due yet, by due time; at equal times the one
 *                  that was served longest ago comes first, then by slot
 *   ready lists    one per class: queue pairs that are due, in the order in which they became due;
 *                  one that has sent and is due again goes to the end, which is round-robin
 *
 * The backlog counts one packet for each queue pair in a ready list, because the due time of its
 * next packet is known only when this packet leaves.
 */
#include "core/qp/scheduler.h"

#include "core/cc/cc_messages.h"
#include "core/qp/congestion.h"
#include "core/qp/receive/receive.h"
#include "core/qp/send/sender.h"

/* ---- ready lists ---- */

static void ready_add(struct oche_nic *nic, struct oche_qp *qp)
{
    struct ready_list *list = &nic->ready[qp->traffic_class];

    snd(qp)->queued = QUEUED_READY;
    qp->ready_next = NULL;
    qp->ready_prev = list->tail;
    if (list->tail != NULL)
        list->tail->ready_next = qp;
    else
        list->head = qp;
    list->tail = qp;
    nic->ready_classes |= (uint8_t)(1 << qp->traffic_class);
    snd(qp)->ready_bytes = (uint16_t)(response_data_waits(qp) ? response_next_frame_bytes(qp)
                                                              : requester_next_frame_bytes(qp));
    nic->backlog_bytes += snd(qp)->ready_bytes;
}

static void ready_remove(struct oche_nic *nic, struct oche_qp *qp)
{
    struct ready_list *list = &nic->ready[qp->traffic_class];

    snd(qp)->queued = QUEUED_NOT;
    if (qp->ready_next != NULL)
        qp->ready_next->ready_prev = qp->ready_prev;
    else
        list->tail = qp->ready_prev;
    if (qp->ready_prev != NULL)
        qp->ready_prev->ready_next = qp->ready_next;
    else
        list->head = qp->ready_next;
    if (list->head == NULL)
        nic->ready_classes &= (uint8_t) ~(1 << qp->traffic_class);
    nic->backlog_bytes -= snd(qp)->ready_bytes;
}

/* Returns the queue pair that has been ready in `classes` for longest, or NULL if none is. */
static struct oche_qp *ready_pick(const struct oche_nic *nic, uint8_t classes)
{
    uint8_t candidates = nic->ready_classes & classes;
    struct oche_qp *best = NULL;

    if (OCHE_LIKELY((candidates & (candidates - 1)) == 0))
        return candidates == 0 ? NULL : nic->ready[__builtin_ctz(candidates)].head;
    for (; candidates != 0; candidates &= (uint8_t)(candidates - 1)) {
        struct oche_qp *head = nic->ready[__builtin_ctz(candidates)].head;
        if (best == NULL || snd(head)->pace_due < snd(best)->pace_due)
            best = head;
    }
    return best;
}

/* ---- from waiting to ready ---- */

/* Queues a queue pair that has data. Its pace_due has been set. */
static inline void enqueue(struct oche_nic *nic, struct oche_qp *qp, oche_time horizon)
{
    if (snd(qp)->pace_due <= horizon) {
        ready_add(nic, qp);
    } else {
        snd(qp)->queued = QUEUED_PACED;
        heap_set(&nic->pacing, qp->slot, snd(qp)->pace_due, nic->serve_count);
    }
}

/* Moves the queue pairs that are due from the pacing heap to the ready lists. */
static inline void promote(struct oche_nic *nic, oche_time horizon)
{
    while (heap_next(&nic->pacing) <= horizon && nic->pacing.count > 0) {
        struct oche_qp *qp = nic->qps[nic->pacing.entries[0].slot];
        heap_remove(&nic->pacing, qp->slot);
        ready_add(nic, qp);
    }
}

static inline bool has_data(const struct oche_qp *qp)
{
    return requester_wait(qp) == REQUESTER_GO || response_data_waits(qp);
}

void scheduler_kick(struct oche_qp *qp, oche_time now)
{
    if (snd(qp)->queued != QUEUED_NOT || !has_data(qp))
        return;
    snd(qp)->pace_due = pacer_due(qp, now);
    enqueue(qp->nic, qp, now);
}

void scheduler_repace(struct oche_qp *qp, oche_time now)
{
    struct oche_nic *nic = qp->nic;
    oche_time due = pacer_due(qp, now);

    OCHE_MUST(snd(qp)->queued != QUEUED_NOT);
    if (snd(qp)->queued == QUEUED_READY) {
        if (due <= now)
            return; /* it stays ready, and keeps its place in the list */
        ready_remove(nic, qp);
    } else if (due <= now) {
        heap_remove(&nic->pacing, qp->slot);
    }
    snd(qp)->pace_due = due;
    enqueue(nic, qp, now);
}

bool scheduler_has(const struct oche_qp *qp)
{
    return snd(qp)->queued != QUEUED_NOT;
}

/* Removes `qp` from the control list; `before` is its predecessor there, or NULL. */
static void control_unlist(struct oche_nic *nic, struct oche_qp *qp, struct oche_qp *before)
{
    if (before != NULL)
        before->control_next = qp->control_next;
    else
        nic->control_head = qp->control_next;
    if (nic->control_tail == qp)
        nic->control_tail = before;
    qp->flags &= (uint16_t)~QP_LISTED;
}

void scheduler_forget(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    if (snd(qp)->queued == QUEUED_READY)
        ready_remove(nic, qp);
    else if (snd(qp)->queued == QUEUED_PACED)
        heap_remove(&nic->pacing, qp->slot);
    snd(qp)->queued = QUEUED_NOT;
    heap_remove(&nic->timers, qp->slot);
    if (!(qp->flags & QP_LISTED))
        return;
    struct oche_qp *before = NULL;
    for (struct oche_qp *at = nic->control_head; at != qp; at = at->control_next) {
        OCHE_MUST(at != NULL);
        before = at;
    }
    control_unlist(nic, qp, before);
}

/* ---- control ---- */

void scheduler_control(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    if ((qp->flags & QP_LISTED) || !response_control_waits(qp))
        return;
    qp->flags |= QP_LISTED;
    qp->control_next = NULL;
    if (nic->control_head == NULL)
        nic->control_head = qp;
    else
        nic->control_tail->control_next = qp;
    nic->control_tail = qp;
}

/*
 * Returns the first queue pair with control packets of these classes, or NULL. `*before` becomes
 * its predecessor in the list.
 */
static inline struct oche_qp *control_find(const struct oche_nic *nic, uint8_t classes,
                                           struct oche_qp **before)
{
    struct oche_qp *qp = nic->control_head;

    for (*before = NULL; qp != NULL; *before = qp, qp = qp->control_next)
        if (OCHE_LIKELY(classes >> response_control_class(qp) & 1))
            return qp;
    return NULL;
}

/* Builds the next control packet of the classes in the mask. Returns false if there is none. */
static bool transmit_control(struct oche_nic *nic, uint8_t classes, struct oche_packet *packet,
                             oche_time now)
{
    struct oche_qp *qp, *before;

    while ((qp = control_find(nic, classes, &before)) != NULL) {
        uint8_t traffic_class = response_control_class(qp);

        control_unlist(nic, qp, before);
        bool sent = response_transmit_control(qp, packet, now);
        scheduler_control(qp); /* to the end of the list, if the queue pair has more to send */
        if (sent) {
            packet->traffic_class = traffic_class;
            return true;
        }
    }
    return false;
}

/* ---- data ---- */

/* Notes that the scheme asks for an ACK of the packet, if it is a request: others get no ACK. */
static void note_asked(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    if (qp->transport == OCHE_TRANSPORT_RC && !oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))
        requester_asked(qp, packet->psn, now);
}

/*
 * Returns how long a packet that leaves now has waited for the port since it was due. At line rate,
 * where the port is the pacer, the time of the queue pair's own previous packet does not count.
 */
static inline oche_time waited(const struct oche_nic *nic, const struct oche_qp *qp, oche_time now)
{
    oche_time due = snd(qp)->pace_due;

    if (snd(qp)->pace_full == 0) {
        oche_time free =
            snd(qp)->pace_base + nic->pace_credit * snd(qp)->pace_bytes / PACE_CREDIT_BYTES;

        due = free > due ? free : due;
    }
    return now > due ? now - due : 0;
}

static void count_data(struct oche_nic *nic, struct oche_qp *qp, struct oche_packet *packet,
                       oche_time now)
{
    packet->ecn = snd(qp)->data_ecn;
    if (OCHE_UNLIKELY(nic->backlog_bytes > nic->ecn_threshold_bytes) &&
        packet->ecn == OCHE_ECN_ECT0) {
        packet->ecn = OCHE_ECN_CE;
        nic->stats.ce_marked++;
        qp_trace(qp, now, OCHE_TRACE_MARKED, packet->psn, nic->backlog_bytes);
    }
    nic->stats.data_packets_sent++;
    nic->stats.data_bytes_sent += packet->payload_bytes;
    nic->stats.queueing_time += waited(nic, qp, now);
    nic->serve_count++;
    uint32_t line_bytes = packet->frame_bytes + nic->gap_bytes;
    bool burst = false;
    if (nic->cc->sent != NULL && OCHE_LIKELY(qp->flags & QP_CC_STARTED)) {
        const uint8_t bth = packet->bth;

        nic->cc->sent(&qp->flow, now, packet, line_bytes);
        if (OCHE_UNLIKELY(packet->bth & ~bth & OCHE_BTH_ACKREQ))
            note_asked(qp, packet, now);
        congestion_apply(qp, now);
        burst = qp->flow.burst;
    }
    pacer_sent(qp, now, line_bytes, burst);
}

/*
 * Builds the next data packet of a ready queue pair. Returns false if it turns out that there is
 * none.
 */
static bool transmit_data(struct oche_nic *nic, struct oche_qp *qp, struct oche_packet *packet,
                          oche_time now, oche_time horizon)
{
    bool sent = false;

    ready_remove(nic, qp);
    bool response = response_data_waits(qp);
    if (OCHE_UNLIKELY(response) && (qp->flags & QP_RESPONSE_TURN))
        sent = response_transmit(qp, packet, now);
    if (!sent) {
        sent = requester_transmit(qp, packet, now);
        qp->flags |= QP_RESPONSE_TURN;
    } else {
        qp->flags &= (uint16_t)~QP_RESPONSE_TURN;
    }
    if (!sent && response)
        sent = response_transmit(qp, packet, now);
    if (sent) {
        count_data(nic, qp, packet, now);
        if (snd(qp)->queued == QUEUED_NOT && has_data(qp))
            enqueue(nic, qp, horizon);
    }
    if (OCHE_UNLIKELY(nic->cc->messages != NULL) && nic->cc->messages->more != NULL)
        congestion_note_more(qp, now);
    return sent;
}

/* ---- doorbell ---- */

/*
 * A thread that has posted work puts the queue pair on the doorbell's list, unless the queue pair
 * is there already. Any number of threads may add to the list; the NIC takes the whole list at
 * once. The NIC clears `rung` before it reads the rings, so a post that it does not see yet rings
 * again.
 */
void scheduler_ring(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;

    if (atomic_exchange_explicit(&qp->rung, 1, memory_order_acq_rel) != 0)
        return;
    struct oche_qp *head = atomic_load_explicit(&nic->doorbell, memory_order_relaxed);
    do {
        qp->rung_next = head;
    } while (!atomic_compare_exchange_weak_explicit(&nic->doorbell, &head, qp, memory_order_release,
                                                    memory_order_relaxed));
}

/* Appends the queue pairs that rang to the NIC's own list, in the order in which they rang. */
static void take_doorbell(struct oche_nic *nic)
{
    struct oche_qp *rung = atomic_exchange_explicit(&nic->doorbell, NULL, memory_order_acquire);
    struct oche_qp *last = rung, *list = NULL;

    while (rung != NULL) {
        struct oche_qp *next = rung->rung_next;
        rung->rung_next = list;
        list = rung;
        rung = next;
    }
    if (list == NULL)
        return;
    if (nic->rung_tail != NULL)
        nic->rung_tail->rung_next = list;
    else
        nic->rung_head = list;
    nic->rung_tail = last;
}

void scheduler_answer_doorbell(struct oche_nic *nic, oche_time now)
{
    if (OCHE_UNLIKELY(atomic_load_explicit(&nic->doorbell, memory_order_relaxed) != NULL))
        take_doorbell(nic);
    while (OCHE_UNLIKELY(nic->rung_head != NULL)) {
        struct oche_qp *qp = nic->rung_head;
        nic->rung_head = qp->rung_next;
        if (nic->rung_head == NULL)
            nic->rung_tail = NULL;
        atomic_exchange_explicit(&qp->rung, 0, memory_order_acq_rel);
        qp_notice_posts(qp, now);
    }
}

/* Removes a queue pair that goes away from the doorbell's lists. */
void scheduler_unring(struct oche_qp *qp)
{
    struct oche_nic *nic = qp->nic;
    struct oche_qp *before = NULL;

    take_doorbell(nic);
    for (struct oche_qp *at = nic->rung_head; at != NULL; before = at, at = at->rung_next) {
        if (at != qp)
            continue;
        if (before != NULL)
            before->rung_next = qp->rung_next;
        else
            nic->rung_head = qp->rung_next;
        if (nic->rung_tail == qp)
            nic->rung_tail = before;
        atomic_store_explicit(&qp->rung, 0, memory_order_relaxed);
        return;
    }
}

/* ---- invariants ---- */

/*
 * The first queue pair of a ready list is ready, has the list's class, and no queue pair points to
 * it as its successor.
 */
static bool is_first(const struct oche_qp *qp, unsigned traffic_class)
{
    return qp != NULL && snd(qp)->queued == QUEUED_READY && qp->traffic_class == traffic_class &&
           qp->ready_prev == NULL;
}

void scheduler_must(const struct oche_nic *nic)
{
    OCHE_MUST(nic->ready_classes != 0 || nic->backlog_bytes == 0);
    OCHE_MUST((nic->rung_head == NULL) == (nic->rung_tail == NULL));
    OCHE_MUST(nic->control_head == NULL || (nic->control_head->flags & QP_LISTED));
    if (nic->ready_classes != 0) {
        const unsigned lowest = (unsigned)__builtin_ctz(nic->ready_classes);
        OCHE_MUST(is_first(nic->ready[lowest].head, lowest));
    }
    if (nic->pacing.count > 0) {
        const struct oche_qp *next = nic->qps[nic->pacing.entries[0].slot];
        OCHE_MUST(next != NULL && snd(next)->queued == QUEUED_PACED);
        OCHE_MUST(snd(next)->pace_due == nic->pacing.entries[0].time);
    }
}

/* ---- the port ---- */

unsigned oche_nic_transmit(struct oche_nic *nic, oche_time now, oche_time due_by, uint8_t classes,
                           struct oche_packet *const out[], unsigned max)
{
    unsigned count = 0;

    scheduler_answer_doorbell(nic, now);
    while (count < max && nic->control_head != NULL &&
           transmit_control(nic, classes, out[count], now))
        count++;
    while (count < max) {
        promote(nic, due_by);
        struct oche_qp *qp = ready_pick(nic, classes);
        if (qp == NULL)
            break;
        if (transmit_data(nic, qp, out[count], now, due_by))
            count++;
    }
    return count;
}

oche_time oche_nic_next(struct oche_nic *nic, uint8_t classes)
{
    struct oche_qp *before;

    if (nic->ready_classes & classes)
        return 0;
    if (control_find(nic, classes, &before) != NULL)
        return 0;
    if (nic->rung_head != NULL ||
        atomic_load_explicit(&nic->doorbell, memory_order_acquire) != NULL)
        return 0;
    return oche_time_min(heap_next(&nic->pacing), heap_next(&nic->timers));
}

oche_time oche_nic_next_timer(const struct oche_nic *nic)
{
    return heap_next(&nic->timers);
}

uint64_t oche_nic_backlog_bytes(const struct oche_nic *nic)
{
    return nic->backlog_bytes;
}
