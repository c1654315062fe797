/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selective repeat as in IRN (Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018;
 * irn.md#loss-recovery): the receiver keeps packets that arrive behind a gap, each NAK tells which
 * packets have arrived, and the sender sends only the missing packets.
 *
 *   Receiver   a packet behind a gap is kept if it lies within the window and names the place of
 *              its payload. Whether it is kept or not, it is answered with a NAK for the expected
 *              PSN, which also tells which packets have arrived behind that PSN (SACK). A duplicate
 *              is answered with an ACK.
 *   Sender     a NAK begins a recovery. It covers the PSNs up to the highest one sent so far and
 *              ends when all of them are acknowledged. The sender sends the packet that the NAK
 *              names; then each packet that has not arrived although a later one has, once; then
 *              new packets, as far as the window allows. Only the timer finds a packet that is lost
 *              twice.
 *   Window     the most PSNs outstanding, a bandwidth-delay product (BDP-FC).
 *   Timer      rto_low while few packets are outstanding, so that the loss of a message's last
 *              packets costs little time; otherwise rto_high. When it expires, the oldest packet is
 *              sent again.
 *
 * Where this differs from IRN, or IRN leaves a choice:
 *   - A SACK covers all PSNs up to the last packet that arrived, even if that packet could not be
 *     kept (a READ request, a SEND without a receive). So the sender counts packets that were not
 *     kept as lost.
 *   - A timeout tells only that the oldest packet is missing, and the sender sends that packet a
 *     second time. When an ACK for the second transmission arrives, all packets sent before it have
 *     arrived or are lost, because packets of a connection take one path. So the sender sends every
 *     packet again that is not known to have arrived, at once; IRN waits for the timer for each of
 *     them. In a recovery that began with a NAK, packets may still be on their way, so only packets
 *     below the highest PSN that has arrived count as lost.
 *   - A receiver that closes one gap and knows of another one sends a NAK instead of an ACK. The
 *     NAK acknowledges the same packets, and its SACK replaces earlier NAKs that may have been
 *     lost.
 *   - Where payloads of kept packets are written to memory at once, as in IRN, an application must
 *     not wait for the last byte of a message in memory instead of a completion. On the wire they
 *     are held until their turn comes (core/qp/placement.h).
 *   - Timeouts do not back off, unless they are measured. When the retries are used up, the
 *     connection's ACK timeout applies.
 *   - rto=measured takes the timeout from round trips, as TCP does (RFC 6298), for networks whose
 *     round trip nobody knows before: SRTT + 4 RTTVAR; rto_high, or the ACK timeout if that is
 *     less, until the first round trip is known; twice as long after each timeout without progress,
 *     up to the connection's ACK timeout, as a peer that is gone must be given up in time. The
 *     second term is at least rto_low and half of SRTT: where a queue is always there, round trips
 *     are so alike that RTTVAR is nearly nothing, and a few packets more in the queue would be a
 *     timeout. The sum is at most rto_most, or the ACK timeout if that is more: a process that was
 *     stopped for seconds makes round trips of seconds.
 *   - With `undo` a timeout may turn out to have been early (RFC 5682; RFC 3522 asks for time
 *     stamps, which RoCE has not). `touched` is where the PSNs end that were sent again since, or
 *     that a SACK has told of. Packets of a connection take one path, so whoever acknowledges more
 *     than that has had una before what lies behind it, or would have sent a NAK for una. Then
 *     nothing more is sent again, and the wait is taken for a round trip (RFC 4015 sec 3). Lost
 *     ACKs look the same, and so does a loss of which no NAK told: all of them were lost, or the
 *     peer was away until the repair came. Of one packet outstanding nothing can be said.
 *
 * With a peer that does not know the extensions both halves work as Go-Back-N: the receiver drops
 * the packets behind a gap and sends one NAK per gap; the sender resumes at the PSN that the NAK
 * names.
 */
#include "core/recovery/selective_repeat.h"

#include "core/recovery/psn_bitmap.h"
#include "core/wire/opcode.h"

#define SACK_BITS 64

struct selective_tx {
    oche_time srtt, rttvar; /* srtt 0: nothing was measured */
    uint8_t backoff;        /* timeouts since the last progress, up to MOST_BACKOFF */
    bool extended;          /* the peer knows the extensions */
    bool recovering;        /* if false, the next members, up to lost_end, are not valid */
    bool after_timeout;     /* recovery began with a timeout, and there is no progress yet */
    bool again;             /* una must be sent again before anything else */
    uint32_t end;           /* recovery ends when una reaches it */
    uint32_t walk;          /* lost packets below this PSN have been sent again */
    uint32_t lost_end;      /* packets below this PSN that have not arrived are lost */
    uint32_t floor;         /* the bits of all PSNs below this one are 0 */
    bool any;               /* some bit of the bitmap may be 1 */
    bool doubted;           /* the next members are valid: a timeout may have been early */
    uint32_t doubt_end;     /* one past the highest PSN sent before it */
    uint32_t touched;       /* one past the highest of these sent again, or known from a SACK */
    oche_time doubt_since;  /* when the wait for the ACK began */
    struct oche_psn_bitmap arrived;
};

struct selective_rx {
    bool extended;
    bool naked; /* without extensions: a NAK for nak_psn has been sent */
    bool gap;   /* a packet from behind the expected PSN has come: highest and new_* are valid */
    uint32_t nak_psn;
    uint32_t highest; /* one past the highest PSN that arrived, kept or not */
    /* range of the arrivals that were not reported yet; may be empty */
    uint32_t new_first, new_end;
    struct oche_psn_bitmap kept;
};

/* The values of IRN, whose network has a round trip of 24 us at 40 Gbit/s (irn.md#parameters). */
#define IRN_WINDOW   110
#define IRN_RTO_LOW  (100 * OCHE_US)
#define IRN_RTO_HIGH (320 * OCHE_US)
#define ROUND_TRIPS  4 /* in rto_low, as there */
#define MOST_BACKOFF 6 /* 64 times the timeout, if the ACK timeout is as long */

static const char *const rto_names[] = {"fixed", "measured", NULL};

static const struct oche_param selective_params[] = {
    OCHE_PRESET_ROW(struct oche_selective_repeat_params),
    {OCHE_PARAM(struct oche_selective_repeat_params, window),
     OCHE_IS_COUNT(IRN_WINDOW, 1, OCHE_PSN_BITMAP_BITS), .zero_is_auto = true,
     .where = "IRN sec 3.2; irn.md#window",
     .help =
         "packets outstanding at most, and kept behind a gap; auto: the bandwidth-delay product "
         "of the longest round trip, at least 110"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_low),
     OCHE_IS_TIME(IRN_RTO_LOW, OCHE_US, OCHE_NEVER), .zero_is_auto = true,
     .where = "IRN sec 3.1; value: irn.md#parameters",
     .help = "timeout while few packets are outstanding; auto: four of the longest round trips, at "
             "least 100us; on the wire milliseconds"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_high),
     OCHE_IS_TIME(IRN_RTO_HIGH, OCHE_US, OCHE_NEVER), .zero_is_auto = true,
     .where = "IRN sec 3.1; value: irn.md#parameters",
     .help = "timeout while more are outstanding: the longest round-trip time that queues make; "
             "auto: 220us more than an automatic rto_low, or than rto_low if that is more"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto),
     OCHE_IS_CHOICE(OCHE_SELECTIVE_RTO_FIXED, rto_names),
     .where = "fixed: IRN sec 3.1; measured: RFC 6298 sec 2",
     .help = "fixed: rto_low and rto_high are the timeouts; measured: by round trips, longer than "
             "those by at least rto_low; rto_high until one is known"},
    {OCHE_PARAM(struct oche_selective_repeat_params, rto_most),
     OCHE_IS_TIME(OCHE_NEVER, OCHE_US, OCHE_NEVER),
     .where = "RFC 6298 sec 2.5; our choice (on the wire 1s)",
     .help = "a measured timeout is at most this, or the ACK timeout if that is more"},
    {OCHE_PARAM(struct oche_selective_repeat_params, undo), OCHE_IS_BOOL(false),
     .where = "RFC 5682 sec 3; RFC 4015 sec 3",
     .help = "after a timeout, if an ACK shows that packets were late and not lost, the rest of "
             "them is not sent again, and congestion control is told; on the wire true"},
    {OCHE_PARAM(struct oche_selective_repeat_params, few_packets),
     OCHE_IS_COUNT(3, 0, OCHE_PSN_BITMAP_BITS), .where = "IRN sec 3.1; irn.md#timeouts",
     .help = "rto_low applies while at most this many packets are outstanding; 0: always "
             "rto_high"},
};

