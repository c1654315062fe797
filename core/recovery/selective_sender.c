/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sender half of selective repeat: chooses the packet that leaves next, handles timeouts, and
 * decides which packets count as lost.
 */
#include "core/recovery/selective_halves.h"

/* An ACK is too soon for a copy if it comes within so many quarters of the least round trip. */
#define SOON_QUARTERS 3
#define MOST_BACKOFF  6 /* 64 times the timeout, if the ACK timeout is as long */
/* So many NAKs in a row are not taken to be lost: TCP's duplicate ACKs (RFC 5681 sec 3.2). */
#define NAKS_NOT_LOST 3

/* Returns the first PSN in [from, end) that has not arrived and was not trimmed, or `end`. */
static uint32_t first_hole(const struct selective_tx *state, uint32_t from, uint32_t end)
{
    uint32_t hole = oche_psn_first_clear(&state->arrived, from, end);

    while (OCHE_UNLIKELY(state->repaired_count + state->trimmed_count > 0) &&
           oche_psn_diff(hole, end) < 0 &&
           (oche_psn_has(&state->repaired, hole) || oche_psn_has(&state->trimmed, hole)))
        hole = oche_psn_first_clear(&state->arrived, oche_psn_add(hole, 1), end);
    return hole;
}

/*
 * Sets tx->next to the PSN that leaves next: the oldest trimmed PSN, the oldest lost PSN, or a new
 * one.
 */
