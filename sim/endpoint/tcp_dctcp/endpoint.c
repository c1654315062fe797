/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP as a host's endpoint, in two schemes: `tcp` is New Reno, which reacts to losses only; `dctcp`
 * is New Reno with DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257): data is ECT(0), switches mark
 * above K, receivers echo the marks exactly, senders cut by half of alpha. It is the baseline of
 * DCQCN sec 6 (dcqcn.md#evaluation) and Dart sec VI-A.
 *
 * How it differs from a stack: there is no SACK, no pacing, no queue in the host below TCP, and
 * retransmitted segments are ECT like all data of DCTCP.
 */
#include "sim/endpoint/tcp_dctcp/tcp.h"

#include <string.h>

#include "fabric/switch.h"

/* ---- events ---- */

static void start(void *state, uint32_t flow, oche_time now)
{
    oche_tcp_start(state, flow, now);
}

static void reject(struct oche_tcp *tcp, const struct oche_packet *packet, bool late, oche_time now)
{
    tcp->stats.rejected_packets++;
    tcp->late += late;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_REJECTED, packet->dest_qpn,
                    OCHE_REJECT_NO_QP, packet->tcp.sequence);
}

static void receive(void *state, const struct oche_packet *packet, oche_time now)
{
    struct oche_tcp *tcp = state;
    struct oche_tcp_end *end = NULL;
    bool data = packet->payload_bytes > 0;

    if (packet->kind != OCHE_PACKET_TCP) {
        reject(tcp, packet, false, now);
        return;
    }
    bool syn = (packet->tcp.flags & (OCHE_TCP_SYN | OCHE_TCP_ACK)) == OCHE_TCP_SYN;
    if (packet->dest_qpn >= OCHE_FIRST_QPN)
        end = oche_tcp_find(tcp, packet->dest_qpn - OCHE_FIRST_QPN);
    if (end == NULL && (data || syn))
        end = oche_tcp_accept(tcp, packet);
    if (end == NULL || end->peer != packet->src || end->sends == (data || syn))
        reject(tcp, packet, end == NULL && !data, now);
    else if (syn)
        oche_tcp_syn(tcp, end);
    else if (data)
        oche_tcp_data(tcp, end, packet, now);
    else
        oche_tcp_ack(tcp, end, packet, now);
}

static uint8_t control_class(const struct oche_tcp *tcp)
{
    return tcp->params->ack_priority ? tcp->host->shared->control_class : OCHE_DATA_CLASS;
}

/* Writes a SYN's options: MSS, window scale and a NOP (RFC 9293 sec 3.1, RFC 7323 sec 2.2). */
static void put_options(const struct oche_tcp *tcp, struct oche_packet *packet)
{
    uint16_t mss = (uint16_t)tcp->params->mss_bytes;
    uint8_t shift = (uint8_t)oche_tcp_window_shift(tcp->params->receive_window);
    const uint8_t options[OCHE_TCP_OPTION_BYTES] = {
        2, 4, (uint8_t)(mss >> 8), (uint8_t)mss, 3, 3, shift, 1};

    memcpy(packet->tcp_options, options, sizeof(options));
    packet->ext = OCHE_EXT_SCHEME;
}

static void send_control(struct oche_tcp *tcp, oche_time now, struct oche_packet *packet)
{
    const struct oche_tcp_control *control = &tcp->control[tcp->control_head];
    bool syn = (control->flags & OCHE_TCP_SYN) != 0;
    uint64_t window = tcp->params->receive_window;

    tcp->control_head = (tcp->control_head + 1) & (tcp->control_capacity - 1);
    tcp->control_count--;
    packet->kind = OCHE_PACKET_TCP;
    packet->src = tcp->host->address;
    packet->dst = control->peer;
    packet->flow_hash = control->flow_hash;
    packet->dest_qpn = OCHE_FIRST_QPN + control->connection;
    packet->udp_source_port = 0;
    packet->tcp.sequence = syn ? OCHE_TCP_FIRST - 1 : OCHE_TCP_FIRST;
    packet->tcp.acknowledgement = control->flags & OCHE_TCP_ACK ? oche_tcp_wire(control->ack) : 0;
    packet->tcp.window = (uint16_t)(syn && window > UINT16_MAX
                                        ? UINT16_MAX
                                        : window >> (syn ? 0 : oche_tcp_window_shift(window)));
    packet->tcp.flags = control->flags;
    packet->bth_reserved = packet->hops = packet->ext = 0;
    packet->payload_bytes = 0;
    packet->frame_bytes = (uint16_t)oche_tcp_frame_bytes(0, syn, tcp->host->shared->params->ipv6);
    packet->traffic_class = control_class(tcp);
    packet->ecn = OCHE_ECN_NOT_ECT;
    if (syn) {
        put_options(tcp, packet);
        return;
    }
    tcp->stats.acks_sent++;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_ACK_SENT, packet->dest_qpn,
                    packet->tcp.acknowledgement, packet->tcp.flags);
}

