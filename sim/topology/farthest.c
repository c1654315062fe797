/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest round trip, over all pairs of hosts and all shortest paths between them. The time of
 * a packet and its ACK is a sum: of the source's link, the links between the two ToRs, and the
 * destination's link. So it is enough to know the two slowest hosts of each ToR, and the slowest
 * path between any two ToRs.
 *
 * For windows, pairs count by the slower one of their links, which bounds what one flow has under
 * way. For each rate r that hosts have, only hosts of at least that rate are looked at. A pair is
 * then found at its own rate, and is never given more than that.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/topology/routes.h"

#define NO_HOST   UINT64_MAX
#define UNREACHED UINT32_MAX
#define UNKNOWN   UINT64_MAX

/* A link between switches, seen from one end. This file numbers switches from 0. */
struct edge {
    uint32_t peer;
    uint64_t time; /* time of a packet in one direction and its ACK in the other */
};

/* The slowest hosts of a ToR: the times of their links. */
struct slowest {
    uint64_t first, second; /* NO_HOST: there is none */
};

struct search {
    const struct oche_topology_routes *routes;
    uint32_t bytes, back_bytes;
    uint64_t *rates; /* rates of hosts, in ascending order */
    uint32_t rate_count;
    struct slowest *slowest; /* at rate * group_count + group: of hosts of at least this rate */
    oche_time *longest;      /* by rate: the longest found so far; 0: no two hosts have this rate */
    struct edge *edges;
    uint32_t *first_edge;  /* by switch; one entry more, for the end */
    uint32_t *hops;        /* by switch: links to the group that is looked at */
    uint64_t *time;        /* by switch: time of the slowest path to it */
    uint32_t *queue;       /* switches, in the order of hops */
    uint64_t *of_distance; /* by number of links: the time of each way between two ToRs, or UNKNOWN;
                              NULL: it depends on the way */
};

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    OCHE_GOT(memory != NULL);
    return memory;
}

static uint64_t time_of(const struct search *search, const struct oche_topology_link *link)
{
    return 2 * link->delay + oche_time_of_bytes(search->bytes, link->rate_bps) +
           oche_time_of_bytes(search->back_bytes, link->rate_bps);
}

/* ---- hosts ---- */

static int compare_rates(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void find_rates(struct search *search)
{
    const struct oche_topology *topology = search->routes->topology;
    uint32_t count = 0;

    search->rates = make(topology->host_count, sizeof(*search->rates));
    for (uint32_t host = 0; host < topology->host_count; host++) {
        uint64_t rate = oche_topology_port_link(topology, host, 0)->rate_bps;

        if (count == 0 || search->rates[count - 1] != rate)
            search->rates[count++] = rate;
    }
    qsort(search->rates, count, sizeof(*search->rates), compare_rates);
    for (uint32_t i = 0; i < count; i++)
        if (search->rate_count == 0 || search->rates[search->rate_count - 1] != search->rates[i])
            search->rates[search->rate_count++] = search->rates[i];
}

static void add_host(struct slowest *slowest, uint64_t time)
{
    if (time == NO_HOST)
        return;
    if (slowest->first == NO_HOST || time > slowest->first) {
        slowest->second = slowest->first;
        slowest->first = time;
    } else if (slowest->second == NO_HOST || time > slowest->second) {
        slowest->second = time;
    }
}

static void find_slowest(struct search *search)
{
    const struct oche_topology *topology = search->routes->topology;
    const uint32_t groups = search->routes->group_count;
    const size_t all = (size_t)search->rate_count * groups;

    search->slowest = make(all, sizeof(*search->slowest));
    for (size_t i = 0; i < all; i++)
        search->slowest[i] = (struct slowest){NO_HOST, NO_HOST};
    for (uint32_t host = 0; host < topology->host_count; host++) {
        const struct oche_topology_link *link = oche_topology_port_link(topology, host, 0);
        const uint64_t *rate = bsearch(&link->rate_bps, search->rates, search->rate_count,
                                       sizeof(*search->rates), compare_rates);
        size_t row = (size_t)(rate - search->rates) * groups;

        add_host(&search->slowest[row + search->routes->of[0].group_of[host]],
                 time_of(search, link));
    }
    /* hosts of a higher rate have at least the same value */
    for (size_t i = all - groups; i-- > 0;) {
        add_host(&search->slowest[i], search->slowest[i + groups].first);
        add_host(&search->slowest[i], search->slowest[i + groups].second);
    }
}

/* ---- ways between switches ---- */

/* Lists the links between switches by their ends. */
static void find_edges(struct search *search)
{
    const struct oche_topology *topology = search->routes->topology;
    const uint32_t hosts = topology->host_count;
    uint32_t count = 0;

    search->edges = make(2 * (size_t)topology->link_count, sizeof(*search->edges));
    search->first_edge = make((size_t)topology->switch_count + 1, sizeof(*search->first_edge));
    for (uint32_t s = 0; s < topology->switch_count; s++) {
        search->first_edge[s] = count;
        for (uint32_t p = 0; p < topology->nodes[hosts + s].port_count; p++) {
            const struct oche_topology_port *end = oche_topology_port(topology, hosts + s, p);

            if (end->peer >= hosts)
                search->edges[count++] =
                    (struct edge){end->peer - hosts, time_of(search, &topology->links[end->link])};
        }
    }
    search->first_edge[topology->switch_count] = count;
}

/* Finds the slowest of the shortest ways from each switch to `target`. */
static void search_from(struct search *search, uint32_t target)
{
    uint32_t count = 0;

    memset(search->hops, 0xff, search->routes->topology->switch_count * sizeof(*search->hops));
    search->queue[count++] = target;
    search->hops[target] = 0;
    search->time[target] = 0;
    for (uint32_t head = 0; head < count; head++) {
        const uint32_t s = search->queue[head];

        for (uint32_t e = search->first_edge[s]; e < search->first_edge[s + 1]; e++) {
            const struct edge *edge = &search->edges[e];
            const uint64_t time = search->time[s] + edge->time;

            if (search->hops[edge->peer] == UNREACHED) {
                search->hops[edge->peer] = search->hops[s] + 1;
                search->time[edge->peer] = 0;
                search->queue[count++] = edge->peer;
            }
            if (search->hops[edge->peer] == search->hops[s] + 1 && search->time[edge->peer] < time)
                search->time[edge->peer] = time;
        }
    }
}

/*
 * True if all ways of as many links between two ToRs take the same time: all links between switches
 * are alike or, where ways go up and then down, all links between the same two tiers.
 */
static bool depends_on_distance(const struct search *search, bool up_down)
{
    const struct oche_topology *topology = search->routes->topology;
    uint64_t times[OCHE_NODE_KINDS][OCHE_NODE_KINDS] = {{0}};

    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];
        uint32_t a = topology->nodes[link->a].kind, b = topology->nodes[link->b].kind;
        uint64_t time = time_of(search, link);

        if (a == OCHE_NODE_HOST || b == OCHE_NODE_HOST)
            continue;
        if (!up_down)
            a = b = 0;
        if (times[a][b] != 0 && times[a][b] != time)
            return false;
        times[a][b] = times[b][a] = time;
    }
    return true;
}

