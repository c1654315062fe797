/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-N, the receiver of WRITEs and SENDs. The first packet that arrives behind a gap makes the
 * next expected PSN "lost". Until that one arrives the receiver sends at most one NACK, with
 * exactly this PSN. ACKs do not fall, and only acknowledge what arrived.
 *
 * A NACK may pass the switch after the retransmission of a timeout has passed it, as that one is
 * still on its way to the receiver then. A gap without a NACK is counted; it is not wrong, as a
 * timeout may have been faster.
 */
#include "lab/check_nic/judges.h"

#define WRONG(at, psn, ...)                                                                        \
    oche_nic_wrong(of, OCHE_JUDGE_RECEIVER, receiver->stream, at, psn, __VA_ARGS__)

struct receiver {
    uint32_t stream;
    bool lost;  /* lost: the packet with PSN `gap` is missing, and a later one arrived */
    bool asked; /* the NACK for `gap` was sent */
    bool ever;  /* there was a gap */
    bool late;  /* the gap before was repaired by a timeout, and its NACK may still come */
    uint32_t late_psn;
    size_t late_at;
    uint32_t expected, gap, acked;
    size_t gap_at; /* the first packet that arrived behind the gap */
};

static void see_data(const struct oche_nic_case *of, struct receiver *receiver, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];

    if (!oche_seen_delivered(packet))
        return;
    if (packet->psn == receiver->expected) {
        if (receiver->lost && !receiver->asked) {
            receiver->late = true; /* its NACK may still come */
            receiver->late_psn = receiver->gap;
            receiver->late_at = receiver->gap_at;
            of->check->gaps_without_nak++;
        }
        receiver->expected = oche_psn_add(packet->psn, 1);
        receiver->lost = false;
        return;
    }
    if (oche_psn_diff(packet->psn, receiver->expected) < 0 || receiver->lost)
        return;
    receiver->lost = receiver->ever = true;
    receiver->asked = false;
    receiver->gap = receiver->expected;
    receiver->gap_at = at;
    of->check->counters.out_of_sequence++;
}

/* `upto`: the PSN behind the last one that the ACK or NACK acknowledges. */
static void see_ack(const struct oche_nic_case *of, struct receiver *receiver, size_t at,
                    uint32_t upto)
{
    const uint32_t psn = of->trace->packets[at].psn;

    if (oche_psn_diff(upto, receiver->acked) < 0)
        WRONG(at, psn, "the ACK falls, to PSN %u", oche_nic_relative(of, receiver->stream, psn));
    else if (oche_psn_diff(upto, receiver->expected) > 0)
        WRONG(at, psn, "acknowledges PSN %u, which has not arrived",
              oche_nic_relative(of, receiver->stream, oche_psn_add(upto, OCHE_PSN_MASK)));
    else
        receiver->acked = upto;
}

static void see_nak(const struct oche_nic_case *of, struct receiver *receiver, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];
    const uint32_t psn = oche_nic_relative(of, receiver->stream, packet->psn);

    if (receiver->late && packet->psn == receiver->late_psn) {
        receiver->late = false;
        of->check->gaps_without_nak--;
        oche_nic_sample(&of->check->latencies[0][OCHE_LATENCY_GENERATION],
                        packet->when - of->trace->packets[receiver->late_at].when);
    } else if (!receiver->ever) {
        WRONG(at, packet->psn, "a NACK for PSN %u, and nothing is missing", psn);
    } else if (packet->psn != receiver->gap) {
        WRONG(at, packet->psn, "a NACK for PSN %u, but %u is missing", psn,
              oche_nic_relative(of, receiver->stream, receiver->gap));
    } else if (receiver->asked) {
        WRONG(at, packet->psn, "a second NACK for PSN %u", psn);
    } else {
        receiver->asked = true;
        oche_nic_sample(&of->check->latencies[0][OCHE_LATENCY_GENERATION],
                        packet->when - of->trace->packets[receiver->gap_at].when);
    }
    see_ack(of, receiver, at, packet->psn);
}

void oche_nic_judge_receiver(const struct oche_nic_case *of, uint32_t stream)
{
    const uint32_t first = of->trace->streams[stream].first;
    struct receiver state = {.stream = stream, .expected = first, .acked = first};
    struct receiver *receiver = &state;

    of->check->verdicts[OCHE_JUDGE_RECEIVER].judged = true;
    for (size_t k = 0; k < of->count; k++) {
        const size_t i = of->list[k];
        const struct oche_seen_packet *packet = &of->trace->packets[i];

        if (packet->kind == OCHE_SEEN_DATA)
            see_data(of, receiver, i);
        else if (packet->kind == OCHE_SEEN_ACK)
            see_ack(of, receiver, i, oche_psn_add(packet->psn, 1));
        else if (packet->kind == OCHE_SEEN_NAK)
            see_nak(of, receiver, i);
    }
    of->check->gaps_without_nak += receiver->lost && !receiver->asked;
}
