/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of connections: their queue pairs, and the library's port to them. */
#include "core/qp/nic.h"
#include "sim/endpoint/rogue/read_limit.h"
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/network/flow.h"

#define NO_PIECES   4 /* of an end that only receives */
#define FEW_PIECES  8 /* of a sender of short flows */
#define MOST_PIECES 512
#define NO_PIECE    (UINT64_MAX - 1) /* wr_id of what is no piece of the library's */
#define RECEIVE     (UINT64_MAX - 2) /* wr_id of receives */
#define DATAGRAMS   64
#define ANSWERS     16 /* UC: immediate data that may wait to be polled */

static uint64_t line_rate(const struct oche_rogue *rogue)
{
    const struct oche_network *network = rogue->host->shard->network;

    return network->extras[rogue->host->port - network->ports].rate_bps;
}

uint32_t oche_rogue_depth(const struct oche_rogue *rogue, uint32_t connection)
{
    const struct oche_connection *of = &rogue->host->flows->connections[connection];
    uint32_t depth = FEW_PIECES;

    if (of->src != rogue->host->address)
        return NO_PIECES;
    if (rogue->params->verb_bytes > 0)
        return MOST_PIECES;
    uint64_t bytes = rogue_segment_bytes(&rogue->params->library, line_rate(rogue));
    uint64_t segments =
        (of->bytes + of->count * (bytes - 1)) / bytes; /* rounded up for each flow */
    while (depth < segments && depth < MOST_PIECES)
        depth *= 2;
    return depth;
}

/* ---- the library's port ---- */

static bool post(void *context, unsigned qp, const struct rogue_piece *piece)
{
    struct oche_rogue_end *end = context;
    uint64_t va = piece->verb->id << 32 | (piece->verb->user + piece->offset);
    const uint8_t opcode = piece->verb->kind == ROGUE_READ ? OCHE_WORK_READ : OCHE_WORK_WRITE;
    struct oche_send_work work = {
        .wr_id = piece->number,
        .opcode = piece->echo ? OCHE_WORK_WRITE_IMM : opcode,
        .flags = piece->signaled ? OCHE_WORK_SIGNALED : 0,
        .imm = piece->echo_imm,
        .sge_count = 1,
        .remote_va = va,
        .rkey = OCHE_HOST_MEMORY_KEY,
        .sge[0] = {.va = va, .length = piece->bytes, .lkey = OCHE_HOST_MEMORY_KEY},
    };

    return oche_rogue_post_work(end, qp, &work);
}

/* Posts an empty WRITE, and ignores its completion. If there is no room for it, it is lost. */
static void answer(void *context, uint32_t imm)
{
    struct oche_rogue_end *end = context;
    struct oche_send_work work = {
        .wr_id = NO_PIECE, .opcode = OCHE_WORK_WRITE_IMM, .imm = imm, .rkey = OCHE_HOST_MEMORY_KEY};

    oche_rogue_post_work(end, 0, &work);
}

static void limit(void *context, unsigned qp, uint64_t bps)
{
    struct oche_rogue_end *end = context;

    oche_qp_set_rate_limit(end->qps[qp], bps, end->rogue->now);
}

/*
 * The peer's library limits the data that it sends for our READs (RoGUE sec 3.4): an empty WRITE
 * carries the rate (read_limit.h).
 */
static void limit_reads(void *context, unsigned qp, uint64_t bps)
{
    struct oche_rogue_end *end = context;
    struct oche_send_work work = {.wr_id = NO_PIECE,
                                  .opcode = OCHE_WORK_WRITE_IMM,
                                  .imm = oche_read_limit_imm(bps),
                                  .rkey = OCHE_HOST_MEMORY_KEY};

    oche_rogue_post_work(end, qp, &work);
}

/* Describes the packets of a READ's data: an AETH is in the first one and in the last one. */
static void read_frames(const struct oche_host_params *hosts, uint64_t bytes,
                        struct oche_frames *out)
{
    uint64_t mtu = hosts->mtu_bytes, count = bytes > mtu ? (bytes + mtu - 1) / mtu : 1;
    uint32_t full = (uint32_t)mtu, last = (uint32_t)(bytes - (count - 1) * mtu);
    uint8_t first = count == 1 ? OCHE_RC_READ_RESPONSE_ONLY : OCHE_RC_READ_RESPONSE_FIRST;

