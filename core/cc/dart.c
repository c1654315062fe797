/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's congestion control (Xue et al., "Dart: Divide and Specialize for Fast Response to
 * Congestion in RDMA-Based Datacenter Networks", ToN 2020, sec III): direct apportioning of
 * sending rates (DASR) where the receiver is the bottleneck, DCQCN (dcqcn.c) where it is not. In
 * the switches: marks as for DCQCN; in-order flow deflection is the fabric's.
 *
 * Receiver, a NIC: the senders that have an active message are its AUSS (auss.c), n of them. Each
 * ACK says n. When that changes, a sender to which no ACK has gone for half a base round trip gets
 * an update, a packet of its own, at most one in that time (REFERENCE D8). Whether it is the
 * receiver that is congested (Fig 5) follows from two things: did packets come with CE, and does
 * the link bring data at line rate. Both are judged over windows (D5, D6):
 *
 *   marks   line rate   state           n that is said    marks
 *   no      any         no congestion   AUSS              –
 *   yes     yes         receiver        AUSS              suppressed
 *   yes     no          non-receiver    1                 CNPs, by DCQCN's notification point
 *
 * Sender, a queue pair: its rate is the least of DCQCN's and its part of line/n; the share of a
 * sender is divided among its queue pairs that send to that receiver (D2). All begin at line rate.
 * DCQCN's reaction point is never told of the rest: it recovers as ever (D27).
 *
 * Where the paper is silent or is not followed:
 *   - n is also said while there are no marks (D3; `advertise: congestion` is Fig 5's letter, which
 *     oscillates: n removes the marks that n depends on).
 *   - The first mark after a time without begins a new window, unless the link has been at line
 *     rate so far: how full the link was before says nothing about the congestion that begins.
 *   - A window ends with the first packet after its time; if nothing came for a window's time, it
 *     saw no marks.
 *   - Not line/n but, with weights, w/W of the line, where W is the sum of the senders' weights and
 *     what the header says. With weights of 1 that is n.
 *   - READ (D12): who asks for data receives it. Its requests are not acknowledged by ACKs, so it
 *     says n by updates.
 *   - With a peer that does not know the header (OCHE_BTH_EXTENSIONS) nothing is said and nothing
 *     heard: DCQCN remains.
 */
#include "core/cc/dart.h"

#include <string.h>

#include "core/cc/auss.h"
#include "core/cc/dcqcn.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define CACHE_ALIGNED __attribute__((aligned(OCHE_CACHE_LINE)))
#define MOST_SENDERS  UINT16_MAX
#define MOST_WEIGHT   1000
#define VOID_IN_A_ROW 16 /* shares out of sequence: after so many the peer has begun anew */
#define EVIDENCE      8  /* packets at line rate that say so */
#define LOOKS         4  /* in a base round trip, at most, at who is to get an update */

enum advertise { ADVERTISE_ALWAYS, ADVERTISE_CONGESTION };
enum share_line { SHARE_LEAST, SHARE_RECEIVER };

struct dart_params {
    struct dcqcn_params dcqcn; /* first: DCQCN's hooks look there */
    oche_time base_rtt, window;
    double line_above, line_below;
    oche_time soft_timeout;
    uint32_t advertise, share_line;
    double fill;
    bool updates;
    uint64_t ack_packets;
    bool work_conserving;
    uint64_t work_conserving_windows;
    const char *weights;
};

static const char *const advertise_names[] = {"always", "congestion", NULL};
static const char *const share_line_names[] = {"least", "receiver", NULL};

/* clang-format off */
#define FIELD(member) .name = #member, .offset = offsetof(struct dart_params, member)

