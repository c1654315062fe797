/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random packet spraying: each packet takes one of the equal paths at random, whatever its flow
 * (load-balancing.md#random-spray). All paths get the same share in the mean; queues grow where
 * several packets choose one port by chance.
 */
#include "core/random.h"
#include "fabric/equal_ports.h"
#include "fabric/mechanism.h"

struct random_spray_params {
    bool control;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct random_spray_params, control), OCHE_IS_BOOL(true),
     .where = "load-balancing.md#control",
     .help = "also packets without payload, such as ACKs and CNPs; false: these take ECMP's path"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct random_spray_params);

enum { SPRAYED, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [SPRAYED] = {"packets", "packets for which there were several paths, counted at each switch",
                 false},
};

struct random_spray {
    const struct random_spray_params *params;
    struct oche_random random;
    uint64_t counted[COUNTERS];
};

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)config;
    (void)values;
    return sizeof(struct random_spray);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct random_spray *spray = state;

    spray->params = values;
    spray->random = oche_random_stream(config->seed, "random_spray", config->node);
}

static int route(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now)
{
    struct random_spray *spray = state;
    const struct oche_equal_ports equal = oche_equal_ports(sw, packet, spray->params->control);

    (void)in_port;
    (void)now;
    if (equal.count == 0)
        return port;
    spray->counted[SPRAYED]++;
    return oche_equal_port_from(sw, &equal,
                                (uint32_t)oche_random_below(&spray->random, equal.count), port);
}

static void read_counters(const void *state, uint64_t *values)
{
    values[SPRAYED] = ((const struct random_spray *)state)->counted[SPRAYED];
}

static void reset_counters(void *state)
{
    ((struct random_spray *)state)->counted[SPRAYED] = 0;
}

const struct oche_switch_mechanism oche_random_spray = {
    .name = "random_spray",
    .help = "each packet takes one of the equal paths at random",
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
