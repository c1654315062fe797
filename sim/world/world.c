/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a world from a bound scenario, and frees it. */
#include "sim/world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/cc/cc_headers.h"
#include "core/cc/cc_messages.h"
#include "core/wire/opcode.h"
#include "fabric/chips.h"
#include "fabric/ib_credits.h"
#include "fabric/iofd.h"
#include "fabric/late.h"
#include "fabric/loss.h"
#include "fabric/registry.h"
#include "params/error.h"
#include "sim/engine/sparse_memory.h"
#include "sim/network/link_failure.h"
#include "sim/network/schedule.h"
#include "sim/network/switch_node.h"
#include "sim/topology/onward.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

const void *oche_world_mechanism(const struct oche_world_config *config,
                                 const struct oche_switch_mechanism *mechanism)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i] == mechanism)
            return config->mechanism_params[i];
    return NULL;
}

void *oche_world_make(size_t count, size_t bytes)
{
    size_t total = oche_lines(count * bytes);
    void *memory = aligned_alloc(OCHE_CACHE_LINE, total == 0 ? OCHE_CACHE_LINE : total);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for the world");
    memset(memory, 0, total);
    return memory;
}

void *oche_world_make_sparse(size_t count, size_t bytes)
{
    void *memory = oche_sparse_take(count * bytes);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for the world");
    return memory;
}

/* ---- network ---- */

static bool has_telemetry(const struct oche_world_config *config)
{
    return config->endpoint == NULL && config->cc->headers != NULL &&
           config->cc->headers->telemetry;
}

static bool build_network(struct oche_world *world, struct oche_error *error)
{
    const struct oche_topology *topology = &world->topology;
    uint32_t nodes = oche_topology_nodes(topology);
    uint32_t *degree = oche_world_make(nodes, sizeof(*degree));
    uint16_t *part = oche_world_make(nodes, sizeof(*part));
    uint32_t parts = oche_world_split_nodes(world, part);

    for (uint32_t i = 0; i < nodes; i++)
        degree[i] = topology->nodes[i].port_count;
    bool made = oche_network_init(&world->network, topology->host_count, topology->switch_count,
                                  degree, parts);
    free(degree);
    if (!made) {
        free(part);
        return oche_fail(error, "topology: too large; at most %u nodes of %u ports",
                         OCHE_MAX_NODES - 1, OCHE_MAX_PORTS);
    }
    if (world->config->together)
        world->network.pace.always = world->network.pace.together = true;
    world->network.in_order = world->config->in_order;
    if (has_telemetry(world->config))
        for (uint32_t i = 0; i < world->network.shard_count; i++)
            oche_packet_pool_add_telemetry(&world->network.shards[i].pool);
    for (uint32_t i = 0; i < nodes; i++)
        oche_network_assign(&world->network, i, part[i]);
    free(part);
    if (world->config->mail != NULL)
        oche_ranks_create(&world->network, &world->flows, world->config->mail);
    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];
        oche_network_link(&world->network, link->a, link->port_a, link->b, link->port_b,
                          link->rate_bps, link->delay);
    }
    if (world->config->record_schedule) {
        world->network.pace.always = world->network.pace.together = false;
        world->network.schedule = oche_schedule_create(&world->network);
    }
    return true;
}

const void *oche_world_endpoint_params(const struct oche_world_config *config)
{
    return config->endpoint != NULL ? config->endpoint_params : config->cc;
}

/* Returns by how much the name of a group of senders, and their list, lengthen a packet at most. */
static uint32_t group_bytes(const struct oche_world_config *config)
{
    uint32_t most = 0;

    if (config->endpoint != NULL || config->cc->messages == NULL ||
        config->cc->messages->names_groups == NULL ||
        !config->cc->messages->names_groups(config->cc_params))
        return 0;
    for (uint32_t i = 0; i < config->workload_count; i++) {
        const struct oche_workload_config *workload = &config->workloads[i];
        uint32_t senders = workload->type->group_senders == NULL
                               ? 0
                               : workload->type->group_senders(workload->params);
        /* A group of one is not named, and the list of too many is left out. */
        uint32_t list = senders > OCHE_GROUP_MOST ? 0 : oche_list_bytes_of(senders);

        if (senders > 1 && OCHE_GROUP_BYTES + list > most)
            most = OCHE_GROUP_BYTES + list;
    }
    return most;
}

