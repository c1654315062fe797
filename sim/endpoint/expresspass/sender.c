/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending end: asks for credits, sends a frame for each, stops credits when there is no more to
 * send. Flows of one connection follow each other without a STOP in between. A flow is completed
 * when a credit, or the answer to a STOP, says that all of the flow has arrived. While the
 * application is still producing a flow (supply.c), a sender without data waits a little before it
 * stops its credits.
 *
 * The authors' code has no answer to a STOP: its sender waits until no more credits come. The DONE
 * is ours; it tells a sender what has arrived, even if the last frames were lost.
 */
#include "sim/endpoint/expresspass/xpass.h"

static void set_timer(struct oche_xpass *xpass, struct oche_xpass_end *end)
{
    const struct oche_xpass_sender *sender = &end->sender;

    oche_xpass_set_timer(xpass, end,
                         oche_time_min(sender->due, oche_xpass_supply_next(xpass, sender)));
}

static void set_due(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time due)
{
    end->sender.due = due;
    set_timer(xpass, end);
}

static void ask(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;

    sender->state = OCHE_XPASS_ASKING;
    sender->heard = now;
    oche_xpass_put(xpass, &xpass->others, end,
                   (struct oche_xpass_item){.kind = OCHE_XPASS_REQUEST, .place = sender->next});
    set_due(xpass, end, oche_time_add(now, xpass->params->rto));
}

static void say_stop(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    oche_xpass_put(xpass, &xpass->others, end,
                   (struct oche_xpass_item){.kind = OCHE_XPASS_STOP,
                                            .place = end->sender.available,
                                            .credit = end->sender.stop});
    set_due(xpass, end, oche_time_add(now, xpass->params->stop_timeout));
}

static void stop(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    end->sender.state = OCHE_XPASS_STOPPING;
    end->sender.stop++;
    say_stop(xpass, end, now);
}

static bool sends_nothing(const struct oche_xpass_sender *sender)
{
    return sender->state == OCHE_XPASS_CLOSED || sender->state == OCHE_XPASS_STOPPING;
}

void oche_xpass_start(struct oche_xpass *xpass, uint32_t flow, oche_time now)
{
    const struct oche_flow_plan *plan = &xpass->host->flows->plan[flow];
    struct oche_xpass_end *end = oche_xpass_find(xpass, plan->connection);

    if (end == NULL)
        end = oche_xpass_open(xpass, plan->connection, plan->dst, true);
    struct oche_xpass_sender *sender = &end->sender;

    oche_host_flow_started(xpass->host, flow, now);
    if (OCHE_UNLIKELY(plan->supply_bps > 0)) {
        OCHE_MUST(xpass->host->flows->connections[end->number].count == 1);
        sender->started++;
        oche_xpass_supply_begin(sender, plan, now);
        set_due(xpass, end, OCHE_NEVER);
        return;
    }
    sender->available += plan->bytes;
    if (sender->started++ == sender->completed)
        sender->first_end = sender->available;
    if (sends_nothing(sender))
        ask(xpass, end, now);
}

static void complete(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    const struct oche_flows *flows = xpass->host->flows;
    const struct oche_connection *connection = &flows->connections[end->number];
    struct oche_xpass_sender *sender = &end->sender;
    uint32_t flow = flows->order[connection->first + sender->completed++];

    if (sender->completed < sender->started)
        sender->first_end += flows->plan[flows->order[connection->first + sender->completed]].bytes;
    oche_host_flow_completed(xpass->host, flow, OCHE_STATUS_SUCCESS, sender->retransmitted,
                             sender->timeouts, now);
    oche_host_start(xpass->host, flows->plan[flow].then_same_source, now);
}

/* Notes that the receiver has all bytes before `place`. Returns false if `place` is impossible. */
static bool acknowledge(struct oche_xpass *xpass, struct oche_xpass_end *end, uint64_t place,
                        oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;

    if (place > sender->high) {
        xpass->stats.rejected_packets++;
        return false;
    }
    if (place > sender->acked)
        sender->acked = place;
    if (place > sender->next)
        sender->next = place; /* these bytes need no resending */
    while (sender->completed < sender->started && sender->acked >= sender->first_end)
        complete(xpass, end, now);
    return true;
}

