/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file of statements: one per line, words separated by blanks, commas or semicolons
 * (params/text_input.h). The file is read into memory, so that its lines can be read more than
 * once.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATEMENTS_H
#define OCHE_SIM_TOPOLOGY_STATEMENTS_H

#include "params/error.h"
#include "params/input_file.h"
#include "params/text_input.h"

#include <stdbool.h>
#include <stddef.h>

#define OCHE_STATEMENT_WORDS 128 /* most words in a line */

struct oche_statements {
    const char *path;         /* owned by the caller */
    struct oche_error *error; /* owned by the caller */
    struct oche_input_file whole;
    struct oche_text_input input;
    unsigned line;
    char *words[OCHE_STATEMENT_WORDS + 1]; /* room for one word too many, to detect long lines */
    unsigned word_count;
};

/*
 * Opens a file. `key` is the scenario's key that names it ("topology.file"). Returns false, with
 * "KEY: PATH: why" in `error` if the file cannot be read, or "PATH: empty" if it is empty, or
 * "PATH:LINE: why" if it is no text; then there is nothing to close.
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