static const struct oche_param table[] = {
    {FIELD(base_rtt), .unit = OCHE_UNIT_TIME, .preset.u = 12 * OCHE_US, .minimum.u = OCHE_NS,
        .maximum.u = OCHE_SEC, .where = "Dart sec V-A; REFERENCE D8",
        .help = "round trip of the longest way without queues: updates, windows and AckReq"},
    {FIELD(window), .unit = OCHE_UNIT_TIME, .preset.u = 50 * OCHE_US, .minimum.u = OCHE_NS,
        .maximum.u = OCHE_SEC, .where = "REFERENCE D5, D6",
        .help = "over which marks and throughput are judged, or base_rtt if that is longer"},
    {FIELD(line_above), .unit = OCHE_UNIT_REAL, .preset.real = 0.95, .minimum.real = 0.01,
        .maximum.real = 1.0, .where = "REFERENCE D5",
        .help = "fraction of the line, with headers and gaps, from which on it is at line rate"},
    {FIELD(line_below), .unit = OCHE_UNIT_REAL, .preset.real = 0.90, .minimum.real = 0.01,
        .maximum.real = 1.0, .where = "REFERENCE D5",
        .help = "… below which it no longer is"},
    {FIELD(soft_timeout), .unit = OCHE_UNIT_TIME, .preset.u = 2 * OCHE_SEC, .minimum.u = OCHE_US,
        .maximum.u = OCHE_NEVER, .where = "Dart sec III-B; REFERENCE D13",
        .help = "an active message without a packet for so long no longer counts"},
    {FIELD(advertise), .unit = OCHE_UNIT_CHOICE, .choices = advertise_names,
        .where = "Dart sec III-A, Fig 5; REFERENCE D3",
        .help = "n is said always but in non-receiver congestion, or in receiver congestion only"},
    {FIELD(share_line), .unit = OCHE_UNIT_CHOICE, .choices = share_line_names,
        .where = "REFERENCE D1",
        .help = "of which line the share is: the slower one of both ends, or the receiver's"},
    {FIELD(fill), .unit = OCHE_UNIT_REAL, .preset.real = 1.0, .minimum.real = 0.01,
        .maximum.real = 1.0, .where = "the paper: 1",
        .help = "part of the line that the shares of several senders fill; 1: no queue drains"},
    {FIELD(updates), .unit = OCHE_UNIT_BOOL, .preset.u = 1, .where = "REFERENCE D8",
        .help = "tell a new n to senders that get no ACK now; the paper has ACKs only"},
    {FIELD(ack_packets), .unit = OCHE_UNIT_COUNT, .preset.u = 16, .minimum.u = 1,
        .maximum.u = 1 << 20, .where = "REFERENCE D8",
        .help = "a sender asks for an ACK every so many packets, and every base_rtt, if not "
                "before"},
    {FIELD(work_conserving), .unit = OCHE_UNIT_BOOL, .preset.u = 0, .where = "REFERENCE D4",
        .help = "without marks and below line rate, senders are told a smaller n"},
    {FIELD(work_conserving_windows), .unit = OCHE_UNIT_COUNT, .preset.u = 2, .minimum.u = 1,
        .maximum.u = 1000000, .where = "REFERENCE D4",
        .help = "… after so many windows of that kind"},
    {FIELD(weights), .unit = OCHE_UNIT_TEXT, .where = "Dart sec III",
        .help = "shares of senders that are not 1: host:weight, …, as in 3:2, 7:4"},
#undef FIELD
    /* The fall-back's. */
#include "core/cc/dcqcn_rows.h"
};
/* clang-format on */

/* RATE_CHANGED's cause, besides DCQCN's. */
enum cause { CAUSE_SHARE = 16 };

struct dart_peer;
struct dart_nic;

/* A queue pair. By line: DCQCN's own; what each packet needs that is sent; and that arrives. */
struct dart_flow {
    struct dcqcn_state dcqcn; /* first */
    /* Sender. */
    oche_time asked;  /* for an ACK, when */
    uint32_t unasked; /* packets since */
    bool active;      /* has sent, and is not idle since */
    bool limited;     /* dcqcn.rp.limited */
    struct dart_peer *receiver;
    /* Receiver. */
    struct dart_nic *nic CACHE_ALIGNED;
    struct dart_peer *sender;
    uint8_t tenant;
    struct oche_auss_member member;
    /* Sender, with messages and shares. */
    struct oche_cc_flow *flow;
    uint64_t dcqcn_bps, cap_bps;     /* the rate is the least of them */
    struct dart_flow *next, *before; /* in the peer's list, while active */
};

_Static_assert(offsetof(struct dart_flow, nic) == 2 * OCHE_CACHE_LINE, "two lines before it");

