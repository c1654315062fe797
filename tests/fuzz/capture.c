/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a capture for `oche wire`, printed as a table and as JSON. The
 * first byte chooses the form. The status must be one of the documented ones, and an error one
 * line. tools/fuzz 60 capture runs it.
 */
#include <argp.h>
#include <stdarg.h>
#include <stdbool.h>

#include "cli/commands.h"
#include "cli/refuse.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

static const char *wrong;
static unsigned errors;

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static char command[] = "wire", quiet[] = "--quiet", json[] = "--json";
    static char *const forms[] = {NULL, quiet, json};
    char path[32], *arguments[] = {command, path, NULL, NULL};
    int status;

    if (count == 0)
        return NULL;
    snprintf(path, sizeof(path), "%s", fuzz_file("capture", bytes + 1, count - 1));
    arguments[2] = forms[bytes[0] % 3];
    wrong = NULL;
    errors = 0;
    fuzz_print_nowhere(true);
    status = oche_cmd_wire(arguments[2] != NULL ? 3 : 2, arguments);
    fuzz_print_nowhere(false);
    if (wrong == NULL && (status < 0 || status > 2 || (status == 2) != (errors == 1)))
        wrong = "another status than promised, or without its error";
    return wrong;
}

/* ---- in place of cli/refuse.c, which prints ---- */

void oche_print_error(const char *format, ...)
{
    char text[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    errors++;
    if (strchr(text, '\n') != NULL)
        wrong = "an error of several lines";
}

bool oche_parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags,
                          void *input)
{
    return argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT, NULL, input) == 0;
}
