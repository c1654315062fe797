/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNIC as an endpoint: flows become WRITEs, SENDs or READs on queue pairs, and a connection is
 * one queue pair at each end. The RNIC is the same object code that the device uses on the wire;
 * here its port is a simulated link and its clock is virtual.
 *
 * Parts: a flow that is longer than a message can be (2 GiB) is several messages, back to back on
 * one queue pair, as in real programs. The last message delivers and completes the flow.
 *
 * SENDs: the receiver has posted receives before any message can arrive, and posts another one for
 * each that was used. So every SEND finds a receiver that is ready.
 *
 * READs: the destination posts, and its first request makes the queue pair of the source. If the
 * connection's only READ has left as one request, the source frees its queue pair once that has
 * been idle. A destination that asks again then asks for all that is missing.
 */
#include "sim/network/rnic.h"

#include <string.h>

#include "core/cc/cc_headers.h"
#include "sim/network/flow.h"
#include "sim/network/host_state.h"

#define CQ_LOG2      6 /* of the entries of a completion queue, to begin with */
#define POLL_AT_ONCE 32
#define LINGER       OCHE_MS /* how long a receiver's queue pair still answers duplicates */

/* The memory of a queue pair that is not in use, and its place in the linger queue. */
struct oche_rnic_parked {
    struct oche_rnic_parked *next;
    oche_time until;
    struct oche_qp *qp;
};

/* ---- queue pairs and their memory ---- */

/* Sizes of messages. */
struct parts {
    uint64_t most; /* bytes that one message can have */
    uint64_t full; /* bytes of each message but the last, where there are several */
};

static struct parts parts_of(const struct oche_rnic *rnic)
{
    const uint64_t mtu = rnic->host->shared->params->mtu_bytes;
    const uint64_t of_mtu = OCHE_MOST_BYTES_OF_MTU(mtu);
    const uint64_t most = of_mtu < OCHE_MAX_MESSAGE_BYTES ? of_mtu : OCHE_MAX_MESSAGE_BYTES;

    return (struct parts){.most = most, .full = most - most % mtu};
}

/* True if a connection has its queue pairs only as long as it has flows. */
static bool is_per_flow(const struct oche_rnic *rnic)
{
    return rnic->host->shared->params->connections == OCHE_CONNECTION_PER_FLOW;
}

/* Returns how many messages may be posted on a queue pair at a time. */
static uint32_t depth_of(const struct oche_rnic *rnic)
{
    if (!is_per_flow(rnic) || rnic->host->shared->jobs.count > 0)
        return 16;
    return OCHE_LIKELY(rnic->host->flows->most_bytes <= parts_of(rnic).most) ? 1 : 2;
}

static struct oche_qp_config qp_config(const struct oche_rnic *rnic, uint32_t connection,
                                       bool priority)
{
    const struct oche_flows *flows = rnic->host->flows;
    const uint32_t depth = depth_of(rnic);
    const uint32_t reads =
        flows->reads ? (uint32_t)rnic->host->shared->params->outstanding_reads : 0;

    return (struct oche_qp_config){
        .qpn = OCHE_FIRST_QPN + connection,
        .transport = OCHE_TRANSPORT_RC,
        .traffic_class = priority ? rnic->host->shared->priority_class : OCHE_DATA_CLASS,
        .pd = 1,
        .mtu_bytes = (uint32_t)rnic->host->shared->params->mtu_bytes,
        .send_depth = depth,
        .recv_depth = flows->sends ? depth : 0,
        .responder_resources = reads,
        .initiator_depth = reads,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
        .groups = flows->incasts != NULL,
        .send_cq = rnic->cq,
    };
}

static void add_slab(struct oche_rnic *rnic)
{
    size_t count = rnic->qp_bytes > 65536 ? 1 : 4;
    char *slab = oche_arena_take(&rnic->host->shard->arena, count * rnic->qp_bytes);

    for (size_t i = 0; i < count; i++) {
        struct oche_rnic_parked *parked = (void *)(slab + i * rnic->qp_bytes);
        parked->next = rnic->unused;
        rnic->unused = parked;
    }
}

