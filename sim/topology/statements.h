/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file of statements, one a line, words between blanks, # begins a comment. The file is
 * taken into memory, so that its lines can be gone through more than once even if it is a pipe.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATEMENTS_H
#define OCHE_SIM_TOPOLOGY_STATEMENTS_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define OCHE_STATEMENT_WORDS 128 /* of one line, at most */

struct oche_statements {
    const char *path; /* the caller's, as is `error` */
    struct oche_error *error;
    char *whole; /* the file */
    FILE *file;  /* over `whole` */
    unsigned line;
    char *text; /* the line, cut into words; getline's */
    size_t text_bytes;
    char *words[OCHE_STATEMENT_WORDS + 1]; /* one more than any statement may have */
    unsigned word_count;
};

/*
 * `key`: of the scenario, that names the file ("topology.file"). False and "KEY: PATH: why" in
 * `error` if it cannot be read, "PATH: empty" if it is; then nothing is to close.
 */
bool oche_statements_open(struct oche_statements *statements, const char *key, const char *path,
                          struct oche_error *error);
void oche_statements_close(struct oche_statements *statements);

/*
 * The next line that holds a word. False at the end. Of a line with more than OCHE_STATEMENT_WORDS
 * words, one more than these are there.
 */
bool oche_statements_next(struct oche_statements *statements);
/* To the file's begin: the next line is the first one. */
void oche_statements_rewind(struct oche_statements *statements);

/* Writes "PATH:LINE: …" ("PATH: …" before the first line) to the error; returns false. */
bool oche_statements_fail(struct oche_statements *statements, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
