/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors that a user reads: "what is wrong; what would be right". A function that can fail takes a
 * struct oche_error as its last argument, fills it in when it fails, and returns false or NULL:
 *     if (hosts == 0)
 *         return oche_fail(error, "hosts: %u; at least 1", hosts);
 */
#ifndef OCHE_PARAMS_ERROR_H
#define OCHE_PARAMS_ERROR_H

#include "core/error.h"

#include <stdarg.h>
#include <stdbool.h>

/* Writes one line to `error`. The arguments may point into its old text. Returns false. */
bool oche_fail(struct oche_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As oche_fail, for a file that is being read: "PATH:LINE: …", or "PATH: …" if `line` is 0. */
bool oche_fail_at(struct oche_error *error, const char *path, unsigned line, const char *format,
                  va_list arguments) __attribute__((format(printf, 4, 0)));

#endif
