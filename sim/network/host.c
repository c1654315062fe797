/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host. Three events reach it: a packet arrived, its port is free, its timer is due. Each handler
 * ends by sending what may be sent now and asking for the next wake-up. Sending and receiving is
 * the job of the host's endpoint.
 */
#include "sim/network/host.h"

#include <stdlib.h>
#include <string.h>

#include "sim/network/fcp_trace.h"
#include "sim/network/rnic.h"
#include "sim/network/feedback.h"
#include "sim/network/flow_notes.h"
#include "sim/network/host_credits.h"
#include "sim/network/host_jobs.h"
#include "sim/network/host_state.h"
#include "sim/network/payload.h"
#include "sim/network/slow_host.h"

static const char *const connection_choices[] = {"per_flow", "per_pair", "per_chain", NULL};

static const char *const timeout_choices[] = {"as_asked", "connectx", NULL};

static const char *const reordering_choices[] = {"refuse", "accept", NULL};

static const char *const timer_restart_choices[] = {"progress", "packet", NULL};

static bool check_ack_timeout(const void *values, const void *endpoint, struct oche_error *error)
{
    const struct oche_host_params *params = values;

    (void)endpoint;
    if (params->ack_timeout == 0 || params->ack_timeout >= OCHE_US)
        return true;
    return oche_fail(error, "less than 1us; at least that, or auto");
}

static bool check_feedback_jitter(const void *values, const void *of, struct oche_error *error)
{
    const struct oche_host_params *params = values;
    const struct oche_endpoint *endpoint = of;

    if (params->feedback_jitter == 0 || endpoint == NULL || endpoint->is_feedback != NULL)
        return true;
    return oche_fail(error,
                     "is for ACKs and CNPs, and %s has none; 0, or another congestion_control",
                     endpoint->name);
}

static bool check_nic(const void *values, const void *of, struct oche_error *error)
{
    const struct oche_host_params *params = values;
    const struct oche_endpoint *endpoint = of;

    if (params->nic == NULL || endpoint == NULL || endpoint->roce)
        return true;
    return oche_fail(error, "congestion_control %s is no RNIC's; leave it out", endpoint->name);
}

static bool check_entropy(const void *values, const void *of, struct oche_error *error)
{
    const struct oche_host_params *params = values;
    const struct oche_endpoint *endpoint = of;

    if (params->entropy == 0 || endpoint == NULL)
        return true;
    return oche_fail(error, "congestion_control %s has one path for each connection; ecmp",
                     endpoint->name);
}

