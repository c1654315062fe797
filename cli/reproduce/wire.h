/* SPDX-License-Identifier: Apache-2.0 */
/* `oche reproduce PAPER/FIGURE --measure`: an experiment with real processes. */
#ifndef OCHE_CLI_REPRODUCE_WIRE_H
#define OCHE_CLI_REPRODUCE_WIRE_H

#include "cli/reproduce/options.h"
#include "lab/reproduce/study.h"
#include "params/error.h"

/*
 * Runs tools/wire-PAPER of the source tree that contains the papers' folder `papers`, with this
 * program's build. Waits until it has written its measurements into the folder `out`. Returns
 * false, with an error, if that is not possible; the error is "" if the program has printed why.
 */
bool oche_wire_measure(const struct oche_reproduce_options *options, const char *papers,
                       const char *paper, const char *out, struct oche_error *error);

/* Copies the measurements for the figure from `out` into its paper's folder. */
bool oche_wire_keep(const struct oche_study *study, const char *out, struct oche_error *error);

#endif
