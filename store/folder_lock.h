/* SPDX-License-Identifier: Apache-2.0 */
/* One process at a time writes results into a folder. */
#ifndef OCHE_STORE_FOLDER_LOCK_H
#define OCHE_STORE_FOLDER_LOCK_H

#include "params/error.h"

#include <stdbool.h>

/*
 * Locks a folder until oche_folder_unlock, or until the process ends. Sets *lock to a descriptor of
 * the folder, or to -1 if it cannot be opened or is on a file system without locks. Returns false,
 * with the reason, if another process has locked the folder.
 */
bool oche_folder_lock(const char *folder, int *lock, struct oche_error *reason);
void oche_folder_unlock(int lock);

#endif
