/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reordering window, as RACK has it (RFC 8985): a packet that is missing while later ones have
 * arrived may be late. It counts as lost only after some time.
 *
 *   Window   a quarter of the least round trip (sec 6.2), times `steps`, and at most the smoothed
 *            round trip. Each round trip in which packets were sent again that had not been lost
 *            adds a step; after PERSIST recoveries without such packets there is one step again.
 *            While no packet of the connection has ever been late, the window is 0 if
 *            OCHE_REORDER_PACKETS or more have arrived behind a gap, or in a recovery.
 *   Suspects the window runs from when the sender hears that a later packet has arrived. RACK
 *            counts from when the missing packet left, which the arrival of the next one tells as
 *            well: so no time is kept for each packet, but a list of "packets before this PSN
 *            count as lost at this time", with a granularity of an eighth of the window.
 *
 * An acknowledgement that shows that a packet was sent again in vain is called a duplicate here
 * (D-SACK in TCP, RFC 3708).
 */
#ifndef OCHE_CORE_RECOVERY_REORDER_H
#define OCHE_CORE_RECOVERY_REORDER_H

#include "core/base.h"

#define OCHE_REORDER_PACKETS 3    /* DupThresh */
#define OCHE_REORDER_PERSIST 16   /* RACK.reo_wnd_persist */
#define OCHE_REORDER_STEPS   1000 /* more are never of use */

struct oche_reorder {
    oche_time least_rtt, srtt; /* 0: not measured */
    uint32_t round_end;        /* duplicates of this round trip have been counted; with `counted` */
    uint16_t steps;
    uint8_t persist;
    bool seen; /* a packet was late */
    bool counted;
};

static inline void oche_reorder_measured(struct oche_reorder *reorder, oche_time rtt)
{
    if (reorder->least_rtt == 0 || rtt < reorder->least_rtt)
        reorder->least_rtt = rtt;
    reorder->srtt = reorder->srtt == 0 ? rtt : reorder->srtt - reorder->srtt / 8 + rtt / 8;
}

/*
 * Returns how long a missing packet may be late. `arrived`: packets that have arrived behind the
 * gap.
 */
static inline oche_time oche_reorder_window(const struct oche_reorder *reorder, uint32_t arrived,
                                            bool recovering)
{
    if (!reorder->seen && (recovering || arrived >= OCHE_REORDER_PACKETS))
        return 0;
    return oche_time_min(reorder->least_rtt / 4 * (reorder->steps + 1u), reorder->srtt);
}

/* A duplicate was reported. `una` and `high` as in struct oche_recovery_tx. */
static inline void oche_reorder_duplicate(struct oche_reorder *reorder, uint32_t una, uint32_t high)
{
    reorder->seen = true;
    reorder->persist = OCHE_REORDER_PERSIST;
    if (reorder->counted && oche_psn_diff(una, reorder->round_end) < 0)
        return;
    reorder->counted = true;
    reorder->round_end = high;
    if (reorder->steps < OCHE_REORDER_STEPS)
        reorder->steps++;
}

/* A recovery has ended. */
static inline void oche_reorder_recovered(struct oche_reorder *reorder)
{
    if (reorder->persist > 0)
        reorder->persist--;
    if (reorder->persist == 0)
        reorder->steps = 0;
}

/* ---- suspects ---- */

#define OCHE_SUSPECTS 10 /* a window has nine at most */

struct oche_suspect {
    oche_time when; /* then missing packets before `end` count as lost */
    uint32_t end;
};

struct oche_suspects {
    struct oche_suspect list[OCHE_SUSPECTS]; /* oldest first */
    uint32_t count;
};

static inline oche_time oche_suspects_due(const struct oche_suspects *suspects)
{
    return suspects->count == 0 ? OCHE_NEVER : suspects->list[0].when;
}

/* Missing packets before `end` count as lost after `window`, and an eighth of it at most. */
static inline void oche_suspects_note(struct oche_suspects *suspects, uint32_t end,
                                      oche_time window, oche_time now)
{
    const oche_time when = oche_time_add(now, window);
    OCHE_MUST(suspects->count <= OCHE_SUSPECTS);
    struct oche_suspect *last = suspects->count > 0 ? &suspects->list[suspects->count - 1] : NULL;

    if (last != NULL && oche_psn_diff(end, last->end) <= 0)
        return;
    if (last != NULL && when < last->when) {
        last->end = end;
    } else if (suspects->count == OCHE_SUSPECTS) {
        *last = (struct oche_suspect){.when = when, .end = end};
    } else {
        suspects->list[suspects->count++] =
            (struct oche_suspect){.when = oche_time_add(when, window / 8), .end = end};
    }
}

/*
 * Removes the suspects whose time has come. Returns true, and the largest `end`, if there were any.
 */
static inline bool oche_suspects_expire(struct oche_suspects *suspects, oche_time now,
                                        uint32_t *end)
{
    uint32_t expired = 0;

    while (expired < suspects->count && suspects->list[expired].when <= now)
        *end = suspects->list[expired++].end;
    suspects->count -= expired;
    for (uint32_t i = 0; expired > 0 && i < suspects->count; i++)
        suspects->list[i] = suspects->list[i + expired];
    return expired > 0;
}

#endif
