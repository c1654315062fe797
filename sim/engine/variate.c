/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How ln x is computed: x = m 2^e with sqrt(1/2) <= m < sqrt(2), so ln x = e ln 2 + ln m. With s =
 * (m-1)/(m+1), whose absolute value is at most 0.172, ln m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + …).
 * Twelve terms of the series leave a relative error below 2^-66. ln 2 is split into two parts so
 * that e times the upper part is exact.
 */
#include "sim/engine/variate.h"

#include <string.h>

/* The last 11 bits of LN2_UPPER are 0, so its product with any exponent is exact. */
#define LN2_UPPER 0x1.62e42fefa3800p-1
#define LN2_LOWER 0x1.ef35793c76730p-45
#define SQRT_HALF 0x1.6a09e667f3bcdp-1

double oche_ln(double x)
{
    double m, f, s, z, odd = 0.0;
    uint64_t bits;
    int exponent;

    memcpy(&bits, &x, sizeof(bits));
    OCHE_MUST(bits >> 52 > 0 && bits >> 52 < 0x7ff);
    exponent = (int)(bits >> 52) - 1022;
    bits = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3fe0000000000000);
    memcpy(&m, &bits, sizeof(m)); /* 0.5 <= m < 1 */
    if (m < SQRT_HALF) {
        m = m * 2.0;
        exponent--;
    }
    f = m - 1.0; /* exact */
    s = f / (2.0 + f);
    z = s * s;
    for (int n = 23; n >= 3; n -= 2)
        odd = (odd + 1.0 / (double)n) * z;
    /* 2 s = f - s f. The larger part, f, is exact, so it adds no rounding error. */
    return (double)exponent * LN2_UPPER +
           (f - (s * (f - 2.0 * odd) - (double)exponent * LN2_LOWER));
}

double oche_random_exponential(struct oche_random *random)
{
    /* uniform in (0, 1], in steps of 2^-53 */
    double u = (double)((oche_random_u64(random) >> 11) + 1) * 0x1p-53;

    return 0.0 - oche_ln(u);
}

oche_time oche_random_exponential_time(struct oche_random *random, oche_time mean)
{
    OCHE_MUST(mean < UINT64_C(1) << 56);
    return (oche_time)(oche_random_exponential(random) * (double)mean + 0.5);
}
