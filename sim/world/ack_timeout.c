/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeouts and windows that a scenario leaves to the network. The ACK timeout is so long that no
 * ACK of a packet that arrived, through queues of three more round trips, can be late.
 */
#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/wire/packet.h"
#include "sim/world/internal.h"

#define ROUND_TRIPS      4
#define LEAST_TIMEOUT    (10 * OCHE_MS)
#define CONNECTX_TIMEOUT (16 * OCHE_MS) /* the longest that these NICs set without being told */

/* Returns the time by which an ACK may be late, as the parameters of `host` say. */
static oche_time ack_delays(const struct oche_host_params *hosts)
{
    oche_time late = 0;

    for (size_t i = 0; i < oche_host_params.count; i++)
        if (oche_host_params.params[i].traits & OCHE_PARAM_DELAYS_ACKS)
            late = oche_time_add(late, oche_param_get(&oche_host_params.params[i], hosts).u);
    return late;
}

/* Besides, a packet and its ACK are late by loss.late_most each. */
void oche_world_measure_network(struct oche_world *world)
{
    const struct oche_endpoint_packets packets = oche_world_packets(world->config);
    const uint64_t line_bytes = OCHE_GAP_BYTES + packets.middle_bytes;
    oche_time late = ack_delays(&world->config->hosts);

    if (world->config->loss.late > 0)
        late = oche_time_add(late, 2 * world->config->loss.late_most);
    const struct oche_farthest farthest = oche_topology_farthest(
        &world->routes, world->config->topology->up_down, OCHE_GAP_BYTES + packets.middle_bytes,
        OCHE_GAP_BYTES + packets.ack_bytes, late);

    world->recovery_network = (struct oche_recovery_network){
        .round_trip = farthest.round_trip,
        .packets = (farthest.bytes + line_bytes - 1) / line_bytes,
        .reorders = oche_world_reordering_mechanism(world->config) != NULL ||
                    oche_world_spreads(world->config),
    };
}

struct oche_recovery_network oche_world_recovery_network(const struct oche_world *world)
{
    return world->recovery_network;
}

oche_time oche_world_longest_round_trip(const struct oche_world *world)
{
    return oche_world_recovery_network(world).round_trip;
}

oche_time oche_world_ack_timeout(const struct oche_world *world)
{
    const struct oche_host_params *hosts = &world->config->hosts;

    if (hosts->ack_timeout != 0)
        return hosts->ack_timeout;
    if (oche_world_has_own_timeouts(world))
        return CONNECTX_TIMEOUT;
    oche_time trips = ROUND_TRIPS * oche_world_recovery_network(world).round_trip;

    return (oche_time_max(LEAST_TIMEOUT, trips) + OCHE_US - 1) / OCHE_US * OCHE_US;
}

void *oche_world_recovery_params(const struct oche_world *world)
{
    const struct oche_recovery_scheme *recovery = world->config->recovery;
    struct oche_recovery_network network;

    if (recovery == NULL || world->config->recovery_params == NULL)
        return NULL;
    void *params = oche_world_make(1, recovery->table.struct_bytes + 1); /* a table may be empty */

    memcpy(params, world->config->recovery_params, recovery->table.struct_bytes);
    if (recovery->fit == NULL)
        return params;
    network = oche_world_recovery_network(world);
    recovery->fit(params, &network);
    return params;
}

void *oche_world_fit_endpoint(const struct oche_world *world)
{
    const struct oche_endpoint *endpoint = world->config->endpoint;

    if (endpoint == NULL || endpoint->fit == NULL || world->config->endpoint_params == NULL)
        return NULL;
    void *params = oche_world_make(1, endpoint->table->struct_bytes);

    memcpy(params, world->config->endpoint_params, endpoint->table->struct_bytes);
    endpoint->fit(params, oche_world_longest_round_trip(world));
    return params;
}

void *oche_world_fit_cc(const struct oche_world *world)
{
    const struct oche_cc_scheme *cc = world->config->cc;
    const struct oche_host_rates *rates = oche_world_host_rates(world);

    if (cc == NULL || cc->advice == NULL || cc->advice->fit == NULL ||
        world->config->cc_params == NULL)
        return NULL;
    void *params = oche_world_make(1, cc->table.struct_bytes);
    const struct oche_cc_network network = {
        .line_rate_bps = rates->kinds[0].link_bps,
        .round_trip = oche_world_longest_round_trip(world),
        .trims = oche_world_trimming_mechanism(world->config) != NULL,
    };

    memcpy(params, world->config->cc_params, cc->table.struct_bytes);
    cc->advice->fit(params, 0, &network);
    return params;
}

const struct oche_host_params *oche_world_host_params(const struct oche_world *world)
{
    return &world->host_params;
}

const void *oche_world_fitted_recovery(const struct oche_world *world)
{
    return world->recovery_params;
}

const void *oche_world_fitted_cc(const struct oche_world *world)
{
    return world->cc_params != NULL ? world->cc_params : world->config->cc_params;
}

const void *oche_world_fitted_endpoint(const struct oche_world *world)
{
    return world->endpoint_params != NULL ? world->endpoint_params : world->config->endpoint_params;
}
