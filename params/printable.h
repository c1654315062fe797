/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text from a file, an argument or a name fit for one line of a terminal: control characters,
 * those that change the direction of writing, and bytes that are not UTF-8 become escape sequences
 * such as "\n", "\t", "\x1b" or, for U+202E, "\xe2\x80\xae".
 */
#ifndef OCHE_PARAMS_PRINTABLE_H
#define OCHE_PARAMS_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes `text` to `to` (room for `bytes`, including the final zero), cut after a whole character
 * if it does not fit. `to` must not be `text`.
 */
void oche_printable(const char *text, char *to, size_t bytes);

/*
 * Returns the text (malloc'd) with the same escape sequences, but with its newlines and tabs. NULL
 * without memory.
 */
char *oche_printable_lines(const char *text);

/* True if the text needs no escape sequences, apart from its newlines and tabs. */
bool oche_is_printable(const char *text);

/*
 * Writes JSON, in which control characters are escaped already, with escape sequences ("\u202e")
 * for the others that oche_printable escapes.
 */
void oche_printable_json(const char *json, FILE *out);

#endif
