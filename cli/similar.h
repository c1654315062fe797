/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests a known word for an unknown one on the command line. */
#ifndef OCHE_CLI_SIMILAR_H
#define OCHE_CLI_SIMILAR_H

#include <stddef.h>

struct argp;

/*
 * Returns the entry of `words` (which has `count`) that `text` probably misspells, or NULL. Two
 * neighbours that have changed places are one slip.
 */
const char *oche_similar_word(const char *text, const char *const *words, size_t count);

/*
 * Returns the first argument of argv that is a long option and that argp does not know, and sets
 * *meant to the option that it probably misspells; NULL: there is none, or no option is similar.
 * `flags` are those of argp_parse: with ARGP_IN_ORDER, what follows a word that is no option is not
 * looked at. argp has no children.
 */
const char *oche_misspelt_option(const struct argp *argp, int argc, char *const *argv,
                                 unsigned flags, const char **meant);

#endif
