/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are committed beside a paper (results.csv, sample.csv): shown, written, checked. */
#ifndef OCHE_CLI_REPRODUCE_COMMITTED_H
#define OCHE_CLI_REPRODUCE_COMMITTED_H

#include "lab/reproduce/paper.h"
#include "lab/reproduce/results_file.h"
#include "params/error.h"

/*
 * Prints the recorded verdicts of all papers. `verbose`: names the claims that decide statements.
 * Returns false, with an error, if a file cannot be read.
 */
bool oche_committed_show(struct oche_paper *const *papers, size_t count, bool verbose,
                         struct oche_error *error);

/*
 * Writes both files of the paper, each completely or not at all. `results` has the results of
 * figures; other figures keep theirs. Runs the figures' samples. Returns false, with an error, on
 * failure.
 */
bool oche_committed_write(const struct oche_paper *paper, const struct oche_results *results,
                          struct oche_error *error);

/*
 * Prints a line for each figure of the paper whose committed results may be outdated, and counts
 * them in *stale. `figure` not NULL: only this one. `quick`: runs only every eighth figure's
 * sample. Returns false, with an error, if a file is bad.
 */
bool oche_committed_check(const struct oche_paper *paper, const char *figure, bool quick,
                          size_t *stale, struct oche_error *error);

#endif
