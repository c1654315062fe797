/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015),
 * sec 3.1: the sender's reaction point (RP) and the receiver's notification point (NP). The third
 * part, the congestion point, is any switch that marks CE by RED (fabric: ecn).
 *
 * RP, a queue pair: its rate is not limited before the first CNP. Exception: if local policy gives
 * the queue pair an initial rate below the line's (sec 3.1, note 2), it is limited from the start,
 * with R_C = R_T = that rate. A CNP makes the current rate R_C the target rate R_T and cuts R_C by
 * alpha/2. Without CNPs alpha decays every alpha_interval, and a timer and a byte counter raise the
 * rate (Fig 7): fast recovery moves R_C half of the way to R_T; additive increase also raises R_T
 * by R_AI; hyper increase raises R_T by multiples of R_HAI. T and BC count the events of the timer
 * and of the byte counter since the last cut. NP, a queue pair: at most one CNP every cnp_interval,
 * and only for packets marked CE (Fig 6).
 *
 * Three readings of the algorithm are in use and give different curves (dcqcn.md#readings). `mode`
 * chooses a reading. Each decision of a reading is also an option of its own; the value `auto` of
 * an option means:
 *
 *   option             mode=paper   mode=ns3      mode=nic        decided in
 *   alpha_update       cut_first    alpha_first   timer           dcqcn.md#alpha-order, #a1
 *   alpha_timer        restart      restart       free            dcqcn.md#alpha-timer
 *   cut                every_cnp    every_cnp     periodic        dcqcn.md#alpha-order
 *   first_cnp          cut          cut           set_rate        dcqcn.md#first-cnp
 *   target_at_cut      always       always        after_increase  dcqcn.md#parameters, #a5
 *   increase_on        both         both          timer           dcqcn.md#parameters
 *   stage_count        after        after         before          dcqcn.md#stage-count, #a2
 *   hyper              min_above    min_at_least  max_above       dcqcn.md#hyper-test, #a2
 *   hai_multiplier     linear       plus_one      constant        dcqcn.md#qcn, #a3
 *   hyper_halves       no           yes           no              dcqcn.md#qcn
 *   target_guard       no           yes           no              dcqcn.md#qcn
 *   clamp_target_rate  yes          no            yes             dcqcn.md#qcn
 *   release            at_line      never         never           dcqcn.md#a9
 *   np                 window       poll          arrival         dcqcn.md#np
 *
 * Apart from the modes, np may be `ack`: as in HPCC's simulator no CNP answers packets that get
 * ACKs, but the ACK or NAK says by its BECN bit that a marked packet came since the one before, and
 * the sender takes it for a CNP. The receiver has no interval then; the sender's `cut` decides.
 *
 * In ns3 target_at_cut is as ns3-rdma's sample has it, which sets ClampTargetRate; without that it
 * would be after_bytes.
 *
 * Numbers do not depend on the mode, with one exception: min_rate = 0 means 1 Mbps in mode nic
 * (dcqcn.md#a4). There are two sets of defaults: those of the paper's deployment
 * (dcqcn.md#parameters), and those of NICs in use (dcqcn_deployed.c).
 *
 * Where this differs from the sources: rates are doubles, rounded to whole bits per second for the
 * pacer. The byte counter counts bytes on the line. Alpha has no timer event; it is brought up to
 * date when it is read, with the same result bit for bit. In ns3-rdma's present code a byte-counter
 * event in additive increase never enters hyper increase (a change "for the fluid model"); here the
 * timer's and the byte counter's events use the same test. dcqcn.md#decisions lists the decisions
 * that the paper leaves open.
 */
#include "core/cc/dcqcn.h"

#include <string.h>

#include "core/wire/opcode.h"

/* The value `auto` of every option, for which the mode decides. */
#define AUTO 0

enum mode { MODE_PAPER, MODE_NS3, MODE_NIC };
enum alpha_update { ALPHA_CUT_FIRST = 1, ALPHA_FIRST, ALPHA_BY_TIMER };
enum alpha_timer { ALPHA_TIMER_RESTART = 1, ALPHA_TIMER_FREE };
enum cut { CUT_EVERY_CNP = 1, CUT_PERIODIC };
enum first_cnp { FIRST_CNP_CUT = 1, FIRST_CNP_SET_RATE };
enum target_at_cut { TARGET_ALWAYS = 1, TARGET_AFTER_INCREASE, TARGET_AFTER_BYTES };
enum increase_on { INCREASE_BOTH = 1, INCREASE_TIMER, INCREASE_BYTES };
enum stage_count { COUNT_AFTER = 1, COUNT_BEFORE };
enum hyper { HYPER_MIN_ABOVE = 1, HYPER_MIN_AT_LEAST, HYPER_MAX_ABOVE, HYPER_NEVER };
enum hai_multiplier { HAI_LINEAR = 1, HAI_PLUS_ONE, HAI_CONSTANT };
enum no_yes { NO = 1, YES };
enum release { RELEASE_AT_LINE = 1, RELEASE_NEVER };
enum np { NP_WINDOW = 1, NP_POLL, NP_ARRIVAL, NP_ACK };

/* The values of `auto` in each mode, as in the table above. */
static const struct dcqcn_params modes[] = {
    [MODE_PAPER] =
        {
            .alpha_update = ALPHA_CUT_FIRST,
            .alpha_timer = ALPHA_TIMER_RESTART,
            .cut = CUT_EVERY_CNP,
            .first_cnp = FIRST_CNP_CUT,
            .target_at_cut = TARGET_ALWAYS,
            .increase_on = INCREASE_BOTH,
            .stage_count = COUNT_AFTER,
            .hyper = HYPER_MIN_ABOVE,
            .hai_multiplier = HAI_LINEAR,
            .hyper_halves = NO,
            .target_guard = NO,
            .clamp_target_rate = YES,
            .release = RELEASE_AT_LINE,
            .np = NP_WINDOW,
        },
    [MODE_NS3] =
        {
            .alpha_update = ALPHA_FIRST,
            .alpha_timer = ALPHA_TIMER_RESTART,
            .cut = CUT_EVERY_CNP,
            .first_cnp = FIRST_CNP_CUT,
            .target_at_cut = TARGET_ALWAYS,
            .increase_on = INCREASE_BOTH,
            .stage_count = COUNT_AFTER,
            .hyper = HYPER_MIN_AT_LEAST,
            .hai_multiplier = HAI_PLUS_ONE,
            .hyper_halves = YES,
            .target_guard = YES,
            .clamp_target_rate = NO,
            .release = RELEASE_NEVER,
            .np = NP_POLL,
        },
    [MODE_NIC] =
        {
            .alpha_update = ALPHA_BY_TIMER,
            .alpha_timer = ALPHA_TIMER_FREE,
            .cut = CUT_PERIODIC,
            .first_cnp = FIRST_CNP_SET_RATE,
            .target_at_cut = TARGET_AFTER_INCREASE,
            .increase_on = INCREASE_TIMER,
            .stage_count = COUNT_BEFORE,
            .hyper = HYPER_MAX_ABOVE,
            .hai_multiplier = HAI_CONSTANT,
            .hyper_halves = NO,
            .target_guard = NO,
            .clamp_target_rate = YES,
            .release = RELEASE_NEVER,
            .np = NP_ARRIVAL,
        },
};

/* Returns the value of an option; if that is `auto`, the value of the mode. */
#define CHOSEN(params, option)                                                                     \
    ((params)->option != AUTO ? (params)->option : modes[(params)->mode].option)

#define NIC_MIN_RATE_BPS (1 * OCHE_MBPS)

static const struct oche_param table[] = {
#include "core/cc/dcqcn_rows.h"
};

/* The timers of a queue pair. */
enum timers { TIMER_INCREASE, TIMER_HOUSEKEEPING, TIMER_NP };

/* Causes of RATE_CHANGED. */
enum cause {
    CAUSE_CUT = 1,
    CAUSE_FIRST_CNP, /* first_cnp=set_rate */
    CAUSE_FAST,
    CAUSE_ADDITIVE,
    CAUSE_HYPER,
    CAUSE_RELEASED,
    CAUSE_INITIAL
};

static struct dcqcn_rp *rp_of(struct oche_cc_flow *flow)
{
    return &((struct dcqcn_state *)flow->state)->rp;
}

static struct dcqcn_np *np_of(struct oche_cc_flow *flow)
{
    return &((struct dcqcn_state *)flow->state)->np;
}

/* ---- Reaction point ---- */

/* Rounds a non-negative double to the nearest integer, saturating. */
static uint64_t whole(double value)
{
    return value >= 0x1p63 ? UINT64_MAX : (uint64_t)(value + 0.5);
}

/* Returns the floor of R_C on a line of `line` bits per second. */
static double floor_bps(const struct dcqcn_params *p, double line)
{
    double least = (double)p->min_rate;

    if (p->min_rate == 0 && p->mode == MODE_NIC)
        least = (double)NIC_MIN_RATE_BPS;
    else if (p->min_rate == 0)
        least = p->min_rate_fraction * line;
    if (least < 1.0)
        least = 1.0;
    return least < line ? least : line;
}

bool dcqcn_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                   struct oche_derived *derived)
{
    const struct dcqcn_params *p = params;

    if (param->offset >= sizeof(*p))
        return false; /* a row of a scheme that has more */
    uint64_t given = oche_param_get(param, p).u;

    *derived = (struct oche_derived){.by = NULL};
    if (param->unit == OCHE_UNIT_CHOICE && strcmp(param->choices[AUTO], "auto") == 0) {
        derived->value = oche_param_get(param, &modes[p->mode]);
        derived->by = "mode";
        return given == AUTO;
    }
    if (param->offset == offsetof(struct dcqcn_params, min_rate)) {
        derived->value.u = whole(floor_bps(p, (double)line_bps));
        derived->by = p->mode == MODE_NIC ? "mode" : "min_rate_fraction";
        return given == 0;
    }
    if (param->offset == offsetof(struct dcqcn_params, timer))
        derived->value.u = dcqcn_timer_of(p, line_bps);
    else if (param->offset == offsetof(struct dcqcn_params, rai))
        derived->value.u = dcqcn_rai_of(p, line_bps);
    else if (param->offset == offsetof(struct dcqcn_params, rhai))
        derived->value.u = dcqcn_rhai_of(p, line_bps);
    return param->automatic && given == OCHE_NEVER;
}

/* Sets the flow's rate to R_C, for the pacer. */
static void publish(struct oche_cc_flow *flow, oche_time now, enum cause cause)
{
    uint64_t bps = whole(rp_of(flow)->rc);

    if (bps > flow->line_rate_bps)
        bps = flow->line_rate_bps;
    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, cause, bps);
}

static void set_housekeeping(struct oche_cc_flow *flow)
{
    const struct dcqcn_rp *rp = rp_of(flow);

    flow->timer[TIMER_HOUSEKEEPING] = oche_time_min(rp->check_due, rp->idle_due);
}

/*
 * Sets the queue pair back to line rate and forgets its state, so that it is as before its first
 * CNP.
 */
static void release(struct oche_cc_flow *flow, oche_time now)
{
    struct dcqcn_rp *rp = rp_of(flow);

    *rp = (struct dcqcn_rp){.idle = rp->idle,
                            .rc = (double)flow->line_rate_bps,
                            .check_due = OCHE_NEVER,
                            .idle_due = OCHE_NEVER};
    flow->timer[TIMER_INCREASE] = OCHE_NEVER;
    flow->timer[TIMER_HOUSEKEEPING] = OCHE_NEVER;
    publish(flow, now, CAUSE_RELEASED);
}

/*
 * Brings alpha up to date: applies every alpha interval that has ended before `now`, and with
 * `at_now` also an interval that ends at `now` (a CNP that arrives exactly when an interval ends
 * comes before that end). An alpha below 2^-64 cannot change any rate, so it becomes 0 and the
 * remaining intervals of a long silence cost nothing.
 */
static void alpha_catch_up(struct dcqcn_rp *rp, const struct dcqcn_params *p, oche_time now,
                           bool at_now)
{
    uint64_t ended;

    if (rp->alpha_due > now || (rp->alpha_due == now && !at_now))
        return;
    ended = (now - rp->alpha_due - (at_now ? 0 : 1)) / p->alpha_interval + 1;
    rp->alpha_due += ended * p->alpha_interval;
    rp->alpha = (1.0 - p->g) * rp->alpha + (rp->alpha_cnp ? p->g : 0.0);
    rp->alpha_cnp = false;
    while (--ended > 0 && rp->alpha >= 0x1p-64)
        rp->alpha = (1.0 - p->g) * rp->alpha;
    if (rp->alpha < 0x1p-64)
        rp->alpha = 0.0;
}

/* (Re)starts the increase timer and the byte counter, with half their lengths if `halved`. */
static void restart_timer(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p,
                          bool halved)
{
    oche_time timer = dcqcn_timer_of(p, flow->line_rate_bps);

    if (CHOSEN(p, increase_on) != INCREASE_BYTES)
        flow->timer[TIMER_INCREASE] = now + (halved ? timer / 2 : timer);
}

static void restart_bytes(struct dcqcn_rp *rp, const struct dcqcn_params *p, bool halved)
{
    if (CHOSEN(p, increase_on) == INCREASE_TIMER)
        rp->bytes_left = UINT64_MAX;
    else
        rp->bytes_left = halved ? (p->byte_counter + 1) / 2 : p->byte_counter;
}

/* Sets T = BC = 0 and restarts both sources (Fig 7, on a CNP). */
static void reset_increase(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p)
{
    struct dcqcn_rp *rp = rp_of(flow);

    rp->t = rp->bc = 0;
    rp->hyper = false;
    restart_timer(flow, now, p, false);
    restart_bytes(rp, p, false);
}

/* Applies equation 1. */
static void cut_rate(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p)
{
    struct dcqcn_rp *rp = rp_of(flow);
    unsigned target = CHOSEN(p, target_at_cut);
    unsigned update = CHOSEN(p, alpha_update);
    double least = floor_bps(p, (double)flow->line_rate_bps);

    if (update == ALPHA_FIRST)
        rp->alpha = (1.0 - p->g) * rp->alpha + p->g;
    if (target == TARGET_ALWAYS || rp->bc > 0 || (target == TARGET_AFTER_INCREASE && rp->t > 0))
        rp->rt = rp->rc;
    rp->rc = rp->rc * (1.0 - rp->alpha / 2.0);
    if (rp->rc < least)
        rp->rc = least;
    if (update == ALPHA_CUT_FIRST)
        rp->alpha = (1.0 - p->g) * rp->alpha + p->g;
    if (CHOSEN(p, alpha_timer) == ALPHA_TIMER_RESTART)
        rp->alpha_due = now + p->alpha_interval;
    reset_increase(flow, now, p);
    publish(flow, now, CAUSE_CUT);
    /* a: alpha * 2^32, b: R_T */
    oche_trace_emit(flow->trace, now, OCHE_TRACE_CC_STATE, flow->qpn, whole(rp->alpha * 0x1p32),
                    whole(rp->rt));
}

/*
 * Starts the limiter: at the first CNP of an unlimited queue pair, or because of an initial rate.
 */
static void limit(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p,
                  double from)
{
    struct dcqcn_rp *rp = rp_of(flow);

    rp->limited = true;
    rp->rc = rp->rt = from;
    rp->alpha = p->initial_alpha;
    rp->alpha_due = now + p->alpha_interval;
    rp->first_cnp = now;
    if (rp->idle)
        rp->idle_due = oche_time_add(now, p->idle_timeout);
    reset_increase(flow, now, p);
}

static void dcqcn_start(struct oche_cc_flow *flow, oche_time now)
{
    flow->rate_bps = flow->line_rate_bps;
    flow->window_bytes = UINT64_MAX;
    release(flow, now);
    if (flow->initial_rate_bps == flow->line_rate_bps)
        return;
    double least = floor_bps(flow->params, (double)flow->line_rate_bps),
           first = (double)flow->initial_rate_bps;
    limit(flow, now, flow->params, first > least ? first : least);
    publish(flow, now, CAUSE_INITIAL);
}

/* Returns the first check at or after `now`; never the time of the first CNP itself. */
static oche_time next_check(const struct dcqcn_rp *rp, const struct dcqcn_params *p, oche_time now)
{
    oche_time period = p->reduce_monitor_period;
    oche_time periods = (now - rp->first_cnp + period - 1) / period;

    return rp->first_cnp + (periods == 0 ? 1 : periods) * period;
}

static void dcqcn_cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_rp *rp = rp_of(flow);
    bool first = !rp->limited;

    (void)cnp;
    if (first)
        limit(flow, now, p, (double)flow->line_rate_bps);
    alpha_catch_up(rp, p, now, false);
    rp->alpha_cnp = !first && CHOSEN(p, alpha_update) == ALPHA_BY_TIMER;
    if (first && CHOSEN(p, first_cnp) == FIRST_CNP_SET_RATE) {
        double set = p->rate_on_first_cnp * rp->rc,
               least = floor_bps(p, (double)flow->line_rate_bps);

        rp->rc = rp->rt = set > least ? set : least;
        publish(flow, now, CAUSE_FIRST_CNP);
        if (CHOSEN(p, cut) == CUT_EVERY_CNP) {
            set_housekeeping(flow);
            return;
        }
    }
    if (CHOSEN(p, cut) == CUT_PERIODIC) {
        rp->cnp_pending = true;
        rp->check_due = next_check(rp, p, now);
    } else {
        cut_rate(flow, now, p);
    }
    set_housekeeping(flow);
}

