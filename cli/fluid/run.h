/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a fluid model: charts and numbers on the terminal, CSV, a results file. */
#ifndef OCHE_CLI_FLUID_RUN_H
#define OCHE_CLI_FLUID_RUN_H

#include "lab/fluid/flows.h"
#include "lab/fluid/model.h"
#include "params/error.h"

struct oche_fluid_run {
    const struct oche_fluid_model *model; /* checked */
    const struct oche_fluid_flow_list *flows;
    double duration_s, interval_s, tolerance;
    const char *scenario; /* its name, or NULL: then these three are not used */
    const char *receiver, *bottleneck, *left_out;
    const char *command; /* as typed */
    const char *csv, *out;
    bool quiet;
};

/* Runs the model and shows it. Returns false, with one line in `error`; then nothing is written. */
bool oche_fluid_run_show(const struct oche_fluid_run *run, struct oche_error *error);

/* Writes "flow 3", or "flows 3 to 8", for an entry of the list. */
void oche_fluid_entry_name(const struct oche_fluid_flow_list *flows, size_t entry, char *text,
                           size_t bytes);

#endif
