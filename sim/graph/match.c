/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two hash tables of queues, by source and tag; see match.h. An entry is in the queue of its key
 * and, if it is a message, also in the queue of all messages, which receives of any source or tag
 * search. A key without entries leaves its table, so memory is for what waits.
 */
#include "sim/graph/match.h"

#include <stdlib.h>

#include "core/random.h"
#include "sim/graph/goal.h"

#define NONE       UINT32_MAX
#define FIRST_SIZE 16
#define FIRST_ROOM 16

/* A receive or a message that waits. */
struct entry {
    uint32_t source, tag, handle;
    uint32_t next;           /* in the queue of its key, or in the list of free entries */
    uint32_t earlier, later; /* messages: in the queue of all */
    uint64_t order;          /* of posting */
};

/* The queue of a key; `first` NONE: the place is free. */
struct queue {
    uint32_t source, tag, first, last;
};

struct table {
    struct queue *queues;
    uint32_t size, used;
    uint32_t entries;
};

struct oche_match {
    struct table posted, unexpected;
    struct entry *entries;
    uint32_t room, free;     /* free: the first of the free entries */
    uint32_t oldest, newest; /* messages */
    uint32_t open;           /* posted receives with any source or tag */
    uint64_t order;
};

/* ---- tables ---- */

static void table_make(struct table *table, uint32_t size)
{
    table->queues = malloc(size * sizeof(*table->queues));
    OCHE_GOT(table->queues != NULL);
    table->size = size;
    table->used = 0;
    for (uint32_t i = 0; i < size; i++)
        table->queues[i].first = NONE;
}

static uint32_t home_of(const struct table *table, uint32_t source, uint32_t tag)
{
    return (uint32_t)oche_mix64((uint64_t)source << 32 | tag) & (table->size - 1);
}

/* Returns the key's place, which may be free. */
static struct queue *find(const struct table *table, uint32_t source, uint32_t tag)
{
    uint32_t at = home_of(table, source, tag);

    while (table->queues[at].first != NONE &&
           (table->queues[at].source != source || table->queues[at].tag != tag))
        at = (at + 1) & (table->size - 1);
    return &table->queues[at];
}

static void table_grow(struct table *table)
{
    const struct table before = *table;

    table_make(table, 2 * before.size);
    table->used = before.used;
    for (uint32_t i = 0; i < before.size; i++)
        if (before.queues[i].first != NONE)
            *find(table, before.queues[i].source, before.queues[i].tag) = before.queues[i];
    free(before.queues);
}

/* Frees the place of a key; keys behind it that looked for theirs here move up. */
static void table_remove(struct table *table, struct queue *queue)
{
    const uint32_t mask = table->size - 1;
    uint32_t hole = (uint32_t)(queue - table->queues), at = hole;

    table->used--;
    for (;;) {
        table->queues[hole].first = NONE;
        for (;;) {
            at = (at + 1) & mask;
            if (table->queues[at].first == NONE)
                return;
            const uint32_t home = home_of(table, table->queues[at].source, table->queues[at].tag);

            if (((at - home) & mask) >= ((at - hole) & mask))
                break;
        }
        table->queues[hole] = table->queues[at];
        hole = at;
    }
}

/* ---- entries ---- */

static uint32_t entry_take(struct oche_match *match)
{
    uint32_t at = match->free;

    if (at == NONE) {
        const uint32_t room = match->room == 0 ? FIRST_ROOM : 2 * match->room;

        match->entries = realloc(match->entries, room * sizeof(*match->entries));
        OCHE_GOT(match->entries != NULL);
        for (uint32_t i = match->room; i < room; i++)
            match->entries[i].next = i + 1 < room ? i + 1 : NONE;
        at = match->room;
        match->room = room;
    }
    match->free = match->entries[at].next;
    return at;
}

static uint32_t wait_in(struct oche_match *match, struct table *table, uint32_t source,
                        uint32_t tag, uint32_t handle)
{
    const uint32_t at = entry_take(match);
    struct queue *queue;

    if (2 * (table->used + 1) > table->size)
        table_grow(table);
    queue = find(table, source, tag);
    match->entries[at] = (struct entry){.source = source,
                                        .tag = tag,
                                        .handle = handle,
                                        .next = NONE,
                                        .earlier = NONE,
                                        .later = NONE,
                                        .order = match->order++};
    if (queue->first == NONE) {
        *queue = (struct queue){.source = source, .tag = tag, .first = at, .last = at};
        table->used++;
    } else {
        match->entries[queue->last].next = at;
        queue->last = at;
    }
    table->entries++;
    return at;
}

/* Takes the first entry out of its key's queue. Returns its handle. */
static uint32_t take_from(struct oche_match *match, struct table *table, struct queue *queue)
{
    const uint32_t at = queue->first;
    const uint32_t handle = match->entries[at].handle;

    queue->first = match->entries[at].next;
    if (queue->first == NONE)
        table_remove(table, queue);
    table->entries--;
    match->entries[at].next = match->free;
    match->free = at;
    return handle;
}

