/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The round trips that RoGUE's library computes (RoGUE sec 3.3, 3.4), against the packets' real
 * ones. READ and WRITE over reliable connections, WRITE over unreliable ones. A flow alone, and
 * four that share a link, so windows, limits and queues change all the time.
 */
#include <string.h>

#include "core/wire/extension.h"
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define HOSTS     5
#define LINE      (40 * OCHE_GBPS)
#define GAP_BYTES 20 /* preamble and gap between frames */
#define KEPT      (1 << 14)

static struct small_world small;
static struct oche_flow_plan flows[HOSTS - 1];

enum mode { WRITES, READS, UNRELIABLE };

/* The bounds are of the error in nanoseconds: a full packet takes 221 of them on the line. */
static const struct row {
    enum mode mode;
    uint32_t flows;
    bool to_the_letter; /* count_last_gap */
    bool lags;          /* the limiter reacts late, and the NIC runs empty after each hold-off */
    double least, most, least_mean, most_mean;
} rows[] = {
    {WRITES, 1, false, false, -50, 50, -10, 10},
    {READS, 1, false, false, -50, 60, 10, 30},       /* 20 ns in which the request leaves */
    {UNRELIABLE, 1, false, false, -16, 16, -16, 16}, /* a turnaround is sent in units of 16 ns */
    {WRITES, 4, false, false, -1500, 1500, -100, 100},
    {READS, 4, false, false, -1500, 1500, -100, 100},
    {UNRELIABLE, 4, false, false, -16, 16, -16, 16},
    {WRITES, 4, false, true, -1500, 1500, -100, 100},
    {READS, 4, false, true, -1500, 1500, -100, 100},
    /* rogue.md#r24: at a quarter of the line rate, three packets' time too short */
    {WRITES, 4, true, false, -5000, 1500, -1000, -400},
    {READS, 4, true, false, -5000, 1500, -1000, -400},
};

/* The times at which packets with these PSNs left. */
struct departures {
    struct {
        oche_time time;
        uint32_t psn;
    } kept[KEPT];
    uint32_t count;
};

/* Facts from the trace. A connection's number is that of its flow. */
static struct {
    enum mode mode;
    /* departures of the last byte of packets that end a message */
    struct departures left[HOSTS];
    oche_time request_left[HOSTS], request_took[HOSTS]; /* READ */
    uint32_t answered[HOSTS];                           /* UC: number of batches */
    struct {
        oche_time time, rtt;
        uint32_t host;
    } trips[KEPT];
    uint32_t trip_count;
} seen;

static void keep(struct departures *left, oche_time time, uint64_t psn)
{
    if (left->count == KEPT)
        fail_msg("more packets than the test keeps");
    left->kept[left->count].time = time;
    left->kept[left->count++].psn = (uint32_t)psn;
}

static void end_trip(uint32_t host, oche_time now, oche_time rtt)
{
    if (seen.trip_count == KEPT)
        fail_msg("more round trips than the test keeps");
    seen.trips[seen.trip_count].time = now;
    seen.trips[seen.trip_count].host = host;
    seen.trips[seen.trip_count++].rtt = rtt;
}

/* Returns when the packet with this PSN left, or OCHE_NEVER. */
static oche_time left_at(const struct departures *left, uint64_t psn)
{
    for (uint32_t i = left->count; i-- > 0;)
        if (left->kept[i].psn == psn)
            return left->kept[i].time;
    return OCHE_NEVER;
}

static void sent(uint32_t flow, uint32_t node, const struct oche_trace_record *record)
{
    const uint8_t opcode = (uint8_t)(record->b >> 32);
    const uint32_t bytes =
        GAP_BYTES + (uint32_t)oche_frame_bytes(opcode, (uint32_t)record->b, false);
    const oche_time left = record->time + oche_time_of_bytes(bytes, LINE);

    if (opcode == OCHE_RC_READ_REQUEST)
        seen.request_left[flow] = left;
    else if (oche_opcode_has(opcode, OCHE_OP_LAST) &&
             (seen.mode != UNRELIABLE || node == flows[flow].src))
        keep(&seen.left[flow], left, record->a);
}

static void arrived(uint32_t flow, uint32_t node, const struct oche_trace_record *record)
{
    const uint8_t opcode = (uint8_t)(record->b >> 32);
    oche_time left;

    if (opcode == OCHE_RC_READ_REQUEST) {
        seen.request_took[flow] = record->time - seen.request_left[flow];
    } else if (seen.mode == READS && oche_opcode_has(opcode, OCHE_OP_LAST)) {
        left = left_at(&seen.left[flow], record->a);
        end_trip(node, record->time, record->time - left + seen.request_took[flow]);
    } else if (seen.mode == UNRELIABLE && node == flows[flow].src) {
        /* Answers come in the order of the batches. Here each batch is one message. */
        left = seen.left[flow].kept[seen.answered[flow]++].time;
        end_trip(node, record->time, record->time - left);
    }
}

static void note(void *context, uint32_t node, const struct oche_trace_record *record)
{
    const uint32_t flow = oche_connection_of(record->qpn);

    (void)context;
    if (record->qpn < OCHE_FIRST_QPN || flow >= HOSTS - 1)
        return;
    if (record->kind == OCHE_TRACE_DATA_SENT)
        sent(flow, node, record);
    else if (record->kind == OCHE_TRACE_DATA_ARRIVED)
        arrived(flow, node, record);
    else if (record->kind == OCHE_TRACE_ACK_ARRIVED && seen.mode == WRITES) {
        oche_time left = left_at(&seen.left[flow], record->a);
        if (left != OCHE_NEVER)
            end_trip(node, record->time, record->time - left);
    }
}