struct dart_peer {
    /* We send to it. */
    struct dart_flow *active;
    uint32_t active_count;
    uint32_t senders; /* as it says; 0: it has not said anything */
    bool heard;
    uint8_t heard_sequence, void_count;
    /* It sends to us. */
    uint8_t told_sequence;
    uint32_t told_version; /* of what it was told */
    oche_time told_at;     /* it was, or an update was asked for; valid with told_version above 0 */
};

struct dart_nic {
    /* What each packet needs. */
    struct dcqcn_nic_state dcqcn; /* first */
    struct oche_cc_nic *nic;
    oche_time window_end;
    enum oche_dart_state state;
    bool at_line, marked;
    uint32_t told, version; /* what is said now; it has changed so often */
    /* Windows, messages, updates. */
    oche_time window_start;
    uint64_t window_bytes;  /* on the line, up to the window's start */
    uint32_t granted;       /* work_conserving: instead of n; 0: n */
    uint64_t slack_windows; /* without marks and below line rate, in a row */
    uint64_t updates;
    oche_time updates_due, updates_done; /* OCHE_NEVER, and 0: none */
    struct oche_auss auss;
};

static struct dart_flow *of(struct oche_cc_flow *flow)
{
    return flow->state;
}

/* ---- weights ---- */

static const char *number(const char *text, uint32_t most, uint32_t *value)
{
    const char *first = text;
    uint64_t n = 0;

    for (; *text >= '0' && *text <= '9' && n <= most; text++)
        n = n * 10 + (uint64_t)(*text - '0');
    *value = (uint32_t)n;
    return text != first && n <= most ? text : NULL;
}

/* Reads "host:weight" at `text`; the next one, or NULL: that is none. */
static const char *weight_at(const char *text, uint32_t *host, uint32_t *weight)
{
    while (*text == ' ')
        text++;
    text = number(text, UINT32_MAX - 1, host);
    if (text == NULL || *text != ':')
        return NULL;
    text = number(text + 1, MOST_WEIGHT, weight);
    if (text == NULL || *weight == 0)
        return NULL;
    while (*text == ' ')
        text++;
    if (*text == ',')
        return text + 1;
    return *text == '\0' ? text : NULL;
}

static uint32_t weight_of(const struct dart_params *p, uint32_t address)
{
    const char *at = p->weights;
    uint32_t host, weight;

    while (at != NULL && *at != '\0') {
        at = weight_at(at, &host, &weight);
        if (at != NULL && host == address)
            return weight;
    }
    return 1;
}

/* ---- sender ---- */

/* now OCHE_NEVER: not known, and not traced. */
static void set_rate(struct dart_flow *s, oche_time now)
{
    struct oche_cc_flow *flow = s->flow;
    uint64_t bps = s->cap_bps < s->dcqcn_bps ? s->cap_bps : s->dcqcn_bps;
    struct dart_nic *d = flow->nic_state;

    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    oche_cc_want(d->nic, flow, OCHE_CC_WANTS_LOOK);
    if (now != OCHE_NEVER)
        oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, CAUSE_SHARE, bps);
}

/* What one active queue pair may send. A share that our port does not exceed is no limit. */
static uint64_t cap_of(const struct dart_peer *peer, const struct oche_cc_flow *flow)
{
    const struct dart_params *p = flow->params;
    const struct dart_nic *d = flow->nic_state;
    uint64_t own = flow->line_rate_bps, theirs = flow->peer_line_rate_bps;
    uint64_t line = p->share_line == SHARE_RECEIVER || theirs < own ? theirs : own;
    uint64_t share = line;

    if (peer->senders > 1) {
        uint64_t weight = weight_of(p, d->nic->address);
        if (weight < peer->senders)
            share = (uint64_t)(p->fill * (double)line * (double)weight / (double)peer->senders);
    }
    if (share >= own)
        return own;
    share /= peer->active_count;
    return share > 0 ? share : 1;
}

/* The share, or who divides it, has changed. */
static void spread(struct dart_peer *peer, oche_time now)
{
    if (peer->active == NULL)
        return;
    uint64_t cap = cap_of(peer, peer->active->flow);
    for (struct dart_flow *s = peer->active; s != NULL; s = s->next) {
        s->cap_bps = cap;
        set_rate(s, now);
    }
}

