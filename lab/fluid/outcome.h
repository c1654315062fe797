/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scenario comes to by the fluid model of its congestion control, in the same measures as
 * by packets: rates are payload that the bottleneck let through, queues are the bottleneck's. The
 * flows' greedy nature is the model's: sizes and stop_when_done mean nothing to it.
 */
#ifndef OCHE_LAB_FLUID_OUTCOME_H
#define OCHE_LAB_FLUID_OUTCOME_H

#include "lab/measures/outcome.h"
#include "params/error.h"
#include "sim/scenario/scenario.h"

/* Whether the scenario can be run as its `model` says. False and one line in `error`. */
bool oche_fluid_outcome_check(const struct oche_scenario *scenario, struct oche_error *error);

/*
 * Runs the model and fills `outcome`, which oche_outcome_free frees: by_fluid, and what lab/metrics
 * says that a model has. False and one line in `error`; then there is nothing to free.
 */
bool oche_fluid_outcome_take(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                             struct oche_error *error);

/*
 * For model: both, adds the model's rates to a world's outcome. False and one line in `error`; the
 * outcome is to be freed all the same.
 */
bool oche_fluid_outcome_add(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                            struct oche_error *error);

#endif
