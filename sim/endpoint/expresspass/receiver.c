/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving end: sends credits from the REQUEST to the STOP, at the rate that feedback.c sets,
 * and puts data in order. Data takes the path of its credits, so only a fault can lose data.
 * Therefore data after a gap is not kept: a NACK asks for everything from the gap on. It is
 * repeated after two round trips if the gap is still there.
 */
#include "sim/endpoint/expresspass/xpass.h"

#include "sim/network/payload.h"

#define GAP_ROUND_TRIPS 2

struct oche_xpass_end *oche_xpass_accept(struct oche_xpass *xpass, const struct oche_packet *packet)
{
    const struct oche_flows *flows = xpass->host->flows;
    uint32_t number = packet->dest_qpn - OCHE_FIRST_QPN; /* out of range if below OCHE_FIRST_QPN */
    const struct oche_connection *connection =
        oche_flows_connection(flows, number, packet->src, xpass->host->address);

    if (connection == NULL)
        return NULL;
    struct oche_xpass_end *end = oche_xpass_open(xpass, number, connection->src, false);
    struct oche_xpass_receiver *receiver = &end->receiver;
    receiver->next = receiver->delivered = oche_flows_delivered(flows, connection);
    receiver->random = oche_random_stream(xpass->host->shared->seed, "credits", number);
    return end;
}

/*
 * Closes the end if all flows are delivered and no credits are being sent, because then only
 * duplicates can still arrive.
 */
static void rest(struct oche_xpass *xpass, struct oche_xpass_end *end)
{
    const struct oche_connection *connection = &xpass->host->flows->connections[end->number];

    if (!end->receiver.sending && connection->delivered == connection->count)
        oche_xpass_close(xpass, end);
}

static uint32_t nanoseconds(oche_time time)
{
    return (uint32_t)(time / OCHE_NS);
}

/* ---- credits ---- */

/*
 * Queues a credit at the port. Drops the credit if the port's queue of credits is full, as the
 * authors' host and switches do.
 */
static void send_credit(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_receiver *receiver = &end->receiver;
    struct oche_xpass_item item = {.kind = OCHE_XPASS_CREDIT,
                                   .place = receiver->next,
                                   .credit = receiver->credit++,
                                   .time = nanoseconds(now)};

    if (xpass->params->size_jitter > 0)
        item.extra = (uint8_t)oche_random_below(&receiver->random, xpass->params->size_jitter + 1);
    if (xpass->credits.count < xpass->shaper->queue)
        oche_xpass_put(xpass, &xpass->credits, end, item);
    else
        xpass->credits_dropped++;
}

/* Returns the time until the next credit. */
static oche_time interval(const struct oche_xpass *xpass, struct oche_xpass_receiver *receiver)
{
    double seconds = xpass->credit_bytes / receiver->feedback.rate;
    double jitter = xpass->params->jitter;

    if (jitter > 0)
        seconds *= 1 + jitter * (2 * oche_random_unit(&receiver->random) - 1);
    oche_time time = (oche_time)(seconds * (double)OCHE_SEC);
    return time > 0 ? time : 1;
}

static void next_credit(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_receiver *receiver = &end->receiver;
    struct oche_xpass_feedback *feedback = &receiver->feedback;

    if (oche_xpass_feedback_update(feedback, xpass->params, now))
        oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_RATE_CHANGED,
                        OCHE_FIRST_QPN + end->number, (uint64_t)(feedback->w * 1e6),
                        (uint64_t)(feedback->rate * 8));
    send_credit(xpass, end, now);
    oche_xpass_set_timer(xpass, end, oche_time_add(now, interval(xpass, receiver)));
}

void oche_xpass_request(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_receiver *receiver = &end->receiver;

    receiver->heard = now;
    if (receiver->sending)
        return;
    receiver->sending = true;
    receiver->credit_expected = receiver->credit;
    oche_xpass_feedback_start(&receiver->feedback, xpass->params, xpass->most_credit_rate,
                              xpass->credit_bytes, now);
    next_credit(xpass, end, now);
}

static void stop_credits(struct oche_xpass *xpass, struct oche_xpass_end *end)
{
    end->receiver.sending = false;
    oche_xpass_set_timer(xpass, end, OCHE_NEVER);
}

/*
 * Sends the next credit. Stops the credits if nothing was heard for too long; a sender that still
 * needs credits asks again.
 */
