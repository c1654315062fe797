/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/registry.h"

#include <string.h>

#include "fabric/credit_shaper.h"
#include "fabric/fecn.h"
#include "fabric/ib_credits.h"
#include "fabric/iofd.h"
#include "fabric/rcp_rate.h"
#include "fabric/switch.h"

const struct oche_switch_mechanism *const oche_switch_mechanisms[] = {
    &oche_iofd, &oche_rcp_rate, &oche_credit_shaper, &oche_ib_credits, &oche_fecn, NULL,
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
