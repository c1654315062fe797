/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks before the run that packets may take the paths that switches or hosts choose for them, and
 * that the receivers can live with packets that overtake each other (load-balancing.md#order), and
 * with trimmed ones.
 */
#include "core/cc/cc.h"
#include "core/paths/paths.h"
#include "params/error.h"
#include "sim/world/internal.h"

/* Returns the first mechanism from place `from` on that chooses ports; NULL: there is none. */
static const struct oche_switch_mechanism *chooser(const struct oche_world_config *config,
                                                   uint32_t *from)
{
    for (; *from < config->mechanism_count; ++*from)
        if (config->mechanisms[*from]->route != NULL)
            return config->mechanisms[(*from)++];
    return NULL;
}

const struct oche_switch_mechanism *
oche_world_reordering_mechanism(const struct oche_world_config *config)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->reorders)
            return config->mechanisms[i];
    return NULL;
}

bool oche_world_spreads(const struct oche_world_config *config)
{
    return config->endpoint == NULL && config->hosts.entropy != 0;
}

/* Checks the mechanisms that choose ports against each other and against the endpoint. */
static bool check_choosers(const struct oche_world_config *config, struct oche_error *error)
{
    uint32_t from = 0;
    const struct oche_switch_mechanism *one = chooser(config, &from);
    const struct oche_switch_mechanism *other = chooser(config, &from);

    if (other != NULL)
        return oche_fail(error, "switch.mechanisms: %s and %s both choose the port; name one",
                         one->name, other->name);
    if (one != NULL && one->balances && oche_world_symmetric(config))
        return oche_fail(error,
                         "switch.mechanisms: %s sends packets by any path, and congestion_control "
                         "%s needs one path for both directions; leave it out",
                         one->name, oche_world_scheme_name(config));
    if ((config->hosts.paths & (config->hosts.paths - 1)) != 0)
        return oche_fail(error, "host.paths: %llu is no power of two; 32, 64, 128 or the like",
                         (unsigned long long)config->hosts.paths);
    if (one != NULL && oche_world_spreads(config))
        return oche_fail(
            error,
            "host.entropy: %s chooses packets' paths already; ecmp, or leave %s out of "
            "switch.mechanisms",
            one->name, one->name);
    return true;
}

const struct oche_switch_mechanism *
oche_world_trimming_mechanism(const struct oche_world_config *config)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->trim != NULL)
            return config->mechanisms[i];
    return NULL;
}

/* Checks that trimmed packets are of use to the receivers. */
static bool check_trimming(const struct oche_world_config *config, struct oche_error *error)
{
    const struct oche_switch_mechanism *trims = oche_world_trimming_mechanism(config);

    if (trims == NULL || config->endpoint != NULL || config->recovery->trim_told != NULL)
        return true;
    return oche_fail(error,
                     "switch.mechanisms: with %s only headers arrive of some packets, and %s drops "
                     "these; recovery: selective_repeat, or leave %s out",
                     trims->name, config->recovery->name, trims->name);
}

/* Returns the name of the loss recovery if it takes packets that are overtaken for lost. */
static const char *in_order_recovery(const struct oche_world_config *config)
{
    if (config->endpoint != NULL)
        return config->endpoint->recovery;
    return config->recovery->any_order ? NULL : config->recovery->name;
}

bool oche_world_check_order(const struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    const struct oche_switch_mechanism *mechanism = oche_world_reordering_mechanism(config);
    const bool spreads = oche_world_spreads(config);

    if (!check_choosers(config, error) || !check_trimming(config, error))
        return false;
    if ((mechanism == NULL && !spreads) || config->hosts.reordering == OCHE_REORDERING_ACCEPT)
        return true;
    const char *recovery = in_order_recovery(config);

    if (config->endpoint == NULL && config->cc->one_path)
        return oche_fail(error,
                         "%s: with %s packets of a queue pair take many paths, and "
                         "congestion_control: %s compares what they say of one; another scheme, or "
                         "host.reordering: accept to run it nevertheless",
                         spreads ? "host.entropy" : "switch.mechanisms",
                         spreads ? oche_path_choices[config->hosts.entropy] : mechanism->name,
                         config->cc->name);
    if (recovery != NULL)
        return oche_fail(
            error,
            "%s: with %s packets overtake each other, and %s sends them again as lost; %s, or "
            "host.reordering: accept to run it nevertheless",
            spreads ? "host.entropy" : "switch.mechanisms",
            spreads ? oche_path_choices[config->hosts.entropy] : mechanism->name, recovery,
            config->endpoint != NULL ? "another congestion_control"
                                     : "recovery: {name: selective_repeat, reorder: window}");
    if (mechanism != NULL && world->flows.reads && !config->cc->windows_reads)
        return oche_fail(error,
                         "switch.mechanisms: with %s packets overtake each other, and READ data "
                         "that is overtaken is asked for again; WRITEs, or host.reordering: accept "
                         "to run it nevertheless",
                         mechanism->name);
    return true;
}
