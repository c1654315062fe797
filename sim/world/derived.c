/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the values behind `auto` by the functions that switches and schemes themselves use. */
#include "sim/world/derived.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "fabric/chips.h"
#include "fabric/ecn.h"
#include "fabric/fecn.h"
#include "fabric/shared_buffer.h"
#include "params/units.h"
#include "sim/world/internal.h"

#define LIST "slow_receivers"

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
    if (strcmp(key, "xon_offset") == 0)
        take(range, oche_buffer_xon_offset(config));
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

/*
 * Returns the parameters that `key` ("switch.kmin", "switch.tor.kmin") is one of, and moves it on
 * to the parameter's name; NULL: the key is of no such section.
 */
static const struct oche_switch_params *params_of(const struct oche_world_config *config,
                                                  const char **key)
{
    const char *name = *key + 7, *dot = strchr(name, '.');

    *key = dot != NULL ? dot + 1 : name;
    if (dot == NULL)
        return &config->switches;
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++) {
        const char *tier = config->topology->tiers[kind];

        if (tier != NULL && strlen(tier) == (size_t)(dot - name) &&
            strncmp(tier, name, (size_t)(dot - name)) == 0)
            return config->tiers[kind];
    }
    return NULL;
}

/* Takes what a parameter is at the switches that have `params`. */
static void take_switches(const struct oche_world *world, const struct oche_switch_params *params,
                          const char *key, struct range *range)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        if (config.params == params)
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

    if (param == NULL || cc->advice == NULL || cc->advice->derived == NULL)
        return;
    for (uint32_t host = 0; host < world->topology.host_count; host++) {
        uint64_t line_bps = oche_topology_port_link(&world->topology, host, 0)->rate_bps;

        if (!cc->advice->derived(oche_world_fitted_cc(world), param, line_bps, &derived))
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

static void take_endpoint(const struct oche_world *world, const struct oche_param *param,
                          struct range *range)
{
    if (param != NULL && param->zero_is_auto &&
        oche_param_get(param, world->config->endpoint_params).u == 0)
        take(range, oche_param_get(param, oche_world_fitted_endpoint(world)).u);
}

/* Takes what a parameter of the switches' marking by InfiniBand's rules is at each port. */
static void take_fecn(const struct oche_world *world, const char *key, struct range *range)
{
    const struct oche_fecn_params *fecn = oche_world_mechanism(world->config, &oche_fecn);
    const struct oche_ib_credits_params *credits =
        oche_world_mechanism(world->config, &oche_ib_credits);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    for (uint32_t i = 0; fecn != NULL && i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        for (unsigned port = 0; port < config.port_count; port++) {
            if (strcmp(key, "buffer") == 0)
                take(range, oche_fecn_buffer(fecn, credits, ports[port].rate_bps));
            if (strcmp(key, "marking_rate") == 0)
                take(range, oche_fecn_rate(fecn, ports[port].rate_bps));
        }
    }
}

/* Takes what `key` ("slow_receivers[0].xoff", "slow_receivers.xoff") is at the entry's hosts. */
static void take_receivers(const struct oche_world *world, const char *key, struct range *range)
{
    struct oche_receiver_thresholds thresholds;
    const char *name = strchr(key, '.') + 1;
    unsigned long number = key[sizeof(LIST) - 1] == '[' ? strtoul(key + sizeof(LIST), NULL, 10) : 0;

    if (!oche_world_receiver_thresholds(world, (uint32_t)number, &thresholds))
        return;
    if (strcmp(name, "xoff") == 0) {
        take(range, thresholds.least_xoff);
        take(range, thresholds.most_xoff);
    } else if (strcmp(name, "xon") == 0) {
        take(range, thresholds.least_xon);
        take(range, thresholds.most_xon);
    }
}

static void take_topology(const struct oche_world_config *config, const char *key,
                          struct range *range)
{
    const struct oche_topology_type *type = config->topology;
    uint64_t value = type->derived != NULL ? type->derived(config->topology_params, key) : 0;

    if (value > 0)
        take(range, value);
}

/*
 * Writes the chips of the switches that have `params`: their names, from the least memory to the
 * most.
 */
static bool chip_text(const struct oche_world *world, const struct oche_switch_params *params,
                      char *text, size_t bytes)
{
    const struct oche_chip *least = NULL, *most = NULL;
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    if (params->buffer_bytes != OCHE_NEVER)
        return false;
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        if (config.params != params)
            continue;
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

/* Writes the beta of the switches that have `params`, if it is automatic: "2", "2 to 3". */
static bool beta_text(const struct oche_world *world, const struct oche_switch_params *params,
                      char *text, size_t bytes)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    double least = HUGE_VAL, most = 0;

    if (params->beta > 0)
        return false;
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_world_switch_config(world, i, &config, ports);
        if (config.params != params)
            continue;
        const double beta = oche_buffer_plan(&config).beta;

        least = fmin(least, beta);
        most = fmax(most, beta);
    }
    if (!(most > 0))
        return false;
    if (most > least)
        snprintf(text, bytes, "%g to %g", least, most);
    else
        snprintf(text, bytes, "%g", most);
    return true;
}