/* Flows of READs begin at host 0, the others end there: the data's queue is in the switch. */
static void run(const struct row *row)
{
    memset(&seen, 0, sizeof(seen));
    seen.mode = row->mode;
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", HOSTS);
    small_world_topology(&small, "host_rate", LINE);
    small_world_cc(&small, "verb", row->mode == READS ? OCHE_ROGUE_READS : OCHE_ROGUE_WRITES);
    small_world_cc(&small, "transport", row->mode == UNRELIABLE ? ROGUE_UC : ROGUE_RC);
    small_world_cc(&small, "count_last_gap", row->to_the_letter);
    small_world_cc(&small, "anchor_after_hold_off", row->lags);
    small.config.hosts.limiter_lag_bytes = row->lags ? 160000 : 0;
    small.config.switches.pfc = false;
    small.config.run.stop_when_done = false;
    small.config.run.duration = 20 * OCHE_MS;
    small.sink = note;
    for (uint32_t i = 0; i < row->flows; i++)
        flows[i] = row->mode == READS ? small_flow(0, i + 1, 100000000, i * 100 * OCHE_US)
                                      : small_flow(i + 1, 0, 100000000, i * 100 * OCHE_US);
    small_world_run(&small, flows, row->flows);
}

/* Returns the round trip that ended at a host at this time. */
static oche_time trip_at(uint32_t host, oche_time time)
{
    for (uint32_t i = 0; i < seen.trip_count; i++)
        if (seen.trips[i].host == host && seen.trips[i].time == time)
            return seen.trips[i].rtt;
    fail_msg("no round trip ended at host %u", host);
    return 0;
}

/* Returns by how much the samples are too long, in nanoseconds. */
struct errors {
    double least, mean, most;
    uint32_t samples;
};

static void add_errors(struct errors *errors, uint32_t host)
{
    const struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[host]);

    for (const struct oche_rtt_chunk *chunk = rogue->rtts; chunk != NULL; chunk = chunk->before)
        for (uint32_t i = 0; i < chunk->count; i++) {
            const struct oche_rtt_sample *sample = &chunk->samples[i];
            double error = ((double)sample->rtt - (double)trip_at(host, sample->when)) / OCHE_NS;
            errors->least = error < errors->least ? error : errors->least;
            errors->most = error > errors->most ? error : errors->most;
            errors->mean += (error - errors->mean) / ++errors->samples;
        }
}

static void round_trips(void **state)
{
    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct errors errors = {.least = 1e9, .most = -1e9};

        run(&rows[i]);
        for (uint32_t host = 0; host < HOSTS; host++)
            add_errors(&errors, host);
        small_world_end(&small);
        small_world_free(&small);
        if (errors.samples < 200 || errors.least < rows[i].least || errors.most > rows[i].most ||
            errors.mean < rows[i].least_mean || errors.mean > rows[i].most_mean)
            fail_msg("row %u: %u samples, too long by %.0f to %.0f ns, %.1f on average", i,
                     errors.samples, errors.least, errors.most, errors.mean);
    }
}

/*
 * rogue.md#r28: over a long path slow start begins at a low rate. There each change of the limiter
 * makes the next round trips wrong by up to a packet's time: 0.1 ms at 80 Mbit/s.
 */
static void the_base_rtt_is_that_of_the_path(void **state)
{
    static const oche_time path = 2000 * OCHE_US;

    (void)state;
    for (enum mode mode = WRITES; mode <= UNRELIABLE; mode++) {
        small_world_init(&small, "star", "rogue", "go_back_n");
        small_world_topology(&small, "hosts", 2);
        small_world_topology(&small, "host_rate", 100 * OCHE_GBPS);
        small_world_topology(&small, "delay", 500 * OCHE_US);
        small_world_cc(&small, "verb", mode == READS ? OCHE_ROGUE_READS : OCHE_ROGUE_WRITES);
        small_world_cc(&small, "transport", mode == UNRELIABLE ? ROGUE_UC : ROGUE_RC);
        small_world_cc(&small, "uc_timeout", 50 * OCHE_MS);
        small.config.hosts.ack_timeout = 50 * OCHE_MS;
        small.config.switches.pfc = false;
        small.config.run.stop_when_done = false;
        small.config.run.duration = 180 * OCHE_MS;
        flows[0] = small_flow(0, 1, 1000000000, 0);
        small_world_run(&small, flows, 1);
        const struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[0]);
        const struct rogue_window *window =
            rogue_window_of(rogue->ends->library, mode == READS ? ROGUE_IN : ROGUE_OUT);
        /* a forgotten byte of the last packet is 0.1 us at 80 Mbit/s */
        if (window->base_rtt < path || window->base_rtt > path + 200 * OCHE_NS)
            fail_msg("mode %u: base RTT %.1f ns over the path's", (unsigned)mode,
                     ((double)window->base_rtt - (double)path) / OCHE_NS);
        assert_in_range(window->rate_bps, 80 * OCHE_GBPS, 100 * OCHE_GBPS);
        small_world_end(&small);
        small_world_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trips),
                                       cmocka_unit_test(the_base_rtt_is_that_of_the_path)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
