/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name: packet memory, ports, and where that stands. */
#ifndef OCHE_CLI_BUFFERS_PRESETS_H
#define OCHE_CLI_BUFFERS_PRESETS_H

#include <stdio.h>

#include "core/base.h"

struct oche_buffers_preset {
    const char *name, *chip;
    uint64_t buffer_bytes, rate_bps;
    unsigned ports;
    bool sure;          /* from the maker of it, or of a switch with it; false: second hand */
    const char *source; /* where the size of the memory stands */
    const char *note;   /* or NULL */
};

/* NULL if there is none of that name; then *nearest is one that may be meant, or NULL. */
const struct oche_buffers_preset *oche_buffers_preset_find(const char *name, const char **nearest);
void oche_buffers_presets_print(FILE *out);

#endif
