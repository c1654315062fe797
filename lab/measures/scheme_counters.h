/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of congestion-control schemes and endpoints (core/counter.h) as metrics. `which`
 * numbers all entries of all their tables; it is below oche_scheme_counter_most().
 */
#ifndef OCHE_LAB_MEASURES_SCHEME_COUNTERS_H
#define OCHE_LAB_MEASURES_SCHEME_COUNTERS_H

#include "lab/measures/outcome.h"

unsigned oche_scheme_counter_most(void);
/* Returns the counter and its table; NULL: there is none of that number. */
const struct oche_counter *oche_scheme_counter(unsigned which, const struct oche_counters **table);
/* "PREFIX.NAME". */
const char *oche_scheme_counter_name(unsigned which, char *text, size_t text_bytes);
/* Returns the counter called "PREFIX.NAME", or NULL. */
const struct oche_counter *oche_scheme_counter_named(const char *name);

/* Whether the run counted it: NAN is the value of what it did not. */
bool oche_scheme_counted(const struct oche_outcome *o, unsigned which);
double oche_scheme_count(const struct oche_outcome *o, unsigned which);
/* Of counters of packets: over all packets that hosts sent, over all bytes, with gaps. */
double oche_scheme_packets_share(const struct oche_outcome *o, unsigned which);
double oche_scheme_bytes_share(const struct oche_outcome *o, unsigned which);

#endif
