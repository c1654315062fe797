/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of time series for a terminal: a column is a span of time, in which a series covers the
 * range from its smallest to its largest value. It is filled sample by sample, so samples need not
 * be kept.
 */
#ifndef OCHE_CLI_FLUID_TEXT_CHART_H
#define OCHE_CLI_FLUID_TEXT_CHART_H

#include <stddef.h>
#include <stdio.h>

#define OCHE_CHART_COLUMNS 66
#define OCHE_CHART_ROWS    12

struct oche_text_chart {
    size_t series;
    double until;       /* the right end; the left one is 0 */
    double *low, *high; /* by series, by column */
};

/* To be released with oche_text_chart_free. */
void oche_text_chart_init(struct oche_text_chart *chart, size_t series, double until);
void oche_text_chart_free(struct oche_text_chart *chart);

/* Adds a sample at a time from 0 to `until`; others are ignored. */
void oche_text_chart_add(struct oche_text_chart *chart, size_t series, double time, double value);

/* Formats a value for an axis. */
typedef void oche_text_chart_label(char *text, size_t bytes, double value);

/*
 * Prints the chart below `title`. Series are drawn with the characters of `marks`, one each, later
 * ones over earlier ones. The value axis goes from 0 to `most`, or to a round number if that is 0.
 */
void oche_text_chart_print(const struct oche_text_chart *chart, const char *title,
                           const char *marks, double most, oche_text_chart_label *value_label,
                           oche_text_chart_label *time_label, FILE *out);

#endif