static void plan(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (state->again) {
        tx->next = tx->una;
        return;
    }
    if (OCHE_UNLIKELY(state->trimmed_count > 0)) {
        tx->next = oche_psn_first_set(&state->trimmed, tx->una, tx->high);
        OCHE_MUST(tx->next != tx->high);
        return;
    }
    uint32_t from = later(state->walk, tx->una);
    uint32_t hole = first_hole(state, from, state->lost_end);
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

/* ---- trimmed packets ---- */

/* Clears the bits of PSNs [from, from + count) of a bitmap in which `*ones` bits are 1. */
static void clear_counted(struct oche_psn_bitmap *bitmap, uint32_t *ones, uint32_t from,
                          uint32_t count)
{
    if (*ones == 0)
        return;
    *ones -= oche_psn_count(bitmap, from, count);
    oche_psn_clear(bitmap, from, count);
}

/* Forgets what is known of the trimmed packets in [from, from + count). */
static void forget_trims(struct selective_tx *state, uint32_t from, uint32_t count)
{
    clear_counted(&state->trimmed, &state->trimmed_count, from, count);
    clear_counted(&state->repaired, &state->repaired_count, from, count);
}

uint32_t selective_trimmed_packets(const struct oche_recovery_tx *tx)
{
    return ((const struct selective_tx *)tx->state)->trimmed_count;
}

bool selective_trim_told(struct oche_recovery_tx *tx, uint32_t psn, bool *is_new)
{
    struct selective_tx *state = tx->state;

    *is_new = false;
    if (!state->extended || oche_psn_diff(psn, tx->una) >= OCHE_PSN_BITMAP_BITS ||
        oche_psn_has(&state->arrived, psn) || oche_psn_has(&state->trimmed, psn))
        return false;
    clear_counted(&state->repaired, &state->repaired_count, psn, 1); /* it was trimmed again */
    oche_psn_set(&state->trimmed, psn);
    state->trimmed_count++;
    *is_new = !state->trims_told;
    if (*is_new) {
        state->trims_told = true;
        state->trims_told_end = tx->high;
    }
    if (!state->recovering)
        begin_recovery(tx, state);
    plan(tx, state);
    return true;
}

/* True if packet `psn`, which has left again, was a trimmed one. */
static bool repairs_trimmed(struct oche_recovery_tx *tx, struct selective_tx *state, uint32_t psn)
{
    if (OCHE_LIKELY(state->trimmed_count == 0) || !oche_psn_has(&state->trimmed, psn))
        return false;
    clear_counted(&state->trimmed, &state->trimmed_count, psn, 1);
    oche_psn_set(&state->repaired, psn);
    state->repaired_count++;
    if (psn == tx->una)
        state->again = false;
    plan(tx, state);
    return true;
}

/* ---- SACKs ---- */

/* Forgets which packets have arrived, and which are suspected to be lost. */
static void forget(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (state->arrived_count > 0)
        state->arrived = (struct oche_psn_bitmap){0};
    state->arrived_count = 0;
    forget_trims(state, tx->una, OCHE_PSN_BITMAP_BITS);
    state->suspects.count = 0;
    state->repairs_doubted = false;
    state->floor = tx->una;
}

/* Clears the bits below una, which has moved on. */
static void lift_floor(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    if (OCHE_UNLIKELY(state->arrived_count > 0)) {
        const uint32_t count = (tx->una - state->floor) & OCHE_PSN_MASK;

        const uint32_t past = oche_psn_count(&state->arrived, state->floor, count);
        OCHE_MUST(past <= state->arrived_count);
        state->arrived_count -= past;
        oche_psn_clear(&state->arrived, state->floor, count);
    }
    if (OCHE_UNLIKELY(state->trims_told) && oche_psn_diff(tx->una, state->trims_told_end) >= 0)
        state->trims_told = false;
    forget_trims(state, state->floor, (tx->una - state->floor) & OCHE_PSN_MASK);
    state->floor = tx->una;
}

/* ---- reordering ---- */

static bool reorders(const struct oche_recovery_tx *tx)
{
    return ((const struct oche_selective_repeat_params *)tx->params)->reorder !=
           OCHE_SELECTIVE_REORDER_NONE;
}

/* True if packets behind una have arrived or are suspected to, so that `heard` is valid. */
static bool hears(const struct selective_tx *state)
{
    return state->arrived_count > 0 || state->suspects.count > 0;
}

/* True if `psn`, which was missing, has not been sent again. */
static bool is_untouched(const struct selective_tx *state, uint32_t psn)
{
    if (OCHE_UNLIKELY(state->repaired_count > 0) && oche_psn_has(&state->repaired, psn))
        return false;
    return !state->recovering || (!state->again && oche_psn_diff(state->walk, psn) <= 0);
}

/* Notes that these packets have arrived. */
static void take_sack(struct selective_tx *state, const struct oche_sack *sack)
{
    const bool heard = hears(state);

    for (uint64_t bits = sack->bits; bits != 0; bits &= bits - 1) {
        const uint32_t psn = oche_psn_add(sack->first, (uint32_t)__builtin_ctzll(bits));

        if (oche_psn_has(&state->arrived, psn))
            continue;
        if (heard && oche_psn_diff(psn, state->heard) < 0 && is_untouched(state, psn))
            state->reorder.seen = true;
        oche_psn_set(&state->arrived, psn);
        state->newest = psn;
        state->any_new = true;
        forget_trims(state, psn, 1);
        state->arrived_count++;
        OCHE_MUST(state->arrived_count <= OCHE_PSN_BITMAP_BITS);
    }
}

/*
 * Missing packets before `end` are lost. Returns true if that is a new loss: congestion control has
 * not been told of one, or of none in this round trip.
 */
static bool lose(struct oche_recovery_tx *tx, struct selective_tx *state, uint32_t from,
                 uint32_t end)
{
    const struct oche_selective_repeat_params *params = tx->params;
    const bool begins = !state->recovering;
    const bool told = state->told && oche_psn_diff(tx->una, state->told_end) < 0;

    if (begins)
        begin_recovery(tx, state);
    state->walk = later(state->walk, from);
    state->lost_end = later(state->lost_end, end);
    plan(tx, state);
    if (!reorders(tx) ? !begins : told)
        return false;
    if (!params->undo)
        return true;
    if (!state->told) {
        state->first_missing = true;
        state->first_psn = tx->next;
        state->first_at = 0;
        state->resent = 0;
    }
    state->told = true;
    state->told_end = state->resent_end = tx->high;
    return true;
}

oche_time selective_reorder_window(const struct oche_recovery_tx *tx, uint32_t arrived)
{
    const struct oche_selective_repeat_params *params = tx->params;
    const struct selective_tx *state = tx->state;

    if (params->reorder == OCHE_SELECTIVE_REORDER_WINDOW)
        return params->reorder_time;
    return reorders(tx) ? oche_reorder_window(&state->reorder, arrived, state->recovering) : 0;
}

oche_time selective_loss_due(const struct oche_recovery_tx *tx)
{
    const struct selective_tx *state = tx->state;
    const oche_time repair = state->repairs_doubted ? state->repair_due : OCHE_NEVER;

    return oche_time_min(oche_suspects_due(&state->suspects), repair);
}

/*
 * A packet that left after all repairs has arrived, so that what is still missing was lost twice,
 * unless it is late.
 */
static void suspect_repairs(struct oche_recovery_tx *tx, struct selective_tx *state, uint32_t end,
                            oche_time window, oche_time now)
{
    if (state->repairs_doubted || !state->recovering || tx->next != tx->high ||
        oche_psn_diff(state->lost_end, tx->una) <= 0 || oche_psn_diff(end, state->resent_end) <= 0)
        return;
    state->repairs_doubted = true;
    state->repair_due = oche_time_add(now, window);
}

bool selective_loss_timer(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;
    uint32_t end = tx->una;
    bool lost = false;

    if (oche_suspects_expire(&state->suspects, now, &end) && oche_psn_diff(end, tx->una) > 0)
        lost = oche_psn_diff(first_hole(state, tx->una, end), end) < 0;
    if (state->repairs_doubted && state->repair_due <= now) {
        state->repairs_doubted = false;
        clear_counted(&state->repaired, &state->repaired_count, tx->una, OCHE_PSN_BITMAP_BITS);
        if (state->recovering && oche_psn_diff(state->lost_end, tx->una) > 0) {
            state->walk = tx->una;
            lost = true;
        }
    }
    return lost && lose(tx, state, later(tx->una, state->named), later(end, tx->una));
}

/*
 * With `reorder: window`: what is missing so many packets before the last one that has arrived is
 * lost. Returns true if that is a new loss.
 */
static bool lose_by_packets(struct oche_recovery_tx *tx, struct selective_tx *state)
{
    const struct oche_selective_repeat_params *params = tx->params;
    const uint32_t end =
        oche_psn_add(state->heard, OCHE_PSN_MASK + 1 - (uint32_t)params->reorder_packets);

    if (params->reorder != OCHE_SELECTIVE_REORDER_WINDOW || params->reorder_packets == 0 ||
        oche_psn_diff(end, tx->una) <= 0 ||
        (state->recovering && oche_psn_diff(end, state->lost_end) <= 0) ||
        oche_psn_diff(first_hole(state, tx->una, end), end) >= 0)
        return false;
    return lose(tx, state, later(tx->una, state->named), end);
}

/* Nothing was lost of what congestion control was told. What was not yet sent again may be late. */
static enum oche_timeout_was withdraw(struct oche_recovery_tx *tx, struct selective_tx *state,
                                      oche_time now)
{
    state->told = false;
    oche_reorder_duplicate(&state->reorder, tx->una, tx->high);
    if (!state->extended || !state->recovering || state->again || !reorders(tx))
        return OCHE_TIMEOUT_EARLY;
    const uint32_t walk = later(state->walk, tx->una);

    if (oche_psn_diff(state->lost_end, walk) > 0) {
        if (!hears(state))
            state->heard = state->lost_end;
        oche_suspects_note(&state->suspects, state->lost_end,
                           selective_reorder_window(tx, state->arrived_count), now);
        state->lost_end = walk;
        plan(tx, state);
    }
    return OCHE_TIMEOUT_EARLY;
}

/* una has moved on: was what congestion control was told of late? */
static enum oche_timeout_was judge_loss(struct oche_recovery_tx *tx, struct selective_tx *state,
                                        oche_time now)
{
    if (!state->told)
        return OCHE_TIMEOUT_RIGHT;
    if (state->first_missing && oche_psn_diff(tx->una, state->first_psn) > 0) {
        state->first_missing = false;
        if (state->first_at == 0 ||
            now - state->first_at < state->reorder.least_rtt / 4 * SOON_QUARTERS) {
            state->expected = state->resent; /* the copies come later */
            return withdraw(tx, state, now);
        }
    }
    if (!state->recovering && oche_psn_diff(tx->una, state->resent_end) > 0) {
        state->told = false;
        return OCHE_TIMEOUT_RIGHT;
    }
    return OCHE_TIMEOUT_DOUBTFUL;
}

enum oche_timeout_was selective_duplicated(struct oche_recovery_tx *tx, uint32_t count,
                                           oche_time now)
{
    struct selective_tx *state = tx->state;
    const uint32_t expected = count < state->expected ? count : state->expected;

    oche_reorder_duplicate(&state->reorder, tx->una, tx->high);
    state->expected -= expected;
    count -= expected;
    if (!state->told || state->resent == 0 || count == 0)
        return OCHE_TIMEOUT_DOUBTFUL;
    state->resent -= count < state->resent ? count : state->resent;
    return state->resent > 0 ? OCHE_TIMEOUT_DOUBTFUL : withdraw(tx, state, now);
}

void selective_read_late(struct oche_recovery_tx *tx, bool asked_again)
{
    struct selective_tx *state = tx->state;

    state->reorder.seen = true;
    if (asked_again)
        oche_reorder_duplicate(&state->reorder, tx->una, tx->high);
}

uint32_t selective_arrived_packets(const struct oche_recovery_tx *tx)
{
    return reorders(tx) ? ((const struct selective_tx *)tx->state)->arrived_count : 0;
}

bool selective_newly_arrived(const struct oche_recovery_tx *tx, uint32_t *psn)
{
    const struct selective_tx *state = tx->state;

    *psn = state->newest;
    return state->any_new;
}

/* ---- what ACKs and NAKs do ---- */

/*
 * The peer turns out to know the extensions. If Go-Back-N has just gone back to una, that may be a
 * READ whose responses are missing: no SACK tells of it, so una is sent again whatever comes.
 */
void selective_extend(struct oche_recovery_tx *tx, struct oche_recovery_rx *rx)
{
    struct selective_tx *state = tx->state;

    state->extended = true;
    selective_extend_receiver(rx);
    if (tx->next == tx->high || tx->next != tx->una)
        return;
    begin_recovery(tx, state);
    state->lost_end = tx->high;
    state->again = true;
}

void selective_acked(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)now;
    state->backoff = 0;
    if (OCHE_UNLIKELY(state->arrived_count > 0)) {
        if (oche_psn_diff(state->heard, state->floor) > 0 && is_untouched(state, state->floor))
            state->reorder.seen = true;
        state->repairs_doubted = false;
    }
    if (OCHE_UNLIKELY(state->suspects.count > 0) && tx->una == tx->high)
        state->suspects.count = 0;
    lift_floor(tx, state);
    if (OCHE_LIKELY(!state->recovering))
        return;
    state->again = false;
    if (oche_psn_diff(tx->una, state->end) < 0) {
        if (state->after_timeout)
            state->lost_end = later(state->lost_end, state->end);
        plan(tx, state);
    } else if (oche_psn_diff(state->lost_end, tx->una) > 0 || state->trimmed_count > 0) {
        /* more packets have been lost meanwhile, so the next recovery begins */
        state->end = tx->high;
        state->after_timeout = false;
        plan(tx, state);
    } else {
        end_recovery(tx, state);
        oche_reorder_recovered(&state->reorder);
        state->expected = 0;
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
void selective_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)now;
    if (!state->extended) {
        const struct oche_selective_repeat_params *params = tx->params;

        tx->next = psn;
        state->told = state->first_missing = params->undo;
        state->first_psn = psn;
        state->first_at = 0;
        state->resent = 0;
        state->resent_end = tx->high;
        return;
    }
    forget(tx, state);
    send_una_again(tx, state);
    state->lost_end = tx->high;
    state->walk = tx->una;
    plan(tx, state);
}

