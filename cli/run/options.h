/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche run`. */
#ifndef OCHE_CLI_RUN_OPTIONS_H
#define OCHE_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "params/error.h"

/* An override of a parameter, with the option that gave it. */
struct oche_run_set {
    char *assignment; /* "seed=7" */
    char *typed;      /* the option as typed: "--seed 7" */
};

struct oche_run_options {
    char *scenario;            /* its path */
    struct oche_run_set *sets; /* overrides in the order in which they were typed */
    size_t set_count;
    const char *out, *pcap, *trace, *compare; /* each is NULL if not given */
    const char *until_stable;                 /* a metric; NULL: not given */
    double within;                            /* value of --within; 0: not given */
    uint32_t threads;                         /* 0: as many as reduce the run time */
    uint32_t report_parts;                    /* --partition-report; 0: not given */
    bool csv, json, list, show_defaults, quiet, verbose;
    bool all;         /* also rows of tables that are empty */
    bool must_happen; /* scripted events */
    bool by_size;     /* for a comparison: every percentile of each flow size */
};

/*
 * Parses the arguments. Returns false, after a message, if they are wrong; the exit status is then
 * 2.
 */
bool oche_run_options_read(struct oche_run_options *options, int argc, char **argv);
void oche_run_options_free(struct oche_run_options *options);

/*
 * If the error is about an override by --set or an option for it, names the option as it was typed.
 * `compared` is "KEY=VALUE" of --compare, or NULL.
 */
void oche_run_options_name(const struct oche_run_options *options, const char *compared,
                           struct oche_error *error);

#endif