static void activate(struct dart_flow *s, oche_time now)
{
    struct dart_peer *peer = s->flow->peer_state;

    if (peer->active_count == 0) {
        peer->senders = 0;   /* what it last said is old: all begin at line rate */
        peer->heard = false; /* and it may have forgotten us since, and its sequence */
    }
    s->active = true;
    s->before = NULL;
    s->next = peer->active;
    if (s->next != NULL)
        s->next->before = s;
    peer->active = s;
    peer->active_count++;
    spread(peer, now);
}

static void deactivate(struct dart_flow *s, oche_time now)
{
    struct dart_peer *peer = s->flow->peer_state;

    if (!s->active)
        return;
    s->active = false;
    if (s->before != NULL)
        s->before->next = s->next;
    else
        peer->active = s->next;
    if (s->next != NULL)
        s->next->before = s->before;
    peer->active_count--;
    s->cap_bps = s->flow->line_rate_bps;
    set_rate(s, now);
    spread(peer, now);
}

/* What the receiver says. What was overtaken, or is not for us, is void. */
static void hear(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet)
{
    const struct dart_flow *s = of(flow);
    struct dart_peer *peer = s->receiver;
    const struct oche_share share = oche_share_get(packet);

    if (share.senders == 0 || share.tenant != s->tenant)
        return;
    if (peer->heard && (int8_t)(share.sequence - peer->heard_sequence) <= 0 &&
        ++peer->void_count < VOID_IN_A_ROW)
        return;
    peer->heard = true;
    peer->void_count = 0;
    peer->heard_sequence = share.sequence;
    if (share.senders == peer->senders)
        return;
    peer->senders = share.senders;
    spread(peer, now);
}

/* DCQCN's hooks see and set their own rate. */
static void dcqcn_begins(struct oche_cc_flow *flow)
{
    flow->rate_bps = of(flow)->dcqcn_bps;
}

static void dcqcn_ends(struct oche_cc_flow *flow)
{
    struct dart_flow *s = of(flow);

    s->limited = s->dcqcn.rp.limited;
    s->dcqcn_bps = flow->rate_bps;
    if (s->cap_bps < flow->rate_bps)
        flow->rate_bps = s->cap_bps;
}

/* An ACK brings n: none may be far away (REFERENCE D8). */
static inline void ask(const struct oche_cc_flow *flow, struct dart_flow *s, oche_time now,
                       struct oche_packet *packet)
{
    const struct dart_params *p = flow->params;

    if (OCHE_UNLIKELY(!(packet->bth & OCHE_BTH_ACKREQ))) {
        const struct oche_opcode_row *row = oche_opcode(packet->opcode);
        if (++s->unasked < p->ack_packets && now - s->asked < p->base_rtt)
            return;
        if (!(row->flags & OCHE_OP_REQUEST) || row->service == OCHE_SERVICE_UC)
            return;
        packet->bth |= OCHE_BTH_ACKREQ;
    }
    s->unasked = 0;
    s->asked = now;
}

static void dart_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                      uint64_t line_bytes)
{
    struct dart_flow *s = of(flow);

    if (OCHE_UNLIKELY(!s->active) && packet->payload_bytes > 0)
        activate(s, now);
    ask(flow, s, now, packet);
    if (OCHE_LIKELY(!s->limited))
        return;
    dcqcn_begins(flow);
    oche_cc_dcqcn.sent(flow, now, packet, line_bytes);
    dcqcn_ends(flow);
}

static void dart_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    if (ack->packet->opcode == OCHE_RC_ACK_SHARE && (ack->packet->ext & OCHE_EXT_SCHEME))
        hear(flow, now, ack->packet);
}

static void dart_cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    dcqcn_begins(flow);
    oche_cc_dcqcn.cnp(flow, now, cnp);
    dcqcn_ends(flow);
}

static void dart_idle(struct oche_cc_flow *flow, oche_time now)
{
    dcqcn_begins(flow);
    oche_cc_dcqcn.idle(flow, now);
    dcqcn_ends(flow);
    deactivate(of(flow), now);
}

static void dart_busy(struct oche_cc_flow *flow, oche_time now)
{
    dcqcn_begins(flow);
    oche_cc_dcqcn.busy(flow, now);
    dcqcn_ends(flow);
}

/* ---- receiver: what is said, and to whom ---- */

