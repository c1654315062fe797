/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A paper's results as they are committed: papers/PAPER/results.csv, one line per claim, in the
 * order of the figures' files; after a claim's line one for each other reading that measures it.
 * Only the last field may have commas and is then in quotes; no field has a quote.
 *
 *     figure, claim, source  as in the figure's file
 *     published, measured, low, high, unit    numbers; low, high: the 95 % interval; "": none
 *     verdict                "reproduced", …; with a question mark if the interval reaches further
 *     seeds                  runs at the point that has the fewest
 *     digest                 of what decides the figure's verdicts: its claims, its runs, its files
 *     commit, date           of the program that measured; the commit ends in + where files of the
 *                            work tree differed
 *     reading                label of the other reading; "": the judged one. Older files lack it
 */
#ifndef OCHE_LAB_REPRODUCE_RESULTS_FILE_H
#define OCHE_LAB_REPRODUCE_RESULTS_FILE_H

#include <stdio.h>

#include "lab/reproduce/findings.h"
#include "lab/reproduce/paper.h"

struct oche_result_line {
    char *figure, *claim, *text; /* text: the whole line, without its end */
    char *commit, *date;
    char *reading; /* label of another reading; "": the line has the judged verdict */
    char *unit;    /* of the numbers */
    double published, measured, low, high; /* NAN: none; infinite: never */
    enum oche_source source;
    enum oche_finding finding;
    bool unsure;
    uint32_t seeds;
    uint64_t digest;
};

struct oche_results {
    struct oche_result_line *lines;
    size_t count;
};

/* Reads the paper's results; no file is no results. Returns false, with an error, on failure. */
bool oche_results_read(struct oche_results *results, const struct oche_paper *paper,
                       struct oche_error *error);
void oche_results_free(struct oche_results *results);

/*
 * Returns a digest of everything that decides the figure's verdicts: claims, scenario, grid and
 * files.
 */
uint64_t oche_results_digest(const struct oche_plan *plan);

/* Adds the findings of a figure; `commit` and `date` (2026-11-23) as in the file. */
void oche_results_add(struct oche_results *results, const struct oche_plan *plan,
                      const struct oche_findings *findings, const char *commit, const char *date);

/* Adds a copy of all lines of `from`. */
void oche_results_copy(struct oche_results *results, const struct oche_results *from);

/*
 * Writes the lines of the paper's file, figure by figure: those of `results` if it has the figure,
 * else those of `before`.
 */
void oche_results_print(const struct oche_results *results, const struct oche_results *before,
                        const struct oche_paper *paper, FILE *out);

#endif
