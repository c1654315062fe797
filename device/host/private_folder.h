/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private folders in places where anybody can make a folder or a link of the same name (/dev/shm,
 * /tmp). A private folder is a real folder (no link), has the right owner, and is closed to all
 * others.
 */
#ifndef OCHE_DEVICE_HOST_PRIVATE_FOLDER_H
#define OCHE_DEVICE_HOST_PRIVATE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Opens a private folder. `owner`: the required owner, or -1 for any; *owned_by becomes its owner.
 * Returns a descriptor, or -1 with errno; EPERM: the folder is not private.
 */
int oche_folder_open(const char *path, uid_t owner, uid_t *owned_by);
/* As oche_folder_open, for the user `own`; makes the folder if it is missing. */
int oche_folder_make(const char *path, uid_t own);

/* True if only this user and root can add entries to the folder above `path`. */
bool oche_folder_above_is_own(const char *path, uid_t owner);
/*
 * True if only its owner, and the owner of the folder above, can rename or remove the folder
 * `path`. Its path then leads to the same folder from now on.
 */
bool oche_folder_stays(const char *path);

#endif
