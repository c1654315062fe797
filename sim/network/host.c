/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host. Three events reach it: a packet arrived, its port is free, its timer is due. Each ends
 * by sending what may be sent now and by asking for the next wake-up.
 */
#include "sim/network/host.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/opcode.h"
#include "sim/network/feedback.h"
#include "sim/network/payload.h"

#define CQ_ENTRIES   64
#define POLL_AT_ONCE 32
#define MESSAGE_KEY  1
#define LINGER       OCHE_MS /* a receiver's queue pair answers duplicates for so long */

/* A queue pair's memory, when nobody uses it, and its place in the linger queue. */
struct parked {
    struct parked *next;
    oche_time until;
    struct oche_qp *qp;
};

struct oche_host {
    struct oche_nic *nic;
    struct oche_port *port;
    struct oche_shard *shard;
    const struct oche_host_shared *shared;
    struct oche_flows *flows;
    struct oche_pause pause;
    uint8_t classes; /* not paused now */
    bool has_failed; /* some queue pair here: what is posted to it completes at once */
    bool holds_feedback;
    uint32_t address;
    uint32_t next_start, end_starts; /* positions in flows->by_start */
    struct oche_cq *cq;
    struct parked *unused;                    /* queue pair memory to use again */
    struct parked *linger_head, *linger_tail; /* receivers that are done, oldest first */
    size_t qp_bytes;
    uint64_t corrupt_bytes;
    struct oche_feedback feedback;
};

#define FIELD(member) offsetof(struct oche_host_params, member)

static const char *const connection_choices[] = {"per_flow", "per_pair", "per_chain", NULL};

static const struct oche_param host_params[] = {
    {.name = "mtu",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(mtu_bytes),
     .preset.u = 1024,
     .minimum.u = 256,
     .maximum.u = 9000,
     .where = "REFERENCE I.7",
     .help = "payload of a full packet; verbs allow 256, 512, 1024, 2048 and 4096"},
    {.name = "ack_every",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(ack_every_packets),
     .preset.u = 1,
     .minimum.u = 1,
     .maximum.u = 1 << 20,
     .where = "REFERENCE E.1",
     .help = "every n-th packet of a message asks for an ACK; the last one always does"},
    {.name = "window",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(window_packets),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = 1 << 23,
     .where = "REFERENCE L9",
     .help = "packets in flight at most on one queue pair; 0: half the PSN space"},
    {.name = "ack_timeout",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(ack_timeout),
     .preset.u = 10 * OCHE_MS,
     .minimum.u = OCHE_US,
     .maximum.u = OCHE_NEVER,
     .where = "REFERENCE E.1",
     .help = "without progress for so long, go back; never: wait for ever"},
    {.name = "retry_count",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(retry_count),
     .preset.u = 1000000,
     .minimum.u = 0,
     .maximum.u = UINT32_MAX,
     .where = "REFERENCE I.7",
     .help = "timeouts without progress before the queue pair fails; verbs allow 0 to 7"},
    {.name = "ecn_threshold",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(ecn_threshold_bytes),
     .preset.u = OCHE_NEVER,
     .minimum.u = 0,
     .maximum.u = OCHE_NEVER,
     .where = "REFERENCE D25",
     .help = "backlog of the host's own NIC above which it marks CE; never: it does not"},
    {.name = "pfc_response",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(pfc_response),
     .preset.u = 500 * OCHE_NS,
     .minimum.u = 0,
     .maximum.u = OCHE_MS,
     .where = "REFERENCE A12",
     .help = "from the arrival of a PAUSE frame until the host obeys"},
    {.name = "feedback_jitter",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(feedback_jitter),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = OCHE_SEC,
     .where = "REFERENCE B.3",
     .help = "each ACK, NAK and CNP reaches its sender late by a random time, up to this"},
    {.name = "connections",
     .unit = OCHE_UNIT_CHOICE,
     .offset = FIELD(connections),
     .preset.u = OCHE_CONNECTION_PER_FLOW,
     .choices = connection_choices,
     .where = "DESIGN, An application",
     .help = "a fresh queue pair for each flow; one for each pair of hosts; or one for messages "
             "that follow one another from host to host, as those of a closed loop"},
    {.name = "ipv6",
     .unit = OCHE_UNIT_BOOL,
     .offset = FIELD(ipv6),
     .preset.u = 0,
     .where = "REFERENCE I.1",
     .help = "RoCEv2 over IPv6: 20 bytes more a packet"},
};

