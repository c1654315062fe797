/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the salt of ECMP. Routing is inline in the header. */
#include "fabric/ecmp.h"

uint64_t oche_ecmp_salt(uint64_t seed, uint32_t node)
{
    struct oche_random stream = oche_random_stream(seed, "ecmp", node);

    return oche_random_u64(&stream);
}

uint64_t oche_ecmp_tier_salt(uint64_t seed, uint32_t tier)
{
    struct oche_random stream = oche_random_stream(seed, "ecmp tier", tier);

    return oche_random_u64(&stream);
}
