/* SPDX-License-Identifier: Apache-2.0 */
/* Removes trees (tree.h): the own one, and those that other processes have left over. */
#ifndef OCHE_DEVICE_FILES_SWEEP_H
#define OCHE_DEVICE_FILES_SWEEP_H

/* Beginnings of a tree's name, before the process; the second while it has no lock yet. */
#define OCHE_TREE_MARK   "oche-files-"
#define OCHE_TREE_MAKING "oche-making-"
/* In a tree: the file that its process locks as long as it lives. */
#define OCHE_TREE_LOCK "lock"

/*
 * Removes the tree `name` of a folder, its lock last, so that a tree without lock has nothing in
 * it. Needs no memory.
 */
void oche_tree_remove_from(int folder, const char *name);

/* Removes the trees of the folder whose processes have ended or forgotten them. */
void oche_tree_sweep(int folder);

#endif
