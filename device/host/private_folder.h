/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders that belong to one user alone, in places where anybody can make a folder or a link of
 * the same name (/dev/shm, /tmp). A folder counts only if it is a folder and no link, if its owner
 * is the right one, and if nobody else can read or write it.
 */
#ifndef OCHE_DEVICE_HOST_PRIVATE_FOLDER_H
#define OCHE_DEVICE_HOST_PRIVATE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Opens a folder that its owner alone can get at. `owner`: who has to own it, or -1 for anybody;
 * *owned_by becomes its owner. Returns a descriptor, or -1 with errno; EPERM: the folder cannot be
 * trusted.
 */
int oche_folder_open(const char *path, uid_t owner, uid_t *owned_by);
/* As oche_folder_open, for the user `own`; the folder is made if it is not there. */
int oche_folder_make(const char *path, uid_t own);

/* True if nobody but this user and root can put something into the folder above `path`. */
bool oche_folder_above_is_own(const char *path, uid_t owner);
/*
 * True if nobody but its owner, and the owner of the folder above, can rename or remove the folder
 * `path`. So its path leads to the same folder from now on.
 */
bool oche_folder_stays(const char *path);

#endif
