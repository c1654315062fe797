/* SPDX-License-Identifier: Apache-2.0 */
/* Segments, their RTTs and the limits of the rate, for both TIMELY schemes; see the header. */
#include "core/cc/timely/timely_engine.h"

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"

const char *const timely_pacing_names[] = {"segment", "packet", NULL};
const char *const timely_update_names[] = {"scaled", "completion", "min_rtt", NULL};
const char *const timely_start_names[] = {"share", "line", NULL};

static oche_time *left_of(struct timely_state *s, uint64_t segment)
{
    return &s->left[segment & (TIMELY_OUTSTANDING - 1)];
}

/* ---- the rate ---- */

/* Returns the lowest rate on a line of `line` bits per second. */
static double floor_bps(const struct timely_params *p, double line)
{
    double least = p->min_rate > 0 ? (double)p->min_rate : p->min_rate_fraction * line;

    return least < 1.0 ? 1.0 : least;
}

bool timely_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                    struct oche_derived *derived)
{
    const struct timely_params *p = params;
    const bool is_auto = param->automatic && oche_param_get(param, p).u == OCHE_NEVER;

    *derived = (struct oche_derived){.by = NULL};
    switch (param->offset) {
    case offsetof(struct timely_params, min_rate):
        derived->value.u = (uint64_t)(floor_bps(p, (double)line_bps) + 0.5);
        derived->by = "min_rate_fraction";
        return p->min_rate == 0;
    case offsetof(struct timely_params, t_low):
        derived->value.u = timely_low(p, line_bps);
        return is_auto;
    case offsetof(struct timely_params, t_high):
        derived->value.u = timely_high(p, line_bps);
        return is_auto;
    case offsetof(struct timely_params, min_rtt):
        derived->value.u = timely_unit(p, line_bps);
        return is_auto;
    case offsetof(struct timely_params, delta):
        derived->value.u = timely_delta(p, line_bps);
        return is_auto;
    case offsetof(struct timely_params, segment):
        derived->value.u = timely_segment(p, line_bps);
        return is_auto;
    default:
        return false;
    }
}

static double clamp(const struct oche_cc_flow *flow, const struct timely_params *p, double rate)
{
    double line = (double)flow->line_rate_bps;
    double most = p->max_rate_fraction * line;
    double least = floor_bps(p, line);

    if (most < 1.0)
        most = 1.0;
    if (rate < least)
        rate = least;
    return rate < most ? rate : most;
}

static void publish(struct oche_cc_flow *flow, oche_time now, enum timely_cause cause)
{
    uint64_t bps = (uint64_t)(timely_state_of(flow)->rate + 0.5);

    if (bps > flow->line_rate_bps)
        bps = flow->line_rate_bps;
    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, cause, bps);
}

void timely_set_rate(struct oche_cc_flow *flow, oche_time now, double rate, oche_time rtt,
                     enum timely_cause cause)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);

    s->rate = clamp(flow, p, rate);
    if (s->rate < s->asked)
        s->asked = s->rate;
    publish(flow, now, cause);
    if (p->window) {
        uint64_t segment = (uint64_t)s->packets * flow->mtu_bytes;

        flow->window_bytes = oche_bytes_in_time(rtt, flow->rate_bps) + segment;
    }
}

void timely_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);
    uint64_t packets =
        (timely_segment(p, flow->line_rate_bps) + flow->mtu_bytes / 2) / flow->mtu_bytes;

    s->packets = packets == 0 ? 1 : (uint32_t)packets;
    s->once = s->raises = true;
    s->rate = clamp(flow, p, (double)flow->initial_rate_bps);
    publish(flow, now, TIMELY_CAUSE_START);
}

/*
 * Counts the queue pair among the NIC's active queue pairs; their number determines the rate of its
 * first packet.
 */
static void become_active(struct oche_cc_flow *flow, oche_time now)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);
    struct timely_nic_state *nic = flow->nic_state;

    s->active = true;
    nic->active++;
    if (s->begun || p->start == TIMELY_START_LINE || flow->initial_rate_bps < flow->line_rate_bps)
        return;
    s->rate = clamp(flow, p, (double)flow->line_rate_bps / (double)nic->active);
    publish(flow, now, TIMELY_CAUSE_START);
}

