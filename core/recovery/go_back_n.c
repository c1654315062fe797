/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-N (error-recovery.md#base-rules; "Error recovery of RDMA packets in data center networks"
 * sec II): the receiver takes only the expected PSN, drops what comes after a gap and answers with
 * a NAK; the sender goes back to the PSN that the NAK names, or on a timeout to the oldest one that
 * is not acknowledged.
 *
 * NAKs: at most one per `nak_interval`. With `nak_exception` (the default, as in the ns-3
 * simulators, error-recovery.md#l3) a NAK for another PSN than the last NAK's does not wait. A real
 * NIC that sends one NAK per gap corresponds to `nak_interval: never` with the exception.
 */
#include "core/recovery/go_back_n.h"

#include "core/recovery/go_back.h"

static const struct oche_param go_back_n_params[] = {
    NAK_INTERVAL_PARAMS(struct oche_go_back_n_params, 0,
                        "at most one NAK in this time; 0: one for every packet after a gap"),
};

static enum oche_verdict go_back_n_arrived(struct oche_recovery_rx *rx,
                                           const struct oche_packet *packet, oche_time now,
                                           struct oche_recovery_reply *reply)
{
    const struct oche_go_back_n_params *params = rx->params;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0)
        return OCHE_VERDICT_DUPLICATE;
    reply->nak_psn = rx->epsn;
    reply->send_nak =
        nak_interval_allows(rx->state, params->nak_interval, params->nak_exception, rx->epsn, now);
    return OCHE_VERDICT_DROP;
}

const struct oche_recovery_scheme oche_recovery_go_back_n = {
    .name = "go_back_n",
    .paper = "Go-Back-N (InfiniBand; Error recovery of RDMA packets, sec II)",
    .table = OCHE_PARAM_TABLE(go_back_n_params, struct oche_go_back_n_params),
    .rx_state_bytes = sizeof(struct nak_interval),
    .acked = go_back_acked,
    .nak = go_back_nak,
    .timeout = go_back_timeout,
    .arrived = go_back_n_arrived,
};
