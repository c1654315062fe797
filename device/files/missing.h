/* SPDX-License-Identifier: Apache-2.0 */
/* Says which file of a device a program looks for in vain. */
#ifndef OCHE_DEVICE_FILES_MISSING_H
#define OCHE_DEVICE_FILES_MISSING_H

/*
 * Prints a line, once in a process, if the program needs the missing file. `path`: canonical, up to
 * the first part that is missing; `asked`: the path that the program has given.
 */
void oche_files_missing(const char *path, const char *asked);

#endif
