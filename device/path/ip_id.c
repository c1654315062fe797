/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding and predicting the IPv4 identification.
 *
 * CRC registers are polynomials modulo P, the Ethernet polynomial, reflected: the coefficient of
 * x^i is bit 31 - i. A 16-bit field M that is followed by n bytes adds M * x^(32 + 8n) mod P to the
 * CRC. So M is the difference of the CRCs times x^-(32 + 8n). In an undamaged packet this M has no
 * coefficient above x^15. This test is the rest of the check.
 */
#include "device/path/ip_id.h"

#include "core/random.h"

#define POLYNOMIAL UINT32_C(0xedb88320) /* without x^32 */
#define ONE        (UINT32_C(1) << 31)
/* x^-1: (P + 1) / x, where P + 1 has no constant term, and x^32 becomes x^31. */
#define INVERSE_OF_X (((POLYNOMIAL ^ ONE) << 1) | 1)

#define SEGMENTS 128 /* most packets in one send */
#define SKIPPED  64  /* a gap of at most this many lost packets is not suspicious */
/* an identification this far behind a count, even one that damage has moved, still fits */
#define REORDERED 64
#define TICK      OCHE_MS      /* the shortest clock tick in use */
#define PROOF     UINT32_C(64) /* expected identifications in a row for the first proof */
#define RELAPSES  12           /* most relapses that count; each doubles PROOF */

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

/* ---- what is expected ---- */

/* Returns a count with a last number close to `id`; NULL: there is none. */
static struct oche_ip_count *find_count(struct oche_ip_ids *ids, uint16_t id, oche_time now)
{
    if (OCHE_LIKELY(!ids->counts[0].known)) /* counts[0] is filled first */
        return NULL;
    const uint64_t most = REORDERED + SKIPPED + (now - ids->when) / TICK;
    for (unsigned i = 0; i < OCHE_IP_COUNTS; i++)
        if (ids->counts[i].known && (uint16_t)(id - ids->counts[i].last + REORDERED) <= most)
            return &ids->counts[i];
    return NULL;
}

/* Begins a count at an unexpected identification, in place of the least recently used count. */
static void begin_count(struct oche_ip_ids *ids, uint16_t id, bool doubted)
{
    struct oche_ip_count *oldest = &ids->counts[0];

    for (unsigned i = 1; i < OCHE_IP_COUNTS && oldest->known; i++)
        if (!ids->counts[i].known ||
            ids->packets - ids->counts[i].used > ids->packets - oldest->used)
            oldest = &ids->counts[i];
    *oldest =
        (struct oche_ip_count){.used = ids->packets, .last = id, .known = true, .doubted = doubted};
}

/*
 * True if the peer has been predictable for so long that an unexpected identification is taken for
 * damage.
 */
static bool proven(const struct oche_ip_ids *ids)
{
    return ids->run >= PROOF << ids->relapses;
}

/* The peer seemed to be predictable but is not. */
static void relapse(struct oche_ip_ids *ids)
{
    if (ids->relapses < RELAPSES)
        ids->relapses++;
    ids->run = 0;
}

enum oche_ip_id_verdict oche_ip_id_judge(struct oche_ip_ids *ids, uint16_t id, oche_time now)
{
    struct oche_ip_count *count = find_count(ids, id, now);
    const bool expected = count != NULL || id < SEGMENTS;
    const bool doubtful = !expected && proven(ids) && !ids->surprised;

    ids->packets++;
    if (count != NULL) {
        if (count->doubted && ids->surprised && id >= SEGMENTS)
            relapse(ids); /* the last packet was not damaged: the peer's count had jumped */
        count->doubted = false;
        count->used = ids->packets;
        if ((uint16_t)(count->last - id) > REORDERED) /* `id` is not behind the count but ahead */
            count->last = id;
    } else if (!expected) {
        begin_count(ids, id, doubtful);
    }
    if (expected)
        ids->run += ids->run < UINT32_MAX;
    else if (!doubtful && proven(ids)) /* the second unexpected identification in a row */
        relapse(ids);
    else if (!doubtful)
        ids->run = 0;
    ids->surprised = !expected;
    ids->last = id;
    ids->when = now;
    if (expected)
        return OCHE_IP_ID_EXPECTED;
    return doubtful ? OCHE_IP_ID_DOUBTFUL : OCHE_IP_ID_SURPRISE;
}

bool oche_ip_id_again(struct oche_ip_ids *ids, uint64_t number)
{
    uint64_t *doubted = &ids->doubted[oche_mix64(number) % OCHE_IP_DOUBTED];
    const bool again = *doubted == number + 1;

    *doubted = again ? 0 : number + 1;
    return again;
}
