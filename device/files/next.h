/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that ours replace: the next ones of the same names in the program. */
#ifndef OCHE_DEVICE_FILES_NEXT_H
#define OCHE_DEVICE_FILES_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define SHOWN __attribute__((visibility("default")))
/* The function that our function `name` replaces; next_NAME keeps its address. */
#define NEXT(name) ((__typeof__(&name))oche_files_next(&next_##name, #name))

static inline void *oche_files_next(void *_Atomic *kept, const char *name)
{
    void *found = atomic_load_explicit(kept, memory_order_relaxed);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(kept, found, memory_order_relaxed);
    }
    return found;
}

#endif
