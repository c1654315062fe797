/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree: a folder of this process with real files at the paths of contents.h. Intercepted calls
 * are redirected into it, so the kernel itself opens, lists and describes the files.
 *
 * It is made at the first use, in the user's private folder (device/view/place.h), as
 * oche-files-PID-NONCE. A lock on the file `lock` in it says that its process lives. The process
 * removes the tree at its end. Trees of processes that were killed, or called exec, have no lock:
 * whoever makes a tree next removes them.
 */
#ifndef OCHE_DEVICE_FILES_TREE_H
#define OCHE_DEVICE_FILES_TREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "device/path/address.h"

#define OCHE_TREE_BYTES 512 /* of its path, with the terminating 0 */

#define OCHE_TREE_LOOP "/loop/x" /* a path in it that no call can follow: ELOOP */

/* True once this process has made a tree. */
extern _Atomic bool oche_tree_made __attribute__((visibility("hidden")));

/*
 * Writes the path of this process's tree, which is made if it is missing. Returns false if none can
 * be made; a line has then said so, once in a process.
 */
bool oche_tree(char path[OCHE_TREE_BYTES]);

/* If this process has a tree, writes the files again that say whether this device's port is up. */
void oche_tree_show_state(const struct oche_address *address);

/*
 * If `path`, which begins with that of a tree, is a file whose content changes all the time
 * (counts.h), writes it again.
 */
void oche_tree_renew(const char *path);

/* Removes the tree, as this process ends. */
void oche_tree_remove(void);

/*
 * Cuts the path of a tree, of whatever process, out of `path`: what programs must see. Returns
 * true if there was one.
 */
bool oche_tree_cut(char *path);

/* Prints one line to standard error: "oche: …". Not in other ranks of an MPI job on this host. */
void oche_files_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
