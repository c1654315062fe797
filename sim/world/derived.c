/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the values behind `auto` by the functions that switches and schemes themselves use. */
#include "sim/world/derived.h"

#include <stdio.h>
#include <string.h>

#include "fabric/chips.h"
#include "fabric/ecn.h"
#include "fabric/shared_buffer.h"
#include "params/units.h"
#include "sim/world/internal.h"

/* The values of all switches, ports or hosts that were looked at. */
struct range {
    uint64_t least, most;
    const char *by; /* the parameter that decides them, or NULL */
};

static void take(struct range *range, uint64_t value)
{
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
}

/* Takes what `key` is at a switch: of the whole switch, or of each of its ports. */
static void take_switch(const char *key, const struct oche_switch_config *config,
                        struct range *range)
{
    if (strcmp(key, "buffer") == 0)
        take(range, oche_switch_memory(config));
    if (strcmp(key, "pfc_priorities") == 0)
        take(range, oche_buffer_plan(config).priorities);
    for (unsigned port = 0; port < config->port_count; port++) {
        struct oche_red_ramp ramp = oche_red_ramp(config->params, config->ports[port].rate_bps);

        if (strcmp(key, "kmin") == 0)
            take(range, ramp.kmin);
        if (strcmp(key, "kmax") == 0)
            take(range, ramp.kmax);
        if (strcmp(key, "headroom") == 0)
            take(range, oche_buffer_headroom(config, port));
    }
}

static void take_switches(const struct oche_world *world, const char *key, struct range *range)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        take_switch(key, &config, range);
    }
}

/* Takes what a parameter of the scheme is at each host. */
static void take_hosts(const struct oche_world *world, const char *key, struct range *range)
{
    const struct oche_world_config *config = world->config;
    const struct oche_cc_scheme *cc = config->cc;
    const struct oche_param *param = cc != NULL ? oche_param_find(&cc->table, key) : NULL;
    struct oche_derived derived;

    if (param == NULL || cc->derived == NULL)
        return;
    for (uint32_t host = 0; host < world->topology.host_count; host++) {
        uint64_t line_bps = oche_topology_port_link(&world->topology, host, 0)->rate_bps;

        if (!cc->derived(config->cc_params, param, line_bps, &derived))
            return;
        take(range, derived.value.u);
        range->by = derived.by;
    }
}

static void take_recovery(const struct oche_world *world, const struct oche_param *param,
                          struct range *range)
{
    if (param != NULL && param->zero_is_auto &&
        oche_param_get(param, world->config->recovery_params).u == 0)
        take(range, oche_param_get(param, world->recovery_params).u);
}

static void take_topology(const struct oche_world_config *config, const char *key,
                          struct range *range)
{
    const struct oche_topology_type *type = config->topology;
    uint64_t value = type->derived != NULL ? type->derived(config->topology_params, key) : 0;

    if (value > 0)
        take(range, value);
}

/* Writes the chips of the switches: their names, from the least memory to the most. */
static bool chip_text(const struct oche_world *world, char *text, size_t bytes)
{
    const struct oche_chip *least = NULL, *most = NULL;
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    if (world->config->switches.buffer_bytes != OCHE_NEVER)
        return false;
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        const struct oche_chip *chip = oche_chip_for(&config);

        least = least == NULL || chip->buffer_bytes < least->buffer_bytes ? chip : least;
        most = most == NULL || chip->buffer_bytes > most->buffer_bytes ? chip : most;
    }
    if (least == NULL)
        return false;
    snprintf(text, bytes, "%s%s%s", least->name, least != most ? " to " : "",
             least != most ? most->name : "");
    return true;
}

bool oche_world_derived(const struct oche_world *world, const char *key, char *text, size_t bytes)
{
    const struct oche_param_table *table = &oche_switch_params;
    struct range range = {.least = UINT64_MAX};
    char least[OCHE_VALUE_BYTES], most[OCHE_VALUE_BYTES];
    const char *dot = strchr(key, '.');

    if (strcmp(key, "switch.chip") == 0)
        return chip_text(world, text, bytes);
    if (dot != NULL && strncmp(key, "switch.", 7) == 0)
        take_switches(world, dot + 1, &range);
    else if (dot != NULL && strncmp(key, "topology.", 9) == 0) {
        take_topology(world->config, dot + 1, &range);
        table = world->config->topology->table;
    } else if (dot != NULL && strncmp(key, "congestion_control.", 19) == 0) {
        take_hosts(world, dot + 1, &range);
        table = world->config->cc != NULL ? &world->config->cc->table : table;
    } else if (strcmp(key, "host.ack_timeout") == 0 && world->config->hosts.ack_timeout == 0) {
        take(&range, world->host_params.ack_timeout);
        range.by = world->host_params.timeouts == OCHE_TIMEOUTS_CONNECTX ? "timeouts" : NULL;
        table = &oche_host_params;
    } else if (dot != NULL && strncmp(key, "recovery.", 9) == 0 && world->recovery_params != NULL) {
        table = &world->config->recovery->table;
        take_recovery(world, oche_param_find(table, dot + 1), &range);
    }
    if (range.least > range.most)
        return false;
    const struct oche_param *param = oche_param_find(table, dot + 1);

    oche_value_show(param, (union oche_value){.u = range.least}, least, sizeof(least));
    oche_value_show(param, (union oche_value){.u = range.most}, most, sizeof(most));
    snprintf(text, bytes, "%s%s%s%s%s", least, range.least != range.most ? " to " : "",
             range.least != range.most ? most : "", range.by != NULL ? ", by " : "",
             range.by != NULL ? range.by : "");
    return true;
}

void oche_world_thresholds(const struct oche_world *world, uint64_t rate_bps, uint64_t *kmin_bytes,
                           uint64_t *kmax_bytes)
{
    struct oche_red_ramp ramp = oche_red_ramp(&world->config->switches, rate_bps);

    *kmin_bytes = ramp.kmin;
    *kmax_bytes = ramp.kmax;
}
