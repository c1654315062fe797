/* SPDX-License-Identifier: Apache-2.0 */
/* RCP's rate of each egress port; see the header. */
#include "fabric/rcp_rate.h"

#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "fabric/switch.h"

#define UNIT          65536.0 /* the value 1 of alpha and beta */
#define UNIT_BITS     16
#define FRACTION_BITS 32 /* fraction bits of quotients by C */
#define MOST_FRACTION ((__int128)1 << 56)
#define MOST_CHANGE   ((__int128)1 << 80)
#define SHORTEST      OCHE_US /* least length of an interval and of a round trip */
#define LONGEST       OCHE_SEC
#define BITS_PER_BYTE 8
#define MOST_ARRIVED  (UINT64_C(1) << 43) /* bytes: above any real count; cannot overflow */
#define MOST_QUEUED   (UINT64_C(1) << 33)
#define MOST_CAPACITY (UINT64_C(1) << 43)

static const struct oche_param params[] = {
    {OCHE_PARAM(struct oche_rcp_rate_params, alpha), OCHE_IS_REAL(0.4, 0, 16),
     .where = "Dart sec VI-D",
     .help = "weight of the line's unused part; RCP's first paper has 0.1, the thesis 0.4"},
    {OCHE_PARAM(struct oche_rcp_rate_params, beta), OCHE_IS_REAL(0.4, 0, 16),
     .where = "Dart sec VI-D",
     .help = "weight of the queue; RCP's first paper has 1, the thesis 0.226"},
    {OCHE_PARAM(struct oche_rcp_rate_params, period), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "rcp.md#period",
     .help = "T, from one rate to the next: at most the mean round trip, and 0: just that"},
    {OCHE_PARAM(struct oche_rcp_rate_params, initial_rate), OCHE_IS_REAL(0.05, 0.000001, 1),
     .where = "rcp.md#initial-rate", .help = "R at the beginning, as a fraction of the line"},
    {OCHE_PARAM_AS("minimum_rate", struct oche_rcp_rate_params, minimum_bps),
     OCHE_IS_BPS(10000000, OCHE_RATE_UNIT_BPS, 8000 * OCHE_GBPS), .where = "rcp.md#minimum-rate",
     .help = "R is never below this"},
    {OCHE_PARAM(struct oche_rcp_rate_params, rtt), OCHE_IS_TIME(20 * OCHE_US, SHORTEST, LONGEST),
     .where = "our choice", .help = "d0, the mean round trip, until some packet has told one"},
};

const struct oche_param_table oche_rcp_rate_params =
    OCHE_PARAM_TABLE(params, struct oche_rcp_rate_params);

enum { UPDATES, AT_MINIMUM, LOWERED, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [UPDATES] = {"updates", "rates that ports have computed", false},
    [AT_MINIMUM] = {"at_minimum", "rates that came out so low that minimum_rate was taken instead",
                    false},
    [LOWERED] = {"lowered", "data packets whose rate a port has lowered to its own", false},
};

/* ---- the formula ---- */

static __int128 within(__int128 value, __int128 least, __int128 most)
{
    if (value < least)
        return least;
    return value < most ? value : most;
}

uint64_t oche_rcp_next_rate(const struct oche_rcp_interval *i)
{
    const __int128 byte_ps = (__int128)BITS_PER_BYTE * OCHE_SEC; /* one byte in bit-picoseconds */
    const __int128 one = (__int128)1 << FRACTION_BITS;
    const __int128 line = (__int128)i->capacity_bps * i->period;
    const __int128 path = (__int128)i->capacity_bps * i->rtt;
    uint64_t arrived = i->arrived_bytes < MOST_ARRIVED ? i->arrived_bytes : MOST_ARRIVED;
    uint64_t queued = i->queued_bytes < MOST_QUEUED ? i->queued_bytes : MOST_QUEUED;

    /*
     * Computes (C - y) / C and q / (d0 * C), combines them, scales by T/d0, and raises R by the
     * result.
     */
    __int128 spare = (line - arrived * byte_ps) * one / line;
    __int128 waiting = queued * byte_ps * one / path;
    spare = within(spare, -MOST_FRACTION, MOST_FRACTION);
    waiting = within(waiting, 0, MOST_FRACTION);
    __int128 change = i->alpha * spare - i->beta * waiting;
    change = change * (__int128)i->period / (__int128)i->rtt;
    change = within(change, -MOST_CHANGE, MOST_CHANGE);
    __int128 rate =
        (__int128)i->rate_bps + i->rate_bps * change / ((__int128)1 << (FRACTION_BITS + UNIT_BITS));
    return (uint64_t)within(rate, i->minimum_bps, i->capacity_bps);
}