    out->count = count;
    out->first_bytes =
        OCHE_GAP_BYTES + oche_frame_bytes(first, count == 1 ? last : full, hosts->ipv6);
    out->middle_bytes =
        OCHE_GAP_BYTES + oche_frame_bytes(OCHE_RC_READ_RESPONSE_MIDDLE, full, hosts->ipv6);
    out->last_bytes =
        OCHE_GAP_BYTES + oche_frame_bytes(OCHE_RC_READ_RESPONSE_LAST, last, hosts->ipv6);
}

static uint64_t line_bytes(void *context, const struct rogue_piece *piece, uint64_t *last_packet)
{
    const struct oche_rogue_end *end = context;
    const struct oche_host_params *hosts = end->rogue->host->shared->params;
    struct oche_frames frames;

    if (piece->verb->kind == ROGUE_READ)
        read_frames(hosts, piece->bytes, &frames);
    else
        oche_endpoint_rnic.frames(hosts, NULL, NULL, OCHE_VERB_WRITE, piece->bytes, &frames);
    *last_packet = frames.count == 1 ? frames.first_bytes : frames.last_bytes;
    return frames.count == 1
               ? frames.first_bytes
               : frames.first_bytes + (frames.count - 2) * frames.middle_bytes + frames.last_bytes;
}

static void ended(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                  int status)
{
    oche_rogue_verb_ended(context, verb, outcome, status);
}

static void fail(void *context, unsigned qp)
{
    struct oche_rogue_end *end = context;

    oche_qp_fail(end->qps[qp], end->rogue->now);
}

/* Flows of one connection take one path, whichever queue pair they are on. */
static struct oche_qp_connection facts_of(const struct oche_rogue_end *end, uint32_t peer,
                                          unsigned qp)
{
    const struct oche_rogue *rogue = end->rogue;
    const struct oche_host_params *params = rogue->host->shared->params;
    const struct oche_network *network = rogue->host->shard->network;
    uint32_t hash = oche_host_flow_hash(rogue->host->shared->seed, end->connection);

    return (struct oche_qp_connection){
        .remote_address = peer,
        .remote_qpn = oche_rogue_qpn(end->connection, qp),
        .udp_source_port = (uint16_t)(0xc000 | (hash & 0x3fff)),
        .flow_hash = hash,
        .ack_every_packets = (uint32_t)params->ack_every_packets,
        .window_packets = (uint32_t)params->window_packets,
        .ack_timeout = params->ack_timeout,
        .retry_count = (uint32_t)rogue->params->hardware_retries,
        .rnr_retry = UINT32_MAX,
        .min_rnr_timer = 1,
        .extensions = true,
        .peer_line_rate_bps = network->extras[network->nodes[peer].first_port].rate_bps,
    };
}

static uint32_t peer_of(const struct oche_rogue_end *end)
{
    const struct oche_connection *connection =
        &end->rogue->host->flows->connections[end->connection];

    return connection->src == end->rogue->host->address ? connection->dst : connection->src;
}

static void connect(struct oche_rogue_end *end, unsigned qp, uint32_t send_psn, uint32_t recv_psn)
{
    struct oche_qp_connection to = facts_of(end, peer_of(end), qp);
    oche_time now = end->rogue->now;

    to.send_psn = send_psn;
    to.recv_psn = recv_psn;
    bool ready = oche_qp_init(end->qps[qp], now) &&
                 oche_qp_ready_to_receive(end->qps[qp], &to, now) &&
                 oche_qp_ready_to_send(end->qps[qp], now);
    OCHE_MUST(ready);
}

/* Posts receives for immediate data, where the queue pair takes any. */
static void post_receives(struct oche_rogue_end *end, unsigned qp)
{
    while (oche_qp_post_recv(end->qps[qp], &(struct oche_recv_work){.wr_id = RECEIVE}) == 0)
        ;
}

static void restart(void *context, unsigned qp, uint32_t send_psn, uint32_t recv_psn)
{
    struct oche_rogue_end *end = context;

    end->retransmitted += oche_qp_retransmitted_packets(end->qps[qp]);
    end->timeouts += oche_qp_timeouts(end->qps[qp]);
    oche_qp_reset(end->qps[qp]);
    oche_rogue_forget_posts(end, qp);
    connect(end, qp, send_psn, recv_psn);
    post_receives(end, qp);
    if (end->supply_bps > 0)
        oche_qp_set_supply(end->qps[qp], end->supply_bps, end->rogue->now);
}

