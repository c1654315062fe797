/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a study's runs, by combination and repeat, and the quantities made from them. */
#ifndef OCHE_LAB_REPRODUCE_SAMPLES_H
#define OCHE_LAB_REPRODUCE_SAMPLES_H

#include "lab/reproduce/study.h"

struct oche_samples;

struct oche_samples *oche_samples_create(const struct oche_study *study);
void oche_samples_free(struct oche_samples *samples);

/* Returns the names of the metrics from which quantities are made, each once. */
const char *const *oche_samples_metrics(const struct oche_samples *samples, size_t *count);

/* Stores a run's metric (by number in that list); NAN: it has none. */
void oche_samples_put(struct oche_samples *samples, size_t metric,
                      const struct oche_combination *combination, uint32_t repeat, double value);

/* To be called after the last result was stored, before anything is read. */
void oche_samples_ready(struct oche_samples *samples);

/*
 * Returns the quantity's value in each repeat (combination->repeats of them), before its statistic
 * and shape; NAN if a run has none.
 */
const double *oche_samples_values(const struct oche_samples *samples,
                                  const struct oche_quantity *quantity,
                                  const struct oche_combination *combination);

/*
 * Returns the quantity's value over all repeats, or over those in `draw`: `draws` numbers below
 * `draws`, for the combination with the most repeats; others use them in proportion. NAN if no run
 * has it.
 */
double oche_samples_value(const struct oche_samples *samples, const struct oche_quantity *quantity,
                          const struct oche_combination *combination, const uint32_t *draw,
                          uint32_t draws);

/* Returns the number of repeats that have a value. */
uint32_t oche_samples_count(const struct oche_samples *samples,
                            const struct oche_quantity *quantity,
                            const struct oche_combination *combination);

#endif
