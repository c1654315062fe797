/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sending end: what may leave when, what an ACK means, when to retransmit. New Reno: limited
 * transmit (RFC 3042), fast retransmit and fast recovery with partial ACKs in the impatient variant
 * (RFC 6582), timeouts that go back to the first unacknowledged byte (RFC 6298 sec 5). There is no
 * SACK, and there are no timestamps: the round trip of only one segment at a time is measured.
 *
 * The operating system takes os_overhead for each flow before its first byte may leave (Dart sec
 * VI). A connection is open from the start, or begins with a handshake. There is no closing
 * handshake, because no flow waits for one.
 */
#include "sim/endpoint/tcp_dctcp/tcp.h"

#include "sim/network/payload.h"

#define DUPLICATES 3 /* RFC 5681 sec 3.2 */

/* ---- what may leave ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Returns the bytes that may be in flight. Each of the first two duplicate ACKs allows one more
 * segment (RFC 3042).
 */
static uint64_t window_of(const struct oche_tcp_sender *sender)
{
    uint64_t window = sender->congestion.cwnd;

    if (!sender->in_recovery && sender->duplicate_acks < DUPLICATES)
        window += sender->duplicate_acks * sender->congestion.mss;
    return smaller(window, sender->peer_window);
}

/* Returns the size of the next segment in bytes; 0: no segment may leave. */
static uint64_t next_bytes(const struct oche_tcp_sender *sender)
{
    uint64_t mss = sender->congestion.mss, end = sender->available;

    if (sender->state != OCHE_TCP_OPEN)
        return 0;
    if (sender->resend)
        return smaller(mss, sender->high - sender->una);
    if (sender->next < sender->high)
        end = sender->high; /* resend only bytes that were sent before */
    uint64_t bytes = smaller(mss, end - sender->next);
    return sender->next + bytes <= sender->una + window_of(sender) ? bytes : 0;
}

/* Returns the number of bytes that may leave now. */
static uint64_t allowed(const struct oche_tcp_sender *sender)
{
    uint64_t end = smaller(sender->available, sender->una + window_of(sender));

    if (next_bytes(sender) == 0)
        return 0;
    return end > sender->next ? end - sender->next : sender->congestion.mss;
}

static void put_in_turn(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now)
{
    sender->ready = true;
    if (sender->due < now)
        sender->due = now;
    if (tcp->ready == NULL) {
        tcp->ready = sender->next_ready = sender->previous_ready = sender;
        return;
    }
    sender->next_ready = tcp->ready; /* after all others */
    sender->previous_ready = tcp->ready->previous_ready;
    sender->previous_ready->next_ready = sender;
    tcp->ready->previous_ready = sender;
}

static void take_from_turn(struct oche_tcp *tcp, struct oche_tcp_sender *sender)
{
    sender->ready = false;
    if (sender->next_ready == sender) {
        tcp->ready = NULL;
        return;
    }
    sender->previous_ready->next_ready = sender->next_ready;
    sender->next_ready->previous_ready = sender->previous_ready;
    if (tcp->ready == sender)
        tcp->ready = sender->next_ready;
}

/* Returns when the next segment of a flow that is produced at a given rate will be complete. */
static oche_time supply_next(const struct oche_tcp_sender *sender)
{
    const struct oche_flow_plan *plan = sender->supplied;

    if (OCHE_LIKELY(plan == NULL))
        return OCHE_NEVER;
    uint64_t bytes = smaller(sender->available + sender->congestion.mss, plan->bytes);

    return oche_time_add(sender->supplied_from, oche_time_of_bytes(bytes, plan->supply_bps));
}

/*
 * Called after every change: updates the sender's place in the round robin, the host's backlog and
 * the timer.
 */