static void rearm(struct dart_nic *d)
{
    oche_time when = oche_time_min(d->updates_due, oche_auss_next(&d->auss));

    if (when < d->nic->timer)
        oche_cc_nic_timer(d->nic, when);
}

static uint32_t to_be_told(const struct dart_nic *d)
{
    const struct dart_params *p = d->nic->params;

    if (d->state == OCHE_DART_NON_RECEIVER || d->auss.weight <= 1)
        return 1;
    if (d->state == OCHE_DART_NONE && p->advertise == ADVERTISE_CONGESTION)
        return 1;
    if (d->granted > 0)
        return d->granted;
    return d->auss.weight < MOST_SENDERS ? (uint32_t)d->auss.weight : MOST_SENDERS;
}

/* Something has changed of which what is said depends. now: OCHE_NEVER if it is not known. */
static void tell(struct dart_nic *d, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    uint32_t told = to_be_told(d);

    if (now != OCHE_NEVER)
        oche_trace_emit(d->nic->trace, now, OCHE_TRACE_SENDERS, 0, d->auss.count,
                        told | (uint64_t)d->state << 32);
    if (told != d->told) {
        d->told = told;
        d->version++;
        if (p->updates) {
            oche_time earliest = d->updates_done + p->base_rtt / LOOKS;
            oche_time from = now == OCHE_NEVER ? 0 : now;
            d->updates_due = earliest > from ? earliest : from;
        }
    }
    rearm(d);
}

static void set_changed(struct dart_nic *d, oche_time now)
{
    d->granted = 0;
    d->slack_windows = 0;
    tell(d, now);
}

/* When `peer`, which sends to us, is to get an update; OCHE_NEVER: it knows. */
static oche_time update_due(const struct dart_nic *d, const struct dart_peer *peer)
{
    const struct dart_params *p = d->nic->params;

    if (peer->told_version == d->version)
        return OCHE_NEVER;
    return peer->told_version == 0 ? 0 : peer->told_at + p->base_rtt / 2;
}

static void update(struct dart_nic *d, struct oche_cc_flow *flow, oche_time now)
{
    struct dart_peer *peer = flow->peer_state;

    peer->told_at = now;
    if (peer->told_version == 0) /* told_at would mean nothing */
        peer->told_version = d->version - 1;
    d->updates++;
    oche_cc_want(d->nic, flow, OCHE_CC_WANTS_OWN);
}

/* Tells every active sender that does not know it, or looks again when it may. */
static void update_all(struct dart_nic *d, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    oche_time next = OCHE_NEVER, soonest = now + p->base_rtt / LOOKS;

    for (uint32_t i = 0; i < d->auss.count; i++) {
        struct oche_auss_member *member = d->auss.senders[d->auss.active[i]].members;
        struct oche_cc_flow *flow = OCHE_CONTAINER(member, struct dart_flow, member)->flow;
        if (!flow->extended)
            continue;
        oche_time due = update_due(d, flow->peer_state);
        if (due <= now)
            update(d, flow, now);
        else if (due < next)
            next = due;
    }
    d->updates_done = now;
    d->updates_due = next > soonest ? next : soonest; /* OCHE_NEVER: all know */
}

static void dart_nic_timer(struct oche_cc_nic *nic, oche_time now)
{
    struct dart_nic *d = nic->state;

    if (oche_auss_expire(&d->auss, now))
        set_changed(d, now);
    if (d->updates_due <= now)
        update_all(d, now);
    rearm(d);
}

static void dart_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    const struct dart_flow *s = of(flow);
    const struct dart_nic *d = s->nic;
    struct dart_peer *peer = s->sender;

    if (packet->opcode != OCHE_RC_ACK_SHARE && packet->opcode != OCHE_SHARE)
        return;
    const struct oche_share share = {
        .senders = (uint16_t)d->told, .tenant = s->tenant, .sequence = ++peer->told_sequence};
    oche_share_put(packet, &share);
    peer->told_version = d->version;
    peer->told_at = now;
}

/* ---- receiver: where the congestion is ---- */

static void enter(struct dart_nic *d, oche_time now, enum oche_dart_state state)
{
    if (state == d->state)
        return;
    d->state = state;
    tell(d, now);
}

