/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs of a comparison are the same, as JSON. */
#ifndef OCHE_CLI_RUN_SAME_RUNS_H
#define OCHE_CLI_RUN_SAME_RUNS_H

#include "lab/measures/outcome.h"

/*
 * Returns the member "same_runs" of an object (malloc'd): lists of the compared values that gave
 * the same run, packet for packet. Returns NULL for a single run.
 */
char *oche_same_runs_member(const struct oche_outcome *outcomes, size_t count);

#endif
