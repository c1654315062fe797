/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for large arrays of which a run may use only a part. The system gives memory to a page
 * when something is written there; pages are small, so that a few entries far apart cost little.
 */
#ifndef OCHE_SIM_ENGINE_SPARSE_MEMORY_H
#define OCHE_SIM_ENGINE_SPARSE_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory, aligned to a cache line; NULL if the system refuses. */
void *oche_sparse_take(size_t bytes);

/*
 * Makes `memory` (of oche_sparse_take, or NULL) larger and returns where it is now; the new part is
 * zero. Returns NULL, and leaves `memory` as it is, if the system refuses.
 */
void *oche_sparse_grow(void *memory, size_t bytes);

/* Releases the memory; `memory` may be NULL. */
void oche_sparse_free(void *memory);

#endif
