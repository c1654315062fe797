/* SPDX-License-Identifier: Apache-2.0 */
/* Which habits the hosts' adapters have: `host.nic`, other keys of `host`, and the list `nics`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/nic.h"
#include "sim/scenario/nic_file.h"
#include "sim/world/host_list.h"
#include "sim/world/internal.h"

static const struct oche_param rows[] = {
    {OCHE_PARAM(struct oche_nics_params, hosts), OCHE_IS_TEXT, .where = "our choice",
     .help = "hosts that have this adapter: host3, or a list, or all"},
    {OCHE_PARAM(struct oche_nics_params, nic), OCHE_IS_TEXT, .where = "nics.md",
     .help = "as host.nic"},
};
const struct oche_param_table oche_nics_params = OCHE_PARAM_TABLE(rows, struct oche_nics_params);

/* An entry of the list, while its hosts are read. */
struct entry {
    struct oche_world *world;
    uint32_t number;
    const struct oche_host_nic *nic;
    struct oche_error *error;
};

static bool add_host(void *context, uint32_t host)
{
    const struct entry *entry = context;

    if (entry->world->nics_of[host] != NULL)
        return oche_fail(entry->error, "nics[%u].hosts: %s is in the list already; name it once",
                         entry->number, entry->world->topology.nodes[host].name);
    entry->world->nics_of[host] = entry->nic;
    return true;
}

/* Fails with the reason `why` for the key, which begins with a habit's name if one is wrong. */
static bool refuse(struct oche_error *error, const char *key, const struct oche_error *why)
{
    return oche_fail(error, "%s: %s", key, why->text);
}

static bool read_entry(struct oche_world *world, uint32_t number, struct oche_error *error)
{
    const struct oche_nics_params *params = &world->config->nics[number];
    struct oche_host_nic *nic = &world->nics[1 + number];
    struct entry entry = {.world = world, .number = number, .nic = nic, .error = error};
    struct oche_error why;
    char key[40];

    snprintf(key, sizeof(key), "nics[%u].nic", number);
    if (params->nic == NULL)
        return oche_fail(error, "%s: is missing; `oche nic` lists adapters", key);
    if (!oche_nic_read(&nic->habits, params->nic, &why))
        return refuse(error, key, &why);
    oche_host_add_habits(&world->config->hosts, &nic->habits);
    return oche_world_each_host(&world->topology, "nics", number, params->hosts, add_host, &entry,
                                error);
}

bool oche_world_build_nics(struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    struct oche_error why;

    if (config->nic_count > 0 && config->endpoint != NULL && !config->endpoint->roce)
        return oche_fail(error, "nics: congestion_control %s is no RNIC's; leave it out",
                         config->endpoint->name);
    world->nics = oche_world_make(1 + config->nic_count, sizeof(*world->nics));
    oche_param_defaults(&oche_nic_habits_table, &world->nics[0].habits);
    if (config->hosts.nic != NULL &&
        !oche_nic_read(&world->nics[0].habits, config->hosts.nic, &why))
        return refuse(error, "host.nic", &why);
    oche_host_add_habits(&config->hosts, &world->nics[0].habits);
    if (config->nic_count == 0)
        return true;
    world->nics_of = oche_world_make(world->topology.host_count, sizeof(*world->nics_of));
    for (uint32_t i = 0; i < config->nic_count; i++)
        if (!read_entry(world, i, error))
            return false;
    return true;
}

bool oche_world_has_own_timeouts(const struct oche_world *world)
{
    return world->nics[0].habits.timeouts.kind == OCHE_TIMEOUTS_DOUBLING;
}

bool oche_world_fit_nics(struct oche_world *world, struct oche_error *error)
{
    const struct oche_cc_scheme *cc = world->config->cc;
    const void *params = oche_world_fitted_cc(world);

    for (uint32_t i = 0; cc != NULL && params != NULL && i <= world->config->nic_count; i++) {
        void *own = oche_world_make(1, cc->table.struct_bytes + 1);
        const char *wrong = NULL;

        memcpy(own, params, cc->table.struct_bytes);
        if (!oche_nic_habits_fit(&world->nics[i].habits, &cc->table, own, cc->check)) {
            free(own);
            continue;
        }
        world->nics[i].cc_params = own;
        if (cc->check != NULL)
            wrong = cc->check(own);
        if (wrong != NULL && i == 0)
            return oche_fail(error, "host.nic: with this adapter, %s", wrong);
        if (wrong != NULL)
            return oche_fail(error, "nics[%u].nic: with this adapter, %s", i - 1, wrong);
    }
    return true;
}

void oche_world_free_nics(struct oche_world *world)
{
    for (uint32_t i = 0; world->nics != NULL && i <= world->config->nic_count; i++)
        free((void *)(uintptr_t)world->nics[i].cc_params);
    free(world->nics);
    free(world->nics_of);
}

const struct oche_nic_habits *oche_world_nic_of(const struct oche_world *world, uint32_t host)
{
    const struct oche_host_nic *own = world->nics_of != NULL ? world->nics_of[host] : NULL;

    return own != NULL ? &own->habits : &world->nics[0].habits;
}

bool oche_world_nics_buffer(const struct oche_world *world)
{
    for (uint32_t i = 0; i <= world->config->nic_count; i++)
        if (world->nics[i].habits.ingress_buffer_bytes > 0)
            return true;
    return false;
}
