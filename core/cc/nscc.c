/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NSCC, the congestion control by the sender of Ultra Ethernet, as uet-htsim has it (nscc.md). A
 * window in bytes, headers included, reacts to two signals of each ACK: the delay in queues (the
 * round trip less the least one), and whether the data was marked.
 *
 *                     not marked                                 marked
 *   below target      the more the delay is below target, the    nothing
 *                     faster the window grows; an empty path
 *                     for a window: faster still
 *   target and above  grows by `fi`                              shrinks by the mean delay's
 * excess, once a round trip
 *
 *   Fairness      once a round trip the window grows by eta.
 *   Quick adapt   after a loss, or with a delay of several targets: if far less than the window
 * came through since the last look, the window is what came through, and as many bytes as are in
 * flight then are not looked at.
 *
 * Gains are in proportion to the network: a = BDP / 150 KB (100 Gbit/s x 12us), b = target / 12us.
 * Of a lost packet a NACK tells if switches trim (fabric/trimming.c); else, a NAK or a timeout.
 */
#include "core/cc/cc.h"
#include "core/cc/cc_advice.h"
#include "core/cc/ecn_echo.h"
#include "core/wire/opcode.h"

struct nscc_params {
    oche_time rtt, target;
    double alpha, fi, fi_scale, eta, gamma, delay_gain, most_window, quick_threshold, quick_share;
    uint64_t header, adjust_packets;
    oche_time quiet;
    bool quick_adapt;
    /* Not parameters; set by `fit`: the network's round trip; 0: unknown. */
    oche_time round_trip;
    bool trims; /* likewise: its switches trim */
};

static const struct oche_param table[] = {
    {OCHE_PARAM(struct nscc_params, rtt), OCHE_IS_TIME(OCHE_NEVER, OCHE_NS, OCHE_SEC),
     .automatic = true, .where = "nscc.md#n1",
     .help = "round trip of a full packet and its ACK where nothing waits; auto: the network's"},
    {OCHE_PARAM(struct nscc_params, target), OCHE_IS_TIME(OCHE_NEVER, OCHE_NS, OCHE_SEC),
     .automatic = true, .where = "nscc.md#parameters",
     .help = "delay in queues at which windows stay; auto: a round trip, and 3/4 of it if switches "
             "trim"},
    {OCHE_PARAM(struct nscc_params, alpha), OCHE_IS_REAL(4, 0, 1000), .where = "nscc.md#parameters",
     .help = "growth below target: packets times a and b a round trip, at no delay"},
    {OCHE_PARAM(struct nscc_params, fi), OCHE_IS_REAL(5, 0, 1000), .where = "nscc.md#parameters",
     .help = "growth without marks at target and above: packets times a"},
    {OCHE_PARAM(struct nscc_params, fi_scale), OCHE_IS_REAL(0.25, 0, 10),
     .where = "nscc.md#parameters", .help = "growth on an empty path: share of what came, times a"},
    {OCHE_PARAM(struct nscc_params, quiet), OCHE_IS_TIME(OCHE_US, 0, OCHE_SEC),
     .where = "nscc.md#parameters", .help = "a path with less delay is empty"},
    {OCHE_PARAM(struct nscc_params, eta), OCHE_IS_REAL(0.15, 0, 10), .where = "nscc.md#parameters",
     .help = "growth for fairness: packets times a each round trip"},
    {OCHE_PARAM(struct nscc_params, gamma), OCHE_IS_REAL(0.8, 0, 1), .where = "nscc.md#parameters",
     .help = "a window shrinks by this share of the mean delay's excess, to half at most"},
    {OCHE_PARAM(struct nscc_params, delay_gain), OCHE_IS_REAL(0.0125, 1e-6, 1),
     .where = "nscc.md#parameters", .help = "weight of the newest delay in the mean"},
    {OCHE_PARAM(struct nscc_params, most_window), OCHE_IS_REAL(1.5, 0.01, 1000),
     .where = "nscc.md#parameters",
     .help = "largest window, with which a queue pair begins: what the line carries in so many "
             "round trips"},
    {OCHE_PARAM(struct nscc_params, adjust_packets), OCHE_IS_COUNT(8, 1, 1000000),
     .where = "nscc.md#parameters",
     .help = "growth takes effect after so many packets, or a round trip"},
    {OCHE_PARAM(struct nscc_params, quick_adapt), OCHE_IS_BOOL(true), .where = "nscc.md#parameters",
     .help = "after losses the window is what came through"},
    {OCHE_PARAM(struct nscc_params, quick_threshold), OCHE_IS_REAL(4, 0, 1000),
     .needs = "quick_adapt", .where = "nscc.md#parameters",
     .help = "also with a delay of so many targets"},
    {OCHE_PARAM(struct nscc_params, quick_share), OCHE_IS_REAL(0.125, 0, 1), .needs = "quick_adapt",
     .where = "nscc.md#parameters",
     .help = "if less came through than this share of the largest window"},
    {OCHE_PARAM(struct nscc_params, header), OCHE_IS_BYTES(64, 0, 1024),
     .where = "nscc.md#parameters",
     .help = "bytes of a packet beside its payload, as the window counts them"},
};

