/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of real processes, which a figure judges like runs of the simulator (grids with
 * `measured: NAME`): papers/PAPER/measured/NAME.csv. The file is never made by a run of the
 * simulator; a program beside the papers (tools/wire-PAPER) writes it.
 *
 *     # 2026-11-26; a machine with two cores; …     lines that say when and where, for readers
 *     congestion_control,convergence.trips          axes of the figure by key, then metrics
 *     Dart,2.1                                      a value's label; numbers; "never"; "": none
 *
 * The rows of one combination of values are its repeats, in the file's order. A figure's axis that
 * is no column may have any value.
 */
#ifndef OCHE_LAB_REPRODUCE_MEASURED_H
#define OCHE_LAB_REPRODUCE_MEASURED_H

#include "lab/reproduce/read.h"

struct oche_measured;

/*
 * Reads the file for each grid of the study that names one. Checks that it has as many rows as each
 * of the grid's combinations has repeats. Adds time and place to the study's differences. Returns
 * false, with an error, on failure.
 */
bool oche_measured_read(const struct oche_reader *reader, struct oche_study *study);

/* True if a grid of the paper's figure is measured. */
bool oche_measured_in(const struct oche_paper *paper, const char *figure);

/* Returns the file in which the combination's grid is measured; NULL: it is run. */
const struct oche_measured *oche_measured_of(const struct oche_study *study,
                                             const struct oche_combination *combination);

/* Sets a value of the metric for each repeat of the combination; NAN where the file has none. */
void oche_measured_values(const struct oche_measured *measured,
                          const struct oche_combination *combination, const char *metric,
                          double *values);

/* Returns a digest of the whole file. */
uint64_t oche_measured_digest(const struct oche_measured *measured);

#endif
