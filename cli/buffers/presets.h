/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name, each with packet memory, ports, and the source of these numbers. */
#ifndef OCHE_CLI_BUFFERS_PRESETS_H
#define OCHE_CLI_BUFFERS_PRESETS_H

#include <stdio.h>

#include "core/base.h"

struct oche_buffers_preset {
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

/*
 * Returns the preset called `name`. If there is none, returns NULL and sets *nearest to a similar
 * name, or NULL.
 */
const struct oche_buffers_preset *oche_buffers_preset_find(const char *name, const char **nearest);
void oche_buffers_presets_print(FILE *out);

#endif