#define SCALE_BYTES  150000.0 /* what 100 Gbit/s carry in 12us */
#define SCALE_TIME   (12 * OCHE_US)
#define UNKNOWN_TRIP (100 * OCHE_US) /* of a device that has measured none yet */

/* Causes of the trace event WINDOW_CHANGED. */
enum cause { CAUSE_START, CAUSE_DELAY, CAUSE_LOSS, CAUSE_TIMEOUT, CAUSE_QUICK_ADAPT };

/* Sizes are of bytes with headers. */
struct nscc_flow {
    double window;
    double growth;           /* that has not taken effect: squares of bytes */
    double counted;          /* bytes that came since growth took effect */
    double delay;            /* mean, ps */
    double quiet;            /* bytes that came in a row over an empty path */
    double achieved;         /* bytes that came since quick adapt's last look */
    double ignored, ignore;  /* bytes since it acted, and how many are not looked at */
    double flight;           /* by the last ACK or NACK */
    oche_time base;          /* least round trip */
    oche_time cut, adjusted; /* when the window shrank, and growth took effect, last */
    oche_time look;          /* when quick adapt looks again; 0: it has not begun */
    bool fast, lost;         /* lost: since quick adapt acted last */
};

struct nscc_nic {
    uint64_t quick_adapts, cuts;
};

static const struct oche_counter rows[] = {
    {.name = "quick_adapts",
     .offset = offsetof(struct nscc_nic, quick_adapts),
     .help = "windows that became what had come through (quick adapt)"},
    {.name = "cuts",
     .offset = offsetof(struct nscc_nic, cuts),
     .help = "windows that shrank because of delay and marks"},
};
static const struct oche_counters counters = {"nscc", rows, OCHE_COUNT_OF(rows)};

/* ---- constants of a flow ---- */

static oche_time rtt_of(const struct nscc_params *p)
{
    if (p->rtt != OCHE_NEVER)
        return p->rtt;
    return p->round_trip != 0 ? p->round_trip : UNKNOWN_TRIP;
}

static oche_time target_of(const struct nscc_params *p)
{
    if (p->target != OCHE_NEVER)
        return p->target;
    return p->trims ? rtt_of(p) / 4 * 3 : rtt_of(p);
}

/* Returns what the line carries in a round trip. */
static double bdp(const struct oche_cc_flow *flow)
{
    return (double)oche_bytes_in_time(rtt_of(flow->params), flow->line_rate_bps);
}

static double packet_bytes(const struct oche_cc_flow *flow)
{
    const struct nscc_params *p = flow->params;

    return (double)flow->mtu_bytes + (double)p->header;
}

/* Returns bytes with headers of full packets with so much payload. */
static double with_headers(const struct oche_cc_flow *flow, uint64_t payload_bytes)
{
    return (double)payload_bytes * packet_bytes(flow) / (double)flow->mtu_bytes;
}

static double scale_a(const struct oche_cc_flow *flow)
{
    return bdp(flow) / SCALE_BYTES;
}

static double most_window(const struct oche_cc_flow *flow)
{
    const struct nscc_params *p = flow->params;
    const double most = p->most_window * bdp(flow), least = packet_bytes(flow);

    return most > least ? most : least;
}

/* ---- the window ---- */

static void set_window(struct oche_cc_flow *flow, double window)
{
    struct nscc_flow *state = flow->state;
    const double least = packet_bytes(flow), most = most_window(flow);

    state->window = window < least ? least : window > most ? most : window;
    flow->window_bytes =
        (uint64_t)(state->window * (double)flow->mtu_bytes / packet_bytes(flow) + 0.5);
}

