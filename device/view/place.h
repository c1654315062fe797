/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a user's views, mode 0700, is in the first of these places that exists and can be
 * trusted:
 *
 *   /run/user/UID/oche   the user's files of this boot, where somebody is logged in
 *   /dev/shm/oche-UID    memory
 *   /tmp/oche-UID
 *
 * The user may name another one (OCHE_VIEW). The choice depends on no other variable, so readers of
 * other sessions find it. In /dev/shm and /tmp anybody can make a folder or a link of our name. It
 * is left alone if it is no folder, not the user's, or open to others; the next place is then used.
 *
 * A view's file is PID-NONCE, of mode 0600. Its writer holds a lock on it (F_SETLK) as long as it
 * lives: the kernel drops the lock when the process ends, children do not inherit it, and the
 * kernel gives readers the owner's number in their PID namespace. A file without a lock is left
 * over, and any process removes it.
 */
#ifndef OCHE_DEVICE_VIEW_PLACE_H
#define OCHE_DEVICE_VIEW_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OCHE_VIEW_NAME_BYTES 40

/*
 * Opens the effective user's folder, and makes it if it is missing; `given` is the user's choice,
 * or NULL. Returns a descriptor and writes its path, or returns -1.
 */
int oche_view_own_folder(const char *given, char *path, size_t bytes);

/*
 * Calls `visit` for each existing folder: of the effective user, or of all users for root; or only
 * for `given`. `visit` does not close `folder`. `owner` owns it, and only that user can have put
 * files there. Other folders are skipped.
 */
void oche_view_each_folder(const char *given, void (*visit)(void *context, int folder, uid_t owner),
                           void *context);

/* Returns why oche_view_each_folder skips `given`; NULL: it visits it. */
const char *oche_view_folder_fault(const char *given);

/* Writes a name for a file of this process. `nonce` is random. */
void oche_view_name(char name[OCHE_VIEW_NAME_BYTES], pid_t pid, uint64_t nonce);
/* True if the name has this form; *pid is then the number in it. */
bool oche_view_name_is(const char *name, pid_t *pid);

/*
 * Opens the file `name` of the folder if it is a plain file of `owner` that others cannot read.
 * Returns a descriptor or -1.
 */
int oche_view_open(int folder, const char *name, uid_t owner);
/*
 * Returns true if the file's writer lives; *pid is then its number, or 0 if its PID namespace
 * cannot be seen from here. Not for a file of this process.
 */
bool oche_view_lives(int file, pid_t *pid);
/* Removes a view's file and its socket (control.h). */
void oche_view_remove(int folder, const char *name);
/* Removes left-over files of the folder, except those with this process's number. */
void oche_view_sweep(int folder, uid_t owner);

#endif
