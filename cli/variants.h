/* SPDX-License-Identifier: Apache-2.0 */
/* `--compare KEY=VALUE,VALUE[,…]`: the values of the runs to compare. */
#ifndef OCHE_CLI_VARIANTS_H
#define OCHE_CLI_VARIANTS_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>

struct oche_variants {
    char *key;
    char **values;
    size_t count;
};

/*
 * Parses the argument of --compare. Commas inside brackets, braces and quotes are part of a value,
 * so "congestion_control=none,{name: dcqcn, g: 1/16}" has two values. Returns false, with one line
 * in `error`, if the argument is not a key and at least two different values.
 */
bool oche_variants_read(struct oche_variants *variants, const char *argument,
                        struct oche_error *error);
void oche_variants_free(struct oche_variants *variants);

/*
 * Returns the value as a file name (malloc'd): characters that could mean something in a shell or a
 * path are replaced by "_".
 */
char *oche_file_name_of(const char *text);

#endif
