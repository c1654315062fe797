/* SPDX-License-Identifier: Apache-2.0 */
#include "params/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 3 /* another process may make the file again as soon as it is removed */

/* True if an oche program is writing the file: it has a lock on it. */
static bool is_being_written(const char *part)
{
    const int fd = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return is_locked;
}

/* Removes the file of this name, unless it is a device or a folder, or is being written. */
static bool make_room(const char *part)
{
    struct stat status;

    if (lstat(part, &status) != 0)
        return errno == ENOENT;
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
        errno = EEXIST;
        return false;
    }
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid() && is_being_written(part)) {
        errno = EBUSY;
        return false;
    }
    return unlink(part) == 0 || errno == ENOENT;
}

/* Some file systems have no locks. There two programs must not write one file at the same time. */
static void lock(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return;
}

int oche_part_open(const char *part)
{
    for (int i = 0; i < TRIES; i++) {
        const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

        if (fd >= 0) {
            lock(fd);
            return fd;
        }
        if (errno != EEXIST)
            return -1;
        if (!make_room(part))
            return -1;
    }
    errno = EEXIST;
    return -1;
}

FILE *oche_part_create(const char *part)
{
    const int fd = oche_part_open(part);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (fd >= 0 && file == NULL) {
        const int reason = errno;

        close(fd);
        unlink(part);
        errno = reason;
    }
    return file;
}
