/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses that have sent a packet. They stay known when their peers are released. Each
 * address has a bit that is computed from it. If two addresses share a bit, a warning may be
 * missing.
 */
#ifndef OCHE_DEVICE_PATH_SEEN_ADDRESSES_H
#define OCHE_DEVICE_PATH_SEEN_ADDRESSES_H

#include <string.h>

#include "core/random.h"
#include "device/path/address.h"

#define OCHE_SEEN_WORDS 64

struct oche_seen_addresses {
    uint64_t bits[OCHE_SEEN_WORDS];
};

/* Notes the address. Returns true if it was noted before. */
static inline bool oche_seen_addresses_add(struct oche_seen_addresses *heard,
                                           const struct oche_address *address)
{
    uint64_t words[2], mask;
    unsigned place;
    bool before;

    memcpy(words, address->ip, sizeof(words));
    place = (unsigned)(oche_mix64(words[0] ^ oche_mix64(words[1])) % (64 * OCHE_SEEN_WORDS));
    mask = UINT64_C(1) << place % 64;
    before = (heard->bits[place / 64] & mask) != 0;
    heard->bits[place / 64] |= mask;
    return before;
}

#endif