static void linger(struct oche_rnic *rnic, struct oche_qp *qp, oche_time now);

static struct oche_connection *connection_of(const struct oche_rnic *rnic, const struct oche_qp *qp)
{
    return &rnic->host->flows->connections[oche_qp_number(qp) - OCHE_FIRST_QPN];
}

/*
 * Gives up the oldest queue pair that lingers, if it may be. Returns its memory, or NULL. The
 * linger record lies behind the queue pair, in the same piece of memory.
 */
static void *take_lingering(struct oche_rnic *rnic, oche_time now)
{
    struct oche_rnic_parked *parked = rnic->linger_head;

    if (parked == NULL || parked->until > now)
        return NULL;
    struct oche_qp *qp = parked->qp;
    struct oche_connection *connection = connection_of(rnic, qp);
    const bool idle = oche_qp_idle(qp);

    if (!idle && !connection->reads)
        return NULL;
    rnic->linger_head = parked->next;
    if (rnic->linger_head == NULL)
        rnic->linger_tail = NULL;
    if (!idle) {
        linger(rnic, qp, now); /* READ data leaves for longer than others shall wait */
        return NULL;
    }
    connection->answered = connection->reads;
    oche_qp_destroy(qp);
    return qp;
}

static void *take_qp_memory(struct oche_rnic *rnic, oche_time now)
{
    struct oche_rnic_parked *parked = take_lingering(rnic, now);

    if (parked != NULL)
        return parked;
    if (rnic->unused == NULL)
        add_slab(rnic);
    parked = rnic->unused;
    rnic->unused = parked->next;
    return parked;
}

static struct oche_rnic_parked *linger_record(const struct oche_rnic *rnic, struct oche_qp *qp)
{
    return (struct oche_rnic_parked *)(void *)((char *)qp + rnic->qp_bytes -
                                               sizeof(struct oche_rnic_parked));
}

/*
 * Keeps a receiver's queue pair for a while, so that it can answer duplicates if an ACK was lost.
 * The source of a READ does not know when the data has arrived, so its queue pair lingers from the
 * start, and longer while it has data to send.
 */
static void linger(struct oche_rnic *rnic, struct oche_qp *qp, oche_time now)
{
    struct oche_rnic_parked *parked = linger_record(rnic, qp);

    *parked = (struct oche_rnic_parked){.until = now + LINGER, .qp = qp};
    if (rnic->linger_tail != NULL)
        rnic->linger_tail->next = parked;
    else
        rnic->linger_head = parked;
    rnic->linger_tail = parked;
}

static void release_sender(struct oche_rnic *rnic, struct oche_qp *qp)
{
    oche_qp_destroy(qp);
    struct oche_rnic_parked *parked = (void *)qp;
    parked->next = rnic->unused;
    rnic->unused = parked;
}

/*
 * Returns the rate of host `peer`'s port, in bits per second. Reading it from another shard is safe
 * because it never changes in a run.
 */
static uint64_t peer_rate_bps(const struct oche_rnic *rnic, uint32_t peer)
{
    const struct oche_network *network = rnic->host->shard->network;

    return network->extras[network->nodes[peer].first_port].rate_bps;
}

/*
 * Returns the address at which SENDs of the connection begin, at both ends. It lies outside the
 * memory of flows.
 */
static uint64_t send_va(uint32_t connection)
{
    return UINT64_C(1) << 61 | (uint64_t)connection << 32;
}

/* Posts a receive for any message. */
static void post_receive(const struct oche_rnic *rnic, struct oche_qp *qp)
{
    const struct oche_recv_work work = {
        .sge_count = 1,
        .sge[0] = {.va = send_va(oche_qp_number(qp) - OCHE_FIRST_QPN),
                   .length = (uint32_t)parts_of(rnic).most,
                   .lkey = OCHE_HOST_MEMORY_KEY},
    };
    const int failed = oche_qp_post_recv(qp, &work);

    OCHE_MUST(failed == 0);
}

