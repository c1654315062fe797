/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how many claims have which verdict. */
#ifndef OCHE_CLI_REPRODUCE_PRINT_TALLY_H
#define OCHE_CLI_REPRODUCE_PRINT_TALLY_H

#include <stdio.h>

#include "lab/reproduce/tally.h"

/* Prints "12 reproduced, 2 reproduced?, 3 in shape, 2 not reproduced" and a newline. */
void oche_print_tally(const struct oche_tally *tally, FILE *out);

struct oche_named_tally {
    const char *name;
    const struct oche_tally *tally;
};

/*
 * Prints a table of the verdicts of each (a paper, for example), by source, and with more than one
 * of all together. A verdict that none of them has is left out.
 */
void oche_print_tallies(const struct oche_named_tally *tallies, size_t count, FILE *out);

#endif
