/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patched TIMELY (Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
 * CoNEXT 2016, sec 4.3; timely.md#patched): TIMELY changed so that it has one fixed point, at which
 * all flows have the same rate. timely_engine forms the segments, paces them and measures their
 * RTTs.
 *
 * Below t_low and above t_high it does the same as TIMELY. Between the thresholds each change is
 * the sum of a rise and a fall, weighted by the gradient g. The fall is proportional to the
 * distance of the RTT from rtt_ref, not to g:
 *     w    = 0 for g <= -gradient_limit, 1 for g >= gradient_limit, linear in between
 *     rate = delta * (1 - w) + rate * (1 - beta * w * (RTT - rtt_ref) / rtt_ref)
 * At the fixed point g = 0, w = 1/2, and RTT = rtt_ref * (1 + N * delta / (beta * C)) for N flows
 * on a link of rate C. No HAI.
 */
#include "core/cc/timely/timely_engine.h"

static const struct oche_param table[] = {
    TIMELY_SIGNAL_PARAMS,
    {OCHE_PARAM(struct timely_params, beta), OCHE_IS_REAL(0.008, 0.0, 1.0),
     .where = "ECN or Delay sec 4.3; timely.md#patched",
     .help = "factor of multiplicative decrease by the RTT's distance from rtt_ref"},
    {OCHE_PARAM(struct timely_params, beta_high), OCHE_IS_REAL(0.008, 0.0, 1.0),
     .where = "timely.md#patched-beta-high",
     .help = "factor of multiplicative decrease above t_high (0.8: as TIMELY)"},
    {OCHE_PARAM(struct timely_params, rtt_ref), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "ECN or Delay sec 4.3; timely.md#patched",
     .help = "RTT at which the rate does not fall; 0: t_low"},
    {OCHE_PARAM(struct timely_params, gradient_limit), OCHE_IS_REAL(0.25, 1e-6, 1e6),
     .where = "ECN or Delay sec 4.3; timely.md#patched",
     .help = "gradients beyond which the weight of the fall is 0 or 1"},
    TIMELY_ENGINE_PARAMS(16000, TIMELY_PACE_PACKETS, "ECN or Delay sec 4.2; segment: TIMELY sec 5"),
};

/* Returns w, the weight of the decrease. */
static double weight(double gradient, double limit)
{
    if (gradient <= -limit)
        return 0.0;
    if (gradient >= limit)
        return 1.0;
    return gradient / (2.0 * limit) + 0.5;
}

static void patched_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct timely_params *p = flow->params;
    double rate = timely_state_of(flow)->rate;
    const oche_time low = timely_low(p, flow->line_rate_bps);
    const oche_time high = timely_high(p, flow->line_rate_bps);
    double delta = (double)timely_delta(p, flow->line_rate_bps);
    double rtt_ref = (double)(p->rtt_ref > 0 ? p->rtt_ref : low);
    double change; /* the change, as a fraction of a whole step */
    enum timely_cause cause;
    struct timely_completion c;

    if (!timely_completed(flow, now, ack, &c))
        return;
    if (c.rtt < low) {
        cause = TIMELY_CAUSE_LOW;
        change = delta;
    } else if (c.rtt > high) {
        cause = TIMELY_CAUSE_HIGH;
        change = -rate * p->beta_high * (1.0 - (double)high / (double)c.rtt);
    } else {
        double w = weight(c.gradient, p->gradient_limit);
        double error = ((double)c.rtt - rtt_ref) / rtt_ref;

        change = delta * (1.0 - w) - rate * p->beta * w * error;
        cause = change < 0.0 ? TIMELY_CAUSE_DECREASE : TIMELY_CAUSE_INCREASE;
    }
    if (change > 0.0 && !c.may_raise)
        change = 0.0;
    timely_set_rate(flow, now, rate + c.scale * change, c.rtt, cause);
}

/*
 * Returns a remark if the round trip over an empty path is as long as a threshold (timely.md#t2).
 */
static const char *patched_remark(const void *params, oche_time empty_rtt, uint64_t line_bps)
{
    const struct timely_params *p = params;
    const char *high = timely_remark_high(p, empty_rtt, line_bps);

    if (high != NULL)
        return high;
    if (p->rtt_ref > 0)
        return p->rtt_ref > empty_rtt
                   ? NULL
                   : "not less than rtt_ref, so that rates fall although nothing waits";
    return timely_low(p, line_bps) > empty_rtt
               ? NULL
               : "not less than t_low, so that rates fall although nothing waits";
}

static void patched_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    static const struct oche_param_table rows = OCHE_PARAM_TABLE(table, struct timely_params);

    timely_fit_rows(&rows, params, free, network);
}

static const struct oche_cc_advice advice = {
    .remark = patched_remark,
    .derived = timely_derived,
    .fit = patched_fit,
};

const struct oche_cc_scheme oche_cc_timely_patched = {
    .name = "timely_patched",
    .paper = "Patched TIMELY (ECN or Delay, CoNEXT 2016, sec 4.3)",
    .table = OCHE_PARAM_TABLE_DEPLOYED(table, struct timely_params, timely_deployed),
    .flow_state_bytes = sizeof(struct timely_state),
    .nic_state_bytes = sizeof(struct timely_nic_state),
    .needs = OCHE_CC_NEEDS_NOTHING,
    .transports = OCHE_CC_RC,
    .runs_on_wire = true,
    .start = timely_start,
    .stop = timely_stop,
    .sent = timely_sent,
    .acked = patched_acked,
    .idle = timely_idle,
    .check = timely_check,
    .advice = &advice,
};