static void tell(const struct oche_cc_flow *flow, oche_time now, enum cause cause)
{
    oche_trace_emit(flow->trace, now, OCHE_TRACE_WINDOW_CHANGED, flow->qpn, cause,
                    flow->window_bytes);
}

static void nscc_start(struct oche_cc_flow *flow, oche_time now)
{
    struct nscc_flow *state = flow->state;

    state->base = rtt_of(flow->params);
    state->adjusted = now;
    set_window(flow, most_window(flow));
    tell(flow, now, CAUSE_START);
}

/* ---- quick adapt ---- */

/* It is time to look. Returns true if the window has become what came through. */
static bool look(struct oche_cc_flow *flow, oche_time now, bool far)
{
    const struct nscc_params *p = flow->params;
    struct nscc_nic *nic = flow->nic_state;
    struct nscc_flow *state = flow->state;
    const bool begun = state->look != 0;
    const bool acts =
        begun && (far || state->lost) && state->achieved < p->quick_share * most_window(flow);

    if (acts) {
        set_window(flow, state->achieved);
        state->ignore = state->flight;
        state->ignored = 0;
        state->lost = false;
        nic->quick_adapts++;
        tell(flow, now, CAUSE_QUICK_ADAPT);
    }
    state->achieved = 0;
    state->look = oche_time_add(now, oche_time_add(state->base, target_of(p)));
    return acts;
}

/*
 * Returns true if nothing else is to be done for an ACK or a loss. `far`: the delay is one that
 * asks for quick adapt.
 */
static bool quick_adapt(struct oche_cc_flow *flow, oche_time now, bool marked, bool far)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;
    bool done;

    if (!p->quick_adapt)
        return false;
    done = marked && state->ignored < state->ignore;
    if (!done && now >= state->look)
        done = look(flow, now, far);
    if (done)
        state->growth = state->counted = 0;
    return done;
}

/* ---- ACKs ---- */

/* Without a mark and below target: grows the faster, the less the delay is. */
static void grow(struct oche_cc_flow *flow, double bytes, double delay)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;
    const double target = (double)target_of(p);
    const double alpha =
        p->alpha * packet_bytes(flow) * scale_a(flow) * (target / (double)SCALE_TIME) / target;

    if (delay < (double)p->quiet) {
        state->quiet += bytes;
        if (state->fast || state->quiet > state->window) {
            state->fast = true;
            set_window(flow, state->window + bytes * p->fi_scale * scale_a(flow));
            return;
        }
    } else {
        state->quiet = 0;
        state->fast = false;
    }
    state->growth += alpha * bytes * (target - delay);
}

/* With a mark and at target or above: shrinks once a round trip, if the mean delay is so long. */
static void shrink(struct oche_cc_flow *flow, oche_time now)
{
    const struct nscc_params *p = flow->params;
    struct nscc_nic *nic = flow->nic_state;
    struct nscc_flow *state = flow->state;
    const double target = (double)target_of(p);
    double left;

    state->fast = false;
    if (state->delay <= target || now - state->cut <= state->base)
        return;
    left = 1 - p->gamma * (state->delay - target) / state->delay;
    set_window(flow, state->window * (left > 0.5 ? left : 0.5));
    state->cut = now;
    nic->cuts++;
    tell(flow, now, CAUSE_DELAY);
}

/* Lets growth take effect if it is time. */
static void adjust(struct oche_cc_flow *flow, oche_time now)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;
    const bool round = now - state->adjusted > state->base;
    double window = state->window;

    if (!round && state->counted <= (double)p->adjust_packets * packet_bytes(flow))
        return;
    window += state->growth / window;
    if (round) {
        window += p->eta * packet_bytes(flow) * scale_a(flow);
        state->adjusted = now;
    }
    state->growth = state->counted = 0;
    set_window(flow, window);
}

/* Takes a round trip into the mean. Returns the delay. */
static double measure(struct oche_cc_flow *flow, const struct oche_cc_ack *ack)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;
    double delay, sample;

    if (ack->rtt == OCHE_NEVER) /* of a packet that was sent again */
        return state->delay;
    state->base = oche_time_min(state->base, ack->rtt);
    delay = sample = (double)(ack->rtt - state->base);
    if (!ack->ecn_echo && delay > (double)target_of(p))
        sample = (double)state->base / 4;
    state->delay += p->delay_gain * (sample - state->delay);
    return delay;
}

