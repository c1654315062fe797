/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019; hpcc.md): switches
 * write into data packets how busy their ports are (fabric/int_stamp.h), and the sender sets its
 * window by the busiest one.
 *
 *   u of a hop     its rate of sending between two ACKs / C, and min(queue now, queue before) /
 *                  (C T): the share of a round trip's bytes that is in flight on the link
 *   U              the largest u of the path, smoothed with the weight tau / T, tau being that
 *                  hop's time between the two ACKs, at most T
 *   window         U >= eta, or max_stage raises in a row:  W = W_c / (U / eta) + W_AI
 *                  else:                                    W = W_c + W_AI, one more raise
 *   reference W_c  becomes W once a round trip: by the first ACK of a packet that was sent after
 *                  the last such ACK. The ACKs between set W from the same W_c.
 *   rate           W / T
 *
 * All of this is kept as rates, R = W / T, as in HPCC-sim: a window of the path is a rate on the
 * line times T. So W_AI is a rate `r_ai`.
 *
 * Receiver: echoes the telemetry of the newest data packet in each ACK; every packet asks for one.
 *
 * Where it differs: a pair of ACKs more than half of the clock's range apart says nothing, so the
 * telemetry of the later one is only kept. ACKs without telemetry (SACKs of selective repeat)
 * change nothing. READ data has no ACKs and leaves at the initial rate. Losses change nothing.
 */
#include "core/cc/cc_advice.h"
#include "core/cc/cc_headers.h"
#include "core/wire/telemetry.h"

#define UNKNOWN_TRIP  (10 * OCHE_US)
#define LINE_TO_AI    2500 /* 10 Mbit/s of 25 Gbit/s */
#define BITS_PER_BYTE 8
/* Half of the range of the switches' clock (OCHE_HOP_TIME_BITS). */
#define LONGEST_NS (UINT32_C(1) << (OCHE_HOP_TIME_BITS - 1))

enum update { UPDATE_BOTH, UPDATE_ACK, UPDATE_RTT };

static const char *const update_names[] = {"both", "ack", "rtt", NULL};

struct hpcc_params {
    double eta;
    uint64_t max_stage, r_ai, ai_flows, min_rate;
    oche_time base_rtt;
    uint32_t update;      /* enum update */
    oche_time round_trip; /* not a parameter: the network's, set by `fit`; 0: unknown */
};

static const struct oche_param table[] = {
    {OCHE_PARAM(struct hpcc_params, eta), OCHE_IS_REAL(0.95, 0.01, 2.0),
     .where = "HPCC-sim; hpcc.md#parameters", .help = "the share of a link that should be used"},
    {OCHE_PARAM(struct hpcc_params, max_stage), OCHE_IS_COUNT(5, 0, 1000000),
     .where = "hpcc.md#max-stage",
     .help = "raises by r_ai in a row, one a round trip, before the window follows U; 0: always U"},
    {OCHE_PARAM(struct hpcc_params, r_ai), OCHE_IS_BPS(OCHE_NEVER, 0, 1000 * OCHE_GBPS),
     .automatic = true, .where = "HPCC-sim; hpcc.md#ai",
     .help = "W_AI / T; auto: 10Mbps for each 25Gbps of the line, or by ai_flows"},
    {OCHE_PARAM(struct hpcc_params, ai_flows), OCHE_IS_COUNT(0, 0, 1000000), .where = "hpcc.md#ai",
     .help = "N of the paper's W_AI = W_init (1 - eta) / N, if r_ai is auto; 0: not by the paper"},
    {OCHE_PARAM(struct hpcc_params, min_rate), OCHE_IS_BPS(100 * OCHE_MBPS, 1, 1000 * OCHE_GBPS),
     .where = "HPCC-sim; hpcc.md#parameters", .help = "the rate is never below this"},
    {OCHE_PARAM(struct hpcc_params, base_rtt), OCHE_IS_TIME(OCHE_NEVER, OCHE_NS, OCHE_SEC),
     .automatic = true, .where = "HPCC-sim; hpcc.md#base-rtt",
     .help = "T; auto: the network's longest round trip where nothing waits"},
    {OCHE_PARAM(struct hpcc_params, update), OCHE_IS_CHOICE(UPDATE_BOTH, update_names),
     .where = "hpcc.md#update",
     .help = "both: W by each ACK, W_c once a round trip; ack: both by each ACK; rtt: both once a "
             "round trip"},
};

struct hpcc_flow {
    /* Sender. */
    double rate;      /* R_c, of the reference window */
    double u;         /* U */
    oche_time heard;  /* when `last` came */
    uint32_t next;    /* one past the highest PSN that has left */
    uint32_t round;   /* an ACK of this PSN, or a later one, ends the round trip */
    uint32_t stage;   /* raises in a row */
    bool sent, knows; /* `next` and `round` are valid; `last` is */
    struct oche_telemetry last;
    /* Receiver: of the newest data packet. */
    bool arrived;
    struct oche_telemetry echo;
};

struct hpcc_nic {
    uint64_t raises, by_load;
};

