/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all loss-recovery schemes. A new scheme needs a file of its own and a line here. */
#include <string.h>

#include "core/recovery/go_back_0.h"
#include "core/recovery/go_back_n.h"
#include "core/recovery/improved_go_back_n.h"
#include "core/recovery/selective_repeat.h"

const struct oche_recovery_scheme *const oche_recovery_schemes[] = {
    &oche_recovery_go_back_0,
    &oche_recovery_go_back_n,
    &oche_recovery_improved_go_back_n,
    &oche_recovery_selective_repeat,
};
const size_t oche_recovery_scheme_count = OCHE_COUNT_OF(oche_recovery_schemes);

const struct oche_recovery_scheme *oche_recovery_find(const char *name)
{
    for (size_t i = 0; i < oche_recovery_scheme_count; i++)
        if (strcmp(oche_recovery_schemes[i]->name, name) == 0)
            return oche_recovery_schemes[i];
    return NULL;
}
