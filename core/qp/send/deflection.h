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
 *
 * A queue pair on which nothing has ever come behind a train with tokens lets switches forget it:
 * the last packet of such a train's only message carries OCHE_BTH_RELEASE, if no work waits behind
 * it. After it nothing with tokens leaves until all is acknowledged: new work waits, and what must
 * be sent again has no tokens. If work has waited, the queue pair never sets the bit again.
 *
 * Members of the queue pair, with `follow`:
 *   order_tokens    what the packets of the train carry
 *   order_leads     the next packet is the train's first
 *   order_deadline  while nothing with tokens has left for half of `linger`: never
 *   order_followed  work has come behind a train with tokens that was not acknowledged
 *   order_released  all of the train has left, its last packet with OCHE_BTH_RELEASE
 *   order_strays    packets of a released train that was sent again may be on their way after its
 *                   ACK, until order_deadline
 */
#ifndef OCHE_CORE_QP_SEND_DEFLECTION_H
#define OCHE_CORE_QP_SEND_DEFLECTION_H

#include "core/qp/send/sender.h"
#include "core/qp/timers.h"

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
        return snd(qp)->order.tokens;
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
        return snd(qp)->send_head != snd(qp)->send_started &&
               (snd(qp)->order.released ||
                (snd(qp)->order.tokens > 0 && snd(qp)->order.deadline == OCHE_NEVER));
    if (deflection->hold != OCHE_NEVER)
        return snd(qp)->order.deadline != OCHE_NEVER &&
               (snd(qp)->order.is_short || deflection_takes(qp, entry));
    return snd(qp)->send_head != snd(qp)->send_started &&
           (deflection_takes(qp, entry) || deflection_takes(qp, send_at(qp, snd(qp)->send_head)));
}

/*
 * With `follow`: notes that the work request starts, which begins a train if all before is done.
 * The train has no tokens while packets of a released one may be on their way: they could remove
 * its entries.
 */
static inline void deflection_starts(struct oche_qp *qp, const struct send_entry *entry)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(!deflection->follow))
        return;
    if (snd(qp)->send_head != snd(qp)->send_started) {
        snd(qp)->order.followed |= snd(qp)->order.tokens > 0;
        return;
    }
    snd(qp)->order.tokens = 0;
    snd(qp)->order.released = false;
    snd(qp)->order.strays = snd(qp)->order.strays && snd(qp)->order.deadline != OCHE_NEVER;
    if (deflection_takes(qp, entry) && !snd(qp)->order.strays)
        snd(qp)->order.tokens = deflection->tokens & OCHE_BTH_TOKENS;
    snd(qp)->order.leads = snd(qp)->order.tokens > 0;
}

/* With `follow`: notes that all is acknowledged. Who has waited for that is a follower. */
static inline void deflection_done(struct oche_qp *qp)
{
    if (OCHE_UNLIKELY(snd(qp)->order.released) && snd(qp)->send_started != snd(qp)->send_tail)
        snd(qp)->order.followed = true;
}

/*
 * With `follow`: notes that a released train is sent again. Switches have forgotten its way, so
 * what is sent now could overtake what is on that way, or be overtaken in turn. It has no tokens,
 * unless nothing can be on that way any more; then the train goes on as one that was not released.
 */
static inline void deflection_again(struct oche_qp *qp)
{
    if (snd(qp)->order.tokens > 0 && snd(qp)->order.deadline == OCHE_NEVER) {
        snd(qp)->order.released = false;
        return;
    }
    snd(qp)->order.tokens = 0;
    snd(qp)->order.strays = true;
}

/*
 * With `follow`: decides with the last packet of a message whether the train is released. A copy
 * never releases, so that there is at most one such packet of a train.
 */
static inline void deflection_last(struct oche_qp *qp, struct oche_packet *packet)
{
    if (snd(qp)->order.followed || packet->psn != snd(qp)->tx.high)
        return;
    if (snd(qp)->send_started != snd(qp)->send_tail) {
        snd(qp)->order.followed = true;
        return;
    }
    snd(qp)->order.released = true;
    packet->bth_reserved |= OCHE_BTH_RELEASE;
}

/* Gives its tokens to a packet that leaves at `now`; `last`: it is the last of its message. */
static inline void deflection_mark(struct oche_qp *qp, struct oche_packet *packet, bool last,
                                   oche_time now)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY(snd(qp)->cursor_tokens == 0))
        return;
    packet->bth_reserved |= snd(qp)->cursor_tokens | OCHE_BTH_HAD_TOKENS;
    if (!deflection->follow)
        return;
    if (!snd(qp)->order.leads)
        packet->bth |= OCHE_BTH_FOLLOWS;
    snd(qp)->order.leads = false;
    if (last)
        deflection_last(qp, packet);
    snd(qp)->order.deadline = oche_time_add(now, deflection->linger / 2);
    timers_want(qp, snd(qp)->order.deadline);
}

/*
 * True if recovery may not send the last packet of the packet's message twice. The first copy frees
 * the entry that switches have for the message, so the second one would take the ordinary way and
 * could overtake the message, or end an entry of the next one. With a `hold`, or with `follow` if
 * the packet does not release its train, entries outlive the first copy, so both take the same way.
 */
static inline bool deflection_ends_once(const struct oche_qp *qp, const struct oche_packet *packet)
{
    const struct oche_deflection *deflection = &qp->nic->config.deflection;

    if (OCHE_LIKELY((packet->bth_reserved & OCHE_BTH_TOKENS) == 0))
        return false;
    if (deflection->follow)
        return packet->bth_reserved & OCHE_BTH_RELEASE;
    return deflection->hold == OCHE_NEVER;
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
    snd(qp)->order.is_short = deflection_takes(qp, entry);
    snd(qp)->order.deadline = oche_time_add(now, deflection->hold);
    timers_want(qp, snd(qp)->order.deadline);
}

#endif
