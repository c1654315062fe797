/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's adaptive retransmission with a profile of one's own (docs/papers/nics.md#adaptive): the
 * register's fields, and the algorithm that the vendor describes. All times are exponents.
 */
#include "core/nic/timeouts.h"

#define MOST_EXPONENT 40 /* 4 us * 2^40 is 51 days; more is as much */

static oche_time of_exponent(const struct oche_adaptive_profile *profile, uint64_t exponent)
{
    const uint64_t within = exponent < MOST_EXPONENT ? exponent : MOST_EXPONENT;
    const oche_u128 time = (oche_u128)profile->time_base << within;

    return time < OCHE_NEVER ? (oche_time)time : OCHE_NEVER - 1;
}

static uint32_t range_count(const struct oche_adaptive_profile *profile)
{
    return profile->range_num < OCHE_ADAPTIVE_RANGES ? (uint32_t)profile->range_num
                                                     : OCHE_ADAPTIVE_RANGES;
}

void timeouts_profile_start(const struct oche_timeouts *how, struct oche_timeouts_run *run,
                            struct oche_random *random)
{
    const struct oche_adaptive_profile *profile = &how->profile;
    const uint64_t size =
        profile->timeout_init_range_size > 0 ? profile->timeout_init_range_size : 1;

    run->exponent = (uint8_t)(profile->timeout_init_low_bound + oche_random_below(random, size));
}

oche_time timeouts_profile_wait(const struct oche_timeouts *how,
                                const struct oche_timeouts_run *run, oche_time asked)
{
    return asked == OCHE_NEVER ? OCHE_NEVER
                               : oche_time_min(of_exponent(&how->profile, run->exponent), asked);
}

oche_time timeouts_profile_longest(const struct oche_timeouts *how, oche_time asked)
{
    const struct oche_adaptive_profile *profile = &how->profile;
    uint64_t most =
        profile->timeout_init_low_bound +
        (profile->timeout_init_range_size > 0 ? profile->timeout_init_range_size - 1 : 0);

    for (uint32_t i = 0; i < range_count(profile); i++) {
        const uint64_t last = profile->range[i].low_bound + profile->range[i].size;

        most = last > most ? last : most;
    }
    return asked == OCHE_NEVER ? OCHE_NEVER : oche_time_min(of_exponent(profile, most), asked);
}

uint64_t timeouts_profile_most(const struct oche_timeouts *how, oche_time asked)
{
    const struct oche_adaptive_profile *profile = &how->profile;
    uint64_t least = profile->timeout_init_low_bound;

    for (uint32_t i = 0; i < range_count(profile); i++)
        least = profile->range[i].low_bound < least ? profile->range[i].low_bound : least;
    const oche_time shortest = oche_time_min(of_exponent(profile, least), asked);
    const oche_time total = of_exponent(profile, profile->retx_total_timeout);

    return total / (shortest > 0 ? shortest : 1) + 2;
}

/* After the first timeout: the range that the exponent lies in, or the one to start with. */
static void enter(const struct oche_adaptive_profile *profile, struct oche_timeouts_run *run)
{
    for (uint32_t i = 0; i < range_count(profile); i++) {
        const struct oche_adaptive_range *range = &profile->range[i];

        if (run->exponent >= range->low_bound && run->exponent <= range->low_bound + range->size) {
            run->range = (uint8_t)i;
            return;
        }
    }
    run->range = (uint8_t)profile->start_range_index;
    run->exponent = (uint8_t)profile->range[run->range].low_bound;
}

/* After an expiry within a range: the same exponent, the next one, or the next range. */
static void grow(const struct oche_adaptive_profile *profile, struct oche_timeouts_run *run)
{
    const struct oche_adaptive_range *range = &profile->range[run->range];

    if (++run->in_row < range->retry_num)
        return;
    if (run->exponent < range->low_bound + range->size) {
        run->exponent++;
    } else if (run->range + 1u < range_count(profile)) {
        run->range++;
        run->exponent = (uint8_t)profile->range[run->range].low_bound;
    }
    run->in_row = 0;
}

enum oche_timeout timeouts_profile_expired(const struct oche_timeouts *how,
                                           struct oche_timeouts_run *run, oche_time asked,
                                           uint32_t retry_count)
{
    const struct oche_adaptive_profile *profile = &how->profile;
    const oche_u128 total = profile->qp_total_timeout
                                ? (oche_u128)asked * (retry_count > 0 ? retry_count : 1)
                                : (oche_u128)of_exponent(profile, profile->retx_total_timeout);

    if (run->waited >= total)
        return OCHE_TIMEOUT_ADAPTIVE_GIVES_UP;
    if (run->range == OCHE_ADAPTIVE_RANGES) {
        if (range_count(profile) > 0)
            enter(profile, run);
    } else {
        grow(profile, run);
    }
    return OCHE_TIMEOUT_ADAPTIVE;
}

/* Returns the exponent that is left of `exponent`, at least `low`. */
static uint8_t less(uint8_t exponent, uint64_t low, uint32_t mode)
{
    const uint64_t by = mode == OCHE_DECREASE_BY_4 ? 2 : 1;

    return (uint8_t)(mode == OCHE_DECREASE_TO_LOW || exponent < low + by ? low : exponent - by);
}

void timeouts_profile_progress(const struct oche_timeouts *how, struct oche_timeouts_run *run)
{
    const struct oche_adaptive_profile *profile = &how->profile;

    run->in_row = 0;
    if (run->range >= range_count(profile) || run->expired == 0)
        return;
    const struct oche_adaptive_range *range = &profile->range[run->range];

    if (run->exponent > range->low_bound) {
        run->exponent = less(run->exponent, range->low_bound, range->dec_mode);
    } else if (range->prev_range_index < range_count(profile)) {
        const struct oche_adaptive_range *before = &profile->range[range->prev_range_index];

        run->range = (uint8_t)range->prev_range_index;
        if (before != range)
            run->exponent = (uint8_t)(before->low_bound + before->size);
    }
}
