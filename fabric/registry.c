/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/registry.h"

#include <string.h>

#include "fabric/credit_shaper.h"
#include "fabric/iofd.h"
#include "fabric/rcp_rate.h"

const struct oche_switch_mechanism *const oche_switch_mechanisms[] = {
    &oche_iofd,
    &oche_rcp_rate,
    &oche_credit_shaper,
    NULL,
};

_Static_assert(sizeof(oche_switch_mechanisms) / sizeof(oche_switch_mechanisms[0]) <=
                   OCHE_MOST_MECHANISMS + 1,
               "room for them wherever they are listed");

const struct oche_switch_mechanism *oche_switch_mechanism_find(const char *name)
{
    for (unsigned i = 0; oche_switch_mechanisms[i] != NULL; i++)
        if (strcmp(oche_switch_mechanisms[i]->name, name) == 0)
            return oche_switch_mechanisms[i];
    return NULL;
}
