/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes the mishaps of a window: packets that links lose or switches drop, and ACK timeouts. Each
 * shard notes its own mishaps. The caller of the network reads and clears the notes between
 * windows, when no shard runs. Notes are kept only if network->keep_mishaps is set; otherwise they
 * would never be cleared. A shard runs its nodes one after the other, so its lists have to be
 * sorted by time.
 */
#ifndef OCHE_SIM_NETWORK_MISHAPS_H
#define OCHE_SIM_NETWORK_MISHAPS_H

#include "core/qp/nic.h"

enum oche_lost_kind { OCHE_LOST_DATA, OCHE_LOST_ACK, OCHE_LOST_NAK };

struct oche_lost_packet {
    oche_time time;
    uint32_t qpn; /* destination queue pair */
    uint32_t psn;
    uint32_t kind; /* enum oche_lost_kind */
};

struct oche_timed_out {
    oche_time time;
    uint32_t qpn;
    struct oche_qp_losses sender; /* the sender's state just before recovery acted */
};

/* Two growing lists. A zeroed struct has two empty lists. */
struct oche_mishaps {
    struct oche_lost_packet *lost;
    struct oche_timed_out *timed_out;
    uint32_t lost_count, lost_capacity;
    uint32_t timed_out_count, timed_out_capacity;
    uint32_t lost_taken, timed_out_taken; /* entries that the reader has handled */
};

/* Notes a lost packet if it is request data, an ACK or a sequence NAK; ignores all others. */
void oche_mishaps_lost(struct oche_mishaps *mishaps, const struct oche_packet *packet,
                       oche_time now);
void oche_mishaps_timed_out(struct oche_mishaps *mishaps, const struct oche_qp *qp, oche_time now);
/* Makes room for so many of both in all, for who fills the lists himself. */
void oche_mishaps_make_room(struct oche_mishaps *mishaps, uint32_t lost, uint32_t timed_out);
/* Brings both lists into the order of time. */
void oche_mishaps_sort(struct oche_mishaps *mishaps);
void oche_mishaps_clear(struct oche_mishaps *mishaps);
void oche_mishaps_free(struct oche_mishaps *mishaps);

#endif
