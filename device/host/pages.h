/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zeroed memory for large tables that stay nearly empty: only written pages cost memory. malloc
 * gives such memory by default, but a program may set its threshold, or have it fill new memory.
 */
#ifndef OCHE_DEVICE_HOST_PAGES_H
#define OCHE_DEVICE_HOST_PAGES_H

#include <stddef.h>

/* Returns NULL if the system refuses. */
void *oche_pages_take(size_t bytes);
/* `memory` may be NULL; `bytes` as when it was taken. */
void oche_pages_free(void *memory, size_t bytes);

#endif
