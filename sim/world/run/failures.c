/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links and switches that fail, as the scenario's list `failures` says, and links that a workload's
 * file takes away (sim/app/failed_links.c). Before the run we compute
 * when each link is down, which routes switches use at which time, and from both a list of changes
 * for each node; so the result is the same for any number of threads.
 *
 * If a switch fails, all of its links fail. Routes follow a change of a link after routes.reroute,
 * at all switches at the same time: they are recomputed without the links that are down and the
 * links that came back too recently to be used. If the topology's shortest paths go up and then
 * down, so do all recomputed paths (sim/topology/routes.h). A host that can be reached only by
 * going down and up again is then cut off, as with BGP if the spines share an autonomous system
 * number (RFC 7938).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/network/link_failure.h"
#include "sim/topology/onward.h"
#include "sim/world/internal.h"
#include "sim/world/run/failures.h"

/* ---- which links ---- */

/* The search for the links of one entry. */
struct finder {
    const struct oche_world *world;
    uint32_t number; /* the entry's number in the list, from 0 */
    uint32_t *links;
    bool *from_b;
    uint32_t count;
    struct oche_error *error;
};

/* Adds the link of a port. */
static void add_link(struct finder *finder, uint32_t node, uint32_t port)
{
    const struct oche_topology *topology = &finder->world->topology;
    const uint32_t link = oche_topology_port(topology, node, port)->link;
    const struct oche_topology_link *of = &topology->links[link];

    for (uint32_t i = 0; i < finder->count; i++)
        if (finder->links[i] == link)
            return;
    finder->from_b[finder->count] = of->b == node && of->port_b == port;
    finder->links[finder->count++] = link;
}

static bool add_named_link(struct finder *finder, const char *name)
{
    const struct oche_topology *topology = &finder->world->topology;
    struct oche_error why;
    uint32_t node, port, count;

    if (!oche_topology_find_ports(topology, name, &node, &port, &count, &why))
        return oche_fail(finder->error, "failures[%u].link: %s", finder->number, why.text);
    for (; count > 0; count--) {
        add_link(finder, node, port);
        port = oche_topology_next_parallel(topology, node, port);
    }
    return true;
}

static bool add_switch(struct finder *finder, const char *name)
{
    const struct oche_topology *topology = &finder->world->topology;
    uint32_t node = oche_topology_find(topology, name);

    if (node == UINT32_MAX || node < topology->host_count)
        return oche_fail(finder->error,
                         "failures[%u].switch: no switch is called \"%.64s\"; they are %s to %s%s",
                         finder->number, name, topology->nodes[topology->host_count].name,
                         topology->nodes[oche_topology_nodes(topology) - 1].name,
                         node == UINT32_MAX ? "" : "; of a host write its link");
    for (uint32_t port = 0; port < topology->nodes[node].port_count; port++)
        add_link(finder, node, port);
    return true;
}

/* Calls `add` for each word of a list. */
static bool add_each(struct finder *finder, const char *list,
                     bool (*add)(struct finder *finder, const char *name))
{
    char *copy = strdup(list), *rest = copy;
    bool fine = true;

    OCHE_GOT(copy != NULL);
    for (char *name; fine && (name = strsep(&rest, ", ")) != NULL;)
        fine = *name == '\0' || add(finder, name);
    free(copy);
    return fine;
}

static bool is_among(const struct oche_topology *topology, uint32_t link,
                     enum oche_failure_where where)
{
    const struct oche_topology_link *of = &topology->links[link];
    uint32_t a = topology->nodes[of->a].kind, b = topology->nodes[of->b].kind;
    bool to_host = a == OCHE_NODE_HOST || b == OCHE_NODE_HOST;

    switch (where) {
    case OCHE_FAILURE_SWITCH_LINKS:
        return !to_host;
    case OCHE_FAILURE_HOST_LINKS:
        return to_host;
    case OCHE_FAILURE_TOR_LINKS:
        return !to_host && (a == OCHE_NODE_TOR || b == OCHE_NODE_TOR);
    case OCHE_FAILURE_CORE_LINKS:
        return a == OCHE_NODE_CORE || b == OCHE_NODE_CORE;
    case OCHE_FAILURE_ALL_LINKS:
        break;
    }
    return true;
}

/* True if the link's end a is farther from hosts than its end b. */
static bool is_upper_end(const struct oche_topology *topology, uint32_t link)
{
    const struct oche_topology_link *of = &topology->links[link];

    return topology->nodes[of->a].kind > topology->nodes[of->b].kind;
}

