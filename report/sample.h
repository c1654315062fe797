/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the report shows instead of single values: exact percentiles of a sample by nearest rank,
 * and a time series cut into spans with their mean, smallest and largest value.
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
 * Returns a percentile of a sorted sample: the value of rank ceil(p * count), at least 1, with p in
 * 100,000ths. NAN if the sample is empty.
 */
double oche_sample_percentile(const struct oche_sample *sample, uint32_t p);
double oche_sample_mean(const struct oche_sample *sample);

/* The percentiles used to draw curves, in 100,000ths: dense, and denser towards the tail. */
#define OCHE_SAMPLE_GRID 227
uint32_t oche_sample_grid(uint32_t number);      /* number < OCHE_SAMPLE_GRID */
struct json_object *oche_sample_grid_json(void); /* [p, …] in percent */
struct json_object *oche_sample_curve_json(const struct oche_sample *sample); /* sorted; […] */
/* For a sorted sample: [p50, p90, p99, p99.9, largest, mean]. */
struct json_object *oche_sample_summary_json(const struct oche_sample *sample);

/* A span of a series. */
struct oche_span {
    double mean, least, most;
};

/*
 * Returns how many values (at least 1) a span must take so that at most `most` spans cover `count`
 * values.
 */
size_t oche_span_width(size_t count, size_t most);
/*
 * Cuts `count` values into spans of `width` (the last may be shorter). NANs are left out; a span of
 * only NANs is NAN. Returns the number of spans; `spans` has room for count / width + 1.
 */
size_t oche_spans(const double *values, size_t count, size_t width, struct oche_span *spans);

#endif
