/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All mistakes of a text that a user wrote, so one run of the program reports them all. The first
 * ones in the text are kept, in whatever order they are found. The others are counted.
 */
#ifndef OCHE_PARAMS_MISTAKES_H
#define OCHE_PARAMS_MISTAKES_H

#include <stddef.h>
#include <stdint.h>

#include "params/error.h"

#define OCHE_MISTAKES_KEPT 10

struct oche_mistakes {
    size_t count; /* of all */
    struct {
        uint64_t place;
        struct oche_error error;
    } kept[OCHE_MISTAKES_KEPT]; /* by place; mistakes of one place in the order of adding */
};

/* Adds a mistake. `place` is any number that grows with its position in the text. */
void oche_mistakes_add(struct oche_mistakes *mistakes, uint64_t place,
                       const struct oche_error *error);

/* Returns how many are kept. */
size_t oche_mistakes_kept(const struct oche_mistakes *mistakes);

#endif