static struct oche_qp *open_qp(struct oche_rnic *rnic, uint32_t connection, uint32_t peer,
                               uint32_t recv_psn, uint64_t initial_rate_bps, oche_time now)
{
    const struct oche_host_params *params = rnic->host->shared->params;
    struct oche_qp_config config =
        qp_config(rnic, connection, rnic->host->flows->connections[connection].priority);
    uint32_t hash = oche_host_flow_hash(rnic->host->shared->seed, connection);
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
        .peer_line_rate_bps = peer_rate_bps(rnic, peer),
        .initial_rate_bps = initial_rate_bps,
        .tenant = rnic->host->flows->connections[connection].tenant,
    };
    struct oche_qp *qp = oche_qp_create(rnic->nic, take_qp_memory(rnic, now), &config);

    OCHE_MUST(qp != NULL);
    bool ready = oche_qp_init(qp, now) && oche_qp_ready_to_receive(qp, &to, now) &&
                 oche_qp_ready_to_send(qp, now);
    OCHE_MUST(ready);
    for (uint32_t i = 0; i < config.recv_depth; i++)
        post_receive(rnic, qp);
    return qp;
}

/* ---- flows ---- */

/* Returns the part of the flow's bytes that its message `part` has, and sets where it begins. */
static uint32_t part_bytes(const struct oche_rnic *rnic, uint64_t flow_bytes, uint32_t part,
                           uint64_t *offset)
{
    *offset = 0;
    const struct parts parts = parts_of(rnic);

    if (OCHE_LIKELY(flow_bytes <= parts.most))
        return (uint32_t)flow_bytes;
    *offset = part * parts.full;
    const uint64_t left = flow_bytes - *offset;

    return (uint32_t)(left < parts.full ? left : parts.full);
}

/*
 * Makes the completion queue large enough for all completions between two polls. Usually that is
 * the work of one queue pair. It is more if queue pairs fail: all whose timers expire at the same
 * time fail together, and a failed queue pair completes new work at once.
 */
static void make_room(struct oche_rnic *rnic)
{
    uint32_t log2 = rnic->cq_log2;

    while (rnic->outstanding >> log2 != 0)
        log2++;
    if (log2 == rnic->cq_log2)
        return;
    void *memory =
        oche_arena_take(&rnic->host->shard->arena, oche_cq_entries_bytes(UINT32_C(1) << log2));
    const bool moved = oche_cq_resize(rnic->cq, memory, UINT32_C(1) << log2);
    OCHE_MUST(moved);
    rnic->cq_log2 = log2 & 31U;
}

#define MORE (UINT64_C(1) << 32) /* of a work request's number: the flow has further messages */

/* Posts the next message of a flow. Returns false if the send queue is full. */
static bool post_part(struct oche_rnic *rnic, struct oche_connection *connection,
                      struct oche_qp *qp, uint32_t number)
{
    static const uint8_t opcodes[] = {[OCHE_VERB_WRITE] = OCHE_WORK_WRITE,
                                      [OCHE_VERB_SEND] = OCHE_WORK_SEND,
                                      [OCHE_VERB_READ] = OCHE_WORK_READ};
    const struct oche_flow_plan *plan = &rnic->host->flows->plan[number];
    uint64_t offset;
    uint32_t bytes = part_bytes(rnic, plan->bytes, connection->parts_posted, &offset);
    const bool last = offset + bytes == plan->bytes;
    uint64_t va = ((uint64_t)number << 32) + offset;
    struct oche_send_work work = {
        .wr_id = last ? number : number | MORE,
        .opcode = opcodes[plan->verb],
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .remote_va = va,
        .rkey = OCHE_HOST_MEMORY_KEY,
        .group = connection->reads ? NULL : oche_flow_incast(rnic->host->flows, number),
        .sge[0] = {.va = plan->verb == OCHE_VERB_SEND ? send_va(plan->connection) : va,
                   .length = bytes,
                   .lkey = OCHE_HOST_MEMORY_KEY},
    };

    if (oche_qp_post_send(qp, &work) != 0)
        return false;
    connection->parts_posted = (uint16_t)(last ? 0 : connection->parts_posted + 1);
    connection->posted += last;
    return true;
}

