/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD whose allocations fail when they are told to.
 *
 *     FAIL_ALLOCATION=N    the N-th and all later ones fail; 0: none does
 *     FAIL_ONCE=1          the N-th alone
 *     ALLOCATIONS_TO=FILE  how many there were, when the program ends
 *
 * Allocations of the C library's own functions (strdup, asprintf, open_memstream) count, too.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static _Atomic unsigned long allocations;
static unsigned long first;
static _Bool once;

static _Bool fails(void)
{
    const unsigned long number = atomic_fetch_add(&allocations, 1) + 1;

    if (first == 0 || number < first || (once && number > first))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = fails() ? NULL : __libc_memalign(alignment, bytes);
    return *memory == NULL ? ENOMEM : 0;
}

/* What the dynamic linker and the C library allocate before the program begins does not count. */
__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_ALLOCATION");

    first = text != NULL ? strtoul(text, NULL, 10) : 0;
    once = getenv("FAIL_ONCE") != NULL;
    atomic_store(&allocations, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("ALLOCATIONS_TO");
    FILE *file;

    first = 0;
    file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%lu\n", atomic_load(&allocations));
    fclose(file);
}
