/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name, each with packet memory, ports, and the source of these numbers. */
#ifndef OCHE_FABRIC_CHIPS_H
#define OCHE_FABRIC_CHIPS_H

#include "core/base.h"

struct oche_switch_config;

struct oche_chip {
    const char *name, *chip;
    uint64_t buffer_bytes, rate_bps;
    unsigned ports;
    /*
     * true: the numbers are from the maker of the chip or of a switch with it; false: from others
     */
    bool sure;
    const char *source; /* where the memory's size is published */
    const char *note;   /* a remark for the user; NULL: none */
};

extern const struct oche_chip oche_chips[];
extern const size_t oche_chip_count;

/* The values of the switch parameter `chip`: "auto" and the names of the chips; ends with NULL. */
extern const char *const oche_chip_names[];

/* Returns the chip called `name`, or NULL. */
const struct oche_chip *oche_chip_find(const char *name);

/*
 * Returns the chip of a switch: the one that its parameters name or, for `auto`, the smallest one
 * that has its ports, some of which may be a half or a quarter of one of the chip's; if there is
 * none, the largest.
 */
const struct oche_chip *oche_chip_for(const struct oche_switch_config *config);

/* Returns the bytes of a switch's packet memory: those that are given, or those of its chip. */
uint64_t oche_switch_memory(const struct oche_switch_config *config);

#endif
