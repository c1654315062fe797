/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a run's jobs in its results file: ranks, repetitions, phases and what ranks did. */
#ifndef OCHE_CLI_RUN_STORE_JOBS_H
#define OCHE_CLI_RUN_STORE_JOBS_H

#include "lab/measures/outcome.h"
#include "sim/world/world.h"
#include "store/store.h"

void oche_store_jobs(struct oche_results *results, const struct oche_world *world,
                     const struct oche_outcome *outcome);

#endif
