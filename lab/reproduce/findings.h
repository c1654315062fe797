/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a study. Its points are read from the results file and judged; the verdicts are
 * written back to that file.
 */
#ifndef OCHE_LAB_REPRODUCE_FINDINGS_H
#define OCHE_LAB_REPRODUCE_FINDINGS_H

#include "lab/reproduce/claim.h"
#include "lab/reproduce/plan.h"
#include "lab/reproduce/tally.h"
#include "params/error.h"
#include "store/sweep_store.h"

struct oche_findings {
    const struct oche_study *study;
    struct oche_samples *samples;
    struct oche_judgement *judged; /* one judgement per claim */
    /* for other readings: the judgements of claim 0, one per reading, then those of claim 1, … */
    struct oche_judgement *also;
    struct oche_tally tally; /* number of claims with each verdict */
};

/*
 * Judges all claims by the points in the results file. Points that are missing there count as "no
 * data".
 */
void oche_findings_make(struct oche_findings *findings, const struct oche_plan *plan,
                        struct oche_sweep_store *store);
void oche_findings_free(struct oche_findings *findings);

/*
 * Writes claims, curves, differences and facts about the figure to the results file. Returns false,
 * with an error, if that fails.
 */
bool oche_findings_store(const struct oche_findings *findings, const char *tolerances_commit,
                         struct oche_sweep_store *store, struct oche_error *error);

#endif