static bool transmit(void *state, oche_time now, uint8_t classes, struct oche_packet *packet)
{
    struct oche_tcp *tcp = state;

    if (tcp->control_count > 0 && (classes >> control_class(tcp) & 1)) {
        send_control(tcp, now, packet);
        return true;
    }
    if (tcp->ready == NULL || !(classes >> OCHE_DATA_CLASS & 1))
        return false;
    oche_tcp_segment(tcp, tcp->ready, now, packet);
    return true;
}

static oche_time next(void *state, uint8_t classes)
{
    const struct oche_tcp *tcp = state;

    if (tcp->control_count > 0 && (classes >> control_class(tcp) & 1))
        return 0;
    if (tcp->ready != NULL && (classes >> OCHE_DATA_CLASS & 1))
        return 0;
    return heap_next(&tcp->timers);
}

static oche_time next_timer(const void *state)
{
    const struct oche_tcp *tcp = state;

    return heap_next(&tcp->timers);
}

static void expire(void *state, oche_time now)
{
    struct oche_tcp *tcp = state;

    while (heap_next(&tcp->timers) <= now) {
        struct oche_tcp_end *end = tcp->ends[tcp->timers.entries[0].slot];
        if (end->sends)
            oche_tcp_sender_timer(tcp, end, now);
        else
            oche_tcp_receiver_timer(tcp, end);
    }
}

static bool is_feedback(const struct oche_packet *packet)
{
    return packet->payload_bytes == 0 && !(packet->tcp.flags & OCHE_TCP_SYN);
}

/* ---- making and reading ---- */

static void create(struct oche_tcp *tcp, struct oche_host *host, bool dctcp)
{
    const struct oche_host_shared *shared = host->shared;
    const struct oche_network *network = host->shard->network;

    tcp->host = host;
    tcp->line_bps = network->extras[host->port - network->ports].rate_bps;
    tcp->params = shared->endpoint_params;
    tcp->dctcp = dctcp;
    tcp->payload = shared->payload;
    tcp->ecn_threshold = shared->params->ecn_threshold_bytes;
    oche_tcp_ends_init(tcp, shared->flows->host_connections[host->address] + 1);
}

static void create_tcp(void *state, struct oche_host *host)
{
    create(state, host, false);
}

static void create_dctcp(void *state, struct oche_host *host)
{
    create(state, host, true);
}

static void packets(const struct oche_host_params *hosts, const void *values,
                    struct oche_endpoint_packets *out)
{
    const struct oche_tcp_params *params = values;
    uint32_t mss = (uint32_t)params->mss_bytes;

    *out = (struct oche_endpoint_packets){
        .payload_bytes = mss,
        .frame_bytes = oche_tcp_frame_bytes(mss, false, hosts->ipv6),
        .middle_bytes = oche_tcp_frame_bytes(mss, false, hosts->ipv6),
        .ack_bytes = oche_tcp_frame_bytes(0, false, hosts->ipv6),
        .lossless_classes = params->lossless ? (1 << OCHE_CLASS_COUNT) - 1 : 0};
}

static void frames(const struct oche_host_params *hosts, const void *values,
                   const struct oche_recovery_scheme *recovery, enum oche_verb verb, uint64_t bytes,
                   struct oche_frames *out)
{
    const struct oche_tcp_params *params = values;
    uint64_t mss = params->mss_bytes, count = (bytes + mss - 1) / mss;
    uint32_t last = (uint32_t)(bytes - (count - 1) * mss);
    uint32_t full = OCHE_GAP_BYTES + oche_tcp_frame_bytes((uint32_t)mss, false, hosts->ipv6);

