/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files that a user names: regular files and pipes, whole, into memory. Everything else
 * (folders, devices, sockets) is rejected, and so is a file that is larger than the caller allows.
 * The wait for a writer of a named pipe ends after OCHE_INPUT_OPEN_MS, that for a silent writer
 * after OCHE_INPUT_QUIET_MS. The bytes of a pipe are kept, because a scenario or a list of flows is
 * read more than once. The caller's threads must not read at the same time.
 */
#ifndef OCHE_PARAMS_INPUT_FILE_H
#define OCHE_PARAMS_INPUT_FILE_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OCHE_INPUT_OPEN_MS  5000
#define OCHE_INPUT_QUIET_MS 30000

#define OCHE_INPUT_MIB ((size_t)1 << 20)

/* A file in memory. */
struct oche_input_file {
    char *text; /* `bytes` bytes, and a NUL that does not count */
    size_t bytes;
};

/*
 * Reads the file, of at most `most` bytes. Returns false, with the reason ("Is a directory") but
 * without the file's name in `reason`, if it cannot be read; then there is nothing to free.
 */
bool oche_input_read(struct oche_input_file *file, const char *path, size_t most,
                     struct oche_error *reason);
void oche_input_free(struct oche_input_file *file);

/*
 * Opens a file to be read piece by piece: a regular file, or a pipe with bytes to read or without a
 * writer. Returns a file descriptor, or -1 with `reason` as above.
 */
int oche_input_open(const char *path, struct oche_error *reason);
/* As oche_input_open, as a stream. Returns NULL, with `reason`, on failure. */
FILE *oche_input_stream(const char *path, struct oche_error *reason);

/*
 * Returns the bytes of the pipe `path`, owned by this module; NULL if `path` is no pipe that
 * oche_input_read has read.
 */
const struct oche_input_file *oche_input_of_pipe(const char *path);

/*
 * Copies the first bytes of a regular file, at most `room`. Returns how many; 0: it is another kind
 * of file, empty, or cannot be read. Nothing is taken from a pipe.
 */
size_t oche_input_head(const char *path, char *head, size_t room);
/* True if the path leads to a regular file. */
bool oche_input_is_regular(const char *path);

#endif
