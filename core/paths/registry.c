/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all schemes. A new one needs a file of its own and a name here. */
#include "core/paths/paths.h"

#define SCHEMES X(oblivious) X(bitmap) X(reps) X(mixed)

#define X(scheme) extern const struct oche_path_scheme oche_paths_##scheme;
SCHEMES
#undef X

static const struct oche_path_scheme *const schemes[] = {NULL,
#define X(scheme) &oche_paths_##scheme,
                                                         SCHEMES
#undef X
};

const char *const oche_path_choices[] = {
    "ecmp",
#define X(scheme) #scheme,
    SCHEMES
#undef X
        NULL,
};

const struct oche_path_scheme *oche_path_scheme(uint32_t choice)
{
    OCHE_MUST(choice < OCHE_COUNT_OF(schemes));
    return schemes[choice];
}
