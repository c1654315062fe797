/* SPDX-License-Identifier: Apache-2.0 */
/* `--show-defaults`: all parameters, or all effective values of a scenario. */
#ifndef OCHE_CLI_RUN_SHOW_DEFAULTS_H
#define OCHE_CLI_RUN_SHOW_DEFAULTS_H

#include <stdio.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

/* Prints all sections, variants and keys, with units, defaults, ranges and sources. */
void oche_show_schema(FILE *out);

/*
 * Prints key, value, and if the scenario gives it, for everything that the scenario binds. `auto`
 * is followed by its value in the scenario's world.
 */
void oche_show_effective(const struct oche_scenario *scenario, const struct oche_world *world,
                         FILE *out);

/*
 * Writes a value of the scenario as results and tables show it: `value`, or "auto (1.6MB)". Returns
 * `text`.
 */
const char *oche_show_value(const struct oche_world *world, const char *key, const char *value,
                            char *text, size_t bytes);

#endif
