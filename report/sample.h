/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the report shows instead of single values: exact percentiles of a sample by nearest rank,
 * and a time series cut into spans with their mean, least and largest.
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
 * Of a sorted sample: the value of rank ceil(p * count), at least 1, with p in 100,000ths. NAN
 * when the sample is empty.
 */
double oche_sample_percentile(const struct oche_sample *sample, uint32_t p);
double oche_sample_mean(const struct oche_sample *sample);

/* The percentiles that curves are drawn with, in 100,000ths: dense, and denser towards the tail. */
#define OCHE_SAMPLE_GRID 227
uint32_t oche_sample_grid(uint32_t number);      /* number < OCHE_SAMPLE_GRID */
struct json_object *oche_sample_grid_json(void); /* [p, …] in percent */
struct json_object *oche_sample_curve_json(const struct oche_sample *sample); /* sorted; […] */
/* Sorted: [p50, p90, p99, p99.9, largest, mean]. */
struct json_object *oche_sample_summary_json(const struct oche_sample *sample);

/* A span of a series. */
struct oche_span {
    double mean, least, most;
};

/* How many values a span takes so that no more than `most` spans cover `count` values; from 1. */
size_t oche_span_width(size_t count, size_t most);
/*
 * Cuts `count` values into spans of `width` (the last may be shorter). NAN are left out; a span of
 * nothing else is NAN. Returns how many spans; `spans` has room for count / width + 1.
 */
size_t oche_spans(const double *values, size_t count, size_t width, struct oche_span *spans);

#endif
