/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as spreadsheets and pandas write them: in quotes, 1e6, 3.0, 1e-05; and as we do, with
 * units: 10KB, 10.5us, 10.5 us. Exact: no value goes through a floating-point number.
 */
#ifndef OCHE_SIM_APP_SHEET_H
#define OCHE_SIM_APP_SHEET_H

#include "core/base.h"

/* Reads a whole number. False if the text is none, or has more than 64 bits. */
bool oche_sheet_count(const char *text, uint64_t *value);
/* Reads a size in bytes, or with its unit. */
bool oche_sheet_bytes(const char *text, uint64_t *bytes);
/*
 * Reads a time in seconds, or with its unit, of at most 24 digits, and rounds it to picoseconds.
 * False if the text is no time, or one of more than a hundred days.
 */
bool oche_sheet_time(const char *text, oche_time *time);

/*
 * Takes the next value off a line and moves `*line` behind its separator; NULL at the end of the
 * line. Blanks around the value and a pair of double quotes are left out; within quotes, a
 * separator is text, and "" a quote. The line is overwritten.
 */
char *oche_sheet_value(char **line, char separator);

#endif
