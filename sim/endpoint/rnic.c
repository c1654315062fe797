/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RNIC as an endpoint: flows become WRITEs on queue pairs, and a connection is one queue pair
 * at each end. The RNIC is the same object code that the device uses on the wire; here its port is
 * a simulated link and its clock is virtual.
 */
#include "sim/endpoint/rnic.h"

#include <string.h>

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

static struct oche_qp_config qp_config(const struct oche_rnic *rnic, uint32_t connection,
                                       bool priority)
{
    return (struct oche_qp_config){
        .qpn = OCHE_FIRST_QPN + connection,
        .transport = OCHE_TRANSPORT_RC,
        .traffic_class = priority ? rnic->host->shared->priority_class : OCHE_DATA_CLASS,
        .pd = 1,
        .mtu_bytes = (uint32_t)rnic->host->shared->params->mtu_bytes,
        .send_depth = rnic->host->shared->params->connections == OCHE_CONNECTION_PER_FLOW ? 1 : 16,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
        .groups = rnic->host->flows->incasts != NULL,
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

static void *take_qp_memory(struct oche_rnic *rnic, oche_time now)
{
    struct oche_rnic_parked *parked = rnic->linger_head;

    /* The linger record lies behind the queue pair, in the same piece of memory. */
    if (parked != NULL && parked->until <= now && oche_qp_idle(parked->qp)) {
        rnic->linger_head = parked->next;
        if (rnic->linger_head == NULL)
            rnic->linger_tail = NULL;
        void *memory = parked->qp;
        oche_qp_destroy(parked->qp);
        return memory;
    }
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
    return qp;
}

/* ---- flows ---- */

static uint32_t packets_of(const struct oche_rnic *rnic, uint64_t bytes)
{
    uint64_t mtu = rnic->host->shared->params->mtu_bytes;

    return (uint32_t)((bytes + mtu - 1) / mtu);
}

/*
 * Makes the completion queue as large as all that can complete between two polls. That is the work
 * of one queue pair, unless queue pairs fail: all those whose timers expire at one time do, and all
 * that have failed complete at once what is posted to them.
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

/* Posts as many of the connection's waiting flows as the queue pair takes. */
static void post(struct oche_rnic *rnic, struct oche_connection *connection, struct oche_qp *qp)
{
    while (connection->posted < connection->queued) {
        uint32_t number = rnic->host->flows->order[connection->first + connection->posted];
        uint64_t va = (uint64_t)number << 32;
        struct oche_send_work work = {
            .wr_id = number,
            .opcode = OCHE_WORK_WRITE,
            .flags = OCHE_WORK_SIGNALED,
            .sge_count = 1,
            .remote_va = va,
            .rkey = OCHE_MEMORY_KEY,
            .group = oche_flow_incast(rnic->host->flows, number),
            .sge[0] = {.va = va,
                       .length = (uint32_t)rnic->host->flows->plan[number].bytes,
                       .lkey = OCHE_MEMORY_KEY},
        };
        if (oche_qp_post_send(qp, &work) != 0)
            return; /* the send queue is full until a flow completes */
        connection->posted++;
        rnic->outstanding++;
        if (OCHE_UNLIKELY(rnic->has_failed))
            make_room(rnic);
    }
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
        qp = open_qp(rnic, plan->connection, plan->dst, 0, plan->initial_rate_bps, now);
    oche_host_flow_started(rnic->host, number, now);
    if (OCHE_UNLIKELY(plan->supply_bps > 0))
        oche_qp_set_supply(qp, plan->supply_bps, now);
    post(rnic, connection, qp);
}

static void end_flow_here(struct oche_rnic *rnic, const struct oche_completion *done, oche_time now)
{
    uint32_t number = (uint32_t)done->wr_id;
    const struct oche_flow_plan *plan = &rnic->host->flows->plan[number];
    struct oche_qp *qp = oche_nic_find_qp(rnic->nic, done->qpn);

    OCHE_MUST(qp != NULL);
    oche_host_flow_completed(rnic->host, number, done->status, oche_qp_retransmitted_packets(qp),
                             oche_qp_timeouts(qp), now);
    rnic->outstanding--;
    rnic->has_failed |= done->status != OCHE_STATUS_SUCCESS;
    if (rnic->host->shared->params->connections == OCHE_CONNECTION_PER_FLOW)
        release_sender(rnic, qp);
    else
        post(rnic, &rnic->host->flows->connections[plan->connection], qp);
    oche_host_start(rnic->host, plan->then_same_source, now);
}

bool oche_rnic_poll(struct oche_rnic *rnic, oche_time now)
{
    struct oche_completion done[POLL_AT_ONCE];
    unsigned count, sum = 0;

    while ((count = oche_cq_poll(rnic->cq, done, POLL_AT_ONCE)) > 0) {
        OCHE_MUST(!oche_cq_overflowed(rnic->cq));
        for (unsigned i = 0; i < count; i++)
            end_flow_here(rnic, &done[i], now);
        sum += count;
    }
    return sum > 0;
}

/* ---- the NIC's port ---- */

static void on_delivered(void *context, struct oche_qp *qp, uint32_t bytes, bool last,
                         oche_time now)
{
    struct oche_rnic *rnic = context;

    (void)bytes;
    if (OCHE_LIKELY(!last))
        return;
    uint32_t number = oche_qp_number(qp) - OCHE_FIRST_QPN;
    struct oche_connection *connection = &rnic->host->flows->connections[number];
    uint32_t flow = oche_host_flow_delivered(rnic->host, number, now);
    const struct oche_flow_plan *plan = &rnic->host->flows->plan[flow];
    connection->packets_delivered += packets_of(rnic, plan->bytes);
    if (connection->delivered == connection->count)
        linger(rnic, qp, now);
    oche_host_start(rnic->host, plan->then_at_receiver, now);
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
    if (connection->dst != rnic->host->address || connection->src != packet->src)
        return NULL; /* an ACK for a sender whose queue pair no longer exists */
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
    .read = oche_memory_read,
    .write = oche_memory_write,
};

/* ---- making and reading ---- */

static void create(void *state, struct oche_host *host)
{
    struct oche_rnic *rnic = state;
    const struct oche_host_shared *shared = host->shared;
    struct oche_arena *arena = &host->shard->arena;
    struct oche_network *network = host->shard->network;
    struct oche_nic_config config = {
        .address = host->address,
        .shared_addresses = (uint32_t)network->host_count,
        .line_rate_bps = network->extras[host->port - network->ports].rate_bps,
        .gap_bytes = network->gap_bytes,
        .ipv6 = shared->params->ipv6,
        .control_class = shared->control_class,
        .acks_with_data = !shared->params->ack_priority,
        .deflection = shared->deflection,
        .habits = oche_host_habits(shared->params),
        .max_qps = shared->flows->host_connections[host->address] + 1,
        .max_regions = 1,
        .ecn_threshold_bytes = shared->params->ecn_threshold_bytes,
        .seed = shared->seed,
        .cc = shared->cc,
        .cc_params = shared->cc_params,
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
    oche_memory_add(rnic->nic);
    struct oche_qp_config typical = qp_config(rnic, 0, false);
    rnic->qp_bytes =
        (uint32_t)oche_lines(oche_qp_bytes(rnic->nic, &typical) + sizeof(struct oche_rnic_parked));
}

/* Returns the size of a frame with payload; `params` is the congestion-control scheme, or NULL. */
static uint32_t data_frame(const struct oche_host_params *hosts, const void *params, uint8_t opcode,
                           uint32_t payload_bytes)
{
    const struct oche_cc_scheme *cc = params;
    uint32_t trailer = cc != NULL && cc->trailer ? OCHE_TRAILER_BYTES : 0;

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

/*
 * Describes the packets of a WRITE: the first (or only) one carries a RETH, and with a recovery
 * scheme that places what arrives behind a gap (core/wire/extension.h) all of them do. The last one
 * may be short.
 */
static void frames(const struct oche_host_params *hosts, const void *params,
                   const struct oche_recovery_scheme *recovery, uint64_t bytes,
                   struct oche_frames *out)
{
    const bool placed = recovery != NULL && recovery->extend != NULL;
    uint64_t mtu = hosts->mtu_bytes, count = (bytes + mtu - 1) / mtu;
    uint32_t full = (uint32_t)mtu, last = (uint32_t)(bytes - (count - 1) * mtu);

    *out = (struct oche_frames){.count = count};
    out->first_bytes = OCHE_GAP_BYTES + (count == 1 ? data_frame(hosts, params, 0x0a, last)
                                                    : data_frame(hosts, params, 0x06, full));
    out->middle_bytes =
        OCHE_GAP_BYTES + data_frame(hosts, params, placed ? OCHE_RC_WRITE_MIDDLE_AT : 0x07, full);
    out->last_bytes =
        OCHE_GAP_BYTES + data_frame(hosts, params, placed ? OCHE_RC_WRITE_LAST_AT : 0x08, last);
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

static uint32_t arrived_bytes(void *state, uint32_t connection)
{
    const struct oche_qp *qp = find(state, connection);

    return qp == NULL ? 0 : oche_qp_arrived_bytes(qp);
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
    .stats = stats,
    .scheme_counters = scheme_counters,
    .late_packets = late_packets,
    .corrupt_bytes = corrupt_bytes,
    .rate_bps = rate_bps,
    .arrived_bytes = arrived_bytes,
    .sent_again = sent_again,
    .losses = losses,
};