/* np=ack: an ACK or NAK that tells of a mark is a CNP. */
static void dcqcn_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    if (OCHE_UNLIKELY(ack->ecn_echo) && dcqcn_echoes(flow->params))
        dcqcn_cnp(flow, now, ack->packet);
}

/* Chooses the stage for T and BC (Fig 7), and the step of R_T in it. */
static enum cause choose_stage(const struct dcqcn_params *p, uint64_t line_bps, uint32_t t,
                               uint32_t bc, double *step)
{
    uint64_t f = p->fast_recovery_steps;
    uint64_t low = t < bc ? t : bc, high = t < bc ? bc : t;
    unsigned test = CHOSEN(p, hyper), multiplier = CHOSEN(p, hai_multiplier);
    uint64_t tested = test == HYPER_MAX_ABOVE ? high : low;

    *step = 0.0;
    if (high < f)
        return CAUSE_FAST;
    *step = (double)dcqcn_rai_of(p, line_bps);
    if (test == HYPER_NEVER || tested < f || (tested == f && test != HYPER_MIN_AT_LEAST))
        return CAUSE_ADDITIVE;
    *step = (double)dcqcn_rhai_of(p, line_bps);
    if (multiplier == HAI_LINEAR)
        *step *= (double)(tested - f);
    else if (multiplier == HAI_PLUS_ONE)
        *step *= (double)(tested - f + 1);
    return CAUSE_HYPER;
}