/* Sends one frame for a credit. Returns the frame's payload bytes; 0: there was no data to send. */
static uint16_t send_for(struct oche_xpass *xpass, struct oche_xpass_end *end,
                         const struct oche_packet *credit, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;
    uint64_t bytes = sender->available - sender->next;

    if (bytes > xpass->params->payload_bytes)
        bytes = xpass->params->payload_bytes;
    if (bytes == 0)
        return 0;
    oche_xpass_put(xpass, &xpass->others, end,
                   (struct oche_xpass_item){.kind = OCHE_XPASS_DATA,
                                            .since = now,
                                            .place = sender->next,
                                            .payload = (uint16_t)bytes,
                                            .credit = credit->xpass.credit,
                                            .time = credit->xpass.sent_ns,
                                            .again = sender->next < sender->high});
    sender->retransmitted += sender->next < sender->high;
    sender->next += bytes;
    if (sender->high < sender->next)
        sender->high = sender->next;
    sender->sent_at = now;
    return (uint16_t)bytes;
}

void oche_xpass_credit(struct oche_xpass *xpass, struct oche_xpass_end *end,
                       const struct oche_packet *packet, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;

    if (!acknowledge(xpass, end, packet->xpass_offset, now))
        return;
    oche_xpass_supply(xpass, sender, now);
    if (sends_nothing(sender) && sender->next < sender->available)
        ask(xpass, end, now); /* some data has just become available */
    uint16_t bytes = send_for(xpass, end, packet, now);

    xpass->credits_wasted += bytes == 0;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_CREDIT_ARRIVED, packet->dest_qpn,
                    packet->xpass.credit, bytes);
    if (sends_nothing(sender))
        return;
    sender->heard = now;
    sender->state = OCHE_XPASS_SENDING; /* the timer keeps running: see oche_xpass_sender_timer */
    if (sender->next < sender->available)
        return;
    if (OCHE_UNLIKELY(sender->supplied != NULL))
        set_timer(xpass, end);
    else
        stop(xpass, end, now);
}

/* Resends from `place` on. */
static void go_back(struct oche_xpass *xpass, struct oche_xpass_end *end, uint64_t place,
                    oche_time now)
{
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_GO_BACK,
                    OCHE_FIRST_QPN + end->number, place, end->sender.high);
    end->sender.next = place;
    if (sends_nothing(&end->sender))
        ask(xpass, end, now);
}

void oche_xpass_done(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;

    if (!acknowledge(xpass, end, packet->xpass_offset, now))
        return;
    if (sender->state != OCHE_XPASS_STOPPING || packet->xpass.credit != sender->stop)
        return; /* the answer to an earlier STOP comes too late */
    if (sender->acked < sender->high) {
        go_back(xpass, end, sender->acked, now);
        return;
    }
    sender->state = OCHE_XPASS_CLOSED;
    set_due(xpass, end, OCHE_NEVER);
    if (sender->completed == xpass->host->flows->connections[end->number].count)
        oche_xpass_close(xpass, end);
}

void oche_xpass_nack(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now)
{
    xpass->stats.naks_received++;
    if (acknowledge(xpass, end, packet->xpass_offset, now) &&
        packet->xpass_offset == end->sender.acked && packet->xpass_offset < end->sender.next)
        go_back(xpass, end, packet->xpass_offset, now);
}

/*
 * Asks for credits if there is data to send; stops the credits if there has been no data for too
 * long. Returns false if neither was necessary.
 */
static bool look_at_supply(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;
    bool due = oche_xpass_supply_next(xpass, sender) <= now;

    oche_xpass_supply(xpass, sender, now);
    if (sends_nothing(sender) && sender->next < sender->available)
        ask(xpass, end, now);
    else if (due && sender->state == OCHE_XPASS_SENDING && sender->next == sender->available)
        stop(xpass, end, now);
    else if (sender->due > now)
        set_timer(xpass, end);
    else
        return false;
    return true;
}

void oche_xpass_sender_timer(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_sender *sender = &end->sender;
    oche_time due = oche_time_add(sender->heard, xpass->params->rto);

    if (OCHE_UNLIKELY(sender->supplied != NULL) && look_at_supply(xpass, end, now))
        return;
    if (sender->state != OCHE_XPASS_STOPPING && due > now) {
        set_due(xpass, end, due); /* credits have arrived since the timer was set */
        return;
    }
    sender->timeouts++;
    xpass->stats.timeouts++;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_TIMEOUT,
                    OCHE_FIRST_QPN + end->number, sender->acked, sender->state);
    if (sender->state == OCHE_XPASS_STOPPING)
        say_stop(xpass, end, now);
    else
        ask(xpass, end, now);
}
