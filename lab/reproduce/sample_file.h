/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of a paper's points, committed beside its results: papers/PAPER/sample.csv. One short
 * point of each figure, of quick mode, with the hash of its trace and the metrics that the figure's
 * claims use. If a point's result differs, the program has changed, and perhaps verdicts, too. This
 * check takes a minute for all papers, not the hours of their runs.
 *
 *     figure, point, hash, metrics (NAME=VALUE, separated by spaces)
 */
#ifndef OCHE_LAB_REPRODUCE_SAMPLE_FILE_H
#define OCHE_LAB_REPRODUCE_SAMPLE_FILE_H

#include <stdio.h>

#include "lab/reproduce/paper.h"
#include "lab/reproduce/plan.h"
#include "lab/sweep/point.h"

#define OCHE_SAMPLE_HEAD "figure,point,hash,metrics"

/*
 * Returns the number of the point that is the figure's sample, in the plan's grid. `number` is the
 * figure's, so that figures of a paper that run the same points have different samples.
 */
size_t oche_sample_point(const struct oche_plan *plan, size_t number);

/* Returns the line of the file, without its end, for the result of the point (malloc'd). */
char *oche_sample_line(const struct oche_plan *plan, size_t point,
                       const struct oche_point_result *result);

/* Returns the figure's line of the file (malloc'd); NULL: there is none. */
char *oche_sample_read(const struct oche_paper *paper, const char *figure);

#endif
