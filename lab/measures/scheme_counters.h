/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of congestion-control schemes and endpoints (core/counter.h) as metrics. `which`,
 * below oche_scheme_counter_most(), numbers the counters of all these tables in one sequence.
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

/*
 * True if the run counted counter number `which`. A counter that the run did not count has the
 * value NAN.
 */
bool oche_scheme_counted(const struct oche_outcome *o, unsigned which);
double oche_scheme_count(const struct oche_outcome *o, unsigned which);
/*
 * The first returns the counter's packets as a share of all packets that hosts sent, the second the
 * bytes of these packets, with gaps, as a share of all bytes that hosts sent. NAN: hosts sent
 * nothing, or the run did not count these packets.
 */
double oche_scheme_packets_share(const struct oche_outcome *o, unsigned which);
double oche_scheme_bytes_share(const struct oche_outcome *o, unsigned which);

#endif