/* Posts as much of the connection's released flows as the queue pair takes. */
static void post(struct oche_rnic *rnic, struct oche_connection *connection, struct oche_qp *qp)
{
    while (connection->posted < connection->released) {
        uint32_t number = rnic->host->flows->order[connection->first + connection->posted];

        if (!post_part(rnic, connection, qp, number))
            return; /* the send queue is full until a message completes */
        rnic->outstanding++;
        if (OCHE_UNLIKELY(rnic->has_failed))
            make_room(rnic);
    }
}

/* The NIC has the flow that was started next on its connection when the doorbell has reached it. */
static OCHE_NOINLINE void defer_post(struct oche_rnic *rnic, const struct oche_flow_plan *plan,
                                     oche_time now)
{
    const bool sends = plan->verb != OCHE_VERB_READ;

    oche_host_defer(rnic->host, &(struct oche_deferred){
                                    .until = now + oche_latency_of_post(rnic->host->latency, sends),
                                    .number = plan->connection,
                                    .kind = OCHE_DEFERRED_POST});
}

static void start(void *state, uint32_t number, oche_time now)
{
    struct oche_rnic *rnic = state;
    struct oche_flows *flows = rnic->host->flows;
    const struct oche_flow_plan *plan = &flows->plan[number];
    struct oche_connection *connection = &flows->connections[plan->connection];
    uint32_t qpn = OCHE_FIRST_QPN + plan->connection;
    struct oche_qp *qp = connection->queued == 0 ? NULL : oche_nic_find_qp(rnic->nic, qpn);

    if (qp == NULL)
        qp = open_qp(rnic, plan->connection, oche_connection_peer(connection), 0,
                     plan->initial_rate_bps, now);
    oche_host_flow_started(rnic->host, number, now);
    if (OCHE_UNLIKELY(plan->supply_bps > 0))
        oche_qp_set_supply(qp, plan->supply_bps, now);
    if (OCHE_UNLIKELY(rnic->host->latency != NULL)) {
        defer_post(rnic, plan, now);
        return;
    }
    connection->released = connection->queued;
    post(rnic, connection, qp);
}

/* The program has the completion of a flow's last message. */
static void end_flow(struct oche_rnic *rnic, uint32_t number, struct oche_qp *qp, oche_time now)
{
    const struct oche_flow_plan *plan = &rnic->host->flows->plan[number];
    struct oche_connection *connection = &rnic->host->flows->connections[plan->connection];
    const struct oche_flow_sent *sent = &rnic->host->flows->sent[number];

    oche_host_flow_completed(rnic->host, number, (enum oche_status)sent->failed,
                             oche_qp_retransmitted_packets(qp), oche_qp_timeouts(qp), now);
    if (is_per_flow(rnic) && connection->completed == connection->count)
        release_sender(rnic, qp);
    else
        post(rnic, connection, qp);
    oche_host_start(rnic->host, plan->then_same_source, now);
}

/*
 * The program has the completion later, that of a READ when the data is in memory. The queue pair
 * goes on with what the NIC has already.
 */
static OCHE_NOINLINE void defer_end(struct oche_rnic *rnic, uint32_t number, struct oche_qp *qp,
                                    oche_time now)
{
    const struct oche_host_latency *latency = rnic->host->latency;
    const struct oche_flow_plan *plan = &rnic->host->flows->plan[number];
    const oche_time written = now + (plan->verb == OCHE_VERB_READ ? latency->dma : 0);

    oche_host_defer(rnic->host, &(struct oche_deferred){.until = written + latency->completion,
                                                        .number = number,
                                                        .kind = OCHE_DEFERRED_COMPLETION});
    if (!is_per_flow(rnic) || rnic->host->shared->jobs.count > 0)
        post(rnic, &rnic->host->flows->connections[plan->connection], qp);
}