static void update(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now)
{
    uint64_t bytes = allowed(sender);
    struct oche_tcp_end *end = oche_tcp_end_of(sender);
    const struct oche_connection *connection = &tcp->host->flows->connections[end->number];

    tcp->backlog += bytes - sender->waiting;
    sender->waiting = bytes;
    if (bytes > 0 && !sender->ready)
        put_in_turn(tcp, sender, now);
    else if (bytes == 0 && sender->ready)
        take_from_turn(tcp, sender);
    oche_time timer = sender->deadline;
    if (sender->released < connection->queued && sender->state != OCHE_TCP_FAILED) {
        uint32_t flow = tcp->host->flows->order[connection->first + sender->released];
        timer =
            oche_time_min(timer, tcp->host->flows->sent[flow].started + tcp->params->os_overhead);
    }
    timer = oche_time_min(timer, supply_next(sender));
    /*
     * The flow must fail, but not in this call, which is starting it: lets the timer, due at once,
     * fail it.
     */
    if (sender->state == OCHE_TCP_FAILED && sender->completed < connection->queued) {
        uint32_t flow = tcp->host->flows->order[connection->first + sender->completed];
        timer = tcp->host->flows->sent[flow].started;
    }
    if (heap_time(&tcp->timers, end->slot) != timer)
        oche_tcp_set_timer(tcp, end, timer);
}

static void arm(struct oche_tcp_sender *sender, oche_time now)
{
    sender->deadline = oche_time_add(now, oche_tcp_rto(&sender->rtt));
}

/* ---- flows ---- */

static struct oche_tcp_end *open_sender(struct oche_tcp *tcp, const struct oche_flow_plan *plan)
{
    struct oche_tcp_end *end = oche_tcp_open(tcp, plan->connection, plan->dst, true);
    struct oche_tcp_sender *sender = &end->sender;
    const struct oche_tcp_params *params = tcp->params;

    sender->state = params->handshake ? OCHE_TCP_CLOSED : OCHE_TCP_OPEN;
    sender->deadline = OCHE_NEVER;
    sender->peer_window = params->receive_window;
    oche_tcp_congestion_init(&sender->congestion, params, tcp->dctcp);
    oche_tcp_rtt_init(&sender->rtt, params->rto_initial, params->rto_min, params->rto_max);
    return end;
}

static void connect(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now)
{
    uint8_t flags = OCHE_TCP_SYN;

    sender->state = OCHE_TCP_SYN_SENT;
    sender->timed_at = now;
    arm(sender, now);
    oche_tcp_put_control(tcp, oche_tcp_end_of(sender), 0,
                         tcp->dctcp ? flags | OCHE_TCP_ECE | OCHE_TCP_CWR : flags);
}

/* Makes the bytes produced so far available, in whole segments as an operating system would. */
static void supply(struct oche_tcp_sender *sender, oche_time now)
{
    const struct oche_flow_plan *plan = sender->supplied;

    if (OCHE_LIKELY(plan == NULL))
        return;
    uint64_t made = oche_flow_supplied(plan, now - sender->supplied_from);

    sender->available = made < plan->bytes ? made - made % sender->congestion.mss : made;
    if (made == plan->bytes)
        sender->supplied = NULL;
}

/* Releases the bytes of flows that have spent os_overhead in the operating system. */
static void release(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now)
{
    const struct oche_flows *flows = tcp->host->flows;
    const struct oche_connection *connection = &flows->connections[oche_tcp_end_of(sender)->number];
    bool nothing = sender->una == sender->available;

    while (sender->released < connection->queued) {
        uint32_t flow = flows->order[connection->first + sender->released];
        if (flows->sent[flow].started + tcp->params->os_overhead > now)
            break;
        if (OCHE_UNLIKELY(flows->plan[flow].supply_bps > 0)) {
            OCHE_MUST(connection->count == 1);
            sender->supplied = &flows->plan[flow];
            sender->supplied_from = now;
            sender->first_end = flows->plan[flow].bytes;
            sender->released++;
            continue;
        }
        sender->available += flows->plan[flow].bytes;
        if (sender->released++ == sender->completed)
            sender->first_end = sender->available;
    }
    supply(sender, now);
    if (!nothing || sender->una == sender->available)
        return;
    if (sender->state == OCHE_TCP_CLOSED)
        connect(tcp, sender, now);
    else if (sender->last_sent > 0 && now - sender->last_sent > oche_tcp_rto(&sender->rtt))
        oche_tcp_congestion_idle(&sender->congestion);
}

