/* SPDX-License-Identifier: Apache-2.0 */
/* Removes trees; see sweep.h. */
#include "device/files/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base.h"
#include "device/files/kernel.h"
#include "device/view/place.h"

#define DEEPEST    16    /* folders below each other */
#define MOST_NAMES 65536 /* entries of a folder that are read */
#define UNFINISHED 60    /* seconds after which a tree that is being made is left over */

/*
 * Without the C library's lists of folders, which need memory: a handler of a signal may call _exit
 * while the thread allocates.
 */
static void remove_below(int folder, unsigned depth);

/* Returns false if the entry is still there. Links are not followed. */
static bool remove_entry(int folder, const char *name, unsigned depth)
{
    const int below =
        depth < DEEPEST ? kernel_openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) : -1;

    if (below < 0)
        return unlinkat(folder, name, 0) == 0;
    remove_below(below, depth + 1);
    close(below);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static void remove_below(int folder, unsigned depth)
{
    union {
        struct dirent64 align;
        char bytes[512];
    } list;
    bool removed;
    long count;

    do {
        removed = false;
        if (lseek(folder, 0, SEEK_SET) != 0)
            return;
        while ((count = kernel_getdents(folder, list.bytes, sizeof(list.bytes))) > 0)
            for (long at = 0; at < count;) {
                const struct dirent64 *entry = (const void *)(list.bytes + at);

                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                    removed |= remove_entry(folder, entry->d_name, depth);
                at += entry->d_reclen;
            }
    } while (removed);
}

void oche_tree_remove_from(int folder, const char *name)
{
    static const char *const entries[] = {"dev", "loop", "sys", OCHE_TREE_LOCK};
    const int tree = kernel_openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    if (tree < 0)
        return;
    for (size_t i = 0; i < OCHE_COUNT_OF(entries); i++)
        remove_entry(tree, entries[i], 0);
    close(tree);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* True if the name is the mark, and then a process. */
static bool has_mark(const char *name, const char *mark)
{
    pid_t unused;

    return strncmp(name, mark, strlen(mark)) == 0 &&
           oche_view_name_is(name + strlen(mark), &unused);
}

/* True if the process was killed while it made the tree. */
static bool is_unfinished(int folder, const char *name)
{
    struct stat about;

    return has_mark(name, OCHE_TREE_MAKING) &&
           fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           about.st_mtime + UNFINISHED < time(NULL);
}

/* Removes a tree if its process has ended, or forgotten it: then its lock can be taken. */
static void remove_left_over(int folder, const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[OCHE_VIEW_NAME_BYTES + sizeof(OCHE_TREE_MARK) + sizeof(OCHE_TREE_LOCK) + 1];
    int file;

    if (is_unfinished(folder, name))
        oche_tree_remove_from(folder, name);
    if (!has_mark(name, OCHE_TREE_MARK) ||
        (size_t)snprintf(path, sizeof(path), "%s/" OCHE_TREE_LOCK, name) >= sizeof(path))
        return;
    file = kernel_openat(folder, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (file < 0 && errno == ENOENT)
        unlinkat(folder, name, AT_REMOVEDIR);
    if (file < 0)
        return;
    if (fcntl(file, F_SETLK, &whole) == 0)
        oche_tree_remove_from(folder, name);
    close(file);
}

void oche_tree_sweep(int folder)
{
    const int copy = kernel_openat(folder, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;

    if (names == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(names)) != NULL; i++)
        remove_left_over(folder, entry->d_name);
    closedir(names);
}
