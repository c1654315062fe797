/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads arguments, and prints an error on one line that is safe for a terminal: unprintable
 * characters, which may come from a file or an argument, are escaped.
 */
#ifndef OCHE_CLI_REFUSE_H
#define OCHE_CLI_REFUSE_H

#include <stdbool.h>

#include "params/mistakes.h"

struct argp;
struct argp_state;

/* Reports an error in the arguments, "oche run: …", and ends the program with status 2. */
void oche_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Parses arguments by argp_parse, which ends the program if they are wrong. A misspelt option ends
 * it, too, with a suggestion. Returns false if the parser itself has rejected them.
 */
bool oche_parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags,
                          void *input);
/* Prints a line to standard error. `format` has no newline at its end. */
void oche_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints all mistakes of a scenario, a line each, and how many more there are; where there are
 * none, the error.
 */
void oche_print_mistakes(const struct oche_mistakes *mistakes, const struct oche_error *error);

#endif
