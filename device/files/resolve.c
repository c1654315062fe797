/* SPDX-License-Identifier: Apache-2.0 */
/* Walks along a path; see resolve.h. */
#include "device/files/resolve.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "device/files/contents.h"
#include "device/files/counts.h"
#include "device/files/kernel.h"
#include "device/files/missing.h"

#include "core/base.h"

#define MOST_LINKS 40  /* as in the kernel */
#define LONGEST    512 /* bytes of one part's path, or of a link's text */

static const char *const folders[] = {OCHE_CLASS_FOLDER, OCHE_VERBS_FOLDER, OCHE_DEVICES_FOLDER,
                                      OCHE_DEV_FOLDER};

/* True in a thread that walks: its own calls are not for the tree. */
static _Thread_local bool busy __attribute__((tls_model("initial-exec")));

struct walk {
    char tree[OCHE_TREE_BYTES]; /* "": not asked for yet */
    char done[LONGEST];         /* canonical; "" is the root */
    char rest[PATH_MAX];
    bool follow;
    bool slash; /* it must lead to a folder */
    bool left;  /* the way led through the tree, so the kernel cannot go it */
    unsigned links;
};

enum kind { KIND_NONE, KIND_FILE, KIND_FOLDER, KIND_LINK };

struct place {
    enum kind kind;
    bool ours;
};

/* ---- what there is ---- */

static enum kind kind_of(const char *path)
{
    struct stat about;

    if (kernel_lstat(path, &about) != 0)
        return KIND_NONE;
    if (S_ISLNK(about.st_mode))
        return KIND_LINK;
    return S_ISDIR(about.st_mode) ? KIND_FOLDER : KIND_FILE;
}

/* True if the path is the folder, or below it. */
static bool is_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* True if the path is in one of our folders; *top: it is that folder. */
static bool is_ours(const char *path, bool *top)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(folders); i++)
        if (is_in(path, folders[i])) {
            *top = strlen(path) == strlen(folders[i]);
            return true;
        }
    return false;
}

/* True if one of our folders is below the path, which may be missing in a container. */
static bool is_above(const char *path)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(folders); i++)
        if (is_in(folders[i], path))
            return true;
    return false;
}

/* Writes the path in the tree. Returns false if there is no tree. */
static bool in_tree(struct walk *walk, const char *path, char whole[OCHE_TREE_BYTES + LONGEST])
{
    if (walk->tree[0] == '\0' && !oche_tree(walk->tree)) {
        walk->tree[0] = '\0';
        return false;
    }
    snprintf(whole, OCHE_TREE_BYTES + LONGEST, "%s%s", walk->tree, path);
    return true;
}

/* Files of the kernel come first, as ours have other names; but our folders list both. */
static struct place look(struct walk *walk, const char *path)
{
    char whole[OCHE_TREE_BYTES + LONGEST];
    struct place place = {.kind = KIND_NONE};
    bool top = false;
    const bool ours = is_ours(path, &top);

    if (!top && (place.kind = kind_of(path)) != KIND_NONE)
        return place;
    if (ours && in_tree(walk, path, whole) && (place.kind = kind_of(whole)) != KIND_NONE) {
        place.ours = true;
        return place;
    }
    place.kind = top ? kind_of(path) : is_above(path) ? KIND_FOLDER : KIND_NONE;
    return place;
}

bool oche_files_names_counter(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++)
        if (strcmp(oche_adapter_counter(i).name, name) == 0)
            return true;
    return false;
}

/* ---- the walk ---- */

/* Takes the next part of the rest; "" at the end. Returns false if it is too long. */
static bool next_part(struct walk *walk, char part[LONGEST])
{
    const char *at = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(at, "/");

    if (length >= LONGEST)
        return false;
    memcpy(part, at, length);
    part[length] = '\0';
    memmove(walk->rest, at + length, strlen(at + length) + 1);
    return true;
}

enum step { STEP_ON, STEP_END, STEP_MISSING, STEP_LOOP, STEP_UNKNOWN };

/* Puts the text of the link `path` before the rest. */
static enum step expand(struct walk *walk, const char *path, bool ours)
{
    char whole[OCHE_TREE_BYTES + LONGEST], text[LONGEST];
    ssize_t length;

    if (++walk->links > MOST_LINKS)
        return STEP_LOOP;
    if (ours && !in_tree(walk, path, whole))
        return STEP_UNKNOWN;
    length = kernel_readlink(ours ? whole : path, text, sizeof(text));
    if (length <= 0 || length >= (ssize_t)sizeof(text) ||
        (size_t)length + strlen(walk->rest) >= sizeof(walk->rest))
        return STEP_UNKNOWN;
    memmove(walk->rest + length, walk->rest, strlen(walk->rest) + 1);
    memcpy(walk->rest, text, (size_t)length);
    if (text[0] == '/')
        walk->done[0] = '\0';
    return STEP_ON;
}

/*
 * Devices once had names without the version at their end, which programs' settings may have still.
 */
static bool is_older_name(struct walk *walk, char path[LONGEST])
{
    const size_t length = strlen(path);
    const char *name = strrchr(path, '/') + 1;

    *strrchr(path, '/') = '\0';
    const bool top = strcmp(path, OCHE_CLASS_FOLDER) == 0 || strcmp(path, OCHE_VERBS_FOLDER) == 0 ||
                     strcmp(path, OCHE_DEV_FOLDER) == 0;
    path[name - path - 1] = '/';
    if (!top || strncmp(name + (name[0] == 'u'), "oche", 4) != 0 || length + 3 >= LONGEST)
        return false;
    memcpy(path + length, "_v4", 4);
    if (look(walk, path).ours)
        return true;
    path[length] = '\0';
    return false;
}