static bool draw_links(struct finder *finder, const struct oche_failure_params *params)
{
    const struct oche_world *world = finder->world;
    struct oche_random random = oche_random_stream(world->config->seed, "failures", finder->number);
    uint32_t *among = oche_world_make(world->topology.link_count, sizeof(*among)), count = 0;

    for (uint32_t link = 0; link < world->topology.link_count; link++)
        if (is_among(&world->topology, link, (enum oche_failure_where)params->where))
            among[count++] = link;
    bool enough = params->random <= count;

    if (!enough)
        oche_fail(finder->error, "failures[%u].random: there are only %u such links",
                  finder->number, count);
    for (uint32_t i = 0; enough && i < params->random; i++) {
        uint32_t pick = i + (uint32_t)oche_random_below(&random, count - i), link = among[pick];

        among[pick] = among[i];
        finder->from_b[finder->count] = is_upper_end(&world->topology, link);
        finder->links[finder->count++] = link;
    }
    free(among);
    return enough;
}

static bool is_given(const char *list)
{
    return list != NULL && list[strspn(list, ", ")] != '\0';
}

static bool check_entry(const struct oche_world_config *config, uint32_t number,
                        struct oche_error *error)
{
    const struct oche_failure_params *params = &config->failures[number];
    int ways = is_given(params->link) + is_given(params->switches) + (params->random > 0);

    if (ways != 1)
        return oche_fail(
            error,
            "failures[%u]: names %s; give one of link: leaf0:spine1, switch: spine1 and "
            "random: 2",
            number, ways == 0 ? "no link" : "more than one of link, switch and random");
    if (params->random == 0 && params->where != OCHE_FAILURE_SWITCH_LINKS)
        return oche_fail(
            error,
            "failures[%u].where: is for links that are drawn, and this entry names them; leave "
            "it out, or give random in their place",
            number);
    if (params->direction != OCHE_FAILURE_BOTH && !oche_failure_degrades(params))
        return oche_fail(
            error,
            "failures[%u].direction: a link that is down is so in both directions; loss: 1 is one "
            "that carries nothing",
            number);
    if (config->run.duration > 0 && params->at >= config->run.duration)
        return oche_fail(
            error, "failures[%u].at: is not before the end of the run; make it less than duration",
            number);
    if (params->until <= params->at)
        return oche_fail(error, "failures[%u].until: is not after at; make it later, or never",
                         number);
    return true;
}

static bool find_links(struct oche_world *world, uint32_t number, struct oche_error *error)
{
    const struct oche_failure_params *params = &world->config->failures[number];
    struct oche_world_failure *entry = &world->failures->entries[number];
    struct finder finder = {.world = world, .number = number, .error = error};
    bool fine;

    finder.links = oche_world_make(world->topology.link_count, sizeof(*finder.links));
    finder.from_b = oche_world_make(world->topology.link_count, sizeof(*finder.from_b));
    if (is_given(params->link))
        fine = add_each(&finder, params->link, add_named_link);
    else if (is_given(params->switches))
        fine = add_each(&finder, params->switches, add_switch);
    else
        fine = draw_links(&finder, params);
    *entry = (struct oche_world_failure){.links = finder.links,
                                         .from_b = finder.from_b,
                                         .count = finder.count,
                                         .from = params->at,
                                         .until = params->until,
                                         .reroute = world->config->routes.reroute};
    return fine;
}

