/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUBIC (RFC 9438) with HyStart++ (RFC 9406): a window that reacts to losses, so that senders share
 * a link that has neither PFC nor marks, also with TCP. It needs nothing of the peer or of switches
 * but ACKs. The window is of packets of the path MTU, and they leave evenly over a round trip.
 *
 *   Loss       after a NAK the window is multiplied by beta, once a round trip (RFC 9438 sec 4.6).
 *              After a timeout it is one packet, and grows up to beta times what it was as at the
 *              beginning; the plateau (below) is then where that ends (sec 4.8).
 *   Growth     first one packet for each that is acknowledged (slow start), up to ssthresh. Then
 *              along the cubic function of the time since the last loss, whose plateau is the
 *              window before it (sec 4.2), but not more slowly than Reno's would (sec 4.3). Only
 *              while the window is what limits the queue pair.
 *   HyStart++  the first slow start slows down when round trips become longer, before there is a
 *              loss, and ends when they stay so.
 *   Undo       if an ACK shows that a timeout was early, or that nothing was lost after a NAK, the
 *              window and all that goes with it is again what it was before the NAK, or before the
 *              first of such timeouts in a row (sec 4.9; RFC 4015 sec 3). The time in between does
 * not count for the cubic function. RFC 4015 lets no more leave at once than what is acknowledged;
 * here packets are paced. Only with `undo`. Idleness   time without work, or with less than the
 * window lets through, does not count for the cubic function (sec 5.8). After idle_restart the
 * queue pair begins anew with the initial window (RFC 5681 sec 4.1).
 *
 * Where RDMA differs from TCP: recovery is the transport's (core/recovery), so there is no fast
 * retransmit, and no limited transmit. Go-Back-N forgets what is in flight when it goes back: the
 * packets are still in a queue, and nothing tells when they have left it. Therefore a window is
 * paced, so that what is sent again does not meet them all at once. A loss that is found within a
 * round trip of the last reduction is part of it. READ data is sent by the responder without ACKs
 * and unpaced, so the window is of the queue pair that asks for it (core/qp/send/pieces.h).
 */
#include "core/cc/cc.h"
#include "core/wire/opcode.h"

struct cubic_params {
    uint64_t initial_window, hystart_samples, hystart_rounds;
    double beta, c, alpha;
    uint64_t catch_up_percent;
    oche_time hystart_least, hystart_most, idle_restart;
    bool fast_convergence, hystart, pacing, undo;
    uint32_t hystart_from;
};

enum from { FROM_LEAST, FROM_LAST_ROUND };

static const char *const from_names[] = {"least", "last_round", NULL};