const struct oche_param_table oche_host_params = {
    .params = host_params,
    .count = sizeof(host_params) / sizeof(host_params[0]),
    .struct_bytes = sizeof(struct oche_host_params),
};

/* ---- queue pairs and their memory ---- */

static struct oche_qp_config qp_config(const struct oche_host *host, uint32_t connection)
{
    return (struct oche_qp_config){
        .qpn = OCHE_FIRST_QPN + connection,
        .transport = OCHE_TRANSPORT_RC,
        .traffic_class = OCHE_DATA_CLASS,
        .pkey = 0xffff,
        .pd = 1,
        .mtu_bytes = (uint32_t)host->shared->params->mtu_bytes,
        .send_depth = host->shared->params->connections == OCHE_CONNECTION_PER_FLOW ? 1 : 16,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
        .send_cq = host->cq,
    };
}

static void add_slab(struct oche_host *host)
{
    size_t count = host->qp_bytes > 65536 ? 1 : 4;
    char *slab = oche_arena_take(&host->shard->arena, count * host->qp_bytes);

    for (size_t i = 0; i < count; i++) {
        struct parked *parked = (void *)(slab + i * host->qp_bytes);
        parked->next = host->unused;
        host->unused = parked;
    }
}

static void *take_qp_memory(struct oche_host *host, oche_time now)
{
    struct parked *parked = host->linger_head;

    /* The linger record lies behind the queue pair, so the memory is one piece. */
    if (parked != NULL && parked->until <= now && oche_qp_idle(parked->qp)) {
        host->linger_head = parked->next;
        if (host->linger_head == NULL)
            host->linger_tail = NULL;
        void *memory = parked->qp;
        oche_qp_destroy(parked->qp);
        return memory;
    }
    if (host->unused == NULL)
        add_slab(host);
    parked = host->unused;
    host->unused = parked->next;
    return parked;
}

static struct parked *linger_record(const struct oche_host *host, struct oche_qp *qp)
{
    return (struct parked *)(void *)((char *)qp + host->qp_bytes - sizeof(struct parked));
}

/* The receiver's queue pair stays a while, for duplicates whose ACK was lost. */
static void linger(struct oche_host *host, struct oche_qp *qp, oche_time now)
{
    struct parked *parked = linger_record(host, qp);

    *parked = (struct parked){.until = now + LINGER, .qp = qp};
    if (host->linger_tail != NULL)
        host->linger_tail->next = parked;
    else
        host->linger_head = parked;
    host->linger_tail = parked;
}

static void release_sender(struct oche_host *host, struct oche_qp *qp)
{
    oche_qp_destroy(qp);
    struct parked *parked = (void *)qp;
    parked->next = host->unused;
    host->unused = parked;
}

uint32_t oche_host_flow_hash(uint64_t seed, uint32_t connection)
{
    struct oche_random random = oche_random_stream(seed, "flow hash", connection);

    return (uint32_t)oche_random_u64(&random);
}

static struct oche_qp *open_qp(struct oche_host *host, uint32_t connection, uint32_t peer,
                               uint32_t recv_psn, uint64_t initial_rate_bps, oche_time now)
{
    const struct oche_host_params *params = host->shared->params;
    struct oche_qp_config config = qp_config(host, connection);
    uint32_t hash = oche_host_flow_hash(host->shared->seed, connection);
    struct oche_qp_connection to = {
        .remote_address = peer,
        .remote_qpn = OCHE_FIRST_QPN + connection,
        .send_psn = 0,
        .recv_psn = recv_psn,
        .udp_source_port = (uint16_t)(0xc000 | (hash & 0x3fff)),
        .flow_hash = hash,
        .ack_every_packets = (uint32_t)params->ack_every_packets,
        .window_packets = (uint32_t)params->window_packets,
        .ack_timeout = params->ack_timeout,
        .retry_count = (uint32_t)params->retry_count,
        .rnr_retry = UINT32_MAX,
        .min_rnr_timer = 1,
        .extensions = true,
        .initial_rate_bps = initial_rate_bps,
    };
    struct oche_qp *qp = oche_qp_create(host->nic, take_qp_memory(host, now), &config);

    OCHE_MUST(qp != NULL);
    bool ready = oche_qp_init(qp, now) && oche_qp_ready_to_receive(qp, &to, now) &&
                 oche_qp_ready_to_send(qp, now);
    OCHE_MUST(ready);
    return qp;
}

