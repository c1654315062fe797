/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as people write them: 10Gbps, 5us, 225KB (decimal), 4KiB (binary), 1/256, 1%, never. One
 * parser and one printer handle every unit of core/param.h; the parser can read everything that the
 * printer writes.
 */
#ifndef OCHE_PARAMS_UNITS_H
#define OCHE_PARAMS_UNITS_H

#include "core/param.h"
#include "params/error.h"

#define OCHE_VALUE_BYTES 64 /* enough for any value except a TEXT, including the final 0 */

/*
 * Reads `text` as a value of `param`: its unit, its choices, its range. If it is wrong, returns
 * false and writes "what is wrong; what would be right" to `error`. A TEXT value points into
 * `text`.
 */
bool oche_value_parse(const struct oche_param *param, const char *text, union oche_value *value,
                      struct oche_error *error);

/* These read a time (20ms, never) or a rate above 0 (10Gbps) without a parameter. */
bool oche_time_parse(const char *text, oche_time *time, struct oche_error *error);
bool oche_rate_parse(const char *text, uint64_t *rate_bps, struct oche_error *error);

/* Writes the value so that oche_value_parse can read it back; truncates what does not fit. */
void oche_value_format(const struct oche_param *param, union oche_value value, char *text,
                       size_t text_bytes);

/*
 * Writes the value for people: as oche_value_format, but 187500ns as 187.5us and 1600Gbps as
 * 1.6Tbps, where that is no longer. oche_value_parse can read it too.
 */
void oche_value_show(const struct oche_param *param, union oche_value value, char *text,
                     size_t text_bytes);

/* Writes the range: "1 … 1024", "at least 1us", the choices, or nothing. */
void oche_value_range(const struct oche_param *param, char *text, size_t text_bytes);

/* Returns "count", "bytes", "rate", "time", "real", "bool", "choice" or "text". */
const char *oche_unit_name(enum oche_unit unit);

/* Returns the entry of `words` (which has `count`) that `text` probably misspells, or NULL. */
const char *oche_nearest_word(const char *text, const char *const *words, size_t count);

/*
 * Returns the length of the first value of a list "a,b,c". The value ends before the first comma
 * outside of quotes, brackets and braces, or at the end of the text.
 */
size_t oche_value_length(const char *text);

#endif
