/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All mistakes of a text that a user wrote, so that one run of the program tells them all. The
 * first ones in the text are kept, whatever order they are found in; the others are counted.
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
    } kept[OCHE_MISTAKES_KEPT]; /* by place; those of one place as they were added */
};

/* Adds a mistake. `place` says where it is in the text; any number that grows with it will do. */
void oche_mistakes_add(struct oche_mistakes *mistakes, uint64_t place,
                       const struct oche_error *error);

/* Returns how many are kept. */
size_t oche_mistakes_kept(const struct oche_mistakes *mistakes);

#endif
