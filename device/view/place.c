/* SPDX-License-Identifier: Apache-2.0 */
#include "device/view/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"
#include "device/host/private_folder.h"

#define MOST_NAMES 65536 /* entries of a folder that are read */

/* The places, in the order in which they are taken. */
static const struct place {
    const char *above;
    bool of_user; /* ABOVE/UID/oche, and ABOVE/UID is the user's; else ABOVE/oche-UID */
} places[] = {{"/run/user", true}, {"/dev/shm", false}, {"/tmp", false}};

static void path_of(const struct place *place, uid_t user, char *path, size_t bytes)
{
    snprintf(path, bytes, place->of_user ? "%s/%u/oche" : "%s/oche-%u", place->above,
             (unsigned)user);
}

/* ---- folders ---- */

int oche_view_own_folder(const char *given, char *path, size_t bytes)
{
    const uid_t own = geteuid();
    int folder = -1;

    if (given != NULL)
        return (size_t)snprintf(path, bytes, "%s", given) < bytes ? oche_folder_make(path, own)
                                                                  : -1;
    for (size_t i = 0; i < OCHE_COUNT_OF(places) && folder < 0; i++) {
        path_of(&places[i], own, path, bytes);
        if (!places[i].of_user || oche_folder_above_is_own(path, own))
            folder = oche_folder_make(path, own);
    }
    return folder;
}

/* Reads a user's number, all of the text. */
static bool read_user(const char *text, uid_t *user)
{
    char *end;
    unsigned long number;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    number = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || number >= UINT32_MAX)
        return false;
    *user = (uid_t)number;
    return true;
}

static void visit_place(const struct place *place, uid_t user,
                        void (*visit)(void *context, int folder, uid_t owner), void *context)
{
    char path[PATH_MAX];
    uid_t owner;
    int folder;

    path_of(place, user, path, sizeof(path));
    folder = oche_folder_open(path, user, &owner);
    if (folder < 0)
        return;
    visit(context, folder, owner);
    close(folder);
}

/* Visits the folders of all users in this place. */
static void visit_all(const struct place *place,
                      void (*visit)(void *context, int folder, uid_t owner), void *context)
{
    DIR *all = opendir(place->above);
    const struct dirent *entry;
    const size_t skip = place->of_user ? 0 : strlen("oche-");
    uid_t user;

    if (all == NULL)
        return;
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(all)) != NULL; i++)
        if ((skip == 0 || strncmp(entry->d_name, "oche-", skip) == 0) &&
            read_user(entry->d_name + skip, &user))
            visit_place(place, user, visit, context);
    closedir(all);
}

void oche_view_each_folder(const char *given, void (*visit)(void *context, int folder, uid_t owner),
                           void *context)
{
    const uid_t own = geteuid();
    uid_t owner;

    if (given != NULL) {
        const int folder = oche_folder_open(given, own == 0 ? (uid_t)-1 : own, &owner);

        if (folder < 0)
            return;
        visit(context, folder, owner);
        close(folder);
        return;
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(places); i++)
        if (own == 0)
            visit_all(&places[i], visit, context);
        else
            visit_place(&places[i], own, visit, context);
}

const char *oche_view_folder_fault(const char *given)
{
    const uid_t own = geteuid();
    struct stat about;
    uid_t owner;
    const int folder = oche_folder_open(given, own == 0 ? (uid_t)-1 : own, &owner);

    if (folder < 0)
        return lstat(given, &about) != 0 ? strerror(errno)
                                         : "is no folder that this user alone can get at";
    close(folder);
    return NULL;
}

/* ---- files ---- */

void oche_view_name(char name[OCHE_VIEW_NAME_BYTES], pid_t pid, uint64_t nonce)
{
    snprintf(name, OCHE_VIEW_NAME_BYTES, "%d-%016" PRIx64, (int)pid, nonce);
}

bool oche_view_name_is(const char *name, pid_t *pid)
{
    const char *dash = strchr(name, '-');
    char *end;
    long number;

    if (name[0] < '1' || name[0] > '9' || dash == NULL || dash - name > 9)
        return false;
    number = strtol(name, &end, 10);
    if (end != dash || strspn(dash + 1, "0123456789abcdef") != 16 || dash[17] != '\0')
        return false;
    *pid = (pid_t)number;
    return true;
}

static bool is_plain(const struct stat *about, uid_t owner)
{
    return S_ISREG(about->st_mode) && about->st_uid == owner && (about->st_mode & 077) == 0;
}

int oche_view_open(int folder, const char *name, uid_t owner)
{
    struct stat about;
    int file;

    /* checked before it is opened, as opening a device may have an effect */
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !is_plain(&about, owner))
        return -1;
    file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return -1;
    if (fstat(file, &about) == 0 && is_plain(&about, owner))
        return file;
    close(file);
    return -1;
}

bool oche_view_lives(int file, pid_t *pid)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    *pid = 0;
    if (fcntl(file, F_GETLK, &lock) != 0)
        return true; /* unknown, so no file may be removed */
    *pid = lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid : 0;
    return lock.l_type != F_UNLCK;
}

void oche_view_remove(int folder, const char *name)
{
    char own[OCHE_VIEW_NAME_BYTES + 2];

    unlinkat(folder, name, 0);
    if ((size_t)snprintf(own, sizeof(own), "%s.s", name) < sizeof(own))
        unlinkat(folder, own, 0);
}

/* Removes a socket whose view's file is gone: an older version has removed that alone. */
static void remove_alone(int folder, const char *name)
{
    const char *dot = strrchr(name, '.');
    char view[OCHE_VIEW_NAME_BYTES];
    pid_t pid;

    if (dot == NULL || strcmp(dot, ".s") != 0 || (size_t)(dot - name) >= sizeof(view))
        return;
    snprintf(view, sizeof(view), "%.*s", (int)(dot - name), name);
    if (oche_view_name_is(view, &pid) && pid != getpid() &&
        faccessat(folder, view, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        unlinkat(folder, name, 0);
}

void oche_view_sweep(int folder, uid_t owner)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    pid_t pid, unused;

    if (names == NULL) {
        if (copy >= 0)
            close(copy);
        return;
    }
    for (unsigned i = 0; i < MOST_NAMES && (entry = readdir(names)) != NULL; i++) {
        int file;

        remove_alone(folder, entry->d_name);
        if (!oche_view_name_is(entry->d_name, &pid) || pid == getpid())
            continue;
        file = oche_view_open(folder, entry->d_name, owner);
        if (file < 0)
            continue;
        if (!oche_view_lives(file, &unused))
            oche_view_remove(folder, entry->d_name);
        close(file);
    }
    closedir(names);
}