/* ---- flows ---- */

static uint32_t packets_of(const struct oche_host *host, uint64_t bytes)
{
    uint64_t mtu = host->shared->params->mtu_bytes;

    return (uint32_t)((bytes + mtu - 1) / mtu);
}

/* Gives the queue pair as many of the connection's waiting flows as it takes. */
static void post(struct oche_host *host, struct oche_connection *connection, struct oche_qp *qp)
{
    while (connection->posted < connection->queued) {
        uint32_t number = host->flows->order[connection->first + connection->posted];
        uint64_t va = (uint64_t)number << 32;
        struct oche_send_work work = {
            .wr_id = number,
            .opcode = OCHE_WORK_WRITE,
            .flags = OCHE_WORK_SIGNALED,
            .sge_count = 1,
            .remote_va = va,
            .rkey = MESSAGE_KEY,
            .sge[0] = {.va = va,
                       .length = (uint32_t)host->flows->plan[number].bytes,
                       .lkey = MESSAGE_KEY},
        };
        if (oche_qp_post_send(qp, &work) != 0)
            return; /* full, until a flow completes */
        connection->posted++;
    }
}

static void start_flow(struct oche_host *host, uint32_t number, oche_time now)
{
    const struct oche_flow_plan *plan = &host->flows->plan[number];
    struct oche_connection *connection = &host->flows->connections[plan->connection];
    uint32_t qpn = OCHE_FIRST_QPN + plan->connection;
    struct oche_qp *qp = connection->queued == 0 ? NULL : oche_nic_find_qp(host->nic, qpn);

    if (qp == NULL)
        qp = open_qp(host, plan->connection, plan->dst, 0, plan->initial_rate_bps, now);
    host->flows->order[connection->first + connection->queued++] = number;
    host->flows->sent[number].started = now;
    oche_trace_emit(&host->shard->network->nodes[host->address].trace, now, OCHE_TRACE_FLOW_STARTED,
                    qpn, number, plan->bytes);
    post(host, connection, qp);
}

static void end_flow_here(struct oche_host *host, const struct oche_completion *done, oche_time now)
{
    uint32_t number = (uint32_t)done->wr_id;
    const struct oche_flow_plan *plan = &host->flows->plan[number];
    struct oche_connection *connection = &host->flows->connections[plan->connection];
    struct oche_flow_sent *sent = &host->flows->sent[number];
    struct oche_qp *qp = oche_nic_find_qp(host->nic, done->qpn);

    OCHE_MUST(qp != NULL);
    host->shard->flows_completed++;
    sent->completed = now;
    sent->failed = done->status;
    sent->retransmitted_packets = oche_qp_retransmitted_packets(qp) - connection->retransmitted;
    sent->timeouts = (uint32_t)oche_qp_timeouts(qp) - connection->timeouts;
    connection->retransmitted += sent->retransmitted_packets;
    connection->timeouts += sent->timeouts;
    host->has_failed |= done->status != OCHE_STATUS_SUCCESS;
    if (host->shared->params->connections == OCHE_CONNECTION_PER_FLOW)
        release_sender(host, qp);
    else
        post(host, connection, qp);
    if (plan->then_same_source != OCHE_NO_FLOW)
        start_flow(host, plan->then_same_source, now);
}

/* Whether anything had completed. One event completes one queue pair's work at most. */
static bool poll(struct oche_host *host, oche_time now)
{
    struct oche_completion done[POLL_AT_ONCE];
    unsigned count, sum = 0;

    while ((count = oche_cq_poll(host->cq, done, POLL_AT_ONCE)) > 0) {
        OCHE_MUST(!oche_cq_overflowed(host->cq));
        for (unsigned i = 0; i < count; i++)
            end_flow_here(host, &done[i], now);
        sum += count;
    }
    return sum > 0;
}

