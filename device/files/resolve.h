/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a path means, in a world where the tree (tree.h) lies over the kernel's files: as the
 * kernel does, by one part of the path after the other, links and `..` included. Most paths cannot
 * be meant; a test of their beginning finds that.
 */
#ifndef OCHE_DEVICE_FILES_RESOLVE_H
#define OCHE_DEVICE_FILES_RESOLVE_H

#include <stdbool.h>
#include <string.h>

#include "device/files/tree.h"

#define OCHE_FOUND_BYTES 2048

struct oche_found {
    char path[OCHE_FOUND_BYTES]; /* absolute */
    bool ours;                   /* it is in the tree; to be read only */
};

/* The part of oche_files_find that only few paths need. */
const char *oche_files_find_slow(int at, const char *path, bool follow, struct oche_found *found);

/* True if an absolute path may lead into the tree. */
static inline bool oche_files_concern(const char *path)
{
    while (*path == '/' || *path == '.')
        path++;
    if (strncmp(path, "sys/", 4) == 0)
        return strstr(path, "infiniband") != NULL || strstr(path, "oche") != NULL;
    return strncmp(path, "dev/", 4) == 0 && strstr(path, "infiniband") != NULL;
}

/* True if the path ends with the name of a counter, whose file must be written first (counts.h). */
bool oche_files_names_counter(const char *path);

/* As oche_files_concern, for a path that begins at the current folder, or an open one. */
static inline bool oche_files_concern_relative(const char *path)
{
    return strstr(path, "infiniband") != NULL || strstr(path, "oche") != NULL ||
           (strncmp(path, "..", 2) == 0 &&
            atomic_load_explicit(&oche_tree_made, memory_order_relaxed)) ||
           (strchr(path, '_') != NULL && oche_files_names_counter(path));
}

/*
 * Returns the path to give to the kernel instead of `path`, which is relative to the folder `at`.
 * It is `path` itself, or found->path. `follow`: a link at the end is followed. Keeps errno.
 *
 * The headers promise that no path is NULL, so the compiler would remove the test for NULL;
 * `volatile` prevents that. A NULL path is passed on, and the kernel answers EFAULT.
 */
static inline const char *oche_files_find(int at, const char *path, bool follow,
                                          struct oche_found *found)
{
    const char *volatile given = path;

    if (given == NULL ||
        !(path[0] == '/' ? oche_files_concern(path) : oche_files_concern_relative(path)))
        return path;
    return oche_files_find_slow(at, path, follow, found);
}

#endif
