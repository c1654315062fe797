/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiving end: puts the stream in order, reports each complete flow to the host, and
 * acknowledges segments: those in order when there are ack_every of them, or after ack_delay (RFC
 * 5681 sec 4.2); a segment that is out of order, fills a gap or is a duplicate at once. With DCTCP
 * it echoes CE (echo.h).
 */
#include "sim/endpoint/tcp_dctcp/tcp.h"

#include "sim/network/payload.h"

/*
 * An end is closed when all flows of its connection are delivered and acknowledged. A late
 * duplicate reopens the end, with all flows noted as delivered, until the answer is sent.
 */
struct oche_tcp_end *oche_tcp_accept(struct oche_tcp *tcp, const struct oche_packet *packet)
{
    const struct oche_flows *flows = tcp->host->flows;
    uint32_t number = packet->dest_qpn - OCHE_FIRST_QPN; /* out of range if below OCHE_FIRST_QPN */
    const struct oche_connection *connection =
        oche_flows_connection(flows, number, packet->src, tcp->host->address);

    if (connection == NULL)
        return NULL; /* the packet is for a sender that has finished */
    struct oche_tcp_end *end = oche_tcp_open(tcp, number, connection->src, false);
    end->receiver.ack_at = OCHE_NEVER;
    end->receiver.next = end->receiver.delivered = oche_flows_delivered(flows, connection);
    return end;
}

void oche_tcp_receiver_rest(struct oche_tcp *tcp, struct oche_tcp_end *end)
{
    const struct oche_connection *connection = &tcp->host->flows->connections[end->number];

    if (connection->delivered == connection->count && end->receiver.waiting == 0)
        oche_tcp_close(tcp, end);
}

static void acknowledge(struct oche_tcp *tcp, struct oche_tcp_end *end, bool ece)
{
    struct oche_tcp_receiver *receiver = &end->receiver;

    receiver->waiting = 0;
    if (receiver->ack_at != OCHE_NEVER) {
        receiver->ack_at = OCHE_NEVER;
        oche_tcp_set_timer(tcp, end, OCHE_NEVER);
    }
    oche_tcp_put_control(tcp, end, receiver->next,
                         ece ? OCHE_TCP_ACK | OCHE_TCP_ECE : OCHE_TCP_ACK);
}

void oche_tcp_receiver_timer(struct oche_tcp *tcp, struct oche_tcp_end *end)
{
    acknowledge(tcp, end, end->receiver.echo.ce);
    oche_tcp_receiver_rest(tcp, end);
}

void oche_tcp_syn(struct oche_tcp *tcp, struct oche_tcp_end *end)
{
    uint8_t flags = OCHE_TCP_SYN | OCHE_TCP_ACK;

    oche_tcp_put_control(tcp, end, 0, tcp->dctcp ? flags | OCHE_TCP_ECE : flags);
    oche_tcp_receiver_rest(tcp, end);
}

/*
 * To be called when the stream has been received up to `next`: delivers the flows that are
 * complete.
 */
static void advance(struct oche_tcp *tcp, struct oche_tcp_end *end, uint64_t next, oche_time now)
{
    struct oche_flows *flows = tcp->host->flows;
    struct oche_connection *connection = &flows->connections[end->number];
    struct oche_tcp_receiver *receiver = &end->receiver;

    tcp->stats.delivered_bytes += next - receiver->next;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_DELIVERED,
                    OCHE_FIRST_QPN + end->number, oche_tcp_wire(receiver->next),
                    next - receiver->next);
    receiver->next = next;
    while (receiver->delivered < next) {
        /* Since data of this flow has arrived, its sender has queued the flow in `order`. */
        uint32_t flow = flows->order[connection->first + connection->delivered];
        const struct oche_flow_plan *plan = &flows->plan[flow];
        if (next - receiver->delivered < plan->bytes)
            break;
        receiver->delivered += plan->bytes;
        tcp->stats.delivered_messages++;
        oche_host_flow_delivered(tcp->host, end->number, now);
    }
}

static void check_payload(struct oche_tcp *tcp, const struct oche_tcp_end *end,
                          const struct oche_packet *packet, uint64_t from)
{
    if (tcp->payload && (packet->ext & OCHE_EXT_PAYLOAD))
        tcp->corrupt += oche_payload_differs((uint64_t)end->number << 40 | from, packet->payload,
                                             packet->payload_bytes);
}

/*
 * Keeps a range that arrived after a gap. Returns false if it exceeds the window or the list is
 * full.
 */
static bool keep(struct oche_tcp *tcp, struct oche_tcp_receiver *receiver, uint64_t from,
                 uint64_t to)
{
    if (to > receiver->next + tcp->params->receive_window)
        return false;
    if (receiver->ranges == NULL)
        receiver->ranges = oche_tcp_take_ranges(tcp);
    return oche_tcp_ranges_add(receiver->ranges, from, to);
}

static void in_order(struct oche_tcp *tcp, struct oche_tcp_end *end, uint64_t to, oche_time now)
{
    struct oche_tcp_receiver *receiver = &end->receiver;
    bool gap = receiver->ranges != NULL && receiver->ranges->count > 0;

    if (gap)
        to = oche_tcp_ranges_take(receiver->ranges, to);
    receiver->waiting++;
    advance(tcp, end, to, now);
    if (gap || receiver->waiting >= tcp->params->ack_every) {
        acknowledge(tcp, end, receiver->echo.ce);
    } else if (receiver->ack_at == OCHE_NEVER) {
        receiver->ack_at = now + tcp->params->ack_delay;
        oche_tcp_set_timer(tcp, end, receiver->ack_at);
    }
}

void oche_tcp_data(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                   oche_time now)
{
    struct oche_tcp_receiver *receiver = &end->receiver;
    struct oche_trace *trace = oche_host_trace(tcp->host);
    uint64_t from = oche_tcp_byte(packet->tcp.sequence, receiver->next);
    uint64_t to = from + packet->payload_bytes;
    bool ce = packet->ecn == OCHE_ECN_CE, ece;

    tcp->stats.data_packets_received++;
    tcp->stats.data_bytes_received += packet->payload_bytes;
    tcp->stats.ce_received += ce;
    oche_trace_emit(trace, now, OCHE_TRACE_DATA_ARRIVED, packet->dest_qpn, packet->tcp.sequence,
                    packet->payload_bytes | (uint64_t)packet->ecn << 40);
    check_payload(tcp, end, packet, from);
    if (tcp->dctcp && oche_tcp_echo_arrived(&receiver->echo, ce, receiver->waiting, &ece))
        acknowledge(tcp, end, ece);
    if (from <= receiver->next && to > receiver->next) {
        in_order(tcp, end, to, now);
    } else if (to <= receiver->next) {
        tcp->stats.duplicate_packets++;
        oche_trace_emit(trace, now, OCHE_TRACE_DUPLICATE, packet->dest_qpn, packet->tcp.sequence,
                        0);
        acknowledge(tcp, end, receiver->echo.ce);
    } else {
        tcp->stats.out_of_order_packets++;
        tcp->stats.placed_packets += keep(tcp, receiver, from, to);
        oche_trace_emit(trace, now, OCHE_TRACE_OUT_OF_ORDER, packet->dest_qpn, packet->tcp.sequence,
                        oche_tcp_wire(receiver->next));
        acknowledge(tcp, end, receiver->echo.ce);
    }
    oche_tcp_receiver_rest(tcp, end);
}
