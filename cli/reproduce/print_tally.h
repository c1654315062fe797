/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how many claims have each verdict. */
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
 * Prints a table of the verdicts of each entry (a paper, for example), by source. With more than
 * one, adds their total. Leaves out verdicts that none of them has.
 */
void oche_print_tallies(const struct oche_named_tally *tallies, size_t count, FILE *out);

#endif
