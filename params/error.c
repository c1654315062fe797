/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that formats errors. */
#include "params/error.h"

#include <stdio.h>

bool oche_fail(struct oche_error *error, const char *format, ...)
{
    struct oche_error written;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(written.text, sizeof(written.text), format, arguments);
    va_end(arguments);
    *error = written;
    return false;
}

bool oche_fail_at(struct oche_error *error, const char *path, unsigned line, const char *format,
                  va_list arguments)
{
    struct oche_error what;

    vsnprintf(what.text, sizeof(what.text), format, arguments);
    return line > 0 ? oche_fail(error, "%s:%u: %s", path, line, what.text)
                    : oche_fail(error, "%s: %s", path, what.text);
}