static const struct oche_param table[] = {
    {OCHE_PARAM(struct cubic_params, initial_window), OCHE_IS_COUNT(10, 1, 1000),
     .where = "RFC 6928 sec 2", .help = "packets that may leave before the first ACK"},
    {OCHE_PARAM(struct cubic_params, beta), OCHE_IS_REAL(0.7, 0.1, 0.99),
     .where = "RFC 9438 sec 4.6", .help = "what a loss leaves of the window"},
    {OCHE_PARAM(struct cubic_params, alpha), OCHE_IS_REAL(4, 0, 1000),
     .where = "RFC 9438 sec 4.3 (0); our choice",
     .help =
         "packets a round trip by which the window grows at least, where they are no more than "
         "an eighth of it; 0: as much as lets it have what Reno has, 3 (1 - beta) / (1 + beta)"},
    {OCHE_PARAM(struct cubic_params, c), OCHE_IS_REAL(0.4, 0.001, 1000),
     .where = "RFC 9438 sec 5.1",
     .help = "C, how steep the cubic function is, in packets per second cubed"},
    {OCHE_PARAM(struct cubic_params, fast_convergence), OCHE_IS_BOOL(true),
     .where = "RFC 9438 sec 4.7",
     .help = "a flow whose window was smaller at this loss than at the last gives way to others"},
    {OCHE_PARAM(struct cubic_params, hystart), OCHE_IS_BOOL(true), .where = "RFC 9406 sec 4",
     .help = "end slow start when round trips become longer"},
    {OCHE_PARAM(struct cubic_params, hystart_from), OCHE_IS_CHOICE(FROM_LEAST, from_names),
     .needs = "hystart", .where = "RFC 9406 sec 4.2 (last_round); our choice (least, as in Linux)",
     .help = "than which they have to be longer: the least so far, or the last round's"},
    {OCHE_PARAM(struct cubic_params, hystart_least), OCHE_IS_TIME(4 * OCHE_MS, 0, OCHE_SEC),
     .needs = "hystart", .where = "RFC 9406 sec 4.2",
     .help = "by how much they have to be longer: an eighth, but at least this"},
    {OCHE_PARAM(struct cubic_params, hystart_most), OCHE_IS_TIME(16 * OCHE_MS, 0, OCHE_SEC),
     .needs = "hystart", .where = "RFC 9406 sec 4.2", .help = "and at most this"},
    {OCHE_PARAM(struct cubic_params, hystart_samples), OCHE_IS_COUNT(8, 1, 1000),
     .needs = "hystart", .where = "RFC 9406 sec 4.2",
     .help = "round trips that are measured before a round counts"},
    {OCHE_PARAM(struct cubic_params, hystart_rounds), OCHE_IS_COUNT(1, 1, 100), .needs = "hystart",
     .where = "RFC 9406 sec 4.3 (5); our choice",
     .help = "rounds that slow start grows more slowly, until it ends. With 5 who comes first "
             "fills a deep queue alone"},
    {OCHE_PARAM(struct cubic_params, pacing), OCHE_IS_BOOL(true),
     .where = "our choice (factors: Linux's, 2 in slow start and 1.2 otherwise)",
     .help = "packets leave at the window's share of a round trip, not at once"},
    {OCHE_PARAM(struct cubic_params, catch_up_percent), OCHE_IS_COUNT(0, 0, 100),
     .where = "our choice (on the wire 25)",
     .help = "percent of the window that may leave at once if the process had no processor when it "
             "was due"},
    {OCHE_PARAM(struct cubic_params, idle_restart),
     OCHE_IS_TIME(200 * OCHE_MS, OCHE_US, OCHE_NEVER),
     .where = "RFC 5681 sec 4.1; our choice (Linux's least retransmission timeout)",
     .help = "after so long without work a queue pair begins anew with the initial window"},
    {OCHE_PARAM(struct cubic_params, undo), OCHE_IS_BOOL(false),
     .where = "RFC 9438 sec 4.9; RFC 4015 sec 3",
     .help =
         "a timeout that recovery finds to have been early (its `undo`) leaves the window as it "
         "was before; on the wire true"},
};

/* RFC 9406 sec 4.3 */
#define CSS_GROWTH_DIVISOR 4.0
/* Below two packets there is no window to halve (RFC 5681 eq 4). */
#define LEAST_WINDOW 2.0
#define MOST_WINDOW  0x1p22 /* packets: half of what PSNs can tell apart */
#define NO_THRESHOLD 1e30
/* Where windows are small, growing by `alpha` each round trip would lose a tenth and more. */
#define MOST_SHARE 8.0

enum phase { SLOW_START, CONSERVATIVE, AVOIDANCE };

/* Causes of the trace event WINDOW_CHANGED. */
enum cause {
    CAUSE_START,
    CAUSE_LOSS,
    CAUSE_TIMEOUT,
    CAUSE_IDLE,
    CAUSE_SLOW_START_OVER,
    CAUSE_UNDONE
};

/* The state from before a timeout or a loss, which undo brings back. */
struct before_loss {
    double window, ssthresh, most, before, reno, k;
    oche_time epoch, reduced, at;
    uint32_t recover, end; /* end: one past what had been sent by then */
    uint8_t phase;
    bool recovering, valid, timeout; /* timeout: the loss was found by a timeout */
};

