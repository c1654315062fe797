/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a finished run to a results file: parameters, flows, series, counters, histograms. */
#ifndef OCHE_CLI_RUN_STORE_RUN_H
#define OCHE_CLI_RUN_STORE_RUN_H

#include "lab/measures/outcome.h"
#include "store/store.h"
#include "sim/scenario/scenario.h"

/* Adds everything that is known about the run. oche_results_finish reports failures. */
void oche_store_run(struct oche_results *results, const struct oche_scenario *scenario,
                    struct oche_world *world, const struct oche_outcome *outcome,
                    const char *command);

#endif
