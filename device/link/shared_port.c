/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port in memory that processes share; see shared_port.h.
 *
 * A process holds a lock (F_OFD_SETLK) on the file's first byte as long as it uses the port. Who
 * gets it for writing is alone: it makes the port anew, or removes the file. The kernel drops the
 * locks of killed processes.
 */
#include "device/link/shared_port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/host/pages.h"

#define MOST_NAMES   4096 /* of the folder */
#define ATTEMPTS     16   /* another process may remove the file while it is opened */
#define LONGEST_WAIT (2 * OCHE_MS)

struct oche_shared_port_memory {
    pthread_mutex_t mutex; /* robust, between processes */
    struct timespec epoch; /* time 0 of the port, on CLOCK_MONOTONIC */
    oche_time last;        /* latest time of a call: the processes' clocks are read earlier */
    uint8_t port[] __attribute__((aligned(8)));
};

static struct oche_link_port *port_of(const struct oche_shared_port *port)
{
    return (struct oche_link_port *)(void *)port->memory->port;
}

static bool make(struct oche_shared_port *port, uint64_t packets)
{
    pthread_mutexattr_t kind;
    bool made;

    if (pthread_mutexattr_init(&kind) != 0)
        return false;
    made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
           pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 &&
           pthread_mutex_init(&port->memory->mutex, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    clock_gettime(CLOCK_MONOTONIC, &port->memory->epoch);
    port->memory->last = 0;
    oche_link_port_create(port->memory->port, packets);
    return made;
}

/* ---- the file ---- */

static bool lock(int file, short how, bool waits)
{
    struct flock first = {.l_type = how, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(file, waits ? F_OFD_SETLKW : F_OFD_SETLK, &first) == 0;
}

static bool is_linked(int file)
{
    struct stat about;

    return fstat(file, &about) == 0 && about.st_nlink > 0;
}

static bool map(struct oche_shared_port *port)
{
    void *at = mmap(NULL, port->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, port->file, 0);

    port->memory = at != MAP_FAILED ? at : NULL;
    return port->memory != NULL;
}

/* The file is open, and this process alone has it: makes the port, and lets others use it. */
static bool make_in_file(struct oche_shared_port *port, uint64_t packets)
{
    /* reserved, so that no write to the mapping fails later */
    return ftruncate(port->file, 0) == 0 &&
           posix_fallocate(port->file, 0, (off_t)port->bytes) == 0 && map(port) &&
           make(port, packets) && lock(port->file, F_RDLCK, false);
}

static bool join(struct oche_shared_port *port)
{
    struct stat about;

    return lock(port->file, F_RDLCK, true) && is_linked(port->file) &&
           fstat(port->file, &about) == 0 && (size_t)about.st_size == port->bytes && map(port);
}

static void close_file(struct oche_shared_port *port)
{
    if (port->memory != NULL)
        munmap(port->memory, port->bytes);
    if (port->file >= 0)
        close(port->file);
    port->memory = NULL;
    port->file = -1;
}

static bool open_file(struct oche_shared_port *port, uint64_t packets)
{
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        bool usable;

        port->file = open(port->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (port->file < 0)
            return false;
        usable = lock(port->file, F_WRLCK, false)
                     ? is_linked(port->file) && make_in_file(port, packets)
                     : join(port);
        if (usable)
            return true;
        close_file(port);
    }
    return false;
}

/* ---- files of killed processes ---- */

/* Removes the file if no process has it. Who opens it meanwhile makes another one. */
static void remove_unused(int folder, const char *name)
{
    const int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0)
        return;
    if (lock(file, F_WRLCK, false))
        unlinkat(folder, name, 0);
    close(file);
}

/* Removes the ports that killed processes have left in the folder of this one. */
static void sweep(const char *path)
{
    char above[OCHE_SHARED_PORT_PATH];
    const struct dirent *entry;
    DIR *names;

    snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
    names = opendir(above);
    if (names == NULL)
        return;
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(names)) != NULL; i++)
        if (strncmp(entry->d_name, OCHE_SHARED_PORT_NAME, strlen(OCHE_SHARED_PORT_NAME)) == 0)
            remove_unused(dirfd(names), entry->d_name);
    closedir(names);
}

