/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round-robin spraying: the packets to one group of destinations (the hosts of a ToR), or to one
 * host, take the equal paths in turn (load-balancing.md#round-robin). Of n packets to it each of k
 * ports gets n/k, give or take one. Each switch begins at a place of its own for each group or
 * host, so that switches that start at the same time do not meet at the same spine.
 */
#include "core/random.h"
#include "fabric/equal_ports.h"
#include "fabric/mechanism.h"

enum turns { TURNS_BY_TOR, TURNS_BY_HOST };

struct round_robin_params {
    uint32_t turns;
    bool control;
};

static const char *const turns_choices[] = {[TURNS_BY_TOR] = "tor", [TURNS_BY_HOST] = "host", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct round_robin_params, turns), OCHE_IS_CHOICE(TURNS_BY_TOR, turns_choices),
     .where = "tor: load-balancing.md#round-robin; host: load-balancing.md#rotation",
     .help = "whose packets take turns: those to all hosts of a ToR together, or those to each "
             "host by themselves"},
    {OCHE_PARAM(struct round_robin_params, control), OCHE_IS_BOOL(true),
     .where = "load-balancing.md#control",
     .help = "also packets without payload, such as ACKs and CNPs; false: these take ECMP's path"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct round_robin_params);

enum { SPRAYED, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [SPRAYED] = {"packets", "packets for which there were several paths, counted at each switch",
                 false},
};

struct round_robin {
    const struct round_robin_params *params;
    uint64_t counted[COUNTERS];
    /* for each destination group or address: the place of its next packet, not yet reduced to the
     * ports */
    uint32_t next[];
};

static uint32_t turn_count(const struct oche_switch_config *config, const void *values)
{
    const struct round_robin_params *chosen = values;

    return chosen->turns == TURNS_BY_HOST ? config->routes.addresses : config->groups;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    return sizeof(struct round_robin) + turn_count(config, values) * sizeof(uint32_t);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct round_robin *robin = state;
    struct oche_random random = oche_random_stream(config->seed, "round_robin", config->node);

    robin->params = values;
    for (uint32_t i = 0; i < turn_count(config, values); i++)
        robin->next[i] = (uint32_t)oche_random_below(&random, UINT16_MAX);
}

static int route(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now)
{
    struct round_robin *robin = state;
    const struct oche_equal_ports equal = oche_equal_ports(sw, packet, robin->params->control);

    (void)in_port;
    (void)now;
    if (equal.count == 0)
        return port;
    uint32_t *next =
        &robin->next[robin->params->turns == TURNS_BY_HOST ? packet->dst : equal.group];
    const uint32_t at = *next < equal.count ? *next : *next % equal.count;

    *next = at + 1 < equal.count ? at + 1 : 0;
    robin->counted[SPRAYED]++;
    return oche_equal_port_from(sw, &equal, at, port);
}

static void read_counters(const void *state, uint64_t *values)
{
    values[SPRAYED] = ((const struct round_robin *)state)->counted[SPRAYED];
}

static void reset_counters(void *state)
{
    ((struct round_robin *)state)->counted[SPRAYED] = 0;
}

const struct oche_switch_mechanism oche_round_robin = {
    .name = "round_robin",
    .help = "the packets to a ToR's hosts, or to each host, take the equal paths in turn",
    .params = &table,
    .balances = true,
    .reorders = true,
    .state_bytes = state_bytes,
    .create = create,
    .route = route,
    .counters = counters,
    .counter_count = COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