struct oche_endpoint_packets oche_world_packets(const struct oche_world_config *config)
{
    const struct oche_endpoint *endpoint =
        config->endpoint != NULL ? config->endpoint : &oche_endpoint_rnic;
    struct oche_endpoint_packets packets;

    endpoint->packets(&config->hosts, oche_world_endpoint_params(config), &packets);
    packets.frame_bytes += group_bytes(config);
    return packets;
}

bool oche_world_lossless(const struct oche_world_config *config)
{
    return oche_world_packets(config).lossless_classes != 0;
}

uint64_t *oche_world_onward(const struct oche_world *world,
                            const struct oche_topology_routes *routes)
{
    uint64_t *bits, *next;
    size_t words = 0;

    for (uint32_t i = 0; i < world->topology.switch_count; i++)
        words += oche_topology_onward_words(routes, i);
    bits = next = oche_world_make(words, sizeof(*bits));
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        oche_topology_onward(routes, i, next);
        next += oche_topology_onward_words(routes, i);
    }
    return bits;
}

/* If a mechanism deflects, computes world->onward: which ports lead on to which hosts. */
static void find_onward(struct oche_world *world)
{
    bool wanted = false;

    for (uint32_t i = 0; i < world->config->mechanism_count; i++)
        wanted = wanted || (world->config->mechanisms[i]->route != NULL &&
                            !world->config->mechanisms[i]->balances);
    if (!wanted)
        return;
    world->onward = oche_world_onward(world, &world->used_routes);
}

static const uint64_t *onward_of(const struct oche_world *world, uint32_t number)
{
    const uint64_t *bits = world->onward;

    for (uint32_t i = 0; bits != NULL && i < number; i++)
        bits += oche_topology_onward_words(&world->used_routes, i);
    return bits;
}

/* Checks that switches have the mechanism that the congestion control needs. */
static bool check_needed(const struct oche_world_config *config, struct oche_error *error)
{
    const char *needed = oche_world_needed_mechanism(config);

    if (needed == NULL || oche_world_mechanism(config, oche_switch_mechanism_find(needed)) != NULL)
        return true;
    return oche_fail(error, "switch.mechanisms: congestion_control %s needs %s",
                     oche_world_scheme_name(config), needed);
}

/*
 * Counts the classes: the lanes for data (one, or the number that a mechanism needs), and control
 * for the answers.
 */
static bool count_classes(struct oche_world *world, struct oche_error *error)
{
    unsigned lanes = 1;

    if (!check_needed(world->config, error))
        return false;
    for (uint32_t i = 0; i < world->config->mechanism_count; i++) {
        const struct oche_switch_mechanism *mechanism = world->config->mechanisms[i];
        const void *params = world->config->mechanism_params[i];
        const char *why = mechanism->check != NULL ? mechanism->check(params) : NULL;

        if (why != NULL)
            return oche_fail(error, "%s.%s", mechanism->name, why);
        if (mechanism->lanes != NULL && mechanism->lanes(params) > lanes)
            lanes = mechanism->lanes(params);
    }
    world->lanes = (uint8_t)lanes;
    world->class_count = (uint8_t)(lanes + 1 + (world->config->hosts.priority_bytes > 0));
    if (world->config->hosts.priority_bytes == 0)
        return true;
    if (world->config->endpoint != NULL)
        return oche_fail(error,
                         "host.priority_upto: is for queue pairs, not for %s; 0, or another "
                         "congestion_control",
                         world->config->endpoint->name);
    if (lanes > 1)
        return oche_fail(
            error, "host.priority_upto: short messages have lanes already, and these no priority; "
                   "0, or iofd.lanes: one");
    return true;
}