static const struct oche_param host_params[] = {
    OCHE_PRESET_ROW(struct oche_host_params),
    {OCHE_PARAM_AS("mtu", struct oche_host_params, mtu_bytes), OCHE_IS_BYTES(1024, 256, 9000),
     .where = "rocev2.md#mtu",
     .help = "payload of a full packet; verbs allow 256, 512, 1024, 2048 and 4096"},
    {OCHE_PARAM_AS("ack_every", struct oche_host_params, ack_every_packets),
     OCHE_IS_COUNT(1, 1, 1 << 20), .where = "our choice; error-recovery.md#ack-interval",
     .help = "every n-th packet of a message asks for an ACK; the last one always does"},
    {OCHE_PARAM(struct oche_host_params, ack_priority), OCHE_IS_BOOL(true),
     .where = "our choice; rocev2.md#dscp",
     .help = "ACKs and NAKs travel above data, as CNPs do; false: in their data's class, where "
             "they queue and are paused with it"},
    {OCHE_PARAM_AS("window", struct oche_host_params, window_packets), OCHE_IS_COUNT(0, 0, 1 << 23),
     .where = "error-recovery.md#l9", .traits = OCHE_PARAM_NOT_FLUID, .usual_most = 200,
     .help = "packets in flight at most on one queue pair; 0: half the PSN space"},
    {OCHE_PARAM(struct oche_host_params, ack_timeout), OCHE_IS_TIME(10 * OCHE_MS, 0, OCHE_NEVER),
     .zero_is_auto = true, .check = check_ack_timeout,
     .where = "error-recovery.md#ack-timeout; value: error-recovery.md#parameters",
     .help = "without progress for so long, go back; auto: four times the longest round trip of "
             "the empty network, feedback_jitter, dma_latency and late packets, 10ms at least; "
             "never: wait for ever"},
    {OCHE_PARAM(struct oche_host_params, retry_count),
     OCHE_IS_COUNT(OCHE_HOST_RETRIES_NO_LIMIT, 0, UINT32_MAX),
     .where = "our choice (as good as no limit); verbs: rocev2.md#retries", .usual_most = 30,
     .help = "timeouts without progress before the queue pair fails; verbs allow 0 to 7"},
    {OCHE_PARAM(struct oche_host_params, nic), OCHE_IS_TEXT, .where = "nics.md", .check = check_nic,
     .help = "the hosts' adapter, such as connectx-6, or connectx-6,limiter_lag=40KB, or a file "
             "ending in .yaml; `oche nic` lists adapters; without it an ideal RNIC. The keys "
             "limiter_lag, resend_one_verb_at_a_time, timeouts and timer_restart replace what it "
             "says if they are not at their defaults"},
    {OCHE_PARAM_AS("ecn_threshold", struct oche_host_params, ecn_threshold_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, OCHE_NEVER), .where = "dart.md#d25",
     .help = "backlog of the host's own NIC above which it marks CE; never: it does not"},
    {OCHE_PARAM_AS("limiter_lag", struct oche_host_params, limiter_lag_bytes),
     OCHE_IS_BYTES(0, 0, 1 << 30), .where = "RoGUE sec 3.3; rogue.md#habits",
     .help = "a queue pair sends so much before a new limit of its rate holds; ConnectX-3, -4: up "
             "to 160KB"},
    {OCHE_PARAM(struct oche_host_params, resend_one_verb_at_a_time), OCHE_IS_BOOL(false),
     .where = "RoGUE sec 5.2; rogue.md#habits",
     .help = "messages that are sent again wait each for the ACK of the one before (ConnectX-3)"},
    {OCHE_PARAM(struct oche_host_params, timeouts),
     OCHE_IS_CHOICE(OCHE_TIMEOUTS_AS_ASKED, timeout_choices), .where = "nics.md#doubling",
     .help = "ACK timeouts are ack_timeout, or 2, 4, 8, then 16 ms in a row whatever that is; more "
             "kinds come with nic"},
    {OCHE_PARAM(struct oche_host_params, timer_restart),
     OCHE_IS_CHOICE(OCHE_TIMER_RESTARTS_AT_PROGRESS, timer_restart_choices),
     .where = "error-recovery.md#l10",
     .help = "when the ACK timer begins anew: with progress, or also with each packet that the "
             "queue pair sends"},
    {OCHE_PARAM(struct oche_host_params, outstanding_reads), OCHE_IS_COUNT(16, 1, 255),
     .needs = "workload.verb=read|workload.file", .where = "our choice",
     .help = "READs that a queue pair may have under way at a time (verbs: max_rd_atomic)"},
    {OCHE_PARAM(struct oche_host_params, pfc_response), OCHE_IS_TIME(500 * OCHE_NS, 0, OCHE_MS),
     .needs = "switch.pfc,@pfc", .where = "dcqcn.md#a12",
     .help = "from the arrival of a PAUSE frame until the host obeys"},
    {OCHE_PARAM(struct oche_host_params, feedback_jitter), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "timely.md#feedback-jitter", .check = check_feedback_jitter,
     .traits = OCHE_PARAM_DELAYS_ACKS | OCHE_PARAM_NOT_FLUID, .usual_most = 100 * OCHE_US,
     .help = "each ACK, NAK and CNP reaches its sender late by a random time, up to this"},
    {OCHE_PARAM(struct oche_host_params, doorbell_latency), OCHE_IS_TIME(0, 0, OCHE_MS),
     .where = "RoGUE sec 5.4; rogue.md#host-latency", .traits = OCHE_PARAM_NOT_FLUID,
     .usual_most = 2 * OCHE_US,
     .help = "from a post until the NIC has the work request: a write to the NIC's doorbell, and "
             "the NIC's read"},
    {OCHE_PARAM(struct oche_host_params, dma_latency), OCHE_IS_TIME(0, 0, OCHE_MS),
     .where = "RoGUE sec 5.4; rogue.md#host-latency",
     .traits = OCHE_PARAM_DELAYS_ACKS | OCHE_PARAM_NOT_FLUID, .usual_most = 2 * OCHE_US,
     .help = "each transaction of data between NIC and memory: before a message's first byte "
             "leaves, and after its last byte has arrived"},
    {OCHE_PARAM(struct oche_host_params, completion_latency), OCHE_IS_TIME(0, 0, OCHE_MS),
     .where = "RoGUE sec 5.4; rogue.md#host-latency", .traits = OCHE_PARAM_NOT_FLUID,
     .usual_most = 2 * OCHE_US,
     .help = "from a completion at the NIC until its program has it from the completion queue"},
    {OCHE_PARAM(struct oche_host_params, connections),
     OCHE_IS_CHOICE(OCHE_CONNECTION_PER_FLOW, connection_choices), .where = "our choice",
     .help = "a fresh queue pair for each flow; one for each pair of hosts; or one for messages "
             "that follow one another from host to host, as those of a closed loop"},
    {OCHE_PARAM_AS("priority_upto", struct oche_host_params, priority_bytes),
     OCHE_IS_BYTES(0, 0, UINT64_C(1) << 31), .where = "Dart sec VI-C (Pri-Q)",
     .traits = OCHE_PARAM_NOT_FLUID, .usual_most = 20000,
     .help = "flows of at most this travel in a class of their own, above other data and below "
             "ACKs, CNPs; 0: no such class"},
    {OCHE_PARAM(struct oche_host_params, ipv6), OCHE_IS_BOOL(false),
     .where = "rocev2.md#encapsulation", .help = "RoCEv2 over IPv6: 20 bytes more a packet"},
    {OCHE_PARAM(struct oche_host_params, entropy), OCHE_IS_CHOICE(0, oche_path_choices),
     .where = "load-balancing.md#hosts", .check = check_entropy, .traits = OCHE_PARAM_NOT_FLUID,
     .help =
         "paths of a queue pair's WRITEs and SENDs, by the UDP source port of each packet. ecmp: "
         "one path; oblivious: all in turn; bitmap: without those of marks and losses; reps: "
         "those of good ACKs again; mixed: as reps, else as bitmap"},
    {OCHE_PARAM(struct oche_host_params, paths), OCHE_IS_COUNT(64, 2, OCHE_MOST_PATHS),
     .where = "uet-htsim; load-balancing.md#hosts", .needs = "entropy",
     .help =
         "UDP source ports of a queue pair, a power of two; switches may put several of them on "
         "one way"},
    {OCHE_PARAM(struct oche_host_params, reordering),
     OCHE_IS_CHOICE(OCHE_REORDERING_REFUSE, reordering_choices), .needs = "@reorders",
     .where = "load-balancing.md#order", .traits = OCHE_PARAM_NOT_FLUID,
     .help =
         "packets that are sprayed over paths with a recovery that takes every overtaken packet "
         "for lost, such as go_back_n: an error, or run it nevertheless"},
};

