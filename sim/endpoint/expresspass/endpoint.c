/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ExpressPass as a host's endpoint (Cho, Jang, Han: Credit-Scheduled Delay-Bounded Congestion
 * Control for Datacenters, SIGCOMM 2017; expresspass.md#credits), the baseline of Dart sec VI-D. A
 * receiver paces credits, every port limits them (fabric/credit_shaper.h), and a sender sends one
 * frame for each credit that arrives. So the capacity for data is reserved on every link of the
 * path before the data leaves its host, and queues stay short.
 *
 * Differences from the authors' simulator: a STOP is answered (sender.c), a NACK is repeated
 * (receiver.c), and a sender stops its credits only after its last frame has left.
 */
#include "sim/endpoint/expresspass/xpass.h"

#include "sim/network/payload.h"

/* ---- events ---- */

static void start(void *state, uint32_t flow, oche_time now)
{
    oche_xpass_start(state, flow, now);
}

static void reject(struct oche_xpass *xpass, const struct oche_packet *packet, bool late,
                   oche_time now)
{
    xpass->stats.rejected_packets++;
    xpass->late += late;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_REJECTED, packet->dest_qpn,
                    OCHE_REJECT_NO_QP, packet->xpass_offset);
}

/*
 * Counts a packet for a sender that has finished: normally a credit that was on its way when the
 * sender stopped its credits.
 */
static void too_late(struct oche_xpass *xpass, const struct oche_packet *packet, oche_time now)
{
    if (packet->xpass.type != OCHE_XPASS_CREDIT) {
        reject(xpass, packet, true, now);
        return;
    }
    xpass->credits_wasted++;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_CREDIT_ARRIVED, packet->dest_qpn,
                    packet->xpass.credit, 0);
}

static void receive_as_sender(struct oche_xpass *xpass, struct oche_xpass_end *end,
                              const struct oche_packet *packet, oche_time now)
{
    switch ((enum oche_xpass_kind)packet->xpass.type) {
    case OCHE_XPASS_CREDIT:
        oche_xpass_credit(xpass, end, packet, now);
        return;
    case OCHE_XPASS_DONE:
        oche_xpass_done(xpass, end, packet, now);
        return;
    case OCHE_XPASS_NACK:
        oche_xpass_nack(xpass, end, packet, now);
        return;
    case OCHE_XPASS_REQUEST:
    case OCHE_XPASS_DATA:
    case OCHE_XPASS_STOP:
    case OCHE_XPASS_KINDS:
        break;
    }
    reject(xpass, packet, false, now);
}

static void receive_as_receiver(struct oche_xpass *xpass, struct oche_xpass_end *end,
                                const struct oche_packet *packet, oche_time now)
{
    switch ((enum oche_xpass_kind)packet->xpass.type) {
    case OCHE_XPASS_REQUEST:
        oche_xpass_request(xpass, end, now);
        return;
    case OCHE_XPASS_DATA:
        oche_xpass_data(xpass, end, packet, now);
        return;
    case OCHE_XPASS_STOP:
        oche_xpass_stop(xpass, end, packet);
        return;
    case OCHE_XPASS_CREDIT:
    case OCHE_XPASS_DONE:
    case OCHE_XPASS_NACK:
    case OCHE_XPASS_KINDS:
        break;
    }
    reject(xpass, packet, false, now);
}

static bool is_for_receiver(uint8_t kind)
{
    return kind == OCHE_XPASS_REQUEST || kind == OCHE_XPASS_DATA || kind == OCHE_XPASS_STOP;
}

static void receive(void *state, const struct oche_packet *packet, oche_time now)
{
    struct oche_xpass *xpass = state;
    struct oche_xpass_end *end = NULL;

    if (packet->kind != OCHE_PACKET_XPASS) {
        reject(xpass, packet, false, now);
        return;
    }
    bool for_receiver = is_for_receiver(packet->xpass.type);
    xpass->stats.cc_packets_received += packet->xpass.type == OCHE_XPASS_CREDIT;
    if (packet->dest_qpn >= OCHE_FIRST_QPN)
        end = oche_xpass_find(xpass, packet->dest_qpn - OCHE_FIRST_QPN);
    if (end == NULL && for_receiver)
        end = oche_xpass_accept(xpass, packet);
    if (end == NULL && !for_receiver)
        too_late(xpass, packet, now);
    else if (end == NULL || end->peer != packet->src || end->sends == for_receiver)
        reject(xpass, packet, false, now);
    else if (end->sends)
        receive_as_sender(xpass, end, packet, now);
    else
        receive_as_receiver(xpass, end, packet, now);
}

/* ---- the port ---- */

