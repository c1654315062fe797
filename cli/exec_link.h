/* SPDX-License-Identifier: Apache-2.0 */
/* The options --link, --link-in and --link-out of `oche exec` (device/link/spec.h). */
#ifndef OCHE_CLI_EXEC_LINK_H
#define OCHE_CLI_EXEC_LINK_H

#include <argp.h>

#include "device/link/spec.h"

/* Rules of --link, --link-in and --link-out, separated by semicolons. Zeroed: there are none. */
struct oche_link_options {
    char *rules[OCHE_LINK_BOTH + 1]; /* by direction; NULL: none */
};

/*
 * Adds a rule, or those of a file. Refuses what is wrong, and does not return then, nor after
 * "help", which prints all keys.
 */
void oche_link_option(const struct argp_state *state, struct oche_link_options *options,
                      uint8_t directions, const char *text);
/* Refuses variables that the library would refuse later, together with the options. */
void oche_link_check_environment(const struct argp_state *state,
                                 const struct oche_link_options *options);
/* Sets OCHE_LINK, OCHE_LINK_IN and OCHE_LINK_OUT. */
void oche_link_set_environment(const struct oche_link_options *options);

#endif