static const struct oche_deployed in_use[] = {
    {"window", {.u = 0}}, {"rto_low", {.u = 0}}, {"rto_high", {.u = 0}}};

static void selective_fit(void *values, const struct oche_recovery_network *network)
{
    struct oche_selective_repeat_params *params = values;
    oche_time low = (ROUND_TRIPS * network->round_trip + OCHE_US - 1) / OCHE_US * OCHE_US;
    uint64_t window = network->packets > IRN_WINDOW ? network->packets : IRN_WINDOW;

    if (params->window == 0)
        params->window = window < OCHE_PSN_BITMAP_BITS ? window : OCHE_PSN_BITMAP_BITS;
    low = oche_time_max(IRN_RTO_LOW, low);
    if (params->rto_low == 0)
        params->rto_low = low;
    if (params->rto_high == 0)
        params->rto_high =
            oche_time_add(oche_time_max(low, params->rto_low), IRN_RTO_HIGH - IRN_RTO_LOW);
}

static const char *selective_remark(const void *values, const struct oche_recovery_network *network)
{
    const struct oche_selective_repeat_params *params = values;

    const bool fixed = params->rto == OCHE_SELECTIVE_RTO_FIXED;

    if (fixed && params->few_packets > 0 && params->rto_low < network->round_trip)
        return "more than rto_low, so that packets are sent again that have arrived";
    if (params->rto_high < network->round_trip)
        return "more than rto_high, so that packets are sent again that have arrived";
    if (params->window < network->packets)
        return params->window < OCHE_PSN_BITMAP_BITS
                   ? "more than window, so that the link is never full"
                   : "more than window can be (4,096), so that one queue pair never fills the link";
    return NULL;
}

