/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows whose bytes the application produces at a given rate. A frame is sent only once it is full:
 * a shorter frame would waste link capacity that its credit has reserved. A credit that finds no
 * frame is wasted and its receiver counts it as lost, so that credits arrive about as fast as data
 * is produced. A sender without data for a while stops its credits, and asks for credits again when
 * there is data (ExpressPass sec 3).
 */
#include "sim/endpoint/expresspass/xpass.h"

void oche_xpass_supply_begin(struct oche_xpass_sender *sender, const struct oche_flow_plan *plan,
                             oche_time now)
{
    sender->supplied = plan;
    sender->supplied_from = sender->sent_at = now;
    sender->first_end = plan->bytes; /* the flow has the connection to itself */
}

void oche_xpass_supply(const struct oche_xpass *xpass, struct oche_xpass_sender *sender,
                       oche_time now)
{
    const struct oche_flow_plan *plan = sender->supplied;

    if (OCHE_LIKELY(plan == NULL))
        return;
    uint64_t made = oche_flow_supplied(plan, now - sender->supplied_from);

    if (made == plan->bytes)
        sender->supplied = NULL;
    else
        made -= made % xpass->params->payload_bytes;
    sender->available = made;
}

oche_time oche_xpass_supply_next(const struct oche_xpass *xpass,
                                 const struct oche_xpass_sender *sender)
{
    const struct oche_flow_plan *plan = sender->supplied;

    if (OCHE_LIKELY(plan == NULL) || sender->next < sender->available)
        return OCHE_NEVER;
    if (sender->state == OCHE_XPASS_SENDING)
        return oche_time_add(sender->sent_at, xpass->params->idle);
    uint64_t bytes = sender->available + xpass->params->payload_bytes;

    if (bytes > plan->bytes)
        bytes = plan->bytes;
    return oche_time_add(sender->supplied_from, oche_time_of_bytes(bytes, plan->supply_bps));
}
