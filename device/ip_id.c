/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and predicting the IPv4 identification.
 *
 * CRC registers are polynomials modulo P = the Ethernet polynomial, reflected: the coefficient of
 * x^i is bit 31 - i. A 16-bit field M followed by n bytes adds M * x^(32 + 8n) mod P to the CRC, so
 * M is the difference times x^-(32 + 8n). It must have no coefficient above x^15: that is the
 * check that remains.
 */
#include "device/ip_id.h"

#define POLYNOMIAL UINT32_C(0xedb88320) /* without x^32 */
#define ONE        (UINT32_C(1) << 31)
/* x^-1: (P + 1) / x, where P + 1 has no constant term, and x^32 becomes x^31. */
#define INVERSE_OF_X (((POLYNOMIAL ^ ONE) << 1) | 1)

#define SEGMENTS  128 /* of one send, at most */
#define SKIPPED   64  /* lost in a row, and not yet suspicious */
#define REORDERED 32
#define TICK      OCHE_MS /* the shortest clock tick in use */

static uint32_t times_x(uint32_t a)
{
    return (a & 1) != 0 ? (a >> 1) ^ POLYNOMIAL : a >> 1;
}

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (; a != 0; a <<= 1, b = times_x(b))
        if ((a & ONE) != 0)
            product ^= b;
    return product;
}

bool oche_ip_id_solve(uint32_t difference, uint32_t after, uint16_t *change)
{
    uint32_t power = INVERSE_OF_X, field = difference;

    for (uint32_t bits = 32 + 8 * after; bits != 0; bits >>= 1) {
        if ((bits & 1) != 0)
            field = multiply(field, power);
        power = multiply(power, power);
    }
    if ((field & 0xffff) != 0)
        return false;
    /* x^15 is the lowest bit of the first byte, x^0 the highest of the second. */
    *change = (uint16_t)((field >> 16 & 0xff) << 8 | field >> 24);
    return true;
}

bool oche_ip_id_expected(const struct oche_ip_ids *ids, uint16_t id, oche_time now)
{
    const oche_time silent = now - ids->when;
    uint16_t ahead;
    uint64_t most;

    if (id < SEGMENTS)
        return true;
    if (!ids->known)
        return false;
    ahead = (uint16_t)(id - ids->last + REORDERED);
    most = REORDERED + SKIPPED + silent / TICK;
    return ahead <= most;
}

void oche_ip_id_note(struct oche_ip_ids *ids, uint16_t id, oche_time now)
{
    ids->known = true;
    ids->last = id;
    ids->when = now;
}
