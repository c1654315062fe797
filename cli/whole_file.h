/* SPDX-License-Identifier: Apache-2.0 */
/* A text file that is there whole or not at all: written beside its place and moved there. */
#ifndef OCHE_CLI_WHOLE_FILE_H
#define OCHE_CLI_WHOLE_FILE_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct oche_whole_file {
    FILE *out; /* to write to */
    char *path, *part;
};

/* False and "PATH: what is wrong; what would be right" if it cannot be written. */
bool oche_whole_file_begin(struct oche_whole_file *file, const char *path,
                           struct oche_error *error);
/* Moves it into place; false and an error if any of it could not be written. */
bool oche_whole_file_end(struct oche_whole_file *file, struct oche_error *error);
/* Forgets it, if it was begun. */
void oche_whole_file_abandon(struct oche_whole_file *file);

#endif