/*
 * Returns the mask of lossless classes. `of_endpoint` is the mask for an endpoint's two classes,
 * data and control; all lanes are treated like data.
 */
static uint8_t lossless_classes(const struct oche_world *world, uint8_t of_endpoint)
{
    unsigned control = world->class_count - 1U, lossless = 0;

    if (of_endpoint >> OCHE_DATA_CLASS & 1)
        lossless |= (1U << control) - 1;
    if (of_endpoint >> OCHE_CONTROL_CLASS & 1)
        lossless |= 1U << control;
    return (uint8_t)lossless;
}

void oche_world_switch_config(const struct oche_world *world, uint32_t number,
                              struct oche_switch_config *config,
                              struct oche_switch_port_config *ports)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_endpoint_packets packets = oche_world_packets(world->config);
    uint32_t node = topology->host_count + number;

    *config = (struct oche_switch_config){
        .params = oche_world_of_tier(world->config, topology->nodes[node].kind),
        .node = oche_topology_place_of(topology, node),
        .seed = world->config->seed,
        .port_count = topology->nodes[node].port_count,
        .ports = ports,
        .class_count = world->class_count,
        .lossless_classes = lossless_classes(world, packets.lossless_classes),
        .lanes = world->lanes,
        .mtu_frame_bytes = packets.frame_bytes,
        .answer_frame_bytes = packets.ack_bytes,
        .tier = oche_world_symmetric(world->config) ? oche_topology_tier(topology, node) : 0,
        .routes = world->used_routes.of[number],
        .links_fail = world->failures != NULL,
        .up_down = oche_world_is_up_down(world),
        .onward = onward_of(world, number),
        .groups = world->used_routes.group_count,
        .mechanisms = world->config->mechanisms,
        .mechanism_params = world->config->mechanism_params,
        .mechanism_count = world->config->mechanism_count,
    };
    for (uint32_t port = 0; port < config->port_count; port++) {
        const struct oche_topology_link *link = oche_topology_port_link(topology, node, port);
        ports[port] = (struct oche_switch_port_config){
            .rate_bps = link->rate_bps,
            .delay = link->delay,
            .place = (uint8_t)oche_topology_place(topology, node, port),
            .up = oche_topology_is_up(topology, node, port),
            .peer_response = oche_topology_port(topology, node, port)->peer < topology->host_count
                                 ? world->config->hosts.pfc_response
                                 : world->config->switches.pfc_response};
    }
}

static bool check_switch(const struct oche_world *world, const struct oche_topology_node *node,
                         const struct oche_switch_config *config, struct oche_error *error)
{
    const char *tier = world->config->topology->tiers[node->kind], *name = node->name;
    struct oche_error why;

    if (!oche_switch_check(config, &why) && config->params != &world->config->switches)
        return oche_fail(error, "switch.%s.%s (at %s)", tier, why.text, name);
    if (!oche_switch_check(config, &why))
        return oche_fail(error, "switch: %s (at %s)", why.text, name);
    for (uint32_t i = 0; i < config->mechanism_count; i++) {
        const struct oche_switch_mechanism *mechanism = config->mechanisms[i];

        if (mechanism->fits == NULL || mechanism->fits(config, config->mechanism_params[i], &why))
            continue;
        return oche_fail(error, "%s.%s (at %s)", mechanism->name, why.text, name);
    }
    return true;
}

/* Checks that the topology has switches of every tier that has settings of its own. */
static bool check_tiers(const struct oche_world *world, struct oche_error *error)
{
    const struct oche_topology *topology = &world->topology;
    const struct oche_world_config *config = world->config;
    bool there[OCHE_NODE_KINDS] = {false};
    char list[128] = "";
    size_t used = 0;

    for (uint32_t i = topology->host_count; i < oche_topology_nodes(topology); i++)
        there[topology->nodes[i].kind] = true;
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (there[kind] && config->topology->tiers[kind] != NULL)
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                                     config->topology->tiers[kind]);
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (config->tiers[kind] != NULL && !there[kind])
            return oche_fail(error,
                             "switch.%s: this %s has no switch of that tier; its tiers are %s",
                             config->topology->tiers[kind], config->topology->name, list);
    return true;
}

