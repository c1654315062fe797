/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feedback (ACK, NAK, CNP) that is delayed by a random time, as interrupts, firmware or traffic on
 * the return path would delay it. The packet is held at the host to which it is addressed. Each
 * packet gets its own delay, uniform between 0 and the jitter, so packets may overtake each other.
 */
#ifndef OCHE_SIM_NETWORK_FEEDBACK_H
#define OCHE_SIM_NETWORK_FEEDBACK_H

#include "core/random.h"
#include "core/wire/packet.h"
#include "sim/engine/arena.h"
#include "sim/network/deferred.h"

struct oche_feedback {
    oche_time jitter; /* the longest delay; 0: no packet is held */
    struct oche_random random;
    struct oche_deferred_heap held; /* packets */
};

/* `entity` names the random stream: the host's address. */
struct oche_feedback oche_feedback_make(oche_time jitter, uint64_t seed, uint64_t entity);
/* Holds a packet that arrived at `now`. Memory comes from `arena`. */
void oche_feedback_hold(struct oche_feedback *feedback, struct oche_arena *arena,
                        struct oche_packet *packet, oche_time now);
/* Removes and returns the next packet that is due at `now`; NULL if no packet is due. */
struct oche_packet *oche_feedback_take(struct oche_feedback *feedback, oche_time now);

/* Returns when the next packet is due; OCHE_NEVER: none is held. */
static inline oche_time oche_feedback_next(const struct oche_feedback *feedback)
{
    return oche_deferred_next(&feedback->held);
}

#endif
