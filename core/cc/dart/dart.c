/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's congestion control (Xue et al., "Dart: Divide and Specialize for Fast Response to
 * Congestion in RDMA-Based Datacenter Networks", ToN 2020, sec III): direct apportioning of sending
 * rates (DASR) if the receiver is the bottleneck, DCQCN (dcqcn.c) if it is not. In the switches:
 * marks as for DCQCN; in-order flow deflection is the fabric's (fabric/iofd.c).
 *
 * The files of this folder:
 *   dart.c          the scheme: sender, receiver, and the table of its hooks
 *   dart_tell.c     the receiver's part that tells senders their share
 *   dart_state.h    the state of a queue pair, a peer, a tenant and a NIC
 *   dart_params.*   the parameters, the weights and the tenants' shares
 *   dart_counters.c the counters, for `oche run`, metrics and `oche exec --stats`
 *   auss.*          the Active Unique Sender Set
 *   look_ahead.*    groups of senders that are announced (sec III-D)
 *   dart.h, dart_view.c  a view of a NIC's current state, for tests and diagnosis
 * Elsewhere: core/wire/extension.h has the shares' format in packets; core/qp/send/group.c names
 * groups in packets; core/qp/send/deflection.h keeps messages apart that deflection could reorder.
 *
 * Receiver, per NIC: its AUSS (auss.c) is the set of senders with an active message, n of them.
 * Each ACK carries n. When n changes, a sender that has been sent no ACK for half a base round trip
 * gets an update, which is a packet of the scheme's own; at most one update in half a base round
 * trip goes to a sender (dart.md#d8). Two facts decide where the congestion is (Fig 5): whether
 * packets arrived with CE, and whether data arrives at line rate. Both are judged over windows
 * (dart.md#d5, #d6):
 *
 *   marks   line rate   state           n that is told    marks
 *   no      any         no congestion   AUSS              –
 *   yes     yes         receiver        AUSS              suppressed
 *   yes     no          non-receiver    1                 CNPs, by DCQCN's notification point
 *
 * Sender, per queue pair: its rate is the smaller of DCQCN's rate and its part of the sender's
 * share. The share is line/n, divided among the sender's queue pairs that have something left to
 * send to that receiver (dart.md#d2). All queue pairs begin at line rate. DCQCN's reaction point
 * ignores the share and recovers as usual (dart.md#d27).
 *
 * Where the paper is silent or is not followed:
 *   - n is also told while there are no marks (dart.md#d3). `advertise: congestion` follows Fig 5
 *     literally and oscillates: n is told only while there are marks, and telling n removes the
 *     marks.
 *   - `suppress_marks: false` leaves marks to DCQCN in all states (dart.md#d32).
 *   - The first mark after a time without marks begins a new window, because how full the link was
 *     before says nothing about the congestion that begins now. It does not if the link has been at
 *     line rate in the present window.
 *   - A window ends with the first packet after its time. If that packet comes more than a window's
 *     time late, the window counts as one without marks.
 *   - With weights a sender gets w/W of the line instead of line/n. W is the sum of the senders'
 *     weights, and the header carries W. With all weights 1, W is n.
 *   - READ (dart.md#d12): the requester receives the data. No ACKs answer the sender of the data,
 *     so the requester tells it n by updates.
 *   - Look-ahead (sec III-D): look_ahead.c. A group's senders count in the AUSS. Those that have
 *     queue pairs to us and send nothing yet are told n by updates, as others are (dart.md#d31). A
 *     sender that hears n while it is idle begins with that share; all others
 *     begin at line rate.
 *   - Tenants (sec III-E, dart.md#d15): tenant t has its own AUSS, look-ahead and n_t. Each of its
 *     senders gets share_t/S * line/n_t, where S is the sum of the shares of tenants that have
 *     senders. Fig 5's state belongs to the port, so all tenants share it. A queue pair's tenant is
 *     the one configured on its own NIC; a packet that names another tenant is void.
 *   - `stagger` paces bursts in place of packets, as applications of the testbed did (sec V-B).
 *   - With a peer that does not know the header (OCHE_BTH_EXTENSIONS) only DCQCN remains.
 */
#include "core/cc/dart/dart.h"

#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/cc/cc_headers.h"
#include "core/cc/cc_messages.h"
#include "core/cc/dart/dart_params.h"
#include "core/cc/dart/dart_state.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define VOID_IN_A_ROW 16 /* after so many shares out of sequence, the peer must have restarted */
#define EVIDENCE      8  /* a link's rate can be judged from so many packets */

/* Causes of RATE_CHANGED, in addition to DCQCN's. */
enum cause { CAUSE_SHARE = 16 };

/* ---- sender ---- */

/* Sets the window that goes with the queue pair's rate. */
static void set_window(struct dart_flow *s)
{
    struct oche_cc_flow *flow = s->flow;
    const struct dart_params *p = flow->params;

    if (p->flight == OCHE_NEVER || s->window_bps == flow->rate_bps)
        return;
    s->window_bps = flow->rate_bps;
    flow->window_bytes = oche_bytes_in_time(p->flight, flow->rate_bps);
}

/* Sets the queue pair's rate. If `now` is OCHE_NEVER, unknown, the change is not traced. */
static void set_rate(struct dart_flow *s, oche_time now)
{
    struct oche_cc_flow *flow = s->flow;
    uint64_t bps = s->cap_bps < s->dcqcn_bps ? s->cap_bps : s->dcqcn_bps;
    struct dart_nic *d = flow->nic_state;

    if (bps == flow->rate_bps)
        return;
    flow->rate_bps = bps;
    set_window(s);
    oche_cc_want(d->nic, flow, OCHE_CC_WANTS_LOOK);
    if (now != OCHE_NEVER)
        oche_trace_emit(flow->trace, now, OCHE_TRACE_RATE_CHANGED, flow->qpn, CAUSE_SHARE, bps);
}

/*
 * Returns the rate limit of a queue pair that divides the share with others, `parts` in all. A
 * share of our port's rate or more is no limit, and none is less than least_rate: the receiver says
 * n, and may say anything (dart.md#d29).
 */
static uint64_t cap_of(const struct dart_peer *peer, const struct oche_cc_flow *flow,
                       uint32_t parts)
{
    const struct dart_params *p = flow->params;
    const struct dart_nic *d = flow->nic_state;
    uint64_t own = flow->line_rate_bps, theirs = flow->peer_line_rate_bps;
    uint64_t line = p->share_line == SHARE_RECEIVER || theirs < own ? theirs : own;
    uint64_t share = line;

    if (peer->senders > 1) {
        uint64_t weight = (uint64_t)dart_weight_of(p, d->nic->address) * dart_fractions(p);
        if (weight < peer->senders)
            share = (uint64_t)(p->fill * (double)line * (double)weight / (double)peer->senders);
    }
    if (share >= own)
        return own;
    share /= parts;
    if (share < p->least_rate)
        share = p->least_rate < own ? p->least_rate : own;
    return share;
}

/*
 * Updates all rates after a change of the share or of the set of queue pairs that divide it. One
 * that only waits for ACKs takes nothing from the others; its limit is what it would have if it
 * sent again, so that its next packet does not come too early.
 */
static void spread(struct dart_peer *peer, oche_time now)
{
    if (peer->active == NULL)
        return;
    const uint32_t count = peer->sending_count;
    uint64_t waiting = cap_of(peer, peer->active->flow, count + 1);
    uint64_t sending = count > 0 ? cap_of(peer, peer->active->flow, count) : waiting;
    for (struct dart_flow *s = peer->active; s != NULL; s = s->next) {
        s->cap_bps = s->sending ? sending : waiting;
        set_rate(s, now);
    }
}

/*
 * True if an idle sender was told its share ahead of its first packet (sec III-D), and not so long
 * ago that the receiver no longer counts it.
 */
static bool knows_ahead(const struct dart_peer *peer, const struct dart_params *p, oche_time now)
{
    return p->look_ahead && p->look_ahead_updates && peer->senders > 0 &&
           now < oche_time_add(peer->heard_at, p->look_ahead_timeout);
}

static void activate(struct dart_flow *s, oche_time now)
{
    struct dart_peer *peer = s->receiver;

    if (peer->active_count == 0 && !knows_ahead(peer, s->flow->params, now)) {
        peer->senders = 0;   /* all queue pairs begin at line rate */
        peer->heard = false; /* the peer may have forgotten us, and so its sequence number */
    }
    s->active = true;
    s->before = NULL;
    s->next = peer->active;
    if (s->next != NULL)
        s->next->before = s;
    peer->active = s;
    peer->active_count++;
    s->sending = s->flow->more;
    peer->sending_count += s->sending;
    spread(peer, now);
}

static void deactivate(struct dart_flow *s, oche_time now)
{
    struct dart_peer *peer = s->receiver;

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
    peer->sending_count -= s->sending;
    s->sending = false;
    s->cap_bps = s->flow->line_rate_bps;
    set_rate(s, now);
    if (peer->active_count == 0)
        peer->senders = 0; /* the peer's count, from the time of our messages, is no longer valid */
    spread(peer, now);
}

/*
 * Handles a share from the receiver. Ignores a share that a later one overtook, or that is not
 * ours.
 */
static void hear(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet)
{
    struct dart_peer *peer = dart_of(flow)->receiver;
    const struct oche_share share = oche_share_get(packet);

    if (share.senders == 0 || share.tenant != flow->tenant)
        return;
    if (peer->heard && (int8_t)(share.sequence - peer->heard_sequence) <= 0 &&
        ++peer->void_count < VOID_IN_A_ROW)
        return;
    peer->heard = true;
    peer->void_count = 0;
    peer->heard_sequence = share.sequence;
    peer->heard_at = now;
    if (share.senders == peer->senders)
        return;
    peer->senders = share.senders;
    spread(peer, now);
}

/* Called before and after DCQCN's hooks, which read and set DCQCN's own rate. */
static void dcqcn_begins(struct oche_cc_flow *flow)
{
    flow->rate_bps = dart_of(flow)->dcqcn_bps;
}

static void dcqcn_ends(struct oche_cc_flow *flow)
{
    struct dart_flow *s = dart_of(flow);

    s->limited = s->dcqcn.rp.limited;
    s->dcqcn_bps = flow->rate_bps;
    if (s->cap_bps < flow->rate_bps)
        flow->rate_bps = s->cap_bps;
    set_window(s);
}

/* Asks for an ACK, which brings n, if no ACK was asked for recently (dart.md#d8). */
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

/*
 * Lets packets of a burst leave without gaps. The queue pair then waits for as long as the gaps
 * would have taken (dart.md#d37).
 */
static OCHE_NOINLINE void stagger(struct oche_cc_flow *flow, struct dart_flow *s,
                                  const struct oche_packet *packet)
{
    const struct dart_params *p = flow->params;

    s->together += packet->payload_bytes;
    flow->burst = s->together < p->stagger_bytes;
    if (!flow->burst)
        s->together = 0;
}

static void dart_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                      uint64_t line_bytes)
{
    struct dart_flow *s = dart_of(flow);

    if (OCHE_UNLIKELY(!s->active) && packet->payload_bytes > 0 && !s->idle)
        activate(s, now);
    ask(flow, s, now, packet);
    if (OCHE_UNLIKELY(((const struct dart_params *)flow->params)->stagger_bytes > 0))
        stagger(flow, s, packet);
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
    if (OCHE_LIKELY(!ack->ecn_echo))
        return;
    dcqcn_begins(flow);
    oche_cc_dcqcn.acked(flow, now, ack);
    dcqcn_ends(flow);
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
    dart_of(flow)->idle = true;
    deactivate(dart_of(flow), now);
}

static void dart_busy(struct oche_cc_flow *flow, oche_time now)
{
    dcqcn_begins(flow);
    oche_cc_dcqcn.busy(flow, now);
    dcqcn_ends(flow);
    dart_of(flow)->idle = false;
}

static void dart_more(struct oche_cc_flow *flow, oche_time now)
{
    struct dart_flow *s = dart_of(flow);
    const bool sending = flow->more && s->active;

    if (sending == s->sending)
        return;
    s->sending = sending;
    if (sending)
        s->receiver->sending_count++;
    else
        s->receiver->sending_count--;
    spread(s->receiver, now);
}

/* ---- receiver: where the congestion is ---- */

static void enter(struct dart_nic *d, oche_time now, enum oche_dart_state state)
{
    if (state == d->state)
        return;
    d->state = state;
    dart_tell_all(d, now);
}

static void begin_window(struct dart_nic *d, oche_time now, bool marked)
{
    const struct dart_params *p = d->nic->params;

    d->window_start = now;
    d->window_end = now + (p->window > p->base_rtt ? p->window : p->base_rtt);
    d->window_bytes = dart_received(d);
    d->marked = marked;
}

/* Returns the bits per second on the line since the window began. */
static uint64_t throughput(const struct dart_nic *d, oche_time now)
{
    return oche_rate_of(dart_received(d) - d->window_bytes, now - d->window_start);
}

/*
 * Lowers the value that the tenant's senders are told instead of n: all senders together use only
 * the fraction `used` of the line.
 */
static void grant(struct dart_nic *d, struct dart_set *set, oche_time now, double used)
{
    double line = dart_fractions(d->nic->params), senders = set->said->told * used;

    if (set->said->told <= line)
        return;
    set->granted = (uint32_t)(senders < line ? line : senders + 0.5);
    dart_tell(d, set, now);
}

/*
 * If part of the line has stayed unused for some windows, tells senders a smaller n, so that
 * senders that have more to send do so (dart.md#d4).
 */
static void give_slack(struct dart_nic *d, oche_time now, double used)
{
    const struct dart_params *p = d->nic->params;

    if (!p->work_conserving || d->state != OCHE_DART_NONE || d->at_line) {
        d->slack_windows = 0;
        return;
    }
    if (++d->slack_windows < p->work_conserving_windows)
        return;
    d->slack_windows = 0;
    for (uint32_t i = 0; i < d->set_count; i++)
        grant(d, &d->sets[i], now, used);
}

/*
 * Tells all senders n again instead of `granted`, because no part of the line is unused any more.
 */
static void take_back_slack(struct dart_nic *d, oche_time now)
{
    for (uint32_t i = 0; i < d->set_count; i++) {
        if (d->sets[i].granted == 0)
            continue;
        d->sets[i].granted = 0;
        dart_tell(d, &d->sets[i], now);
    }
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

/* Handles the first mark of a window. */
static void first_mark(struct dart_nic *d, oche_time now, uint32_t frame_bytes)
{
    const struct dart_params *p = d->nic->params;
    uint64_t bytes = dart_received(d) - d->window_bytes;
    double line = p->line_above * (double)d->nic->line_rate_bps;

    d->marked = true;
    take_back_slack(d, now);
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
    struct dart_flow *s = dart_of(flow);
    struct dart_nic *d = s->nic;

    if (OCHE_UNLIKELY(oche_auss_seen(&s->member, now)) &&
        oche_auss_revive(&s->set->auss, &s->member, flow->peer_address,
                         dart_weight_of(flow->params, flow->peer_address), now))
        dart_set_changed(d, s->set, now);
    if (OCHE_UNLIKELY(now >= d->window_end))
        end_window(d, now);
    if (OCHE_UNLIKELY(packet->ecn == OCHE_ECN_CE)) {
        if (!d->marked)
            first_mark(d, now, packet->frame_bytes);
        if (dart_answers_marks(d))
            oche_cc_dcqcn.arrived(flow, now, packet, reply);
    }
    /*
     * READ data gets no ACK, so its sender needs an update, if it is known to understand updates.
     */
    if (OCHE_UNLIKELY(oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE)) && flow->extended &&
        dart_update_due(s, false) <= now)
        dart_update(d, flow, now);
}

static void dart_message_begins(struct oche_cc_flow *flow, oche_time now)
{
    struct dart_flow *s = dart_of(flow);
    uint32_t sender = flow->peer_address;

    s->sender->told_ahead = false;
    if (flow->extended)
        s->sender->voice = s;
    if (oche_auss_begin(&s->set->auss, &s->member, sender, dart_weight_of(flow->params, sender),
                        now))
        dart_set_changed(s->nic, s->set, now);
}

static void dart_message_ends(struct oche_cc_flow *flow, oche_time now)
{
    const struct dart_params *p = flow->params;
    struct dart_flow *s = dart_of(flow);

    if (p->linger > 0) {
        oche_auss_linger(&s->set->auss, &s->member, oche_time_add(now, p->linger));
        dart_rearm(s->nic);
        return;
    }
    if (oche_auss_end(&s->set->auss, &s->member))
        dart_set_changed(s->nic, s->set, now);
}

static void dart_group(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                       bool begins)
{
    const struct dart_params *p = flow->params;
    struct dart_flow *s = dart_of(flow);
    const struct oche_group group = oche_group_get(packet);
    const struct oche_look_facts facts = {.own = s->nic->nic->address,
                                          .shared_addresses = s->nic->nic->shared_addresses,
                                          .weight = dart_weight_of,
                                          .params = p};

    if (!p->look_ahead)
        return;
    if (oche_group_tenant(packet) != flow->tenant) {
        s->nic->void_groups += group.count > 0;
        return;
    }
    if (oche_look_ahead_take(&s->set->look, &s->set->auss, &group, flow->peer_address, begins,
                             &facts, now))
        dart_set_changed(s->nic, s->set, now);
    else
        dart_rearm(s->nic);
}

/* ---- both ---- */

static void dart_timer(struct oche_cc_flow *flow, oche_time now, unsigned index,
                       struct oche_cc_reply *reply)
{
    const struct dart_nic *d = flow->nic_state;

    dcqcn_begins(flow);
    oche_cc_dcqcn.timer(flow, now, index, reply);
    dcqcn_ends(flow);
    if (!dart_answers_marks(d))
        reply->send_cnp = false; /* the CNP answers a mark that came before the state changed */
}

static void dart_start(struct oche_cc_flow *flow, oche_time now)
{
    const struct dart_params *p = flow->params;
    struct dart_flow *s = dart_of(flow);

    s->flow = flow;
    s->nic = flow->nic_state;
    uint32_t set = flow->tenant < s->nic->set_count ? flow->tenant : 0;
    s->set = &s->nic->sets[set];
    s->said = s->set->said;
    s->receiver = s->sender = (struct dart_peer *)flow->peer_state + set;
    flow->names_groups = p->look_ahead;
    oche_auss_member_init(&s->member, p->soft_timeout);
    oche_cc_dcqcn.start(flow, now);
    s->limited = s->dcqcn.rp.limited;
    s->dcqcn_bps = flow->rate_bps;
    s->cap_bps = flow->line_rate_bps;
    set_window(s);
}

static void dart_stop(struct oche_cc_flow *flow)
{
    struct dart_nic *d = flow->nic_state;
    struct dart_flow *s = dart_of(flow);

    bool others = s->active;
    if (s->sender->voice == s)
        s->sender->voice = NULL;
    deactivate(s, OCHE_NEVER);
    if (oche_auss_forget(&s->set->auss, &s->member))
        dart_set_changed(d, s->set, OCHE_NEVER);
    if (others)
        oche_cc_nic_timer(d->nic, 0); /* their rates have changed */
}

static bool dart_names_groups(const void *params)
{
    return ((const struct dart_params *)params)->look_ahead;
}

/* Returns for how many senders of one tenant look-ahead has room. */
static uint32_t places(const struct dart_params *p)
{
    return p->look_ahead ? (uint32_t)p->look_ahead_senders : 0;
}

static size_t dart_tables_bytes(const void *params, uint32_t max_peers)
{
    const struct dart_params *p = params;
    size_t tenant = oche_auss_bytes(max_peers + places(p)) + oche_look_ahead_bytes(places(p));

    return oche_lines(p->tenants * sizeof(struct dart_said)) +
           oche_lines(p->tenants * sizeof(struct dart_set)) + p->tenants * tenant;
}

static size_t dart_peer_bytes(const void *params)
{
    return ((const struct dart_params *)params)->tenants * sizeof(struct dart_peer);
}

static void dart_nic_start(struct oche_cc_nic *nic)
{
    const struct dart_params *p = nic->params;
    struct dart_nic *d = nic->state;
    struct dart_said *said = nic->tables;
    uint8_t *at = (uint8_t *)nic->tables + oche_lines(p->tenants * sizeof(*said));

    d->nic = nic;
    d->updates_due = OCHE_NEVER;
    d->ahead_credit = DART_AHEAD_BURST;
    d->set_count = (uint32_t)p->tenants;
    d->sets = (void *)at;
    at += oche_lines(d->set_count * sizeof(struct dart_set));
    for (uint32_t i = 0; i < d->set_count; i++) {
        struct dart_set *set = &d->sets[i];
        *set =
            (struct dart_set){.said = i == 0 ? &d->said : &said[i], .share = dart_share_of(p, i)};
        *set->said = (struct dart_said){.told = dart_fractions(p), .version = 1};
        oche_auss_init(&set->auss, at, nic->max_peers + places(p));
        at += oche_auss_bytes(nic->max_peers + places(p));
        oche_look_ahead_init(&set->look, at, places(p), p->look_ahead_timeout);
        at += oche_look_ahead_bytes(places(p));
    }
}

static enum oche_cc_marks marks(const void *nic_state)
{
    const struct dart_nic *d = nic_state;

    if (dart_answers_marks(d))
        return OCHE_CC_MARKS_ANSWERED;
    return d->state == OCHE_DART_RECEIVER ? OCHE_CC_MARKS_SUPPRESSED : OCHE_CC_MARKS_UNDECIDED;
}

static const struct oche_cc_nic_hooks nic_hooks = {
    .start = dart_nic_start,
    .timer = dart_nic_timer,
    .marks = marks,
    .peer_bytes = dart_peer_bytes,
    .tables_bytes = dart_tables_bytes,
    .sender_line = OCHE_CACHE_LINE,
    .receiver_line = 2 * OCHE_CACHE_LINE,
};

static const struct oche_cc_messages messages = {
    .begins = dart_message_begins,
    .ends = dart_message_ends,
    .more = dart_more,
    .names_groups = dart_names_groups,
    .group = dart_group,
};

static const struct oche_cc_counting counting = {
    .counts = dart_counts,
    .senders = dart_senders,
    .elsewhere = dart_elsewhere,
};

static const struct oche_cc_headers headers = {
    .ack_opcode = OCHE_RC_ACK_SHARE,
    .own_opcode = OCHE_SHARE,
    .own = hear,
};

static const struct oche_cc_advice advice = {
    .check_hosts = dart_check_hosts,
    .derived = dcqcn_derived,
    .fit = dart_fit,
};

const struct oche_cc_scheme oche_cc_dart = {
    .name = "dart",
    .paper = "Dart, ToN 2020, sec III: DASR, and DCQCN where the receiver is not the bottleneck",
    .table = OCHE_PARAM_TABLE_DEPLOYED(dart_param_rows, struct dart_params, dcqcn_deployed),
    .check = dart_check,
    .counters = &dart_counters,
    .flow_state_bytes = sizeof(struct dart_flow),
    .nic_state_bytes = sizeof(struct dart_nic),
    .needs = OCHE_CC_NEEDS_ECN,
    .transports = OCHE_CC_RC | OCHE_CC_UC,
    .runs_on_wire = true,
    .start = dart_start,
    .stop = dart_stop,
    .sent = dart_sent,
    .acked = dart_acked,
    .cnp = dart_cnp,
    .timer = dart_timer,
    .idle = dart_idle,
    .busy = dart_busy,
    .arrived = dart_arrived,
    .stamp_ack = dart_stamp,
    .nic = &nic_hooks,
    .messages = &messages,
    .counting = &counting,
    .headers = &headers,
    .advice = &advice,
};