uint32_t oche_rogue_psn(bool receiver, uint32_t connection, unsigned qp, uint32_t epoch)
{
    if (epoch == 0)
        return 0;
    uint64_t mixed = ((uint64_t)connection << 32 | epoch << 2 | qp << 1 | receiver) *
                     UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 40) & OCHE_PSN_MASK;
}

static uint32_t new_psn(void *context, unsigned qp, uint32_t epoch)
{
    const struct oche_rogue_end *end = context;

    return oche_rogue_psn(peer_of(end) == end->rogue->host->flows->connections[end->connection].src,
                          end->connection, qp, epoch);
}

static void tell(void *context, const struct rogue_resync *message)
{
    oche_rogue_tell(context, message);
}

static bool take_limiter(void *context)
{
    struct oche_rogue_end *end = context;

    return rogue_limiters_take(&end->rogue->limiters, &end->limited);
}

static void give_limiter(void *context)
{
    struct oche_rogue_end *end = context;
    struct rogue_limited *next = rogue_limiters_give(&end->rogue->limiters, &end->limited);

    if (next == NULL)
        return;
    end = (void *)((char *)next - offsetof(struct oche_rogue_end, limited));
    end->granted = true;
    oche_rogue_wait_for_poll(end);
}

static bool limiter_wanted(void *context)
{
    const struct oche_rogue_end *end = context;

    return rogue_limiters_wanted(&end->rogue->limiters);
}

static const struct rogue_port library_port = {
    .post = post,
    .limit = limit,
    .limit_reads = limit_reads,
    .line_bytes = line_bytes,
    .ended = ended,
    .fail = fail,
    .restart = restart,
    .new_psn = new_psn,
    .answer = answer,
    .tell = tell,
    .take_limiter = take_limiter,
    .give_limiter = give_limiter,
    .limiter_wanted = limiter_wanted,
};

/* ---- making ends ---- */

/* True if queue pairs take immediate data. */
static bool has_receives(const struct oche_rogue *rogue)
{
    return rogue->params->library.transport == ROGUE_UC || rogue->params->verb == OCHE_ROGUE_READS;
}

static struct oche_qp_config qp_config(const struct oche_rogue *rogue, uint32_t connection,
                                       unsigned qp, struct oche_rogue_end *end)
{
    const struct oche_host_shared *shared = rogue->host->shared;
    const struct oche_connection *of = &rogue->host->flows->connections[connection];
    const bool uc = rogue->params->library.transport == ROGUE_UC;
    const uint32_t reads = rogue->params->verb == OCHE_ROGUE_READS
                               ? (uint32_t)rogue->host->shared->params->outstanding_reads
                               : 0;
    const uint32_t pieces = oche_rogue_depth(rogue, connection);
    /* includes empty WRITEs */
    const uint32_t sends = pieces < 2 * ANSWERS ? 4 * ANSWERS : 2 * pieces;

    return (struct oche_qp_config){
        .qpn = oche_rogue_qpn(connection, qp),
        .transport = uc ? OCHE_TRANSPORT_UC : OCHE_TRANSPORT_RC,
        .traffic_class = of->priority ? shared->priority_class : OCHE_DATA_CLASS,
        .pkey = 0xffff,
        .pd = 1,
        .mtu_bytes = (uint32_t)shared->params->mtu_bytes,
        .send_depth = has_receives(rogue) ? sends : pieces,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
        .recv_depth = has_receives(rogue) ? ANSWERS : 0,
        .responder_resources = reads,
        .initiator_depth = reads,
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .user = end,
    };
}

/*
 * Returns the entries of an end's completion queue. A flush completes what is posted, and a marker;
 * nothing is posted on one queue pair before the other is empty. Beside pieces there are empty
 * WRITEs, which complete if they fail, and receives.
 */
static uint32_t entries_of(const struct oche_rogue *rogue, uint32_t connection)
{
    uint32_t depth = oche_rogue_depth(rogue, connection);

    if (!has_receives(rogue))
        return 2 * depth;
    return 4 * depth < 8 * ANSWERS ? 8 * ANSWERS : 4 * depth;
}