/* ---- state ---- */

struct port {
    uint64_t rate_bps;
    uint64_t arrived_bytes, queued_bytes; /* bytes on the line, with gaps */
    uint64_t rtts, rtt_count; /* round trips that packets reported since `since`: their sum in
                                 nanoseconds, and their number */
    oche_time since, due; /* begin and end of the interval; due is OCHE_NEVER if the port is idle */
    oche_time rtt;
    uint64_t capacity_bps;
};

struct rcp_rate {
    const struct oche_rcp_rate_params *params;
    oche_time next;
    uint64_t counted[COUNTERS];
    uint32_t alpha, beta;
    uint32_t port_count;
    struct port port[];
};

static const char *check(const void *values)
{
    const struct oche_rcp_rate_params *p = values;

    if (p->period > 0 && p->period < SHORTEST)
        return "period: must be 1us or more, or 0 for the mean round trip";
    return NULL;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct rcp_rate) + config->port_count * sizeof(struct port);
}

static oche_time period_of(const struct rcp_rate *rcp, const struct port *port)
{
    oche_time period = rcp->params->period;

    return period > 0 && period < port->rtt ? period : port->rtt;
}

static void begin(struct rcp_rate *rcp, struct port *port, oche_time now)
{
    port->arrived_bytes = port->rtts = port->rtt_count = 0;
    port->since = now;
    port->due = now + period_of(rcp, port);
    rcp->next = oche_time_min(rcp->next, port->due);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct rcp_rate *rcp = state;
    const struct oche_rcp_rate_params *p = values;

    rcp->params = p;
    rcp->alpha = (uint32_t)(p->alpha * UNIT + 0.5);
    rcp->beta = (uint32_t)(p->beta * UNIT + 0.5);
    rcp->port_count = config->port_count;
    rcp->next = OCHE_NEVER;
    for (uint32_t i = 0; i < config->port_count; i++) {
        struct port *port = &rcp->port[i];
        uint64_t line = config->ports[i].rate_bps;

        OCHE_MUST(line <= MOST_CAPACITY);
        port->capacity_bps = line;
        port->rtt = p->rtt;
        port->rate_bps = (uint64_t)((double)line * p->initial_rate);
        if (port->rate_bps < p->minimum_bps)
            port->rate_bps = p->minimum_bps < line ? p->minimum_bps : line;
        begin(rcp, port, 0);
    }
}

/* ---- packets ---- */

static void enqueue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct rcp_rate *rcp = state;
    struct port *port = &rcp->port[number];
    uint32_t bytes = packet->frame_bytes + OCHE_GAP_BYTES;

    (void)sw;
    if (port->due == OCHE_NEVER)
        begin(rcp, port, now);
    port->arrived_bytes += bytes;
    port->queued_bytes += bytes;
    if (packet->ext & OCHE_EXT_TRAILER) {
        uint32_t rtt_ns = packet->trailer.rtt_ns;

        port->rtts += rtt_ns;
        port->rtt_count += rtt_ns > 0;
    }
}

static void dequeue(void *state, struct oche_switch *sw, unsigned number,
                    struct oche_packet *packet, oche_time now)
{
    struct rcp_rate *rcp = state;
    struct port *port = &rcp->port[number];

