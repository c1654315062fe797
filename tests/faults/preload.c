/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for LD_PRELOAD, for the faults that are no system calls: allocations fail, clocks jump.
 * It also reports when the program itself begins, so the dynamic linker's calls do not count.
 * Allocations of the C library's own functions (strdup, open_memstream) count.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/shared.h"

#define HOUR_S  3600
#define YEAR_S  (365 * 24 * HOUR_S)
#define STILL_S 2

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static struct faults_shared *shared;

static int fails(enum faults_call call)
{
    return shared != NULL && faults_fails(shared, call);
}

static int no_memory(void)
{
    if (!fails(CALL_MEMORY))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return no_memory() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return no_memory() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return no_memory() ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return no_memory() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = no_memory() ? NULL : __libc_memalign(alignment, bytes);
    return *memory == NULL ? ENOMEM : 0;
}

/* Repeats the first time that was read, for STILL_S. */
static void stand_still(struct timespec *time)
{
    static _Atomic long second;
    long none = 0;

    atomic_compare_exchange_strong(&second, &none, (long)time->tv_sec);
    if (time->tv_sec - atomic_load(&second) < STILL_S)
        *time = (struct timespec){.tv_sec = atomic_load(&second)};
}

/* Returns the kernel's time, or one that has jumped. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int status = (int)syscall(SYS_clock_gettime, clock, time);

    if (status != 0 || !fails(CALL_CLOCK))
        return status;
    if (shared->clock == CLOCK_HOUR) {
        time->tv_sec += HOUR_S;
    } else if (shared->clock == CLOCK_BACK && clock == CLOCK_REALTIME) {
        time->tv_sec -= YEAR_S;
    } else if (shared->clock == CLOCK_STILL && clock == CLOCK_MONOTONIC) {
        stand_still(time);
    }
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *into)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    if (into != NULL)
        *into = now.tv_sec;
    return now.tv_sec;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_SHARED");
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map;

    /* a program that a child executes is not disturbed */
    if (file < 0 || getenv("FAULTS_PROCESS") == NULL || atoi(getenv("FAULTS_PROCESS")) != getpid())
        return;
    map = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED)
        return;
    shared = map;
    prctl(FAULTS_BEGIN);
}
