/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a Dart receiver's senders their n (dart.md#d8, #d31). It changes with the AUSS and with
 * the place of the congestion. ACKs carry n; a sender that gets no ACK soon gets an update packet.
 */
#include "core/cc/dart/dart_state.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define MOST_SENDERS UINT16_MAX
#define LOOKS        4 /* how often in a base round trip updates are looked for, at most */

/* ---- what they are told ---- */

/* Moves the NIC's timer to the next due time, unless it is set to an earlier one. */
void dart_rearm(struct dart_nic *d)
{
    oche_time when = d->updates_due;

    for (uint32_t i = 0; i < d->set_count; i++)
        when = oche_time_min(when, oche_auss_next(&d->sets[i].auss));
    if (when < d->nic->timer)
        oche_cc_nic_timer(d->nic, when);
}

/* Returns the sum of the shares of tenants that have senders, including this one. */
static uint64_t shares_with(const struct dart_nic *d, const struct dart_set *set)
{
    uint64_t shares = set->share;

    for (uint32_t i = 0; i < d->set_count; i++)
        if (&d->sets[i] != set && d->sets[i].auss.count > 0)
            shares += d->sets[i].share;
    return shares;
}

static uint32_t to_be_told(const struct dart_nic *d, const struct dart_set *set)
{
    const struct dart_params *p = d->nic->params;
    uint32_t line = dart_fractions(p); /* the value with which one sender has the whole line */
    uint64_t weight = set->auss.weight + (set == d->sets ? d->elsewhere.senders : 0), said;

    if (d->state == OCHE_DART_NON_RECEIVER)
        return line;
    if (d->state == OCHE_DART_NONE && p->advertise == ADVERTISE_CONGESTION)
        return line;
    if (set->granted > 0)
        return set->granted;
    if (weight == 0)
        weight = 1;
    said = (weight * line * shares_with(d, set) + set->share - 1) / set->share;
    return said < MOST_SENDERS ? (uint32_t)said : MOST_SENDERS;
}

static void want_updates(struct dart_nic *d, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    oche_time earliest = d->updates_done + p->base_rtt / LOOKS;
    oche_time from = now == OCHE_NEVER ? 0 : now;

    if (p->updates)
        d->updates_due = earliest > from ? earliest : from;
}

/* Recomputes the value that the tenant's senders are told. `now` is OCHE_NEVER if unknown. */
void dart_tell(struct dart_nic *d, struct dart_set *set, oche_time now)
{
    uint32_t told = to_be_told(d, set);

    if (now != OCHE_NEVER)
        oche_trace_emit(d->nic->trace, now, OCHE_TRACE_SENDERS, (uint32_t)(set - d->sets),
                        set->auss.count, told | (uint64_t)d->state << 32);
    if (told != set->said->told) {
        set->said->told = told;
        set->said->version++;
        want_updates(d, now);
    }
    dart_rearm(d);
}

void dart_tell_all(struct dart_nic *d, oche_time now)
{
    for (uint32_t i = 0; i < d->set_count; i++)
        dart_tell(d, &d->sets[i], now);
}

/*
 * To be called when a tenant's AUSS has changed. If the tenant got its first sender or lost its
 * last, the shares of the other tenants change too.
 */
void dart_set_changed(struct dart_nic *d, struct dart_set *set, oche_time now)
{
    set->granted = 0;
    d->slack_windows = 0;
    if (d->set_count > 1 && set->auss.count <= 1)
        dart_tell_all(d, now);
    else
        dart_tell(d, set, now);
}

/* ---- other NICs of the port ---- */

uint32_t dart_senders(const void *nic_state, uint32_t *addresses, uint32_t most, uint32_t *version)
{
    const struct dart_nic *d = nic_state;
    const struct oche_auss *auss = &d->sets[0].auss;
    const uint32_t count = auss->count < most ? auss->count : most;

    *version = auss->changes;
    for (uint32_t i = 0; i < count; i++)
        addresses[i] = auss->senders[auss->active[i]].address;
    return count;
}

void dart_elsewhere(struct oche_cc_nic *nic, oche_time now,
                    const struct oche_cc_elsewhere *elsewhere)
{
    struct dart_nic *d = nic->state;
    const bool changed = elsewhere->senders != d->elsewhere.senders;

    d->elsewhere = *elsewhere;
    if (changed)
        dart_set_changed(d, d->sets, now);
}

/* ---- updates ---- */

/*
 * Returns when the peer, which sends to us, needs an update; OCHE_NEVER if it is up to date. One
 * that was announced and is idle has forgotten what it was told when it sent.
 */
oche_time dart_update_due(const struct dart_flow *s, bool ahead)
{
    const struct dart_params *p = s->flow->params;
    const struct dart_peer *peer = s->sender;

    if (ahead && !peer->told_ahead)
        return 0;
    if (peer->told_version == s->said->version)
        return OCHE_NEVER;
    return peer->told_version == 0 ? 0 : peer->told_at + p->base_rtt / 2;
}

