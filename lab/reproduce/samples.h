/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of a study came to, by combination and repeat; and quantities made from it. */
#ifndef OCHE_LAB_REPRODUCE_SAMPLES_H
#define OCHE_LAB_REPRODUCE_SAMPLES_H

#include "lab/reproduce/study.h"

struct oche_samples;

struct oche_samples *oche_samples_create(const struct oche_study *study);
void oche_samples_free(struct oche_samples *samples);

/* Names of the metrics that the quantities are made from, each once. */
const char *const *oche_samples_metrics(const struct oche_samples *samples, size_t *count);

/* A run's metric (one of those, by number); NAN is none. */
void oche_samples_put(struct oche_samples *samples, size_t metric,
                      const struct oche_combination *combination, uint32_t repeat, double value);

/* To be called after the last result was put in, before anything is taken out. */
void oche_samples_ready(struct oche_samples *samples);

/*
 * The quantity's value in each repeat (combination->repeats of them), before its statistic and
 * shape; NAN where a run has none.
 */
const double *oche_samples_values(const struct oche_samples *samples,
                                  const struct oche_quantity *quantity,
                                  const struct oche_combination *combination);

/*
 * The quantity's value over all repeats, or over those that `draw` names: `draws` numbers below
 * `draws`, for the combination with the most repeats; others use them in proportion. NAN if no
 * run has it.
 */
double oche_samples_value(const struct oche_samples *samples, const struct oche_quantity *quantity,
                          const struct oche_combination *combination, const uint32_t *draw,
                          uint32_t draws);

/* Repeats with a number. */
uint32_t oche_samples_count(const struct oche_samples *samples,
                            const struct oche_quantity *quantity,
                            const struct oche_combination *combination);

#endif