/* ---- sender ---- */

static uint32_t later(uint32_t a, uint32_t b)
{
    return oche_psn_diff(a, b) >= 0 ? a : b;
}

/* Sets tx->next to the PSN that leaves next: the oldest lost PSN; if there is none, a new one. */
static void plan(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (state->again) {
        tx->next = tx->una;
        return;
    }
    uint32_t from = later(state->walk, tx->una);
    uint32_t hole = oche_psn_first_clear(&state->arrived, from, state->lost_end);
    tx->next = oche_psn_diff(hole, state->lost_end) < 0 ? hole : tx->high;
    state->walk = later(from, hole);
}

static void begin_recovery(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    state->recovering = true;
    state->after_timeout = state->again = false;
    state->end = tx->high;
    state->walk = state->lost_end = tx->una;
}

static void end_recovery(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    state->recovering = false;
    tx->next = tx->high;
}

/* Forgets which packets have arrived. */
static void forget(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (state->any)
        state->arrived = (struct oche_psn_bitmap){0};
    state->any = false;
    state->floor = tx->una;
}

/* Clears the bits below una, which has moved on. */
static void lift_floor(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (OCHE_UNLIKELY(state->any)) {
        oche_psn_clear(&state->arrived, state->floor, (tx->una - state->floor) & OCHE_PSN_MASK);
        state->any = oche_psn_diff(state->lost_end, tx->una) > 0;
    }
    state->floor = tx->una;
}

/*
 * The peer turns out to know the extensions. If Go-Back-N has just gone back to una, that may be a
 * READ whose responses are missing: no SACK tells of it, so una is sent again whatever comes.
 */
static void selective_extend(struct oche_recovery_tx *tx, struct oche_recovery_rx *rx)
{
    struct selective_tx *state = tx->state;

    state->extended = true;
    ((struct selective_rx *)rx->state)->extended = true;
    if (tx->next == tx->high || tx->next != tx->una)
        return;
    begin_recovery(tx, state);
    state->lost_end = tx->high;
    state->again = true;
}

static void selective_acked(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)now;
    state->backoff = 0;
    lift_floor(tx, state);
    if (OCHE_LIKELY(!state->recovering))
        return;
    state->again = false;
    if (oche_psn_diff(tx->una, state->end) < 0) {
        if (state->after_timeout)
            state->lost_end = later(state->lost_end, state->end);
        plan(tx, state);
    } else if (oche_psn_diff(state->lost_end, tx->una) > 0) {
        /* more packets have been lost meanwhile, so the next recovery begins */
        state->end = tx->high;
        state->after_timeout = false;
        plan(tx, state);
    } else {
        end_recovery(tx, state);
    }
}