static void fill(const struct oche_xpass *xpass, const struct oche_xpass_item *item,
                 struct oche_packet *packet)
{
    packet->kind = OCHE_PACKET_XPASS;
    packet->src = xpass->host->address;
    packet->dst = item->peer;
    packet->flow_hash = item->flow_hash;
    packet->dest_qpn = OCHE_FIRST_QPN + item->connection;
    packet->xpass.credit = item->credit;
    packet->xpass.sent_ns = item->time;
    packet->xpass_offset = item->place;
    packet->xpass.type = item->kind;
    packet->udp_source_port = 0;
    packet->bth_reserved = packet->hops = 0;
    packet->ext = OCHE_EXT_SCHEME;
    packet->ecn = OCHE_ECN_NOT_ECT;
    packet->traffic_class =
        item->kind == OCHE_XPASS_CREDIT ? xpass->host->shared->control_class : OCHE_DATA_CLASS;
    packet->payload_bytes = item->payload;
    packet->frame_bytes =
        (uint16_t)(oche_xpass_frame_bytes(item->payload, xpass->host->shared->params->ipv6) +
                   item->extra);
}

static void send_credit(struct oche_xpass *xpass, oche_time now, struct oche_packet *packet)
{
    struct oche_xpass_item item = oche_xpass_take(&xpass->credits);

    fill(xpass, &item, packet);
    oche_credit_bucket_take(&xpass->bucket, packet->frame_bytes + OCHE_GAP_BYTES, now);
    xpass->stats.cc_packets_sent++;
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_CREDIT_SENT, packet->dest_qpn,
                    packet->xpass.credit, packet->xpass_offset);
}

static void send_other(struct oche_xpass *xpass, oche_time now, struct oche_packet *packet)
{
    struct oche_xpass_item item = oche_xpass_take(&xpass->others);

    fill(xpass, &item, packet);
    xpass->stats.naks_sent += item.kind == OCHE_XPASS_NACK;
    if (item.kind != OCHE_XPASS_DATA)
        return;
    xpass->stats.data_packets_sent++;
    xpass->stats.data_bytes_sent += item.payload;
    xpass->stats.queueing_time += now - item.since;
    if (item.again) {
        xpass->stats.retransmitted_packets++;
        xpass->stats.retransmitted_bytes += item.payload;
    }
    oche_trace_emit(oche_host_trace(xpass->host), now, OCHE_TRACE_DATA_SENT, packet->dest_qpn,
                    item.place, item.payload | (uint64_t)item.again << 40);
    if (!xpass->payload)
        return;
    packet->ext |= OCHE_EXT_PAYLOAD;
    oche_payload_fill((uint64_t)item.connection << 40 | item.place, packet->payload, item.payload);
}

static bool has_credit(const struct oche_xpass *xpass, uint8_t classes)
{
    return xpass->credits.count > 0 && (classes >> xpass->host->shared->control_class & 1);
}

static bool has_other(const struct oche_xpass *xpass, uint8_t classes)
{
    return xpass->others.count > 0 && (classes >> OCHE_DATA_CLASS & 1);
}

static bool transmit(void *state, oche_time now, uint8_t classes, struct oche_packet *packet)
{
    struct oche_xpass *xpass = state;

    if (has_credit(xpass, classes) && oche_credit_bucket_next(&xpass->bucket) <= now)
        send_credit(xpass, now, packet);
    else if (has_other(xpass, classes))
        send_other(xpass, now, packet);
    else
        return false;
    return true;
}

static oche_time next(void *state, uint8_t classes)
{
    const struct oche_xpass *xpass = state;
    oche_time when = heap_next(&xpass->timers);

    if (has_other(xpass, classes))
        return 0;
    if (has_credit(xpass, classes))
        when = oche_time_min(when, oche_credit_bucket_next(&xpass->bucket));
    return when;
}

static oche_time next_timer(const void *state)
{
    const struct oche_xpass *xpass = state;

    return heap_next(&xpass->timers);
}

static void expire(void *state, oche_time now)
{
    struct oche_xpass *xpass = state;

    while (heap_next(&xpass->timers) <= now) {
        struct oche_xpass_end *end = xpass->ends[xpass->timers.entries[0].slot];
        if (end->sends)
            oche_xpass_sender_timer(xpass, end, now);
        else
            oche_xpass_receiver_timer(xpass, end, now);
    }
}

/* ---- making and reading ---- */

/* Returns the mean size of a credit's frame, from Ethernet header to FCS. */
static uint32_t credit_frame_bytes(const struct oche_xpass_params *params, bool ipv6)
{
    return oche_xpass_frame_bytes(0, ipv6) + (uint32_t)params->size_jitter / 2;
}

static void create(void *state, struct oche_host *host)
{
    struct oche_xpass *xpass = state;
    const struct oche_host_shared *shared = host->shared;
    const struct oche_network *network = host->shard->network;
    uint32_t credit, data;

    OCHE_MUST(shared->mechanism_params != NULL);
    xpass->host = host;
    xpass->params = shared->endpoint_params;
    xpass->shaper = shared->mechanism_params;
    xpass->payload = shared->payload;
    xpass->line_rate_bps = network->extras[host->port - network->ports].rate_bps;
    credit = OCHE_GAP_BYTES + credit_frame_bytes(xpass->params, shared->params->ipv6);
    data = OCHE_GAP_BYTES +
           oche_xpass_frame_bytes((uint32_t)xpass->params->payload_bytes, shared->params->ipv6);
    oche_credit_bucket_init(&xpass->bucket, xpass->line_rate_bps, credit, data,
                            (uint32_t)xpass->shaper->burst);
    xpass->credit_bytes = OCHE_GAP_BYTES + oche_xpass_frame_bytes(0, shared->params->ipv6) +
                          (double)xpass->params->size_jitter / 2;
    xpass->most_credit_rate = (double)xpass->line_rate_bps / 8 * credit / (credit + data);
    oche_xpass_ends_init(xpass, shared->flows->host_connections[host->address] + 1);
}

