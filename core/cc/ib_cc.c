/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand congestion control (InfiniBand Architecture Specification, volume 1, annex A10;
 * ib-cc.md#marking), with which Dart is compared on a testbed (sec V-B). Three parts:
 *
 * Switch: marks packets in the queue of a port that is the root of congestion (fabric/fecn.c; with
 * this scheme every switch has it). FECN travels as CE of the IP header. Destination: returns each
 * FECN as a BECN in the next ACK. For UC and READ data, which get no ACK, it sends a packet of its
 * own (CNP) instead. Source, by queue pair: each BECN raises an index, CCTI, by CCTI_Increase, up
 * to CCTI_Limit; each expiry of CCTI_Timer lowers the index by one, down to CCTI_Min. The
 * congestion control table (CCT) gives for each index the delay after a packet (injection rate
 * delay), in packet times.
 *
 * The delay is proportional to the packet's own time on the line, so an index stands for the rate
 * line/(1 + delay).
 *
 * Where it differs, or where the specification leaves the choice to the subnet's administrator:
 *   - the CCT has no standard contents. `cct: delay`: entry i is i * cct_step packet times; `cct:
 *     rate`: rates fall by equal steps. Entries have the width and the grain of real ones.
 *   - a BECN starts the timer only if it is not running; it never restarts it.
 *   - CCTI_Timer is in units of 1.024 us in the specification; here it may be any time.
 *   - a CNP is RoCEv2's, opcode 0x81. InfiniBand's is 0x80.
 *   - each queue pair has a CCTI. The specification also allows one CCTI for each service level of
 *     a port.
 */
#include "core/cc/ib_cc.h"

#include "core/cc/cc.h"
#include "core/cc/ecn_echo.h"

enum cct { CCT_DELAY, CCT_RATE };
enum becn { BECN_ACK, BECN_CNP };

struct ib_cc_params {
    uint32_t preset; /* enum oche_preset */
    uint64_t ccti_increase, ccti_limit, ccti_min;
    oche_time ccti_timer;
    uint32_t cct, becn;
    double cct_step;
};

static const char *const cct_names[] = {"delay", "rate", NULL};
static const char *const becn_names[] = {"ack", "cnp", NULL};

static const struct oche_param table[] = {
    OCHE_PRESET_ROW_AT(struct ib_cc_params, "ib-cc.md#deployed"),
    {OCHE_PARAM(struct ib_cc_params, ccti_increase), OCHE_IS_COUNT(1, 1, 255),
     .where = "ib-cc.md#parameters", .help = "CCTI_Increase: how much a BECN raises the index"},
    {OCHE_PARAM(struct ib_cc_params, ccti_limit),
     OCHE_IS_COUNT(OCHE_IB_CCTI_MOST, 1, OCHE_IB_CCTI_MOST), .where = "ib-cc.md#parameters",
     .help = "CCTI_Limit: the last index of the table"},
    {OCHE_PARAM(struct ib_cc_params, ccti_min), OCHE_IS_COUNT(0, 0, OCHE_IB_CCTI_MOST),
     .where = "ib-cc.md#parameters", .help = "CCTI_Min: the index without congestion"},
    {OCHE_PARAM(struct ib_cc_params, ccti_timer),
     OCHE_IS_TIME(153600 * OCHE_NS, 1024 * OCHE_NS, UINT64_C(65535) * 1024 * OCHE_NS),
     .where = "ib-cc.md#parameters",
     .help = "CCTI_Timer: how often the index falls by one; the field counts units of "
             "1.024us"},
    {OCHE_PARAM(struct ib_cc_params, cct), OCHE_IS_CHOICE(0, cct_names),
     .where = "ib-cc.md#parameters",
     .help = "the table. delay: entry i is i * cct_step packet times; rate: the rate falls by "
             "equal steps, to line/(ccti_limit + 1)"},
    {OCHE_PARAM(struct ib_cc_params, cct_step), OCHE_IS_REAL(1, 0.125, 128), .needs = "cct=delay",
     .where = "ib-cc.md#parameters",
     .help = "step between entries with cct: delay, in packet times, with a resolution of "
             "1/8"},
    {OCHE_PARAM(struct ib_cc_params, becn), OCHE_IS_CHOICE(0, becn_names),
     .where = "ib-cc.md#source",
     .help = "how a BECN travels. ack: in the next ACK, where there is one; cnp: by itself"},
};

/* Beside switches that mark a packet a microsecond, whatever their rate (ib-cc.md#deployed). */
static const struct oche_deployed in_use[] = {{"ccti_timer", {.u = 30 * 1024 * OCHE_NS}}};

/* Causes of the trace event RATE_CHANGED. */
enum cause { CAUSE_BECN, CAUSE_TIMER, CAUSE_INITIAL };

struct ib_cc_flow {
    uint32_t ccti;
};

static struct ib_cc_flow *of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* ---- the table ---- */

uint16_t oche_ib_cct_entry(double delay)
{
    for (unsigned shift = 3; shift > 0; shift--) {
        double multiplier = delay * (double)(1U << shift) + 0.5;

        if (multiplier < OCHE_IB_CCT_MULTIPLIER + 1.0)
            return (uint16_t)(shift << OCHE_IB_CCT_SHIFT_BITS | (unsigned)multiplier);
    }
    return delay + 0.5 < OCHE_IB_CCT_MULTIPLIER + 1.0 ? (uint16_t)(delay + 0.5)
                                                      : OCHE_IB_CCT_MULTIPLIER;
}

uint32_t oche_ib_cct_eighths(uint16_t entry)
{
    uint32_t multiplier = entry & OCHE_IB_CCT_MULTIPLIER;

    return multiplier << (3 - (entry >> OCHE_IB_CCT_SHIFT_BITS));
}

uint64_t oche_ib_cct_rate(uint64_t line_rate_bps, uint32_t eighths)
{
    uint64_t bps = (uint64_t)((unsigned __int128)line_rate_bps * 8 / (8 + (uint64_t)eighths));

    return bps > 0 ? bps : 1;
}

static uint32_t delay_of(const struct ib_cc_params *p, uint32_t ccti)
{
    double delay = (double)ccti * p->cct_step;

    if (p->cct == CCT_RATE)
        delay = (double)ccti / (double)(p->ccti_limit + 1 - ccti);
    return oche_ib_cct_eighths(oche_ib_cct_entry(delay));
}

/* ---- source ---- */

static void set_index(struct oche_cc_flow *flow, oche_time now, uint32_t ccti, enum cause cause)
{
    const struct ib_cc_params *p = flow->params;
    uint32_t eighths = delay_of(p, ccti);
    uint64_t bps = oche_ib_cct_rate(flow->line_rate_bps, eighths);

    of(flow)->ccti = ccti;
    if (ccti > p->ccti_min && flow->timer[0] == OCHE_NEVER)
        flow->timer[0] = now + p->ccti_timer;
    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, cause, bps);
    oche_trace_emit(flow->trace, now, OCHE_TRACE_CC_STATE, flow->qpn, ccti, eighths);
}

