/* SPDX-License-Identifier: Apache-2.0 */
/* Spreads a queue pair's packets over paths; see the header. */
#include "core/qp/spread.h"

#include "core/qp/send/sender.h"

#define MOST_TAKEN 4096 /* packets whose path is remembered */

/* Returns the queue pair's state, which lies behind that of recovery (sender.c). */
static struct spread *spread_of(const struct oche_qp *qp)
{
    uintptr_t end = (uintptr_t)snd(qp)->tx.state + qp->nic->recovery->tx_state_bytes;

    return (struct spread *)((end + SPREAD_ALIGN - 1) & ~(uintptr_t)(SPREAD_ALIGN - 1));
}

static const struct oche_path_scheme *scheme_of(const struct oche_qp *qp)
{
    return qp->nic->config.spread.scheme;
}

/* Returns how many packets have their path remembered: those that can be outstanding. */
static uint32_t taken_of(const struct oche_nic_config *nic)
{
    uint32_t window = 0;

    if (!nic->spread.scheme->hears)
        return 0;
    if (nic->recovery->window_packets != NULL)
        window = nic->recovery->window_packets(nic->recovery_params);
    return window == 0 || window > MOST_TAKEN ? MOST_TAKEN : power_of_two_from(window);
}

/* Returns the bytes before the scheme's state. */
static size_t head_bytes(const struct oche_nic_config *nic)
{
    return (sizeof(struct spread) + taken_of(nic) * sizeof(uint16_t) + 15) & ~(size_t)15;
}

size_t spread_bytes(const struct oche_nic_config *nic, const struct oche_qp_config *config)
{
    if (nic->spread.scheme == NULL || config->transport != OCHE_TRANSPORT_RC)
        return 0;
    return head_bytes(nic) + nic->spread.scheme->state_bytes(nic->spread.paths);
}

void spread_init(struct oche_qp *qp, void *memory)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    struct spread *spread = memory;

    *spread = (struct spread){.state = (char *)memory + head_bytes(nic)};
    if (taken_of(nic) > 0) {
        spread->taken = (void *)(spread + 1);
        spread->taken_mask = taken_of(nic) - 1;
    }
    qp->spreads = true;
    OCHE_MUST(spread_of(qp) == spread);
}

void spread_connect(struct oche_qp *qp)
{
    const struct oche_nic_config *nic = &qp->nic->config;
    const uint64_t entity = (uint64_t)nic->address << 24 | qp->qpn;
    struct spread *spread = spread_of(qp);

    spread->answered = 0;
    spread->marked = false;
    scheme_of(qp)->start(spread->state, nic->spread.paths,
                         oche_random_stream(nic->seed, "paths", entity));
}

/* Returns what a packet that leaves again says of its path. */
static enum oche_path_news news_of(enum oche_resent cause)
{
    switch (cause) {
    case OCHE_RESENT_TIMEOUT:
        return OCHE_PATH_TIMEOUT;
    case OCHE_RESENT_NAK:
    case OCHE_RESENT_SELECTIVE:
        return OCHE_PATH_LOST;
    default:
        return OCHE_PATH_GOOD; /* nothing was lost, or spread_trimmed has told */
    }
}

static void note_again(struct oche_qp *qp, uint32_t psn, oche_time now)
{
    const struct spread *spread = spread_of(qp);
    const enum oche_path_news news = news_of((enum oche_resent)snd(qp)->resent_for);

    if (spread->taken != NULL && news != OCHE_PATH_GOOD && !snd(qp)->resent_twice)
        scheme_of(qp)->hear(spread->state, spread->taken[psn & spread->taken_mask], news, now);
}

void spread_trimmed(struct oche_qp *qp, uint32_t psn, enum oche_trimmed where, oche_time now)
{
    const struct spread *spread = spread_of(qp);

    if (spread->taken != NULL)
        scheme_of(qp)->hear(spread->state, spread->taken[psn & spread->taken_mask],
                            where == OCHE_TRIMMED_LAST_HOP ? OCHE_PATH_GOOD : OCHE_PATH_LOST, now);
}

void spread_send(struct oche_qp *qp, struct oche_packet *packet, oche_time now)
{
    struct spread *spread = spread_of(qp);
    uint32_t path;

    if (!(qp->flags & QP_EXTENDED) && !qp->nic->config.spread.any_recovery)
        return;
    if (OCHE_UNLIKELY(packet->psn != snd(qp)->tx.high))
        note_again(qp, packet->psn, now);
    path = scheme_of(qp)->choose(spread->state, now);
    OCHE_MUST(path < qp->nic->config.spread.paths);
    if (spread->taken != NULL)
        spread->taken[packet->psn & spread->taken_mask] = (uint16_t)path;
    packet->udp_source_port = oche_path_port(qp->udp_source_port, path);
    packet->flow_hash = oche_path_hash(qp->flow_hash, qp->udp_source_port, packet->udp_source_port);
}

void spread_arrived(struct oche_qp *qp, const struct oche_packet *packet)
{
    struct spread *spread = spread_of(qp);
    const bool marked = packet->ecn == OCHE_ECN_CE;

    if (spread->taken == NULL || (spread->marked && !marked))
        return;
    spread->answered = packet->udp_source_port;
    spread->marked = marked;
}

void spread_answer(struct oche_qp *qp, struct oche_packet *packet)
{
    struct spread *spread = spread_of(qp);

    if (spread->answered == 0)
        return;
    packet->udp_source_port = spread->answered;
    packet->flow_hash = oche_path_hash(qp->flow_hash, qp->udp_source_port, spread->answered);
    packet->bth_reserved |= OCHE_BTH_PATH | (spread->marked ? OCHE_BTH_PATH_MARKED : 0);
    spread->answered = 0;
    spread->marked = false;
}

void spread_heard(struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    const struct spread *spread = spread_of(qp);
    const struct oche_spreading *how = &qp->nic->config.spread;
    const uint16_t base = qp->udp_source_port, port = packet->udp_source_port;
    const uint32_t path = how->by_remainder ? oche_path_of_remainder(base, port, how->paths)
                                            : oche_path_of_port(base, port);
    const bool marked = packet->bth_reserved & OCHE_BTH_PATH_MARKED;

    if (spread->taken == NULL || !(packet->bth_reserved & OCHE_BTH_PATH) || path >= how->paths)
        return;
    scheme_of(qp)->hear(spread->state, path, marked ? OCHE_PATH_MARKED : OCHE_PATH_GOOD, now);
}
