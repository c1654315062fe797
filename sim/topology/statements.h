/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file of statements: one per line, words separated by blanks, # begins a comment. The file
 * is read into memory, so that its lines can be read more than once even if it is a pipe.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATEMENTS_H
#define OCHE_SIM_TOPOLOGY_STATEMENTS_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OCHE_STATEMENT_WORDS 128 /* most words in a line */

struct oche_statements {
    const char *path;         /* owned by the caller */
    struct oche_error *error; /* owned by the caller */
    char *whole;              /* the whole file's text */
    FILE *file;               /* reads from `whole` */
    unsigned line;
    char *text; /* the current line, cut into words; allocated by getline */
    size_t text_bytes;
    char *words[OCHE_STATEMENT_WORDS + 1]; /* room for one word too many, to detect long lines */
    unsigned word_count;
};

/*
 * Opens a file. `key` is the scenario's key that names it ("topology.file"). Returns false, with
 * "KEY: PATH: why" in `error` if the file cannot be read, or "PATH: empty" if it is empty; then
 * there is nothing to close.
 */
bool oche_statements_open(struct oche_statements *statements, const char *key, const char *path,
                          struct oche_error *error);
void oche_statements_close(struct oche_statements *statements);

/*
 * Reads the next line that holds a word. Returns false at the end. Of a line with more than
 * OCHE_STATEMENT_WORDS words, only the first OCHE_STATEMENT_WORDS + 1 are kept.
 */
bool oche_statements_next(struct oche_statements *statements);
/* Goes back to the beginning of the file. */
void oche_statements_rewind(struct oche_statements *statements);

/* Writes "PATH:LINE: …" ("PATH: …" before the first line) to the error; returns false. */
bool oche_statements_fail(struct oche_statements *statements, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
