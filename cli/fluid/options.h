/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche fluid`. */
#ifndef OCHE_CLI_FLUID_OPTIONS_H
#define OCHE_CLI_FLUID_OPTIONS_H

#include "lab/fluid/model.h"

#define OCHE_FLUID_MOST_LISTED 64

enum oche_fluid_mode { OCHE_FLUID_RUN, OCHE_FLUID_FIXED_POINT, OCHE_FLUID_STABILITY };

struct oche_fluid_cli_options {
    enum oche_fluid_mode mode;
    enum oche_fluid_name model; /* OCHE_FLUID_NAMES: not given */
    char *scenario;             /* path of the scenario, or NULL */
    const char *receiver, *flows, *csv, *out;
    const char **sets;
    size_t set_count;
    double duration_s, interval_s, tolerance; /* 0: not given */
    uint32_t counts[OCHE_FLUID_MOST_LISTED];  /* numbers of flows in the rows of tables */
    size_t count_count;
    double delays_s[OCHE_FLUID_MOST_LISTED];
    size_t delay_count;
    bool quiet, show_defaults;
};

/*
 * Parses the arguments. If they are wrong, prints the reason and ends the program with status 2.
 * Returns false if the caller must end it.
 */
bool oche_fluid_options_read(struct oche_fluid_cli_options *options, int argc, char **argv);
void oche_fluid_options_free(struct oche_fluid_cli_options *options);

#endif