static const struct oche_deployed in_use[] = {{"ack_timeout", {.u = 0}}};

const struct oche_param_table oche_host_params =
    OCHE_PARAM_TABLE_DEPLOYED(host_params, struct oche_host_params, in_use);

void oche_host_add_habits(const struct oche_host_params *params, struct oche_nic_habits *habits)
{
    if (params->limiter_lag_bytes > 0)
        habits->limiter_lag_bytes = params->limiter_lag_bytes;
    if (params->resend_one_verb_at_a_time)
        habits->resend_one_verb_at_a_time = true;
    if (params->timeouts != OCHE_TIMEOUTS_AS_ASKED)
        habits->timeouts.kind = params->timeouts;
    if (params->timer_restart != OCHE_TIMER_RESTARTS_AT_PROGRESS)
        habits->timer_restart = params->timer_restart;
}

/* ---- flows ---- */

uint32_t oche_host_flow_hash(uint64_t seed, uint32_t connection)
{
    struct oche_random random = oche_random_stream(seed, "flow hash", connection);

    return (uint32_t)oche_random_u64(&random);
}

/* Notes what has become of a flow, if another process has its other end. */
static void note_flow(const struct oche_host *host, uint32_t flow, enum oche_flow_event event,
                      unsigned status, oche_time now)
{
    if (OCHE_UNLIKELY(host->shard->flow_notes != NULL))
        oche_flow_notes_add(host->shard->flow_notes, flow, event, status, now);
}

void oche_host_flow_started(struct oche_host *host, uint32_t number, oche_time now)
{
    const struct oche_flow_plan *plan = &host->flows->plan[number];
    struct oche_connection *connection = &host->flows->connections[plan->connection];

    host->flows->order[connection->first + connection->queued++] = number;
    host->flows->sent[number].started = now;
    note_flow(host, number, OCHE_FLOW_STARTED, 0, now);
    if (plan->then_same_source != OCHE_NO_FLOW)
        oche_flows_make_follower(host->flows, plan->then_same_source);
    oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_FLOW_STARTED,
                    OCHE_FIRST_QPN + plan->connection, number, plan->bytes);
}

