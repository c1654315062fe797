/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zeroed memory that costs only what is written. A small piece comes from the allocator, so that
 * address checkers see its end; a large one is a mapping of its own.
 */
#include "sim/engine/sparse_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base.h"

#define LARGE ((size_t)1 << 20)

/* Precedes the memory. */
struct header {
    size_t bytes; /* all of it, with the header */
    char rest[OCHE_CACHE_LINE - sizeof(size_t)];
};

static struct header *header_of(void *memory)
{
    return (struct header *)memory - 1;
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

void *oche_sparse_take(size_t bytes)
{
    size_t total = oche_lines(bytes) + sizeof(struct header);
    struct header *header = NULL;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (total >= LARGE) {
        header = map(total);
        if (header != NULL)
            madvise(header, total, MADV_NOHUGEPAGE); /* a failure costs only memory */
    } else if ((header = aligned_alloc(OCHE_CACHE_LINE, total)) != NULL) {
        memset(header, 0, total);
    }
    if (header == NULL)
        return NULL;
    header->bytes = total;
    return header + 1;
}

void *oche_sparse_grow(void *memory, size_t bytes)
{
    size_t total = oche_lines(bytes) + sizeof(struct header);
    struct header *header, *old = memory == NULL ? NULL : header_of(memory);

    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (old != NULL && total <= old->bytes)
        return memory;
    if (old != NULL && old->bytes >= LARGE) {
        header = mremap(old, old->bytes, total, MREMAP_MAYMOVE);
        if (header == MAP_FAILED)
            return NULL;
        header->bytes = total;
        return header + 1;
    }
    void *larger = oche_sparse_take(bytes);

    if (larger != NULL && old != NULL) {
        memcpy(larger, memory, old->bytes - sizeof(*old));
        free(old);
    }
    return larger;
}

void oche_sparse_free(void *memory)
{
    if (memory == NULL)
        return;
    if (header_of(memory)->bytes >= LARGE)
        munmap(header_of(memory), header_of(memory)->bytes);
    else
        free(header_of(memory));
}
