/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name, each with packet memory, ports, and the source of these numbers. */
#ifndef OCHE_FABRIC_CHIPS_H
#define OCHE_FABRIC_CHIPS_H

#include "core/base.h"

struct oche_switch_config;

struct oche_chip {
    const char *name, *chip;
    uint64_t buffer_bytes; /* packet memory that all ports share; 0: not published */
    uint64_t rate_bps;     /* rate of a port */
    unsigned ports;        /* 0: not clear from the source */
    /*
     * true: the numbers are from the maker of the chip or of a switch with it; false: from others
     */
    bool sure;
    const char *source; /* where the memory's size is published */
    const char *note;   /* a remark for the user; NULL: none */
    uint64_t hbm_bytes; /* memory beside the chip, which no switch here uses; 0: none */
};

extern const struct oche_chip oche_chips[];
extern const size_t oche_chip_count;

/*
 * The values of the switch parameter `chip`: "auto" and the names of the chips whose memory is
 * known, in the order of oche_chips; ends with NULL.
 */
extern const char *const oche_chip_names[];

/* Returns the chip called `name`, or NULL. */
const struct oche_chip *oche_chip_find(const char *name);

/*
 * True if the chip has the switch's ports. A chip's port may be split into two or four slower ones,
 * which share its rate.
 */
bool oche_chip_has_ports(const struct oche_chip *chip, const struct oche_switch_config *config);

/*
 * Returns the chip of a switch: the one that its parameters name. For `auto` it is the smallest
 * chip that has all ports of the switch, where a port may also be a half or a quarter of a port of
 * the chip. If no chip has them, it is the largest.
 */
const struct oche_chip *oche_chip_for(const struct oche_switch_config *config);

/* Returns the bytes of a switch's packet memory: the configured number, or its chip's. */
uint64_t oche_switch_memory(const struct oche_switch_config *config);

#endif