void oche_host_flow_in_memory(struct oche_host *host, uint32_t number, oche_time now)
{
    const struct oche_flow_plan *plan = &host->flows->plan[number];

    host->flows->received[number].delivered = now;
    note_flow(host, number, OCHE_FLOW_DELIVERED, 0, now);
    if (OCHE_UNLIKELY(host->jobs != NULL))
        oche_host_jobs_delivered(host, number, now);
    oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_FLOW_ENDED,
                    OCHE_FIRST_QPN + plan->connection, number, plan->bytes);
}

/* Returns the flow that is received next on the connection, which has arrived now. */
static uint32_t take_arrived(const struct oche_host *host, uint32_t number)
{
    struct oche_connection *connection = &host->flows->connections[number];

    return host->flows->order[connection->first + connection->delivered++];
}

uint32_t oche_host_flow_delivered(struct oche_host *host, uint32_t number, oche_time now)
{
    const uint32_t flow = take_arrived(host, number);

    oche_host_flow_in_memory(host, flow, now);
    return flow;
}

uint32_t oche_host_flow_arrived(struct oche_host *host, uint32_t number, oche_time now)
{
    if (OCHE_LIKELY(!(host->notes & OCHE_HOST_NOTES_MEMORY)))
        return oche_host_flow_delivered(host, number, now);
    const uint32_t flow = take_arrived(host, number);

    host->flows->received[flow].arrived = true;
    host->shard->pending_deliveries++;
    oche_host_defer(host, &(struct oche_deferred){.until = now + host->latency->dma,
                                                  .number = flow,
                                                  .kind = OCHE_DEFERRED_DELIVERY});
    return flow;
}

uint32_t oche_host_flow_passed_over(struct oche_host *host, uint32_t number)
{
    struct oche_connection *connection = &host->flows->connections[number];
    uint32_t flow = host->flows->order[connection->first + connection->delivered++];

    host->flows->received[flow].passed_over = true;
    note_flow(host, flow, OCHE_FLOW_PASSED, 0, 0);
    return flow;
}

static void count_sent_again(struct oche_flow_sent *sent, const struct oche_connection *connection,
                             uint64_t retransmitted, uint64_t timeouts)
{
    sent->retransmitted_packets = retransmitted - connection->retransmitted;
    sent->timeouts = (uint32_t)timeouts - connection->timeouts;
}

void oche_host_flow_completed(struct oche_host *host, uint32_t number, enum oche_status status,
                              uint64_t retransmitted, uint64_t timeouts, oche_time now)
{
    struct oche_flow_sent *sent = &host->flows->sent[number];
    struct oche_connection *connection =
        &host->flows->connections[host->flows->plan[number].connection];

    host->shard->flows_completed++;
    host->shard->awaited_completed += !host->flows->plan[number].beside;
    connection->completed++;
    sent->completed = now;
    sent->failed = status;
    note_flow(host, number, OCHE_FLOW_COMPLETED, status, now);
    count_sent_again(sent, connection, retransmitted, timeouts);
    connection->retransmitted += sent->retransmitted_packets;
    connection->timeouts += sent->timeouts;
    if (OCHE_UNLIKELY(host->jobs != NULL))
        oche_host_jobs_completed(host, number, now);
}

void oche_host_start(struct oche_host *host, uint32_t number, oche_time now)
{
    if (number != OCHE_NO_FLOW)
        host->endpoint->start(oche_host_endpoint_state(host), number, now);
}

/* ---- events ---- */

/*
 * Each event handler is written once and compiled twice: once for any endpoint, and once for the
 * RNIC alone. In the version for the RNIC the compiler knows the table of functions, and calls them
 * directly. Nearly all hosts have an RNIC.
 */
static const struct oche_endpoint rnic = {
    .receive = oche_rnic_receive,
    .transmit = oche_rnic_transmit,
    .next = oche_rnic_next,
    .next_timer = oche_rnic_next_timer,
    .expire = oche_rnic_expire,
    .flush = oche_rnic_flush,
    .is_feedback = oche_rnic_is_feedback,
};

#define WITH_ENDPOINT(host, event, ...)                                                            \
    do {                                                                                           \
        if (OCHE_LIKELY((host)->endpoint == &oche_endpoint_rnic))                                  \
            event(host, &rnic, __VA_ARGS__);                                                       \
        else                                                                                       \
            event(host, (host)->endpoint, __VA_ARGS__);                                            \
    } while (0)

void oche_host_fetch(const struct oche_host *host, const struct oche_packet *packet, unsigned step)
{
    if (step > 0) {
        if (OCHE_LIKELY(host->nic != NULL))
            oche_nic_fetch(host->nic, packet, step - 1);
        return;
    }
    __builtin_prefetch(host, 1);
    __builtin_prefetch(oche_host_endpoint_state(host), 1);
}

