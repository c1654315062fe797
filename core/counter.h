/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of counters. A congestion-control scheme, or an endpoint of the simulator, describes here
 * what it counts itself: a uint64_t in its state and a row in its table, both in its own files. The
 * table of `oche run`, the results files, the metrics and `oche exec --stats` read all tables, so
 * that nothing else has to know of a counter. Counters begin at 0 and only grow; warm-up is
 * subtracted by whoever reads them.
 */
#ifndef OCHE_CORE_COUNTER_H
#define OCHE_CORE_COUNTER_H

#include "core/base.h"

#define OCHE_MOST_COUNTERS 16 /* of one table */

struct oche_counter {
    const char *name;  /* as a metric: PREFIX.NAME; in results files: PREFIX_NAME */
    const char *help;  /* one line */
    const char *label; /* in the table of `oche run`; NULL: PREFIX.NAME */
    size_t offset;     /* of the uint64_t in the state */
    /* Optional, in place of the offset, for a sum over parts of the state. */
    uint64_t (*value)(const void *state);
    /*
     * For packets that were sent, each of this opcode and without payload: their shares of all
     * packets and bytes are told too. 0: it counts something else.
     */
    uint8_t opcode;
    /* The table of `oche run` adds what mechanisms of switches have dropped. */
    bool with_drops;
};

struct oche_counters {
    const char *prefix;
    const struct oche_counter *rows;
    unsigned count;
};

/* Adds to `sums`, one a row, what `state` has counted so far. */
void oche_counters_add(const struct oche_counters *counters, const void *state, uint64_t *sums);

#endif
