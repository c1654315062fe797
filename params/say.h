/* SPDX-License-Identifier: Apache-2.0 */
/* How a library speaks to the user of a program. */
#ifndef OCHE_PARAMS_SAY_H
#define OCHE_PARAMS_SAY_H

#include <stdarg.h>

/*
 * Writes "oche: " and the text as one line to standard error, without stdio: a thread that was
 * stopped for good may have its lock. A line has at most 1,024 characters.
 */
void oche_say_line(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
