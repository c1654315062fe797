/* SPDX-License-Identifier: Apache-2.0 */
/* Reads arguments; prints errors, escaped. */
#include "cli/refuse.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/similar.h"
#include "core/base.h"
#include "params/printable.h"

#define LINE_BYTES 4096

void oche_refuse(const struct argp_state *state, const char *format, ...)
{
    char text[LINE_BYTES], line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    oche_printable(text, line, sizeof(line));
    argp_failure(state, 2, 0, "%s", line);
}

bool oche_parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags,
                          void *input)
{
    const char *meant;
    const char *misspelt = oche_misspelt_option(argp, argc, argv, flags, &meant);

    if (misspelt != NULL) {
        oche_print_error("%s: %.*s: no such option; did you mean --%s?", argv[0],
                         (int)strcspn(misspelt, "="), misspelt, meant);
        exit(argp_err_exit_status);
    }
    const error_t refused = argp_parse(argp, argc, argv, flags, NULL, input);

    OCHE_GOT(refused != ENOMEM); /* argp prints nothing about this error */
    return refused == 0;
}

void oche_print_error(const char *format, ...)
{
    char text[LINE_BYTES], line[LINE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    oche_printable(text, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
}

void oche_print_mistakes(const struct oche_mistakes *mistakes, const struct oche_error *error)
{
    const size_t kept = oche_mistakes_kept(mistakes);

    for (size_t i = 0; i < kept; i++)
        oche_print_error("%s", mistakes->kept[i].error.text);
    if (kept == 0)
        oche_print_error("%s", error->text);
    else if (mistakes->count > kept)
        oche_print_error("and %zu more mistake%s", mistakes->count - kept,
                         mistakes->count - kept == 1 ? "" : "s");
}
