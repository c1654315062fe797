/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of time series for a terminal. A column is a span of time, in which a series covers the
 * range from its smallest to its largest value. Samples are added one by one and not kept.
 */
#ifndef OCHE_CLI_FLUID_TEXT_CHART_H
#define OCHE_CLI_FLUID_TEXT_CHART_H

#include <stddef.h>
#include <stdio.h>

#define OCHE_CHART_COLUMNS 66
#define OCHE_CHART_ROWS    12

struct oche_text_chart {
    size_t series;
    double until;       /* time at the right end; the left end is time 0 */
    double *low, *high; /* smallest and largest value, by series, then by column */
};

/* Makes an empty chart. The caller frees its contents with oche_text_chart_free. */
void oche_text_chart_init(struct oche_text_chart *chart, size_t series, double until);
void oche_text_chart_free(struct oche_text_chart *chart);

/* Adds a sample. Ignores it if `time` is not between 0 and `until`. */
void oche_text_chart_add(struct oche_text_chart *chart, size_t series, double time, double value);

/* Writes a value as a label of the value axis. */
typedef void oche_text_chart_label(char *text, size_t bytes, double value);

/*
 * Prints the chart below `title`. Each series is drawn with its character of `marks`, later series
 * over earlier ones. The value axis goes from 0 to `most`; if `most` is 0, to a round number.
 */
void oche_text_chart_print(const struct oche_text_chart *chart, const char *title,
                           const char *marks, double most, oche_text_chart_label *value_label,
                           oche_text_chart_label *time_label, FILE *out);

#endif