static void end_message(struct oche_rnic *rnic, const struct oche_completion *done, oche_time now)
{
    uint32_t number = (uint32_t)done->wr_id;
    struct oche_flow_sent *sent = &rnic->host->flows->sent[number];
    struct oche_qp *qp = oche_nic_find_qp(rnic->nic, done->qpn);

    OCHE_MUST(qp != NULL);
    rnic->outstanding--;
    rnic->has_failed |= done->status != OCHE_STATUS_SUCCESS;
    if (sent->failed == OCHE_STATUS_SUCCESS)
        sent->failed = done->status; /* those of a flow's later messages follow from the first */
    if (OCHE_UNLIKELY(done->wr_id & MORE))
        post(rnic, connection_of(rnic, qp), qp);
    else if (OCHE_UNLIKELY(rnic->host->latency != NULL))
        defer_end(rnic, number, qp, now);
    else
        end_flow(rnic, number, qp, now);
}

/* Carries out what defer_post or defer_end has deferred. */
static void deferred(void *state, const struct oche_deferred *due, oche_time now)
{
    struct oche_rnic *rnic = state;
    const struct oche_flows *flows = rnic->host->flows;
    const uint32_t number =
        due->kind == OCHE_DEFERRED_POST ? due->number : flows->plan[due->number].connection;
    struct oche_qp *qp = oche_nic_find_qp(rnic->nic, OCHE_FIRST_QPN + number);

    OCHE_MUST(qp != NULL);
    if (due->kind == OCHE_DEFERRED_COMPLETION) {
        end_flow(rnic, due->number, qp, now);
        return;
    }
    flows->connections[number].released++;
    post(rnic, &flows->connections[number], qp);
}

/* The source of a READ reads the data from its memory before it answers. */
static bool reads_memory(const void *state, const struct oche_packet *packet)
{
    (void)state;
    return packet->kind == OCHE_PACKET_ROCE && packet->opcode == OCHE_RC_READ_REQUEST;
}

bool oche_rnic_poll(struct oche_rnic *rnic, oche_time now)
{
    struct oche_completion done[POLL_AT_ONCE];
    unsigned count, sum = 0;

    while ((count = oche_cq_poll(rnic->cq, done, POLL_AT_ONCE)) > 0) {
        OCHE_MUST(!oche_cq_overflowed(rnic->cq));
        for (unsigned i = 0; i < count; i++)
            end_message(rnic, &done[i], now);
        sum += count;
    }
    return sum > 0;
}

/* ---- the NIC's port ---- */

/* Counts a message of the flow that is being received. Returns true if it is the flow's last. */
static bool count_part(const struct oche_rnic *rnic, struct oche_connection *connection,
                       const struct oche_flow_plan *plan)
{
    const uint64_t mtu = rnic->host->shared->params->mtu_bytes;
    uint64_t offset;
    uint32_t bytes = part_bytes(rnic, plan->bytes, connection->parts_delivered, &offset);
    const bool last = offset + bytes == plan->bytes;

    connection->packets_delivered += (bytes + mtu - 1) / mtu;
    connection->parts_delivered = (uint16_t)(last ? 0 : connection->parts_delivered + 1);
    return last;
}

static void on_delivered(void *context, struct oche_qp *qp, uint32_t bytes, bool last,
                         oche_time now)
{
    struct oche_rnic *rnic = context;

    (void)bytes;
    if (OCHE_LIKELY(!last))
        return;
    uint32_t number = oche_qp_number(qp) - OCHE_FIRST_QPN;
    struct oche_flows *flows = rnic->host->flows;
    struct oche_connection *connection = &flows->connections[number];
    const struct oche_flow_plan *plan =
        &flows->plan[flows->order[connection->first + connection->delivered]];

    if (OCHE_UNLIKELY(plan->verb == OCHE_VERB_SEND))
        post_receive(rnic, qp);
    if (!count_part(rnic, connection, plan))
        return;
    oche_host_flow_arrived(rnic->host, number, now);
    if (connection->delivered == connection->count && !connection->reads)
        linger(rnic, qp, now);
}

