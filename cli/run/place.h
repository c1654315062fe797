/* SPDX-License-Identifier: Apache-2.0 */
/* The folder for a run's results, so that no run replaces the results of another. */
#ifndef OCHE_CLI_RUN_PLACE_H
#define OCHE_CLI_RUN_PLACE_H

#include <stddef.h>

/*
 * Returns the name of a folder (malloc'd) for a run with these overrides, such as
 * "switch.kmin=10KB,seed=7". Leaves out characters that are special in a shell, and the end of a
 * long name. The name then ends in a digest of all overrides, so no two runs have the same name.
 */
char *oche_overrides_name(const char *const *sets, size_t count);

/* Returns `base` for a run without overrides, else the folder of this name in it (malloc'd). */
char *oche_overrides_folder(const char *base, const char *const *sets, size_t count);

/* Returns the folder for a repeated run: repeat/ beside the results file at `path` (malloc'd). */
char *oche_repeat_folder(const char *path);

#endif
