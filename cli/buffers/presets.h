/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name: packet memory, ports, and the source. */
#ifndef OCHE_CLI_BUFFERS_PRESETS_H
#define OCHE_CLI_BUFFERS_PRESETS_H

#include <stdio.h>

#include "core/base.h"

struct oche_buffers_preset {
    const char *name, *chip;
    uint64_t buffer_bytes, rate_bps;
    unsigned ports;
    bool sure;          /* from the maker of the chip, or of a switch with it; false: second-hand */
    const char *source; /* the source of the size */
    const char *note;   /* or NULL */
};

/* Returns NULL if there is none of that name; *nearest is then one that may be meant, or NULL. */
const struct oche_buffers_preset *oche_buffers_preset_find(const char *name, const char **nearest);
void oche_buffers_presets_print(FILE *out);

#endif
