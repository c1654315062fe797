/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts verdicts by the claims' sources. A verdict with a question mark, whose interval reaches
 * into another one, is counted separately from the certain ones.
 */
#ifndef OCHE_LAB_REPRODUCE_TALLY_H
#define OCHE_LAB_REPRODUCE_TALLY_H

#include "lab/reproduce/claim.h"

struct oche_tally {
    /* by source, by finding; the last index: 1, with a question mark; 0, without */
    size_t count[OCHE_SOURCES][OCHE_FINDINGS][2];
};

void oche_tally_add(struct oche_tally *tally, enum oche_source source, enum oche_finding finding,
                    bool unsure);
/* Adds all that `from` has. */
void oche_tally_add_all(struct oche_tally *tally, const struct oche_tally *from);

/* Returns the number of claims with that verdict; OCHE_SOURCES: from all sources. */
size_t oche_tally_count(const struct oche_tally *tally, enum oche_source source,
                        enum oche_finding finding, bool unsure);
/* Returns the number of claims from that source, or from all (OCHE_SOURCES). */
size_t oche_tally_claims(const struct oche_tally *tally, enum oche_source source);

#endif