void selective_rnr_over(struct oche_recovery_tx *tx, oche_time now)
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
    oche_time rto;

    if (state->srtt == 0)
        rto = params->rto_high != 0 ? params->rto_high : IRN_RTO_HIGH;
    else
        rto = state->srtt + oche_time_max(low, oche_time_max(4 * state->rttvar, state->srtt / 2));
    return oche_time_max(rto, state->late);
}

/* A timeout that follows a doubted timeout belongs to the same doubt. */
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

void selective_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;

    begin_doubt(tx, state, now);
    if (state->backoff < MOST_BACKOFF)
        state->backoff++;
    state->told = false;
    state->suspects.count = 0;
    state->repairs_doubted = false;
    clear_counted(&state->repaired, &state->repaired_count, tx->una, OCHE_PSN_BITMAP_BITS);
    selective_rnr_over(tx, now);
}

void selective_answered(struct oche_recovery_tx *tx, uint32_t end)
{
    touch(tx->state, end);
}

enum oche_timeout_was selective_judge(struct oche_recovery_tx *tx, oche_time now)
{
    struct selective_tx *state = tx->state;
    const oche_time waited = now - state->doubt_since;

    if (!state->doubted)
        return judge_loss(tx, state, now);
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
    if (!state->extended || oche_psn_diff(tx->una, state->touched) >= NAKS_NOT_LOST)
        state->late = oche_time_max(state->late, waited + 4 * (waited / 2));
    return OCHE_TIMEOUT_EARLY;
}

