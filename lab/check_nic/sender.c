/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-N, the sender of WRITEs and SENDs. Its PSNs rise by one. They restart at the PSN of the
 * pending NACK; or anywhere, if none is pending, which is a timeout. They may leave out what was
 * acknowledged meanwhile. At most one NACK is in flight. ACKs do not fall. At the end all is sent
 * and acknowledged.
 */
#include "lab/check_nic/judges.h"

#define WRONG(at, psn, ...)                                                                        \
    oche_nic_wrong(of, OCHE_JUDGE_SENDER, sender->stream, at, psn, __VA_ARGS__)

struct sender {
    uint32_t stream;
    bool begun, pending;
    bool not_ready;   /* the receiver has said so: a repeat is no timeout */
    uint32_t next;    /* PSN that follows the last one */
    uint32_t highest; /* PSN behind all that were sent */
    uint32_t nak;     /* PSN of the pending NACK */
    uint32_t acked;   /* PSN behind all that were acknowledged */
    size_t nak_at;
};

static void restart(const struct oche_nic_case *of, struct sender *sender, size_t at)
{
    const struct oche_seen_packet *packet = &of->trace->packets[at];
    const uint32_t psn = oche_nic_relative(of, sender->stream, packet->psn);

    if (!sender->pending) {
        of->check->counters.local_ack_timeout_err += !sender->not_ready;
        sender->not_ready = false;
        return;
    }
    if (packet->psn != sender->nak) {
        WRONG(at, packet->psn, "restarts at PSN %u, not at %u as the NACK asks", psn,
              oche_nic_relative(of, sender->stream, sender->nak));
    } else {
        of->check->counters.packet_seq_err++;
        if (packet->number != 0)
            oche_nic_sample(&of->check->latencies[0][OCHE_LATENCY_REACTION],
                            packet->when - of->trace->packets[sender->nak_at].when);
    }
    sender->pending = false;
}

static void see_data(const struct oche_nic_case *of, struct sender *sender, size_t at)
{
    const uint32_t psn = of->trace->packets[at].psn;

    if (!sender->begun) {
        sender->begun = true;
        sender->highest = sender->acked = psn;
    } else if (oche_psn_diff(psn, sender->next) > 0 && oche_psn_diff(psn, sender->acked) > 0) {
        WRONG(at, psn, "PSN %u follows %u", oche_nic_relative(of, sender->stream, psn),
              oche_nic_relative(of, sender->stream, oche_psn_add(sender->next, OCHE_PSN_MASK)));
    } else if (oche_psn_diff(psn, sender->next) < 0) {
        restart(of, sender, at);
    } /* else it goes on, perhaps behind packets that were acknowledged meanwhile */
    sender->next = oche_psn_add(psn, 1);
    if (oche_psn_diff(sender->next, sender->highest) > 0)
        sender->highest = sender->next;
}

/* `upto`: the PSN behind the last one that the ACK or NACK acknowledges. */
static void see_ack(const struct oche_nic_case *of, struct sender *sender, size_t at, uint32_t upto)
{
    const uint32_t psn = of->trace->packets[at].psn;

    if (!sender->begun) {
        WRONG(at, psn, "an ACK comes before any data");
        return;
    }
    if (oche_psn_diff(upto, sender->acked) < 0)
        WRONG(at, psn, "the ACK falls, to PSN %u", oche_nic_relative(of, sender->stream, psn));
    else
        sender->acked = upto;
    if (sender->pending && oche_psn_diff(upto, sender->nak) > 0)
        sender->pending = false; /* repaired by a timeout before the NACK came */
}

static void see_nak(const struct oche_nic_case *of, struct sender *sender, size_t at)
{
    const uint32_t psn = of->trace->packets[at].psn;

    see_ack(of, sender, at, psn);
    if (sender->pending)
        WRONG(at, psn, "a second NACK is in flight");
    sender->pending = true;
    sender->nak = psn;
    sender->nak_at = at;
}

static void end(const struct oche_nic_case *of, struct sender *sender)
{
    const uint32_t first = of->trace->streams[sender->stream].first;
    const uint32_t behind = oche_psn_add(first, (uint32_t)of->expected->packets);

    if (!sender->begun)
        return;
    if (of->expected->packets > 0 && sender->highest != behind)
        WRONG(SIZE_MAX, sender->highest, "%u packets were sent, not %u",
              oche_nic_relative(of, sender->stream, sender->highest),
              (uint32_t)of->expected->packets);
    else if (sender->acked != sender->highest)
        WRONG(SIZE_MAX, sender->acked, "only %u of %u packets are acknowledged at the end",
              oche_nic_relative(of, sender->stream, sender->acked),
              oche_nic_relative(of, sender->stream, sender->highest));
}

void oche_nic_judge_sender(const struct oche_nic_case *of, uint32_t stream)
{
    struct sender state = {.stream = stream}, *sender = &state;

    of->check->verdicts[OCHE_JUDGE_SENDER].judged = true;
    for (size_t k = 0; k < of->count; k++) {
        const size_t i = of->list[k];
        const struct oche_seen_packet *packet = &of->trace->packets[i];

        if (packet->kind == OCHE_SEEN_DATA)
            see_data(of, sender, i);
        else if (packet->kind == OCHE_SEEN_ACK)
            see_ack(of, sender, i, oche_psn_add(packet->psn, 1));
        else if (packet->kind == OCHE_SEEN_NAK)
            see_nak(of, sender, i);
        else if (packet->kind == OCHE_SEEN_RNR)
            sender->not_ready = true;
    }
    end(of, sender);
}
