/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary files, which get their final names by rename when they are complete. Other users may
 * write to the folder, such as /tmp. So the temporary file is always a new one. A file of that
 * name, from a killed run or another program, is removed. It is neither followed (a symbolic link)
 * nor written to. The rename then replaces the file of the final name. A symbolic link is itself
 * replaced, and its target does not change.
 */
#ifndef OCHE_PARAMS_PART_FILE_H
#define OCHE_PARAMS_PART_FILE_H

#include <stdio.h>

/*
 * Makes the file, for writing. Its descriptor has a lock. Otherwise another program that writes the
 * same file could take the name and have its own, unfinished one renamed. Returns the descriptor,
 * or -1 with errno; EBUSY: a program of this user is writing the file.
 */
int oche_part_open(const char *part);
/* As oche_part_open, as a stream. Returns NULL, with errno, on failure. */
FILE *oche_part_create(const char *part);

#endif
