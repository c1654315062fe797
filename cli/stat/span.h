/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a device over a time span: since it was opened, or since the last refresh. */
#ifndef OCHE_CLI_STAT_SPAN_H
#define OCHE_CLI_STAT_SPAN_H

#include <stdio.h>

#include "device/view/reader.h"

struct stat_span {
    const struct oche_view *from; /* the earlier counts; NULL: none */
    double seconds;               /* by the device's clock; 0: no update since then */
};

/* `earlier`: the view at the earlier time; NULL: since the device was opened. */
struct stat_span stat_span_of(const struct oche_view_entry *entry,
                              const struct oche_views *earlier);
/* Return the counts in the span, of one counter and of a range of them. */
uint64_t stat_counted(const struct oche_view *view, const struct stat_span *span, unsigned counter);
uint64_t stat_counted_sum(const struct oche_view *view, const struct stat_span *span,
                          unsigned first, unsigned end);
/* Returns that for each second; 0 if the span has no length. */
double stat_per_second(const struct stat_span *span, uint64_t counted);

/* Writes a user's name, or number. */
#define STAT_USER_BYTES 40
void stat_user(uid_t user, char text[STAT_USER_BYTES]);
/* Returns the counters of the scheme that the view names, or NULL. */
const struct oche_counters *stat_scheme_counters(const struct oche_view *view);
/* Returns the inode of this process's network namespace; 0: unknown. */
uint64_t stat_network_namespace(void);

extern const char *const stat_transports[3], *const stat_states[7];

/* ---- what is printed ---- */

/* json.c: one document on one line. */
void stat_print_json(FILE *out, const struct oche_views *views, const struct oche_views *earlier,
                     bool qps);
/* metrics.c: Prometheus' text format, version 0.0.4. */
void stat_print_metrics(FILE *out, const struct oche_views *views);
/*
 * rows.c: tables of at most `width` columns (0: as wide as they are). `colours`: with a terminal's
 * sequences. `watch`: counts are per second.
 */
struct stat_look {
    unsigned width;
    bool colours, watch, qps;
};
void stat_print_tables(FILE *out, const struct oche_views *views, const struct oche_views *earlier,
                       const struct stat_look *look);

#endif
