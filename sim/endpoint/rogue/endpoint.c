/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the endpoint's functions. The RNIC below answers for some of them. */
#include <string.h>

#include "rogue/param_rows.h"
#include "sim/network/rnic.h"
#include "sim/endpoint/rogue/rogue_host.h"

_Static_assert(offsetof(struct oche_rogue_params, library) == 0, "the library's rows come first");

static const char *const verb_names[] = {"write", "read", NULL};

static const struct oche_param rows[] = {
    ROGUE_PARAM_ROWS,
    {OCHE_PARAM(struct oche_rogue_params, hardware_retries), OCHE_IS_COUNT(1, 0, 7),
     .where = "RoGUE sec 3.5",
     .help = "timeouts in a row after which the NIC reports a queue pair as failed"},
    {OCHE_PARAM(struct oche_rogue_params, verb_bytes), OCHE_IS_BYTES(0, 0, OCHE_MAX_MESSAGE_BYTES),
     .where = "RoGUE sec 5.2", .help = "verbs that the application makes of a flow; 0: one verb"},
    {OCHE_PARAM(struct oche_rogue_params, verb), OCHE_IS_CHOICE(OCHE_ROGUE_WRITES, verb_names),
     .where = "RoGUE sec 3.4",
     .help = "a flow's source writes to the destination, or reads from it: data then goes the "
             "other way, and the flow is delivered at its source"},
    {OCHE_PARAM(struct oche_rogue_params, rtt_noise), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "RoGUE sec 5.4",
     .help = "each time stamp that ends a round trip is late by a random time, up to this"},
};
const struct oche_param_table oche_rogue_table =
    OCHE_PARAM_TABLE_DEPLOYED(rows, struct oche_rogue_params, rogue_deployed);

static const char *check(const void *params)
{
    const struct oche_rogue_params *p = params;

    if (p->verb == OCHE_ROGUE_READS && p->library.transport == ROGUE_UC)
        return "verb: read needs transport: rc; unreliable connections have no READ";
    return rogue_params_check(params);
}

/*
 * The application's retry count is a bound on changes of queue pair (rogue.md#r25). Unreliable
 * connections have no ACKs, and so nothing that ACKs and their absence lead to.
 */
static const char *idles(const void *params, const char *key)
{
    static const char *const of_acks[] = {
        "recovery",    "ack_every", "ack_priority",  "window",     "resend_one_verb_at_a_time",
        "ack_timeout", "timeouts",  "timer_restart", "retry_count"};
    const struct oche_rogue_params *p = params;

    for (size_t i = 0; p->library.transport == ROGUE_UC && i < OCHE_COUNT_OF(of_acks); i++)
        if (strcmp(key, of_acks[i]) == 0)
            return "transport: uc";
    return p->library.transport == ROGUE_RC && !p->library.shadow && strcmp(key, "retry_count") == 0
               ? "shadow: false"
               : NULL;
}

static void start(void *state, uint32_t number, oche_time now)
{
    struct oche_rogue *rogue = state;
    const struct oche_flow_plan *plan = &rogue->host->flows->plan[number];
    struct oche_rogue_end *end = oche_rogue_find(rogue, plan->connection);

    rogue->now = now;
    if (end == NULL)
        end = oche_rogue_open(rogue, plan->connection);
    oche_host_flow_started(rogue->host, number, now);
    end->supply_bps = plan->supply_bps;
    for (unsigned qp = 0; qp < 2 && end->supply_bps > 0; qp++)
        oche_qp_set_supply(end->qps[qp], end->supply_bps, now);
    oche_rogue_post(end, now);
    if (oche_rogue_has_turn(end)) /* otherwise with the next report */
        oche_rogue_note_time(end);
}

static void receive(void *state, const struct oche_packet *packet, oche_time now)
{
    struct oche_rogue *rogue = state;

    rogue->now = now;
    oche_nic_receive(rogue->nic, packet, now);
    oche_rogue_poll(rogue, now);
}

static bool transmit(void *state, oche_time now, uint8_t classes, struct oche_packet *packet)
{
    struct oche_rogue *rogue = state;

    rogue->now = now;
    return oche_nic_transmit(rogue->nic, now, now, classes, &packet, 1) != 0;
}