static void begin_window(struct dart_nic *d, oche_time now, bool marked)
{
    const struct dart_params *p = d->nic->params;

    d->window_start = now;
    d->window_end = now + (p->window > p->base_rtt ? p->window : p->base_rtt);
    d->window_bytes = *d->nic->received_line_bytes;
    d->marked = marked;
}

/* Bits per second on the line since the window began. */
static uint64_t throughput(const struct dart_nic *d, oche_time now)
{
    return oche_rate_of(*d->nic->received_line_bytes - d->window_bytes, now - d->window_start);
}

/* REFERENCE D4: what is not used is given to those who can use it. */
static void give_slack(struct dart_nic *d, oche_time now, double used)
{
    const struct dart_params *p = d->nic->params;
    double senders = (double)d->told * used;

    if (!p->work_conserving || d->state != OCHE_DART_NONE || d->told <= 1 || d->at_line) {
        d->slack_windows = 0;
        return;
    }
    if (++d->slack_windows < p->work_conserving_windows)
        return;
    d->slack_windows = 0;
    d->granted = senders < 1.0 ? 1 : (uint32_t)(senders + 0.5);
    tell(d, now);
}

static void end_window(struct dart_nic *d, oche_time now)
{
    const struct dart_params *p = d->nic->params;
    bool silent = now - d->window_start >= 2 * (d->window_end - d->window_start);
    double used = (double)throughput(d, now) / (double)d->nic->line_rate_bps;
    bool marked = d->marked && !silent;

    d->at_line = !silent && used >= (d->at_line ? p->line_below : p->line_above);
    begin_window(d, now, false);
    if (!marked)
        enter(d, now, OCHE_DART_NONE);
    else
        enter(d, now, d->at_line ? OCHE_DART_RECEIVER : OCHE_DART_NON_RECEIVER);
    give_slack(d, now, used);
}

/* The first mark of a window. */
static void first_mark(struct dart_nic *d, oche_time now, uint32_t frame_bytes)
{
    const struct dart_params *p = d->nic->params;
    uint64_t bytes = *d->nic->received_line_bytes - d->window_bytes;
    double line = p->line_above * (double)d->nic->line_rate_bps;

    d->marked = true;
    if (d->granted > 0) {
        d->granted = 0; /* there was no slack, or is none any more */
        tell(d, now);
    }
    if (d->state != OCHE_DART_NONE)
        return;
    if (bytes >= EVIDENCE * (uint64_t)frame_bytes && (double)throughput(d, now) >= line) {
        d->at_line = true;
        enter(d, now, OCHE_DART_RECEIVER);
    } else {
        begin_window(d, now, true);
    }
}

/* ---- receiver: hooks ---- */

static void dart_arrived(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                         struct oche_cc_reply *reply)
{
    struct dart_flow *s = of(flow);
    struct dart_nic *d = s->nic;

    if (OCHE_UNLIKELY(oche_auss_seen(&s->member, now)) &&
        oche_auss_revive(&d->auss, &s->member, flow->peer_address,
                         weight_of(flow->params, flow->peer_address), now))
        set_changed(d, now);
    if (OCHE_UNLIKELY(now >= d->window_end))
        end_window(d, now);
    if (OCHE_UNLIKELY(packet->ecn == OCHE_ECN_CE)) {
        if (!d->marked)
            first_mark(d, now, packet->frame_bytes);
        if (d->state == OCHE_DART_NON_RECEIVER)
            oche_cc_dcqcn.arrived(flow, now, packet, reply);
    }
    /* No ACK answers READ data: who has shown only now that it knows updates gets one. */
    if (OCHE_UNLIKELY(oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE)) && flow->extended &&
        update_due(d, flow->peer_state) <= now)
        update(d, flow, now);
}

static void dart_message_begins(struct oche_cc_flow *flow, oche_time now)
{
    struct dart_nic *d = flow->nic_state;
    uint32_t sender = flow->peer_address;

    if (oche_auss_begin(&d->auss, &of(flow)->member, sender, weight_of(flow->params, sender), now))
        set_changed(d, now);
}

static void dart_message_ends(struct oche_cc_flow *flow, oche_time now)
{
    struct dart_nic *d = flow->nic_state;

    if (oche_auss_end(&d->auss, &of(flow)->member))
        set_changed(d, now);
}