void dart_update(struct dart_nic *d, struct oche_cc_flow *flow, oche_time now)
{
    struct dart_peer *peer = dart_of(flow)->sender;

    peer->told_at = now;
    if (peer->told_version == 0) /* told_at is not valid */
        peer->told_version = dart_of(flow)->said->version - 1;
    d->updates++;
    oche_cc_want(d->nic, flow, OCHE_CC_WANTS_OWN);
}

/*
 * Returns a queue pair to the sender, or NULL. Of a sender that was only announced no message
 * arrives, and `*ahead` becomes true: then it is the queue pair by which one began last, if it
 * still exists.
 */
static struct dart_flow *flow_to(const struct dart_nic *d, const struct dart_set *set,
                                 const struct oche_auss_sender *sender, bool *ahead)
{
    struct oche_auss_member *member = sender->members;

    while (member != NULL && member->ahead)
        member = member->of_sender;
    *ahead = member == NULL;
    if (!*ahead)
        return OCHE_CONTAINER(member, struct dart_flow, member);
    const struct dart_peer *peers = d->nic->peer_state(d->nic, sender->address);
    return peers == NULL ? NULL : peers[set - d->sets].voice;
}

/*
 * True if an announced sender may be told its share now, before its first packet (sec III-D). The
 * list comes from the network, so the number of these updates is limited even if a host announces
 * again and again: first a burst (DART_AHEAD_BURST bytes' worth), then one for every
 * DART_AHEAD_BYTES that arrive.
 */
static bool may_tell_ahead(struct dart_nic *d)
{
    const uint64_t arrived = *d->nic->received_line_bytes, most = DART_AHEAD_BURST;

    d->ahead_credit += arrived - d->ahead_bytes;
    d->ahead_bytes = arrived;
    if (d->ahead_credit > most)
        d->ahead_credit = most;
    if (d->ahead_credit < DART_AHEAD_BYTES)
        return false;
    d->ahead_credit -= DART_AHEAD_BYTES;
    d->ahead_updates++;
    return true;
}

/*
 * Asks for an update to each sender of the tenant whose update is due. Returns when the next update
 * will be due.
 */
static oche_time update_set(struct dart_nic *d, const struct dart_set *set, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    oche_time next = OCHE_NEVER;

    for (uint32_t i = 0; i < set->auss.count; i++) {
        bool ahead;
        const struct dart_flow *s =
            flow_to(d, set, &set->auss.senders[set->auss.active[i]], &ahead);
        if (s == NULL || !s->flow->extended || (ahead && !p->look_ahead_updates))
            continue;
        oche_time due = dart_update_due(s, ahead);
        if (due > now)
            next = oche_time_min(next, due);
        else if (!ahead || may_tell_ahead(d))
            dart_update(d, s->flow, now);
        if (ahead && due <= now)
            s->sender->told_ahead = true;
    }
    return next;
}

static void update_all(struct dart_nic *d, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    oche_time next = OCHE_NEVER, soonest = now + p->base_rtt / LOOKS;

    for (uint32_t i = 0; i < d->set_count; i++)
        next = oche_time_min(next, update_set(d, &d->sets[i], now));
    d->updates_done = now;
    d->updates_due = next > soonest ? next : soonest; /* OCHE_NEVER if all are up to date */
}

void dart_nic_timer(struct oche_cc_nic *nic, oche_time now)
{
    struct dart_nic *d = nic->state;

    for (uint32_t i = 0; i < d->set_count; i++)
        if (oche_auss_expire(&d->sets[i].auss, now))
            dart_set_changed(d, &d->sets[i], now);
    if (d->updates_due <= now)
        update_all(d, now);
    dart_rearm(d);
}

void dart_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    struct dart_flow *s = dart_of(flow);
    struct dart_peer *peer = s->sender;

    if (OCHE_UNLIKELY(dcqcn_echoes(flow->params))) {
        if (!dart_answers_marks(s->nic))
            s->dcqcn.np.echo = false; /* the mark came before the state changed */
        oche_cc_dcqcn.stamp_ack(flow, now, packet);
    }
    if (packet->opcode != OCHE_RC_ACK_SHARE && packet->opcode != OCHE_SHARE)
        return;
    oche_share_put(packet, &(struct oche_share){.senders = (uint16_t)s->said->told,
                                                .tenant = flow->tenant,
                                                .sequence = ++peer->told_sequence});
    if (packet->opcode == OCHE_RC_ACK_SHARE)
        s->nic->share_acks++;
    else
        s->nic->updates_sent++;
    peer->told_version = s->said->version;
    peer->told_at = now;
}