static int compare_links(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Makes the last entry of the links that a workload's file takes away. */
static void take_failed(struct oche_world *world, struct oche_world_failure *entry)
{
    *entry = (struct oche_world_failure){.until = OCHE_NEVER};
    entry->links = oche_world_make(world->failed_count, sizeof(*entry->links));
    qsort(world->failed, world->failed_count, sizeof(*world->failed), compare_links);
    for (uint32_t i = 0; i < world->failed_count; i++)
        if (i == 0 || world->failed[i] != world->failed[i - 1])
            entry->links[entry->count++] = world->failed[i];
}

/* ---- when ---- */

static int compare_spans(const void *a, const void *b)
{
    const struct oche_failure_span *x = a, *y = b;

    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* True if the links of an entry go down; those of a workload's file, behind the others, do. */
static bool goes_down(const struct oche_world_config *config, uint32_t entry)
{
    return entry >= config->failure_count || !oche_failure_degrades(&config->failures[entry]);
}

/* Makes spans from the links that go down. Spans of one link that overlap or touch are merged. */
static void make_spans(const struct oche_world_config *config, struct oche_world_failures *failures)
{
    size_t count = 0, kept = 0;

    for (uint32_t i = 0; i < failures->entry_count; i++)
        count += failures->entries[i].count;
    struct oche_failure_span *spans = failures->spans = oche_world_make(count, sizeof(*spans));

    count = 0;
    for (uint32_t i = 0; i < failures->entry_count; i++)
        for (uint32_t k = 0; goes_down(config, i) && k < failures->entries[i].count; k++)
            spans[count++] = (struct oche_failure_span){.link = failures->entries[i].links[k],
                                                        .from = failures->entries[i].from,
                                                        .until = failures->entries[i].until,
                                                        .reroute = failures->entries[i].reroute};
    qsort(spans, count, sizeof(*spans), compare_spans);
    for (size_t i = 0; i < count; i++) {
        struct oche_failure_span *last = kept > 0 ? &spans[kept - 1] : NULL;

        if (last == NULL || last->link != spans[i].link || last->until < spans[i].from)
            spans[kept++] = spans[i];
        else {
            last->until = oche_time_max(last->until, spans[i].until);
            last->reroute = oche_time_min(last->reroute, spans[i].reroute);
        }
    }
    failures->span_count = kept;
}

/* Returns false, with an error, if another part of the scenario does not allow failures. */
static bool check_others(const struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    uint32_t first = 0; /* entry of links that go down */

    if (world->failed_count > 0 &&
        (oche_world_symmetric(config) || oche_world_has_static_routes(config)))
        return oche_fail(error,
                         "workload: its matrix has failures, and %s fixes the ways of flows; leave "
                         "one of them out",
                         oche_world_symmetric(config) ? "congestion_control" : "routes.file");
    while (first < config->failure_count && oche_failure_degrades(&config->failures[first]))
        first++;
    if (first == config->failure_count)
        return true;
    if (oche_world_symmetric(config))
        return oche_fail(
            error,
            "failures[%u]: congestion_control %s needs both directions of a flow on one way, "
            "which failures change; leave them out, or choose another scheme",
            first, config->endpoint->name);
    if (oche_world_has_static_routes(config) && config->routes.reroute != OCHE_NEVER)
        return oche_fail(
            error, "routes.reroute: file says the ways, and nothing says them without the links "
                   "that fail; make this never");
    return true;
}

bool oche_world_failures_find(struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    uint32_t count = config->failure_count;

    if (count + world->failed_count == 0)
        return true;
    if (!check_others(world, error))
        return false;
    world->failures = oche_world_make(1, sizeof(*world->failures));
    world->failures->entries = oche_world_make(count + 1, sizeof(*world->failures->entries));
    world->failures->entry_count = count + (world->failed_count > 0);
    for (uint32_t i = 0; i < count; i++)
        if (!check_entry(config, i, error) || !find_links(world, i, error))
            return false;
    if (world->failed_count > 0)
        take_failed(world, &world->failures->entries[count]);
    make_spans(config, world->failures);
    return true;
}

/* ---- routes ---- */

/*
 * Sets *from and *until to the times between which routes avoid the link. Returns false if they
 * never do.
 */
static bool known(const struct oche_failure_span *span, oche_time *from, oche_time *until)
{
    oche_time reroute = span->reroute;

    if (reroute == OCHE_NEVER || (span->until != OCHE_NEVER && span->until - span->from <= reroute))
        return false;
    *from = oche_time_add(span->from, reroute);
    *until = oche_time_add(span->until, reroute);
    return true;
}

static int compare_times(const void *a, const void *b)
{
    const oche_time *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static bool make_epoch(struct oche_world *world, struct oche_failure_epoch *epoch,
                       struct oche_error *error)
{
    const struct oche_world_failures *failures = world->failures;
    bool *dead = oche_world_make(world->topology.link_count, sizeof(*dead)), fine = true;
    oche_time from, until;

    epoch->whole = true;
    for (size_t i = 0; i < failures->span_count; i++)
        if (known(&failures->spans[i], &from, &until) && from <= epoch->time &&
            epoch->time < until) {
            dead[failures->spans[i].link] = true;
            epoch->whole = false;
        }
    if (!epoch->whole) {
        fine = oche_topology_route_around(&world->topology, dead, oche_world_is_up_down(world),
                                          &epoch->routes, error);
        if (fine && world->onward != NULL)
            epoch->onward = oche_world_onward(world, &epoch->routes);
    }
    free(dead);
    return fine;
}

static bool make_epochs(struct oche_world *world, struct oche_error *error)
{
    struct oche_world_failures *failures = world->failures;
    oche_time *times = oche_world_make(2 * failures->span_count, sizeof(*times));
    size_t count = 0;
    bool fine = true;

    for (size_t i = 0; i < failures->span_count; i++) {
        oche_time ends[2];

        if (!known(&failures->spans[i], &ends[0], &ends[1]))
            continue;
        for (unsigned k = 0; k < 2; k++)
            if (ends[k] < world->until)
                times[count++] = ends[k];
    }
    if (count > 0)
        qsort(times, count, sizeof(*times), compare_times);
    failures->epochs = oche_world_make(count, sizeof(*failures->epochs));
    for (size_t i = 0; fine && i < count; i++) {
        if (i > 0 && times[i] == times[i - 1])
            continue;
        struct oche_failure_epoch *epoch = &failures->epochs[failures->epoch_count++];

        epoch->time = times[i];
        fine = make_epoch(world, epoch, error);
    }
    free(times);
    return fine;
}

/* ---- changes ---- */

static int compare_changes(const void *a, const void *b)
{
    const struct oche_change *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->port < y->port ? -1 : x->port > y->port;
}

struct oche_change *oche_world_add_change(struct oche_world *world, uint32_t node, uint32_t port,
                                          oche_time time, enum oche_change_kind kind)
{
    struct oche_world_failures *failures = world->failures;
    struct oche_change *change = &failures->changes[failures->change_count];

    *change = (struct oche_change){
        .time = time, .node = node, .port = (uint16_t)port, .kind = (uint16_t)kind};
    failures->change_count += time < world->until;
    return change;
}

static void add_routes(struct oche_world *world, const struct oche_failure_epoch *epoch)
{
    const uint64_t *onward = epoch->whole ? world->onward : epoch->onward;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        struct oche_change *change = oche_world_add_change(world, world->topology.host_count + i, 0,
                                                           epoch->time, OCHE_CHANGE_ROUTES);

        change->routes = epoch->whole ? &world->used_routes.of[i] : &epoch->routes.of[i];
        change->onward = onward;
        if (onward != NULL)
            onward += oche_topology_onward_words(&world->used_routes, i);
    }
}

bool oche_world_failures_build(struct oche_world *world, struct oche_error *error)
{
    struct oche_world_failures *failures = world->failures;
    const struct oche_topology *topology = &world->topology;

    if (failures == NULL)
        return true;
    if (!make_epochs(world, error))
        return false;
    failures->changes =
        oche_world_make(4 * failures->span_count + failures->epoch_count * topology->switch_count +
                            oche_world_degraded_most(world) + 1,
                        sizeof(*failures->changes));
    for (size_t i = 0; i < failures->span_count; i++) {
        const struct oche_failure_span *span = &failures->spans[i];
        const struct oche_topology_link *link = &topology->links[span->link];

        oche_world_add_change(world, link->a, link->port_a, span->from, OCHE_CHANGE_LINK_DOWN);
        oche_world_add_change(world, link->b, link->port_b, span->from, OCHE_CHANGE_LINK_DOWN);
        oche_world_add_change(world, link->a, link->port_a, span->until, OCHE_CHANGE_LINK_UP);
        oche_world_add_change(world, link->b, link->port_b, span->until, OCHE_CHANGE_LINK_UP);
    }
    for (size_t i = 0; i < failures->epoch_count; i++)
        add_routes(world, &failures->epochs[i]);
    oche_world_degraded_build(world);
    qsort(failures->changes, failures->change_count, sizeof(*failures->changes), compare_changes);
    oche_network_set_changes(&world->network, failures->changes, failures->change_count,
                             world->flows.connection_count);
    return true;
}

bool oche_world_routes_whole(const struct oche_world *world, oche_time from, oche_time until)
{
    const struct oche_world_failures *failures = world->failures;

    for (size_t i = 0; failures != NULL && i < failures->epoch_count; i++) {
        oche_time end = i + 1 < failures->epoch_count ? failures->epochs[i + 1].time : OCHE_NEVER;

        if (!failures->epochs[i].whole && failures->epochs[i].time <= until && end > from)
            return false;
    }
    return true;
}

void oche_world_failures_free(struct oche_world *world)
{
    struct oche_world_failures *failures = world->failures;

    if (failures == NULL)
        return;
    for (uint32_t i = 0; i < failures->entry_count; i++) {
        free(failures->entries[i].links);
        free(failures->entries[i].from_b);
    }
    for (size_t i = 0; i < failures->loss_count; i++)
        free(failures->losses[i]);
    free(failures->losses);
    for (size_t i = 0; i < failures->epoch_count; i++) {
        oche_topology_routes_free(&failures->epochs[i].routes);
        free(failures->epochs[i].onward);
    }
    free(failures->entries);
    free(failures->spans);
    free(failures->epochs);
    free(failures->changes);
    free(failures);
}

/* ---- reading ---- */

uint32_t oche_world_failure_count(const struct oche_world *world)
{
    return world->failures == NULL ? 0 : world->failures->entry_count;
}

struct oche_world_failure oche_world_failure(const struct oche_world *world, uint32_t number)
{
    return world->failures->entries[number];
}

struct oche_hit oche_world_hit(const struct oche_world *world, uint32_t connection)
{
    struct oche_hit sum = {.packets = 0};

    for (uint32_t s = 0; s < world->network.shard_count; s++) {
        const struct oche_hit *hit = oche_network_hit(&world->network.shards[s], connection);

        if (hit == NULL)
            continue;
        if (sum.packets == 0 || hit->first < sum.first)
            sum.first = hit->first;
        if (sum.packets == 0 || hit->last > sum.last)
            sum.last = hit->last;
        sum.packets += hit->packets;
    }
    return sum;
}
