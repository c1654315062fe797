/* SPDX-License-Identifier: Apache-2.0 */
/* Switch chips by name, as `oche buffers` finds and lists them. */
#ifndef OCHE_CLI_BUFFERS_PRESETS_H
#define OCHE_CLI_BUFFERS_PRESETS_H

#include <stdio.h>

#include "fabric/chips.h"
#include "report/json.h"

/*
 * Returns the chip of the preset called `name`. If there is none, returns NULL and sets *nearest to
 * a similar name, or NULL.
 */
const struct oche_chip *oche_buffers_preset_find(const char *name, const char **nearest);

/* The preset without a chip: the switch of DCQCN sec 4, with all of the paper's values. */
#define OCHE_BUFFERS_PAPER "paper"

void oche_buffers_presets_print(FILE *out);
struct json_object *oche_buffers_presets_json(void);

#endif
