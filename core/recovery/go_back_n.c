/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-N (REFERENCE E.1; "Error recovery of RDMA packets in data center networks" sec II): the
 * receiver takes only the expected PSN, drops what comes after a gap and answers with a NAK; the
 * sender goes back to the PSN that the NAK names, or on a timeout to the oldest one that is not
 * acknowledged.
 *
 * NAKs: at most one per `nak_interval`. With `nak_exception` (the default, as the ns-3 simulators
 * do it, REFERENCE L3) a NAK for another PSN than the last one does not wait. Real NICs that send
 * one NAK a gap are `nak_interval: never` with the exception.
 */
#include "core/recovery/go_back_n.h"

struct go_back_n_rx {
    oche_time last_nak;
    uint32_t last_psn;
    bool any;
};

#define FIELD(member) offsetof(struct oche_go_back_n_params, member)

static const struct oche_param go_back_n_params[] = {
    {.name = "nak_interval",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(nak_interval),
     .preset.u = 500 * OCHE_US,
     .minimum.u = 0,
     .maximum.u = OCHE_NEVER,
     .where = "REFERENCE E.1",
     .help = "at most one NAK in this time; 0: one for every packet after a gap"},
    {.name = "nak_exception",
     .unit = OCHE_UNIT_BOOL,
     .offset = FIELD(nak_exception),
     .preset.u = 1,
     .where = "REFERENCE L3",
     .help = "a NAK for another PSN than the last one need not wait"},
};

static void go_back_n_acked(struct oche_recovery_tx *tx, oche_time now)
{
    (void)tx;
    (void)now;
}

static void go_back_n_nak(struct oche_recovery_tx *tx, uint32_t psn, oche_time now)
{
    (void)now;
    tx->next = psn;
}

static void go_back_n_timeout(struct oche_recovery_tx *tx, oche_time now)
{
    (void)now;
    tx->next = tx->una;
}

static enum oche_verdict go_back_n_arrived(struct oche_recovery_rx *rx,
                                           const struct oche_packet *packet, oche_time now,
                                           struct oche_recovery_reply *reply)
{
    const struct oche_go_back_n_params *params = rx->params;
    struct go_back_n_rx *state = rx->state;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0)
        return OCHE_VERDICT_DUPLICATE;
    bool again = state->any && state->last_psn == rx->epsn;
    bool exempt = !state->any || (params->nak_exception && !again);
    if (!exempt && now < oche_time_add(state->last_nak, params->nak_interval))
        return OCHE_VERDICT_DROP;
    *state = (struct go_back_n_rx){.last_nak = now, .last_psn = rx->epsn, .any = true};
    *reply = (struct oche_recovery_reply){.send_nak = true, .nak_psn = rx->epsn};
    return OCHE_VERDICT_DROP;
}

const struct oche_recovery_scheme oche_recovery_go_back_n = {
    .name = "go_back_n",
    .paper = "Go-Back-N (InfiniBand; Error recovery of RDMA packets, sec II)",
    .table = {.params = go_back_n_params,
              .count = sizeof(go_back_n_params) / sizeof(go_back_n_params[0]),
              .struct_bytes = sizeof(struct oche_go_back_n_params)},
    .rx_state_bytes = sizeof(struct go_back_n_rx),
    .acked = go_back_n_acked,
    .nak = go_back_n_nak,
    .timeout = go_back_n_timeout,
    .arrived = go_back_n_arrived,
};