/* ---- the NIC's port ---- */

static void on_delivered(void *context, struct oche_qp *qp, uint32_t bytes, bool last,
                         oche_time now)
{
    struct oche_host *host = context;

    (void)bytes;
    if (OCHE_LIKELY(!last))
        return;
    uint32_t qpn = oche_qp_number(qp);
    struct oche_connection *connection = &host->flows->connections[qpn - OCHE_FIRST_QPN];
    uint32_t number = host->flows->order[connection->first + connection->delivered++];
    const struct oche_flow_plan *plan = &host->flows->plan[number];
    connection->packets_delivered += packets_of(host, plan->bytes);
    host->flows->received[number].delivered = now;
    oche_trace_emit(&host->shard->network->nodes[host->address].trace, now, OCHE_TRACE_FLOW_ENDED,
                    qpn, number, plan->bytes);
    if (connection->delivered == connection->count)
        linger(host, qp, now);
    if (plan->then_at_receiver != OCHE_NO_FLOW)
        start_flow(host, plan->then_at_receiver, now);
}

/*
 * The first packet of a connection makes the receiver's queue pair. When all was delivered and
 * the queue pair is gone already, the new one knows that everything is a duplicate.
 */
static struct oche_qp *on_unknown_qp(void *context, const struct oche_packet *packet, oche_time now)
{
    struct oche_host *host = context;
    uint32_t number = packet->dest_qpn - OCHE_FIRST_QPN;

    if (packet->dest_qpn < OCHE_FIRST_QPN || number >= host->flows->connection_count)
        return NULL;
    const struct oche_connection *connection = &host->flows->connections[number];
    if (connection->dst != host->address || connection->src != packet->src)
        return NULL; /* an ACK that comes after its sender's queue pair is gone */
    uint32_t psn = (uint32_t)connection->packets_delivered & OCHE_PSN_MASK;
    struct oche_qp *qp = open_qp(host, number, connection->src, psn, 0, now);
    if (connection->delivered == connection->count)
        linger(host, qp, now);
    return qp;
}

static void on_timed_out(void *context, struct oche_qp *qp, oche_time now)
{
    struct oche_host *host = context;

    if (host->shard->network->keep_mishaps)
        oche_mishaps_timed_out(&host->shard->mishaps, qp, now);
}

static void on_read(void *context, const struct oche_region *region, uint64_t offset, void *to,
                    uint32_t bytes)
{
    (void)context;
    (void)region;
    oche_payload_fill(offset, to, bytes);
}

static void on_write(void *context, const struct oche_region *region, uint64_t offset,
                     const void *from, uint32_t bytes)
{
    struct oche_host *host = context;

    (void)region;
    host->corrupt_bytes += oche_payload_differs(offset, from, bytes);
}

static const struct oche_nic_port plain_port = {
    .delivered = on_delivered,
    .unknown_qp = on_unknown_qp,
    .timed_out = on_timed_out,
};
static const struct oche_nic_port payload_port = {
    .delivered = on_delivered,
    .unknown_qp = on_unknown_qp,
    .timed_out = on_timed_out,
    .read = on_read,
    .write = on_write,
};

/* ---- events ---- */