/* Makes una the next packet to be sent, even if it is marked as arrived. */
static void send_una_again(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (!state->recovering)
        begin_recovery(tx, state);
    if (tx->una != tx->high)
        state->lost_end = later(state->lost_end, oche_psn_add(tx->una, 1));
    state->again = tx->una != tx->high;
    plan(tx, state);
}

/*
 * With a peer that knows the extensions: handles a gap in the responses, which begins at una and
 * which no SACK describes. Responses behind the gap are not kept, so all READs from una on must be
 * requested again. A PSN does not show whether it belongs to a READ, so all other packets from una
 * on are sent again too, even if they have arrived.
 */
static void selective_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)now;
    if (!state->extended) {
        tx->next = psn;
        return;
    }
    forget(tx, state);
    send_una_again(tx, state);
    state->lost_end = tx->high;
    state->walk = tx->una;
    plan(tx, state);
}

static void selective_rnr_over(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)now;
    if (!state->extended) {
        tx->next = tx->una;
        return;
    }
    uint32_t lost_end = state->recovering ? state->lost_end : tx->una;
    begin_recovery(tx, state);
    /*
     * If una is marked as arrived, then its ACK was lost, or its packet waits for a receive, or a
     * SACK was wrong. So the bitmap cannot be trusted.
     */
    if (oche_psn_has(&state->arrived, tx->una))
        forget(tx, state);
    else
        state->lost_end = later(lost_end, tx->una);
    state->after_timeout = true;
    send_una_again(tx, state);
}

/* Returns the measured timeout, without what follows from timeouts in a row. */
static oche_time base_rto(const struct oche_selective_repeat_params *params,
                          const struct selective_tx *state)
{
    const oche_time low = params->rto_low != 0 ? params->rto_low : IRN_RTO_LOW;

    if (state->srtt == 0)
        return params->rto_high != 0 ? params->rto_high : IRN_RTO_HIGH;
    return state->srtt + oche_time_max(low, oche_time_max(4 * state->rttvar, state->srtt / 2));
}

/* A timeout that follows one which is doubted already belongs to it. */
static void begin_doubt(struct oche_recovery_tx *tx, struct selective_tx *state, oche_time now)
{
    const struct oche_selective_repeat_params *params = tx->params;
    const oche_time waited =
        oche_time_min(base_rto(params, state), oche_time_min(params->rto_most, now));

    if (!params->undo || state->doubted)
        return;
    state->doubted = true;
    state->doubt_end = tx->high;
    state->doubt_since = now - waited;
    state->touched = state->recovering ? later(tx->una, state->lost_end) : tx->una;
}

/* Notes that what lies before `end` says nothing about the timeout that is doubted. */
static void touch(struct selective_tx *state, uint32_t end)
{
    if (OCHE_UNLIKELY(state->doubted))
        state->touched = later(state->touched, end);
}

static void selective_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;

    begin_doubt(tx, state, now);
    if (state->backoff < MOST_BACKOFF)
        state->backoff++;
    selective_rnr_over(tx, now);
}

static void selective_answered(struct oche_recovery_tx *tx, uint32_t end)
{
    touch(tx->state, end);
}

static enum oche_timeout_was selective_judge(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;
    const oche_time waited = now - state->doubt_since;

    if (!state->doubted)
        return OCHE_TIMEOUT_RIGHT;
    state->doubted = oche_psn_diff(state->touched, state->doubt_end) < 0;
    if (!state->doubted)
        return OCHE_TIMEOUT_RIGHT;
    if (oche_psn_diff(tx->una, state->touched) <= 0)
        return OCHE_TIMEOUT_DOUBTFUL;
    state->doubted = false;
    if (!state->extended) {
        tx->next = tx->high;
    } else if (state->recovering) {
        state->after_timeout = false;
        if (oche_psn_diff(state->lost_end, state->touched) > 0)
            state->lost_end = state->touched;
    }
    state->srtt = oche_time_max(state->srtt, waited);
    state->rttvar = oche_time_max(state->rttvar, waited / 2);
    return OCHE_TIMEOUT_EARLY;
}

