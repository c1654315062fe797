/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020; swift.md): a window in packets that follows a target of the delay.
 *
 *   Delay      the round trip of the newest packet that an ACK covers, by the clock of the sending
 *              NIC, from when the packet began to leave. The paper splits it into fabric and
 *              endpoint and keeps a window for each; an ACK of RoCEv2 carries no time of the
 *              receiver, so that here there is one delay and one window (swift.md#one-delay).
 *   Target     base_target + hop_scale * hops + a part that grows as the window shrinks, so that
 *              many small flows share a queue fairly: 0 at fs_max_cwnd, fs_range at fs_min_cwnd,
 *              in proportion to 1 / sqrt(window) between (swift.md#target).
 *   Increase   below the target, by ai packets a round trip; below one packet, by ai for each
 *              packet that is acknowledged.
 *   Decrease   at or above the target, by beta times the part of the delay that is above it, at
 *              most by max_mdf, and at most once a round trip.
 *   Losses     a NAK lowers the window by max_mdf, likewise once a round trip. So does a timeout;
 *              the one that makes retx_reset in a row sets the window to min_cwnd.
 *   Pacing     only below one packet: one packet each round trip / window.
 *
 * Where it differs from the paper: when packets are sent again, and after which time, is for
 * recovery to say (core/recovery), as for all schemes. READ data is not paced; the window limits
 * what a READ asks for. Values that the paper does not show us are csg-htsim's.
 */
#include <math.h>

#include "core/cc/cc.h"
#include "core/cc/cc_advice.h"
#include "core/wire/opcode.h"

struct swift_params {
    uint32_t preset; /* enum oche_preset */
    double ai, beta, max_mdf;
    oche_time base_target, hop_scale;
    uint64_t hops;
    oche_time fs_range;
    double fs_min_cwnd, fs_max_cwnd;
    uint64_t min_cwnd_bytes, max_cwnd, initial_cwnd, retx_reset;
    oche_time round_trip; /* not a parameter: the network's, set by `fit`; 0: unknown */
};

static const struct oche_param table[] = {
    OCHE_PRESET_ROW_AT(struct swift_params, "swift.md#deployed"),
    {OCHE_PARAM(struct swift_params, ai), OCHE_IS_REAL(1.0, 0.0, 1000.0),
     .where = "csg-htsim; swift.md#parameters",
     .help = "packets a round trip by which the window grows below the target"},
    {OCHE_PARAM(struct swift_params, beta), OCHE_IS_REAL(0.8, 0.0, 1.0),
     .where = "csg-htsim; swift.md#parameters",
     .help = "factor of the decrease by the part of the delay that is above the target"},
    {OCHE_PARAM(struct swift_params, max_mdf), OCHE_IS_REAL(0.5, 0.0, 1.0),
     .where = "csg-htsim; swift.md#parameters",
     .help = "most by which the window shrinks in a round trip, and by how much after a loss"},
    {OCHE_PARAM(struct swift_params, base_target), OCHE_IS_TIME(20 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "csg-htsim; swift.md#parameters",
     .help = "target of the delay without hops and with a large window; includes propagation"},
    {OCHE_PARAM(struct swift_params, hop_scale), OCHE_IS_TIME(3053 * OCHE_NS, 0, OCHE_SEC),
     .where = "csg-htsim (base_target / 6.55); swift.md#parameters",
     .help = "by how much each switch on the path raises the target"},
    {OCHE_PARAM(struct swift_params, hops), OCHE_IS_COUNT(0, 0, 255), .needs = "hop_scale",
     .where = "our choice; swift.md#hops",
     .help = "switches on the path; 0: as many as the ACK has crossed, and on the wire none"},
    {OCHE_PARAM(struct swift_params, fs_range), OCHE_IS_TIME(100 * OCHE_US, 0, OCHE_SEC),
     .where = "csg-htsim (5 * base_target); swift.md#parameters",
     .help = "most by which a small window raises the target; 0: not at all"},
    {OCHE_PARAM(struct swift_params, fs_min_cwnd), OCHE_IS_REAL(0.1, 0.0001, 1e6),
     .needs = "fs_range", .where = "csg-htsim; swift.md#parameters",
     .help = "packets; a window of this or less raises the target by fs_range"},
    {OCHE_PARAM(struct swift_params, fs_max_cwnd), OCHE_IS_REAL(100.0, 0.0001, 1e6),
     .needs = "fs_range", .where = "csg-htsim; swift.md#parameters",
     .help = "packets; a window of this or more does not raise the target"},
    {OCHE_PARAM_AS("min_cwnd", struct swift_params, min_cwnd_bytes), OCHE_IS_BYTES(10, 1, 1 << 20),
     .where = "csg-htsim; swift.md#parameters", .help = "the window is never below this"},
    {OCHE_PARAM(struct swift_params, max_cwnd), OCHE_IS_COUNT(1000, 1, 1 << 20), .automatic = true,
     .where = "csg-htsim; swift.md#parameters",
     .help = "packets; the window is never above this; auto: 4 MB for each 100Gbps, shown in "
             "packets of 1 KiB"},
    {OCHE_PARAM(struct swift_params, initial_cwnd), OCHE_IS_COUNT(12, 1, 1 << 20),
     .automatic = true, .where = "csg-htsim; swift.md#parameters",
     .help = "packets that may leave before the first ACK; at most max_cwnd; auto: what the line "
             "carries in the network's longest round trip, shown in packets of 1 KiB"},
    {OCHE_PARAM(struct swift_params, retx_reset), OCHE_IS_COUNT(5, 1, 1000000),
     .where = "csg-htsim; swift.md#parameters",
     .help = "timeouts in a row after which the window is min_cwnd"},
};

/* Equipment in use: the defaults of the simulator (swift.md#deployed). */
static const struct oche_deployed in_use[] = {
    {"ai", {.real = 4.0}},
    {"max_cwnd", {.u = OCHE_NEVER}},
    {"initial_cwnd", {.u = OCHE_NEVER}},
};

/* Causes of the trace events WINDOW_CHANGED and RATE_CHANGED. */
enum cause { CAUSE_START, CAUSE_DELAY, CAUSE_LOSS, CAUSE_TIMEOUT, CAUSE_RESET, CAUSE_PACED };

struct swift_flow {
    double most;          /* the largest window, in packets */
    double cwnd;          /* packets of the path MTU, above 0 */
    double steep, offset; /* of the target, in ps: steep / sqrt(cwnd) + offset */
    oche_time rtt;        /* the newest; 0: none yet */
    oche_time decreased;  /* when the window was last decreased */
    uint32_t timeouts;    /* in a row */
    uint32_t line_bytes;  /* of a full packet, with its gap */
    bool has_decreased;   /* `decreased` is valid */
};

/* Shared by the queue pairs of a NIC. */
struct swift_nic {
    uint64_t decreases, resets, paced;
};

static const struct oche_counter rows[] = {
    {.name = "decreases",
     .offset = offsetof(struct swift_nic, decreases),
     .help = "times that a delay above the target, or a loss, has made a window smaller"},
    {.name = "resets",
     .offset = offsetof(struct swift_nic, resets),
     .help = "windows that were set to min_cwnd after timeouts in a row"},
    {.name = "paced_acks",
     .offset = offsetof(struct swift_nic, paced),
     .help = "ACKs that left a window below one packet, so that packets are paced"},
};

static const struct oche_counters counters = {"swift", rows, OCHE_COUNT_OF(rows)};

static struct swift_flow *of(const struct oche_cc_flow *flow)
{
    return flow->state;
}

static double within(double value, double low, double high)
{
    return value < low ? low : value < high ? value : high;
}

/* ---- the target ---- */

/* The target's part by the window is 0 at fs_max_cwnd and fs_range at fs_min_cwnd. */
static void scale_by_flows(struct swift_flow *s, const struct swift_params *p)
{
    const double small = 1.0 / sqrt(p->fs_min_cwnd), large = 1.0 / sqrt(p->fs_max_cwnd);

    s->steep = (double)p->fs_range / (small - large);
    s->offset = -s->steep * large;
}

/* Returns the number of switches on the path. An ACK crosses one more link than switches. */
static uint64_t hops_of(const struct swift_params *p, const struct oche_packet *ack)
{
    if (p->hops > 0 || ack->hops == 0)
        return p->hops;
    return ack->hops - 1U;
}

/* Returns the target of the delay, in picoseconds. */
static double target_of(const struct oche_cc_flow *flow, const struct oche_packet *ack)
{
    const struct swift_params *p = flow->params;
    const struct swift_flow *s = of(flow);
    const double by_hops = (double)p->hop_scale * (double)hops_of(p, ack);
    const double by_flows = within(s->steep / sqrt(s->cwnd) + s->offset, 0.0, (double)p->fs_range);

    return (double)p->base_target + by_hops + by_flows;
}

/* ---- the window ---- */

static void set_rate(struct oche_cc_flow *flow, oche_time now, uint64_t bps)
{
    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, CAUSE_PACED, bps);
}

/*
 * From one packet on the window alone limits the sender. Below, a packet leaves each rtt / cwnd:
 * at the rate that gives a full packet this spacing.
 */
static void pace(struct oche_cc_flow *flow, oche_time now)
{
    const struct swift_flow *s = of(flow);
    double bps = (double)flow->initial_rate_bps;

    if (s->cwnd < 1.0 && s->rtt > 0) {
        const double seconds = (double)s->rtt / s->cwnd / (double)OCHE_SEC;

        bps = within(8.0 * s->line_bytes / seconds, 1.0, bps);
    }
    set_rate(flow, now, (uint64_t)bps);
}

#define FIRST_LEAST_BYTES UINT64_C(12288)   /* 12 packets of 1 KiB */
#define MOST_BYTES        UINT64_C(4096000) /* csg-htsim's 1000 packets of 4 KiB … */
#define MOST_LINE_BPS     (100 * OCHE_GBPS) /* … on such a line */

/* Return the value of a parameter that may be `auto`, in bytes. */
static uint64_t most_bytes(const struct swift_params *p, uint64_t line_bps, uint32_t mtu_bytes)
{
    if (p->max_cwnd != OCHE_NEVER)
        return p->max_cwnd * mtu_bytes;
    return line_bps > MOST_LINE_BPS ? MOST_BYTES / 100 * (line_bps / OCHE_GBPS) : MOST_BYTES;
}

static uint64_t first_bytes(const struct swift_params *p, uint64_t line_bps, uint32_t mtu_bytes)
{
    const uint64_t path = oche_bytes_in_time(p->round_trip, line_bps);

    if (p->initial_cwnd != OCHE_NEVER)
        return p->initial_cwnd * mtu_bytes;
    return path > FIRST_LEAST_BYTES ? path : FIRST_LEAST_BYTES;
}

static void set_window(struct oche_cc_flow *flow, oche_time now, double packets)
{
    const struct swift_params *p = flow->params;
    struct swift_flow *s = of(flow);
    const double least = (double)p->min_cwnd_bytes / flow->mtu_bytes;

    s->cwnd = within(packets, least, s->most);
    flow->window_bytes = (uint64_t)(s->cwnd * flow->mtu_bytes + 0.5);
    pace(flow, now);
}

static bool may_decrease(const struct swift_flow *s, oche_time now)
{
    return !s->has_decreased || now - s->decreased >= s->rtt;
}

static void decrease(struct oche_cc_flow *flow, oche_time now, double packets, enum cause cause)
{
    struct swift_nic *nic = flow->nic_state;
    struct swift_flow *s = of(flow);
    const double before = s->cwnd;

    set_window(flow, now, packets);
    s->decreased = now;
    s->has_decreased = true;
    if (s->cwnd == before)
        return;
    nic->decreases++;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_WINDOW_CHANGED, flow->qpn, cause,
                    flow->window_bytes);
}

/* ---- events ---- */

static void swift_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct swift_params *p = flow->params;
    struct swift_flow *s = of(flow);

    *s = (struct swift_flow){.line_bytes =
                                 oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, flow->mtu_bytes, false) +
                                 OCHE_GAP_BYTES};
    scale_by_flows(s, p);
    s->most = (double)most_bytes(p, flow->line_rate_bps, flow->mtu_bytes) / flow->mtu_bytes;
    set_window(flow, now,
               (double)first_bytes(p, flow->line_rate_bps, flow->mtu_bytes) / flow->mtu_bytes);
    oche_trace_emit(flow->trace, now, OCHE_TRACE_WINDOW_CHANGED, flow->qpn, CAUSE_START,
                    flow->window_bytes);
}