static bool build_switches(struct oche_world *world, struct oche_error *error)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];

    if (!check_tiers(world, error))
        return false;
    find_onward(world);
    world->switches = oche_world_make(topology->switch_count, sizeof(struct oche_switch *));
    /* In the order of names, so that of several errors the same one is told in any order. */
    for (uint32_t place = 0; place < topology->switch_count; place++) {
        uint32_t node = oche_topology_at_place(topology, topology->host_count + place);
        uint32_t i = node - topology->host_count;
        struct oche_switch_config config;

        oche_world_switch_config(world, i, &config, ports);
        if (!check_switch(world, &topology->nodes[node], &config, error))
            return false;
        if (!oche_world_has(world, node))
            continue;
        struct oche_arena *arena = &oche_network_shard_of(&world->network, node)->arena;
        world->switches[i] =
            oche_switch_create(oche_arena_take(arena, oche_switch_bytes(&config)), &config);
        for (uint32_t port = 0; port < config.port_count; port++) {
            struct oche_port *end =
                &world->network.ports[world->network.nodes[node].first_port + port];

            end->device = world->switches[i];
            if (oche_world_mechanism(world->config, &oche_iofd) != NULL)
                end->flags |= OCHE_PORT_DEFLECTS;
        }
    }
    return true;
}

/* ---- flows and hosts ---- */

/*
 * Returns the facts from which workloads compute flows. Whatever the hosts' endpoint is, load
 * counts the bytes that the flows would put on the line as RoCEv2 packets with host.mtu, so that
 * all schemes are offered the same flows.
 */
struct oche_workload_facts oche_world_workload_facts(const struct oche_world *world)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_endpoint_packets packets;

    oche_endpoint_rnic.packets(&world->config->hosts, NULL, &packets);
    return (struct oche_workload_facts){
        .host_count = topology->host_count,
        .topology = topology,
        .rates = world->host_rates,
        .mtu_bytes = packets.payload_bytes,
        .header_bytes = packets.frame_bytes + OCHE_GAP_BYTES - packets.payload_bytes,
        .no_verbs = world->config->endpoint == NULL ? NULL : world->config->endpoint->name,
        .seed = world->config->seed,
    };
}

/* Returns the tokens and limits that senders give to messages; all 0 if switches do not deflect. */
static struct oche_deflection deflection_of(const struct oche_world_config *config)
{
    const struct oche_iofd_params *iofd = oche_world_mechanism(config, &oche_iofd);

    if (iofd == NULL)
        return (struct oche_deflection){.tokens = 0};
    return (struct oche_deflection){.tokens = (uint8_t)iofd->tokens,
                                    .short_bytes = (uint32_t)iofd->short_bytes,
                                    .hold = iofd->hold,
                                    .follow = iofd->order == OCHE_IOFD_FOLLOW,
                                    .linger = iofd->linger};
}

static const void *mechanism_of_endpoint(const struct oche_world_config *config)
{
    if (config->endpoint == NULL || config->endpoint->switch_mechanism == NULL)
        return NULL;
    return oche_world_mechanism(config,
                                oche_switch_mechanism_find(config->endpoint->switch_mechanism));
}

