/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a scenario according to the fluid model of its congestion control, in the same
 * measures as for packets: rates are payload that the bottleneck let through, queues are the
 * bottleneck's. In the model all flows are greedy: sizes and stop_when_done have no effect.
 */
#ifndef OCHE_LAB_FLUID_OUTCOME_H
#define OCHE_LAB_FLUID_OUTCOME_H

#include "lab/measures/outcome.h"
#include "params/error.h"
#include "sim/scenario/scenario.h"

/* Returns true if the scenario can be run with its `model`; else there is one line in `error`. */
bool oche_fluid_outcome_check(const struct oche_scenario *scenario, struct oche_error *error);

/*
 * Runs the model and fills `outcome` (to be released with oche_outcome_free): by_fluid, and the
 * metrics that a model has. Returns false, with one line in `error`; then there is nothing to
 * release.
 */
bool oche_fluid_outcome_take(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                             struct oche_error *error);

/*
 * For model: both, adds the model's rates to a world's outcome. Returns false, with one line in
 * `error`; the outcome must be released in either case.
 */
bool oche_fluid_outcome_add(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                            struct oche_error *error);

#endif
