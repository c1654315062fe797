/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche reproduce`. */
#ifndef OCHE_CLI_REPRODUCE_OPTIONS_H
#define OCHE_CLI_REPRODUCE_OPTIONS_H

#include <stdbool.h>

enum oche_reproduce_mode {
    OCHE_REPRODUCE_RUN,
    OCHE_REPRODUCE_COMMITTED,  /* print the verdicts of the committed results */
    OCHE_REPRODUCE_STALE,      /* list committed results that are outdated */
    OCHE_REPRODUCE_LIST,       /* list papers and figures */
    OCHE_REPRODUCE_TOLERANCES, /* print the commit that fixed each figure's tolerances */
};

struct oche_reproduce_options {
    enum oche_reproduce_mode mode;
    const char *which;  /* "PAPER" or "PAPER/FIGURE"; NULL: all papers */
    bool all;           /* all papers are to be run */
    const char *papers; /* folder of papers; NULL: the usual one */
    const char *out;    /* folder for results; NULL: not given */
    unsigned jobs;      /* number of processes; 0: one per core */
    bool quick, restart, quiet, json;
    bool verbose; /* name the claims that decide statements */
    bool measure; /* measure again the parts of the figure that run on the wire */
    bool record;  /* commit the results: write them beside the paper */
};

/*
 * Parses the arguments. Returns false, after printing the reason, if they are wrong; the exit
 * status is then 2.
 */
bool oche_reproduce_options_read(struct oche_reproduce_options *options, int argc, char **argv);

#endif
