/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Improved Go-Back-N ("Error recovery of RDMA packets in data center networks" sec III.C, Fig 5;
 * error-recovery.md#improved): Go-Back-N with two additions, which leave few losses to the ACK
 * timeout.
 *
 * Send twice: the last packet of a SEND or WRITE message leaves twice. Then the loss of one copy,
 * or of the ACK for one copy, does no harm (the duplicate is acknowledged too,
 * error-recovery.md#l6). A last packet that is sent again after going back leaves twice again
 * (error-recovery.md#l5). The second copy is not sent if the ACK arrives before it leaves, or if
 * recovery goes back in between. READ requests and atomics leave once: the responder would execute
 * a READ a second time, which costs more than the loss; and the requester notices by itself that
 * the response to a READ or an atomic is missing. Messages that switches may deflect leave once too
 * (dart.md#d18).
 *
 * Check EPSN: EPSN is the PSN that the receiver expects, LPSN that of a message's last packet. A
 * receiver starts a timer when a last packet arrives behind a gap (EPSN < LPSN). When the rest of
 * the NAK interval has passed, it sends NAK(EPSN), and again after every further interval. Each
 * packet that arrives in order restarts the timer with the full interval; when LPSN is no longer
 * ahead, the timer stops. There is one timer per queue pair (error-recovery.md#l11), and LPSN is
 * the highest seen (error-recovery.md#l8). A NAK interval is always running when the timer starts:
 * the packet that shows the gap either was answered with a NAK, which begins an interval, or
 * arrived within an interval and was not answered.
 *
 * With `check_last` the timer also runs while EPSN = LPSN, until LPSN itself has arrived
 * (error-recovery.md#l4). With the paper's strict test only the ACK timeout finds the loss of a
 * last packet that was sent again.
 *
 * Different from the paper: if no packet at all has arrived during MAX_UNANSWERED checks in a row,
 * the receiver assumes that the sender is gone and sends no NAK until a packet comes.
 */
#include "core/recovery/improved_go_back_n.h"

#include "core/recovery/go_back.h"
#include "core/wire/opcode.h"

#define MAX_UNANSWERED 64

struct improved_tx {
    bool repeats; /* the last packet, `psn`, has left once and must leave again */
    uint32_t psn;
};

struct improved_rx {
    struct nak_interval nak;
    bool watches;
    uint8_t unanswered; /* number of checks since a packet last arrived */
    uint32_t lpsn;      /* highest LPSN seen; valid if `watches` */
};

static const struct oche_param improved_params[] = {
    NAK_INTERVAL_PARAMS(struct oche_improved_go_back_n_params, OCHE_US,
                        "at most one NAK in this time, and what check_epsn waits for"),
    {OCHE_PARAM(struct oche_improved_go_back_n_params, send_twice), OCHE_IS_BOOL(true),
     .where = "Error recovery sec III-C",
     .help = "the last packet of a message leaves twice; not if switches may deflect the message"},
    {OCHE_PARAM(struct oche_improved_go_back_n_params, check_epsn), OCHE_IS_BOOL(true),
     .where = "Error recovery sec III-C",
     .help = "a timer repeats the NAK when a last packet came after a gap"},
    {OCHE_PARAM(struct oche_improved_go_back_n_params, check_last), OCHE_IS_BOOL(false),
     .needs = "check_epsn", .where = "error-recovery.md#l4",
     .help = "check_epsn also while only the last packet itself is missing"},
};

/* ---- sender: send twice ---- */

static void improved_sent(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now)
{
    const struct oche_improved_go_back_n_params *params = tx->params;
    struct improved_tx *state = tx->state;
    bool second = state->repeats && state->psn == psn;

    (void)now;
    if (OCHE_LIKELY(!last) || !params->send_twice)
        return;
    *state = (struct improved_tx){.repeats = !second, .psn = psn};
    if (!second)
        tx->next = psn;
}

static void improved_acked(struct oche_recovery_tx *tx, oche_time now)
{
    struct improved_tx *state = tx->state;

    (void)now;
    if (oche_psn_diff(tx->una, state->psn) > 0)
        state->repeats = false;
}

static void improved_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    struct improved_tx *state = tx->state;

    state->repeats = false;
    go_back_nak(tx, psn, now);
}

static void improved_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    struct improved_tx *state = tx->state;

    state->repeats = false;
    go_back_timeout(tx, now);
}

/* ---- receiver: check EPSN ---- */

static enum oche_verdict improved_arrived(struct oche_recovery_rx *rx,
                                          const struct oche_packet *packet, oche_time now,
                                          struct oche_recovery_reply *reply)
{
    const struct oche_improved_go_back_n_params *params = rx->params;
    struct improved_rx *state = rx->state;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    state->unanswered = 0;
    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0)
        return OCHE_VERDICT_DUPLICATE;
    reply->nak_psn = rx->epsn;
    reply->send_nak = nak_interval_allows(&state->nak, params->nak_interval, params->nak_exception,
                                          rx->epsn, now);
    if (params->check_epsn && oche_opcode_has(packet->opcode, OCHE_OP_LAST)) {
        if (!state->watches || oche_psn_diff(packet->psn, state->lpsn) > 0)
            state->lpsn = packet->psn;
        state->watches = true;
        rx->timer = oche_time_add(state->nak.last, params->nak_interval);
    }
    return OCHE_VERDICT_DROP;
}

static void improved_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                              oche_time now)
{
    const struct oche_improved_go_back_n_params *params = rx->params;
    struct improved_rx *state = rx->state;

    (void)packet;
    if (OCHE_LIKELY(!state->watches))
        return;
    int32_t missing = oche_psn_diff(state->lpsn, rx->epsn) + params->check_last;
    state->watches = missing > 0;
    rx->timer = state->watches ? oche_time_add(now, params->nak_interval) : OCHE_NEVER;
}

static void improved_rx_timer(struct oche_recovery_rx *rx, oche_time now,
                              struct oche_recovery_reply *reply)
{
    const struct oche_improved_go_back_n_params *params = rx->params;
    struct improved_rx *state = rx->state;

    if (++state->unanswered > MAX_UNANSWERED) {
        state->watches = false;
        return;
    }
    reply->send_nak = true;
    reply->nak_psn = rx->epsn;
    state->nak = (struct nak_interval){.last = now, .psn = rx->epsn, .any = true};
    rx->timer = oche_time_add(now, params->nak_interval);
}

const struct oche_recovery_scheme oche_recovery_improved_go_back_n = {
    .name = "improved_go_back_n",
    .paper = "Improved Go-Back-N (Error recovery of RDMA packets, sec III)",
    .table = OCHE_PARAM_TABLE(improved_params, struct oche_improved_go_back_n_params),
    .tx_state_bytes = sizeof(struct improved_tx),
    .rx_state_bytes = sizeof(struct improved_rx),
    .acked = improved_acked,
    .nak = improved_nak,
    .timeout = improved_timeout,
    .sent = improved_sent,
    .arrived = improved_arrived,
    .accepted = improved_accepted,
    .rx_timer = improved_rx_timer,
};
