/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary of a paper's recorded results (papers/PAPER/results.csv): number of each verdict, the
 * program version, and the number of seeds. Verdicts by other readings do not count.
 */
#ifndef OCHE_LAB_REPRODUCE_RECORD_H
#define OCHE_LAB_REPRODUCE_RECORD_H

#include "lab/reproduce/results_file.h"

/* Claims that were recorded by one commit on one day. */
struct oche_recorded_by {
    const char *commit, *date; /* commit and date of the results, which must not change */
    size_t claims;
};

struct oche_record {
    struct oche_tally tally;
    /* seeds of the measured claims; 0, 0: no claim was measured */
    uint32_t least_seeds, most_seeds;
    struct oche_recorded_by *by; /* in the order of the file */
    size_t by_count;
};

void oche_record_make(struct oche_record *record, const struct oche_results *results);
void oche_record_free(struct oche_record *record);

#endif
