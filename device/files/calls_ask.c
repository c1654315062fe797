/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the C library's functions that describe a file, and links; see calls_open.c. */
#undef _FILE_OFFSET_BITS /* both stat and stat64 are defined here */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "device/files/next.h"
#include "device/files/resolve.h"

#define STAT(name, type, follow)                                                                   \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *path, struct type *about)                                           \
    {                                                                                              \
        struct oche_found found;                                                                   \
                                                                                                   \
        return NEXT(name)(oche_files_find(AT_FDCWD, path, follow, &found), about);                 \
    }

#define STAT_AT(name, type)                                                                        \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int at, const char *path, struct type *about, int flags)                        \
    {                                                                                              \
        const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;                                    \
        struct oche_found found;                                                                   \
                                                                                                   \
        return NEXT(name)(at, oche_files_find(at, path, follow, &found), about, flags);            \
    }

/* For programs that were built before glibc 2.33. */
#define OLD_STAT(name, type, follow)                                                               \
    int name(int version, const char *path, struct type *about);                                   \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int version, const char *path, struct type *about)                              \
    {                                                                                              \
        struct oche_found found;                                                                   \
                                                                                                   \
        return NEXT(name)(version, oche_files_find(AT_FDCWD, path, follow, &found), about);        \
    }

#define OLD_STAT_AT(name, type)                                                                    \
    int name(int version, int at, const char *path, struct type *about, int flags);                \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int version, int at, const char *path, struct type *about, int flags)           \
    {                                                                                              \
        const bool follow = (flags & AT_SYMLINK_NOFOLLOW) == 0;                                    \
        struct oche_found found;                                                                   \
                                                                                                   \
        return NEXT(name)(version, at, oche_files_find(at, path, follow, &found), about, flags);   \
    }

STAT(stat, stat, true)
STAT(stat64, stat64, true)
STAT(lstat, stat, false)
STAT(lstat64, stat64, false)
STAT_AT(fstatat, stat)
STAT_AT(fstatat64, stat64)
OLD_STAT(__xstat, stat, true)
OLD_STAT(__xstat64, stat64, true)
OLD_STAT(__lxstat, stat, false)
OLD_STAT(__lxstat64, stat64, false)
OLD_STAT_AT(__fxstatat, stat)
OLD_STAT_AT(__fxstatat64, stat64)

static void *_Atomic next_statx;
SHOWN int statx(int at, const char *path, int flags, unsigned mask, struct statx *about)
{
    struct oche_found found;
    const char *chosen = oche_files_find(at, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, &found);

    return NEXT(statx)(at, chosen, flags, mask, about);
}

/* ---- file systems ---- */

STAT(statfs, statfs, true)
STAT(statfs64, statfs64, true)
STAT(statvfs, statvfs, true)
STAT(statvfs64, statvfs64, true)

/* ---- rights ---- */

/* True, with errno, if the file is ours and the program asks whether it may be changed or run. */
static bool is_refused(const char *chosen, int kind, const struct oche_found *found)
{
    struct stat about;

    if (chosen != found->path || !found->ours || (kind & (W_OK | X_OK)) == 0 ||
        stat(chosen, &about) != 0 || ((kind & W_OK) == 0 && S_ISDIR(about.st_mode)))
        return false;
    errno = EACCES;
    return true;
}

#define ACCESS(name)                                                                               \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *path, int kind)                                                     \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = oche_files_find(AT_FDCWD, path, true, &found);                        \
                                                                                                   \
        return is_refused(chosen, kind, &found) ? -1 : NEXT(name)(chosen, kind);                   \
    }

ACCESS(access)
ACCESS(eaccess)
ACCESS(euidaccess)

static void *_Atomic next_faccessat;
SHOWN int faccessat(int at, const char *path, int kind, int flags)
{
    struct oche_found found;
    const char *chosen = oche_files_find(at, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, &found);

    return is_refused(chosen, kind, &found) ? -1 : NEXT(faccessat)(at, chosen, kind, flags);
}

/* ---- links ---- */

static void *_Atomic next_readlink;
SHOWN ssize_t readlink(const char *path, char *text, size_t bytes)
{
    struct oche_found found;

    return NEXT(readlink)(oche_files_find(AT_FDCWD, path, false, &found), text, bytes);
}

static void *_Atomic next_readlinkat;
SHOWN ssize_t readlinkat(int at, const char *path, char *text, size_t bytes)
{
    struct oche_found found;

    return NEXT(readlinkat)(at, oche_files_find(at, path, false, &found), text, bytes);
}

ssize_t __readlink_chk(const char *path, char *text, size_t bytes, size_t room);
static void *_Atomic next___readlink_chk;
SHOWN ssize_t __readlink_chk(const char *path, char *text, size_t bytes, size_t room)
{
    struct oche_found found;

    return NEXT(__readlink_chk)(oche_files_find(AT_FDCWD, path, false, &found), text, bytes, room);
}

ssize_t __readlinkat_chk(int at, const char *path, char *text, size_t bytes, size_t room);
static void *_Atomic next___readlinkat_chk;
SHOWN ssize_t __readlinkat_chk(int at, const char *path, char *text, size_t bytes, size_t room)
{
    struct oche_found found;
    const char *chosen = oche_files_find(at, path, false, &found);

    return NEXT(__readlinkat_chk)(at, chosen, text, bytes, room);
}

/* ---- extended attributes, which ls asks for ---- */

#define GET_XATTR(name, follow)                                                                    \
    static void *_Atomic next_##name;                                                              \
    SHOWN ssize_t name(const char *path, const char *attribute, void *value, size_t bytes)         \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = oche_files_find(AT_FDCWD, path, follow, &found);                      \
                                                                                                   \
        return NEXT(name)(chosen, attribute, value, bytes);                                        \
    }

#define LIST_XATTR(name, follow)                                                                   \
    static void *_Atomic next_##name;                                                              \
    SHOWN ssize_t name(const char *path, char *list, size_t bytes)                                 \
    {                                                                                              \
        struct oche_found found;                                                                   \
                                                                                                   \
        return NEXT(name)(oche_files_find(AT_FDCWD, path, follow, &found), list, bytes);           \
    }

GET_XATTR(getxattr, true)
GET_XATTR(lgetxattr, false)
LIST_XATTR(listxattr, true)
LIST_XATTR(llistxattr, false)
