/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them, with three digits and a unit, for tables; results files have all
 * digits.
 */
#ifndef OCHE_PARAMS_FIGURES_H
#define OCHE_PARAMS_FIGURES_H

#include "core/base.h"

#define OCHE_FIGURE_BYTES 32

struct oche_figure {
    char text[OCHE_FIGURE_BYTES];
};

struct oche_figure oche_figure_time(oche_time time);  /* 812ns, 12.3us, 1.05ms, 2.31s */
struct oche_figure oche_figure_bytes(uint64_t bytes); /* 96B, 12.3KB, 4.00MB: decimal */
struct oche_figure oche_figure_rate(uint64_t bps);    /* 38.2Gbps */
struct oche_figure oche_figure_count(uint64_t count); /* 1,234,567 */
struct oche_figure oche_figure_share(double share);   /* 0.123 is 12.3 % */
struct oche_figure oche_figure_ratio(double ratio);   /* 1.05, 12.3, 123 */

/*
 * The first function formats a value in one of the units of results files ("s", "bps", "bytes",
 * "count", "ratio"). The second formats a mean with its spread, "38.2 ± 0.4Gbps", or only the mean
 * if the spread is 0 or NAN. A value of NAN becomes "–".
 */
struct oche_figure oche_figure_value(double value, const char *unit);
struct oche_figure oche_figure_spread(double mean, double spread, const char *unit);

/* A rough waiting time: "45 s", "12 min", "3 h 20 min". */
struct oche_figure oche_figure_wait(double seconds);

#endif
