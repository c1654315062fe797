/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zeroed memory for tables that are large and stay nearly empty: only what is written costs memory.
 * By default malloc gives such memory, too, but a program may set its threshold, or have it fill
 * what it gives.
 */
#ifndef OCHE_DEVICE_HOST_PAGES_H
#define OCHE_DEVICE_HOST_PAGES_H

#include <stddef.h>

/* Returns NULL if the system refuses. */
void *oche_pages_take(size_t bytes);
/* `memory` may be NULL; `bytes` as when it was taken. */
void oche_pages_free(void *memory, size_t bytes);

#endif
