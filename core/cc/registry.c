/* SPDX-License-Identifier: Apache-2.0 */
/* The list of congestion-control schemes, made from the one in core/cc/meson.build. */
#include "core/cc/cc.h"

#include <string.h>

#include "core/cc/schemes.h" /* made by Meson: OCHE_CC_SCHEMES is X(none) X(dcqcn) … */

#define X(scheme) extern const struct oche_cc_scheme oche_cc_##scheme;
OCHE_CC_SCHEMES
#undef X

const struct oche_cc_scheme *const oche_cc_schemes[] = {
#define X(scheme) &oche_cc_##scheme,
    OCHE_CC_SCHEMES
#undef X
};

const size_t oche_cc_scheme_count = OCHE_COUNT_OF(oche_cc_schemes);

const struct oche_cc_scheme *oche_cc_find(const char *name)
{
    for (size_t i = 0; i < oche_cc_scheme_count; i++)
        if (strcmp(oche_cc_schemes[i]->name, name) == 0)
            return oche_cc_schemes[i];
    return NULL;
}
