/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a run as named numbers. One table (metric_table.c) gives every number's name, unit
 * and meaning; points, claims, tables, results files and the printed list are all made from it. To
 * add a metric, add a member to struct oche_outcome and a row to that table.
 *
 * Some names are patterns: "fct.SIZE.p99" stands for "fct.below_10KB.p99", …, "fct.all.p99". A
 * number that a run does not have (no flow of that size, no such port) is left out, never 0.
 */
#ifndef OCHE_LAB_MEASURES_METRICS_H
#define OCHE_LAB_MEASURES_METRICS_H

#include <stdio.h>

#include "lab/measures/outcome.h"
#include "params/error.h"
#include "params/figures.h"

#define OCHE_METRIC_NAME_BYTES 192

/* `unit` is "s", "bps", "bytes", "count" or "ratio". `name` is valid only during the call. */
typedef void oche_metric_visit(void *context, const char *name, const char *unit, double value);

/* Calls `visit` for every number that the outcome has, in the order of the table. */
void oche_metrics_each(const struct oche_outcome *outcome, oche_metric_visit *visit, void *context);

/*
 * Returns the value of a metric, or NAN if the run does not have it. `name` must be a metric's
 * name, or a pattern as in the table ("fct.SIZE.p99"). For a pattern, `which` is the number of the
 * size, place, …
 */
double oche_metric_value(const struct oche_outcome *outcome, const char *name, unsigned which);

/* True if `name` is a metric's name, or a pattern as in the table. */
bool oche_metric_is_known(const char *name);

/*
 * Returns the value as tables show it in the metric's unit, such as "12.3us"; OCHE_NO_FIGURE if the
 * value is NAN.
 */
struct oche_figure oche_metric_figure(const char *name, double value);
#define OCHE_NO_FIGURE "–"

/* Return the meaning and the unit of a metric; NULL if there is no such metric. */
const char *oche_metric_help(const char *name);
const char *oche_metric_unit(const char *name);

/*
 * If the metric is the time of an event that may not happen, returns the metric that is 1 if it
 * happened. If a run has that one but not this one, the event never happened. Otherwise returns
 * NULL.
 */
const char *oche_metric_or_never(const char *name);

/* Returns true if the metric exists; else false, with the error "…: no such metric; …". */
bool oche_metric_check(const char *name, struct oche_error *error);

/* Returns a static string that equals `unit`; NULL if no metric has this unit. */
const char *oche_metric_unit_named(const char *unit);

/* Returns the word for PLACE, an enum oche_port_place, in names: "tor_to_host". */
const char *oche_place_key(unsigned place);

/* Prints all names, including patterns, with unit and help. */
void oche_metrics_print(FILE *out);

#endif