struct cubic_flow {
    double window, ssthresh; /* packets */
    double most;             /* W_max: the plateau */
    double before;           /* cwnd_prior: the window at the last loss */
    double reno;             /* W_est */
    double k;                /* seconds from the epoch's start to the plateau */
    oche_time epoch;         /* start of avoidance since the last loss; OCHE_NEVER: not begun */
    oche_time idle_since;    /* OCHE_NEVER: there is work */
    oche_time srtt;          /* smoothed round trip, or 0: not known */
    oche_time reduced;       /* when the window was last reduced */
    oche_time seen;          /* the last acknowledgement */
    uint32_t next;           /* one past the highest PSN that has left */
    uint32_t recover;        /* losses before this PSN are part of the last reduction */
    bool sent, recovering;
    uint8_t phase; /* enum phase */
    struct before_loss saved;
    /* HyStart++ */
    uint8_t css_rounds;
    uint32_t round_end, samples;
    oche_time round_rtt, last_round_rtt, css_rtt; /* least of the round; OCHE_NEVER: none */
    oche_time least_rtt;                          /* since the start; OCHE_NEVER: none */
};

static struct cubic_flow *of(struct oche_cc_flow *flow)
{
    return flow->state;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double greatest(double a, double b)
{
    return a > b ? a : b;
}

static double seconds(oche_time time)
{
    return (double)time / (double)OCHE_SEC;
}

/*
 * The cube root of a number above 0, by Newton's method from above, so that each step is smaller
 * and all machines do the same.
 */
static double cube_root(double a)
{
    double root = greatest(a, 1.0);

    for (;;) {
        const double better = (2.0 * root + a / (root * root)) / 3.0;

        if (!(better < root))
            return root;
        root = better;
    }
}

/* Spreads the window over a round trip, with room to grow but for after a loss. */
static void pace(struct oche_cc_flow *flow)
{
    const struct cubic_params *p = flow->params;
    const struct cubic_flow *state = flow->state;
    double factor = state->phase == AVOIDANCE ? 1.2 : 2.0, bps;

    if (!p->pacing || state->srtt == 0)
        return;
    if (state->recovering)
        factor = 1.0;
    bps = factor * greatest(state->window, 1.0) * flow->mtu_bytes * 8.0 / seconds(state->srtt);
    flow->rate_bps = bps < (double)flow->initial_rate_bps ? (uint64_t)greatest(bps, 1000.0)
                                                          : flow->initial_rate_bps;
}

static void set_window(struct oche_cc_flow *flow, double packets)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);

    state->window = least(packets, MOST_WINDOW);
    flow->catch_up_packets =
        (uint16_t)least(state->window * (double)p->catch_up_percent / 100, UINT16_MAX);
    flow->window_bytes = (uint64_t)(state->window * flow->mtu_bytes);
}

static void tell(const struct oche_cc_flow *flow, oche_time now, enum cause cause)
{
    oche_trace_emit(flow->trace, now, OCHE_TRACE_WINDOW_CHANGED, flow->qpn, cause,
                    flow->window_bytes);
}

/* ---- HyStart++ ---- */

static void begin_round(struct cubic_flow *state)
{
    if (state->round_rtt != OCHE_NEVER)
        state->last_round_rtt = state->round_rtt;
    state->round_rtt = OCHE_NEVER;
    state->samples = 0;
    state->round_end = state->next;
}

static void begin_slow_start(struct oche_cc_flow *flow)
{
    struct cubic_flow *state = of(flow);

    state->phase = SLOW_START;
    state->epoch = OCHE_NEVER;
    state->css_rounds = 0;
    state->round_rtt = state->last_round_rtt = OCHE_NEVER;
    begin_round(state);
}

