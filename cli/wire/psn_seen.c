/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of streams, each with a bitmap of the PSNs that were seen. The bitmap has 512 pages,
 * which are allocated when used. Pages half the number range behind the newest PSN are dropped.
 */
#include "cli/wire/psn_seen.h"

#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "core/random.h"

#define PAGE_BITS  15 /* bits of the PSN: position within its page */
#define PAGES      (1u << (24 - PAGE_BITS))
#define PAGE_WORDS ((1u << PAGE_BITS) / 64)
#define FIRST_SIZE 64

struct entry {
    struct oche_psn_stream stream;
    uint32_t newest;
    uint64_t **pages; /* array of PAGES pages; NULL: the slot is unused */
};

struct oche_psn_seen {
    struct entry *entries;
    size_t size, used; /* size: number of slots, a power of two */
};

_Static_assert(sizeof(struct oche_psn_stream) == 48, "compared and hashed as bytes: no padding");

static size_t slot_of(const struct oche_psn_seen *seen, const struct oche_psn_stream *stream)
{
    uint64_t words[sizeof(*stream) / 8], hash = 0;
    size_t slot;

    memcpy(words, stream, sizeof(words));
    for (size_t i = 0; i < OCHE_COUNT_OF(words); i++)
        hash = oche_mix64(hash ^ words[i]);
    slot = hash & (seen->size - 1);
    while (seen->entries[slot].pages != NULL &&
           memcmp(&seen->entries[slot].stream, stream, sizeof(*stream)) != 0)
        slot = (slot + 1) & (seen->size - 1);
    return slot;
}

static bool grow(struct oche_psn_seen *seen)
{
    struct oche_psn_seen larger = {.size = 2 * seen->size, .used = seen->used};

    larger.entries = calloc(larger.size, sizeof(*larger.entries));
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < seen->size; i++)
        if (seen->entries[i].pages != NULL)
            larger.entries[slot_of(&larger, &seen->entries[i].stream)] = seen->entries[i];
    free(seen->entries);
    *seen = larger;
    return true;
}

struct oche_psn_seen *oche_psn_seen_create(void)
{
    struct oche_psn_seen *seen = calloc(1, sizeof(*seen));

    if (seen == NULL)
        return NULL;
    seen->size = FIRST_SIZE;
    seen->entries = calloc(seen->size, sizeof(*seen->entries));
    if (seen->entries == NULL) {
        free(seen);
        return NULL;
    }
    return seen;
}

void oche_psn_seen_free(struct oche_psn_seen *seen)
{
    if (seen == NULL)
        return;
    for (size_t i = 0; i < seen->size; i++) {
        for (unsigned page = 0; seen->entries[i].pages != NULL && page < PAGES; page++)
            free(seen->entries[i].pages[page]);
        free(seen->entries[i].pages);
    }
    free(seen->entries);
    free(seen);
}

static struct entry *entry_of(struct oche_psn_seen *seen, const struct oche_psn_stream *stream,
                              uint32_t psn)
{
    struct entry *entry = &seen->entries[slot_of(seen, stream)];

    if (entry->pages != NULL)
        return entry;
    if (2 * seen->used >= seen->size) {
        if (!grow(seen))
            return NULL;
        entry = &seen->entries[slot_of(seen, stream)];
    }
    entry->pages = calloc(PAGES, sizeof(*entry->pages));
    if (entry->pages == NULL)
        return NULL;
    entry->stream = *stream;
    entry->newest = psn;
    seen->used++;
    return entry;
}

/* Sets `newest` to `psn`. Drops the pages that are now half the range of numbers behind. */
static void advance(struct entry *entry, uint32_t psn)
{
    uint32_t page = entry->newest >> PAGE_BITS;

    if (oche_psn_diff(psn, entry->newest) <= 0)
        return;
    while (page != psn >> PAGE_BITS) {
        uint32_t old;

        page = (page + 1) % PAGES;
        old = (page + PAGES / 2) % PAGES;
        free(entry->pages[old]);
        entry->pages[old] = NULL;
    }
    entry->newest = psn;
}

bool oche_psn_seen_note(struct oche_psn_seen *seen, const struct oche_psn_stream *stream,
                        uint32_t psn, bool *again)
{
    struct entry *entry = entry_of(seen, stream, psn);
    const uint32_t within = psn & ((1u << PAGE_BITS) - 1);
    const uint64_t bit = UINT64_C(1) << (within % 64);
    uint64_t **page;

    if (entry == NULL)
        return false;
    advance(entry, psn);
    page = &entry->pages[psn >> PAGE_BITS];
    if (*page == NULL)
        *page = calloc(PAGE_WORDS, sizeof(**page));
    if (*page == NULL)
        return false;
    *again = ((*page)[within / 64] & bit) != 0;
    (*page)[within / 64] |= bit;
    return true;
}

size_t oche_psn_seen_streams(const struct oche_psn_seen *seen)
{
    return seen->used;
}