/* ---- messages, in the order in which they arrived ---- */

static void append(struct oche_match *match, uint32_t at)
{
    match->entries[at].earlier = match->newest;
    if (match->newest != NONE)
        match->entries[match->newest].later = at;
    else
        match->oldest = at;
    match->newest = at;
}

static void unlink_message(struct oche_match *match, uint32_t at)
{
    const struct entry *entry = &match->entries[at];

    if (entry->earlier != NONE)
        match->entries[entry->earlier].later = entry->later;
    else
        match->oldest = entry->later;
    if (entry->later != NONE)
        match->entries[entry->later].earlier = entry->earlier;
    else
        match->newest = entry->earlier;
}

/* Returns the first message that fits an open receive, or NONE. It is the first of its key. */
static uint32_t find_message(const struct oche_match *match, uint32_t source, uint32_t tag)
{
    uint32_t at = match->oldest;

    while (at != NONE && ((source != OCHE_GOAL_ANY && match->entries[at].source != source) ||
                          (tag != OCHE_GOAL_ANY && match->entries[at].tag != tag)))
        at = match->entries[at].later;
    return at;
}

/* ---- the interface ---- */

struct oche_match *oche_match_create(void)
{
    struct oche_match *match = calloc(1, sizeof(*match));

    OCHE_GOT(match != NULL);
    table_make(&match->posted, FIRST_SIZE);
    table_make(&match->unexpected, FIRST_SIZE);
    match->free = match->oldest = match->newest = NONE;
    return match;
}

void oche_match_free(struct oche_match *match)
{
    free(match->posted.queues);
    free(match->unexpected.queues);
    free(match->entries);
    free(match);
}

uint32_t oche_match_post(struct oche_match *match, uint32_t source, uint32_t tag, uint32_t handle)
{
    struct table *table = &match->unexpected;
    const bool open = source == OCHE_GOAL_ANY || tag == OCHE_GOAL_ANY;
    struct queue *queue = NULL;

    if (open) {
        const uint32_t at = find_message(match, source, tag);

        if (at != NONE)
            queue = find(table, match->entries[at].source, match->entries[at].tag);
    } else {
        queue = find(table, source, tag);
        queue = queue->first != NONE ? queue : NULL;
    }
    if (queue != NULL) {
        unlink_message(match, queue->first);
        return take_from(match, table, queue);
    }
    wait_in(match, &match->posted, source, tag, handle);
    match->open += open;
    return OCHE_NO_MATCH;
}

uint32_t oche_match_arrive(struct oche_match *match, uint32_t source, uint32_t tag, uint32_t handle)
{
    const uint32_t keys[4][2] = {{source, tag},
                                 {OCHE_GOAL_ANY, tag},
                                 {source, OCHE_GOAL_ANY},
                                 {OCHE_GOAL_ANY, OCHE_GOAL_ANY}};
    struct table *table = &match->posted;
    struct queue *first = NULL;
    unsigned of = 0;

    for (unsigned i = 0; i < (match->open > 0 ? OCHE_COUNT_OF(keys) : 1); i++) {
        struct queue *queue = find(table, keys[i][0], keys[i][1]);

        if (queue->first == NONE || (first != NULL && match->entries[queue->first].order >
                                                          match->entries[first->first].order))
            continue;
        first = queue;
        of = i;
    }
    if (first != NULL) {
        match->open -= of > 0;
        return take_from(match, table, first);
    }
    append(match, wait_in(match, &match->unexpected, source, tag, handle));
    return OCHE_NO_MATCH;
}

uint32_t oche_match_posted(const struct oche_match *match)
{
    return match->posted.entries;
}

uint32_t oche_match_unexpected(const struct oche_match *match)
{
    return match->unexpected.entries;
}

static struct oche_match_waits waits_of(const struct oche_match *match, uint32_t at)
{
    const struct entry *entry = &match->entries[at];

    return (struct oche_match_waits){
        .source = entry->source, .tag = entry->tag, .handle = entry->handle};
}

struct oche_match_waits oche_match_first_posted(const struct oche_match *match)
{
    const struct table *table = &match->posted;
    uint32_t first = NONE;

    OCHE_MUST(table->entries > 0);
    for (uint32_t i = 0; i < table->size; i++) {
        const uint32_t at = table->queues[i].first;

        if (at != NONE && (first == NONE || match->entries[at].order < match->entries[first].order))
            first = at;
    }
    return waits_of(match, first);
}

struct oche_match_waits oche_match_first_unexpected(const struct oche_match *match)
{
    OCHE_MUST(match->oldest != NONE);
    return waits_of(match, match->oldest);
}
