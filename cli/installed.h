/* SPDX-License-Identifier: Apache-2.0 */
/* The scenarios that come with the program, which commands take by name. */
#ifndef OCHE_CLI_INSTALLED_H
#define OCHE_CLI_INSTALLED_H

#include <stdbool.h>
#include <stdio.h>

#include "params/error.h"

struct argp_state;

/*
 * Returns the path (malloc'd) that an argument means: a file, if it names one; "-", standard input;
 * or a scenario that comes with the program. Refuses, and ends the program, if the argument is one
 * word without a dot and names nothing. Any other argument is returned as it is.
 */
char *oche_scenario_argument(const char *argument, struct argp_state *state);

/* Prints the scenarios, a line each, by name. Returns false, with an error, if there are none. */
bool oche_installed_print(FILE *out, struct oche_error *error);

#endif
