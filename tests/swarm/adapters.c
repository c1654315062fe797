/* SPDX-License-Identifier: Apache-2.0 */
/* Habits of adapters that some rules do not know. */
#include "sim/world/internal.h"
#include "tests/swarm/judge.h"

static bool any(const struct oche_world *world, bool (*has)(const struct oche_nic_habits *habits))
{
    for (uint32_t i = 0; i <= world->config->nic_count; i++)
        if (has(&world->nics[i].habits))
            return true;
    return false;
}

static bool is_late(const struct oche_nic_habits *habits)
{
    return habits->nak_delay > 0 || habits->nak_reaction > 0 || habits->read_nak_delay > 0;
}

bool swarm_has_late_naks(const struct oche_world *world)
{
    return any(world, is_late);
}

static bool has_own_timeouts(const struct oche_nic_habits *habits)
{
    return habits->timeouts.kind != OCHE_TIMEOUTS_AS_ASKED;
}

bool swarm_has_own_timeouts(const struct oche_world *world)
{
    return any(world, has_own_timeouts);
}
