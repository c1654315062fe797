/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the arrays that every event touches: zeroed, on huge pages where the system has
 * them, since most of what a hop waits for is otherwise the page table's walk.
 */
#ifndef OCHE_SIM_ENGINE_BIG_MEMORY_H
#define OCHE_SIM_ENGINE_BIG_MEMORY_H

#include <stddef.h>

#define OCHE_HUGE_PAGE ((size_t)2 << 20)

/* Zeroed, aligned to a cache line (to a huge page if at least that large). Freed by free(). */
void *oche_big_memory(size_t bytes);

#endif