/* The first request for data makes the queue pair of its source. */
static struct oche_qp *open_source(struct oche_rnic *rnic, uint32_t number,
                                   const struct oche_packet *packet, oche_time now)
{
    const struct oche_flows *flows = rnic->host->flows;
    const struct oche_connection *connection = &flows->connections[number];
    const struct oche_flow_plan *plan = &flows->plan[flows->order[connection->first]];
    struct oche_qp *qp;

    if (packet->opcode != OCHE_RC_READ_REQUEST)
        return NULL; /* feedback for a queue pair that no longer exists */
    qp = open_qp(rnic, number, connection->dst, connection->answered ? packet->psn : 0,
                 plan->initial_rate_bps, now);
    if (is_per_flow(rnic) && connection->count == 1 && plan->bytes <= parts_of(rnic).most &&
        !rnic->host->shared->cc->windows_reads)
        linger(rnic, qp, now);
    return qp;
}

/*
 * The first packet of a connection creates the receiver's queue pair. If all flows were delivered
 * and the old queue pair is gone, the new queue pair treats every packet as a duplicate.
 */
static struct oche_qp *on_unknown_qp(void *context, const struct oche_packet *packet, oche_time now)
{
    struct oche_rnic *rnic = context;
    uint32_t number = packet->dest_qpn - OCHE_FIRST_QPN;

    if (packet->dest_qpn < OCHE_FIRST_QPN || number >= rnic->host->flows->connection_count)
        return NULL;
    const struct oche_connection *connection = &rnic->host->flows->connections[number];
    if (oche_connection_peer(connection) != rnic->host->address ||
        oche_connection_poster(connection) != packet->src)
        return NULL; /* an ACK for a sender whose queue pair no longer exists */
    if (OCHE_UNLIKELY(connection->reads))
        return open_source(rnic, number, packet, now);
    uint32_t psn = (uint32_t)connection->packets_delivered & OCHE_PSN_MASK;
    struct oche_qp *qp = open_qp(rnic, number, connection->src, psn, 0, now);
    if (connection->delivered == connection->count)
        linger(rnic, qp, now);
    return qp;
}

static void on_timed_out(void *context, struct oche_qp *qp, oche_time now)
{
    struct oche_rnic *rnic = context;

    make_room(rnic);
    if (rnic->host->shard->network->keep_mishaps)
        oche_mishaps_timed_out(&rnic->host->shard->mishaps, qp, now);
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
    .read = oche_host_memory_read,
    .write = oche_host_memory_write,
};

/* ---- making and reading ---- */

static void create(void *state, struct oche_host *host)
{
    struct oche_rnic *rnic = state;
    const struct oche_host_shared *shared = host->shared;
    struct oche_arena *arena = &host->shard->arena;
    struct oche_network *network = host->shard->network;
    const struct oche_host_nic *nic = oche_host_nic(shared, host->address);
    struct oche_nic_config config = {
        .address = host->address,
        .shared_addresses = (uint32_t)network->host_count,
        .line_rate_bps = network->extras[host->port - network->ports].rate_bps,
        .gap_bytes = network->gap_bytes,
        .ipv6 = shared->params->ipv6,
        .control_class = shared->control_class,
        .acks_with_data = !shared->params->ack_priority,
        .deflection = shared->deflection,
        .spread = {.scheme = oche_path_scheme(shared->params->entropy),
                   .paths = (uint16_t)shared->params->paths,
                   .any_recovery = shared->params->reordering == OCHE_REORDERING_ACCEPT},
        .habits = &nic->habits,
        .max_qps = shared->flows->host_connections[host->address] + 1,
        .max_regions = 1,
        .ecn_threshold_bytes = shared->params->ecn_threshold_bytes,
        .seed = shared->seed,
        .cc = shared->cc,
        .cc_params = nic->cc_params != NULL ? nic->cc_params : shared->cc_params,
        .recovery = shared->recovery,
        .recovery_params = shared->recovery_params,
        .port = shared->payload ? &payload_port : &plain_port,
        .port_context = rnic,
        .trace = oche_host_trace(host),
    };
    rnic->host = host;
    if (oche_nic_table_bytes(&config) > 0)
        config.tables =
            oche_arena_take_spacious(&host->shard->tables, oche_nic_table_bytes(&config));
    rnic->nic = oche_nic_create(oche_arena_take_spacious(arena, oche_nic_bytes(&config)), &config);
    host->nic = rnic->nic;
    rnic->cq = oche_cq_create(oche_arena_take(arena, oche_cq_bytes(1U << CQ_LOG2)), 1U << CQ_LOG2);
    rnic->cq_log2 = CQ_LOG2;
    oche_host_memory_add(rnic->nic);
    struct oche_qp_config typical = qp_config(rnic, 0, false);
    rnic->qp_bytes =
        (uint32_t)oche_lines(oche_qp_bytes(rnic->nic, &typical) + sizeof(struct oche_rnic_parked));
}

