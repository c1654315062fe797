/* SPDX-License-Identifier: Apache-2.0 */
/* Which kind of timeouts an adapter has, and the simplest kind itself; see timeouts.h. */
#include "core/nic/timeouts.h"

#define FIRST_DOUBLING (2 * OCHE_MS)
#define DOUBLINGS      3

void oche_timeouts_start(const struct oche_timeouts *how, struct oche_timeouts_run *run,
                         struct oche_random *random)
{
    *run = (struct oche_timeouts_run){.range = OCHE_ADAPTIVE_RANGES};
    if (how->kind == OCHE_TIMEOUTS_CONNECTX6)
        run->first = (uint32_t)oche_random_below(random, OCHE_CONNECTX6_FIRSTS);
    else if (how->kind == OCHE_TIMEOUTS_PROFILE)
        timeouts_profile_start(how, run, random);
}

static oche_time doubling(uint32_t expired)
{
    return FIRST_DOUBLING << (expired < DOUBLINGS ? expired : DOUBLINGS);
}

oche_time oche_timeouts_wait(const struct oche_timeouts *how, const struct oche_timeouts_run *run,
                             oche_time asked)
{
    switch (how->kind) {
    case OCHE_TIMEOUTS_DOUBLING:
        return doubling(run->expired);
    case OCHE_TIMEOUTS_CONNECTX6:
        return timeouts_connectx6_wait(how, run, asked);
    case OCHE_TIMEOUTS_PROFILE:
        return timeouts_profile_wait(how, run, asked);
    default:
        return asked;
    }
}

enum oche_timeout oche_timeouts_expired(const struct oche_timeouts *how,
                                        struct oche_timeouts_run *run, oche_time asked,
                                        uint32_t retry_count)
{
    enum oche_timeout means;

    run->waited = oche_time_add(run->waited, oche_timeouts_wait(how, run, asked));
    switch (how->kind) {
    case OCHE_TIMEOUTS_CONNECTX6:
        means = timeouts_connectx6_expired(how, run, asked, retry_count);
        break;
    case OCHE_TIMEOUTS_PROFILE:
        means = timeouts_profile_expired(how, run, asked, retry_count);
        break;
    default:
        means = run->expired < retry_count ? OCHE_TIMEOUT_REPEATS : OCHE_TIMEOUT_GIVES_UP;
        break;
    }
    run->expired += run->expired < UINT32_MAX;
    return means;
}

void oche_timeouts_progress(const struct oche_timeouts *how, struct oche_timeouts_run *run)
{
    if (how->kind == OCHE_TIMEOUTS_PROFILE)
        timeouts_profile_progress(how, run);
    run->expired = run->regular = 0;
    run->waited = 0;
}

oche_time oche_timeouts_longest(const struct oche_timeouts *how, oche_time asked,
                                uint32_t retry_count)
{
    switch (how->kind) {
    case OCHE_TIMEOUTS_DOUBLING:
        return doubling(retry_count);
    case OCHE_TIMEOUTS_CONNECTX6:
        return timeouts_connectx6_longest(how, asked, retry_count);
    case OCHE_TIMEOUTS_PROFILE:
        return timeouts_profile_longest(how, asked);
    default:
        return asked;
    }
}

uint64_t oche_timeouts_most(const struct oche_timeouts *how, oche_time asked)
{
    if (how->kind != OCHE_TIMEOUTS_PROFILE || how->profile.qp_total_timeout || asked == OCHE_NEVER)
        return 0;
    return timeouts_profile_most(how, asked);
}
