/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of the files in counters/ and hw_counters/ of a device: sums over the processes that
 * have it open, as far as this user may see them. Those of other processes come from the views that
 * they write (device/view/), those of this process from its verbs library (oche_files_counted).
 */
#ifndef OCHE_DEVICE_FILES_COUNTS_H
#define OCHE_DEVICE_FILES_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/qp/adapter_counters.h"

/* Returns "counters" or "hw_counters". */
const char *oche_files_counter_folder(enum oche_adapter_group group);

/*
 * If `path` is that of a counter's file, without the path of the tree, writes the file's content
 * and returns true.
 */
bool oche_files_count(const char *path, char *text, size_t bytes);

/* In a forked child: the counts of this process are its parent's, whose view has them. */
void oche_files_counts_in_child(void);

#endif
