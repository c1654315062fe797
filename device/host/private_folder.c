/* SPDX-License-Identifier: Apache-2.0 */
#include "device/host/private_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int oche_folder_open(const char *path, uid_t owner, uid_t *owned_by)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat about;

    if (folder < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            errno = EPERM;
        return -1;
    }
    if (fstat(folder, &about) == 0 && (about.st_mode & 077) == 0 &&
        (owner == (uid_t)-1 || about.st_uid == owner)) {
        *owned_by = about.st_uid;
        return folder;
    }
    close(folder);
    errno = EPERM;
    return -1;
}

int oche_folder_make(const char *path, uid_t own)
{
    uid_t owner;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -1;
    return oche_folder_open(path, own, &owner);
}

/* Writes the path of the folder above `path`. Returns false if it is too long. */
static bool path_above(const char *path, char above[PATH_MAX])
{
    if ((size_t)snprintf(above, PATH_MAX, "%s", path) >= PATH_MAX)
        return false;
    *strrchr(above, '/') = '\0';
    return true;
}

bool oche_folder_above_is_own(const char *path, uid_t owner)
{
    char above[PATH_MAX];
    struct stat about;

    return path_above(path, above) && lstat(above, &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == owner && (about.st_mode & 022) == 0;
}

bool oche_folder_stays(const char *path)
{
    char above[PATH_MAX];
    struct stat about;

    return path_above(path, above) && stat(above, &about) == 0 &&
           ((about.st_mode & 022) == 0 || (about.st_mode & S_ISVTX) != 0);
}