void oche_tcp_start(struct oche_tcp *tcp, uint32_t flow, oche_time now)
{
    const struct oche_flow_plan *plan = &tcp->host->flows->plan[flow];
    struct oche_tcp_end *end = oche_tcp_find(tcp, plan->connection);

    if (end == NULL)
        end = open_sender(tcp, plan);
    oche_host_flow_started(tcp->host, flow, now);
    if (end->sender.state != OCHE_TCP_FAILED)
        release(tcp, &end->sender, now);
    update(tcp, &end->sender, now);
}

static void complete(struct oche_tcp *tcp, struct oche_tcp_end *end, enum oche_status status,
                     oche_time now)
{
    const struct oche_flows *flows = tcp->host->flows;
    const struct oche_connection *connection = &flows->connections[end->number];
    struct oche_tcp_sender *sender = &end->sender;
    uint32_t flow = flows->order[connection->first + sender->completed++];

    if (sender->completed < sender->released)
        sender->first_end += flows->plan[flows->order[connection->first + sender->completed]].bytes;
    oche_host_flow_completed(tcp->host, flow, status, sender->retransmitted, sender->timeouts, now);
    oche_host_start(tcp->host, flows->plan[flow].then_same_source, now);
}

/* Closes the end if the connection has no more flows; otherwise updates it. */
static void rest(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;

    if (sender->completed < tcp->host->flows->connections[end->number].count) {
        update(tcp, sender, now);
        return;
    }
    tcp->backlog -= sender->waiting;
    if (sender->ready)
        take_from_turn(tcp, sender);
    oche_tcp_close(tcp, end);
}

/* Fails all flows of the connection, including flows that start while this function runs. */
static void fail(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;
    const struct oche_connection *connection = &tcp->host->flows->connections[end->number];

    sender->state = OCHE_TCP_FAILED;
    sender->deadline = OCHE_NEVER;
    sender->supplied = NULL;
    while (sender->completed < connection->queued)
        complete(tcp, end, OCHE_STATUS_RETRY_EXCEEDED, now);
}

/* ---- segments ---- */

static void fill_headers(const struct oche_tcp *tcp, const struct oche_tcp_end *end,
                         struct oche_packet *packet)
{
    packet->kind = OCHE_PACKET_TCP;
    packet->src = tcp->host->address;
    packet->dst = end->peer;
    packet->flow_hash = end->flow_hash;
    packet->dest_qpn = OCHE_FIRST_QPN + end->number;
    packet->udp_source_port = 0;
    packet->tcp.acknowledgement = OCHE_TCP_FIRST;
    /* A host that receives no data here advertises the largest window. */
    packet->tcp.window = UINT16_MAX;
    packet->tcp.flags = OCHE_TCP_ACK;
    packet->bth_reserved = packet->hops = 0;
    packet->traffic_class = OCHE_DATA_CLASS;
}

/* Marks a segment if the host's backlog is long (host.ecn_threshold). */
static void mark(struct oche_tcp *tcp, struct oche_packet *packet, oche_time now)
{
    if (tcp->backlog <= tcp->ecn_threshold)
        return;
    packet->ecn = OCHE_ECN_CE;
    tcp->stats.ce_marked++;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_MARKED, packet->dest_qpn,
                    packet->tcp.sequence, tcp->backlog);
}

static void count_sent(struct oche_tcp *tcp, struct oche_tcp_sender *sender, bool again,
                       const struct oche_packet *packet, oche_time now)
{
    tcp->stats.data_packets_sent++;
    tcp->stats.data_bytes_sent += packet->payload_bytes;
    tcp->stats.queueing_time += now > sender->due ? now - sender->due : 0;
    sender->due = now + oche_time_of_bytes(packet->frame_bytes + OCHE_GAP_BYTES, tcp->line_bps);
    if (again) {
        tcp->stats.retransmitted_packets++;
        tcp->stats.retransmitted_bytes += packet->payload_bytes;
        sender->retransmitted++;
    }
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_DATA_SENT, packet->dest_qpn,
                    packet->tcp.sequence, packet->payload_bytes | (uint64_t)again << 40);
}

void oche_tcp_segment(struct oche_tcp *tcp, struct oche_tcp_sender *sender, oche_time now,
                      struct oche_packet *packet)
{
    const struct oche_tcp_end *end = oche_tcp_end_of(sender);
    uint32_t bytes = (uint32_t)next_bytes(sender);
    uint64_t from = sender->resend ? sender->una : sender->next;
    bool again = from < sender->high;

