/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the C library's functions that list folders, change the current one, or return paths;
 * see calls_open.c. Paths that programs get do not show where the tree is.
 */
#undef _FILE_OFFSET_BITS /* both scandir and scandir64 are defined here */
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/files/next.h"
#include "device/files/resolve.h"

/* ---- lists ---- */

static void *_Atomic next_opendir;
SHOWN DIR *opendir(const char *path)
{
    struct oche_found found;

    return NEXT(opendir)(oche_files_find(AT_FDCWD, path, true, &found));
}

#define SCAN(name, type)                                                                           \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *path, struct type ***list, int (*take)(const struct type *),        \
                   int (*compare)(const struct type **, const struct type **))                     \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = oche_files_find(AT_FDCWD, path, true, &found);                        \
                                                                                                   \
        return NEXT(name)(chosen, list, take, compare);                                            \
    }

#define SCAN_AT(name, type)                                                                        \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(int at, const char *path, struct type ***list,                                  \
                   int (*take)(const struct type *),                                               \
                   int (*compare)(const struct type **, const struct type **))                     \
    {                                                                                              \
        struct oche_found found;                                                                   \
        const char *chosen = oche_files_find(at, path, true, &found);                              \
                                                                                                   \
        return NEXT(name)(at, chosen, list, take, compare);                                        \
    }

SCAN(scandir, dirent)
SCAN(scandir64, dirent64)
SCAN_AT(scandirat, dirent)
SCAN_AT(scandirat64, dirent64)

/*
 * glob calls functions inside the C library, which cannot be replaced. But it takes functions to
 * call instead: these here are the public ones, which are.
 */
static void *open_folder(const char *path)
{
    return opendir(path);
}

static void close_folder(void *folder)
{
    closedir(folder);
}

static struct dirent *read_folder(void *folder)
{
    return readdir(folder);
}

static struct dirent64 *read_folder64(void *folder)
{
    return readdir64(folder);
}

#define GLOB(name, type, read, ask, ask_link)                                                      \
    static void *_Atomic next_##name;                                                              \
    SHOWN int name(const char *pattern, int flags, int (*failed)(const char *, int), type *found)  \
    {                                                                                              \
        int status;                                                                                \
                                                                                                   \
        if ((flags & GLOB_ALTDIRFUNC) != 0 ||                                                      \
            !(pattern[0] == '/' ? oche_files_concern(pattern)                                      \
                                : oche_files_concern_relative(pattern)))                           \
            return NEXT(name)(pattern, flags, failed, found);                                      \
        found->gl_opendir = open_folder;                                                           \
        found->gl_closedir = close_folder;                                                         \
        found->gl_readdir = read;                                                                  \
        found->gl_stat = ask;                                                                      \
        found->gl_lstat = ask_link;                                                                \
        status = NEXT(name)(pattern, flags | GLOB_ALTDIRFUNC, failed, found);                      \
        found->gl_flags &= ~GLOB_ALTDIRFUNC;                                                       \
        return status;                                                                             \
    }

GLOB(glob, glob_t, read_folder, stat, lstat)
GLOB(glob64, glob64_t, read_folder64, stat64, lstat64)

/* ---- paths that programs get ---- */

static char *without_tree(char *path)
{
    if (path != NULL)
        oche_tree_cut(path);
    return path;
}

static void *_Atomic next_realpath;
SHOWN char *realpath(const char *path, char *resolved)
{
    struct oche_found found;

    return without_tree(NEXT(realpath)(oche_files_find(AT_FDCWD, path, true, &found), resolved));
}

char *__realpath_chk(const char *path, char *resolved, size_t room);
static void *_Atomic next___realpath_chk;
SHOWN char *__realpath_chk(const char *path, char *resolved, size_t room)
{
    struct oche_found found;
    const char *chosen = oche_files_find(AT_FDCWD, path, true, &found);

    return without_tree(NEXT(__realpath_chk)(chosen, resolved, room));
}

static void *_Atomic next_canonicalize_file_name;
SHOWN char *canonicalize_file_name(const char *path)
{
    struct oche_found found;

    return without_tree(
        NEXT(canonicalize_file_name)(oche_files_find(AT_FDCWD, path, true, &found)));
}

/* ---- the current folder ---- */

static void *_Atomic next_chdir;
SHOWN int chdir(const char *path)
{
    struct oche_found found;

    return NEXT(chdir)(oche_files_find(AT_FDCWD, path, true, &found));
}

static void *_Atomic next_getcwd;
SHOWN char *getcwd(char *path, size_t bytes)
{
    return without_tree(NEXT(getcwd)(path, bytes));
}

char *__getcwd_chk(char *path, size_t bytes, size_t room);
static void *_Atomic next___getcwd_chk;
SHOWN char *__getcwd_chk(char *path, size_t bytes, size_t room)
{
    return without_tree(NEXT(__getcwd_chk)(path, bytes, room));
}

static void *_Atomic next_get_current_dir_name;
SHOWN char *get_current_dir_name(void)
{
    return without_tree(NEXT(get_current_dir_name)());
}
