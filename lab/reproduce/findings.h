/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a study: its points are read from the results file, judged, and written back to
 * it.
 */
#ifndef OCHE_LAB_REPRODUCE_FINDINGS_H
#define OCHE_LAB_REPRODUCE_FINDINGS_H

#include "lab/reproduce/claim.h"
#include "lab/reproduce/plan.h"
#include "params/error.h"
#include "store/sweep_store.h"

struct oche_findings {
    const struct oche_study *study;
    struct oche_samples *samples;
    struct oche_judgement *judged; /* by claim */
    struct oche_judgement *also;   /* by claim, then by other reading */
    size_t counts[OCHE_FINDINGS];  /* number of claims by finding */
};

/* Uses what the file has; anything missing is "no data". */
void oche_findings_make(struct oche_findings *findings, const struct oche_plan *plan,
                        struct oche_sweep_store *store);
void oche_findings_free(struct oche_findings *findings);

/*
 * Writes claims, curves, differences and the figure's facts. Returns false, with an error, if that
 * fails.
 */
bool oche_findings_store(const struct oche_findings *findings, const char *tolerances_commit,
                         struct oche_sweep_store *store, struct oche_error *error);

#endif