static void swift_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                       uint64_t line_bytes)
{
    if (OCHE_UNLIKELY(oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))) {
        set_rate(flow, now, flow->initial_rate_bps); /* READ data: its requester has the window */
        return;
    }
    if (packet->payload_bytes == flow->mtu_bytes)
        of(flow)->line_bytes = (uint32_t)line_bytes;
}

static void swift_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct swift_params *p = flow->params;
    struct swift_nic *nic = flow->nic_state;
    struct swift_flow *s = of(flow);
    const double packets = (double)ack->acked_bytes / flow->mtu_bytes;

    if (ack->acked_bytes > 0)
        s->timeouts = 0;
    if (ack->rtt == OCHE_NEVER)
        return;
    s->rtt = ack->rtt;
    const double delay = (double)ack->rtt, target = target_of(flow, ack->packet);

    if (delay < target) {
        set_window(flow, now, s->cwnd + p->ai * (s->cwnd >= 1.0 ? packets / s->cwnd : packets));
    } else if (may_decrease(s, now)) {
        const double part = within(p->beta * (delay - target) / delay, 0.0, p->max_mdf);

        decrease(flow, now, s->cwnd * (1.0 - part), CAUSE_DELAY);
    } else {
        pace(flow, now); /* the round trip is another one */
    }
    nic->paced += s->cwnd < 1.0;
}

