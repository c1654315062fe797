/* SPDX-License-Identifier: Apache-2.0 */
/* `--show-defaults`: all parameters, or all effective values of a scenario. */
#ifndef OCHE_CLI_RUN_SHOW_DEFAULTS_H
#define OCHE_CLI_RUN_SHOW_DEFAULTS_H

#include <stdio.h>

#include "sim/scenario/scenario.h"

/* Prints all sections, variants and keys, with units, defaults, ranges and sources. */
void oche_show_schema(FILE *out);

/* Prints key, value, and whether the scenario gives it, for everything that the scenario binds. */
void oche_show_effective(const struct oche_scenario *scenario, FILE *out);

#endif
