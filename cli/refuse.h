/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling what is wrong, in one line that a terminal can be shown: what a file or an argument
 * brought along that does not print is escaped.
 */
#ifndef OCHE_CLI_REFUSE_H
#define OCHE_CLI_REFUSE_H

struct argp_state;

/* Of the arguments: "oche run: …", and ends the program with status 2. */
void oche_refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A line of any other kind, to standard error; without its end. */
void oche_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