static void swift_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    const struct swift_params *p = flow->params;
    struct swift_nic *nic = flow->nic_state;
    struct swift_flow *s = of(flow);
    const bool timeout = kind == OCHE_CC_LOSS_TIMEOUT;

    s->timeouts = timeout ? s->timeouts + 1 : 0;
    if (s->timeouts >= p->retx_reset) {
        nic->resets++;
        decrease(flow, now, 0.0, CAUSE_RESET);
    } else if (may_decrease(s, now)) {
        decrease(flow, now, s->cwnd * (1.0 - p->max_mdf), timeout ? CAUSE_TIMEOUT : CAUSE_LOSS);
    }
}

/* ---- parameters ---- */

static const char *swift_check(const void *params)
{
    const struct swift_params *p = params;

    if (p->fs_min_cwnd >= p->fs_max_cwnd)
        return "fs_min_cwnd: must be below fs_max_cwnd";
    if (p->initial_cwnd != OCHE_NEVER && p->initial_cwnd > p->max_cwnd)
        return "initial_cwnd: must not be above max_cwnd";
    return NULL;
}

static const char *swift_remark(const void *params, oche_time empty_rtt, uint64_t line_bps)
{
    const struct swift_params *p = params;

    (void)line_bps;
    return p->base_target >= empty_rtt ? NULL
                                       : "more than base_target, so that windows shrink without a "
                                         "queue";
}

