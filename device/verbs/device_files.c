/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liboche-files.so, which `oche exec --files` loads before a program's other libraries: the files
 * that some programs expect of an RDMA device besides its verbs.
 *
 *   /dev/infiniband/uoche_IF_v4
 *       works like /dev/null: UCX asks whether this is a character device that it may use
 *   /sys/class/infiniband/oche_IF_v4/ports/1/gid_attrs/types/0
 *       "RoCE v2"
 *   /sys/class/infiniband/oche_IF_v4/ports/1/gid_attrs/ndevs/0
 *       the interface
 *
 * and so for every name of device_list.c, and for those without _v4 that there were once.
 *
 * Only the kernel can make files there. So this library replaces the C library's functions that
 * open or examine a file by its path, and handles these names. Other names are passed on unchanged.
 * Folders do not list these files.
 */
#undef _FILE_OFFSET_BITS /* both open and open64 are defined here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICES    "/dev/infiniband/u"
#define ATTRIBUTES "/sys/class/infiniband/"
#define NAME       "oche"
#define TYPE       "/ports/1/gid_attrs/types/0"
#define INTERFACE  "/ports/1/gid_attrs/ndevs/0"

/* The function that our function `name` replaces: the next one of this name in the program. */
#define NEXT(name) ((__typeof__(&name))next(&next_##name, #name))

static void *next(void *_Atomic *kept, const char *name)
{
    void *found = atomic_load_explicit(kept, memory_order_relaxed);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(kept, found, memory_order_relaxed);
    }
    return found;
}

/* ---- names ---- */

/*
 * The headers promise that no path is NULL, so the compiler would remove the test for NULL;
 * `volatile` prevents that. A NULL path is passed on, and the kernel answers EFAULT.
 */
static bool begins_with(const char *path, const char *prefix)
{
    const char *volatile given = path;

    return given != NULL && strncmp(path, prefix, strlen(prefix)) == 0;
}

/* True if a device is called after this interface: its _v is -v there (device_list.c). */
static bool is_called(const char *name, const char *interface)
{
    for (size_t i = 0; interface[i] != '\0'; i++)
        if (name[i] != (interface[i] == '_' && interface[i + 1] == 'v' ? '-' : interface[i]))
            return false;
    return true;
}

/*
 * True if `name` is a device of `interface`: oche_IF, perhaps with a number before it and a suffix.
 */
static bool is_device_of(const char *name, size_t length, const char *interface)
{
    const size_t begins = strlen(NAME) + strspn(name + strlen(NAME), "0123456789") + 1;
    const size_t ends = begins + strlen(interface);

    return length >= ends && name[begins - 1] == '_' && is_called(name + begins, interface) &&
           (length == ends || name[ends] == '_');
}

/* Finds the interface of the device called `name`; "" if none of our devices has that name. */
static void interface_of(const char *name, size_t length, char interface[IF_NAMESIZE])
{
    struct if_nameindex *all;

    interface[0] = '\0';
    if (!begins_with(name, NAME) || (all = if_nameindex()) == NULL)
        return;
    for (const struct if_nameindex *at = all; at->if_index != 0; at++)
        if (strlen(at->if_name) > strlen(interface) && is_device_of(name, length, at->if_name))
            snprintf(interface, IF_NAMESIZE, "%s", at->if_name);
    if_freenameindex(all);
}

/*
 * Returns the file to open instead of `path`: /dev/null for a device of ours, else `path` itself.
 */
static const char *instead(const char *path)
{
    const size_t prefix = strlen(DEVICES);
    char interface[IF_NAMESIZE];

    if (!begins_with(path, DEVICES))
        return path;
    interface_of(path + prefix, strlen(path + prefix), interface);
    return interface[0] != '\0' ? "/dev/null" : path;
}

/*
 * Writes the value of the attribute with this path. Returns its length; 0: `path` is not an
 * attribute of ours.
 */
static size_t attribute(const char *path, char text[IF_NAMESIZE + 1])
{
    const size_t prefix = strlen(ATTRIBUTES);
    char interface[IF_NAMESIZE];
    const char *name, *end;

    if (!begins_with(path, ATTRIBUTES))
        return 0;
    name = path + prefix;
    end = strchr(name, '/');
    if (end == NULL || (strcmp(end, TYPE) != 0 && strcmp(end, INTERFACE) != 0))
        return 0;
    interface_of(name, (size_t)(end - name), interface);
    if (interface[0] == '\0')
        return 0;
    return (size_t)snprintf(text, IF_NAMESIZE + 1, "%s\n",
                            strcmp(end, TYPE) == 0 ? "RoCE v2" : interface);
}

