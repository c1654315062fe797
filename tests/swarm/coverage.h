/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What worlds had: which variants, which parameters that are not at their default, which twins; and
 * which pairs of these. The list of features is made from the schema.
 */
#ifndef OCHE_TESTS_SWARM_COVERAGE_H
#define OCHE_TESTS_SWARM_COVERAGE_H

#include <stdio.h>

#include "tests/swarm/draft.h"

#define MOST_FEATURES 192 /* that are counted in pairs */
#define MOST_DETAILS  768 /* that are counted alone: parameters of variants */

struct coverage {
    char names[MOST_FEATURES][48], details[MOST_DETAILS][64];
    uint16_t count, detail_count;
    uint16_t group[MOST_FEATURES]; /* of two with the same group a world has one; 0: no group */
    uint32_t alone[MOST_DETAILS];
    uint32_t pairs[MOST_FEATURES][MOST_FEATURES]; /* [i][i]: worlds with i */
};

void coverage_make(struct coverage *coverage, const struct oche_schema *schema);
/* Counts a world that has run. */
struct swarm_verdict;
void coverage_count(struct coverage *coverage, struct draft *draft,
                    const struct swarm_verdict *verdict);
/* impossible_pairs.c: why no world has both features; NULL: nothing is known against it. */
const char *coverage_impossible(const char *a, const char *b);
/* Prints all counts; of pairs those that met least often, or all. */
void coverage_print(const struct coverage *coverage, FILE *out, bool all_pairs);

#endif
