/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-0 (error-recovery.md#go-back-0; "Error recovery of RDMA packets in data center networks"
 * sec II): after a gap the receiver forgets the message that was arriving, expects the message's
 * first packet again and sends a NAK for it; the sender sends the whole message again. A message of
 * which every pass meets a loss never completes: that is the scheme's livelock. The ns-3 simulators
 * cut a message into chunks of 4000 packets and begin only the chunk again; here the whole message
 * begins again, as in the text.
 *
 * NAKs: there is a NAK interval as in go_back_n.c. All NAKs of a message name the same PSN, so a
 * NAK counts as a repetition only if no packet was accepted since the last NAK. A gap in a later
 * pass gets a NAK of its own, which with `nak_exception` does not wait for the interval to end.
 *
 * A packet of an earlier pass may arrive late. If its PSN is before the expected one, the packet is
 * a duplicate. If it is the expected PSN, the packet has the right bytes and is taken. If it is
 * after the expected one, the packet shows a gap, which costs another pass. The expected PSN goes
 * back at most to the start of its message; so the receiver may take back the acknowledgement of a
 * part of a message, but never that of a whole message.
 *
 * The data of a READ is received by the requester: after a gap in the responses it asks for all of
 * the data again (the queue pair does this, because of whole_messages).
 *
 * Each restart of a message that was acknowledged in part spends a retry (error-recovery.md#l13),
 * which is given back when the message completes.
 *
 * Both ends must have this scheme (error-recovery.md#l14): a sender of another one does not go back
 * behind what was acknowledged, so it would never send what this receiver had forgotten. So this
 * receiver forgets nothing before the peer has shown that it restarts messages, which it does with
 * its first packet (OCHE_BTH_RESTARTS). With any other peer both halves work as Go-Back-N.
 */
#include "core/recovery/go_back_0.h"

#include "core/recovery/go_back.h"

static const struct oche_param go_back_0_params[] = {
    NAK_INTERVAL_PARAMS(struct oche_go_back_0_params, 0,
                        "at most one NAK in this time; 0: one for every packet after a gap"),
};

struct go_back_0_rx {
    struct nak_interval nak;
    bool peer_restarts; /* the peer has this scheme too */
};

static void go_back_0_peer_restarts(struct oche_recovery_rx *rx)
{
    ((struct go_back_0_rx *)rx->state)->peer_restarts = true;
}

static enum oche_verdict go_back_0_arrived(struct oche_recovery_rx *rx,
                                           const struct oche_packet *packet, oche_time now,
                                           struct oche_recovery_reply *reply)
{
    const struct oche_go_back_0_params *params = rx->params;
    struct go_back_0_rx *state = rx->state;
    int32_t ahead = oche_psn_diff(packet->psn, rx->epsn);

    if (OCHE_LIKELY(ahead == 0))
        return OCHE_VERDICT_DELIVER;
    if (ahead < 0)
        return OCHE_VERDICT_DUPLICATE;
    reply->restart = state->peer_restarts;
    reply->nak_psn = state->peer_restarts ? rx->message_start : rx->epsn;
    reply->send_nak = nak_interval_allows(&state->nak, params->nak_interval, params->nak_exception,
                                          reply->nak_psn, now);
    return OCHE_VERDICT_DROP;
}

static void go_back_0_accepted(struct oche_recovery_rx *rx, const struct oche_packet *packet,
                               oche_time now)
{
    struct go_back_0_rx *state = rx->state;

    (void)packet;
    (void)now;
    state->nak.psn = NAK_OF_NOTHING;
}

const struct oche_recovery_scheme oche_recovery_go_back_0 = {
    .name = "go_back_0",
    .paper = "Go-Back-0 (Error recovery of RDMA packets, sec II)",
    .table = OCHE_PARAM_TABLE(go_back_0_params, struct oche_go_back_0_params),
    .rx_state_bytes = sizeof(struct go_back_0_rx),
    .whole_messages = true,
    .acked = go_back_acked,
    .nak = go_back_nak,
    .timeout = go_back_timeout,
    .arrived = go_back_0_arrived,
    .accepted = go_back_0_accepted,
    .peer_restarts = go_back_0_peer_restarts,
};
