/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rates of hosts that workloads know (struct oche_host_rates): the rates of the hosts' links,
 * and their parts of their ToRs' uplinks. Hosts with the same rates are of one kind.
 */
#include <stdlib.h>

#include "sim/world/internal.h"

struct rated {
    struct oche_host_rate rate;
    uint32_t host;
};

/* The sums of the rates of a ToR's links: of those to hosts, and of the others. */
struct tor {
    oche_u128 hosts_bps, up_bps;
};

static struct tor *make_tors(const struct oche_topology *topology)
{
    struct tor *tors = oche_world_make(topology->switch_count, sizeof(*tors));

    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];
        const uint32_t ends[] = {link->a, link->b};

        for (unsigned end = 0; end < 2; end++) {
            if (ends[end] < topology->host_count)
                continue;
            struct tor *tor = &tors[ends[end] - topology->host_count];

            if (ends[1 - end] < topology->host_count)
                tor->hosts_bps += link->rate_bps;
            else
                tor->up_bps += link->rate_bps;
        }
    }
    return tors;
}

static int compare(const void *a, const void *b)
{
    const struct oche_host_rate *x = &((const struct rated *)a)->rate;
    const struct oche_host_rate *y = &((const struct rated *)b)->rate;

    if (x->link_bps != y->link_bps)
        return x->link_bps < y->link_bps ? -1 : 1;
    return (x->uplink_bps > y->uplink_bps) - (x->uplink_bps < y->uplink_bps);
}

/* Returns the rates of every host, and sets `same` if all have the same. */
static struct rated *rate_hosts(const struct oche_topology *topology, bool *same)
{
    struct rated *rated = oche_world_make(topology->host_count, sizeof(*rated));
    struct tor *tors = make_tors(topology);

    *same = true;
    for (uint32_t host = 0; host < topology->host_count; host++) {
        const uint64_t bps = oche_topology_port_link(topology, host, 0)->rate_bps;
        const struct tor *tor =
            &tors[oche_topology_port(topology, host, 0)->peer - topology->host_count];

        rated[host] = (struct rated){
            .rate = {.link_bps = bps, .uplink_bps = (uint64_t)(tor->up_bps * bps / tor->hosts_bps)},
            .host = host};
        *same = *same && compare(&rated[host], &rated[0]) == 0;
    }
    free(tors);
    return rated;
}

void oche_world_rate_hosts(struct oche_world *world)
{
    const uint32_t hosts = world->topology.host_count;
    bool same;
    struct rated *rated = rate_hosts(&world->topology, &same);
    struct oche_host_rate *kinds = oche_world_make(same ? 1 : hosts, sizeof(*kinds));
    uint32_t *kind_of = same ? NULL : oche_world_make(hosts, sizeof(*kind_of)), count = 0;

    if (!same)
        qsort(rated, hosts, sizeof(*rated), compare);
    for (uint32_t i = 0; i < hosts; i++) {
        if (i == 0 || compare(&rated[i], &rated[i - 1]) != 0)
            kinds[count++] = rated[i].rate;
        kinds[count - 1].hosts++;
        if (!same)
            kind_of[rated[i].host] = count - 1;
    }
    free(rated);
    world->rate_kinds = kinds;
    world->rate_kind_of = kind_of;
    world->host_rates = (struct oche_host_rates){kinds, count, kind_of};
}

void oche_world_free_rates(struct oche_world *world)
{
    free(world->rate_kinds);
    free(world->rate_kind_of);
}

const struct oche_host_rates *oche_world_host_rates(const struct oche_world *world)
{
    return &world->host_rates;
}
