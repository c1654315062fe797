/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the kernel by number. The C library's functions of these names are intercepted, so the
 * library itself must not use them where it would ask itself. They set errno.
 */
#ifndef OCHE_DEVICE_FILES_KERNEL_H
#define OCHE_DEVICE_FILES_KERNEL_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int kernel_openat(int at, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, at, path, flags | O_CLOEXEC, mode);
}

static inline int kernel_lstat(const char *path, struct stat *about)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, about, AT_SYMLINK_NOFOLLOW);
}

/* Returns the length of the text, which has no terminating 0, or -1. */
static inline ssize_t kernel_readlink(const char *path, char *text, size_t bytes)
{
    return syscall(SYS_readlinkat, AT_FDCWD, path, text, bytes);
}

/* Returns true if the folder's path, with its terminating 0, fits. */
static inline bool kernel_getcwd(char *text, size_t bytes)
{
    return syscall(SYS_getcwd, text, bytes) > 0;
}

/* Returns the number of bytes, which are struct dirent64 one after the other; 0: at the end. */
static inline long kernel_getdents(int folder, void *list, size_t bytes)
{
    return syscall(SYS_getdents64, folder, list, bytes);
}

#endif
