/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of counters. A congestion-control scheme, or an endpoint of the simulator, has counters of
 * its own: each is a uint64_t in its state and a row in its table, both in its own files. The table
 * of `oche run`, the results files, the metrics and `oche exec --stats` read all these tables, so
 * a new counter needs no other change. Counters begin at 0 and only grow; the reader subtracts
 * what was counted during warm-up.
 */
#ifndef OCHE_CORE_COUNTER_H
#define OCHE_CORE_COUNTER_H

#include "core/base.h"

OCHE_C_BEGIN

#define OCHE_MOST_COUNTERS 16 /* most counters in one table */

struct oche_counter {
    const char *name;  /* the metric is PREFIX.NAME; in results files PREFIX_NAME */
    const char *help;  /* one line */
    const char *label; /* its name in the table of `oche run`; NULL: PREFIX.NAME */
    size_t offset;     /* offset of the uint64_t in the state */
    /* Optional, for a value that is a sum over parts of the state: used instead of `offset`. */
    uint64_t (*value)(const void *state);
    /*
     * The opcode, if the counter counts sent packets of one opcode (without payload); 0: it counts
     * something else. With an opcode, the packets' shares of all packets and of all bytes are
     * reported too.
     */
    uint8_t opcode;
    /* True: the table of `oche run` also shows the packets that switch mechanisms have dropped. */
    bool with_drops;
};

struct oche_counters {
    const char *prefix;
    const struct oche_counter *rows;
    unsigned count;
};

/* Adds what `state` has counted so far to `sums`, which has one element per row. */
void oche_counters_add(const struct oche_counters *counters, const void *state, uint64_t *sums);

OCHE_C_END

#endif