static oche_time next(void *state, uint8_t classes)
{
    const struct oche_rogue *rogue = state;

    return oche_time_min(oche_nic_next(rogue->nic, classes), oche_rogue_next_time(rogue));
}

static oche_time next_timer(const void *state)
{
    const struct oche_rogue *rogue = state;

    return oche_time_min(oche_nic_next_timer(rogue->nic), oche_rogue_next_time(rogue));
}

static void expire(void *state, oche_time now)
{
    struct oche_rogue *rogue = state;

    rogue->now = now;
    if (oche_nic_next_timer(rogue->nic) <= now)
        oche_nic_expire(rogue->nic, now);
    oche_rogue_call_due(rogue, now);
    oche_rogue_poll(rogue, now);
}

static bool flush(void *state, oche_time now)
{
    return oche_rogue_poll(state, now);
}

static const struct oche_nic_stats *stats(const void *state)
{
    return oche_nic_stats(((const struct oche_rogue *)state)->nic);
}

static uint64_t late_packets(const void *state)
{
    return oche_nic_rejected(((const struct oche_rogue *)state)->nic, OCHE_REJECT_NO_QP);
}

static uint64_t corrupt_bytes(const void *state)
{
    return ((const struct oche_rogue *)state)->memory.corrupt_bytes;
}

static uint64_t rate_bps(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    if (end == NULL)
        return 0;
    if (end->rogue->params->verb == OCHE_ROGUE_READS) /* the limit of the peer's queue pair */
        return rogue_window_of(end->library, ROGUE_IN)->rate_bps;
    return oche_qp_rate_bps(end->qps[rogue_active(end->library)]);
}

static uint64_t arrived_bytes(void *state, uint32_t connection)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);
    uint32_t most = 0;

    if (end == NULL)
        return 0;
    for (unsigned qp = 0; qp < 2; qp++)
        if (oche_qp_arrived_bytes(end->qps[qp]) > most)
            most = oche_qp_arrived_bytes(end->qps[qp]);
    return end->arrived + most;
}

/* ---- counters ---- */

#define COUNTER(member, words, text)                                                               \
    {                                                                                              \
        .name = #member, .label = (words), .help = (text), .value = member                         \
    }
#define SUM(member)                                                                                \
    static uint64_t member(const void *state)                                                      \
    {                                                                                              \
        uint64_t sum = ((const struct oche_rogue *)state)->parked_counts.member;                   \
        for (const struct oche_rogue_end *end = ((const struct oche_rogue *)state)->ends;          \
             end != NULL; end = end->next)                                                         \
            sum += end->parts == NULL ? 0 : rogue_counts_of(end->library)->member;                 \
        return sum;                                                                                \
    }

SUM(pieces)
SUM(signals)
SUM(samples)
SUM(held_off)
SUM(limiter_changes)
SUM(limiter_waits)
SUM(switches)
SUM(replayed_pieces)
SUM(resynchronised)
SUM(resync_messages)
SUM(unanswered_batches)
SUM(sample_timeouts)
SUM(answers)

static const struct oche_counter counter_rows[] = {
    COUNTER(pieces, "RoGUE: segments posted", "segments and small verbs that were posted"),
    COUNTER(signals, "RoGUE: segments with a completion signal",
            "of these, with a completion signal"),
    COUNTER(samples, "RoGUE: RTT samples that changed a window",
            "round trips that changed a window"),
    COUNTER(held_off, "RoGUE: RTT samples skipped, limiter changing",
            "round trips not used, because the limiter was changing"),
    COUNTER(limiter_changes, "RoGUE: rate limiter changes", "new rates of the limiter"),
    COUNTER(limiter_waits, "RoGUE: waits for one of the NIC's limiters",
            "times that a connection waited for one of rate_limiters"),
    COUNTER(switches, "RoGUE: takeovers by a shadow QP",
            "times that a shadow queue pair took over"),
    COUNTER(replayed_pieces, "RoGUE: segments replayed on a shadow QP",
            "segments that were posted again on a shadow"),
    COUNTER(resynchronised, "RoGUE: QPs brought back, at each end",
            "queue pairs that were brought back, at each end"),
    COUNTER(resync_messages, "RoGUE: messages between libraries", "messages between libraries"),
    COUNTER(unanswered_batches, "RoGUE: UC batches without an answer in time",
            "UC: batches whose answer was lost, or came after they were given up"),
    COUNTER(sample_timeouts, "RoGUE: UC timeouts that gave up all batches",
            "UC: times that all batches under way were given up"),
    COUNTER(answers, "RoGUE: UC answers to batches", "UC: answers to the last verb of a batch"),
    {.name = "doubled_bytes",
     .label = "RoGUE: bytes delivered twice",
     .offset = offsetof(struct oche_rogue, doubled_bytes),
     .help = "bytes that a shadow delivered a second time"},
    {.name = "missing_bytes",
     .label = "RoGUE: bytes passed over",
     .offset = offsetof(struct oche_rogue, missing_bytes),
     .help = "bytes that were passed over; RC: must be 0"},
};
static const struct oche_counters counters = {
    .prefix = "rogue", .rows = counter_rows, .count = OCHE_COUNT_OF(counter_rows)};