/* Handles an event of the timer or of the byte counter. T or BC has already counted it. */
static void increase(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p,
                     uint32_t t_before, uint32_t bc_before)
{
    struct dcqcn_rp *rp = rp_of(flow);
    double line = (double)flow->line_rate_bps;
    bool before = CHOSEN(p, stage_count) == COUNT_BEFORE;
    double step;
    enum cause stage = choose_stage(p, flow->line_rate_bps, before ? t_before : rp->t,
                                    before ? bc_before : rp->bc, &step);

    if (CHOSEN(p, target_guard) == YES && (rp->t == 1 || rp->bc == 1) && rp->rt > 10.0 * rp->rc)
        rp->rt /= 8.0;
    else
        rp->rt += step;
    if (CHOSEN(p, clamp_target_rate) == YES && rp->rt > line)
        rp->rt = line;
    rp->rc = (rp->rt + rp->rc) / 2.0;
    if (rp->rc > line)
        rp->rc = line;
    rp->hyper = stage == CAUSE_HYPER;
    publish(flow, now, stage);
    if (flow->rate_bps == flow->line_rate_bps && !rp->cnp_pending &&
        CHOSEN(p, release) == RELEASE_AT_LINE)
        release(flow, now);
}

static void timer_event(struct oche_cc_flow *flow, oche_time now)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_rp *rp = rp_of(flow);

    restart_timer(flow, now, p, rp->hyper && CHOSEN(p, hyper_halves) == YES);
    if (rp->t < UINT32_MAX)
        rp->t++;
    increase(flow, now, p, rp->t - 1, rp->bc);
}