static bool selective_sacked(struct oche_recovery_tx *tx, uint32_t psn,
                             const struct oche_sack *sack, oche_time now)
{
    struct selective_tx *state = tx->state;
    uint32_t end = oche_psn_add(sack->first, sack->count);
    bool begins = !state->recovering;

    (void)now;
    if (begins)
        begin_recovery(tx, state);
    state->walk = later(state->walk, psn);
    state->lost_end = later(state->lost_end, oche_psn_add(psn, 1));
    if (oche_psn_diff(end, tx->una) <= OCHE_PSN_BITMAP_BITS) {
        for (uint64_t bits = sack->bits; bits != 0; bits &= bits - 1)
            oche_psn_set(&state->arrived,
                         oche_psn_add(sack->first, (uint32_t)__builtin_ctzll(bits)));
        state->any |= sack->bits != 0;
        state->lost_end = later(state->lost_end, end);
        touch(state, end);
    }
    plan(tx, state);
    return begins;
}

static void selective_sent(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)last;
    (void)now;
    if (OCHE_UNLIKELY(state->doubted) && oche_psn_diff(psn, state->doubt_end) < 0)
        touch(state, tx->next);
    if (OCHE_LIKELY(!state->recovering))
        return;
    if (psn == tx->una)
        state->again = false;
    if (oche_psn_diff(psn, state->lost_end) < 0)
        state->walk = later(state->walk, tx->next);
    plan(tx, state);
}

/* ---- timeouts ---- */

static bool selective_wants_rtt(const void *params)
{
    return ((const struct oche_selective_repeat_params *)params)->rto ==
           OCHE_SELECTIVE_RTO_MEASURED;
}

/* RFC 6298 sec 2.2, 2.3: alpha is 1/8, beta 1/4. */
static void selective_measured(struct oche_recovery_tx *tx, oche_time rtt)
{
    struct selective_tx *state = tx->state;

    if (state->srtt == 0) {
        state->srtt = rtt;
        state->rttvar = rtt / 2;
        return;
    }
    const oche_time off = rtt > state->srtt ? rtt - state->srtt : state->srtt - rtt;

    state->rttvar = state->rttvar - state->rttvar / 4 + off / 4;
    state->srtt = state->srtt - state->srtt / 8 + rtt / 8;
}

static oche_time measured_rto(const struct oche_selective_repeat_params *params,
                              const struct selective_tx *state, oche_time most)
{
    oche_time rto = oche_time_min(base_rto(params, state), oche_time_max(params->rto_most, most));

    if (state->srtt == 0)
        rto = oche_time_min(rto, most);
    if (rto >= most)
        return rto;
    return most >> state->backoff < rto ? most : rto << state->backoff;
}

static oche_time selective_rto(const struct oche_recovery_tx *tx, oche_time most)
{
    const struct oche_selective_repeat_params *params = tx->params;
    uint32_t outstanding = (tx->high - tx->una) & OCHE_PSN_MASK;

    if (params->rto == OCHE_SELECTIVE_RTO_MEASURED)
        return measured_rto(params, tx->state, most);
    if (outstanding <= params->few_packets)
        return params->rto_low != 0 ? params->rto_low : IRN_RTO_LOW;
    return params->rto_high != 0 ? params->rto_high : IRN_RTO_HIGH;
}

static uint32_t selective_window(const void *params)
{
    uint64_t window = ((const struct oche_selective_repeat_params *)params)->window;

    return window != 0 ? (uint32_t)window : IRN_WINDOW;
}

/* ---- receiver ---- */

/*
 * Returns the verdict on a packet behind a gap from a peer without extensions, and asks for one NAK
 * per gap.
 */
static enum oche_verdict arrived_plain(struct oche_recovery_rx *rx, struct selective_rx *state,
                                       struct oche_recovery_reply *reply)
{
    if (state->naked && state->nak_psn == rx->epsn)
        return OCHE_VERDICT_DROP;
    state->naked = true;
    state->nak_psn = rx->epsn;
    reply->send_nak = true;
    reply->nak_psn = rx->epsn;
    return OCHE_VERDICT_DROP;
}

