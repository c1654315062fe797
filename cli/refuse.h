/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what is wrong on one line that is safe for a terminal: unprintable characters from a file
 * or an argument are escaped.
 */
#ifndef OCHE_CLI_REFUSE_H
#define OCHE_CLI_REFUSE_H

struct argp_state;

/* Reports an error in the arguments, "oche run: …", and ends the program with status 2. */
void oche_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints any other line to standard error; without its newline. */
void oche_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