static void byte_event(struct oche_cc_flow *flow, oche_time now)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_rp *rp = rp_of(flow);

    restart_bytes(rp, p, rp->hyper && CHOSEN(p, hyper_halves) == YES);
    if (rp->bc < UINT32_MAX)
        rp->bc++;
    increase(flow, now, p, rp->t, rp->bc - 1);
}

static void dcqcn_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                       uint64_t line_bytes)
{
    struct dcqcn_rp *rp = rp_of(flow);

    (void)packet;
    if (!rp->limited)
        return;
    if (line_bytes < rp->bytes_left)
        rp->bytes_left -= line_bytes;
    else
        byte_event(flow, now);
}

/*
 * Releases a queue pair that has been idle for too long. With cut=periodic, cuts the rate if a CNP
 * is pending.
 */
static void housekeeping(struct oche_cc_flow *flow, oche_time now)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_rp *rp = rp_of(flow);

    if (rp->idle_due <= now) {
        release(flow, now);
        return;
    }
    if (rp->check_due <= now) {
        rp->check_due = OCHE_NEVER;
        rp->cnp_pending = false;
        alpha_catch_up(rp, p, now, true);
        cut_rate(flow, now, p);
    }
    set_housekeeping(flow);
}

static void dcqcn_idle(struct oche_cc_flow *flow, oche_time now)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_rp *rp = rp_of(flow);

    rp->idle = true;
    if (!rp->limited)
        return;
    rp->idle_due = oche_time_add(now, p->idle_timeout);
    set_housekeeping(flow);
}

