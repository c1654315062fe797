/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroed memory on huge pages. */
#include "sim/engine/big_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base.h"

void *oche_big_memory(size_t bytes)
{
    return oche_big_memory_aligned(bytes, OCHE_CACHE_LINE);
}

void *oche_big_memory_aligned(size_t bytes, size_t alignment)
{
    size_t unit = bytes >= OCHE_HUGE_PAGE ? OCHE_HUGE_PAGE : alignment;
    size_t rounded = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, rounded == 0 ? unit : rounded);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory");
    if (unit == OCHE_HUGE_PAGE)
        madvise(memory, rounded, MADV_HUGEPAGE); /* a failure costs only speed */
    memset(memory, 0, rounded);
    return memory;
}
