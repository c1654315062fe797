/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which messages the sender keeps apart or sends one behind the other along the same way,
 * so that switches may deflect the short ones (Dart sec IV; see struct oche_deflection in
 * core/qp/nic.h). The requester asks before each work request; without deflection that is one test.
 *
 * With `follow` (dart.md#d18) a train is what a queue pair sends from one moment in which all is
 * acknowledged to the next. The train's first message decides for the train: if it is short, all
 * packets of the train carry tokens, else none does. The first packet is the train's leader; all
 * others follow.
 */
#ifndef OCHE_CORE_QP_DEFLECTION_H
#define OCHE_CORE_QP_DEFLECTION_H

#include "core/qp/qp_internal.h"

/* True if switches may deflect the packets of the work request. */
static inline bool deflection_takes(const struct oche_qp *qp, const struct send_entry *entry)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    return deflection->tokens > 0 && qp->transport == OCHE_TRANSPORT_RC &&
           !is_read_or_atomic(entry->opcode) && entry->length <= deflection->short_bytes;
}

/* Returns the tokens that the packets of the work request, which has started, carry, or 0. */
static inline uint8_t deflection_tokens(const struct oche_qp *qp, const struct send_entry *entry)
{
    if (OCHE_UNLIKELY(qp->nic->config.deflection.follow))
        return qp->order_tokens;
    return deflection_takes(qp, entry) ? qp->nic->config.deflection.tokens : 0;
}

/*
 * True if the work request must wait, so that its packets are not in the network together with
 * packets of earlier messages.
 */
static inline bool deflection_holds(const struct oche_qp *qp, const struct send_entry *entry)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(deflection->tokens == 0) || qp->transport != OCHE_TRANSPORT_RC)
        return false;
    if (deflection->follow)
        return qp->order_tokens > 0 && qp->send_head != qp->send_started &&
               qp->order_deadline == OCHE_NEVER;
    if (deflection->hold != OCHE_NEVER)
        return qp->order_deadline != OCHE_NEVER && (qp->order_short || deflection_takes(qp, entry));
    return qp->send_head != qp->send_started &&
           (deflection_takes(qp, entry) || deflection_takes(qp, send_at(qp, qp->send_head)));
}

/* With `follow`: notes that the work request starts, which begins a train if all before is done. */
static inline void deflection_starts(struct oche_qp *qp, const struct send_entry *entry)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(!deflection->follow) || qp->send_head != qp->send_started)
        return;
    qp->order_tokens = 0;
    if (deflection_takes(qp, entry))
        qp->order_tokens = deflection->tokens & OCHE_BTH_TOKENS;
    qp->order_leads = qp->order_tokens > 0;
}

/* Gives its tokens to a packet that leaves at `now`. */
static inline void deflection_mark(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(qp->cursor_tokens == 0))
        return;
    packet->bth_reserved |= qp->cursor_tokens | OCHE_BTH_HAD_TOKENS;
    if (!deflection->follow)
        return;
    if (!qp->order_leads)
        packet->bth |= OCHE_BTH_FOLLOWS;
    qp->order_leads = false;
    qp->order_deadline = oche_time_add(now, deflection->linger / 2);
    timers_want(qp, qp->order_deadline);
}

/*
 * True if recovery may not send the last packet of the packet's message twice. The first copy frees
 * the entry that switches have for the message, so the second one would take the ordinary way and
 * could overtake the message, or end an entry of the next one. With a `hold` or with `follow`,
 * entries outlive the first copy, so both take the same way.
 */
static inline bool deflection_ends_once(const struct oche_qp *qp, const struct oche_packet *packet)
{
    return OCHE_UNLIKELY(packet->bth_reserved & OCHE_BTH_TOKENS) &&
           qp->nic->config.deflection.hold == OCHE_NEVER && !qp->nic->config.deflection.follow;
}

/*
 * Notes that the last packet of `entry` has left. From now on messages that must be kept apart from
 * `entry` wait.
 */
static inline void deflection_message_left(struct oche_qp *qp, const struct send_entry *entry,
                                           oche_time now)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(deflection->tokens == 0) || deflection->hold == OCHE_NEVER ||
        deflection->follow)
        return;
    qp->order_short = deflection_takes(qp, entry);
    qp->order_deadline = oche_time_add(now, deflection->hold);
    timers_want(qp, qp->order_deadline);
}

#endif
