/* SPDX-License-Identifier: Apache-2.0 */
/* The list of switch mechanisms, made from the one in fabric/meson.build. */
#include "fabric/registry.h"

#include <string.h>

#include "fabric/mechanisms.h" /* made by Meson: OCHE_SWITCH_MECHANISMS is X(iofd) X(fecn) … */
#include "fabric/switch.h"

#define X(mechanism) extern const struct oche_switch_mechanism oche_##mechanism;
OCHE_SWITCH_MECHANISMS
#undef X

const struct oche_switch_mechanism *const oche_switch_mechanisms[] = {
#define X(mechanism) &oche_##mechanism,
    OCHE_SWITCH_MECHANISMS
#undef X
        NULL,
};

_Static_assert(OCHE_COUNT_OF(oche_switch_mechanisms) <= OCHE_MOST_MECHANISMS + 1,
               "room for them wherever they are listed");

const struct oche_switch_mechanism *oche_switch_mechanism_find(const char *name)
{
    for (unsigned i = 0; oche_switch_mechanisms[i] != NULL; i++)
        if (strcmp(oche_switch_mechanisms[i]->name, name) == 0)
            return oche_switch_mechanisms[i];
    return NULL;
}

bool oche_switch_has_flow_control(const struct oche_switch_config *config)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->flow_control)
            return true;
    return false;
}
