/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds runs that are the same, packet for packet: their trace hashes are equal. If they have
 * different values of a key, the key has no effect on packets.
 */
#ifndef OCHE_LAB_MEASURES_SAME_RUNS_H
#define OCHE_LAB_MEASURES_SAME_RUNS_H

#include "core/base.h"

/*
 * Sets first[i] to the number of the first run with the hash of run i. A hash of 0 is unknown, and
 * equals no other. Returns the number of runs that equal an earlier one.
 */
size_t oche_same_runs(const uint64_t *hashes, size_t count, size_t *first);

/*
 * Returns the predicate for a key with which all runs are the same: "made no difference here", or,
 * if packets do not depend on the key, "changes only what is measured".
 */
const char *oche_same_runs_verdict(const char *key);

#endif