static void dcqcn_busy(struct oche_cc_flow *flow, oche_time now)
{
    struct dcqcn_rp *rp = rp_of(flow);

    (void)now;
    rp->idle = false;
    if (!rp->limited)
        return;
    rp->idle_due = OCHE_NEVER;
    set_housekeeping(flow);
}

/* ---- Notification point ---- */

/* Sends a CNP. If the NIC's generator is busy, the CNP gets the next free slot and waits for it. */
static void np_send(struct oche_cc_flow *flow, oche_time now, const struct dcqcn_params *p,
                    struct oche_cc_reply *reply)
{
    struct dcqcn_np *np = np_of(flow);
    struct dcqcn_nic_state *nic = flow->nic_state;

    if (p->min_cnp_gap > 0 && !np->has_slot) {
        oche_time slot = nic->free_at > now ? nic->free_at : now;

        nic->free_at = slot + p->min_cnp_gap;
        if (slot > now) {
            np->has_slot = np->waiting = true;
            flow->timer[TIMER_NP] = slot;
            return;
        }
    }
    np->has_slot = np->waiting = false;
    np->next = now + (CHOSEN(p, np) == NP_POLL ? 1 : p->cnp_interval);
    reply->send_cnp = true;
}

/* Returns when a CNP is due for a mark that arrives now; OCHE_NEVER if the mark is not reported. */
static oche_time np_due(const struct dcqcn_np *np, const struct dcqcn_params *p, oche_time now)
{
    oche_time interval = p->cnp_interval;
    oche_time from = np->next > now ? np->next : now;

    switch (CHOSEN(p, np)) {
    case NP_WINDOW:
        return from;
    case NP_POLL:
        return np->origin + (from - np->origin + interval - 1) / interval * interval;
    default: /* NP_ARRIVAL; NP_ACK for what has no ACKs */
        return np->next > now ? OCHE_NEVER : now;
    }
}

