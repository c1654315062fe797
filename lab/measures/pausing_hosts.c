/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/pausing_hosts.h"

#include <stdio.h>
#include <string.h>

/* Returns the PAUSEs of one host; `pauses` and `held` are 0 if it sent none. */
static struct oche_pausing_host one_of(const struct oche_world *world, uint32_t host,
                                       const struct oche_switch_port_stats *stats)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_pausing_host one = {.pauses = 0};

    for (uint32_t cls = 0; cls < OCHE_CLASSES; cls++) {
        one.pauses += stats->pauses_sent[cls];
        if (stats->pause_sent_time[cls] > one.held)
            one.held = stats->pause_sent_time[cls];
    }
    if (one.pauses == 0 && one.held == 0)
        return one;
    const struct oche_topology_port *end = oche_topology_port(topology, host, 0);

    snprintf(one.name, sizeof(one.name), "%s", topology->nodes[host].name);
    oche_topology_port_name(topology, end->peer, end->peer_port, one.port, sizeof(one.port));
    one.slow = oche_world_slow_host(world, host).most_bytes > 0;
    return one;
}

static void add(struct oche_pausing_hosts *hosts, const struct oche_pausing_host *one)
{
    uint32_t at = hosts->listed_count;

    hosts->count++;
    while (at > 0 && one->held > hosts->listed[at - 1].held)
        at--;
    if (at == OCHE_PAUSING_HOSTS)
        return;
    if (hosts->listed_count < OCHE_PAUSING_HOSTS)
        hosts->listed_count++;
    memmove(&hosts->listed[at + 1], &hosts->listed[at],
            (hosts->listed_count - 1 - at) * sizeof(*one));
    hosts->listed[at] = *one;
}

void oche_pausing_hosts_take(struct oche_pausing_hosts *hosts, const struct oche_world *world,
                             const struct oche_switch_port_stats *stats)
{
    const struct oche_topology *topology = oche_world_topology(world);

    *hosts = (struct oche_pausing_hosts){.count = 0};
    for (uint32_t host = 0; host < topology->host_count; host++) {
        const struct oche_pausing_host one =
            one_of(world, host, &stats[topology->nodes[host].first_port]);

        if (one.pauses > 0 || one.held > 0)
            add(hosts, &one);
    }
}
