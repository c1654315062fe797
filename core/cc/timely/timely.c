/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMELY (Mittal et al., SIGCOMM 2015), Algorithm 1: the rate follows the RTT of segments, and
 * between two thresholds the gradient of the RTT (timely.md#algorithm). timely_engine forms the
 * segments, paces them and measures their RTTs.
 *
 * A completion with an RTT below t_low raises the rate by delta. With an RTT above t_high it lowers
 * the rate by the fraction beta_high * (1 - t_high / RTT). Between the thresholds a gradient below
 * 0 raises the rate by delta, and a gradient above 0 lowers it by the fraction beta * gradient.
 * Hyperactive increase (HAI): between the thresholds the raise is hai_multiplier times as large
 * once the gradient has been below 0 for hai_events completions in a row, whatever their RTTs were.
 *
 * "ECN or Delay" sec 4 (Zhu et al., CoNEXT 2016) shows that this algorithm has no fixed point, or,
 * with zero_gradient=hold, infinitely many; timely_patched corrects that. ns3-rdma differs: it has
 * no HAI (here hai_multiplier=1), keeps the rate at a gradient of 0 (zero_gradient=hold), and never
 * scales a change (update=completion).
 */
#include "core/cc/timely/timely_engine.h"

static const char *const zero_gradient_names[] = {"increase", "hold", NULL};

static const struct oche_param table[] = {
    TIMELY_SIGNAL_PARAMS,
    {OCHE_PARAM(struct timely_params, beta), OCHE_IS_REAL(0.8, 0.0, 1.0),
     .where = "TIMELY sec 4.3; timely.md#parameters",
     .help = "factor of multiplicative decrease by the gradient"},
    {OCHE_PARAM(struct timely_params, beta_high), OCHE_IS_REAL(0.8, 0.0, 1.0),
     .where = "TIMELY sec 4.3; timely.md#parameters",
     .help = "factor of multiplicative decrease above t_high"},
    {OCHE_PARAM(struct timely_params, hai_events), OCHE_IS_COUNT(5, 1, 1000000),
     .where = "TIMELY sec 4.3; timely.md#parameters",
     .help =
         "completions in a row with a gradient below 0 after which hyperactive increase begins"},
    {OCHE_PARAM(struct timely_params, hai_multiplier), OCHE_IS_COUNT(5, 1, 1000),
     .where = "TIMELY sec 4.3; timely.md#parameters",
     .help = "N, steps of delta in hyperactive increase; 1: none"},
    {OCHE_PARAM(struct timely_params, zero_gradient),
     OCHE_IS_CHOICE(TIMELY_ZERO_INCREASE, zero_gradient_names), .where = "ECN or Delay sec 4.2",
     .help = "what a gradient of exactly 0 does between the thresholds"},
    TIMELY_ENGINE_PARAMS(64000, TIMELY_PACE_SEGMENTS, "TIMELY sec 5; packet: ECN or Delay sec 4.2"),
};

static double at_least_zero(double factor)
{
    return factor > 0.0 ? factor : 0.0;
}

static void timely_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct timely_params *p = flow->params;
    double rate = timely_state_of(flow)->rate;
    double delta = (double)timely_delta(p, flow->line_rate_bps);
    const oche_time low = timely_low(p, flow->line_rate_bps);
    const oche_time high = timely_high(p, flow->line_rate_bps);
    enum timely_cause cause;
    struct timely_completion c;

    if (!timely_completed(flow, now, ack, &c))
        return;
    if (c.rtt < low) {
        cause = TIMELY_CAUSE_LOW;
        rate += c.may_raise ? c.scale * delta : 0.0;
    } else if (c.rtt > high) {
        double over = 1.0 - (double)high / (double)c.rtt;

        cause = TIMELY_CAUSE_HIGH;
        rate *= at_least_zero(1.0 - c.scale * p->beta_high * over);
    } else if (c.gradient < 0.0 ||
               (c.gradient == 0.0 && p->zero_gradient == TIMELY_ZERO_INCREASE)) {
        bool hyper = c.negative >= p->hai_events;
        double steps = hyper ? (double)p->hai_multiplier : 1.0;

        cause = hyper ? TIMELY_CAUSE_HYPER : TIMELY_CAUSE_INCREASE;
        rate += c.may_raise ? c.scale * steps * delta : 0.0;
    } else {
        cause = TIMELY_CAUSE_DECREASE;
        rate *= at_least_zero(1.0 - c.scale * p->beta * c.gradient);
    }
    timely_set_rate(flow, now, rate, c.rtt, cause);
}

/*
 * Returns a remark if the round trip over an empty path is as long as a threshold (timely.md#t1,
 * #t2).
 */
static const char *timely_remark(const void *params, oche_time empty_rtt, uint64_t line_bps)
{
    const struct timely_params *p = params;
    const char *high = timely_remark_high(p, empty_rtt, line_bps);

    if (high != NULL)
        return high;
    return timely_low(p, line_bps) > empty_rtt
               ? NULL
               : "not less than t_low, so that rates go by the gradient alone";
}

/* The paper's delta is a thousandth of its testbed's 10 Gbit/s (TIMELY sec 5). */
static const char *timely_rate_remark(const void *params, uint64_t line_bps)
{
    const struct timely_params *p = params;

    if (p->delta == 0 || p->delta >= line_bps / 4000)
        return NULL;
    return "delta, by which rates rise, is less than 1/4000 of that, and the paper's is 1/1000 of "
           "its links";
}

static void timely_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    static const struct oche_param_table rows = OCHE_PARAM_TABLE(table, struct timely_params);

    timely_fit_rows(&rows, params, free, network);
}

static const struct oche_cc_advice advice = {
    .remark = timely_remark,
    .rate_remark = timely_rate_remark,
    .derived = timely_derived,
    .fit = timely_fit,
};

const struct oche_cc_scheme oche_cc_timely = {
    .name = "timely",
    .paper = "TIMELY, SIGCOMM 2015, Algorithm 1",
    .table = {.params = table,
              .count = OCHE_COUNT_OF(table),
              .struct_bytes = sizeof(struct timely_params),
              .deployed = timely_deployed,
              .deployed_count = TIMELY_DEPLOYED},
    .flow_state_bytes = sizeof(struct timely_state),
    .nic_state_bytes = sizeof(struct timely_nic_state),
    .needs = OCHE_CC_NEEDS_NOTHING,
    .transports = OCHE_CC_RC,
    .runs_on_wire = true,
    .start = timely_start,
    .stop = timely_stop,
    .sent = timely_sent,
    .acked = timely_acked,
    .idle = timely_idle,
    .check = timely_check,
    .advice = &advice,
};
