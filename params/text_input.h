/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads lines and numbers of text files that users, spreadsheets and other programs write: flow
 * lists, distributions, topologies, routes.
 *
 * Lines end with \n, \r\n or \r, the last one perhaps with nothing. A byte-order mark of UTF-8 is
 * left out. Comments begin with # or //, or with ; or % at the beginning of a line. Unusual blanks,
 * such as the non-breaking one, count as blanks. UTF-16, UTF-32, NUL bytes, and lines of more than
 * OCHE_TEXT_LINE_BYTES are rejected.
 *
 * Numbers are decimal: 1000, +5, 1_000, 3.0, 1e6, 1.0e+02; with units as we write them: 10KB,
 * 10.5us, 10.5 us. No value but oche_text_real's goes through a floating-point number.
 */
#ifndef OCHE_PARAMS_TEXT_INPUT_H
#define OCHE_PARAMS_TEXT_INPUT_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_TEXT_LINE_BYTES 65536

struct oche_text_input {
    const char *name;         /* the file's, for messages; owned by the caller */
    struct oche_error *error; /* owned by the caller */
    const char *begin, *at, *end;
    unsigned line; /* number of the line last taken; 0: none yet */
    char *copy;    /* copy of that line, which the caller may overwrite */
};

/*
 * Begins to read the text, which must stay valid until oche_text_end. Returns false with
 * "NAME:LINE: …" in `error` if it is rejected; then nothing needs to be ended.
 */
bool oche_text_begin(struct oche_text_input *input, const char *name, const char *text,
                     size_t bytes, struct oche_error *error);
void oche_text_end(struct oche_text_input *input);

/* Returns "UTF-16" or "UTF-32" if the text begins with a byte-order mark of that, else NULL. */
const char *oche_text_wide_encoding(const char *text, size_t bytes);

/*
 * Returns the next line with content, without comment and without blanks around it; NULL at the
 * end. It is valid until the next call.
 */
char *oche_text_next(struct oche_text_input *input);
/* Goes back to the beginning. */
void oche_text_rewind(struct oche_text_input *input);
/* Writes "NAME:LINE: …", or "NAME: …" if `line` is 0, to the error; returns false. */
bool oche_text_fail(struct oche_text_input *input, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Returns the separator of a line's values: ';' if it has one, else ',', else ' ', which means any
 * number of blanks and tabs. (Where semicolons separate, a comma is part of a number.)
 */
char oche_text_separator(const char *line);

/*
 * Takes the next value off a line and moves `*line` behind its separator; NULL at the end of the
 * line. Blanks around the value and a pair of double quotes are left out; within quotes, a
 * separator is text, and "" a quote. The line is overwritten.
 */
char *oche_text_value(char **line, char separator);

/*
 * Splits a line into values, and stores the first `most`. Returns how many there are, without empty
 * ones at the end, such as after a trailing separator.
 */
unsigned oche_text_split(char *line, char separator, char *values[], unsigned most);

/* Reads a whole number. Returns false if the text is no number, or does not fit 64 bits. */
bool oche_text_count(const char *text, uint64_t *value);
/* Reads a size in bytes, or with its unit. */
bool oche_text_bytes(const char *text, uint64_t *bytes);
/*
 * Reads a time in seconds, or with its unit, of at most 24 digits, and rounds it to picoseconds.
 * Returns false if the text is no time, or more than a hundred days.
 */
bool oche_text_time(const char *text, oche_time *time);
/* Reads a number that is not negative. A % after it is ignored. */
bool oche_text_real(const char *text, double *value);

/*
 * Returns the error in a text that one of the above has rejected: "is hexadecimal", "has a comma,
 * …"; or `else_this` for an unusual error.
 */
const char *oche_text_fault(const char *text, const char *else_this);

#endif
