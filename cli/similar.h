/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests a known word for an unknown one on the command line. */
#ifndef OCHE_CLI_SIMILAR_H
#define OCHE_CLI_SIMILAR_H

#include <stddef.h>

struct argp;

/*
 * Returns the entry of `words` (which has `count`) that `text` probably misspells, or NULL. Two
 * exchanged neighbours count as one error.
 */
const char *oche_similar_word(const char *text, const char *const *words, size_t count);

/*
 * Returns the first argument of argv that is a long option unknown to argp. Sets *meant to the
 * option that it probably misspells; NULL: none. `flags` are those of argp_parse: with
 * ARGP_IN_ORDER, arguments after the first one that is no option are not checked. argp has no
 * children.
 */
const char *oche_misspelt_option(const struct argp *argp, int argc, char *const *argv,
                                 unsigned flags, const char **meant);

#endif
