/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DRILL: each packet takes the least loaded of a few equal paths: `samples` drawn at random, and
 * the one that was the best for the last packet to that group of destinations
 * (load-balancing.md#drill). The load of a port is the bytes of all classes that wait there. Of
 * equal loads the remembered port wins, then the one drawn first, as in ConWeave-sim.
 */
#include "core/random.h"
#include "fabric/equal_ports.h"
#include "fabric/mechanism.h"

#define MOST_SAMPLES 16

struct drill_params {
    uint64_t samples, memory;
    bool control;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct drill_params, samples), OCHE_IS_COUNT(2, 1, MOST_SAMPLES),
     .where = "ConWeave-sim; load-balancing.md#drill",
     .help = "different ports drawn for each packet (d)"},
    {OCHE_PARAM(struct drill_params, memory), OCHE_IS_COUNT(1, 0, 1),
     .where = "ConWeave-sim; load-balancing.md#drill",
     .help = "1: the best port of the packet before takes part, too; 0: it is forgotten (m)"},
    {OCHE_PARAM(struct drill_params, control), OCHE_IS_BOOL(true),
     .where = "load-balancing.md#control",
     .help = "also packets without payload, such as ACKs and CNPs; false: these take ECMP's path"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct drill_params);

enum { SPRAYED, KEPT, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [SPRAYED] = {"packets", "packets for which there were several paths, counted at each switch",
                 false},
    [KEPT] = {"kept", "packets of these that took the port of the packet before", false},
};

struct drill {
    const struct drill_params *params;
    struct oche_random random;
    uint64_t counted[COUNTERS];
    uint16_t best[]; /* for each destination group: 1 + the port of its last packet; 0: none */
};

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)values;
    return sizeof(struct drill) + config->groups * sizeof(uint16_t);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct drill *drill = state;

    drill->params = values;
    drill->random = oche_random_stream(config->seed, "drill", config->node);
}

/* True if the remembered port is one of the ports; after a reroute it may not be. */
static bool is_among(const struct oche_equal_ports *equal, unsigned port)
{
    for (uint32_t i = 0; i < equal->count; i++)
        if (equal->ports[i] == port)
            return true;
    return false;
}

/*
 * Draws a place below `count` that is not among the `taken` drawn ones, which are in rising order,
 * and adds it there.
 */
static uint32_t draw_other(struct drill *drill, uint32_t count, uint32_t *drawn, uint32_t taken)
{
    uint32_t at = (uint32_t)oche_random_below(&drill->random, count - taken), i = 0;

    for (; i < taken && drawn[i] <= at; i++)
        at++;
    for (uint32_t j = taken; j > i; j--)
        drawn[j] = drawn[j - 1];
    drawn[i] = at;
    return at;
}

/* Returns the least loaded port, or -1 if the links of all that were looked at are down. */
static int least_loaded(struct drill *drill, const struct oche_switch *sw,
                        const struct oche_equal_ports *equal)
{
    const uint32_t samples =
        drill->params->samples < equal->count ? (uint32_t)drill->params->samples : equal->count;
    const unsigned last = drill->params->memory > 0 ? drill->best[equal->group] : 0;
    uint32_t drawn[MOST_SAMPLES], least = UINT32_MAX;
    int best = -1;

    if (last > 0 && is_among(equal, last - 1) && oche_equal_port_is_up(sw, last - 1)) {
        best = (int)last - 1;
        least = oche_egress_bytes(oche_switch_egress(sw, last - 1));
    }
    for (uint32_t taken = 0; taken < samples; taken++) {
        const unsigned port = equal->ports[draw_other(drill, equal->count, drawn, taken)];
        const uint32_t bytes = oche_egress_bytes(oche_switch_egress(sw, port));

        if (bytes < least && oche_equal_port_is_up(sw, port)) {
            best = (int)port;
            least = bytes;
        }
    }
    return best;
}

static int route(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now)
{
    struct drill *drill = state;
    const struct oche_equal_ports equal = oche_equal_ports(sw, packet, drill->params->control);

    (void)in_port;
    (void)now;
    if (equal.count == 0)
        return port;
    int best = least_loaded(drill, sw, &equal);

    if (OCHE_UNLIKELY(best < 0))
        best = oche_equal_port_from(sw, &equal, 0, port);
    drill->counted[SPRAYED]++;
    drill->counted[KEPT] += drill->best[equal.group] == best + 1;
    drill->best[equal.group] = (uint16_t)(best + 1);
    return best;
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct drill *drill = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        values[i] = drill->counted[i];
}

static void reset_counters(void *state)
{
    struct drill *drill = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        drill->counted[i] = 0;
}

const struct oche_switch_mechanism oche_drill = {
    .name = "drill",
    .help = "each packet takes the least loaded of a few random equal paths and the last best one",
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
