/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a paper's recorded results come to (papers/PAPER/results.csv): verdicts counted, which
 * program they are of, and by how many seeds.
 */
#ifndef OCHE_LAB_REPRODUCE_RECORD_H
#define OCHE_LAB_REPRODUCE_RECORD_H

#include "lab/reproduce/results_file.h"

/* Claims that were recorded by one commit on one day. */
struct oche_recorded_by {
    const char *commit, *date; /* of the results, which have to stay */
    size_t claims;
};

struct oche_record {
    struct oche_tally tally;
    uint32_t least_seeds, most_seeds; /* of the claims that were measured; 0, 0: none was */
    struct oche_recorded_by *by;      /* in the order of the file */
    size_t by_count;
};

void oche_record_make(struct oche_record *record, const struct oche_results *results);
void oche_record_free(struct oche_record *record);

#endif
