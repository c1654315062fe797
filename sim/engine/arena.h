/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: many objects of a run side by side on huge pages, freed together. One arena belongs
 * to one thread at a time.
 */
#ifndef OCHE_SIM_ENGINE_ARENA_H
#define OCHE_SIM_ENGINE_ARENA_H

#include <stddef.h>

struct oche_arena {
    void *spacious; /* linked list of the pieces of oche_arena_take_spacious */
    void *chunks;   /* linked list, newest chunk first; a chunk's first word is the link */
    char *next, *end;
    size_t chunk_bytes; /* size of the next chunk to allocate; chunks grow */
};

void oche_arena_init(struct oche_arena *arena);
/* Returns zeroed memory, aligned to a cache line; never NULL. */
void *oche_arena_take(struct oche_arena *arena, size_t bytes);
/*
 * Like oche_arena_take, for an object that is large and may stay nearly empty. A large object lies
 * on small pages, so only written pages cost memory (sparse_memory.h).
 */
void *oche_arena_take_spacious(struct oche_arena *arena, size_t bytes);
void oche_arena_free(struct oche_arena *arena);

#endif
