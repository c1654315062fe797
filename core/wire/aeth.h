/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AETH's syndrome byte: acknowledgement with a credit count, "receiver not ready" with a wait,
 * or negative acknowledgement with a cause (rocev2.md#aeth).
 */
#ifndef OCHE_CORE_WIRE_AETH_H
#define OCHE_CORE_WIRE_AETH_H

#include "core/base.h"

OCHE_C_BEGIN

/* Bits 7-5 of the syndrome. All values not listed here are reserved. */
enum oche_aeth_kind {
    OCHE_AETH_ACK = 0,
    OCHE_AETH_RNR = 1,
    OCHE_AETH_RESERVED = 2,
    OCHE_AETH_NAK = 3,
};

#define OCHE_AETH_KIND_SHIFT 5
#define OCHE_AETH_CODE_MASK  0x1f

/* Whole syndromes. */
enum oche_syndrome {
    OCHE_SYNDROME_ACK = 0x1f, /* an ACK that sets no credit limit */
    OCHE_SYNDROME_RNR = 0x20, /* RNR NAK: add the timer code to this */
    OCHE_SYNDROME_NAK_SEQUENCE = 0x60,
    OCHE_SYNDROME_NAK_INVALID_REQUEST = 0x61,
    OCHE_SYNDROME_NAK_REMOTE_ACCESS = 0x62,
    OCHE_SYNDROME_NAK_REMOTE_OPERATION = 0x63,
    OCHE_SYNDROME_NAK_INVALID_RD_REQUEST = 0x64,
};

#define OCHE_CREDITS_UNLIMITED UINT32_MAX

static inline enum oche_aeth_kind oche_aeth_kind(uint8_t syndrome)
{
    const unsigned kind = syndrome >> OCHE_AETH_KIND_SHIFT;

    return kind > OCHE_AETH_NAK ? OCHE_AETH_RESERVED : (enum oche_aeth_kind)kind;
}

static inline uint8_t oche_aeth_code(uint8_t syndrome)
{
    return syndrome & OCHE_AETH_CODE_MASK;
}

/* Returns the AETH word of a syndrome and a message sequence number (24 bits). */
static inline uint32_t oche_aeth(uint8_t syndrome, uint32_t msn)
{
    return (uint32_t)syndrome << 24 | (msn & OCHE_PSN_MASK);
}

/*
 * Returns the wait that RNR timer code 0 … 31 asks for; code 0 is the longest wait. Only the low
 * five bits of `code` are used.
 */
oche_time oche_rnr_wait(uint8_t code);
/*
 * Returns the code with the shortest wait that is at least `wait`. If all waits are shorter,
 * returns code 0 (655.36 ms).
 */
uint8_t oche_rnr_code(oche_time wait);

/*
 * Returns the number of work requests that credit code 0 … 31 allows; OCHE_CREDITS_UNLIMITED for
 * 31.
 */
uint32_t oche_credits(uint8_t code);
/* Returns the code that stands for the most credits that do not exceed `credits`. */
uint8_t oche_credit_code(uint32_t credits);

/*
 * Returns the syndrome's name: "ACK", "RNR NAK", "NAK PSN sequence error", …, or "reserved
 * syndrome".
 */
const char *oche_syndrome_name(uint8_t syndrome);

OCHE_C_END

#endif