static void go_up(struct walk *walk)
{
    char *slash = strrchr(walk->done, '/');

    if (slash != NULL)
        *slash = '\0';
}

/* Goes on by one part. STEP_LOOP: there are too many links. STEP_UNKNOWN: we cannot say; the path
 * is passed on as it is. */
static enum step step(struct walk *walk)
{
    char part[LONGEST], path[2 * LONGEST];
    struct place place;
    bool last;

    if (!next_part(walk, part))
        return STEP_UNKNOWN;
    if (part[0] == '\0')
        return STEP_END;
    if (strcmp(part, ".") == 0)
        return STEP_ON;
    if (strcmp(part, "..") == 0) {
        go_up(walk);
        return STEP_ON;
    }
    if (snprintf(path, sizeof(path), "%s/%s", walk->done, part) >= LONGEST - 4)
        return STEP_UNKNOWN;
    place = look(walk, path);
    if (place.kind == KIND_NONE && is_older_name(walk, path)) {
        walk->left = true;
        place = look(walk, path);
    }
    walk->left |= place.ours;
    last = walk->rest[strspn(walk->rest, "/")] == '\0';
    if (place.kind == KIND_LINK &&
        (!last || walk->follow || walk->slash || (place.ours && is_in(path, OCHE_DEV_FOLDER))))
        return expand(walk, path, place.ours);
    memcpy(walk->done, path, strlen(path) + 1);
    if (place.kind == KIND_NONE)
        return STEP_MISSING;
    /* a file with more behind it: the kernel says that it is no folder */
    return place.kind == KIND_FOLDER || last ? STEP_ON : STEP_END;
}

/* ---- beginnings and endings ---- */

/* Appends to the rest, without parts that are "." or empty. Returns false if it is too long. */
static bool append(struct walk *walk, const char *path)
{
    size_t at = strlen(walk->rest);

    while (*path != '\0') {
        const size_t length = strcspn(path, "/");

        if (length > 0 && !(length == 1 && path[0] == '.')) {
            if (at + 1 + length >= sizeof(walk->rest))
                return false;
            walk->rest[at] = '/';
            memcpy(walk->rest + at + 1, path, length);
            at += 1 + length;
            walk->rest[at] = '\0';
        }
        path += length + (path[length] == '/');
    }
    return true;
}

/* True if the path must lead to a folder: it ends with a slash, or a dot as a part of its own. */
static bool wants_folder(const char *path)
{
    const size_t length = strlen(path);

    return length > 0 && (path[length - 1] == '/' ||
                          (path[length - 1] == '.' && (length == 1 || path[length - 2] == '/')));
}

/* Starts a walk. Returns false if the path cannot be of interest, or is too long for us. */
static bool start(struct walk *walk, int at, const char *path)
{
    char link[32], folder[OCHE_FOUND_BYTES];
    ssize_t count;

    walk->slash = wants_folder(path);
    if (strlen(path) >= PATH_MAX) /* the kernel refuses it */
        return false;
    if (path[0] == '/')
        return append(walk, path);
    if (at == AT_FDCWD) {
        if (!kernel_getcwd(folder, sizeof(folder)))
            return false;
    } else {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
        count = kernel_readlink(link, folder, sizeof(folder) - 1);
        if (count <= 0)
            return false;
        folder[count] = '\0';
    }
    walk->left = oche_tree_cut(folder);
    if (folder[0] != '/' || (!walk->left && folder[1] != '\0' && strncmp(folder, "/sys", 4) != 0 &&
                             strncmp(folder, "/dev", 4) != 0))
        return false;
    return append(walk, folder) && append(walk, path);
}

/* Writes the result. Returns false if the kernel finds the file by the path as it was given. */
static bool finish(struct walk *walk, enum step end, struct oche_found *found)
{
    char whole[OCHE_TREE_BYTES + LONGEST];
    const char *path = walk->done[0] != '\0' ? walk->done : "/";
    const struct place place = look(walk, path);

    if (end == STEP_LOOP && walk->left && in_tree(walk, OCHE_TREE_LOOP, found->path))
        return true; /* ELOOP */
    found->ours = place.ours && in_tree(walk, path, whole);
    if (!found->ours && !walk->left)
        return false;
    if ((size_t)snprintf(found->path, sizeof(found->path), "%s%s%s", found->ours ? whole : path,
                         end == STEP_MISSING || place.kind == KIND_FILE ? walk->rest : "",
                         walk->slash ? "/" : "") < sizeof(found->path))
        return true;
    found->ours = false;
    return false;
}

static const char *find(int at, const char *path, bool follow, struct oche_found *found)
{
    struct walk walk = {.follow = follow};
    enum step now = STEP_ON;

    if (!start(&walk, at, path))
        return path;
    while (now == STEP_ON)
        now = step(&walk);
    if (now == STEP_MISSING && walk.left)
        oche_files_missing(walk.done, path[0] == '/' ? path : walk.done);
    if (now == STEP_UNKNOWN || !finish(&walk, now, found))
        return path;
    if (found->ours && strstr(walk.done, "counters/") != NULL)
        oche_tree_renew(found->path);
    return found->path;
}

const char *oche_files_find_slow(int at, const char *path, bool follow, struct oche_found *found)
{
    const int before = errno;
    const char *result;

    found->ours = false;
    if (busy)
        return path;
    busy = true;
    result = find(at, path, follow, found);
    busy = false;
    errno = before;
    return result;
}
