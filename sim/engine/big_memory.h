/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the arrays that every event touches. The memory is zeroed and lies on huge pages where
 * the system has them; on small pages a hop would spend most of its time waiting for page-table
 * walks.
 */
#ifndef OCHE_SIM_ENGINE_BIG_MEMORY_H
#define OCHE_SIM_ENGINE_BIG_MEMORY_H

#include <stddef.h>

#define OCHE_HUGE_PAGE ((size_t)2 << 20)

/*
 * Returns zeroed memory, aligned to a cache line, or to a huge page if `bytes` is at least
 * OCHE_HUGE_PAGE; never NULL. The caller releases the memory with free().
 */
void *oche_big_memory(size_t bytes);
/* Like oche_big_memory, but aligned to `alignment`, a power of two below OCHE_HUGE_PAGE. */
void *oche_big_memory_aligned(size_t bytes, size_t alignment);

#endif