/*
 * Sends a frame of the link layer that is due: credits, or a PAUSE. Returns false if no frame is
 * due.
 */
static OCHE_NOINLINE bool send_of_link(struct oche_host *host, oche_time now)
{
    if (host->slow != NULL)
        return oche_slow_host_send(host, now);
    return oche_host_credits_send(host, now);
}

/* Returns when the link's own timers are next due. */
static OCHE_NOINLINE oche_time next_of_link(struct oche_host *host)
{
    return host->slow != NULL ? oche_slow_host_next(host) : oche_host_credits_next(host);
}

static OCHE_ALWAYS_INLINE void transmit(struct oche_host *host,
                                        const struct oche_endpoint *endpoint,
                                        struct oche_port *port, oche_time now)
{
    struct oche_shard *shard = host->shard;

    if (OCHE_UNLIKELY(host->notes & OCHE_HOST_NOTES_LINK) && send_of_link(host, now))
        return;
    struct oche_packet *packet = oche_packet_take(&shard->pool);

    if (OCHE_UNLIKELY(host->shared->payload))
        oche_payload_buffer(packet);
    if (!endpoint->transmit(oche_host_endpoint_state(host), now, host->classes, packet)) {
        oche_packet_return(&shard->pool, packet);
        return;
    }
    if (OCHE_UNLIKELY(host->notes & OCHE_HOST_NOTES_CREDITS))
        oche_host_credits_sent(host, packet);
    oche_network_send(shard, port, packet, now);
}

/* Returns when the host next does something that it has deferred. */
static OCHE_NOINLINE oche_time next_deferred(const struct oche_host *host)
{
    const oche_time next = oche_feedback_next(&host->feedback);

    return host->latency == NULL ? next
                                 : oche_time_min(next, oche_deferred_next(&host->latency->heap));
}

/* Called at the end of every event: sends if the port is free, and asks for the next wake-up. */
static OCHE_ALWAYS_INLINE void settle(struct oche_host *host, const struct oche_endpoint *endpoint,
                                      struct oche_port *port, oche_time now)
{
    struct oche_shard *shard = host->shard;
    void *state = oche_host_endpoint_state(host);

    if (port->busy_until <= now && !(port->flags & OCHE_PORT_DONE_PENDING))
        transmit(host, endpoint, port, now);
    while (endpoint->flush != NULL && endpoint->flush(state, now))
        if (port->busy_until <= now)
            transmit(host, endpoint, port, now);
    oche_time wake = endpoint->next(state, host->classes);
    /*
     * A queue pair that failed in transmit makes the next one ready; it does not wait for the port.
     */
    if (port->busy_until >= now &&
        (wake < port->busy_until || (wake <= now && port->busy_until > now))) {
        wake = endpoint->next_timer(state);
        /* A timer that is due comes first: a free port would be done again and again. */
        if (port->busy_until > now || wake > now)
            oche_network_want_done(shard, port);
    }
    if (OCHE_UNLIKELY(host->notes & OCHE_HOST_NOTES_LINK))
        wake = oche_time_min(wake, next_of_link(host));
    wake = oche_time_min(wake, host->next_start);
    if (OCHE_UNLIKELY(host->defers != 0))
        wake = oche_time_min(wake, next_deferred(host));
    wake = oche_time_min(wake, host->pause.next);
    if (OCHE_UNLIKELY(wake < now))
        wake = now; /* at once */
    if (wake != OCHE_NEVER)
        oche_network_wake(shard, host->address, wake);
}

/*
 * True if the packet belongs to a flow before the one that is being received. Which flow comes next
 * must not be looked up then: its sender, perhaps in another thread, may be about to start it.
 */
static bool is_of_earlier_flow(const struct oche_flows *flows,
                               const struct oche_connection *connection,
                               const struct oche_packet *packet)
{
    if (connection->delivered == 0 || connection->parts_delivered > 0)
        return false;
    uint32_t before = flows->order[connection->first + connection->delivered - 1];
    const struct oche_flow_path *way = &flows->paths[before];

    return way->packets > 0 && (packet->dest_qpn & OCHE_SHADOW_QPN) == 0 &&
           oche_psn_diff(packet->psn, way->last_psn) <= 0;
}

/*
 * Records the path of a packet that has arrived, for the flow that is being received on its
 * connection, and returns that flow's record. Repeated packets of a flow that is over are not
 * counted: returns NULL.
 */
