/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receiver half of selective repeat: keeps packets behind a gap, and builds the NAKs that
 * report them.
 */
#include "core/recovery/selective_halves.h"

#include "core/wire/opcode.h"

#define SACK_BITS 64

void selective_extend_receiver(struct oche_recovery_rx *rx)
{
    ((struct selective_rx *)rx->state)->extended = true;
}

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

/* True if the sender is to hear of packets that arrive twice. */
static bool reports(const struct oche_recovery_rx *rx)
{
    return ((const struct oche_selective_repeat_params *)rx->params)->reorder !=
           OCHE_SELECTIVE_REORDER_NONE;
}

/* True if the sender is to hear at once of this packet, which is behind a gap. */
static bool is_answered(const struct oche_recovery_rx *rx, const struct oche_packet *packet)
{
    const struct oche_selective_repeat_params *params = rx->params;

    return params->sack == OCHE_SELECTIVE_SACK_EVERY || (packet->bth & OCHE_BTH_ACKREQ) != 0 ||
           packet->ecn == OCHE_ECN_CE;
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

enum oche_verdict selective_arrived(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                                    oche_time now, struct oche_recovery_reply *reply)
{
    struct selective_rx *state = rx->state;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    (void)now;
    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0) {
        reply->send_ack = state->extended && oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD);
        reply->report = reply->send_ack && reports(rx);
        return OCHE_VERDICT_DUPLICATE;
    }
    if (!state->extended)
        return arrived_plain(rx, state, reply);
    reply->send_nak = is_answered(rx, packet);
    reply->nak_psn = rx->epsn;
    if ((uint32_t)ahead >= selective_window(rx->params))
        return OCHE_VERDICT_DROP;
    note_arrival(state, packet->psn);
    if (!oche_psn_has(&state->kept, packet->psn))
        return OCHE_VERDICT_PLACE;
    reply->report = reports(rx);
    return OCHE_VERDICT_PLACED;
}

void selective_placed(struct oche_recovery_rx *rx, uint32_t psn)
{
    struct selective_rx *state = rx->state;

    OCHE_MUST(!oche_psn_has(&state->kept, psn));
    oche_psn_set(&state->kept, psn);
}

bool selective_holds(const struct oche_recovery_rx *rx, uint32_t psn)
{
    const struct selective_rx *state = rx->state;

    return oche_psn_has(&state->kept, psn);
}

void selective_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
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
bool selective_sack(struct oche_recovery_rx *rx, struct oche_sack *sack)
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

/* ---- trimmed packets ---- */

bool selective_trimmed(struct oche_recovery_rx *rx, uint32_t psn, enum oche_trimmed where)
{
    struct selective_rx *state = rx->state;
    const int32_t ahead = oche_psn_diff(psn, rx->epsn);

    if (!state->extended || ahead < 0 || (uint32_t)ahead >= selective_window(rx->params) ||
        oche_psn_has(&state->kept, psn) ||
        state->trimmed_end - state->trimmed_first == SELECTIVE_TRIMS)
        return false;
    state->trimmed[state->trimmed_end++ % SELECTIVE_TRIMS] = psn << 8 | (uint32_t)where;
    return true;
}

bool selective_next_trimmed(struct oche_recovery_rx *rx, uint32_t *psn, enum oche_trimmed *where)
{
    struct selective_rx *state = rx->state;

    if (state->trimmed_first == state->trimmed_end)
        return false;
    const uint32_t next = state->trimmed[state->trimmed_first++ % SELECTIVE_TRIMS];

    *psn = next >> 8;
    *where = (enum oche_trimmed)(next & 0xff);
    return true;
}