void timely_stop(struct oche_cc_flow *flow)
{
    struct timely_state *s = timely_state_of(flow);
    struct timely_nic_state *nic = flow->nic_state;

    if (!s->active)
        return;
    s->active = false;
    nic->active--;
}

void timely_idle(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    timely_stop(flow);
}

/* ---- segments ---- */

/*
 * Handles a retransmitted packet. Its segment is not measured, because an ACK may be for either
 * copy.
 */
static uint32_t sent_again(struct timely_state *s, uint64_t number)
{
    uint64_t segment = number / s->packets;

    if (number + 1 < s->next)
        s->once_from = s->next; /* the packets after it will be retransmitted too */
    if (segment * s->packets + s->position == s->next)
        s->once = false;
    else if (segment >= s->done)
        *left_of(s, segment) = 0;
    return (uint32_t)(number % s->packets);
}

/* To be called when a segment has left. Its RTT will be measured if possible. */
static void close_segment(struct oche_cc_flow *flow, oche_time now, uint64_t packet_line_bytes)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);
    uint64_t segment = s->next / s->packets;
    bool by_packet = p->pacing == TIMELY_PACE_PACKETS;
    oche_time from = by_packet ? now : s->first;
    uint64_t bytes = by_packet ? packet_line_bytes : s->line_bytes;

    if (s->once && segment - s->done < TIMELY_OUTSTANDING)
        *left_of(s, segment) = from + oche_time_of_bytes(bytes, flow->line_rate_bps);
}

/*
 * Called when the first packet of a segment leaves: finds out whether the previous segment used
 * enough of its rate, so that the rate may rise. The segment is compared with the lowest rate that
 * it had (`asked`), since a completion may have raised the rate in the middle of it.
 */
static void open_segment(struct oche_cc_flow *flow, oche_time now)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);

    if (s->begun) {
        double bits = 8.0 * (double)s->line_bytes;
        double seconds = (double)(now - s->first) / (double)OCHE_SEC;

        s->raises = bits >= p->use_to_raise * s->asked * seconds;
    }
    s->asked = s->rate;
    s->first = now;
    s->line_bytes = 0;
    s->once = true;
}

/* Skips PSNs of READs and atomics, which carry no data. */
static void skip_to(struct timely_state *s, uint32_t ahead)
{
    s->next += ahead;
    s->position = (uint32_t)(s->next % s->packets);
    s->once = false;
}

/* Returns the packet's position in its segment. */
static uint32_t count_packet(struct oche_cc_flow *flow, oche_time now, uint32_t psn,
                             uint64_t line_bytes)
{
    struct timely_state *s = timely_state_of(flow);
    int32_t ahead = s->begun ? oche_psn_diff(psn, s->next_psn) : 0;

    if (OCHE_UNLIKELY(ahead < 0))
        return sent_again(s, s->next - (uint64_t) - (int64_t)ahead);
    if (OCHE_UNLIKELY(ahead > 0))
        skip_to(s, (uint32_t)ahead);
    uint32_t position = s->position;
    if (position == 0 || !s->begun)
        open_segment(flow, now);
    s->begun = true;
    s->line_bytes += line_bytes;
    if (position + 1 == s->packets)
        close_segment(flow, now, line_bytes);
    s->next++;
    s->next_psn = oche_psn_add(psn, 1);
    s->position = position + 1 == s->packets ? 0 : position + 1;
    return position;
}

void timely_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                 uint64_t line_bytes)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);

    flow->burst = false;
    if (packet->payload_bytes == 0 || oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE))
        return;
    if (OCHE_UNLIKELY(!s->active))
        become_active(flow, now);
    uint32_t position = count_packet(flow, now, packet->psn, line_bytes);
    if (position + 1 == s->packets)
        packet->bth |= OCHE_BTH_ACKREQ;
    else
        flow->burst = p->pacing == TIMELY_PACE_SEGMENTS;
}

/* ---- completions ---- */