/* ---- both ---- */

static void dart_timer(struct oche_cc_flow *flow, oche_time now, unsigned index,
                       struct oche_cc_reply *reply)
{
    const struct dart_nic *d = flow->nic_state;

    dcqcn_begins(flow);
    oche_cc_dcqcn.timer(flow, now, index, reply);
    dcqcn_ends(flow);
    if (d->state != OCHE_DART_NON_RECEIVER)
        reply->send_cnp = false; /* of a mark that came before the state changed */
}

static void dart_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct dart_params *p = flow->params;
    struct dart_flow *s = of(flow);

    s->flow = flow;
    s->receiver = s->sender = flow->peer_state;
    s->nic = flow->nic_state;
    s->tenant = flow->tenant;
    oche_auss_member_init(&s->member, p->soft_timeout);
    oche_cc_dcqcn.start(flow, now);
    s->limited = s->dcqcn.rp.limited;
    s->dcqcn_bps = flow->rate_bps;
    s->cap_bps = flow->line_rate_bps;
}

static void dart_stop(struct oche_cc_flow *flow)
{
    struct dart_nic *d = flow->nic_state;
    struct dart_flow *s = of(flow);

    bool others = s->active;
    deactivate(s, OCHE_NEVER);
    if (oche_auss_forget(&d->auss, &s->member))
        set_changed(d, OCHE_NEVER);
    if (others)
        oche_cc_nic_timer(d->nic, 0); /* their rates have changed */
}

static size_t dart_nic_state_size(const void *params, uint32_t max_peers)
{
    (void)params;
    return sizeof(struct dart_nic) + OCHE_CACHE_LINE + oche_auss_bytes(max_peers);
}

static void dart_nic_start(struct oche_cc_nic *nic)
{
    struct dart_nic *d = nic->state;
    size_t head = (sizeof(*d) + OCHE_CACHE_LINE - 1) & ~(size_t)(OCHE_CACHE_LINE - 1);

    d->nic = nic;
    d->told = 1;
    d->version = 1;
    d->updates_due = OCHE_NEVER;
    oche_auss_init(&d->auss, (uint8_t *)d + head, nic->max_peers);
}

struct oche_dart_view oche_dart_look(const void *nic_state)
{
    const struct dart_nic *d = nic_state;

    return (struct oche_dart_view){.state = d->state,
                                   .senders = d->auss.count,
                                   .told = d->told,
                                   .timeouts = d->auss.timeouts,
                                   .updates = d->updates};
}

static const char *dart_check(const void *params)
{
    const struct dart_params *p = params;
    uint32_t host, weight;

    for (const char *at = p->weights; at != NULL && *at != '\0';) {
        at = weight_at(at, &host, &weight);
        if (at == NULL)
            return "weights: should be host:weight, …, as in 3:2, 7:4, with weights of 1 to 1000";
    }
    if (p->line_below > p->line_above)
        return "line_below: must not be above line_above, as 0.90 is not above 0.95";
    return oche_cc_dcqcn.check(params);
}

const struct oche_cc_scheme oche_cc_dart = {
    .name = "dart",
    .paper = "Dart, ToN 2020, sec III: DASR, and DCQCN where the receiver is not the bottleneck",
    .table = {table, sizeof(table) / sizeof(table[0]), sizeof(struct dart_params)},
    .flow_state_bytes = sizeof(struct dart_flow),
    .peer_state_bytes = sizeof(struct dart_peer),
    .nic_state_size = dart_nic_state_size,
    .nic_start = dart_nic_start,
    .nic_timer = dart_nic_timer,
    .ack_opcode = OCHE_RC_ACK_SHARE,
    .own_opcode = OCHE_SHARE,
    .needs = OCHE_CC_NEEDS_ECN,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .runs_on_wire = true,
    .start = dart_start,
    .stop = dart_stop,
    .sent = dart_sent,
    .acked = dart_acked,
    .cnp = dart_cnp,
    .own = hear,
    .timer = dart_timer,
    .idle = dart_idle,
    .busy = dart_busy,
    .arrived = dart_arrived,
    .stamp_ack = dart_stamp,
    .message_begins = dart_message_begins,
    .message_ends = dart_message_ends,
    .check = dart_check,
};
