/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the arrays that every event touches. It is zeroed and, where the system has them, on
 * huge pages: otherwise a hop spends most of its time waiting for page-table walks.
 */
#ifndef OCHE_SIM_ENGINE_BIG_MEMORY_H
#define OCHE_SIM_ENGINE_BIG_MEMORY_H

#include <stddef.h>

#define OCHE_HUGE_PAGE ((size_t)2 << 20)

/*
 * Returns zeroed memory, aligned to a cache line (to a huge page if it is at least that large). The
 * caller releases it with free().
 */
void *oche_big_memory(size_t bytes);

#endif