bool dcqcn_echoes(const void *params)
{
    return ((const struct dcqcn_params *)params)->np == NP_ACK; /* no mode's */
}

/* True if the packet is answered by an ACK or a NAK: requests on reliable connections are. */
static bool gets_ack(const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    return row->service == OCHE_SERVICE_RC && !(row->flags & OCHE_OP_RESPONSE);
}

/* np=ack: tells of the marks since the last ACK or NAK. */
static void dcqcn_stamp_ack(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    struct dcqcn_np *np = np_of(flow);

    (void)now;
    if (OCHE_LIKELY(!dcqcn_echoes(flow->params)) || !np->echo)
        return;
    if (packet->opcode != OCHE_RC_ACK && packet->opcode != OCHE_RC_SACK &&
        packet->opcode != OCHE_RC_ACK_SHARE)
        return; /* the peer's hook is not called for every other packet that answers */
    packet->bth |= OCHE_BTH_BECN;
    np->echo = false;
}

static void dcqcn_arrived(struct oche_cc_flow *flow, oche_time now,
                          const struct oche_packet *packet, struct oche_cc_reply *reply)
{
    const struct dcqcn_params *p = flow->params;
    struct dcqcn_np *np = np_of(flow);
    oche_time due;

    if (OCHE_UNLIKELY(!np->started)) {
        np->started = true;
        np->origin = np->next = now;
    }
    if (OCHE_LIKELY(packet->ecn != OCHE_ECN_CE) || np->waiting)
        return;
    if (dcqcn_echoes(p) && gets_ack(packet)) {
        np->echo = true;
        return;
    }
    due = np_due(np, p, now);
    if (due == OCHE_NEVER)
        return;
    if (due == now) {
        np_send(flow, now, p, reply);
        return;
    }
    np->waiting = true;
    flow->timer[TIMER_NP] = due;
}