/*
 * Takes out the segments that the ACK completes. Returns when the measurement of the newest one
 * began, or 0 if that one was not measured.
 */
static oche_time newest_completed(struct timely_state *s, const struct oche_cc_ack *ack)
{
    const struct oche_packet *packet = ack->packet;

    if (packet->opcode != OCHE_RC_ACK || !s->begun ||
        oche_aeth_kind(oche_aeth_syndrome(packet)) != OCHE_AETH_ACK)
        return 0;
    int32_t behind = oche_psn_diff(s->next_psn, oche_psn_add(packet->psn, 1));
    if (behind < 0 || (uint64_t)behind > s->next)
        return 0;
    uint64_t complete = (s->next - (uint64_t)behind) / s->packets;
    if (complete <= s->done)
        return 0;
    uint64_t newest = complete - 1;
    bool kept = newest - s->done < TIMELY_OUTSTANDING && newest * s->packets >= s->once_from;
    oche_time left = kept ? *left_of(s, newest) : 0;
    uint64_t first =
        complete - s->done > TIMELY_OUTSTANDING ? complete - TIMELY_OUTSTANDING : s->done;
    for (uint64_t segment = first; segment < complete; segment++)
        *left_of(s, segment) = 0;
    s->done = complete;
    return left;
}

/* Returns the fraction of a whole step by which the rate changes. */
static double scale_of(const struct oche_cc_flow *flow, const struct timely_params *p,
                       const struct timely_state *s)
{
    double bits = 8.0 * (double)s->packets * (double)flow->mtu_bytes;
    double unit = (double)timely_unit(p, flow->line_rate_bps);
    double scale = bits / s->rate * (double)OCHE_SEC / unit;

    return p->update == TIMELY_UPDATE_SCALED && scale < 1.0 ? scale : 1.0;
}

bool timely_completed(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack,
                      struct timely_completion *completion)
{
    const struct timely_params *p = flow->params;
    struct timely_state *s = timely_state_of(flow);
    oche_time left = newest_completed(s, ack);

    if (left == 0)
        return false;
    const oche_time unit = timely_unit(p, flow->line_rate_bps);

    if (p->update == TIMELY_UPDATE_MIN_RTT && s->measured && now - s->updated < unit)
        return false;
    s->updated = now;
    /* On a device the line may be faster than the configured rate. */
    oche_time rtt = now > left ? now - left : 0;
    double diff = s->measured ? (double)rtt - (double)s->prev_rtt : 0.0;

    s->measured = true;
    s->prev_rtt = rtt;
    s->rtt_diff = (1.0 - p->ewma) * s->rtt_diff + p->ewma * diff;
    double gradient = s->rtt_diff / (double)unit;
    if (gradient >= 0.0)
        s->negative = 0;
    else if (s->negative < UINT32_MAX)
        s->negative++;
    *completion = (struct timely_completion){
        .rtt = rtt,
        .gradient = gradient,
        .scale = scale_of(flow, p, s),
        .negative = s->negative,
        .may_raise = s->raises,
    };
    /* a: RTT, b: gradient * 2^32 in two's complement */
    if (gradient > 0x1p30)
        gradient = 0x1p30;
    if (gradient < -0x1p30)
        gradient = -0x1p30;
    oche_trace_emit(flow->trace, now, OCHE_TRACE_CC_STATE, flow->qpn, rtt,
                    (uint64_t)(int64_t)(gradient * 0x1p32));
    return true;
}

const char *timely_check(const void *params)
{
    const struct timely_params *p = params;

    if (p->t_low != OCHE_NEVER && p->t_low >= p->t_high)
        return "t_low: must be below t_high";
    if (p->min_rate == 0 && p->min_rate_fraction > p->max_rate_fraction)
        return "min_rate_fraction: must not be above max_rate_fraction";
    return NULL;
}

const char *timely_remark_high(const struct timely_params *p, oche_time empty_rtt,
                               uint64_t line_bps)
{
    return timely_high(p, line_bps) >= empty_rtt ? NULL
                                                 : "more than t_high, so that rates only ever fall";
}