static const struct oche_counter rows[] = {
    {.name = "raises",
     .offset = offsetof(struct hpcc_nic, raises),
     .help = "reference windows that have grown by r_ai alone"},
    {.name = "by_load",
     .offset = offsetof(struct hpcc_nic, by_load),
     .help = "reference windows that were set by the load of the busiest link"},
};

static const struct oche_counters counters = {"hpcc", rows, OCHE_COUNT_OF(rows)};

/* Cause of the trace event RATE_CHANGED. */
enum cause { CAUSE_START, CAUSE_REFERENCE, CAUSE_ACK };

static struct hpcc_flow *of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* ---- parameters ---- */

static oche_time base_rtt(const struct hpcc_params *p)
{
    if (p->base_rtt != OCHE_NEVER)
        return p->base_rtt;
    return p->round_trip != 0 ? p->round_trip : UNKNOWN_TRIP;
}

static uint64_t additive(const struct hpcc_params *p, uint64_t line_bps)
{
    if (p->r_ai != OCHE_NEVER)
        return p->r_ai;
    if (p->ai_flows == 0)
        return line_bps / LINE_TO_AI;
    return p->eta < 1.0 ? (uint64_t)((double)line_bps * (1.0 - p->eta) / (double)p->ai_flows) : 0;
}

static bool hpcc_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                         struct oche_derived *derived)
{
    const struct hpcc_params *p = params;

    *derived = (struct oche_derived){.by = NULL};
    switch (param->offset) {
    case offsetof(struct hpcc_params, r_ai):
        derived->value.u = additive(p, line_bps);
        derived->by = p->ai_flows > 0 ? "ai_flows" : NULL;
        return p->r_ai == OCHE_NEVER;
    case offsetof(struct hpcc_params, base_rtt):
        derived->value.u = base_rtt(p);
        return p->base_rtt == OCHE_NEVER;
    default:
        return false;
    }
}

static void hpcc_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    struct hpcc_params *p = params;

    (void)free; /* no value depends on the network but those that are auto */
    p->round_trip = network->round_trip;
}

static const char *hpcc_remark(const void *params, oche_time empty_rtt, uint64_t line_bps)
{
    const struct hpcc_params *p = params;

    (void)line_bps;
    return base_rtt(p) >= empty_rtt ? NULL
                                    : "more than base_rtt, so that windows do not fill the path";
}

/* ---- decisions ---- */

/* Bytes of the window count payload; rates count bytes on the line. */
static void set_rate(struct oche_cc_flow *flow, oche_time now, double bps, enum cause cause)
{
    const struct hpcc_params *p = flow->params;
    const double line_bytes =
        flow->mtu_bytes + OCHE_GAP_BYTES +
        (double)(oche_frame_bytes_with(OCHE_RC_WRITE_MIDDLE, 0, OCHE_INT_BYTES, false));
    const double trip = (double)base_rtt(p) / (double)OCHE_SEC;
    const uint64_t rate = (uint64_t)bps;

    flow->window_bytes =
        (uint64_t)(bps * trip / BITS_PER_BYTE * (double)flow->mtu_bytes / line_bytes);
    if (rate == flow->rate_bps)
        return;
    flow->rate_bps = rate;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, cause, rate);
}

static double within_limits(const struct oche_cc_flow *flow, double bps)
{
    const struct hpcc_params *p = flow->params;
    const double line = (double)flow->line_rate_bps;
    const double least = (double)p->min_rate < line ? (double)p->min_rate : line;

    return bps < least ? least : bps < line ? bps : line;
}

/* ---- sender ---- */

static void hpcc_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                      uint64_t line_bytes)
{
    struct hpcc_flow *s = of(flow);
    const uint32_t next = oche_psn_add(packet->psn, 1);

    (void)now;
    (void)line_bytes;
    if (oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))
        return; /* READ data has the peer's PSNs */
    packet->bth |= OCHE_BTH_ACKREQ;
    if (!s->sent)
        s->next = s->round = packet->psn;
    s->sent = true;
    if (oche_psn_diff(next, s->next) > 0)
        s->next = next;
}

/* Returns the load of one hop, and sets `tau` to its time between the two records. */
static double load_of(const struct oche_hop *now, const struct oche_hop *before, double trip_ps,
                      double *tau_ps)
{
    const double rate = (double)now->rate_bps;
    const double least =
        (double)(now->queue_bytes < before->queue_bytes ? now->queue_bytes : before->queue_bytes);

    *tau_ps = (double)oche_hop_time_since(now, before) * (double)OCHE_NS;
    const double sent =
        (double)oche_hop_sent_since(now, before) * BITS_PER_BYTE * ((double)OCHE_SEC / *tau_ps);
    const double fits = rate * (trip_ps / (double)OCHE_SEC); /* bits in flight on the link */

    return sent / rate + least * BITS_PER_BYTE / fits;
}

enum news { NEWS_NONE, NEWS_OTHER_PATH, NEWS_LOAD };

/*
 * Adds the newest records to U. They say nothing if a hop's two records have the same time, or if
 * the packets took different paths.
 */
