/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a fluid model: charts and numbers on the terminal, CSV, a results file. */
#ifndef OCHE_CLI_FLUID_RUN_H
#define OCHE_CLI_FLUID_RUN_H

#include "lab/fluid/flows.h"
#include "lab/fluid/model.h"
#include "params/error.h"

struct oche_fluid_run {
    const struct oche_fluid_model *model; /* a model that oche_fluid_model_check has accepted */
    const struct oche_fluid_flow_list *flows;
    double duration_s, interval_s, tolerance;
    /* the scenario's name; NULL: there is none, and the next members are not used */
    const char *scenario;
    const char *receiver, *bottleneck, *left_out;
    const char *command; /* command line as typed */
    const char *csv, *out;
    bool quiet;
};

/*
 * Runs the model and shows the results. Returns false, with one line in `error`; then no file is
 * written.
 */
bool oche_fluid_run_show(const struct oche_fluid_run *run, struct oche_error *error);

#endif