    (void)sw, (void)now;
    port->queued_bytes -= packet->frame_bytes + OCHE_GAP_BYTES;
    if (!(packet->ext & OCHE_EXT_TRAILER))
        return;
    uint64_t rate = port->rate_bps / OCHE_RATE_UNIT_BPS;
    if (packet->trailer.rate_10kbps <= rate)
        return;
    rcp->counted[LOWERED]++;
    packet->trailer.rate_10kbps = (uint32_t)rate;
}

static void discard(void *state, struct oche_switch *sw, unsigned number,
                    const struct oche_packet *packet)
{
    struct rcp_rate *rcp = state;

    (void)sw;
    rcp->port[number].queued_bytes -= packet->frame_bytes + OCHE_GAP_BYTES;
}

/* ---- the end of an interval ---- */

/*
 * Moves d0 towards the mean round trip of the interval. An interval of length d0 or more moves it
 * all the way, a shorter one by the fraction that its length is of d0.
 */
static void learn_rtt(struct port *port, oche_time elapsed)
{
    if (port->rtt_count == 0)
        return;
    __int128 before = port->rtt, part = elapsed < port->rtt ? elapsed : port->rtt;
    __int128 mean = (__int128)port->rtts * OCHE_NS / port->rtt_count;

    mean = within(mean, SHORTEST, LONGEST);
    port->rtt = (oche_time)(before + (mean - before) * part / before);
}

static void end_interval(struct rcp_rate *rcp, struct port *port, oche_time now)
{
    const uint64_t floor = rcp->params->minimum_bps, line = port->capacity_bps;
    struct oche_rcp_interval interval = {
        .rate_bps = port->rate_bps,
        .capacity_bps = line,
        .minimum_bps = floor < line ? floor : line,
        .alpha = rcp->alpha,
        .beta = rcp->beta,
        .period = oche_time_min(now - port->since, LONGEST),
        .arrived_bytes = port->arrived_bytes,
        .queued_bytes = port->queued_bytes,
    };
    bool idle = port->arrived_bytes == 0 && port->queued_bytes == 0;

    learn_rtt(port, interval.period);
    interval.rtt = port->rtt;
    port->rate_bps = oche_rcp_next_rate(&interval);
    rcp->counted[UPDATES]++;
    rcp->counted[AT_MINIMUM] += port->rate_bps == interval.minimum_bps && port->rate_bps < line;
    if (idle && port->rate_bps == interval.rate_bps)
        port->due = OCHE_NEVER;
    else
        begin(rcp, port, now);
}

static oche_time next(const void *state)
{
    const struct rcp_rate *rcp = state;

    return rcp->next;
}

static void expire(void *state, struct oche_switch *sw, oche_time now)
{
    struct rcp_rate *rcp = state;

    (void)sw;
    rcp->next = OCHE_NEVER;
    for (uint32_t i = 0; i < rcp->port_count; i++) {
        struct port *port = &rcp->port[i];

        if (port->due <= now)
            end_interval(rcp, port, now);
        rcp->next = oche_time_min(rcp->next, port->due);
    }
}

uint64_t oche_rcp_rate_of(const void *state, unsigned port)
{
    const struct rcp_rate *rcp = state;

    OCHE_MUST(port < rcp->port_count);
    return rcp->port[port].rate_bps;
}

/* ---- counters ---- */

static void read_counters(const void *state, uint64_t *values)
{
    const struct rcp_rate *rcp = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        values[i] = rcp->counted[i];
}

static void reset_counters(void *state)
{
    struct rcp_rate *rcp = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        rcp->counted[i] = 0;
}

const struct oche_switch_mechanism oche_rcp_rate = {
    .name = "rcp_rate",
    .help = "RCP's part in the switches; congestion_control: rcp brings it (Dart sec VI-D)",
    .params = &oche_rcp_rate_params,
    .check = check,
    .rnic_only = true,
    .only_for = "rcp",
    .state_bytes = state_bytes,
    .create = create,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .discard = discard,
    .next = next,
    .expire = expire,
    .counters = counters,
    .counter_count = COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