    fill_headers(tcp, end, packet);
    packet->tcp.sequence = oche_tcp_wire(from);
    packet->payload_bytes = (uint16_t)bytes;
    packet->frame_bytes =
        (uint16_t)oche_tcp_frame_bytes(bytes, false, tcp->host->shared->params->ipv6);
    packet->ecn = tcp->dctcp ? OCHE_ECN_ECT0 : OCHE_ECN_NOT_ECT;
    packet->ext = 0;
    if (from + bytes == sender->available)
        packet->tcp.flags |= OCHE_TCP_PSH;
    if (tcp->payload) {
        packet->ext = OCHE_EXT_PAYLOAD;
        oche_payload_fill((uint64_t)end->number << 40 | from, packet->payload, bytes);
    }
    if (tcp->dctcp)
        mark(tcp, packet, now);
    if (sender->resend)
        sender->resend = false;
    else
        sender->next = from + bytes;
    if (!again) {
        sender->high = sender->next;
        if (sender->say_cwr)
            packet->tcp.flags |= OCHE_TCP_CWR;
        sender->say_cwr = false;
        if (sender->timed_end == 0) {
            sender->timed_end = sender->high;
            sender->timed_at = now;
        }
    } else if (sender->timed_end > from) {
        sender->timed_end = 0; /* Karn: a retransmitted segment is not timed */
    }
    if (sender->deadline == OCHE_NEVER)
        arm(sender, now);
    sender->last_sent = now;
    count_sent(tcp, sender, again, packet, now);
    tcp->ready = sender->next_ready; /* the next sender's turn */
    update(tcp, sender, now);
}

/* ---- ACKs ---- */

static void trace_window(const struct oche_tcp *tcp, const struct oche_tcp_end *end, oche_time now)
{
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_WINDOW_CHANGED,
                    OCHE_FIRST_QPN + end->number, end->sender.congestion.alpha,
                    end->sender.congestion.cwnd);
}

static void duplicate_ack(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;

    if (sender->in_recovery) {
        oche_tcp_congestion_inflate(&sender->congestion);
        return;
    }
    /*
     * Duplicate ACKs for data that was sent before the last recovery or timeout start no new
     * recovery.
     */
    if (sender->recover > 0 && sender->una <= sender->recover)
        return;
    if (++sender->duplicate_acks < DUPLICATES)
        return;
    oche_tcp_congestion_enter(&sender->congestion, sender->high - sender->una);
    sender->in_recovery = true;
    sender->partial_seen = false;
    sender->recover = sender->high;
    sender->resend = true;
    trace_window(tcp, end, now);
}

/*
 * Handles an ACK for new data in fast recovery. Returns true if the retransmission timer must be
 * restarted.
 */
static bool recover(struct oche_tcp_sender *sender, uint64_t bytes)
{
    if (sender->una >= sender->recover) {
        sender->in_recovery = false;
        oche_tcp_congestion_leave(&sender->congestion, sender->high - sender->una);
        return true;
    }
    bool first = !sender->partial_seen;

    sender->partial_seen = true;
    sender->resend = true;
    oche_tcp_congestion_partial(&sender->congestion, bytes);
    return first;
}

static void new_ack(struct oche_tcp *tcp, struct oche_tcp_end *end, uint64_t ack, bool ece,
                    oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;
    struct oche_tcp_acked acked = {.bytes = ack - sender->una,
                                   .una = ack,
                                   .next = sender->high,
                                   .flight_before = sender->high - sender->una,
                                   .ece = ece,
                                   .in_recovery = sender->in_recovery};
    bool restart = true;

    if (sender->timed_end != 0 && ack >= sender->timed_end) {
        oche_tcp_rtt_sample(&sender->rtt, now - sender->timed_at);
        sender->timed_end = 0;
    }
    sender->retries = 0; /* the timeout stays doubled until a round trip is measured */
    sender->una = ack;
    sender->duplicate_acks = 0;
    sender->resend = false;
    if (sender->next < ack)
        sender->next = ack;
    if (oche_tcp_congestion_acked(&sender->congestion, &acked)) {
        sender->say_cwr = true;
        trace_window(tcp, end, now);
    }
    if (sender->in_recovery)
        restart = recover(sender, acked.bytes);
    if (sender->una == sender->high)
        sender->deadline = OCHE_NEVER;
    else if (restart)
        arm(sender, now);
    while (sender->completed < sender->released && sender->una >= sender->first_end)
        complete(tcp, end, OCHE_STATUS_SUCCESS, now);
}