static struct oche_flow_path *note_way(struct oche_host *host, const struct oche_packet *packet)
{
    const struct oche_flows *flows = host->flows;
    uint32_t number = oche_connection_of(packet->dest_qpn);

    if (packet->kind != OCHE_PACKET_ROCE || !oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD) ||
        packet->dest_qpn < OCHE_FIRST_QPN || number >= flows->connection_count)
        return NULL;
    const struct oche_connection *connection = &flows->connections[number];
    if (connection->dst != host->address || connection->delivered == connection->count ||
        is_of_earlier_flow(flows, connection, packet))
        return NULL;
    uint32_t flow = flows->order[connection->first + connection->delivered];
    const struct oche_deflection *deflection = &host->shared->deflection;
    uint8_t left = packet->bth_reserved & OCHE_BTH_TOKENS;

    struct oche_flow_path *way = &flows->paths[flow];

    if (way->packets == 0 || oche_psn_diff(packet->psn, way->last_psn) > 0)
        way->last_psn = packet->psn;
    way->packets++;
    way->marked += packet->ecn == OCHE_ECN_CE;
    way->links += packet->hops + 1U; /* `hops` does not count the last link yet */
    if ((packet->bth_reserved & OCHE_BTH_HAD_TOKENS) && left < deflection->tokens &&
        deflection->tokens - left > way->deflections)
        way->deflections = (uint8_t)(deflection->tokens - left);
    return way;
}

/* Does what the host has deferred until `now`. */
static OCHE_NOINLINE void release_deferred(struct oche_host *host, oche_time now)
{
    struct oche_packet *packet;

    while ((packet = oche_feedback_take(&host->feedback, now)) != NULL) {
        host->endpoint->receive(oche_host_endpoint_state(host), packet, now);
        oche_packet_return(&host->shard->pool, packet);
    }
    if (host->latency != NULL)
        oche_host_latency_release(host, now);
}

/* True if the packet, which the endpoint could have, waits for data from memory. */
static bool waits_for_memory(struct oche_host *host, struct oche_packet *packet, oche_time now)
{
    return (host->notes & OCHE_HOST_NOTES_MEMORY) && oche_host_latency_holds(host, packet, now);
}

/*
 * Gives a packet that has arrived to the endpoint, and records its path if host->notes asks for it.
 * Returns true if the packet waits for data from memory instead. Whether a mark is suppressed is
 * known only when the endpoint has seen it.
 */
static OCHE_NOINLINE bool receive_noted(struct oche_host *host, struct oche_packet *packet,
                                        oche_time now)
{
    const struct oche_endpoint *endpoint = host->endpoint;
    struct oche_flow_path *way =
        host->notes & OCHE_HOST_NOTES_PATHS ? note_way(host, packet) : NULL;

    if (waits_for_memory(host, packet, now))
        return true;
    endpoint->receive(oche_host_endpoint_state(host), packet, now);
    if (way == NULL || packet->ecn != OCHE_ECN_CE || endpoint->marks == NULL)
        return false;
    enum oche_cc_marks marks = endpoint->marks(oche_host_endpoint_state(host));

    way->suppressed += marks == OCHE_CC_MARKS_SUPPRESSED;
    way->undecided += marks == OCHE_CC_MARKS_UNDECIDED;
    return false;
}

/*
 * Receives a packet, and updates the records that host->notes asks for: path, link credits. Returns
 * true if the packet waits, in the receive buffer of a slow host or for memory, or was dropped.
 */
static OCHE_NOINLINE bool take_noted(struct oche_host *host, struct oche_packet *packet,
                                     oche_time now)
{
    if (host->slow != NULL && oche_slow_host_takes(host, packet, now))
        return true;
    if (host->notes & OCHE_HOST_NOTES_CREDITS)
        oche_host_credits_arrived(host, packet);
    return receive_noted(host, packet, now);
}

/* Runs the link's own timers. Packets that leave the receive buffer reach the endpoint. */
static OCHE_NOINLINE void expire_of_link(struct oche_host *host, oche_time now)
{
    struct oche_packet *packet;

    if (host->slow == NULL) {
        oche_host_credits_expire(host, now);
        return;
    }
    oche_slow_host_expire(host, now);
    while ((packet = oche_slow_host_drain(host, now)) != NULL) {
        if (!receive_noted(host, packet, now))
            oche_packet_return(&host->shard->pool, packet);
    }
}