static void packets(const struct oche_host_params *hosts, const void *values,
                    struct oche_endpoint_packets *out)
{
    const struct oche_xpass_params *params = values;
    uint32_t full = oche_xpass_frame_bytes((uint32_t)params->payload_bytes, hosts->ipv6);

    *out = (struct oche_endpoint_packets){.payload_bytes = (uint32_t)params->payload_bytes,
                                          .frame_bytes = full,
                                          .middle_bytes = full,
                                          .ack_bytes = credit_frame_bytes(params, hosts->ipv6)};
}

static void frames(const struct oche_host_params *hosts, const void *values,
                   const struct oche_recovery_scheme *recovery, enum oche_verb verb, uint64_t bytes,
                   struct oche_frames *out)
{
    const struct oche_xpass_params *params = values;
    uint64_t most = params->payload_bytes, count = (bytes + most - 1) / most;
    uint32_t last = (uint32_t)(bytes - (count - 1) * most);
    uint32_t full = OCHE_GAP_BYTES + oche_xpass_frame_bytes((uint32_t)most, hosts->ipv6);

    (void)verb;
    (void)recovery;
    *out = (struct oche_frames){.count = count, .first_bytes = full, .middle_bytes = full};
    out->last_bytes = OCHE_GAP_BYTES + oche_xpass_frame_bytes(last, hosts->ipv6);
    if (count == 1)
        out->first_bytes = out->last_bytes;
}

static const struct oche_nic_stats *stats(const void *state)
{
    const struct oche_xpass *xpass = state;

    return &xpass->stats;
}

static uint64_t late_packets(const void *state)
{
    const struct oche_xpass *xpass = state;

    return xpass->late;
}

static uint64_t corrupt_bytes(const void *state)
{
    const struct oche_xpass *xpass = state;

    return xpass->corrupt;
}

/*
 * Returns the data rate that the receiver's credits ask for, scaled to the link's rate, in bits per
 * second; 0 while it sends no credits.
 */
static uint64_t rate_bps(void *state, uint32_t connection)
{
    const struct oche_xpass *xpass = state;
    const struct oche_xpass_end *end = oche_xpass_find(xpass, connection);

    if (end == NULL || end->sends || !end->receiver.sending)
        return 0;
    return (uint64_t)(end->receiver.feedback.rate / xpass->most_credit_rate *
                      (double)xpass->line_rate_bps);
}

static uint64_t arrived_bytes(void *state, uint32_t connection)
{
    const struct oche_xpass_end *end = oche_xpass_find(state, connection);

    if (end == NULL || end->sends)
        return 0;
    return end->receiver.next - end->receiver.delivered;
}

static void sent_again(void *state, uint32_t connection, uint64_t *retransmitted,
                       uint64_t *timeouts)
{
    const struct oche_xpass_end *end = oche_xpass_find(state, connection);

    if (end == NULL || !end->sends)
        return;
    *retransmitted += end->sender.retransmitted;
    *timeouts += end->sender.timeouts;
}

/* clang-format off */
#define COUNTS(member) .offset = offsetof(struct oche_xpass, member)

static const struct oche_counter counter_rows[] = {
    {.name = "dropped", COUNTS(credits_dropped), .with_drops = true,
     .label = "  credits dropped, by hosts and switches",
     .help = "credits that found their own host's port full; at switches: credit_shaper.dropped"},
    {.name = "wasted", COUNTS(credits_wasted),
     .label = "  credits with nothing to send for them",
     .help = "credits that reached a sender with nothing to send for them"},
#undef COUNTS
};
/* clang-format on */

static const struct oche_counters counters = {"credits", counter_rows, OCHE_COUNT_OF(counter_rows)};

const struct oche_endpoint oche_endpoint_expresspass = {
    .name = "expresspass",
    .paper = "ExpressPass (SIGCOMM 2017), as its authors' simulator; Dart sec VI-D",
    .recovery = "nack",
    .table = &oche_xpass_table,
    .switch_mechanism = "credit_shaper",
    .symmetric = true,
    .receiver_sets_rate = true,
    .state_bytes = sizeof(struct oche_xpass),
    .check = oche_xpass_check,
    .packets = packets,
    .frames = frames,
    .create = create,
    .start = start,
    .receive = receive,
    .transmit = transmit,
    .next = next,
    .next_timer = next_timer,
    .expire = expire,
    .stats = stats,
    .counters = &counters,
    .late_packets = late_packets,
    .corrupt_bytes = corrupt_bytes,
    .rate_bps = rate_bps,
    .arrived_bytes = arrived_bytes,
    .sent_again = sent_again,
    .encode = oche_xpass_encode,
    .decode = oche_xpass_decode,
};