static const struct oche_rtt_chunk *rtts(const void *state)
{
    return ((const struct oche_rogue *)state)->rtts;
}

static void packets(const struct oche_host_params *hosts, const void *params,
                    struct oche_endpoint_packets *out)
{
    (void)params;
    oche_endpoint_rnic.packets(hosts, NULL, out);
}

/* Verbs smaller than a packet are a packet each. */
static void frames(const struct oche_host_params *hosts, const void *params,
                   const struct oche_recovery_scheme *recovery, enum oche_verb flow_verb,
                   uint64_t bytes, struct oche_frames *out)
{
    const uint64_t verb = ((const struct oche_rogue_params *)params)->verb_bytes;
    struct oche_frames full, last;

    (void)flow_verb;
    (void)recovery;
    if (verb == 0 || verb >= hosts->mtu_bytes || bytes <= verb) {
        oche_endpoint_rnic.frames(hosts, NULL, NULL, OCHE_VERB_WRITE, bytes, out);
        return;
    }
    *out = (struct oche_frames){.count = (bytes + verb - 1) / verb};
    oche_endpoint_rnic.frames(hosts, NULL, NULL, OCHE_VERB_WRITE, verb, &full);
    oche_endpoint_rnic.frames(hosts, NULL, NULL, OCHE_VERB_WRITE, bytes - (out->count - 1) * verb,
                              &last);
    out->first_bytes = out->middle_bytes = full.first_bytes;
    out->last_bytes = last.first_bytes;
}

/* Over UC a flow is completed when the answer to its last batch is given up, if none has come. */
static bool completes_early(const void *params)
{
    return ((const struct oche_rogue_params *)params)->library.transport == ROGUE_UC;
}

static void sent_again(void *state, uint32_t connection, uint64_t *retransmitted,
                       uint64_t *timeouts)
{
    const struct oche_rogue_end *end = oche_rogue_find(state, connection);

    if (end != NULL)
        oche_rogue_sent_again(end, retransmitted, timeouts);
}

const struct oche_endpoint oche_endpoint_rogue = {
    .name = "rogue",
    .paper = "RoGUE, SoCC 2018, sec 3: software above queue pairs of an RNIC",
    .recovery = "go_back_n",
    .table = &oche_rogue_table,
    .roce = true,
    .state_bytes = sizeof(struct oche_rogue),
    .check = check,
    .idles = idles,
    .most_connections = OCHE_ROGUE_MOST_CONNECTIONS,
    .completes_early = completes_early,
    .packets = packets,
    .frames = frames,
    .create = oche_rogue_create,
    .start = start,
    .receive = receive,
    .transmit = transmit,
    .next = next,
    .next_timer = next_timer,
    .expire = expire,
    .flush = flush,
    .is_feedback = oche_rnic_is_feedback,
    .deferred = oche_rogue_deferred,
    .reads_memory = oche_rogue_reads_memory,
    .stats = stats,
    .counters = &counters,
    .late_packets = late_packets,
    .corrupt_bytes = corrupt_bytes,
    .rate_bps = rate_bps,
    .arrived_bytes = arrived_bytes,
    .sent_again = sent_again,
    .gauges = &oche_rogue_gauges,
    .rtts = rtts,
};
