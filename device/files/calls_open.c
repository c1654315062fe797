/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liboche-files.so, which `oche exec --files` loads before a program's other libraries: the files
 * that programs look for below /sys/class/infiniband and /dev/infiniband, beside verbs. Only the
 * kernel can make files there. So this library makes them elsewhere (tree.h), and replaces the C
 * library's functions that take paths: those that lead to our files are exchanged (resolve.h),
 * others are passed on unchanged.
 *
 *   contents.c       the files of a device       tree.c     makes them; sweep.c removes them
 *   resolve.c        which file a path means     missing.c  says what a program looks for in vain
 *   calls_open.c     opens a file                calls_ask.c   describes one
 *   calls_folder.c   lists a folder, and the current folder
 *   state.c          ports that are down
 *
 * Programs that do not call the C library's functions are not served: static ones, Go's.
 */
#undef _FILE_OFFSET_BITS /* both open and open64 are defined here */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/files/next.h"
#include "device/files/resolve.h"

/* True, with errno, if the file is ours and would be changed: it is read only, also for root. */
static bool is_refused(const char *chosen, int flags, const struct oche_found *found)
{
    if (chosen != found->path || !found->ours || (flags & O_PATH) != 0 ||
        ((flags & O_ACCMODE) == O_RDONLY && (flags & (O_CREAT | O_TRUNC)) == 0))
        return false;
    errno = EACCES;
    return true;
}

static const char *find(int at, const char *path, int flags, struct oche_found *found)
{
    return oche_files_find(at, path, (flags & O_NOFOLLOW) == 0, found);
}

#define OPEN(name)                                                                                 \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *path, int flags, ...)                                               \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(AT_FDCWD, path, flags, &found);                                  \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(more, flags);                                                                     \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                           \
        va_end(more);                                                                              \
        return is_refused(chosen, flags, &found) ? -1 : NEXT(name)(chosen, flags, mode);           \
    }

#define OPEN_AT(name)                                                                              \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int at, const char *path, int flags, ...)                                       \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(at, path, flags, &found);                                        \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(more, flags);                                                                     \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                           \
        va_end(more);                                                                              \
        return is_refused(chosen, flags, &found) ? -1 : NEXT(name)(at, chosen, flags, mode);       \
    }

/* For programs that were compiled with _FORTIFY_SOURCE. */
#define OPEN_CHECKED(name)                                                                         \
    int name(const char *path, int flags);                                                         \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *path, int flags)                                                    \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(AT_FDCWD, path, flags, &found);                                  \
                                                                                                   \
        return is_refused(chosen, flags, &found) ? -1 : NEXT(name)(chosen, flags);                 \
    }

#define OPEN_AT_CHECKED(name)                                                                      \
    int name(int at, const char *path, int flags);                                                 \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int at, const char *path, int flags)                                            \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(at, path, flags, &found);                                        \
                                                                                                   \
        return is_refused(chosen, flags, &found) ? -1 : NEXT(name)(at, chosen, flags);             \
    }

/* Returns flags of open that change a file as this mode of fopen does. */
static int flags_of(const char *mode)
{
    return mode[0] == 'r' && strchr(mode, '+') == NULL ? O_RDONLY : O_RDWR;
}

#define FOPEN(name)                                                                                \
    static void *_Atomic next_##name;                                                              \
    SHOWN FILE *name(const char *path, const char *mode)                                           \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(AT_FDCWD, path, 0, &found);                                      \
                                                                                                   \
        return is_refused(chosen, flags_of(mode), &found) ? NULL : NEXT(name)(chosen, mode);       \
    }

/* Without a path, freopen changes the stream's mode. */
#define FREOPEN(name)                                                                              \
    static void *_Atomic next_##name;                                                              \
    SHOWN FILE *name(const char *path, const char *mode, FILE *stream)                             \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = find(AT_FDCWD, path, 0, &found);                                      \
                                                                                                   \
        if (!is_refused(chosen, flags_of(mode), &found))                                           \
            return NEXT(name)(chosen, mode, stream);                                               \
        fclose(stream);                                                                            \
        errno = EACCES;                                                                            \
        return NULL;                                                                               \
    }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)
OPEN_AT_CHECKED(__openat_2)
OPEN_AT_CHECKED(__openat64_2)
FOPEN(fopen)
FOPEN(fopen64)
FREOPEN(freopen)
FREOPEN(freopen64)

/* ---- the end of the process ---- */

/* Shells and forked children end by these, which run no destructors. */
#define EXIT(name)                                                                                 \
    static void *_Atomic next_##name;                                                              \
    SHOWN void name(int status)                                                                    \
    {                                                                                              \
        oche_tree_remove();                                                                        \
        NEXT(name)(status);                                                                        \
        abort(); /* it does not return */                                                          \
    }

EXIT(_exit)
EXIT(_Exit)
