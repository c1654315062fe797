/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `oche reproduce`. */
#ifndef OCHE_CLI_REPRODUCE_OPTIONS_H
#define OCHE_CLI_REPRODUCE_OPTIONS_H

#include <stdbool.h>

enum oche_reproduce_mode {
    OCHE_REPRODUCE_RUN,
    OCHE_REPRODUCE_LIST,       /* papers and figures */
    OCHE_REPRODUCE_TOLERANCES, /* which commit fixed each figure's */
};

struct oche_reproduce_options {
    enum oche_reproduce_mode mode;
    const char *which;  /* "PAPER", "PAPER/FIGURE", or NULL: all */
    const char *papers; /* or NULL */
    const char *out;    /* or NULL */
    unsigned jobs;      /* 0: one a core */
    bool quick, restart, quiet;
};

/* False: the status is 2, and why has been printed. */
bool oche_reproduce_options_read(struct oche_reproduce_options *options, int argc, char **argv);

#endif
