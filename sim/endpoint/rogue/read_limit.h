/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of READs as the immediate data of a WRITE (RoGUE sec 3.4): m << e bits per second.
 *
 *     bits 31 to 27   e
 *     bits 26 to 0    m
 *
 * Rates up to 134 Mbit/s are exact, higher ones rounded up by less than a 2^26th. 0 means no limit;
 * only rates above 2^58 bits per second, which no link has, become that.
 */
#ifndef OCHE_SIM_ENDPOINT_ROGUE_READ_LIMIT_H
#define OCHE_SIM_ENDPOINT_ROGUE_READ_LIMIT_H

#include <stdint.h>

#define OCHE_READ_LIMIT_SHIFT    27
#define OCHE_READ_LIMIT_MANTISSA ((UINT32_C(1) << OCHE_READ_LIMIT_SHIFT) - 1)

/* Returns the immediate data for a rate, which is above 0. */
static inline uint32_t oche_read_limit_imm(uint64_t bps)
{
    for (unsigned shift = 0; shift < 32; shift++) {
        uint64_t mantissa = (bps >> shift) + ((bps & ((UINT64_C(1) << shift) - 1)) != 0);

        if (mantissa <= OCHE_READ_LIMIT_MANTISSA)
            return shift << OCHE_READ_LIMIT_SHIFT | (uint32_t)mantissa;
    }
    return 0;
}

/* Returns the rate that immediate data says; 0: no limit. */
static inline uint64_t oche_read_limit_bps(uint32_t imm)
{
    return (uint64_t)(imm & OCHE_READ_LIMIT_MANTISSA) << (imm >> OCHE_READ_LIMIT_SHIFT);
}

#endif
