/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries that the report shows instead of single values: exact percentiles of a sample by
 * nearest rank, and time series cut into spans with their mean, smallest and largest value.
 */
#ifndef OCHE_REPORT_SAMPLE_H
#define OCHE_REPORT_SAMPLE_H

#include <json-c/json.h>

#include "core/base.h"

struct oche_sample {
    double *values;
    size_t count, capacity;
};

void oche_sample_add(struct oche_sample *sample, double value);
void oche_sample_sort(struct oche_sample *sample);
void oche_sample_free(struct oche_sample *sample);

/*
 * Returns percentile p, in 100,000ths, of a sorted sample of n values: the value of rank ceil(p /
 * 100,000 * n), at least rank 1. NAN if the sample is empty.
 */
double oche_sample_percentile(const struct oche_sample *sample, uint32_t p);
double oche_sample_mean(const struct oche_sample *sample);

/*
 * The percentiles with which curves are drawn, in 100,000ths; their distances shrink towards the
 * tail.
 */
#define OCHE_SAMPLE_GRID 227
uint32_t oche_sample_grid(uint32_t number);      /* number < OCHE_SAMPLE_GRID */
struct json_object *oche_sample_grid_json(void); /* [p, …] in percent */
/* values of a sorted sample at these percentiles */
struct json_object *oche_sample_curve_json(const struct oche_sample *sample);
/* Returns [p50, p90, p99, p99.9, largest, mean] of a sorted sample. */
struct json_object *oche_sample_summary_json(const struct oche_sample *sample);

/* Summary of some successive values of a series. */
struct oche_span {
    double mean, least, most;
};

/*
 * Returns the smallest number of values per span, at least 1, such that `count` values make at most
 * `most` spans.
 */
size_t oche_span_width(size_t count, size_t most);
/*
 * Cuts `count` values into spans of `width` values (the last span may have fewer). Ignores NANs; a
 * span with only NANs has NAN as its mean, smallest and largest value. Returns the number of spans.
 * `spans` must have room for count / width + 1.
 */
size_t oche_spans(const double *values, size_t count, size_t width, struct oche_span *spans);

#endif