static bool build_hosts(struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    uint32_t count = world->topology.host_count;

    if (oche_world_mechanism(config, &oche_iofd) != NULL || config->measure.ways) {
        world->flows.paths =
            oche_world_make_sparse(world->flows.count, sizeof(*world->flows.paths));
        world->paths_before =
            oche_world_make_sparse(world->flows.count, sizeof(*world->paths_before));
    }

    world->host_params = config->hosts;
    world->host_params.ack_timeout = oche_world_ack_timeout(world);
    world->recovery_params = oche_world_recovery_params(world);
    world->endpoint_params = oche_world_fit_endpoint(world);
    world->cc_params = oche_world_fit_cc(world);
    if (!oche_world_fit_nics(world, error))
        return false;
    world->shared = (struct oche_host_shared){
        .params = &world->host_params,
        .endpoint = config->endpoint,
        .endpoint_params = oche_world_fitted_endpoint(world),
        .mechanism_params = mechanism_of_endpoint(config),
        .cc = config->cc,
        .cc_params = oche_world_fitted_cc(world),
        .recovery = config->recovery,
        .recovery_params = world->recovery_params,
        .flows = &world->flows,
        .seed = config->seed,
        .control_class = (uint8_t)(world->class_count - 1),
        .priority_class = (uint8_t)(world->class_count - 2),
        .deflection = deflection_of(config),
        .credits = oche_world_mechanism(config, &oche_ib_credits),
        .frame_bytes = oche_world_packets(config).frame_bytes,
        .payload = config->run.payload,
        .slow = world->slow_hosts,
        .jobs = world->jobs,
        .nic = world->nics,
        .nic_of = world->nics_of,
        .places = world->topology.by_name == NULL
                      ? NULL
                      : world->topology.by_name + oche_topology_nodes(&world->topology),
        .lossy = !config->switches.pfc || config->loss.probability > 0 ||
                 config->loss.pattern != NULL || config->loss.late > 0 ||
                 config->scripted.file != NULL || config->failure_count > 0 ||
                 config->receiver_count > 0 || oche_world_nics_buffer(world),
    };
    world->hosts = oche_world_make(count, sizeof(struct oche_host *));
    for (uint32_t i = 0; i < count; i++)
        if (oche_world_has(world, i))
            world->hosts[i] = oche_host_create(&world->network, i, &world->shared);
    world->nic_before = oche_world_make(count, sizeof(*world->nic_before));
    world->counted_before =
        oche_world_make((size_t)count * OCHE_MOST_COUNTERS, sizeof(*world->counted_before));
    world->late_before = oche_world_make(count, sizeof(*world->late_before));
    return true;
}

/* ---- loss, taps ---- */

static bool loses(const struct oche_world *world, uint32_t number, uint32_t chosen)
{
    const struct oche_port *port = &world->network.ports[number];
    bool to_host = (world->network.ports[port->peer].flags & OCHE_PORT_HOST) != 0;
    bool from_host = (port->flags & OCHE_PORT_HOST) != 0, host_link = to_host || from_host;

    if (chosen != UINT32_MAX)
        return number == chosen;
    switch ((enum oche_loss_where)world->config->loss.where) {
    case OCHE_LOSS_ALL_LINKS:
        return true;
    case OCHE_LOSS_HOST_LINKS:
        return host_link;
    case OCHE_LOSS_SWITCH_LINKS:
        return !host_link;
    case OCHE_LOSS_LAST_HOP:
        return to_host;
    case OCHE_LOSS_FIRST_HOP:
        return from_host;
    }
    return false;
}

/* Makes the links deliver packets late. `entities`: by port, for random streams. */
static void build_late(struct oche_world *world, uint32_t chosen, const uint32_t *entities)
{
    const struct oche_loss_params *params = &world->config->loss;

    if (params->late == 0)
        return;
    for (uint32_t i = 0; i < world->network.port_count; i++) {
        struct oche_port_extra *extra = &world->network.extras[i];

        if (world->network.ports[i].peer == UINT32_MAX || !loses(world, i, chosen))
            continue;
        extra->late = oche_late_create(
            oche_arena_take(&world->network.shards[0].arena,
                            oche_late_bytes(params->late, params->late_most, extra->rate_bps)),
            params->late, params->late_least, params->late_most, extra->rate_bps,
            world->config->seed, entities[i]);
    }
}

/* Makes the links lose packets. */
static void build_losses(struct oche_world *world, uint32_t chosen, const uint32_t *entities)
{
    const struct oche_loss_params *params = &world->config->loss;
    size_t stride = (oche_loss_bytes(params->pattern) + 7) & ~(size_t)7;

    world->losses = oche_world_make(world->network.port_count, stride);
    for (uint32_t i = 0; i < world->network.port_count; i++) {
        if (world->network.ports[i].peer == UINT32_MAX || !loses(world, i, chosen))
            continue;
        world->network.extras[i].loss =
            oche_loss_create(world->losses + i * stride, params->probability, params->pattern,
                             world->config->seed, entities[i]);
    }
}