void oche_host_fetch(const struct oche_host *host, const struct oche_packet *packet, unsigned step)
{
    const char *line = (const char *)host;

    if (step > 0) {
        oche_nic_fetch(host->nic, packet, step - 1);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        __builtin_prefetch(line + i * OCHE_CACHE_LINE, 1);
}

static inline void transmit(struct oche_host *host, struct oche_port *port, oche_time now)
{
    struct oche_shard *shard = host->shard;
    struct oche_packet *packet = oche_packet_take(&shard->pool);

    if (OCHE_UNLIKELY(host->shared->payload))
        oche_payload_buffer(packet);
    if (oche_nic_transmit(host->nic, now, now, host->classes, &packet, 1) == 0) {
        oche_packet_return(&shard->pool, packet);
        return;
    }
    oche_network_send(shard, (uint32_t)(port - shard->network->ports), packet, now);
}

/* When the NIC sees that work was posted to a queue pair that has failed, it flushes it. */
static void take_flushed(struct oche_host *host, struct oche_port *port, oche_time now)
{
    while (poll(host, now))
        if (port->busy_until <= now)
            transmit(host, port, now);
}

/* Sends if the port is free, and asks for the next wake-up. The end of every event. */
static inline void settle(struct oche_host *host, struct oche_port *port, oche_time now)
{
    struct oche_shard *shard = host->shard;

    if (port->busy_until <= now && !(port->flags & OCHE_PORT_DONE_PENDING))
        transmit(host, port, now);
    if (OCHE_UNLIKELY(host->has_failed))
        take_flushed(host, port, now);
    oche_time wake = oche_nic_next(host->nic, host->classes);
    if (wake < port->busy_until || (wake <= now && port->busy_until > now)) {
        oche_network_want_done(shard, port);
        wake = oche_nic_next_timer(host->nic);
    }
    if (OCHE_UNLIKELY(host->next_start < host->end_starts)) {
        const struct oche_flow_plan *plan =
            &host->flows->plan[host->flows->by_start[host->next_start]];
        wake = oche_time_min(wake, plan->start);
    }
    if (OCHE_UNLIKELY(host->holds_feedback))
        wake = oche_time_min(wake, oche_feedback_next(&host->feedback));
    wake = oche_time_min(wake, host->pause.next);
    if (wake != OCHE_NEVER)
        oche_network_wake(shard, host->address, wake);
}

static void receive(struct oche_host *host, struct oche_packet *packet, oche_time now)
{
    oche_nic_receive(host->nic, packet, now);
    if (oche_opcode(packet->opcode)->flags & OCHE_OP_RESPONSE)
        poll(host, now); /* nothing else completes work */
}

static OCHE_NOINLINE void release_feedback(struct oche_host *host, oche_time now)
{
    struct oche_packet *packet;

    while ((packet = oche_feedback_take(&host->feedback, now)) != NULL) {
        receive(host, packet, now);
        oche_packet_return(&host->shard->pool, packet);
    }
}

void oche_host_arrival(struct oche_shard *shard, struct oche_port *port, struct oche_packet *packet,
                       oche_time now)
{
    struct oche_host *host = port->device;

    if (OCHE_UNLIKELY(packet->kind == OCHE_PACKET_PFC)) {
        struct oche_trace *trace = &shard->network->nodes[host->address].trace;
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
            if (!(packet->rkey >> cls & 1))
                continue;
            oche_trace_emit(trace, now, OCHE_TRACE_PAUSE_ARRIVED, 0, 0,
                            (uint64_t)cls << 16 | oche_pfc_quanta(packet, cls));
        }
        oche_pause_receive(&host->pause, packet, now);
        host->classes = (uint8_t)~oche_pause_update(&host->pause, now);
    } else if (OCHE_UNLIKELY(host->holds_feedback) && packet->traffic_class == OCHE_CONTROL_CLASS) {
        oche_feedback_hold(&host->feedback, &shard->arena, packet, now);
        settle(host, port, now);
        return;
    } else {
        receive(host, packet, now);
    }
    oche_packet_return(&shard->pool, packet);
    settle(host, port, now);
}

void oche_host_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    (void)shard;
    settle(port->device, port, now);
}

void oche_host_timer(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;

    (void)shard;
    if (OCHE_UNLIKELY(host->holds_feedback))
        release_feedback(host, now);
    if (host->pause.next <= now)
        host->classes = (uint8_t)~oche_pause_update(&host->pause, now);
    while (host->next_start < host->end_starts) {
        uint32_t number = host->flows->by_start[host->next_start];
        if (host->flows->plan[number].start > now)
            break;
        host->next_start++;
        start_flow(host, number, now);
    }
    if (oche_nic_next_timer(host->nic) <= now) {
        oche_nic_expire(host->nic, now);
        poll(host, now);
    }
    settle(host, port, now);
}