/* Handles a flow-control frame of the link. */
static OCHE_NOINLINE void receive_pause(struct oche_host *host, const struct oche_packet *packet,
                                        oche_time now)
{
    if (packet->kind == OCHE_PACKET_FCP) {
        oche_fcp_trace(oche_host_trace(host), OCHE_TRACE_FCP_ARRIVED, 0, packet, now);
        oche_host_credits_take(host, packet);
        return;
    }
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        if (oche_pfc_has(packet, cls))
            oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_PAUSE_ARRIVED, 0, 0,
                            (uint64_t)cls << 16 | packet->pfc.quanta[cls]);
    oche_pause_receive(&host->pause, packet, now);
    host->classes = (uint8_t)~oche_pause_update(&host->pause, now);
}

static OCHE_ALWAYS_INLINE void arrival(struct oche_host *host, const struct oche_endpoint *endpoint,
                                       struct oche_port *port, struct oche_packet *packet,
                                       oche_time now)
{
    if (OCHE_UNLIKELY(oche_packet_is_of_link(packet->kind))) {
        receive_pause(host, packet, now);
    } else if (OCHE_UNLIKELY(host->defers & OCHE_HOST_DEFERS_FEEDBACK) &&
               endpoint->is_feedback(packet)) {
        if (host->notes & OCHE_HOST_NOTES_CREDITS)
            oche_host_credits_arrived(host, packet);
        oche_feedback_hold(&host->feedback, &host->shard->arena, packet, now);
        settle(host, endpoint, port, now);
        return;
    } else if (OCHE_UNLIKELY(host->notes != 0)) {
        if (take_noted(host, packet, now)) {
            settle(host, endpoint, port, now);
            return;
        }
    } else {
        endpoint->receive(oche_host_endpoint_state(host), packet, now);
    }
    oche_packet_return(&host->shard->pool, packet);
    settle(host, endpoint, port, now);
}

void oche_host_arrival(struct oche_shard *shard, struct oche_port *port, struct oche_packet *packet,
                       oche_time now)
{
    struct oche_host *host = port->device;

    (void)shard;
    WITH_ENDPOINT(host, arrival, port, packet, now);
}

void oche_host_transmit_done(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;

    (void)shard;
    WITH_ENDPOINT(host, settle, port, now);
}

static oche_time next_start(const struct oche_host *host)
{
    const oche_time next = oche_flows_next_start(host->flows, host->address);

    return host->jobs == NULL ? next : oche_time_min(next, oche_host_jobs_next(host->jobs));
}

/* Starts the next flow that is due, and lets programs act. */
static void start_due(struct oche_host *host, oche_time now)
{
    uint32_t number = OCHE_NO_FLOW;

    if (oche_flows_next_start(host->flows, host->address) <= now)
        number = oche_flows_take_start(host->flows, host->address);
    if (OCHE_UNLIKELY(host->jobs != NULL))
        oche_host_jobs_run(host, now);
    host->next_start = next_start(host);
    oche_host_start(host, number, now);
}

static OCHE_ALWAYS_INLINE void timer(struct oche_host *host, const struct oche_endpoint *endpoint,
                                     struct oche_port *port, oche_time now)
{
    if (OCHE_UNLIKELY(host->defers != 0))
        release_deferred(host, now);
    if (host->pause.next <= now)
        host->classes = (uint8_t)~oche_pause_update(&host->pause, now);
    if (OCHE_UNLIKELY(host->notes & OCHE_HOST_NOTES_LINK))
        expire_of_link(host, now);
    while (host->next_start <= now)
        start_due(host, now);
    endpoint->expire(oche_host_endpoint_state(host), now);
    settle(host, endpoint, port, now);
}

void oche_host_timer(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;

    (void)shard;
    WITH_ENDPOINT(host, timer, port, now);
}

/*
 * Clears the PFC state, as the switch does. A NIC keeps sending while its link is down, and the
 * other end of the link drops the packets; so the NIC's timers run and retries are counted.
 */
void oche_host_link_changed(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_host *host = port->device;

    (void)shard;
    oche_pause_clear(&host->pause, now);
    if (host->credits != NULL)
        oche_host_credits_link_changed(host);
    else
        host->classes = UINT8_MAX;
    if (host->slow != NULL)
        oche_slow_host_link_changed(host, now);
    WITH_ENDPOINT(host, settle, port, now);
}

void oche_host_begin(struct oche_host *host)
{
    host->port =
        &host->shard->network->ports[host->shard->network->nodes[host->address].first_port];
    host->shard = oche_network_shard_of(host->shard->network, host->address);
    if (host->next_start != OCHE_NEVER)
        oche_network_wake(host->shard, host->address, host->next_start);
    if (host->notes & OCHE_HOST_NOTES_LINK)
        oche_network_wake(host->shard, host->address, next_of_link(host));
}