bool selective_sacked(struct oche_recovery_tx *tx, uint32_t psn, const struct oche_sack *sack,
                      oche_time now)
{
    struct selective_tx *state = tx->state;
    const bool heard = hears(state);
    uint32_t end = oche_psn_add(psn, 1);

    state->named = psn;
    state->any_new = false;
    if (oche_psn_diff(oche_psn_add(sack->first, sack->count), tx->una) <= OCHE_PSN_BITMAP_BITS) {
        end = later(end, oche_psn_add(sack->first, sack->count));
        take_sack(state, sack);
        touch(state, oche_psn_add(sack->first, sack->count));
    }
    if (!reorders(tx))
        return lose(tx, state, psn, end);
    state->heard = heard ? later(state->heard, end) : end;
    const oche_time window = selective_reorder_window(tx, state->arrived_count);

    if (window == 0)
        state->suspects.count = 0; /* suspected packets are now lost */
    suspect_repairs(tx, state, end, window, now);
    oche_suspects_note(&state->suspects, state->heard, window, now);
    const bool lost = window == 0 && selective_loss_timer(tx, now);

    return lose_by_packets(tx, state) || lost;
}

void selective_sent(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now)
{
    struct selective_tx *state = tx->state;

    (void)last;
    if (OCHE_UNLIKELY(state->doubted) && oche_psn_diff(psn, state->doubt_end) < 0)
        touch(state, tx->next);
    if (OCHE_UNLIKELY(state->told) && state->first_missing && psn == state->first_psn)
        state->first_at = now;
    if (OCHE_LIKELY(!state->recovering) || repairs_trimmed(tx, state, psn))
        return;
    if (state->again || oche_psn_diff(psn, state->lost_end) < 0) {
        state->resent++;
        state->resent_end = tx->high;
    }
    if (psn == tx->una)
        state->again = false;
    if (oche_psn_diff(psn, state->lost_end) < 0)
        state->walk = later(state->walk, tx->next);
    plan(tx, state);
}

