/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RCP, the rate control protocol (Dukkipati, thesis 2008; rcp.md), to which Dart sec VI-D compares
 * itself: switches tell flows how fast they may send. Their part is fabric/rcp_rate.c, which every
 * switch must have.
 *
 * Sender: each data packet carries, behind the ICRC, a trailer with the requested rate (the
 * line's), the round trip that the sender knows, and a time stamp. Each switch on the way lowers
 * the rate to its own if its own is lower. Receiver: echoes the last packet's trailer with each
 * ACK. The sender paces at the echoed rate; the RTT is the present time minus the echoed stamp. All
 * rates count bytes on the line.
 *
 * Where it differs from RCP, which was made for TCP, or where the sources are silent:
 *   - RCP learns its rate in TCP's handshake, which RDMA does not have: with `start: ask` the first
 *     packet of a flow leaves alone and the others wait for its ACK; otherwise all leave at
 *     `initial_rate` until that ACK comes. A queue pair counts as a new flow if it had nothing to
 *     send for more than a round trip, and after a timeout, because the state of the path is
 *     unknown then.
 *   - READ data and UC have no ACKs: their receiver echoes in packets of the scheme's own, at most
 *     one per half round trip. They begin at `initial_rate`, as no window holds them back.
 *   - The sender asks for an ACK at least every half round trip, even if ACKs are rarer otherwise.
 *   - The host's own port lowers no rate, because it is not a switch; queue pairs that share the
 *     port take turns.
 *   - It needs switches that no real network has, so it does not run on the wire, and peers need
 *     not tell each other that they know the trailer.
 */
#include "core/cc/cc_headers.h"
#include "core/cc/cc_nic.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define MOST_RTT UINT32_C(1000000000) /* in ns; longer round trips are taken to be wrong */

enum start { START_ASK, START_SEND };

struct rcp_params {
    double initial_rate;
    uint32_t start;
};

static const char *const start_names[] = {"ask", "send", NULL};

static const struct oche_param table[] = {
    {OCHE_PARAM(struct rcp_params, initial_rate), OCHE_IS_REAL(0.05, 0.000001, 1.0),
     .where = "rcp.md#initial-rate",
     .help = "rate until the switches' rate is known, as a fraction of the line; like "
             "rcp_rate.initial_rate"},
    {OCHE_PARAM(struct rcp_params, start), OCHE_IS_CHOICE(0, start_names),
     .where = "our choice; rcp.md#decisions",
     .help = "ask: the first packet of a flow leaves alone, to learn the rate; send: all leave, "
             "at initial_rate; READ data and UC always do"},
};

/* Causes of the trace event RATE_CHANGED. */
enum cause { CAUSE_NEW_FLOW, CAUSE_ECHO };

struct rcp_flow {
    /* Sender. */
    oche_time heard, asked; /* time of the last echo; time of the last request for an ACK */
    uint32_t rtt_ns;        /* 0: unknown */
    bool knows;             /* an echo has arrived since the flow began */
    /* Receiver: the trailer of the last data packet. */
    struct oche_rate_trailer last;
    oche_time told;
};

struct rcp_nic {
    struct oche_cc_nic *nic;
};

static struct rcp_flow *of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* ---- sender ---- */

static void set_rate(struct oche_cc_flow *flow, oche_time now, uint64_t bps, enum cause cause)
{
    if (bps > flow->line_rate_bps)
        bps = flow->line_rate_bps;
    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, cause, bps);
}

static void begin(struct oche_cc_flow *flow, oche_time now)
{
    const struct rcp_params *p = flow->params;
    uint64_t bps = (uint64_t)((double)flow->line_rate_bps * p->initial_rate);

    if (bps > flow->initial_rate_bps)
        bps = flow->initial_rate_bps;
    set_rate(flow, now, bps > 0 ? bps : 1, CAUSE_NEW_FLOW);
    flow->window_bytes = p->start == START_ASK ? 0 : UINT64_MAX;
    of(flow)->knows = false;
}

static void hear(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet)
{
    const struct oche_rate_echo echo = oche_rate_echo_get(packet);
    struct rcp_flow *s = of(flow);
    uint32_t rtt_ns = (uint32_t)(now / OCHE_NS) - echo.stamp_ns;

    if (echo.rate_10kbps == 0)
        return;
    s->heard = now;
    s->knows = true;
    if (rtt_ns > 0 && rtt_ns <= MOST_RTT)
        s->rtt_ns = rtt_ns;
    flow->window_bytes = UINT64_MAX;
    set_rate(flow, now, (uint64_t)echo.rate_10kbps * OCHE_RATE_UNIT_BPS, CAUSE_ECHO);
}