static bool build_loss(struct oche_world *world, struct oche_error *error)
{
    const struct oche_loss_params *params = &world->config->loss;
    uint32_t chosen = UINT32_MAX, node, local;
    struct oche_error why;

    if (params->port != NULL) {
        if (!oche_topology_find_port(&world->topology, params->port, &node, &local, &why))
            return oche_fail(error, "loss.port: %s", why.text);
        chosen = world->network.nodes[node].first_port + local;
    }
    if (!oche_loss_check(params->pattern, &why))
        return oche_fail(error, "loss.pattern: %s", why.text);
    if (params->late > 0 && params->late_most < params->late_least)
        return oche_fail(error, "loss.late_most: less than loss.late_least; write as much or more");
    if (params->late == 0 && params->probability == 0 && params->pattern == NULL)
        return true;
    uint32_t *entities = oche_topology_ports_by_name(&world->topology);

    OCHE_GOT(entities != NULL);
    build_late(world, chosen, entities);
    if (params->probability > 0 || params->pattern != NULL)
        build_losses(world, chosen, entities);
    free(entities);
    return true;
}

static void build_taps(struct oche_world *world)
{
    const struct oche_world_config *config = world->config;

    world->network.tap = config->tap;
    world->network.tap_context = config->tap_context;
    for (uint32_t i = 0; i < config->tap_port_count; i++) {
        uint32_t number = config->tap_ports[i];

        world->network.extras[number].tap = true;
        /*
         * The capture also sees packets that arrive at this port, at the time when the far end
         * sends them.
         */
        world->network.ports[world->network.ports[number].peer].flags |= OCHE_PORT_SPECIAL;
    }
}

/* ---- the whole world ---- */

static bool build_topology(struct oche_world *world, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    struct oche_error why;

    if (config->topology->check != NULL && !config->topology->check(config->topology_params, &why))
        return oche_fail(error, "topology.%s", why.text);
    if (!config->topology->build(config->topology_params, &world->topology, error))
        return false;
    oche_world_rate_hosts(world);
    const char *wrong =
        config->cc == NULL || config->cc->advice == NULL || config->cc->advice->check_hosts == NULL
            ? NULL
            : config->cc->advice->check_hosts(config->cc_params, world->topology.host_count);

    if (wrong != NULL)
        return oche_fail(error, "congestion_control.%s", wrong);
    if (!oche_topology_route(&world->topology, &world->routes, error))
        return false;
    world->used_routes = world->routes;
    oche_world_measure_network(world);
    if (!oche_world_has_static_routes(config))
        return true;
    if (!oche_static_routes_read(&world->routes, config->routes.file, &world->static_routes, error))
        return false;
    world->used_routes = (struct oche_topology_routes){.topology = &world->topology,
                                                       .group_count = world->static_routes.groups,
                                                       .of = world->static_routes.of};
    return true;
}

/* Checks what the rows of `host` ask of the endpoint, and that it can do `bytes`. */
static bool check_endpoint(const struct oche_world_config *config, struct oche_error *error)
{
    struct oche_error why;

    for (size_t i = 0; i < oche_host_params.count; i++) {
        const struct oche_param *param = &oche_host_params.params[i];

        if (param->check != NULL && !param->check(&config->hosts, config->endpoint, &why))
            return oche_fail(error, "host.%s: %s", param->name, why.text);
    }
    if (config->endpoint == NULL || config->endpoint->roce || config->endpoint->encode != NULL ||
        !config->run.bytes)
        return true;
    return oche_fail(
        error, "bytes: the packets of congestion_control %s have no form as bytes; make this false",
        config->endpoint->name);
}