static bool swift_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                          struct oche_derived *derived)
{
    const struct swift_params *p = params;

    *derived = (struct oche_derived){.by = NULL};
    switch (param->offset) {
    case offsetof(struct swift_params, max_cwnd):
        derived->value.u = most_bytes(p, line_bps, 1024) / 1024;
        return p->max_cwnd == OCHE_NEVER;
    case offsetof(struct swift_params, initial_cwnd):
        derived->value.u = first_bytes(p, line_bps, 1024) / 1024;
        return p->initial_cwnd == OCHE_NEVER;
    default:
        return false;
    }
}

#define UNKNOWN_TRIP   OCHE_MS        /* of a device that has measured none yet */
#define SHORTEST_TRIP  (50 * OCHE_US) /* a program's timers are not finer */
#define TARGET_DIVISOR 2              /* 5 / 2: as t_low of TIMELY, swift.md#wire */
#define TARGET_FACTOR  5
#define TARGET_TO_FLOW 5 /* fs_range is 5 * base_target */

/* For a device in software, whose round trips are longer than the target (swift.md#wire). */
static void swift_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    static const struct oche_param_table all = OCHE_PARAM_TABLE(table, struct swift_params);
    const oche_time known = network->round_trip != 0 ? network->round_trip : UNKNOWN_TRIP;
    const oche_time trip = oche_time_max(known, SHORTEST_TRIP);
    struct swift_params *p = params;

    p->round_trip = network->round_trip;
    oche_param_fit(&all, p, free, "base_target", trip * TARGET_FACTOR / TARGET_DIVISOR);
    oche_param_fit(&all, p, free, "fs_range", TARGET_TO_FLOW * p->base_target);
}

static const struct oche_cc_advice advice = {
    .remark = swift_remark,
    .derived = swift_derived,
    .fit = swift_fit,
};

const struct oche_cc_scheme oche_cc_swift = {
    .name = "swift",
    .paper = "Swift, SIGCOMM 2020",
    .table = OCHE_PARAM_TABLE_DEPLOYED(table, struct swift_params, in_use),
    .flow_state_bytes = sizeof(struct swift_flow),
    .nic_state_bytes = sizeof(struct swift_nic),
    .counters = &counters,
    .needs = OCHE_CC_NEEDS_RTT,
    .transports = OCHE_CC_RC,
    .runs_on_wire = true,
    .windows_reads = true,
    .start = swift_start,
    .sent = swift_sent,
    .acked = swift_acked,
    .loss = swift_loss,
    .check = swift_check,
    .advice = &advice,
};