static enum news measure(struct hpcc_flow *s, const struct oche_telemetry *telemetry,
                         double trip_ps)
{
    const unsigned hops = oche_telemetry_count(telemetry);
    double most = 0.0, most_tau = 0.0;

    if (hops == 0 || hops != oche_telemetry_count(&s->last))
        return NEWS_OTHER_PATH;
    for (unsigned i = 0; i < hops; i++) {
        const struct oche_hop now = oche_telemetry_hop(telemetry, i);
        const struct oche_hop before = oche_telemetry_hop(&s->last, i);
        double tau, load;

        if (now.rate_bps == 0 || now.rate_bps != before.rate_bps)
            return NEWS_OTHER_PATH;
        if (now.time_ns == before.time_ns)
            return NEWS_NONE;
        load = load_of(&now, &before, trip_ps, &tau);
        if (load > most) {
            most = load;
            most_tau = tau;
        }
    }
    if (most_tau > trip_ps)
        most_tau = trip_ps;
    s->u += (most - s->u) * (most_tau / trip_ps);
    return NEWS_LOAD;
}

/* Sets the window by U; with `whole` also the reference window. */
static void react(struct oche_cc_flow *flow, oche_time now, bool whole)
{
    const struct hpcc_params *p = flow->params;
    struct hpcc_nic *nic = flow->nic_state;
    struct hpcc_flow *s = of(flow);
    const bool by_load = s->u >= p->eta || s->stage >= p->max_stage;
    const double more = (double)additive(p, flow->line_rate_bps);
    const double rate = within_limits(flow, (by_load ? s->rate / (s->u / p->eta) : s->rate) + more);

    if (whole || p->update != UPDATE_RTT)
        set_rate(flow, now, rate, whole ? CAUSE_REFERENCE : CAUSE_ACK);
    if (!whole)
        return;
    s->rate = rate;
    s->stage = by_load ? 0 : s->stage + 1;
    *(by_load ? &nic->by_load : &nic->raises) += 1;
}

static void hpcc_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct hpcc_params *p = flow->params;
    const struct oche_packet *packet = ack->packet;
    struct hpcc_flow *s = of(flow);
    const bool recent = s->knows && now - s->heard < LONGEST_NS * OCHE_NS;
    enum news news = NEWS_OTHER_PATH;

    if (packet->opcode != OCHE_RC_ACK_INT || !(packet->ext & OCHE_EXT_TRAILER) || !s->sent)
        return;
    if (recent)
        news = measure(s, &packet->telemetry, (double)base_rtt(p));
    if (news == NEWS_NONE)
        return;
    s->last = packet->telemetry;
    s->heard = now;
    if (!s->knows)
        s->round = s->next;
    s->knows = true;
    if (news != NEWS_LOAD)
        return;
    const bool whole = p->update == UPDATE_ACK || oche_psn_diff(packet->psn, s->round) >= 0;

    react(flow, now, whole);
    if (whole)
        s->round = s->next;
}

/* ---- receiver ---- */

static void hpcc_arrived(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                         struct oche_cc_reply *reply)
{
    struct hpcc_flow *s = of(flow);

    (void)now;
    (void)reply;
    if (!oche_has_telemetry(packet))
        return;
    s->arrived = true;
    s->echo = *oche_telemetry_at(packet);
}

static void hpcc_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    const struct hpcc_flow *s = of(flow);

    (void)now;
    if (packet->opcode != OCHE_RC_ACK_INT || !s->arrived)
        return;
    packet->telemetry = s->echo;
    packet->ext |= OCHE_EXT_TRAILER;
}

/* ---- both ---- */

static void hpcc_start(struct oche_cc_flow *flow, oche_time now)
{
    struct hpcc_flow *s = of(flow);

    s->u = 1.0; /* HPCC-sim */
    s->rate = within_limits(flow, (double)flow->initial_rate_bps);
    set_rate(flow, now, s->rate, CAUSE_START);
}

static const struct oche_cc_headers headers = {
    .ack_opcode = OCHE_RC_ACK_INT,
    .telemetry = true,
};

static const struct oche_cc_advice advice = {
    .remark = hpcc_remark,
    .derived = hpcc_derived,
    .fit = hpcc_fit,
};

const struct oche_cc_scheme oche_cc_hpcc = {
    .name = "hpcc",
    .paper = "HPCC, SIGCOMM 2019",
    .table = {.params = table,
              .count = OCHE_COUNT_OF(table),
              .struct_bytes = sizeof(struct hpcc_params)},
    .flow_state_bytes = sizeof(struct hpcc_flow),
    .nic_state_bytes = sizeof(struct hpcc_nic),
    .counters = &counters,
    .needs = OCHE_CC_NEEDS_ACK_A_PACKET,
    .one_path = true,
    .transports = OCHE_CC_RC,
    .runs_on_wire = false,
    .switch_mechanism = "int_stamp",
    .start = hpcc_start,
    .sent = hpcc_sent,
    .acked = hpcc_acked,
    .arrived = hpcc_arrived,
    .stamp_ack = hpcc_stamp,
    .headers = &headers,
    .advice = &advice,
};