/* Writes the interval of time series: the one that a run had, or that it will begin with. */
static bool interval_text(const struct oche_world *world, char *text, size_t bytes)
{
    const struct oche_param *param = oche_param_find(&oche_measure_params, "interval");
    char interval[OCHE_VALUE_BYTES];
    oche_time value = world->interval;

    if (!oche_world_samples_by_itself(world))
        return false;
    if (value == 0)
        value = oche_world_auto_interval(
            world, oche_world_auto_rows(world, oche_world_series_planned(world)));
    oche_value_show(param, (union oche_value){.u = value}, interval, sizeof(interval));
    snprintf(text, bytes, "%s%s", interval, world->interval == 0 ? " or more" : "");
    return true;
}

/* Writes ", by mode nic": the parameter that decides, and its value if that is a choice. */
static void by_text(const struct oche_param_table *table, const void *values, const char *by,
                    char *text, size_t bytes)
{
    const struct oche_param *param = by != NULL ? oche_param_find(table, by) : NULL;
    char value[OCHE_VALUE_BYTES] = "";

    text[0] = '\0';
    if (by == NULL)
        return;
    if (param != NULL && param->unit == OCHE_UNIT_CHOICE)
        oche_value_show(param, oche_param_get(param, values), value, sizeof(value));
    snprintf(text, bytes, ", by %s%s%s", by, value[0] != '\0' ? " " : "", value);
}

bool oche_world_derived(const struct oche_world *world, const char *key, char *text, size_t bytes)
{
    const struct oche_param_table *table = &oche_switch_params;
    struct range range = {.least = UINT64_MAX};
    char least[OCHE_VALUE_BYTES], most[OCHE_VALUE_BYTES], by[OCHE_VALUE_BYTES + 64];
    const char *dot = strchr(key, '.');

    if (strcmp(key, "measure.interval") == 0)
        return interval_text(world, text, bytes);
    if (strncmp(key, "switch.", 7) == 0) {
        const struct oche_switch_params *params = params_of(world->config, &key);

        if (params != NULL && strcmp(key, "chip") == 0)
            return chip_text(world, params, text, bytes);
        if (params != NULL && strcmp(key, "beta") == 0)
            return beta_text(world, params, text, bytes);
        if (params != NULL)
            take_switches(world, params, key, &range);
        dot = key - 1;
    } else if (dot != NULL && strncmp(key, LIST, sizeof(LIST) - 1) == 0) {
        take_receivers(world, key, &range);
        table = &oche_receiver_params;
    } else if (dot != NULL && strncmp(key, "fecn.", 5) == 0) {
        take_fecn(world, dot + 1, &range);
        table = oche_fecn.params;
    } else if (dot != NULL && strncmp(key, "topology.", 9) == 0) {
        take_topology(world->config, dot + 1, &range);
        table = world->config->topology->table;
    } else if (dot != NULL && strncmp(key, "congestion_control.", 19) == 0 &&
               world->config->endpoint != NULL) {
        table = world->config->endpoint->table;
        take_endpoint(world, oche_param_find(table, dot + 1), &range);
    } else if (dot != NULL && strncmp(key, "congestion_control.", 19) == 0) {
        take_hosts(world, dot + 1, &range);
        table = world->config->cc != NULL ? &world->config->cc->table : table;
    } else if (strcmp(key, "host.ack_timeout") == 0 && world->config->hosts.ack_timeout == 0) {
        take(&range, world->host_params.ack_timeout);
        range.by = world->host_params.timeouts == OCHE_TIMEOUTS_DOUBLING ? "timeouts" : NULL;
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
    by_text(table, table == &oche_host_params ? &world->host_params : world->config->cc_params,
            range.by, by, sizeof(by));
    snprintf(text, bytes, "%s%s%s%s", least, range.least != range.most ? " to " : "",
             range.least != range.most ? most : "", by);
    return true;
}

struct oche_switch_params oche_world_marking(const struct oche_world *world, uint32_t node,
                                             uint64_t rate_bps)
{
    struct oche_switch_params params =
        *oche_world_of_tier(world->config, world->topology.nodes[node].kind);
    struct oche_red_ramp ramp = oche_red_ramp(&params, rate_bps);

    params.kmin_bytes = ramp.kmin;
    params.kmax_bytes = ramp.kmax;
    return params;
}