/* Returns the size of a frame with payload; `params` is the congestion-control scheme, or NULL. */
static uint32_t data_frame(const struct oche_host_params *hosts, const void *params, uint8_t opcode,
                           uint32_t payload_bytes)
{
    const struct oche_cc_scheme *cc = params;
    uint32_t trailer = cc != NULL ? oche_cc_trailer_bytes(cc) : 0;

    return oche_frame_bytes_with(opcode, payload_bytes, trailer, hosts->ipv6);
}

static void packets(const struct oche_host_params *hosts, const void *params,
                    struct oche_endpoint_packets *out)
{
    uint32_t mtu = (uint32_t)hosts->mtu_bytes;

    *out = (struct oche_endpoint_packets){
        .payload_bytes = mtu,
        .frame_bytes = data_frame(hosts, params, OCHE_RC_WRITE_FIRST, mtu),
        .middle_bytes = data_frame(hosts, params, OCHE_RC_WRITE_MIDDLE, mtu),
        .ack_bytes = oche_frame_bytes(OCHE_RC_ACK, 0, hosts->ipv6),
        .lossless_classes = (1 << OCHE_CLASS_COUNT) - 1,
    };
}

/* A packet's opcode by its place in the message. */
struct opcodes {
    uint8_t only, first, middle, last;
};

/*
 * Opcodes of each verb's data: the first (or only) packet of a WRITE carries a RETH, the first and
 * last one of READ data an AETH. With a recovery scheme that places what arrives behind a gap
 * (core/wire/extension.h) all packets of WRITEs and SENDs say where they belong.
 */
static struct opcodes opcodes_of(enum oche_verb verb, bool placed)
{
    if (verb == OCHE_VERB_READ)
        return (struct opcodes){OCHE_RC_READ_RESPONSE_ONLY, OCHE_RC_READ_RESPONSE_FIRST,
                                OCHE_RC_READ_RESPONSE_MIDDLE, OCHE_RC_READ_RESPONSE_LAST};
    if (verb == OCHE_VERB_SEND)
        return placed ? (struct opcodes){OCHE_RC_SEND_ONLY_AT, OCHE_RC_SEND_FIRST_AT,
                                         OCHE_RC_SEND_MIDDLE_AT, OCHE_RC_SEND_LAST_AT}
                      : (struct opcodes){OCHE_RC_SEND_ONLY, OCHE_RC_SEND_FIRST, OCHE_RC_SEND_MIDDLE,
                                         OCHE_RC_SEND_LAST};
    return placed ? (struct opcodes){OCHE_RC_WRITE_ONLY, OCHE_RC_WRITE_FIRST,
                                     OCHE_RC_WRITE_MIDDLE_AT, OCHE_RC_WRITE_LAST_AT}
                  : (struct opcodes){OCHE_RC_WRITE_ONLY, OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_MIDDLE,
                                     OCHE_RC_WRITE_LAST};
}

/* The last packet may be short. */
static void frames(const struct oche_host_params *hosts, const void *params,
                   const struct oche_recovery_scheme *recovery, enum oche_verb verb, uint64_t bytes,
                   struct oche_frames *out)
{
    const struct opcodes op = opcodes_of(verb, recovery != NULL && recovery->extend != NULL);
    uint64_t mtu = hosts->mtu_bytes, count = (bytes + mtu - 1) / mtu;
    uint32_t full = (uint32_t)mtu, last = (uint32_t)(bytes - (count - 1) * mtu);

