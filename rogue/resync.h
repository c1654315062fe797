/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the libraries of the two ends that bring a failed queue pair back (RoGUE sec
 * 3.5; the paper has the outline, rogue.md#resync the protocol). They travel by datagrams, may be
 * lost, doubled or forged, and are idempotent: an epoch counts how often a queue pair has failed.
 *
 *     REQUEST  "in this epoch I shall send from this PSN"; repeated until answered
 *     REPLY    the same, from the other end, which is ready to receive
 *     DONE     the first end is ready, too
 */
#ifndef OCHE_ROGUE_RESYNC_H
#define OCHE_ROGUE_RESYNC_H

#include "core/base.h"

#define ROGUE_RESYNC_BYTES 24

enum rogue_resync_kind { ROGUE_RESYNC_REQUEST = 1, ROGUE_RESYNC_REPLY, ROGUE_RESYNC_DONE };

struct rogue_resync {
    uint8_t kind; /* enum rogue_resync_kind */
    uint8_t qp;   /* 0 or 1: which of the two queue pairs */
    uint32_t epoch;
    uint32_t psn; /* the first PSN that the message's sender will use; 0 in DONE */
    /*
     * The connection's token, chosen when the connection was made. A forger would have to know it.
     */
    uint64_t token;
};

void rogue_resync_encode(const struct rogue_resync *message, uint8_t bytes[ROGUE_RESYNC_BYTES]);
/* Returns false for bytes that no encoder makes. */
bool rogue_resync_decode(const uint8_t *bytes, size_t count, struct rogue_resync *message);

#endif