/* ---- */

static void dcqcn_timer(struct oche_cc_flow *flow, oche_time now, unsigned index,
                        struct oche_cc_reply *reply)
{
    switch ((enum timers)index) {
    case TIMER_INCREASE:
        timer_event(flow, now);
        break;
    case TIMER_HOUSEKEEPING:
        housekeeping(flow, now);
        break;
    case TIMER_NP:
        np_send(flow, now, flow->params, reply);
        break;
    }
}

static const char *dcqcn_check(const void *params)
{
    const struct dcqcn_params *p = params;
    bool by_timer = CHOSEN(p, alpha_update) == ALPHA_BY_TIMER;

    if (by_timer && CHOSEN(p, alpha_timer) == ALPHA_TIMER_RESTART)
        return "alpha_timer: restart would keep alpha_update=timer from ever lowering alpha; "
               "alpha_timer should be free";
    if (!by_timer && p->alpha_interval <= p->cnp_interval)
        return "alpha_interval: must be above cnp_interval (DCQCN sec 3.1), as 55us is above 50us "
               "with preset: paper; the values of NICs in use are for mode: nic";
    return NULL;
}

#define LONG_TRIP 10 /* periods of the increase timer */

static const char *dcqcn_remark(const void *params, oche_time empty_rtt, uint64_t line_bps)
{
    const struct dcqcn_params *p = params;

    if (CHOSEN(p, increase_on) == INCREASE_BYTES ||
        empty_rtt / LONG_TRIP <= dcqcn_timer_of(p, line_bps))
        return NULL;
    return "more than ten times `timer`, so that a sender raises its rate many times before the "
           "first mark can come back";
}

#define PAPER_LINE (40 * OCHE_GBPS) /* DCQCN sec 5, sec 6 */

static const char *dcqcn_rate_remark(const void *params, uint64_t line_bps)
{
    const struct dcqcn_params *p = params;

    if (p->preset != OCHE_PRESET_PAPER || line_bps < 2 * PAPER_LINE)
        return NULL;
    return "the paper's values are made for 40Gbps; preset: deployed has those of NICs at this "
           "rate";
}

static void dcqcn_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    dcqcn_fit_rows(&oche_cc_dcqcn.table, params, free, network);
}

static const struct oche_cc_advice advice = {
    .remark = dcqcn_remark,
    .rate_remark = dcqcn_rate_remark,
    .derived = dcqcn_derived,
    .fit = dcqcn_fit,
};

const struct oche_cc_scheme oche_cc_dcqcn = {
    .name = "dcqcn",
    .paper = "DCQCN, SIGCOMM 2015, sec 3",
    .table = OCHE_PARAM_TABLE_DEPLOYED(table, struct dcqcn_params, dcqcn_deployed),
    .flow_state_bytes = sizeof(struct dcqcn_state),
    .nic_state_bytes = sizeof(struct dcqcn_nic_state),
    .needs = OCHE_CC_NEEDS_ECN,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .runs_on_wire = true,
    .start = dcqcn_start,
    .sent = dcqcn_sent,
    .acked = dcqcn_acked,
    .cnp = dcqcn_cnp,
    .timer = dcqcn_timer,
    .idle = dcqcn_idle,
    .busy = dcqcn_busy,
    .arrived = dcqcn_arrived,
    .stamp_ack = dcqcn_stamp_ack,
    .check = dcqcn_check,
    .advice = &advice,
};