static void opened(struct oche_tcp_sender *sender, oche_time now)
{
    sender->state = OCHE_TCP_OPEN;
    sender->deadline = OCHE_NEVER;
    if (sender->retries == 0)
        oche_tcp_rtt_sample(&sender->rtt, now - sender->timed_at);
    else
        oche_tcp_rtt_after_handshake(&sender->rtt);
    sender->retries = 0;
}

static void acceptable_ack(struct oche_tcp *tcp, struct oche_tcp_end *end,
                           const struct oche_packet *packet, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;
    uint64_t ack = oche_tcp_byte(packet->tcp.acknowledgement, sender->una);

    if (ack < sender->una)
        return; /* overtaken by a later ACK */
    sender->peer_window = (uint64_t)packet->tcp.window
                          << oche_tcp_window_shift(tcp->params->receive_window);
    if (ack > sender->una)
        new_ack(tcp, end, ack, (packet->tcp.flags & OCHE_TCP_ECE) != 0, now);
    else if (sender->high > sender->una)
        duplicate_ack(tcp, end, now);
}

static void reject(struct oche_tcp *tcp, const struct oche_tcp_sender *sender)
{
    tcp->stats.rejected_packets++;
    tcp->late += sender->state == OCHE_TCP_FAILED;
}

void oche_tcp_ack(struct oche_tcp *tcp, struct oche_tcp_end *end, const struct oche_packet *packet,
                  oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;
    uint64_t ack = oche_tcp_byte(packet->tcp.acknowledgement, sender->una);

    tcp->stats.acks_received += (packet->tcp.flags & OCHE_TCP_SYN) == 0;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_ACK_ARRIVED, packet->dest_qpn,
                    packet->tcp.acknowledgement, packet->tcp.flags);
    if (sender->state == OCHE_TCP_SYN_SENT && (packet->tcp.flags & OCHE_TCP_SYN))
        opened(sender, now);
    else if (sender->state != OCHE_TCP_OPEN || ack > sender->high)
        reject(tcp, sender); /* an ACK for bytes that were never sent, or on a failed connection */
    else if (!(packet->tcp.flags & OCHE_TCP_SYN))
        acceptable_ack(tcp, end, packet, now);
    rest(tcp, end, now);
}

/* ---- timers ---- */

static void time_out(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;

    sender->deadline = OCHE_NEVER;
    tcp->stats.timeouts++;
    sender->timeouts++;
    oche_trace_emit(oche_host_trace(tcp->host), now, OCHE_TRACE_TIMEOUT,
                    OCHE_FIRST_QPN + end->number, oche_tcp_wire(sender->una),
                    tcp->params->retries - sender->retries);
    if (sender->retries++ >= tcp->params->retries) {
        fail(tcp, end, now);
        return;
    }
    sender->rtt.backoff++;
    if (sender->state == OCHE_TCP_SYN_SENT) {
        connect(tcp, sender, now);
        return;
    }
    oche_tcp_congestion_timeout(&sender->congestion, sender->high - sender->una,
                                sender->retries > 1);
    trace_window(tcp, end, now);
    sender->next = sender->una;
    sender->recover = sender->high;
    sender->in_recovery = sender->resend = false;
    sender->duplicate_acks = 0;
    sender->timed_end = 0;
}

void oche_tcp_sender_timer(struct oche_tcp *tcp, struct oche_tcp_end *end, oche_time now)
{
    struct oche_tcp_sender *sender = &end->sender;

    if (sender->state == OCHE_TCP_FAILED) {
        fail(tcp, end, now);
    } else {
        release(tcp, sender, now);
        if (sender->deadline <= now)
            time_out(tcp, end, now);
    }
    rest(tcp, end, now);
}