    *out = (struct oche_frames){.count = count};
    out->first_bytes = OCHE_GAP_BYTES + (count == 1 ? data_frame(hosts, params, op.only, last)
                                                    : data_frame(hosts, params, op.first, full));
    out->middle_bytes = OCHE_GAP_BYTES + data_frame(hosts, params, op.middle, full);
    out->last_bytes = OCHE_GAP_BYTES + data_frame(hosts, params, op.last, last);
    if (verb == OCHE_VERB_READ)
        out->request_bytes =
            OCHE_GAP_BYTES + oche_frame_bytes(OCHE_RC_READ_REQUEST, 0, hosts->ipv6);
}

static const struct oche_nic_stats *stats(const void *state)
{
    const struct oche_rnic *rnic = state;

    return oche_nic_stats(rnic->nic);
}

static uint64_t late_packets(const void *state)
{
    const struct oche_rnic *rnic = state;

    return oche_nic_rejected(rnic->nic, OCHE_REJECT_NO_QP);
}

static uint64_t corrupt_bytes(const void *state)
{
    const struct oche_rnic *rnic = state;

    return rnic->memory.corrupt_bytes;
}

static struct oche_qp *find(void *state, uint32_t connection)
{
    struct oche_rnic *rnic = state;

    return oche_nic_find_qp(rnic->nic, OCHE_FIRST_QPN + connection);
}

static uint64_t rate_bps(void *state, uint32_t connection)
{
    const struct oche_qp *qp = find(state, connection);

    return qp == NULL ? 0 : oche_qp_rate_bps(qp);
}

static uint64_t arrived_bytes(void *state, uint32_t connection)
{
    const struct oche_rnic *rnic = state;
    const struct oche_connection *of = &rnic->host->flows->connections[connection];
    const struct oche_qp *qp = find(state, connection);

    if (qp == NULL)
        return 0;
    return of->parts_delivered * parts_of(rnic).full +
           (of->reads ? oche_qp_read_bytes(qp) : oche_qp_arrived_bytes(qp));
}

static void sent_again(void *state, uint32_t connection, uint64_t *retransmitted,
                       uint64_t *timeouts)
{
    const struct oche_qp *qp = find(state, connection);

    *retransmitted += qp == NULL ? 0 : oche_qp_retransmitted_packets(qp);
    *timeouts += qp == NULL ? 0 : oche_qp_timeouts(qp);
}

static bool losses(void *state, uint32_t connection, struct oche_qp_losses *out)
{
    const struct oche_qp *qp = find(state, connection);

    if (qp != NULL)
        oche_qp_losses(qp, out);
    return qp != NULL;
}

static const struct oche_counters *scheme_counters(const void *state, const void **scheme_state)
{
    return oche_nic_counters(((const struct oche_rnic *)state)->nic, scheme_state);
}

static enum oche_cc_marks marks(const void *state)
{
    return oche_nic_marks(((const struct oche_rnic *)state)->nic);
}

const struct oche_endpoint oche_endpoint_rnic = {
    .paper = "queue pairs of an RNIC (core/qp)",
    .state_bytes = sizeof(struct oche_rnic),
    .packets = packets,
    .frames = frames,
    .create = create,
    .start = start,
    .receive = oche_rnic_receive,
    .transmit = oche_rnic_transmit,
    .next = oche_rnic_next,
    .next_timer = oche_rnic_next_timer,
    .expire = oche_rnic_expire,
    .flush = oche_rnic_flush,
    .is_feedback = oche_rnic_is_feedback,
    .deferred = deferred,
    .reads_memory = reads_memory,
    .stats = stats,
    .scheme_counters = scheme_counters,
    .marks = marks,
    .late_packets = late_packets,
    .corrupt_bytes = corrupt_bytes,
    .rate_bps = rate_bps,
    .arrived_bytes = arrived_bytes,
    .sent_again = sent_again,
    .losses = losses,
};