static void nscc_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;
    const double bytes = with_headers(flow, ack->acked_bytes), target = (double)target_of(p);
    const double delay = measure(flow, ack);

    state->flight = with_headers(flow, ack->flight_bytes);
    state->achieved += bytes;
    state->ignored += bytes;
    state->counted += bytes;
    if (quick_adapt(flow, now, ack->ecn_echo, delay > p->quick_threshold * target))
        return;
    if (!ack->ecn_echo && delay >= target)
        state->growth += p->fi * packet_bytes(flow) * scale_a(flow) * bytes;
    else if (!ack->ecn_echo)
        grow(flow, bytes, delay);
    else if (delay >= target)
        shrink(flow, now);
    adjust(flow, now);
}

/* A packet was trimmed, or is missing: it is gone, and the path is full. */
static void missing(struct oche_cc_flow *flow, oche_time now)
{
    const struct nscc_params *p = flow->params;
    struct nscc_flow *state = flow->state;

    state->lost = true;
    state->delay += p->delay_gain * ((double)rtt_of(p) - state->delay);
    state->ignored += packet_bytes(flow);
    if (quick_adapt(flow, now, true, false))
        return;
    set_window(flow, state->window - packet_bytes(flow));
    tell(flow, now, CAUSE_LOSS);
}

static void nscc_trimmed(struct oche_cc_flow *flow, oche_time now, enum oche_trimmed where,
                         uint64_t flight_bytes)
{
    struct nscc_flow *state = flow->state;

    (void)where;
    state->flight = with_headers(flow, flight_bytes);
    missing(flow, now);
}

static void nscc_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    struct nscc_flow *state = flow->state;

    if (kind == OCHE_CC_LOSS_NAK) {
        missing(flow, now);
        return;
    }
    state->lost = true;
    set_window(flow, state->window - packet_bytes(flow));
    tell(flow, now, CAUSE_TIMEOUT);
}

/* ---- the receiver ---- */

/* A mark is told at once. READ data's is for this end's own window, and comes with `acked`. */
static void nscc_arrived(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                         struct oche_cc_reply *reply)
{
    if (oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))
        return;
    oche_ecn_echo_arrived(flow, now, packet, reply);
    reply->ack_now = packet->ecn == OCHE_ECN_CE;
}

/* ---- advice ---- */

static bool nscc_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                         struct oche_derived *derived)
{
    const struct nscc_params *p = params;

    (void)line_bps;
    *derived = (struct oche_derived){.by = NULL};
    if (param->offset == offsetof(struct nscc_params, rtt)) {
        derived->value.u = rtt_of(p);
        return p->rtt == OCHE_NEVER;
    }
    derived->value.u = target_of(p);
    derived->by = "rtt";
    return param->offset == offsetof(struct nscc_params, target) && p->target == OCHE_NEVER;
}

static void nscc_fit(void *params, uint64_t free, const struct oche_cc_network *network)
{
    struct nscc_params *p = params;

    (void)free;
    p->round_trip = network->round_trip;
    p->trims = network->trims;
}

static const struct oche_cc_advice advice = {.derived = nscc_derived, .fit = nscc_fit};

const struct oche_cc_scheme oche_cc_nscc = {
    .name = "nscc",
    .paper = "Ultra Ethernet's NSCC as uet-htsim has it",
    .table = OCHE_PARAM_TABLE(table, struct nscc_params),
    .counters = &counters,
    .flow_state_bytes = sizeof(struct nscc_flow),
    .nic_state_bytes = sizeof(struct nscc_nic),
    .needs = OCHE_CC_NEEDS_ECN | OCHE_CC_NEEDS_RTT,
    .transports = OCHE_CC_RC,
    .runs_on_wire = true,
    .windows_reads = true,
    .counts_sacks = true,
    .start = nscc_start,
    .acked = nscc_acked,
    .loss = nscc_loss,
    .trimmed = nscc_trimmed,
    .arrived = nscc_arrived,
    .stamp_ack = oche_ecn_echo_stamp,
    .advice = &advice,
};