/*
 * The first bytes of the parts of an end. A completion queue, queue pairs and the library follow
 * them.
 */
struct oche_rogue_parts {
    struct oche_rogue_end *end;
};

#define PARTS_HEAD oche_lines(sizeof(struct oche_rogue_parts))

static struct oche_rogue_end *end_of(const struct oche_cq *cq)
{
    return ((const struct oche_rogue_parts *)(const void *)((const char *)cq - PARTS_HEAD))->end;
}

static struct rogue_config library_config(struct oche_rogue_end *end)
{
    struct oche_rogue *rogue = end->rogue;
    const struct oche_network *network = rogue->host->shard->network;

    return (struct rogue_config){
        .params = &rogue->params->library,
        .port = &library_port,
        .context = end,
        .status_lost = OCHE_STATUS_RETRY_EXCEEDED,
        .line_rate_bps = line_rate(rogue),
        .peer_line_rate_bps = network->extras[network->nodes[peer_of(end)].first_port].rate_bps,
        .mtu_bytes = (uint32_t)rogue->host->shared->params->mtu_bytes,
        .depth = oche_rogue_depth(rogue, end->connection),
    };
}

size_t oche_rogue_parts_bytes(const struct oche_rogue_end *end)
{
    struct oche_rogue_end *of = (struct oche_rogue_end *)end;
    const struct rogue_config library = library_config(of);
    const struct oche_qp_config qp = qp_config(end->rogue, end->connection, 0, of);

    return PARTS_HEAD + oche_lines(oche_cq_bytes(entries_of(end->rogue, end->connection))) +
           2 * oche_lines(oche_qp_bytes(end->rogue->nic, &qp)) +
           oche_lines(rogue_connection_bytes(&library));
}

void oche_rogue_make_parts(struct oche_rogue_end *end, struct oche_rogue_parts *parts)
{
    struct oche_rogue *rogue = end->rogue;
    const uint32_t entries = entries_of(rogue, end->connection);
    const struct rogue_config library = library_config(end);
    char *memory = (char *)parts + PARTS_HEAD;

    parts->end = end;
    end->parts = parts;
    end->noted = 0;
    end->cq = oche_cq_create(memory, entries);
    memory += oche_lines(oche_cq_bytes(entries));
    oche_cq_arm(end->cq, false);
    for (unsigned qp = 0; qp < 2; qp++) {
        struct oche_qp_config config = qp_config(rogue, end->connection, qp, end);
        end->qps[qp] = oche_qp_create(rogue->nic, memory, &config);
        memory += oche_lines(oche_qp_bytes(rogue->nic, &config));
        OCHE_MUST(end->qps[qp] != NULL);
        connect(end, qp, end->parked[qp].send_psn, end->parked[qp].recv_psn);
        post_receives(end, qp);
    }
    end->library = rogue_connection_create(memory, &library);
    rogue_set_retry_count(end->library, (uint32_t)rogue->host->shared->params->retry_count);
}

struct oche_rogue_end *oche_rogue_open(struct oche_rogue *rogue, uint32_t connection)
{
    struct oche_rogue_end *end = oche_rogue_find_parked(rogue, connection);
    bool again = end != NULL;

    if (!again) {
        end = oche_arena_take(&rogue->host->shard->arena, sizeof(*end));
        *end = (struct oche_rogue_end){
            .rogue = rogue,
            .next = rogue->ends,
            .connection = connection,
            .first_failed = UINT32_MAX,
            .look_at = OCHE_NEVER,
            .noise = oche_random_stream(rogue->host->shared->seed, "rogue rtt noise", connection)};
        rogue->ends = end;
        oche_rogue_add_timer(end);
    }
    oche_rogue_make_parts(end, oche_rogue_take_parts(end, rogue->now));
    if (again) {
        const uint32_t epochs[2] = {end->parked[0].epoch, end->parked[1].epoch};
        rogue_resume(end->library, epochs, end->parked_active);
        oche_rogue_flows_over(end, rogue->now);
    }
    return end;
}

struct oche_rogue_end *oche_rogue_find(const struct oche_rogue *rogue, uint32_t connection)
{
    const struct oche_qp *qp = oche_nic_find_qp(rogue->nic, oche_rogue_qpn(connection, 0));

    return qp == NULL ? NULL : oche_qp_user(qp);
}