static void note_arrival(struct selective_rx *state, uint32_t psn)
{
    uint32_t end = oche_psn_add(psn, 1);
    bool none = !state->gap || state->new_first == state->new_end;

    state->highest = state->gap ? later(state->highest, end) : end;
    state->new_end = none ? end : later(state->new_end, end);
    if (none || oche_psn_diff(psn, state->new_first) < 0)
        state->new_first = psn;
    state->gap = true;
}

static enum oche_verdict selective_arrived(struct oche_recovery_rx *rx,
                                           const struct oche_packet *packet, oche_time now,
                                           struct oche_recovery_reply *reply)
{
    struct selective_rx *state = rx->state;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    (void)now;
    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0) {
        reply->send_ack = state->extended && oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD);
        return OCHE_VERDICT_DUPLICATE;
    }
    if (!state->extended)
        return arrived_plain(rx, state, reply);
    reply->send_nak = true;
    reply->nak_psn = rx->epsn;
    if ((uint32_t)ahead >= selective_window(rx->params))
        return OCHE_VERDICT_DROP;
    note_arrival(state, packet->psn);
    return oche_psn_has(&state->kept, packet->psn) ? OCHE_VERDICT_PLACED : OCHE_VERDICT_PLACE;
}

static void selective_placed(struct oche_recovery_rx *rx, uint32_t psn)
{
    struct selective_rx *state = rx->state;

    oche_psn_set(&state->kept, psn);
}

static bool selective_holds(const struct oche_recovery_rx *rx, uint32_t psn)
{
    const struct selective_rx *state = rx->state;

    return oche_psn_has(&state->kept, psn);
}

static void selective_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                               oche_time now)
{
    struct selective_rx *state = rx->state;

    (void)now;
    state->naked = false;
    if (OCHE_LIKELY(!state->gap))
        return;
    oche_psn_clear(&state->kept, packet->psn, (rx->epsn - packet->psn) & OCHE_PSN_MASK);
    state->gap = oche_psn_diff(state->highest, rx->epsn) > 0;
}

/*
 * A SACK has room for 64 PSNs, and NAKs that wait for the port are merged into one. So a SACK
 * begins at the first arrival that was not reported yet, or earlier if there is room. If one SACK
 * is too small for all new arrivals, another NAK follows, because the sender takes packets that are
 * not reported for lost.
 */
static bool selective_sack(struct oche_recovery_rx *rx, struct oche_sack *sack)
{
    struct selective_rx *state = rx->state;
    bool more = false;

    *sack = (struct oche_sack){.first = rx->epsn};
    if (!state->gap)
        return false; /* no packet within the window has arrived */
    if (oche_psn_diff(state->new_end, rx->epsn) > SACK_BITS) {
        uint32_t last = oche_psn_add(state->new_end, OCHE_PSN_MASK + 1 - SACK_BITS);
        sack->first = later(state->new_first, rx->epsn);
        more = oche_psn_diff(last, sack->first) > 0;
        if (!more)
            sack->first = last;
    }
    state->new_first = more ? oche_psn_add(sack->first, SACK_BITS) : state->new_end;
    uint32_t count = (state->highest - sack->first) & OCHE_PSN_MASK;
    sack->count = (uint8_t)(count < SACK_BITS ? count : SACK_BITS);
    sack->bits = oche_psn_get64(&state->kept, sack->first);
    return more;
}

const struct oche_recovery_scheme oche_recovery_selective_repeat = {
    .name = "selective_repeat",
    .paper = "IRN (Revisiting network support for RDMA, SIGCOMM 2018)",
    .table =
        OCHE_PARAM_TABLE_DEPLOYED(selective_params, struct oche_selective_repeat_params, in_use),
    .tx_state_bytes = sizeof(struct selective_tx),
    .rx_state_bytes = sizeof(struct selective_rx),
    .acked = selective_acked,
    .nak = selective_nak,
    .timeout = selective_timeout,
    .judge = selective_judge,
    .answered = selective_answered,
    .rnr_over = selective_rnr_over,
    .sent = selective_sent,
    .rto = selective_rto,
    .wants_rtt = selective_wants_rtt,
    .measured = selective_measured,
    .window_packets = selective_window,
    .arrived = selective_arrived,
    .accepted = selective_accepted,
    .extend = selective_extend,
    .sacked = selective_sacked,
    .placed = selective_placed,
    .holds = selective_holds,
    .sack = selective_sack,
    .fit = selective_fit,
    .remark = selective_remark,
};
