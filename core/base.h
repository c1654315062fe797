/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, rates and assertions: what every other file of the project stands on.
 *
 * Time is unsigned 64-bit picoseconds (a byte at 400 Gbit/s is 20 ps). Rates are bits per second,
 * sizes are bytes. This is the one place that converts between them, always rounding up, so that
 * a packet never leaves earlier than the line allows.
 */
#ifndef OCHE_CORE_BASE_H
#define OCHE_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* C++ programs include these headers as they are. */
#ifdef __cplusplus
#define OCHE_C_BEGIN       extern "C" {
#define OCHE_C_END         }
#define OCHE_NORETURN      [[noreturn]]
#define OCHE_STATIC_ASSERT static_assert
#else
#define OCHE_C_BEGIN
#define OCHE_C_END
#define OCHE_NORETURN      _Noreturn
#define OCHE_STATIC_ASSERT _Static_assert
#endif

OCHE_C_BEGIN

typedef uint64_t oche_time;                        /* picoseconds */
__extension__ typedef unsigned __int128 oche_u128; /* for products of bytes, times and rates */

#define OCHE_NEVER UINT64_MAX
#define OCHE_PS    UINT64_C(1)
#define OCHE_NS    UINT64_C(1000)
#define OCHE_US    UINT64_C(1000000)
#define OCHE_MS    UINT64_C(1000000000)
#define OCHE_SEC   UINT64_C(1000000000000)

#define OCHE_KBPS UINT64_C(1000)
#define OCHE_MBPS UINT64_C(1000000)
#define OCHE_GBPS UINT64_C(1000000000)

#define OCHE_CACHE_LINE 64

/* Returns `bytes` rounded up to whole cache lines. */
static inline size_t oche_lines(size_t bytes)
{
    return (bytes + OCHE_CACHE_LINE - 1) & ~(size_t)(OCHE_CACHE_LINE - 1);
}

/*
 * Reserves `bytes` for the next part of an object that lies in its caller's memory. Returns the
 * offset of the part, which is the first multiple of `unit` (a power of 2) at or behind `*end`, and
 * moves `*end` behind the part.
 */
static inline size_t oche_place(size_t *end, size_t bytes, size_t unit)
{
    size_t at = (*end + unit - 1) & ~(unit - 1);

    *end = at + bytes;
    return at;
}

#define OCHE_LIKELY(x)   __builtin_expect(!!(x), 1)
#define OCHE_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * For the packet path: OCHE_ALWAYS_INLINE for functions that have a second, rare caller too;
 * OCHE_NOINLINE for functions that rarely run.
 */
#define OCHE_ALWAYS_INLINE inline __attribute__((always_inline))
#define OCHE_NOINLINE      __attribute__((noinline))

/*
 * Reports a broken invariant and does not return. Each program that links core supplies it (the
 * simulator adds the command that repeats the run). Never reachable from input.
 */
OCHE_NORETURN void oche_panic(const char *file, int line, const char *what);

/* Checks an invariant of our own code, in every build. Not for checking input. */
#define OCHE_MUST(condition)                                                                       \
    do {                                                                                           \
        if (OCHE_UNLIKELY(!(condition)))                                                           \
            oche_panic(__FILE__, __LINE__, #condition);                                            \
    } while (0)

/*
 * Checks that the system has given memory, or what else it may refuse. If not, that is no bug:
 * oche_panic knows it by the first words.
 */
#define OCHE_OUT_OF_MEMORY "out of memory"
#define OCHE_GOT(condition)                                                                        \
    do {                                                                                           \
        if (OCHE_UNLIKELY(!(condition)))                                                           \
            oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY);                                    \
    } while (0)

/* Number of elements of an array. Not for a pointer to an array's first element. */
#define OCHE_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define OCHE_CONTAINER(pointer, type, member)                                                      \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Returns the time to send `bytes` at `bps`, rounded up. `bps` must not be 0. */
static inline oche_time oche_time_of_bytes(uint64_t bytes, uint64_t bps)
{
    const uint64_t bits_ps = 8 * OCHE_SEC;

    if (OCHE_LIKELY(bytes < UINT64_MAX / (16 * OCHE_SEC)))
        return (bytes * bits_ps + bps - 1) / bps;
    oche_u128 ps = ((oche_u128)bytes * bits_ps + bps - 1) / bps;
    return ps >= OCHE_NEVER ? OCHE_NEVER : (oche_time)ps;
}

/* Returns the bytes that a line of `bps` carries in `duration`, rounded up. */
static inline uint64_t oche_bytes_in_time(oche_time duration, uint64_t bps)
{
    oche_u128 bits_ps = (oche_u128)duration * bps;
    const uint64_t byte_ps = 8 * OCHE_SEC;

    return (uint64_t)((bits_ps + byte_ps - 1) / byte_ps);
}

/*
 * Returns the rate, in bit/s, at which `bytes` take `duration`, rounded down; 0 if `duration` is 0.
 */
static inline uint64_t oche_rate_of(uint64_t bytes, oche_time duration)
{
    if (duration == 0)
        return 0;
    return (uint64_t)((oche_u128)bytes * 8 * OCHE_SEC / duration);
}

/* Returns a + b, or OCHE_NEVER if the sum would exceed it. */
static inline oche_time oche_time_add(oche_time a, oche_time b)
{
    return a > OCHE_NEVER - b ? OCHE_NEVER : a + b;
}

static inline oche_time oche_time_min(oche_time a, oche_time b)
{
    return a < b ? a : b;
}

static inline oche_time oche_time_max(oche_time a, oche_time b)
{
    return a > b ? a : b;
}

/* 24-bit packet sequence numbers (rocev2.md#psns). */
#define OCHE_PSN_MASK UINT32_C(0xffffff)

static inline uint32_t oche_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & OCHE_PSN_MASK;
}

/*
 * Returns the signed distance a - b of 24-bit PSNs, which wrap around; negative if a comes before
 * b.
 */
static inline int32_t oche_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

OCHE_C_END

#endif
