/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of congestion-control schemes and endpoints (core/counter.h) as metrics. `which`
 * numbers all entries of all their tables; it is below oche_scheme_counter_most().
 */
#ifndef OCHE_LAB_MEASURES_SCHEME_COUNTERS_H
#define OCHE_LAB_MEASURES_SCHEME_COUNTERS_H

#include "lab/measures/outcome.h"

unsigned oche_scheme_counter_most(void);
/* Returns counter number `which` and sets *table to its table; NULL if there is no such counter. */
const struct oche_counter *oche_scheme_counter(unsigned which, const struct oche_counters **table);
/* Returns the counter's name, "PREFIX.NAME". */
const char *oche_scheme_counter_name(unsigned which, char *text, size_t text_bytes);
/* Returns the counter called "PREFIX.NAME", or NULL. */
const struct oche_counter *oche_scheme_counter_named(const char *name);

/* True if the run counted it. A counter that the run did not count has the value NAN. */
bool oche_scheme_counted(const struct oche_outcome *o, unsigned which);
double oche_scheme_count(const struct oche_outcome *o, unsigned which);
/*
 * Return the counter's packets as a share of all packets that hosts sent, and those packets' bytes
 * as a share of all bytes, with gaps. NAN: hosts sent nothing, or the run did not count them.
 */
double oche_scheme_packets_share(const struct oche_outcome *o, unsigned which);
double oche_scheme_bytes_share(const struct oche_outcome *o, unsigned which);

#endif
