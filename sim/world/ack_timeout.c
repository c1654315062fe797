/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ACK timeout of hosts that leave it to the network (host.ack_timeout 0): so long that no ACK
 * of a packet that arrived, through queues of three more round trips, can be late.
 */
#include "core/wire/packet.h"
#include "sim/world/internal.h"

#define ROUND_TRIPS   4
#define LEAST_TIMEOUT (10 * OCHE_MS)
#define MOST_GROUPS   256 /* that are looked at; they are spread over a larger network */

static oche_time round_trip(const struct oche_world *world, uint32_t src, uint32_t dst)
{
    struct oche_endpoint_packets packets = oche_world_packets(world->config);
    struct oche_path there, back;

    oche_topology_path(&world->routes, src, dst, &there);
    oche_topology_path(&world->routes, dst, src, &back);
    return oche_path_round_trip(&there, &back, OCHE_GAP_BYTES + packets.middle_bytes,
                                OCHE_GAP_BYTES + packets.ack_bytes);
}

/* Returns the longest round trip between the first or the last host and one of each group. */
static oche_time longest_round_trip(const struct oche_world *world)
{
    uint32_t hosts = world->topology.host_count;
    uint32_t every = (hosts + MOST_GROUPS - 1) / MOST_GROUPS;
    oche_time longest = 0;

    for (uint32_t host = 0; host < hosts; host += every) {
        if (host > 0)
            longest = oche_time_max(longest, round_trip(world, 0, host));
        if (host < hosts - 1)
            longest = oche_time_max(longest, round_trip(world, hosts - 1, host));
    }
    return longest;
}

oche_time oche_world_ack_timeout(const struct oche_world *world)
{
    oche_time given = world->config->hosts.ack_timeout;

    if (given != 0)
        return given;
    oche_time derived = oche_time_max(LEAST_TIMEOUT, ROUND_TRIPS * longest_round_trip(world));

    return (derived + OCHE_US - 1) / OCHE_US * OCHE_US;
}