/*
 * Opens an attribute. Returns false if `path` is not an attribute of ours. *fd becomes the
 * descriptor, or -1 with errno set.
 */
static bool open_attribute(const char *path, int flags, int *fd)
{
    char text[IF_NAMESIZE + 1];
    const size_t length = attribute(path, text);

    if (length == 0)
        return false;
    *fd = -1;
    if ((flags & O_ACCMODE) != O_RDONLY) {
        errno = EACCES;
        return true;
    }
    *fd = memfd_create("attribute", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    if (*fd >= 0 && (write(*fd, text, length) != (ssize_t)length || lseek(*fd, 0, SEEK_SET) != 0)) {
        close(*fd);
        *fd = -1;
    }
    return true;
}

static bool is_attribute(const char *path)
{
    char text[IF_NAMESIZE + 1];

    return attribute(path, text) > 0;
}

/* ---- the functions that replace those of the C library ---- */

#define OPEN(name)                                                                                 \
    static void *_Atomic next_##name;                                                              \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
        int fd;                                                                                    \
                                                                                                   \
        va_start(more, flags);                                                                     \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                           \
        va_end(more);                                                                              \
        return open_attribute(path, flags, &fd) ? fd : NEXT(name)(instead(path), flags, mode);     \
    }

#define OPEN_AT(name)                                                                              \
    static void *_Atomic next_##name;                                                              \
    int name(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
        int fd;                                                                                    \
                                                                                                   \
        va_start(more, flags);                                                                     \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                           \
        va_end(more);                                                                              \
        return open_attribute(path, flags, &fd) ? fd : NEXT(name)(at, instead(path), flags, mode); \
    }

/* For programs that were compiled with _FORTIFY_SOURCE. */
#define OPEN_CHECKED(name)                                                                         \
    int name(const char *path, int flags);                                                         \
    static void *_Atomic next_##name;                                                              \
    int name(const char *path, int flags)                                                          \
    {                                                                                              \
        int fd;                                                                                    \
                                                                                                   \
        return open_attribute(path, flags, &fd) ? fd : NEXT(name)(instead(path), flags);           \
    }

#define FOPEN(name)                                                                                \
    static void *_Atomic next_##name;                                                              \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        const int flags = strcmp(mode, "r") == 0 || strcmp(mode, "re") == 0 ? O_RDONLY : O_RDWR;   \
        int fd;                                                                                    \
                                                                                                   \
        if (!open_attribute(path, flags | O_CLOEXEC, &fd))                                         \
            return NEXT(name)(instead(path), mode);                                                \
        return fd < 0 ? NULL : fdopen(fd, "r");                                                    \
    }

/* If `path` is an attribute, describes the file that open would return. */
#define STAT(name, type, of_fd)                                                                    \
    static void *_Atomic next_##name;                                                              \
    int name(const char *path, struct type *about)                                                 \
    {                                                                                              \
        int fd, status;                                                                            \
                                                                                                   \
        if (!open_attribute(path, O_RDONLY | O_CLOEXEC, &fd))                                      \
            return NEXT(name)(instead(path), about);                                               \
        if (fd < 0)                                                                                \
            return -1;                                                                             \
        status = of_fd(fd, about);                                                                 \
        close(fd);                                                                                 \
        return status;                                                                             \
    }

/* Like STAT, for programs that were built before glibc 2.33. */
#define OLD_STAT(name, now, type)                                                                  \
    int name(int version, const char *path, struct type *about);                                   \
    static void *_Atomic next_##name;                                                              \
    int name(int version, const char *path, struct type *about)                                    \
    {                                                                                              \
        return is_attribute(path) ? now(path, about) : NEXT(name)(version, instead(path), about);  \
    }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)
FOPEN(fopen)
FOPEN(fopen64)
STAT(stat, stat, fstat)
STAT(stat64, stat64, fstat64)
STAT(lstat, stat, fstat)
STAT(lstat64, stat64, fstat64)
OLD_STAT(__xstat, stat, stat)
OLD_STAT(__xstat64, stat64, stat64)

static void *_Atomic next_access;
int access(const char *path, int kind)
{
    if (!is_attribute(path))
        return NEXT(access)(instead(path), kind);
    if ((kind & (W_OK | X_OK)) == 0)
        return 0;
    errno = EACCES;
    return -1;
}