struct oche_world *oche_world_create(const struct oche_world_config *config,
                                     struct oche_error *error)
{
    struct oche_world *world = oche_world_make(1, sizeof(*world));

    world->config = config;
    if (!check_endpoint(config, error) || !count_classes(world, error) ||
        !build_topology(world, error) || !oche_world_build_nics(world, error) ||
        !oche_world_build_flows(world, oche_world_workload_facts(world), error) ||
        !oche_world_check_order(world, error) || !build_network(world, error) ||
        !oche_world_failures_find(world, error) || !build_switches(world, error) ||
        !oche_world_build_slow_hosts(
            world, lossless_classes(world, oche_world_packets(config).lossless_classes), error) ||
        !oche_world_pin_flows(world, error) || !oche_world_check_symmetry(world, error) ||
        !build_loss(world, error) || !oche_world_build_events(world, error) ||
        !oche_world_failures_build(world, error) || !oche_world_build_watches(world, error)) {
        oche_world_free(world);
        return NULL;
    }
    world->network.bytes_mode = config->run.bytes;
    world->network.endpoint = config->endpoint;
    world->network.ipv6 = config->hosts.ipv6;
    if (config->events != NULL && !oche_event_log_attach(config->events, &world->network,
                                                         &world->topology, &world->flows, error)) {
        oche_world_free(world);
        return NULL;
    }
    if (!build_hosts(world, error)) {
        oche_world_free(world);
        return NULL;
    }
    build_taps(world);
    oche_world_load_plan(world);
    world->line_before = oche_world_make(world->network.port_count, sizeof(uint64_t));
    world->lost_before = oche_world_make(world->network.port_count, sizeof(uint64_t));
    oche_world_causes_start(world);
    oche_world_pauses_start(world);
    world->grey_before = oche_world_make(world->network.port_count, sizeof(uint64_t));
    world->cut_before = oche_world_make(world->network.port_count, sizeof(uint64_t));
    oche_network_ready(&world->network);
    oche_network_begin_changes(&world->network);
    for (uint32_t i = 0; i < world->topology.host_count; i++)
        if (oche_world_has(world, i))
            oche_host_begin(world->hosts[i]);
    for (uint32_t i = 0; i < world->topology.switch_count; i++)
        if (oche_world_has_switch(world, i))
            oche_switch_node_begin(&world->network, world->topology.host_count + i);
    if (config->events != NULL)
        oche_event_log_write(config->events);
    return world;
}

const struct oche_jobs *oche_world_jobs(const struct oche_world *world)
{
    return &world->jobs;
}

void oche_world_free(struct oche_world *world)
{
    if (world == NULL)
        return;
    oche_world_series_free(world);
    oche_world_longest_free(world);
    oche_world_slowest_free(world);
    oche_world_stall_free(world);
    oche_world_causes_free(world);
    oche_world_pauses_free(world);
    oche_world_failures_free(world);
    oche_world_gathered_free(world);
    oche_world_load_free(world);
    for (uint32_t i = 0; i < world->watched_count; i++)
        free(world->watched[i].watch.time);
    free(world->hosts);
    oche_world_free_nics(world);
    oche_world_free_slow_hosts(world);
    free(world->switches);
    free(world->thread_split.parts);
    oche_world_free_rates(world);
    free(world->onward);
    free(world->losses);
    free(world->failed);
    free(world->scripted.list);
    free(world->watched);
    free(world->nic_before);
    free(world->counted_before);
    free(world->recovery_params);
    free(world->endpoint_params);
    free(world->cc_params);
    free(world->line_before);
    free(world->lost_before);
    free(world->cut_before);
    free(world->grey_before);
    free(world->late_before);
    oche_sparse_free(world->flow_before);
    oche_sparse_free(world->paths_before);
    oche_flows_free(&world->flows);
    oche_jobs_free(&world->jobs);
    if (world->network.shards != NULL)
        oche_network_free(&world->network);
    oche_static_routes_free(&world->static_routes);
    oche_topology_routes_free(&world->routes);
    oche_topology_free(&world->topology);
    free(world);
}