/* ---- the NIC's port ---- */

static void on_delivered(void *context, struct oche_qp *qp, uint32_t bytes, bool last,
                         oche_time now)
{
    struct oche_rogue *rogue = context;

    if (!last || qp == rogue->datagrams || rogue->params->verb == OCHE_ROGUE_READS)
        return; /* READs are delivered with their completion */
    uint64_t va = oche_qp_delivered_write(qp, &bytes);
    rogue->now = now;
    oche_rogue_arrived(oche_qp_user(qp), va, bytes, now);
}

static struct oche_qp *on_unknown_qp(void *context, const struct oche_packet *packet, oche_time now)
{
    struct oche_rogue *rogue = context;
    uint32_t number = oche_connection_of(packet->dest_qpn);

    if (packet->dest_qpn < OCHE_FIRST_QPN || number >= rogue->host->flows->connection_count)
        return NULL;
    const struct oche_connection *connection = &rogue->host->flows->connections[number];
    if (connection->dst != rogue->host->address || connection->src != packet->src)
        return NULL;
    rogue->now = now;
    return oche_rogue_open(rogue, number)->qps[oche_rogue_which(packet->dest_qpn)];
}

void oche_rogue_wait_for_poll(struct oche_rogue_end *end)
{
    if (end->waits)
        return;
    end->waits = true;
    end->next_waiting = end->rogue->waiting;
    end->rogue->waiting = end;
}

static void on_completion(void *context, struct oche_cq *cq)
{
    struct oche_rogue *rogue = context;

    struct oche_rogue_end *end = cq == rogue->datagram_cq ? NULL : end_of(cq);

    if (OCHE_UNLIKELY(rogue->host->latency != NULL))
        oche_rogue_await_completions(rogue, cq, end);
    else if (end == NULL)
        rogue->datagram_waits = true;
    else
        oche_rogue_wait_for_poll(end);
}

#define PORT                                                                                       \
    .delivered = on_delivered, .unknown_qp = on_unknown_qp, .completion_event = on_completion

static const struct oche_nic_port plain_port = {PORT};
static const struct oche_nic_port payload_port = {PORT, .read = oche_host_memory_read,
                                                  .write = oche_host_memory_write};

/* ---- polling ---- */

/* Returns the time stamp of a completion that ends a round trip. */
static oche_time stamp(struct oche_rogue_end *end, const struct oche_completion *done)
{
    oche_time noise = end->rogue->params->rtt_noise;
    oche_time written = oche_rogue_written(end->rogue, done);

    return noise == 0 ? written : written + oche_random_below(&end->noise, noise + 1);
}

static void immediate(struct oche_rogue_end *end, const struct oche_completion *done, oche_time now)
{
    unsigned qp = oche_rogue_which(done->qpn);

    if (done->status != OCHE_STATUS_SUCCESS)
        return;
    post_receives(end, qp);
    if (end->rogue->params->verb == OCHE_ROGUE_READS)
        oche_qp_set_rate_limit(end->qps[qp], oche_read_limit_bps(done->imm), now);
    else if (done->bytes == 0)
        rogue_immediate(end->library, done->imm, true, stamp(end, done), now);
    else
        rogue_immediate(end->library, done->imm, false, oche_rogue_written(end->rogue, done), now);
    oche_rogue_note_sample(end, now);
}

static void poll_end(struct oche_rogue_end *end, oche_time now)
{
    const bool uc = end->rogue->params->library.transport == ROGUE_UC;
    struct oche_completion done[32];
    unsigned count;

    if (end->granted) {
        end->granted = false;
        rogue_pump(end->library, now);
    }
    while ((count = oche_rogue_take_completions(end->rogue, end->cq, done, 32)) > 0)
        for (unsigned i = 0; i < count; i++) {
            if (done[i].wr_id == RECEIVE) {
                immediate(end, &done[i], now);
                continue;
            }
            struct rogue_completion completion = {
                .number = done[i].wr_id,
                .completed = uc ? done[i].time : stamp(end, &done[i]),
                .qp = oche_rogue_which(done[i].qpn),
                .status = done[i].status,
                .success = done[i].status == OCHE_STATUS_SUCCESS,
                .lost = done[i].status == OCHE_STATUS_RETRY_EXCEEDED,
                .flushed = done[i].status == OCHE_STATUS_FLUSHED,
            };
            rogue_completed(end->library, &completion, now);
            oche_rogue_note_sample(end, now);
        }
    oche_rogue_await_completions(end->rogue, end->cq, end);
    oche_rogue_report(end, now);
}

