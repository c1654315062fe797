/* SPDX-License-Identifier: Apache-2.0 */
#include "device/host/pages.h"

#include <sys/mman.h>

void *oche_pages_take(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

void oche_pages_free(void *memory, size_t bytes)
{
    if (memory != NULL)
        munmap(memory, bytes);
}
