/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification, which the ICRC covers (REFERENCE I.6) and which a UDP socket does not
 * show to its reader. A CRC is affine in every field: if the ICRC is the only thing that does not
 * fit, the difference says which identification the packet had. That spends 16 of the 32 bits of
 * the check, unless the identification found is one that was to be expected:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers the up to 128 segments from there (so do we);
 *   - a little after or just before the last one from this peer: senders that count, with packets
 *     lost or reordered in between. Linux also skips up to one number a clock tick that has
 *     passed since its last packet to that destination.
 * About 220 numbers are expected of a busy peer, so 24 of the 32 bits remain; of a peer that was
 * silent for a minute, 16. IPv6 has no such field, and all 32.
 */
#ifndef OCHE_DEVICE_IP_ID_H
#define OCHE_DEVICE_IP_ID_H

#include "core/base.h"

/* What is known of one peer's identifications. Zeroed at first. */
struct oche_ip_ids {
    oche_time when; /* the last one arrived */
    uint16_t last;
    bool known;
};

/*
 * `difference`: the ICRC computed with a guessed identification, XOR the one that the packet
 * carries; `after`: bytes that the ICRC covers behind the field. True, and *change: the guess XOR
 * *change is the identification that explains the difference. False: none does, the packet is
 * wrong. (A guess of 0 makes *change the identification.)
 */
bool oche_ip_id_solve(uint32_t difference, uint32_t after, uint16_t *change);

/* Whether `id` was to be expected, a question that moves nothing. */
bool oche_ip_id_expected(const struct oche_ip_ids *ids, uint16_t id, oche_time now);
/* A packet with `id` was accepted. */
void oche_ip_id_note(struct oche_ip_ids *ids, uint16_t id, oche_time now);

#endif