void oche_xpass_receiver_timer(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    if (now - end->receiver.heard > xpass->params->rto) {
        stop_credits(xpass, end);
        rest(xpass, end);
        return;
    }
    next_credit(xpass, end, now);
}

void oche_xpass_stop(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet)
{
    stop_credits(xpass, end);
    end->receiver.gap = false;
    oche_xpass_put(xpass, &xpass->others, end,
                   (struct oche_xpass_item){.kind = OCHE_XPASS_DONE,
                                            .place = end->receiver.next,
                                            .credit = packet->xpass.credit});
    rest(xpass, end);
}

/* ---- data ---- */

/* Counts the credit that this data answers. Unanswered credits before it count as lost. */
static void count_credits(struct oche_xpass_receiver *receiver, const struct oche_packet *packet,
                          oche_time now)
{
    uint32_t lost = packet->xpass.credit - receiver->credit_expected;
    uint32_t sent = receiver->credit - receiver->credit_expected;
    uint32_t rtt = nanoseconds(now) - packet->xpass.sent_ns;

    if (lost >= sent)
        return; /* this credit was counted already, or was never sent */
    receiver->credit_expected = packet->xpass.credit + 1;
    oche_xpass_feedback_data(&receiver->feedback, lost, (oche_time)rtt * OCHE_NS);
}

/*
 * To be called when the stream has been received up to `next`: delivers the flows that are
 * complete.
 */
static void advance(struct oche_xpass *xpass, struct oche_xpass_end *end, uint64_t next,
                    oche_time now)
{
    struct oche_flows *flows = xpass->host->flows;
    struct oche_connection *connection = &flows->connections[end->number];
    struct oche_xpass_receiver *receiver = &end->receiver;

    xpass->stats.delivered_bytes += next - receiver->next;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_DELIVERED,
                    OCHE_FIRST_QPN + end->number, receiver->next, next - receiver->next);
    receiver->next = next;
    receiver->gap = false;
    while (receiver->delivered < next) {
        /* Since data of this flow has arrived, its sender has queued the flow in `order`. */
        uint32_t flow = flows->order[connection->first + connection->delivered];
        const struct oche_flow_plan *plan = &flows->plan[flow];
        if (next - receiver->delivered < plan->bytes)
            break;
        receiver->delivered += plan->bytes;
        xpass->stats.delivered_messages++;
        oche_host_flow_delivered(xpass->host, end->number, now);
    }
}

static void find_gap(struct oche_xpass *xpass, struct oche_xpass_end *end, oche_time now)
{
    struct oche_xpass_receiver *receiver = &end->receiver;
    oche_time patience = GAP_ROUND_TRIPS * receiver->feedback.rtt;

    xpass->stats.out_of_order_packets++;
    if (receiver->gap && now - receiver->nacked_at <= patience)
        return;
    receiver->gap = true;
    receiver->nacked_at = now;
    oche_xpass_put(xpass, &xpass->others, end,
                   (struct oche_xpass_item){.kind = OCHE_XPASS_NACK, .place = receiver->next});
}

void oche_xpass_data(struct oche_xpass *xpass, struct oche_xpass_end *end,
                     const struct oche_packet *packet, oche_time now)
{
    struct oche_xpass_receiver *receiver = &end->receiver;
    struct oche_trace *trace = oche_host_trace(xpass->host);
    uint64_t from = packet->xpass_offset, to = from + packet->payload_bytes;

    xpass->stats.data_packets_received++;
    xpass->stats.data_bytes_received += packet->payload_bytes;
    oche_trace_emit(trace, now, OCHE_TRACE_DATA_ARRIVED, packet->dest_qpn, from,
                    packet->payload_bytes);
    if (xpass->payload && (packet->ext & OCHE_EXT_PAYLOAD))
        xpass->corrupt += oche_payload_differs((uint64_t)end->number << 40 | from, packet->payload,
                                               packet->payload_bytes);
    receiver->heard = now;
    count_credits(receiver, packet, now);
    if (from <= receiver->next && to > receiver->next) {
        advance(xpass, end, to, now);
    } else if (to <= receiver->next) {
        xpass->stats.duplicate_packets++;
        oche_trace_emit(trace, now, OCHE_TRACE_DUPLICATE, packet->dest_qpn, from, 0);
    } else {
        oche_trace_emit(trace, now, OCHE_TRACE_OUT_OF_ORDER, packet->dest_qpn, from,
                        receiver->next);
        find_gap(xpass, end, now);
    }
    rest(xpass, end);
}
