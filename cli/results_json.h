/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results files as one JSON document, for the option --json. */
#ifndef OCHE_CLI_RESULTS_JSON_H
#define OCHE_CLI_RESULTS_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "params/error.h"

/*
 * Prints {"LIST":[…]}, one object a file, or without a list's name the object of the only file.
 * `more` is a further member, as in "\"papers\":[]", printed first; NULL: none. Returns false, with
 * one line in `error`, and prints nothing, if a file cannot be read.
 */
bool oche_print_json(const char *list, char *const *paths, size_t count, const char *more,
                     struct oche_error *error);

#endif
