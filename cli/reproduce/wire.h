/* SPDX-License-Identifier: Apache-2.0 */
/* `oche reproduce PAPER/wire`: an experiment with real processes, in place of a simulated one. */
#ifndef OCHE_CLI_REPRODUCE_WIRE_H
#define OCHE_CLI_REPRODUCE_WIRE_H

#include "cli/reproduce/options.h"
#include "params/error.h"

/* True if the options name the experiment on the wire of a paper. */
bool oche_wire_named(const struct oche_reproduce_options *options);

/*
 * Runs tools/wire-PAPER of the source tree that the papers' folder `papers` is in, with this
 * program's build. Returns only if that is not possible: false, with an error. The program's exit
 * status is then the experiment's: 0 it is measured, or cannot be here, as a line says.
 */
bool oche_wire_run(const struct oche_reproduce_options *options, const char *papers,
                   struct oche_error *error);

#endif