void oche_host_begin(struct oche_host *host)
{
    host->port =
        &host->shard->network->ports[host->shard->network->nodes[host->address].first_port];
    host->shard = oche_network_shard_of(host->shard->network, host->address);
    if (host->next_start < host->end_starts)
        oche_network_wake(host->shard, host->address,
                          host->flows->plan[host->flows->by_start[host->next_start]].start);
}

/* ---- making and reading ---- */

struct oche_host *oche_host_create(struct oche_network *network, uint32_t address,
                                   const struct oche_host_shared *shared)
{
    struct oche_arena *arena = &oche_network_shard_of(network, address)->arena;
    struct oche_host *host = oche_arena_take(arena, sizeof(*host));
    uint32_t number = network->nodes[address].first_port;
    uint64_t rate_bps = network->extras[number].rate_bps;
    host->shard = oche_network_shard_of(network, address);
    host->port = &network->ports[number];
    host->port->device = host;
    host->shared = shared;
    host->flows = shared->flows;
    host->address = address;
    host->classes = UINT8_MAX;
    host->next_start = shared->flows->host_first[address];
    host->end_starts = shared->flows->host_first[address + 1];
    host->holds_feedback = shared->params->feedback_jitter > 0;
    host->feedback = oche_feedback_make(shared->params->feedback_jitter, shared->seed, address);
    oche_pause_init(&host->pause, rate_bps, shared->params->pfc_response);
    struct oche_nic_config config = {
        .address = address,
        .line_rate_bps = rate_bps,
        .gap_bytes = network->gap_bytes,
        .ipv6 = shared->params->ipv6,
        .control_class = OCHE_CONTROL_CLASS,
        .max_qps = shared->flows->host_connections[address] + 1,
        .max_regions = 1,
        .ecn_threshold_bytes = shared->params->ecn_threshold_bytes,
        .seed = shared->seed,
        .cc = shared->cc,
        .cc_params = shared->cc_params,
        .recovery = shared->recovery,
        .recovery_params = shared->recovery_params,
        .port = shared->payload ? &payload_port : &plain_port,
        .port_context = host,
        .trace = &network->nodes[address].trace,
    };
    host->nic = oche_nic_create(oche_arena_take(arena, oche_nic_bytes(&config)), &config);
    host->cq = oche_cq_create(oche_arena_take(arena, oche_cq_bytes(CQ_ENTRIES)), CQ_ENTRIES);
    struct oche_region all = {.va = 0,
                              .length = UINT64_C(1) << 62,
                              .key = MESSAGE_KEY,
                              .access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                        OCHE_ACCESS_REMOTE_READ,
                              .pd = 1};
    bool added = oche_nic_add_region(host->nic, &all);
    OCHE_MUST(added);
    struct oche_qp_config typical = qp_config(host, 0);
    host->qp_bytes =
        (oche_qp_bytes(host->nic, &typical) + sizeof(struct parked) + OCHE_CACHE_LINE - 1) &
        ~(size_t)(OCHE_CACHE_LINE - 1);
    return host;
}

const struct oche_nic *oche_host_nic(const struct oche_host *host)
{
    return host->nic;
}

struct oche_pause *oche_host_pause(struct oche_host *host)
{
    return &host->pause;
}

uint64_t oche_host_corrupt_bytes(const struct oche_host *host)
{
    return host->corrupt_bytes;
}

uint64_t oche_host_rate_bps(const struct oche_host *host, uint32_t connection)
{
    const struct oche_qp *qp = oche_nic_find_qp(host->nic, OCHE_FIRST_QPN + connection);

    return qp == NULL ? 0 : oche_qp_rate_bps(qp);
}

uint32_t oche_host_arrived_bytes(const struct oche_host *host, uint32_t connection)
{
    const struct oche_qp *qp = oche_nic_find_qp(host->nic, OCHE_FIRST_QPN + connection);

    return qp == NULL ? 0 : oche_qp_arrived_bytes(qp);
}

bool oche_host_losses(const struct oche_host *host, uint32_t connection,
                      struct oche_qp_losses *losses)
{
    const struct oche_qp *qp = oche_nic_find_qp(host->nic, OCHE_FIRST_QPN + connection);

    if (qp != NULL)
        oche_qp_losses(qp, losses);
    return qp != NULL;
}
