/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of memory. A world is made once and restored for each of many runs, which all begin in the
 * same state, byte for byte. The parts must include everything that the runs change, and runs must
 * not free any of it.
 */
#ifndef OCHE_TESTS_SUPPORT_SNAPSHOT_H
#define OCHE_TESTS_SUPPORT_SNAPSHOT_H

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define SNAPSHOT_PARTS 32

struct snapshot {
    unsigned count;
    struct {
        void *at, *copy;
        size_t bytes;
    } parts[SNAPSHOT_PARTS];
};

/* Copies the part in its present state. */
static inline void snapshot_add(struct snapshot *snapshot, void *at, size_t bytes)
{
    void *copy = malloc(bytes);

    OCHE_MUST(copy != NULL && snapshot->count < SNAPSHOT_PARTS);
    memcpy(copy, at, bytes);
    snapshot->parts[snapshot->count].at = at;
    snapshot->parts[snapshot->count].copy = copy;
    snapshot->parts[snapshot->count++].bytes = bytes;
}

/* Like snapshot_add, for all bytes of the allocation at `at`. */
static inline void snapshot_add_block(struct snapshot *snapshot, void *at)
{
    snapshot_add(snapshot, at, malloc_usable_size(at));
}

static inline void snapshot_restore(const struct snapshot *snapshot)
{
    for (unsigned i = 0; i < snapshot->count; i++)
        memcpy(snapshot->parts[i].at, snapshot->parts[i].copy, snapshot->parts[i].bytes);
}

static inline void snapshot_free(struct snapshot *snapshot)
{
    for (unsigned i = 0; i < snapshot->count; i++)
        free(snapshot->parts[i].copy);
    snapshot->count = 0;
}

#endif
