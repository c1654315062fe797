/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file that is complete or absent: it is written under a temporary name and renamed.
 * One at a time.
 */
#ifndef OCHE_CLI_WHOLE_FILE_H
#define OCHE_CLI_WHOLE_FILE_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct oche_whole_file {
    FILE *out; /* stream to which the caller writes */
    char *path, *part;
};

/*
 * Begins the file. Returns false, with the error "PATH: what is wrong; what would be right", if it
 * cannot be written.
 */
bool oche_whole_file_begin(struct oche_whole_file *file, const char *path,
                           struct oche_error *error);
/*
 * Gives the file its final name. Returns false, with an error, if any of it could not be written.
 */
bool oche_whole_file_end(struct oche_whole_file *file, struct oche_error *error);
/* Discards the file, if oche_whole_file_begin made one. */
void oche_whole_file_abandon(struct oche_whole_file *file);

#endif
