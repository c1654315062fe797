/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as people write them: 10Gbps, 5us, 225KB (decimal), 4KiB (binary), 1/256, 1%, never.
 * One parser and one printer for every unit of core/param.h; what is printed can be read back.
 */
#ifndef OCHE_PARAMS_UNITS_H
#define OCHE_PARAMS_UNITS_H

#include "core/param.h"
#include "params/error.h"

#define OCHE_VALUE_BYTES 64 /* enough for any formatted value but a text, with its end */

/*
 * Reads `text` as a value of `param`: its unit, its choices, its range. On failure returns false
 * and writes "what is wrong; what would be right" to `error`. A TEXT value points into `text`.
 */
bool oche_value_parse(const struct oche_param *param, const char *text, union oche_value *value,
                      struct oche_error *error);

/* The same of a time in picoseconds (20ms, never), and of a rate above 0 (10Gbps). */
bool oche_time_parse(const char *text, oche_time *time, struct oche_error *error);
bool oche_rate_parse(const char *text, uint64_t *rate_bps, struct oche_error *error);

/* Writes the value so that oche_value_parse reads it back; cuts what does not fit. */
void oche_value_format(const struct oche_param *param, union oche_value value, char *text,
                       size_t text_bytes);

/* Writes the range: "1 … 1024", "at least 1us", the choices, or nothing. */
void oche_value_range(const struct oche_param *param, char *text, size_t text_bytes);

/* "count", "bytes", "rate", "time", "real", "bool", "choice" or "text". */
const char *oche_unit_name(enum oche_unit unit);

/*
 * The word that stands for UINT64_MAX: "auto" or "unlimited" if the parameter's help explains it
 * ("auto: from each link"), else "never".
 */
const char *oche_value_special(const struct oche_param *param);

/*
 * The entry of `words` that `text` is probably a misspelling of, or NULL. `words` has `count`
 * entries.
 */
const char *oche_nearest_word(const char *text, const char *const *words, size_t count);

/*
 * Length of the value at the beginning of a list "a,b,c": up to a comma that is not in quotes,
 * brackets or braces, or to the end.
 */
size_t oche_value_length(const char *text);

#endif