static void becn(struct oche_cc_flow *flow, oche_time now)
{
    const struct ib_cc_params *p = flow->params;
    uint64_t ccti = of(flow)->ccti + p->ccti_increase;

    set_index(flow, now, (uint32_t)(ccti < p->ccti_limit ? ccti : p->ccti_limit), CAUSE_BECN);
}

static void ib_cc_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    if (ack->ecn_echo)
        becn(flow, now);
}

static void ib_cc_cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    (void)cnp;
    becn(flow, now);
}

static void ib_cc_timer(struct oche_cc_flow *flow, oche_time now, unsigned index,
                        struct oche_cc_reply *reply)
{
    const struct ib_cc_params *p = flow->params;
    uint32_t ccti = of(flow)->ccti;

    (void)index;
    (void)reply;
    if (ccti > p->ccti_min)
        set_index(flow, now, ccti - 1, CAUSE_TIMER);
}

/*
 * Starts at CCTI_Min or, if local policy sets a lower rate, at the first index that is slow enough.
 */
static void ib_cc_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct ib_cc_params *p = flow->params;
    uint32_t ccti = (uint32_t)p->ccti_min;

    while (ccti < p->ccti_limit &&
           oche_ib_cct_rate(flow->line_rate_bps, delay_of(p, ccti)) > flow->initial_rate_bps)
        ccti++;
    flow->rate_bps = flow->line_rate_bps;
    flow->window_bytes = UINT64_MAX;
    set_index(flow, now, ccti, CAUSE_INITIAL);
}

/* ---- destination ---- */

static void ib_cc_arrived(struct oche_cc_flow *flow, oche_time now,
                          const struct oche_packet *packet, struct oche_cc_reply *reply)
{
    const struct ib_cc_params *p = flow->params;

    if (p->becn == BECN_CNP)
        reply->send_cnp = packet->ecn == OCHE_ECN_CE;
    else
        oche_ecn_echo_arrived(flow, now, packet, reply);
}

static const char *ib_cc_check(const void *params)
{
    const struct ib_cc_params *p = params;

    if (p->ccti_min >= p->ccti_limit)
        return "ccti_min: is not below ccti_limit, so that nothing would ever slow down; less, or "
               "a higher ccti_limit";
    return NULL;
}

const struct oche_cc_scheme oche_cc_ib_cc = {
    .name = "ib_cc",
    .paper = "InfiniBand Architecture Specification, volume 1, annex A10 (Dart sec V-B)",
    .table = OCHE_PARAM_TABLE_DEPLOYED(table, struct ib_cc_params, in_use),
    .check = ib_cc_check,
    .flow_state_bytes = sizeof(struct ib_cc_flow),
    .needs = OCHE_CC_NEEDS_ECN,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .runs_on_wire = true,
    .switch_mechanism = "fecn",
    .start = ib_cc_start,
    .acked = ib_cc_acked,
    .cnp = ib_cc_cnp,
    .timer = ib_cc_timer,
    .arrived = ib_cc_arrived,
    .stamp_ack = oche_ecn_echo_stamp,
};
