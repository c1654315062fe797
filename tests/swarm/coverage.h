/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the features of worlds: variants, parameters that are not at their default, twins, and
 * pairs of these. The list of features follows from the schema.
 */
#ifndef OCHE_TESTS_SWARM_COVERAGE_H
#define OCHE_TESTS_SWARM_COVERAGE_H

#include <stdio.h>

#include "tests/swarm/draft.h"

#define MOST_FEATURES 192 /* features that are counted in pairs */
#define MOST_DETAILS  768 /* features that are counted alone: parameters of variants */

struct coverage {
    char names[MOST_FEATURES][48], details[MOST_DETAILS][64];
    uint16_t count, detail_count;
    uint16_t group[MOST_FEATURES]; /* a world has one feature of each group; 0: no group */
    uint32_t alone[MOST_DETAILS];
    uint32_t pairs[MOST_FEATURES][MOST_FEATURES]; /* [i][i]: worlds with feature i */
};

void coverage_make(struct coverage *coverage, const struct oche_schema *schema);
/* Counts the features of a world that has run. */
struct swarm_verdict;
void coverage_count(struct coverage *coverage, struct draft *draft,
                    const struct swarm_verdict *verdict);
/* impossible_pairs.c: returns why no world has both features; NULL: no reason is known. */
const char *coverage_impossible(const char *a, const char *b);
/* Prints all counts. Of pairs it prints the rarest, or all if `all_pairs`. */
void coverage_print(const struct coverage *coverage, FILE *out, bool all_pairs);

#endif