static void begin_avoidance(struct cubic_flow *state)
{
    state->phase = AVOIDANCE;
    state->epoch = OCHE_NEVER;
}

/* Looks at a round trip of slow start. Returns true if it was the last of a round. */
static bool measure(struct cubic_flow *state, const struct oche_cc_ack *ack)
{
    if (ack->rtt != OCHE_NEVER) {
        state->round_rtt = oche_time_min(state->round_rtt, ack->rtt);
        state->samples++;
    }
    return oche_psn_diff(ack->packet->psn, state->round_end) >= 0;
}

static void hystart(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);
    const bool over = measure(state, ack);
    /* a short round has few ACKs, and what they say counts when it is over */
    const bool known =
        (over || state->samples >= p->hystart_samples) && state->round_rtt != OCHE_NEVER;

    const oche_time from = p->hystart_from == FROM_LEAST ? state->least_rtt : state->last_round_rtt;

    if (state->phase == SLOW_START && known && from != OCHE_NEVER) {
        const oche_time more =
            oche_time_min(oche_time_max(from / 8, p->hystart_least), p->hystart_most);

        if (state->round_rtt >= oche_time_add(from, more)) {
            state->phase = CONSERVATIVE;
            state->css_rtt = state->round_rtt;
            state->css_rounds = 0;
        }
    } else if (state->phase == CONSERVATIVE && known && state->round_rtt < state->css_rtt) {
        state->phase = SLOW_START; /* the delay was only noise */
    }
    if (!over)
        return;
    if (state->phase == CONSERVATIVE && ++state->css_rounds >= p->hystart_rounds) {
        state->ssthresh = state->window;
        begin_avoidance(state);
        tell(flow, now, CAUSE_SLOW_START_OVER);
    }
    begin_round(state);
}

/* ---- growth ---- */

static void slow_start(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack,
                       double packets)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);
    const double grown =
        state->window + (state->phase == CONSERVATIVE ? packets / CSS_GROWTH_DIVISOR : packets);

    set_window(flow, least(grown, state->ssthresh));
    if (state->window >= state->ssthresh)
        begin_avoidance(state);
    else if (p->hystart && state->ssthresh == NO_THRESHOLD)
        hystart(flow, now, ack);
}

/* Begins an epoch: from here on the cubic function's time counts (RFC 9438 sec 4.2). */
static void begin_epoch(struct oche_cc_flow *flow, oche_time now)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);

    state->epoch = now;
    state->reno = state->window;
    if (state->most <= state->window) {
        state->most = state->window; /* after slow start: the plateau is here */
        state->k = 0;
    } else {
        state->k = cube_root((state->most - state->window) / p->c);
    }
}

/* W_cubic(t): sec 4.2, figure 1. */
static double cubic_at(const struct oche_cc_flow *flow, double t)
{
    const struct cubic_params *p = flow->params;
    const struct cubic_flow *state = flow->state;
    const double from = t - state->k;

    return p->c * from * from * from + state->most;
}

/* Returns by how many packets the window grows at least in a round trip. */
static double least_growth(const struct cubic_params *p, const struct cubic_flow *state)
{
    const double reno = 3.0 * (1.0 - p->beta) / (1.0 + p->beta); /* RFC 9438 sec 4.3 */

    return p->alpha > 0 ? least(p->alpha, greatest(reno, state->window / MOST_SHARE)) : reno;
}

static void avoid(struct oche_cc_flow *flow, oche_time now, double packets)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);
    double alpha = least_growth(p, state), target, t;

    if (state->epoch == OCHE_NEVER)
        begin_epoch(flow, now);
    t = seconds(now - state->epoch);
    if (state->reno >= state->before)
        alpha = greatest(alpha, 1.0); /* sec 4.3 */
    state->reno += alpha * packets / state->window;
    if (cubic_at(flow, t) < state->reno) {
        set_window(flow, greatest(state->window, state->reno));
        return;
    }
    target = cubic_at(flow, t + seconds(state->srtt));
    target = least(greatest(target, state->window), 1.5 * state->window);
    set_window(flow, state->window + (target - state->window) / state->window * packets);
}

