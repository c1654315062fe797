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

/*
 * Stores one metric of one run. `metric` is an index into oche_samples_metrics; NAN: the run lacks
 * the metric.
 */
void oche_samples_put(struct oche_samples *samples, size_t metric,
                      const struct oche_combination *combination, uint32_t repeat, double value);

/* Must be called after the last oche_samples_put and before values are read. */
void oche_samples_ready(struct oche_samples *samples);

/*
 * Returns the quantity's values before its statistic and shape are applied: combination->repeats
 * values, one per repeat; NAN where a run has no value.
 */
const double *oche_samples_values(const struct oche_samples *samples,
                                  const struct oche_quantity *quantity,
                                  const struct oche_combination *combination);

/*
 * Returns the quantity's value over all repeats or, if `draw` is not NULL, over the repeats that
 * `draw` picks; NAN if no run has a value. `draw` is an array of `draws` repeat numbers, each below
 * `draws`, which is the largest number of repeats of any combination. For a combination with fewer
 * repeats the numbers are scaled down.
 */
double oche_samples_value(const struct oche_samples *samples, const struct oche_quantity *quantity,
                          const struct oche_combination *combination, const uint32_t *draw,
                          uint32_t draws);

/* Returns the number of repeats in which the quantity has a value at the combination. */
uint32_t oche_samples_count(const struct oche_samples *samples,
                            const struct oche_quantity *quantity,
                            const struct oche_combination *combination);

#endif
