/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which packets a link delivers late, so that later ones overtake them: each packet
 * independently, by a random time. There is one object per link and direction, with its own random
 * stream. Frames of the link itself (PFC, credits) are never late.
 */
#ifndef OCHE_FABRIC_LATE_H
#define OCHE_FABRIC_LATE_H

#include "core/base.h"
#include "core/random.h"
#include "core/wire/packet.h"
#include "fabric/arrivals.h"

struct oche_late {
    uint64_t threshold; /* a packet is late if its random 63-bit number is below this */
    oche_time least, most;
    struct oche_random random;
    uint64_t count; /* packets that were late */
    /* of late packets; while its capacity is on the way, further packets are on time */
    struct oche_arrivals *arrivals;
};

/* Returns the bytes of memory for oche_late_create, for a link of this rate. */
size_t oche_late_bytes(double probability, oche_time most, uint64_t rate_bps);
/*
 * Makes the object in `memory` (aligned to 8), which stays the caller's. Late packets are late by
 * `least` to `most`. `entity` names the link and direction in the random stream.
 */
struct oche_late *oche_late_create(void *memory, double probability, oche_time least,
                                   oche_time most, uint64_t rate_bps, uint64_t seed,
                                   uint64_t entity);
/*
 * Returns when a packet arrives that would arrive at `when` if it were on time. To be called once
 * for each packet that is put on the link, in the order in which they are sent.
 */
oche_time oche_late_arrival(struct oche_late *late, const struct oche_packet *packet,
                            oche_time when);

#endif
