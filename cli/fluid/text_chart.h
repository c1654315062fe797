/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of time series for a terminal: a column is a span of time, in which a series reaches
 * from its least to its most. Filled sample by sample, so it costs nothing to keep.
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

/* Ended by oche_text_chart_free. */
void oche_text_chart_init(struct oche_text_chart *chart, size_t series, double until);
void oche_text_chart_free(struct oche_text_chart *chart);

/* A sample at a time from 0 to `until`; others are ignored. */
void oche_text_chart_add(struct oche_text_chart *chart, size_t series, double time, double value);

/* Formats a value for an axis. */
typedef void oche_text_chart_label(char *text, size_t bytes, double value);

/*
 * Prints it below `title`. Series are drawn with the characters of `marks`, one each, later ones
 * over earlier ones. The value axis goes from 0 to `most`; if that is 0, to a round number.
 */
void oche_text_chart_print(const struct oche_text_chart *chart, const char *title,
                           const char *marks, double most, oche_text_chart_label *value_label,
                           oche_text_chart_label *time_label, FILE *out);

#endif