static oche_time half_rtt(uint32_t rtt_ns)
{
    return rtt_ns * OCHE_NS / 2;
}

static void rcp_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                     uint64_t line_bytes)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    uint64_t line_units = flow->line_rate_bps / OCHE_RATE_UNIT_BPS;
    struct rcp_flow *s = of(flow);

    (void)line_bytes;
    if (!(row->flags & OCHE_OP_PAYLOAD))
        return;
    const struct oche_rate_trailer trailer = {
        .rate_10kbps = line_units < UINT32_MAX ? (uint32_t)line_units : UINT32_MAX,
        .rtt_ns = s->rtt_ns,
        .stamp_ns = (uint32_t)(now / OCHE_NS),
    };
    oche_rate_trailer_put(packet, &trailer);
    if (!(row->flags & OCHE_OP_REQUEST) || row->service == OCHE_SERVICE_UC)
        return;
    if (!(packet->bth & OCHE_BTH_ACKREQ) && now - s->asked < half_rtt(s->rtt_ns))
        return;
    packet->bth |= OCHE_BTH_ACKREQ;
    s->asked = now;
}

static void rcp_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    if (ack->packet->opcode == OCHE_RC_ACK_RATE && (ack->packet->ext & OCHE_EXT_SCHEME))
        hear(flow, now, ack->packet);
}

static void rcp_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    if (kind == OCHE_CC_LOSS_TIMEOUT)
        begin(flow, now);
}

static void rcp_busy(struct oche_cc_flow *flow, oche_time now)
{
    const struct rcp_flow *s = of(flow);

    if (s->knows && now - s->heard > s->rtt_ns * OCHE_NS)
        begin(flow, now);
}

/* ---- receiver ---- */

static void rcp_arrived(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                        struct oche_cc_reply *reply)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    const struct rcp_nic *nic = flow->nic_state;
    struct rcp_flow *s = of(flow);

    (void)reply;
    if (!(packet->ext & OCHE_EXT_TRAILER))
        return;
    s->last = packet->trailer;
    if (!(row->flags & OCHE_OP_RESPONSE) && row->service != OCHE_SERVICE_UC)
        return;
    if (s->told != 0 && now - s->told < half_rtt(s->last.rtt_ns))
        return;
    s->told = now;
    oche_cc_want(nic->nic, flow, OCHE_CC_WANTS_OWN);
}

static void rcp_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    const struct rcp_flow *s = of(flow);
    const struct oche_rate_echo echo = {.rate_10kbps = s->last.rate_10kbps,
                                        .stamp_ns = s->last.stamp_ns};

    (void)now;
    if (packet->opcode == OCHE_RC_ACK_RATE || packet->opcode == OCHE_RATE)
        oche_rate_echo_put(packet, &echo);
}

/* ---- both ---- */

static void rcp_start(struct oche_cc_flow *flow, oche_time now)
{
    begin(flow, now);
}

static void rcp_nic_start(struct oche_cc_nic *nic)
{
    struct rcp_nic *state = nic->state;

    state->nic = nic;
}

static const struct oche_cc_nic_hooks nic_hooks = {.start = rcp_nic_start};

static const struct oche_cc_headers headers = {
    .ack_opcode = OCHE_RC_ACK_RATE,
    .own_opcode = OCHE_RATE,
    .trailer = true,
    .own = hear,
};

const struct oche_cc_scheme oche_cc_rcp = {
    .name = "rcp",
    .paper = "RCP, N. Dukkipati, Stanford 2008, with Dart's parameters (ToN 2020, sec VI-D)",
    .table = OCHE_PARAM_TABLE(table, struct rcp_params),
    .flow_state_bytes = sizeof(struct rcp_flow),
    .nic_state_bytes = sizeof(struct rcp_nic),
    .needs = OCHE_CC_NEEDS_NOTHING,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .runs_on_wire = false,
    .switch_mechanism = "rcp_rate",
    .start = rcp_start,
    .sent = rcp_sent,
    .acked = rcp_acked,
    .loss = rcp_loss,
    .busy = rcp_busy,
    .arrived = rcp_arrived,
    .stamp_ack = rcp_stamp,
    .nic = &nic_hooks,
    .headers = &headers,
};