/* ---- events ---- */

static void cubic_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct cubic_params *p = flow->params;

    *of(flow) = (struct cubic_flow){
        .ssthresh = NO_THRESHOLD, .idle_since = OCHE_NEVER, .least_rtt = OCHE_NEVER};
    flow->rate_bps = flow->initial_rate_bps;
    begin_slow_start(flow);
    set_window(flow, (double)p->initial_window);
    tell(flow, now, CAUSE_START);
}

static void cubic_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                       uint64_t line_bytes)
{
    struct cubic_flow *state = of(flow);
    uint32_t next = oche_psn_add(packet->psn, 1);

    (void)now;
    (void)line_bytes;
    if (OCHE_UNLIKELY(oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))) {
        /* READ data has the peer's PSNs, and no ACKs that would tell of its round trips */
        flow->rate_bps = flow->initial_rate_bps;
        return;
    }
    if (packet->opcode == OCHE_RC_READ_REQUEST && packet->reth.dma_length > 0)
        next = oche_psn_add(packet->psn, (packet->reth.dma_length - 1) / flow->mtu_bytes + 1);
    if (OCHE_UNLIKELY(!state->sent))
        state->round_end = state->next = next;
    else if (oche_psn_diff(next, state->next) > 0)
        state->next = next;
    state->sent = true;
}

static void cubic_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    struct cubic_flow *state = of(flow);
    const uint64_t flight = ack->flight_bytes + ack->acked_bytes;
    const double packets = (double)ack->acked_bytes / flow->mtu_bytes;

    state->least_rtt = oche_time_min(state->least_rtt, ack->rtt);
    if (ack->rtt != OCHE_NEVER)
        state->srtt = state->srtt == 0 ? ack->rtt : state->srtt - state->srtt / 8 + ack->rtt / 8;
    if (OCHE_UNLIKELY(state->recovering) && oche_psn_diff(ack->packet->psn, state->recover) >= 0)
        state->recovering = false;
    if (OCHE_UNLIKELY(state->saved.valid) && state->saved.timeout &&
        oche_psn_diff(oche_psn_add(ack->packet->psn, 1), state->saved.end) >= 0)
        state->saved.valid = false; /* so the timeout was not too early */
    if (ack->acked_bytes == 0)
        return;
    if (state->phase != AVOIDANCE) {
        if (flight * 2 > flow->window_bytes)
            slow_start(flow, now, ack, packets);
        else if (oche_psn_diff(ack->packet->psn, state->round_end) >= 0)
            begin_round(state);
    } else if (flight + ack->slack_bytes + 2 * (uint64_t)flow->mtu_bytes <= flow->window_bytes) {
        /* something other than the window limits the flow: that time does not count */
        if (state->epoch != OCHE_NEVER)
            state->epoch += now - oche_time_max(state->seen, state->epoch);
    } else if (!state->recovering) {
        avoid(flow, now, packets);
    }
    state->seen = now;
    pace(flow);
}

/* Lowers ssthresh, and the plateau of the cubic function (RFC 9438 sec 4.6, 4.7). */
static void reduce(struct oche_cc_flow *flow)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);

    state->most = p->fast_convergence && state->window < state->most
                      ? state->window * (1.0 + p->beta) / 2.0
                      : state->window;
    state->before = state->window;
    state->ssthresh = greatest(state->window * p->beta, LEAST_WINDOW);
}

/* Keeps what undo restores. Of several timeouts in a row the first counts. */
static void save(struct cubic_flow *state, oche_time now, bool timeout)
{
    if (state->saved.valid && state->saved.timeout && timeout)
        return;
    state->saved = (struct before_loss){.window = state->window,
                                        .ssthresh = state->ssthresh,
                                        .most = state->most,
                                        .before = state->before,
                                        .reno = state->reno,
                                        .k = state->k,
                                        .epoch = state->epoch,
                                        .reduced = state->reduced,
                                        .at = now,
                                        .recover = state->recover,
                                        .end = state->next,
                                        .phase = state->phase,
                                        .recovering = state->recovering,
                                        .valid = true,
                                        .timeout = timeout};
}