/* Notes the times of ways of every number of links, from the switch of one group. */
static void note_distances(struct search *search, uint32_t group)
{
    const struct oche_topology_routes *routes = search->routes;
    const uint32_t hosts = routes->topology->host_count;

    search_from(search, routes->switch_of_group[group] - hosts);
    for (uint32_t g = 0; g < routes->group_count; g++) {
        const uint32_t sw = routes->switch_of_group[g] - hosts;

        search->of_distance[search->hops[sw]] = search->time[sw];
    }
}

/* ---- pairs ---- */

/* Sets `time` to that of the ways from each group's switch to `group`. */
static void find_times(struct search *search, uint32_t group, uint64_t *time)
{
    const struct oche_topology_routes *routes = search->routes;
    const uint16_t *distance = &routes->distance[(size_t)group * routes->group_count];
    const uint32_t hosts = routes->topology->host_count;

    if (search->of_distance == NULL)
        search_from(search, routes->switch_of_group[group] - hosts);
    for (uint32_t g = 0; g < routes->group_count; g++) {
        if (search->of_distance == NULL) {
            time[g] = search->time[routes->switch_of_group[g] - hosts];
            continue;
        }
        if (search->of_distance[distance[g]] == UNKNOWN)
            note_distances(search, group);
        time[g] = search->of_distance[distance[g]];
    }
}

/* Examines all pairs of a host of `group` and a host of the same group or a later one. */
static void look_at_group(struct search *search, uint32_t group, const uint64_t *time)
{
    const uint32_t groups = search->routes->group_count;

    for (uint32_t rate = 0; rate < search->rate_count; rate++) {
        const struct slowest *slowest = &search->slowest[(size_t)rate * groups];
        oche_time longest = search->longest[rate];

        if (slowest[group].first == NO_HOST)
            continue;
        if (slowest[group].second != NO_HOST)
            longest = oche_time_max(longest, slowest[group].first + slowest[group].second);
        for (uint32_t g = group + 1; g < groups; g++)
            if (slowest[g].first != NO_HOST)
                longest = oche_time_max(longest, slowest[group].first + time[g] + slowest[g].first);
        search->longest[rate] = longest;
    }
}

struct oche_farthest oche_topology_farthest(const struct oche_topology_routes *routes, bool up_down,
                                            uint32_t bytes, uint32_t back_bytes, oche_time later)
{
    const uint32_t switches = routes->topology->switch_count, groups = routes->group_count;
    struct search search = {.routes = routes, .bytes = bytes, .back_bytes = back_bytes};
    struct oche_farthest farthest = {.round_trip = later};
    uint64_t *time = make(groups, sizeof(*time));

    find_rates(&search);
    find_slowest(&search);
    find_edges(&search);
    search.longest = make(search.rate_count, sizeof(*search.longest));
    search.hops = make(switches, sizeof(*search.hops));
    search.time = make(switches, sizeof(*search.time));
    search.queue = make(switches, sizeof(*search.queue));
    if (depends_on_distance(&search, up_down)) {
        search.of_distance = make(OCHE_PATH_LINKS + 1, sizeof(*search.of_distance));
        memset(search.of_distance, 0xff, (OCHE_PATH_LINKS + 1) * sizeof(*search.of_distance));
    }
    for (uint32_t group = 0; group < groups; group++) {
        find_times(&search, group, time);
        look_at_group(&search, group, time);
    }
    for (uint32_t rate = 0; rate < search.rate_count; rate++) {
        if (search.longest[rate] == 0)
            continue; /* no two hosts have this rate */
        oche_time round_trip = oche_time_add(search.longest[rate], later);
        uint64_t under_way = oche_bytes_in_time(round_trip, search.rates[rate]);

        farthest.round_trip = oche_time_max(farthest.round_trip, round_trip);
        farthest.bytes = under_way > farthest.bytes ? under_way : farthest.bytes;
    }
    free(search.rates);
    free(search.slowest);
    free(search.longest);
    free(search.edges);
    free(search.first_edge);
    free(search.hops);
    free(search.time);
    free(search.queue);
    free(search.of_distance);
    free(time);
    return farthest;
}
