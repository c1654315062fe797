/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the codes in an AETH's syndrome byte (rocev2.md#aeth). */
#include "core/wire/aeth.h"

#define CODES          32
#define CODE_UNLIMITED 31
#define RNR_UNIT       (10 * OCHE_US) /* every wait is a multiple of 10 µs */

static const uint32_t rnr_waits[CODES] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static const uint32_t credit_counts[CODES] = {
    0,    1,    2,    3,     4,     6,     8,     12,
    16,   24,   32,   48,    64,    96,    128,   192,
    256,  384,  512,  768,   1024,  1536,  2048,  3072,
    4096, 6144, 8192, 12288, 16384, 24576, 32768, OCHE_CREDITS_UNLIMITED,
};

oche_time oche_rnr_wait(uint8_t code)
{
    return rnr_waits[code & OCHE_AETH_CODE_MASK] * RNR_UNIT;
}

uint8_t oche_rnr_code(oche_time wait)
{
    for (uint8_t code = 1; code < CODES; code++)
        if (oche_rnr_wait(code) >= wait)
            return code;
    return 0;
}

uint32_t oche_credits(uint8_t code)
{
    return credit_counts[code & OCHE_AETH_CODE_MASK];
}

uint8_t oche_credit_code(uint32_t credits)
{
    uint8_t code = CODE_UNLIMITED;

    while (credit_counts[code] > credits)
        code--;
    return code;
}

const char *oche_syndrome_name(uint8_t syndrome)
{
    static const char *const naks[] = {
        "NAK PSN sequence error",       "NAK invalid request",    "NAK remote access error",
        "NAK remote operational error", "NAK invalid RD request",
    };
    const uint8_t code = oche_aeth_code(syndrome);

    switch (oche_aeth_kind(syndrome)) {
    case OCHE_AETH_ACK:
        return "ACK";
    case OCHE_AETH_RNR:
        return "RNR NAK";
    case OCHE_AETH_NAK:
        return code < sizeof naks / sizeof naks[0] ? naks[code] : "NAK of reserved code";
    case OCHE_AETH_RESERVED:
        break;
    }
    return "reserved syndrome";
}
