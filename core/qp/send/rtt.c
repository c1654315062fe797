/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the round-trip times of packets that asked for an ACK. After going back it measures
 * nothing until new packets leave, because an ACK could be for either transmission. If more such
 * packets are in flight than there are places, the earlier ones are measured.
 */
#include "core/qp/send/sender.h"

uint32_t rtt_first_asked(const struct oche_qp *qp)
{
    if (!(qp->flags & QP_TAKES_RTT) || snd(qp)->rtt_head == snd(qp)->rtt_tail)
        return snd(qp)->last_ack_request;
    return snd(qp)->rtt->samples[snd(qp)->rtt_head & (RTT_SAMPLES - 1)].psn;
}

void rtt_sent(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    const uint32_t waiting = snd(qp)->rtt_tail - snd(qp)->rtt_head;

    OCHE_MUST(waiting <= RTT_SAMPLES);
    if (waiting == RTT_SAMPLES)
        return;
    snd(qp)->rtt->samples[snd(qp)->rtt_tail++ & (RTT_SAMPLES - 1)] =
        (struct rtt_sample){.sent = now, .psn = psn};
}

/*
 * Lets as many packets be outstanding as the path delivers in the least round trip, beside those
 * that the peer can hold. Looks once in such a time.
 */
static OCHE_NOINLINE void grow_window(struct oche_qp *qp, oche_time now)
{
    struct rtt_log *log = snd(qp)->rtt;
    const uint32_t packets = (snd(qp)->tx.una - log->since_una) & OCHE_PSN_MASK;
    const oche_time passed = now - log->since;
    uint64_t window;

    if (passed < snd(qp)->least_rtt)
        return;
    window = log->least_window + (uint64_t)((oche_u128)packets * snd(qp)->least_rtt / passed);
    snd(qp)->window_packets = window < log->most_window ? (uint32_t)window : log->most_window;
    log->since = now;
    log->since_una = snd(qp)->tx.una;
}

oche_time rtt_acked(struct oche_qp *qp, oche_time now)
{
    oche_time rtt = OCHE_NEVER;

    while (snd(qp)->rtt_head != snd(qp)->rtt_tail) {
        const struct rtt_sample *sample =
            &snd(qp)->rtt->samples[snd(qp)->rtt_head & (RTT_SAMPLES - 1)];
        if (oche_psn_diff(sample->psn, snd(qp)->tx.una) >= 0)
            break;
        if (OCHE_LIKELY(sample->sent != OCHE_NEVER))
            rtt = now - sample->sent;
        snd(qp)->rtt_head++;
    }
    if (rtt == OCHE_NEVER)
        return rtt;
    if (rtt < snd(qp)->least_rtt)
        snd(qp)->least_rtt = rtt;
    if (qp->nic->recovery->measured != NULL)
        qp->nic->recovery->measured(&snd(qp)->tx, rtt);
    if (snd(qp)->rtt->most_window > 0)
        grow_window(qp, now);
    return rtt;
}

void rtt_forget(struct oche_qp *qp)
{
    while (snd(qp)->rtt_tail != snd(qp)->rtt_head &&
           oche_psn_diff(snd(qp)->rtt->samples[(snd(qp)->rtt_tail - 1) & (RTT_SAMPLES - 1)].psn,
                         snd(qp)->tx.next) >= 0)
        snd(qp)->rtt_tail--;
}

/* Returns the sample of packet `psn`, or NULL. Samples are in the order of their PSNs. */
static struct rtt_sample *sample_of(const struct oche_qp *qp, uint32_t psn)
{
    uint32_t low = snd(qp)->rtt_head, high = snd(qp)->rtt_tail;

    while (low != high) {
        const uint32_t middle = low + (high - low) / 2;
        struct rtt_sample *sample = &snd(qp)->rtt->samples[middle & (RTT_SAMPLES - 1)];
        const int32_t ahead = oche_psn_diff(psn, sample->psn);

        if (ahead == 0)
            return sample;
        if (ahead > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

oche_time rtt_sacked(const struct oche_qp *qp, uint32_t psn, oche_time now)
{
    const struct rtt_sample *sample = sample_of(qp, psn);

    return sample == NULL || sample->sent == OCHE_NEVER ? OCHE_NEVER : now - sample->sent;
}

void rtt_set(struct oche_qp *qp, uint32_t psn, oche_time sent)
{
    struct rtt_sample *sample = sample_of(qp, psn);

    if (sample != NULL)
        sample->sent = sent;
}
