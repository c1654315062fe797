/* SPDX-License-Identifier: Apache-2.0 */
/* Held packets, by time and then by order of arrival; see the header. */
#include "sim/network/feedback.h"

struct oche_feedback oche_feedback_make(oche_time jitter, uint64_t seed, uint64_t entity)
{
    return (struct oche_feedback){.jitter = jitter,
                                  .random = oche_random_stream(seed, "feedback jitter", entity)};
}

void oche_feedback_hold(struct oche_feedback *feedback, struct oche_arena *arena,
                        struct oche_packet *packet, oche_time now)
{
    const struct oche_deferred held = {
        .until = now + oche_random_below(&feedback->random, feedback->jitter + 1),
        .object = packet,
    };

    oche_deferred_add(&feedback->held, arena, &held);
}

struct oche_packet *oche_feedback_take(struct oche_feedback *feedback, oche_time now)
{
    struct oche_deferred held;

    return oche_deferred_take(&feedback->held, now, &held) ? held.object : NULL;
}
