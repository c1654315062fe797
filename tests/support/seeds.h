/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of random cases of a property test: OCHE_SEEDS per cent. Without that variable all are
 * run, or 10 in a build with a sanitizer, where each takes far longer.
 */
#ifndef OCHE_TESTS_SUPPORT_SEEDS_H
#define OCHE_TESTS_SUPPORT_SEEDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SEEDS_PERCENT           100
#define SEEDS_PERCENT_SANITIZED 10

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEDS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SEEDS_SANITIZED 1
#endif
#endif

static inline uint64_t seeds_percent(void)
{
    const char *text = getenv("OCHE_SEEDS");
    uint64_t percent = text == NULL ? 0 : strtoull(text, NULL, 10);

#ifdef SEEDS_SANITIZED
    return percent > 0 ? percent : SEEDS_PERCENT_SANITIZED;
#else
    return percent > 0 ? percent : SEEDS_PERCENT;
#endif
}

/* Returns how many of `all` cases to run; at least one. */
static inline uint64_t seeds_of(uint64_t all)
{
    return (all * seeds_percent() + 99) / 100;
}

/*
 * True if this many cases are enough for the test's purpose. The few of a build with a sanitizer
 * are the first ones of the release build.
 */
static inline bool seeds_show_all(void)
{
#ifdef SEEDS_SANITIZED
    return seeds_percent() >= 100;
#else
    return true;
#endif
}

/*
 * Returns how many cases must show an event if `least` of all must. If few are run, three quarters
 * of their share, as small numbers vary more; 0 unless they show all.
 */
static inline uint64_t seeds_least(uint64_t least)
{
    uint64_t share = least * seeds_percent() / 100;

    if (!seeds_show_all())
        return 0;
    return seeds_percent() < 100 ? share * 3 / 4 : share;
}

#endif
