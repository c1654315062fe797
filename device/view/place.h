/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where views are: a folder of the user's, mode 0700, in the first of these places that is there
 * and can be trusted,
 *
 *   /run/user/UID/oche   the user's files of this boot, where somebody is logged in
 *   /dev/shm/oche-UID    memory
 *   /tmp/oche-UID
 *
 * or the folder that the user names (OCHE_VIEW). Which it is does not depend on other variables, so
 * that a reader finds it from another session. In /dev/shm and /tmp anybody can make a folder or a
 * link of our name: one that is not a folder, not the user's, or open to others is left alone, and
 * the next place is taken.
 *
 * A view's file is PID-NONCE, of mode 0600. As long as its writer lives it has a lock on the file
 * (F_SETLK), which the kernel drops when the process ends, however it ends, which no child
 * inherits, and of which the kernel tells the owner's number as the reader's PID namespace has it.
 * A file without a lock is nobody's, and whoever comes by removes it.
 */
#ifndef OCHE_DEVICE_VIEW_PLACE_H
#define OCHE_DEVICE_VIEW_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OCHE_VIEW_NAME_BYTES 40

/*
 * Opens the effective user's folder, made if it is not there; `given` is the one that the user
 * names, or NULL. Returns a descriptor and writes its path, or returns -1: there is none.
 */
int oche_view_own_folder(const char *given, char *path, size_t bytes);

/*
 * Calls `visit` for each folder that is there: of the effective user, or of all users for root; or
 * for `given` alone. `visit` does not close `folder`; `owner` owns it, and nobody else can have put
 * something there. Folders that cannot be trusted are left out.
 */
void oche_view_each_folder(const char *given, void (*visit)(void *context, int folder, uid_t owner),
                           void *context);

/* Returns why oche_view_each_folder does not visit `given`; NULL: it does. */
const char *oche_view_folder_fault(const char *given);

/* Writes a name for a file of this process. `nonce` is random. */
void oche_view_name(char name[OCHE_VIEW_NAME_BYTES], pid_t pid, uint64_t nonce);
/* True if the name is such a name; *pid is then the number in it. */
bool oche_view_name_is(const char *name, pid_t *pid);

/*
 * Opens the file `name` of the folder if it is a plain file of `owner`'s that others cannot read.
 * Returns a descriptor or -1.
 */
int oche_view_open(int folder, const char *name, uid_t owner);
/*
 * Tells if the file's writer lives. If so, returns true, and *pid is its number, or 0 if it is in a
 * PID namespace that cannot be seen from here. Do not ask about a file of this process.
 */
bool oche_view_lives(int file, pid_t *pid);
/*
 * Removes files of the folder that are nobody's, but for those that have this process's number.
 */
void oche_view_sweep(int folder, uid_t owner);

#endif
