/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pins: ports that packets of single flows take at a switch, whatever its routes to their
 * destination are. A flow is known by its destination and the hash of its five-tuple. The driver
 * owns the memory and fills it before packets arrive; a switch without pins pays one test.
 */
#ifndef OCHE_FABRIC_PINS_H
#define OCHE_FABRIC_PINS_H

#include "core/base.h"
#include "core/random.h"

#define OCHE_NO_PIN UINT32_MAX

struct oche_pin {
    uint32_t dst, flow_hash;
    uint32_t port; /* OCHE_NO_PIN: the place is free */
};

/* The pins of one switch, as a hash table. At least one place is free. */
struct oche_pins {
    struct oche_pin *places;
    uint32_t mask; /* the number of places, a power of two, less one */
};

/* Returns the place of the flow's pin, or the free place where it belongs. */
static inline struct oche_pin *oche_pin_place(const struct oche_pins *pins, uint32_t dst,
                                              uint32_t flow_hash)
{
    uint32_t at = (uint32_t)oche_mix64((uint64_t)dst << 32 | flow_hash) & pins->mask;

    while (pins->places[at].port != OCHE_NO_PIN &&
           (pins->places[at].dst != dst || pins->places[at].flow_hash != flow_hash))
        at = (at + 1) & pins->mask;
    return &pins->places[at];
}

#endif
