/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a scenario in the fluid model of its congestion control, with the same metrics as
 * in the packet simulation: rates are payload that the bottleneck let through, queues are the
 * bottleneck's. In the model all flows are greedy: sizes and stop_when_done have no effect.
 */
#ifndef OCHE_LAB_FLUID_OUTCOME_H
#define OCHE_LAB_FLUID_OUTCOME_H

#include "lab/measures/outcome.h"
#include "params/error.h"
#include "sim/scenario/scenario.h"

/*
 * Returns true if the scenario can be run as its key `model` demands; else false, with one line in
 * `error`.
 */
bool oche_fluid_outcome_check(const struct oche_scenario *scenario, struct oche_error *error);

/*
 * Runs the fluid model and fills `outcome`: sets by_fluid and only those metrics that a model has.
 * The caller frees the outcome's contents with oche_outcome_free. Returns false, with one line in
 * `error`; then there is nothing to free.
 */
bool oche_fluid_outcome_take(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                             struct oche_error *error);

/*
 * For "model: both": adds the fluid model's rates to the outcome of a packet simulation. Returns
 * false, with one line in `error`. The caller must free the outcome in either case.
 */
bool oche_fluid_outcome_add(struct oche_outcome *outcome, const struct oche_scenario *scenario,
                            struct oche_error *error);

#endif