static void cubic_undo(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);
    const struct before_loss *saved = &state->saved;

    if (!p->undo || !saved->valid || saved->timeout != (kind == OCHE_CC_LOSS_TIMEOUT))
        return;
    state->ssthresh = saved->ssthresh;
    state->most = saved->most;
    state->before = saved->before;
    state->reno = saved->reno;
    state->k = saved->k;
    state->epoch = saved->epoch == OCHE_NEVER ? OCHE_NEVER : saved->epoch + (now - saved->at);
    state->reduced = saved->reduced;
    state->recover = saved->recover;
    state->recovering = saved->recovering;
    state->phase = saved->phase;
    state->seen = now;
    begin_round(state);
    set_window(flow, greatest(saved->window, state->window));
    state->saved.valid = false;
    tell(flow, now, CAUSE_UNDONE);
    pace(flow);
}

static void cubic_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    struct cubic_flow *state = of(flow);
    const bool again = state->recovering && now - state->reduced < state->srtt;

    if (kind == OCHE_CC_LOSS_NAK && again)
        return;
    save(state, now, kind == OCHE_CC_LOSS_TIMEOUT);
    if (!again && state->window > 1.0)
        reduce(flow);
    state->reduced = now;
    state->recovering = true;
    state->recover = state->next;
    if (kind == OCHE_CC_LOSS_TIMEOUT) {
        state->most = 0; /* so that the plateau is where slow start ends */
        begin_slow_start(flow);
        set_window(flow, 1.0);
        tell(flow, now, CAUSE_TIMEOUT);
    } else {
        begin_avoidance(state);
        set_window(flow, state->ssthresh);
        tell(flow, now, CAUSE_LOSS);
    }
    pace(flow);
}

static void cubic_idle(struct oche_cc_flow *flow, oche_time now)
{
    of(flow)->idle_since = now;
}

static void cubic_busy(struct oche_cc_flow *flow, oche_time now)
{
    const struct cubic_params *p = flow->params;
    struct cubic_flow *state = of(flow);
    const oche_time idle = state->idle_since == OCHE_NEVER ? 0 : now - state->idle_since;

    state->idle_since = OCHE_NEVER;
    if (state->epoch != OCHE_NEVER)
        state->epoch += idle;
    if (idle < p->idle_restart || state->window <= (double)p->initial_window)
        return;
    state->ssthresh = greatest(state->ssthresh, state->window * 3.0 / 4.0);
    begin_slow_start(flow);
    set_window(flow, (double)p->initial_window);
    tell(flow, now, CAUSE_IDLE);
    pace(flow);
}

static const char *cubic_check(const void *params)
{
    const struct cubic_params *p = params;

    return p->hystart_most < p->hystart_least
               ? "hystart_most: less than hystart_least; write as much or more"
               : NULL;
}

const struct oche_cc_scheme oche_cc_cubic = {
    .name = "cubic",
    .paper = "CUBIC (RFC 9438) with HyStart++ (RFC 9406)",
    .table = OCHE_PARAM_TABLE(table, struct cubic_params),
    .flow_state_bytes = sizeof(struct cubic_flow),
    .needs = OCHE_CC_NEEDS_RTT,
    .transports = OCHE_CC_RC,
    .runs_on_wire = true,
    .windows_reads = true,
    .start = cubic_start,
    .sent = cubic_sent,
    .acked = cubic_acked,
    .loss = cubic_loss,
    .undo = cubic_undo,
    .idle = cubic_idle,
    .busy = cubic_busy,
    .check = cubic_check,
};