    (void)verb;
    (void)recovery;
    *out = (struct oche_frames){.count = count, .first_bytes = full, .middle_bytes = full};
    out->last_bytes = OCHE_GAP_BYTES + oche_tcp_frame_bytes(last, false, hosts->ipv6);
    if (count == 1)
        out->first_bytes = out->last_bytes;
}

static void switches_of_tcp(const void *values, struct oche_switch_params *switches)
{
    const struct oche_tcp_params *params = values;

    if (params->port_buffer != 0)
        switches->port_buffer_bytes = params->port_buffer;
}

/* Makes switches mark every packet above queue length K, as DCTCP requires. */
static void switches_of_dctcp(const void *values, struct oche_switch_params *switches)
{
    const struct oche_tcp_params *params = values;

    switches_of_tcp(values, switches);
    if (params->k_bytes == 0)
        return;
    switches->kmin_bytes = switches->kmax_bytes = params->k_bytes;
    switches->pmax = 1;
}

static const char *remark_of_dctcp(const void *values, const struct oche_switch_params *switches)
{
    (void)values;
    if (switches->kmin_bytes == switches->kmax_bytes && switches->kmin_bytes != OCHE_NEVER)
        return NULL;
    return "switches mark by a slope from kmin to kmax; it is made for a step: set "
           "congestion_control.k, such as 97KB at 10 Gbit/s";
}

static const struct oche_nic_stats *stats(const void *state)
{
    const struct oche_tcp *tcp = state;

    return &tcp->stats;
}

static uint64_t late_packets(const void *state)
{
    const struct oche_tcp *tcp = state;

    return tcp->late;
}

static uint64_t corrupt_bytes(const void *state)
{
    const struct oche_tcp *tcp = state;

    return tcp->corrupt;
}

/* Returns one window per round trip, in bits per second; 0: no round trip is known yet. */
static uint64_t rate_bps(void *state, uint32_t connection)
{
    const struct oche_tcp_end *end = oche_tcp_find(state, connection);

    if (end == NULL || !end->sends)
        return 0;
    return oche_rate_of(end->sender.congestion.cwnd, end->sender.rtt.smoothed);
}

static uint64_t arrived_bytes(void *state, uint32_t connection)
{
    const struct oche_tcp_end *end = oche_tcp_find(state, connection);

    if (end == NULL || end->sends)
        return 0;
    return end->receiver.next - end->receiver.delivered;
}

static void sent_again(void *state, uint32_t connection, uint64_t *retransmitted,
                       uint64_t *timeouts)
{
    const struct oche_tcp_end *end = oche_tcp_find(state, connection);

    if (end == NULL || !end->sends)
        return;
    *retransmitted += end->sender.retransmitted;
    *timeouts += end->sender.timeouts;
}

#define TCP_ENDPOINT                                                                               \
    .recovery = "new_reno", .state_bytes = sizeof(struct oche_tcp), .check = oche_tcp_check,       \
    .fit = oche_tcp_fit, .unfit = oche_tcp_unfit, .packets = packets, .frames = frames,            \
    .start = start, .receive = receive, .transmit = transmit, .next = next,                        \
    .next_timer = next_timer, .expire = expire, .is_feedback = is_feedback, .stats = stats,        \
    .late_packets = late_packets, .corrupt_bytes = corrupt_bytes, .rate_bps = rate_bps,            \
    .arrived_bytes = arrived_bytes, .sent_again = sent_again, .encode = oche_tcp_encode,           \
    .decode = oche_tcp_decode

const struct oche_endpoint oche_endpoint_tcp = {
    .name = "tcp",
    .paper = "TCP New Reno over an operating system: RFC 5681, 6298, 6582",
    .table = &oche_tcp_table,
    .switches = switches_of_tcp,
    .create = create_tcp,
    TCP_ENDPOINT,
};

const struct oche_endpoint oche_endpoint_dctcp = {
    .name = "dctcp",
    .paper = "DCTCP (SIGCOMM 2010, RFC 8257) over TCP New Reno; Dart sec VI",
    .table = &oche_dctcp_table,
    .needs = OCHE_CC_NEEDS_ECN,
    .switches = switches_of_dctcp,
    .remark = remark_of_dctcp,
    .create = create_dctcp,
    TCP_ENDPOINT,
};