/* ---- making and reading ---- */

struct oche_host *oche_host_create(struct oche_network *network, uint32_t address,
                                   const struct oche_host_shared *shared)
{
    const struct oche_endpoint *endpoint =
        shared->endpoint != NULL ? shared->endpoint : &oche_endpoint_rnic;
    struct oche_shard *shard = oche_network_shard_of(network, address);
    struct oche_host *host = oche_arena_take(&shard->arena, sizeof(*host) + endpoint->state_bytes);
    uint32_t number = network->nodes[address].first_port;
    host->endpoint = endpoint;
    host->shard = shard;
    host->port = &network->ports[number];
    host->port->device = host;
    host->shared = shared;
    host->flows = shared->flows;
    host->address = address;
    host->classes = UINT8_MAX;
    host->notes = shared->flows->paths != NULL ? OCHE_HOST_NOTES_PATHS : 0;
    host->defers = shared->params->feedback_jitter > 0 ? OCHE_HOST_DEFERS_FEEDBACK : 0;
    host->feedback = oche_feedback_make(shared->params->feedback_jitter, shared->seed,
                                        shared->places == NULL ? address : shared->places[address]);
    oche_pause_init(&host->pause, network->extras[number].rate_bps, shared->params->pfc_response);
    if (shared->credits != NULL)
        oche_host_credits_start(host);
    if (shared->slow != NULL &&
        (shared->slow[address].drain_bps > 0 || shared->slow[address].storm_count > 0))
        oche_slow_host_start(host, &shared->slow[address]);
    oche_host_latency_start(host);
    oche_host_jobs_start(host);
    host->next_start = next_start(host);
    endpoint->create(oche_host_endpoint_state(host), host);
    return host;
}

bool oche_host_has_to_start(const struct oche_host *host)
{
    return next_start(host) != OCHE_NEVER;
}

struct oche_pause *oche_host_pause(struct oche_host *host)
{
    return &host->pause;
}

const struct oche_nic_stats *oche_host_stats(const struct oche_host *host)
{
    return host->endpoint->stats(oche_host_endpoint_state(host));
}

const struct oche_counters *oche_host_counters(const struct oche_host *host, uint64_t *sums)
{
    const struct oche_counters *counters = host->endpoint->counters;
    const void *state = oche_host_endpoint_state(host);

    if (host->endpoint->scheme_counters != NULL)
        counters = host->endpoint->scheme_counters(state, &state);
    if (counters != NULL)
        oche_counters_add(counters, state, sums);
    return counters;
}

uint64_t oche_host_late_packets(const struct oche_host *host)
{
    return host->endpoint->late_packets(oche_host_endpoint_state(host));
}

uint64_t oche_host_corrupt_bytes(const struct oche_host *host)
{
    return host->endpoint->corrupt_bytes(oche_host_endpoint_state(host));
}

uint64_t oche_host_rate_bps(const struct oche_host *host, uint32_t connection)
{
    return host->endpoint->rate_bps(oche_host_endpoint_state(host), connection);
}

double oche_host_gauge(const struct oche_host *host, unsigned number, uint32_t connection)
{
    return host->endpoint->gauges->rows[number].value(oche_host_endpoint_state(host), connection);
}

const struct oche_rtt_chunk *oche_host_rtts(const struct oche_host *host)
{
    return host->endpoint->rtts == NULL ? NULL
                                        : host->endpoint->rtts(oche_host_endpoint_state(host));
}

uint64_t oche_host_arrived_bytes(const struct oche_host *host, uint32_t connection)
{
    return host->endpoint->arrived_bytes(oche_host_endpoint_state(host), connection);
}

void oche_host_count_sent_again(struct oche_host *host, uint32_t number)
{
    struct oche_flow_sent *sent = &host->flows->sent[number];
    const uint32_t connection = host->flows->plan[number].connection;
    const struct oche_connection *of = &host->flows->connections[connection];
    uint64_t retransmitted = 0, timeouts = 0;

    if (sent->started == OCHE_NEVER || sent->completed != OCHE_NEVER ||
        host->flows->order[of->first + of->completed] != number)
        return;
    host->endpoint->sent_again(oche_host_endpoint_state(host), connection, &retransmitted,
                               &timeouts);
    count_sent_again(sent, of, retransmitted, timeouts);
}

bool oche_host_losses(const struct oche_host *host, uint32_t connection,
                      struct oche_qp_losses *losses)
{
    return host->endpoint->losses != NULL &&
           host->endpoint->losses(oche_host_endpoint_state(host), connection, losses);
}
