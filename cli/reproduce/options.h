/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche reproduce`. */
#ifndef OCHE_CLI_REPRODUCE_OPTIONS_H
#define OCHE_CLI_REPRODUCE_OPTIONS_H

#include <stdbool.h>

enum oche_reproduce_mode {
    OCHE_REPRODUCE_RUN,
    OCHE_REPRODUCE_LIST,       /* papers and figures */
    OCHE_REPRODUCE_TOLERANCES, /* print the commit that fixed each figure's tolerances */
};

struct oche_reproduce_options {
    enum oche_reproduce_mode mode;
    const char *which;  /* "PAPER", "PAPER/FIGURE", or NULL: all */
    const char *papers; /* or NULL */
    const char *out;    /* or NULL */
    unsigned jobs;      /* 0: one per core */
    bool quick, restart, quiet;
};

/* Returns false if the arguments are wrong: the status is 2, and the reason has been printed. */
bool oche_reproduce_options_read(struct oche_reproduce_options *options, int argc, char **argv);

#endif
