/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small hash map from a 32-bit key (QPN, region key, peer address) to a slot number: open
 * addressing, linear probing, at most half full, deletion by shifting back. Nothing iterates over
 * its entries, so their order cannot influence a run.
 */
#ifndef OCHE_CORE_QP_MAP_H
#define OCHE_CORE_QP_MAP_H

#include "core/base.h"

#define NO_SLOT UINT32_MAX

struct map_entry {
    uint32_t key;
    uint32_t slot; /* NO_SLOT: empty */
};

struct map {
    struct map_entry *entries;
    uint32_t mask;
    uint32_t shift; /* right shift of the 32-bit hash, whose upper bits index the table */
};

/* Returns the entries needed for `count` keys: a power of two, at least 2 * count. */
static inline size_t map_capacity(uint32_t count)
{
    size_t capacity = 4;

    while (capacity < 2 * (size_t)count)
        capacity *= 2;
    return capacity;
}

/* Makes an empty map with `capacity` entries at `memory`; a power of two. */
static inline void map_clear(struct map *map, void *memory, size_t capacity)
{
    uint32_t bits = 0;

    while ((size_t)1 << bits < capacity)
        bits++;
    map->entries = memory;
    map->mask = (uint32_t)(capacity - 1);
    map->shift = 32 - bits;
    for (size_t i = 0; i < capacity; i++)
        map->entries[i] = (struct map_entry){.slot = NO_SLOT};
}

static inline void map_init(struct map *map, void *memory, uint32_t count)
{
    map_clear(map, memory, map_capacity(count));
}

static inline uint32_t map_home(const struct map *map, uint32_t key)
{
    return key * UINT32_C(0x9e3779b1) >> map->shift;
}

/* Returns the key's slot, or NO_SLOT. */
static inline uint32_t map_find(const struct map *map, uint32_t key)
{
    for (uint32_t i = map_home(map, key);; i = (i + 1) & map->mask) {
        const struct map_entry *entry = &map->entries[i];
        if (entry->key == key || entry->slot == NO_SLOT)
            return entry->slot;
    }
}

/*
 * Adds a key that is not in the map yet. The caller never adds more keys than map_init's `count`.
 */
static inline void map_add(struct map *map, uint32_t key, uint32_t slot)
{
    uint32_t i = map_home(map, key);

    OCHE_MUST(slot != NO_SLOT);
    for (; map->entries[i].slot != NO_SLOT; i = (i + 1) & map->mask)
        OCHE_MUST(map->entries[i].key != key);
    map->entries[i] = (struct map_entry){.key = key, .slot = slot};
}

/* Removes a key, if the map has it, and moves back the entries that the key had displaced. */
static inline void map_remove(struct map *map, uint32_t key)
{
    uint32_t hole = map_home(map, key);

    while (map->entries[hole].slot != NO_SLOT && map->entries[hole].key != key)
        hole = (hole + 1) & map->mask;
    if (map->entries[hole].slot == NO_SLOT)
        return;
    for (uint32_t i = (hole + 1) & map->mask; map->entries[i].slot != NO_SLOT;
         i = (i + 1) & map->mask) {
        uint32_t home = map_home(map, map->entries[i].key);
        if (((i - home) & map->mask) < ((i - hole) & map->mask))
            continue;
        map->entries[hole] = map->entries[i];
        hole = i;
    }
    map->entries[hole] = (struct map_entry){.slot = NO_SLOT};
}

/* ---- maps that grow ---- */

#define MAP_FIRST_CAPACITY 64

/*
 * Returns the entries of memory that a map which grows up to `count` keys needs. Each table lies
 * behind the one before it, which is half as large.
 */
static inline size_t map_growing_capacity(uint32_t count)
{
    return 2 * map_capacity(count);
}

/* Like map_init, but memory that larger tables will need is not touched. */
static inline void map_init_growing(struct map *map, void *memory, uint32_t count)
{
    size_t most = map_capacity(count);

    map_clear(map, memory, most < MAP_FIRST_CAPACITY ? most : MAP_FIRST_CAPACITY);
}

/* Makes room for one more key than the `count` that a growing map has. */
static inline void map_make_room(struct map *map, uint32_t count)
{
    struct map old = *map;

    if (map_capacity(count + 1) <= (size_t)old.mask + 1)
        return;
    map_clear(map, old.entries + old.mask + 1, ((size_t)old.mask + 1) * 2);
    for (size_t i = 0; i <= old.mask; i++)
        if (old.entries[i].slot != NO_SLOT)
            map_add(map, old.entries[i].key, old.entries[i].slot);
}

#endif