void selective_passed(struct oche_recovery_tx *tx, uint32_t psn)
{
    struct selective_tx *state = tx->state;

    if (!state->recovering)
        return;
    if (oche_psn_diff(psn, state->lost_end) < 0)
        state->walk = later(state->walk, tx->next);
    plan(tx, state);
}

/* ---- timeouts ---- */

bool selective_wants_rtt(const void *params)
{
    const struct oche_selective_repeat_params *selective = params;

    return selective->rto == OCHE_SELECTIVE_RTO_MEASURED ||
           selective->reorder == OCHE_SELECTIVE_REORDER_RACK;
}

/* RFC 6298 sec 2.2, 2.3: alpha is 1/8, beta 1/4. */
void selective_measured(struct oche_recovery_tx *tx, oche_time rtt)
{
    struct selective_tx *state = tx->state;

    oche_reorder_measured(&state->reorder, rtt);
    state->late /= 2;
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

    if (state->srtt == 0 && state->late == 0)
        rto = oche_time_min(rto, most);
    if (rto >= most)
        return rto;
    most = oche_time_min(most, oche_time_max(rto, params->probe));
    return most >> state->backoff < rto ? most : rto << state->backoff;
}

oche_time selective_probe(const void *params)
{
    const struct oche_selective_repeat_params *selective = params;

    return selective->rto == OCHE_SELECTIVE_RTO_MEASURED ? selective->probe : OCHE_NEVER;
}

oche_time selective_rto(const struct oche_recovery_tx *tx, oche_time most)
{
    const struct oche_selective_repeat_params *params = tx->params;
    uint32_t outstanding = (tx->high - tx->una) & OCHE_PSN_MASK;

    if (params->rto == OCHE_SELECTIVE_RTO_MEASURED)
        return measured_rto(params, tx->state, most);
    if (outstanding <= params->few_packets)
        return params->rto_low != 0 ? params->rto_low : IRN_RTO_LOW;
    return params->rto_high != 0 ? params->rto_high : IRN_RTO_HIGH;
}

uint32_t selective_window(const void *params)
{
    uint64_t window = ((const struct oche_selective_repeat_params *)params)->window;

    return window != 0 ? (uint32_t)window : IRN_WINDOW;
}