/* ---- opening and closing ---- */

bool oche_shared_port_open(struct oche_shared_port *port, const char *path, uint64_t packets,
                           const struct oche_clock *clock)
{
    const size_t bytes = sizeof(struct oche_shared_port_memory) + oche_link_port_bytes(packets);
    int64_t ns;

    *port = (struct oche_shared_port){.bytes = bytes, .file = -1};
    if (path != NULL && strchr(path, '/') != NULL)
        sweep(path);
    if (path == NULL ||
        (size_t)snprintf(port->path, sizeof(port->path), "%s", path) >= sizeof(port->path) ||
        !open_file(port, packets)) {
        port->memory = oche_pages_take(bytes);
        if (port->memory == NULL || !make(port, packets))
            return false;
    }
    ns = (int64_t)(clock->opened.tv_sec - port->memory->epoch.tv_sec) * 1000000000 +
         (clock->opened.tv_nsec - port->memory->epoch.tv_nsec);
    /* the device may be older than the port: unsigned arithmetic wraps around as it should */
    port->offset = (oche_time)ns * OCHE_NS;
    return true;
}

void oche_shared_port_close(struct oche_shared_port *port)
{
    if (port->memory == NULL)
        return;
    if (port->file >= 0 && is_linked(port->file) && lock(port->file, F_WRLCK, false))
        unlink(port->path);
    oche_shared_port_leave(port);
}

void oche_shared_port_leave(struct oche_shared_port *port)
{
    if (port->file >= 0)
        close_file(port);
    else
        oche_pages_free(port->memory, port->bytes);
    port->memory = NULL;
}

/* ---- the port ---- */

static bool take_lock(struct oche_shared_port *port)
{
    struct oche_clock began;
    int result = pthread_mutex_trylock(&port->memory->mutex);

    if (result == EBUSY && !port->stuck)
        for (oche_clock_start(&began); result == EBUSY && oche_clock_now(&began) < LONGEST_WAIT;
             result = pthread_mutex_trylock(&port->memory->mutex))
            sched_yield();
    if (result == EOWNERDEAD) /* each member is written once; at worst a packet is counted twice */
        result = pthread_mutex_consistent(&port->memory->mutex);
    port->stuck = result != 0;
    return result == 0;
}

bool oche_shared_port_take(struct oche_shared_port *port, oche_time now, uint32_t frame_bytes,
                           uint32_t gap_bytes, uint64_t rate_bps, uint64_t queue_bytes,
                           struct oche_link_departure *departure)
{
    struct oche_shared_port_memory *memory = port->memory;
    bool room;

    if (!take_lock(port))
        return false;
    now += port->offset;
    /* a device that was opened before the port was made has no negative time there */
    if (now > INT64_MAX || now < memory->last)
        now = memory->last;
    memory->last = now;
    room = oche_link_port_take(port_of(port), now, frame_bytes, gap_bytes, rate_bps, queue_bytes,
                               departure);
    pthread_mutex_unlock(&memory->mutex);
    if (room) {
        departure->starts -= port->offset;
        departure->leaves -= port->offset;
    }
    return room;
}

uint64_t oche_shared_port_behind(struct oche_shared_port *port,
                                 const struct oche_link_departure *departure)
{
    struct oche_link_departure there = *departure;
    uint64_t bytes;

    if (!take_lock(port))
        return 0;
    there.starts += port->offset;
    there.leaves += port->offset;
    bytes = oche_link_port_behind(port_of(port), &there);
    pthread_mutex_unlock(&port->memory->mutex);
    return bytes;
}