bool oche_rogue_poll(struct oche_rogue *rogue, oche_time now)
{
    bool any = false;

    rogue->now = now;
    while (rogue->waiting != NULL || rogue->datagram_waits) {
        struct oche_rogue_end *end = rogue->waiting;
        any = true;
        if (end == NULL) {
            rogue->datagram_waits = false;
            oche_rogue_poll_datagrams(rogue, now);
            oche_rogue_await_completions(rogue, rogue->datagram_cq, NULL);
            continue;
        }
        rogue->waiting = end->next_waiting;
        end->waits = false;
        poll_end(end, now);
    }
    return any;
}

/* ---- the host ---- */

static void make_datagrams(struct oche_rogue *rogue)
{
    struct oche_arena *arena = &rogue->host->shard->arena;
    struct oche_qp_config config = {
        .qpn = OCHE_ROGUE_DATAGRAM_QPN,
        .transport = OCHE_TRANSPORT_UD,
        .traffic_class = OCHE_DATA_CLASS,
        .pkey = 0xffff,
        .pd = 1,
        .mtu_bytes = (uint32_t)rogue->host->shared->params->mtu_bytes,
        .send_depth = DATAGRAMS,
        .recv_depth = DATAGRAMS,
        .qkey = OCHE_ROGUE_QKEY,
    };

    rogue->datagram_cq =
        oche_cq_create(oche_arena_take(arena, oche_cq_bytes(4 * DATAGRAMS)), 4 * DATAGRAMS);
    oche_cq_arm(rogue->datagram_cq, false);
    config.send_cq = config.recv_cq = rogue->datagram_cq;
    rogue->datagrams = oche_qp_create(
        rogue->nic, oche_arena_take(arena, oche_qp_bytes(rogue->nic, &config)), &config);
    OCHE_MUST(rogue->datagrams != NULL);
    struct oche_qp_connection none = {0};
    bool ready = oche_qp_init(rogue->datagrams, 0) &&
                 oche_qp_ready_to_receive(rogue->datagrams, &none, 0) &&
                 oche_qp_ready_to_send(rogue->datagrams, 0);
    OCHE_MUST(ready);
    oche_rogue_receive_datagrams(rogue);
}

void oche_rogue_create(void *state, struct oche_host *host)
{
    struct oche_rogue *rogue = state;
    const struct oche_host_shared *shared = host->shared;
    struct oche_network *network = host->shard->network;
    struct oche_nic_config config = {
        .address = host->address,
        .shared_addresses = (uint32_t)network->host_count,
        .line_rate_bps = network->extras[host->port - network->ports].rate_bps,
        .gap_bytes = network->gap_bytes,
        .ipv6 = shared->params->ipv6,
        .control_class = shared->control_class,
        .acks_with_data = !shared->params->ack_priority,
        .max_qps = 2 * shared->flows->host_connections[host->address] + 2,
        .max_regions = 1,
        .ecn_threshold_bytes = OCHE_NEVER,
        .habits = &oche_host_nic(shared, host->address)->habits,
        .seed = shared->seed,
        .cc = oche_cc_find("none"),
        .recovery = shared->recovery,
        .recovery_params = shared->recovery_params,
        .port = shared->payload ? &payload_port : &plain_port,
        .port_context = rogue,
        .trace = oche_host_trace(host),
    };

    rogue->host = host;
    rogue->datagrams_look_at = OCHE_NEVER;
    rogue->params = shared->endpoint_params;
    rogue->limiters.most = rogue->params->library.rate_limiters;
    if (oche_nic_table_bytes(&config) > 0)
        config.tables = oche_arena_take(&host->shard->tables, oche_nic_table_bytes(&config));
    rogue->nic = oche_nic_create(
        oche_arena_take_spacious(&host->shard->arena, oche_nic_bytes(&config)), &config);
    host->nic = rogue->nic;
    oche_host_memory_add(rogue->nic);
    oche_rogue_make_timers(rogue, shared->flows->host_connections[host->address] + 1);
    make_datagrams(rogue);
}
