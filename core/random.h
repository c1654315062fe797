/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers from named streams. A stream is (seed, purpose, entity). The numbers of a stream
 * do not depend on any other stream, so an added switch or flow changes nothing elsewhere. The
 * generator is splitmix64: 8 bytes of state, so each port can own one.
 */
#ifndef OCHE_CORE_RANDOM_H
#define OCHE_CORE_RANDOM_H

#include "core/base.h"

OCHE_C_BEGIN

struct oche_random {
    uint64_t state;
};

static inline uint64_t oche_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Returns the stream for `entity` (a node, a port, a flow) and `purpose` ("red", "loss", …). */
static inline struct oche_random oche_random_stream(uint64_t seed, const char *purpose,
                                                    uint64_t entity)
{
    uint64_t h = oche_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));

    for (const char *c = purpose; *c != '\0'; c++)
        h = oche_mix64(h ^ (uint64_t)(unsigned char)*c);
    struct oche_random random = {oche_mix64(h ^ oche_mix64(entity + 1))};
    return random;
}

static inline uint64_t oche_random_u64(struct oche_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return oche_mix64(random->state);
}

/* Returns a uniform number in [0, n); n must not be 0. The bias is below n / 2^64. */
static inline uint64_t oche_random_below(struct oche_random *random, uint64_t n)
{
    return (uint64_t)(((oche_u128)oche_random_u64(random) * n) >> 64);
}

/* Returns a uniform number in [0, 1), a multiple of 2^-53. */
static inline double oche_random_unit(struct oche_random *random)
{
    return (double)(oche_random_u64(random) >> 11) * 0x1p-53;
}

OCHE_C_END

#endif
