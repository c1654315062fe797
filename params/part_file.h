/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary files, which get their final names by rename when they are complete.
 *
 * The folder may be one that others write to, such as /tmp. So the temporary file is always a new
 * one: what has its name already, from a run that was killed or from somebody else, is removed and
 * neither followed (a symbolic link) nor written to. The rename then replaces whatever has the
 * final name; of a symbolic link it replaces the link and leaves alone what that leads to.
 */
#ifndef OCHE_PARAMS_PART_FILE_H
#define OCHE_PARAMS_PART_FILE_H

#include <stdio.h>

/*
 * Makes the file, for writing. Its descriptor has a lock, so that another program that is to write
 * the same file does not take the name away and have its own, unfinished one renamed. Returns the
 * descriptor, or -1 with errno; EBUSY: a program of this user is writing the file.
 */
int oche_part_open(const char *part);
/* As oche_part_open, as a stream. Returns NULL, with errno, on failure. */
FILE *oche_part_create(const char *part);

#endif
