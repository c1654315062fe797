/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a fluid model's input from a scenario. The bottleneck is the link to the receiver. The
 * model's packet is as long as a full packet in the middle of a message is on the line, because the
 * byte counter and the rates count bytes on the line. The feedback delay is a round trip on the
 * empty path: from the mark at the last switch to the receiver, with the CNP to the sender, and
 * with the first slower packets back to that switch. If there are several senders, it is the delay
 * of the furthest sender. Flows are greedy: they never end.
 */
#include "lab/fluid/scene.h"

#include <stdio.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/cc/dcqcn.h"
#include "core/wire/opcode.h"
#include "params/error.h"
#include "params/units.h"
#include "sim/world/derived.h"
#include "sim/world/world.h"

enum oche_fluid_name oche_fluid_scene_model(const struct oche_scenario *scenario)
{
    for (unsigned i = 0; i < OCHE_FLUID_NAMES; i++)
        if (strcmp(oche_fluid_names[i], oche_world_scheme_name(&scenario->config)) == 0)
            return i;
    return OCHE_FLUID_NAMES;
}

/* Adds a word to the list "a, b, …"; leaves it out if there is no room. */
static void add_word(char *list, size_t bytes, const char *word)
{
    size_t used = strlen(list);

    snprintf(list + used, bytes - used, "%s%s", used > 0 ? ", " : "", word);
}

/* ---- parameters ---- */

static bool is_given(const struct oche_bound *bound, const char *name)
{
    return bound->node != NULL && bound->node->kind == OCHE_YAML_MAP &&
           oche_yaml_find(bound->node, name) != NULL;
}

/*
 * Copies TIMELY's parameters to the model, which has them under the same names. Returns false if
 * the model does not allow a value.
 */
static bool take_timely(struct oche_fluid_model *model, const struct oche_bound *scheme,
                        const struct oche_document *document, struct oche_error *error)
{
    for (size_t i = 0; i < model->row_count; i++) {
        const struct oche_param *to = model->rows[i].param;
        const struct oche_param *from = oche_param_find(scheme->table, to->name);
        char range[256], message[512];

        if (from == NULL)
            continue;
        union oche_value value = oche_param_get(from, scheme->values);

        if (from->automatic && value.u == OCHE_NEVER)
            continue; /* take_derived */
        OCHE_MUST(from->unit == to->unit);
        if (!oche_param_in_range(to, value)) {
            oche_value_range(to, range, sizeof(range));
            snprintf(message, sizeof(message), "%s: the fluid model takes %s", to->name, range);
            return oche_bound_fail(document, scheme, message, error);
        }
        oche_param_set(to, model->rows[i].values, value);
    }
    return true;
}

static bool take_dcqcn(struct oche_fluid_model *model, const struct oche_scenario *scenario,
                       const struct oche_bound *scheme, struct oche_error *error)
{
    const struct dcqcn_params *params = scheme->values;

    if (params->preset != OCHE_PRESET_PAPER || params->mode != 0)
        return oche_bound_fail(scenario->document, scheme,
                               params->preset != OCHE_PRESET_PAPER
                                   ? "preset: the model is one of the paper's algorithm, not of "
                                     "NICs in use; set preset: paper and mode: paper, or defaults: "
                                     "paper"
                                   : "mode: the model is one of the paper's algorithm; set mode: "
                                     "paper",
                               error);
    memcpy(model->scheme, scheme->values, scheme->table->struct_bytes);
    return true;
}

static bool take_parameters(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                            const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_bound *scheme = oche_bindings_find(&scenario->bindings, "congestion_control");

    if (oche_fluid_scene_model(scenario) != model->name)
        /* only the link and the flows are wanted, not the scheme's parameters */
        return true;
    if (!(model->name == OCHE_FLUID_DCQCN ? take_dcqcn(model, scenario, scheme, error)
                                          : take_timely(model, scheme, scenario->document, error)))
        return false;
    for (size_t i = 0; i < scheme->table->count; i++) {
        const char *name = scheme->table->params[i].name;

        if (is_given(scheme, name) && !oche_fluid_model_has(model, name) &&
            strcmp(name, OCHE_PRESET) != 0 && strcmp(name, "mode") != 0)
            add_word(scene->left_out, sizeof(scene->left_out), name);
    }
    return true;
}

/* ---- flows ---- */

/*
 * Returns the host called `name`; if `name` is NULL, the only receiver. Returns UINT32_MAX, with an
 * error, if there is no such host or more than one receiver.
 */
static uint32_t find_receiver(const struct oche_world *world, const char *name, const char *remedy,
                              struct oche_error *error)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_flow_walk walk = oche_flow_walk(oche_world_flows(world));
    const struct oche_flow_plan *plan;
    uint32_t wanted = name == NULL ? UINT32_MAX : oche_topology_find(topology, name);
    uint32_t found = UINT32_MAX;

    if (name != NULL && wanted >= topology->host_count) {
        oche_fail(error, "--receiver %s: no host of this topology; there are %s to %s", name,
                  topology->nodes[0].name, topology->nodes[topology->host_count - 1].name);
        return UINT32_MAX;
    }
    while ((plan = oche_flow_walk_next(&walk)) != NULL) {
        uint32_t receiver = plan->dst;

        if (wanted != UINT32_MAX && receiver != wanted)
            continue;
        if (found != UINT32_MAX && receiver != found) {
            oche_fail(error,
                      "workload[0]: flows go to %s and %s, and the model has one bottleneck; %s",
                      topology->nodes[found].name, topology->nodes[receiver].name, remedy);
            return UINT32_MAX;
        }
        found = receiver;
    }
    if (found == UINT32_MAX)
        oche_fail(error, "workload[0]: no flow goes to %s; the model needs one",
                  name != NULL ? name : "any host");
    return found;
}

/*
 * Returns the time from a mark at the receiver's switch until packets of the reduced rate arrive
 * there.
 */
static oche_time loop_delay(const struct oche_world *world, uint32_t src, uint32_t dst,
                            uint32_t line_bytes)
{
    const struct oche_topology_routes *routes = oche_world_routes(world);
    bool ipv6 = oche_world_config(world)->hosts.ipv6;
    struct oche_path there, back;

    oche_topology_path(routes, src, dst, &there);
    oche_topology_path(routes, dst, src, &back);
    return oche_path_round_trip(&there, &back, line_bytes,
                                oche_frame_bytes(OCHE_CNP, 0, ipv6) + OCHE_GAP_BYTES);
}

static bool add_flow(struct oche_fluid_scene *scene, const struct oche_world *world,
                     const struct oche_flow_plan *flow, uint64_t capacity_bps)
{
    const struct oche_topology *topology = oche_world_topology(world);
    uint64_t rate = oche_topology_port_link(topology, flow->src, 0)->rate_bps;

    if (flow->initial_rate_bps != 0 && flow->initial_rate_bps < rate)
        rate = flow->initial_rate_bps;
    if (rate > capacity_bps)
        rate = capacity_bps;
    return oche_fluid_flows_add(&scene->flows, (double)rate, (double)flow->start / (double)OCHE_SEC,
                                1);
}

/* Takes the flows to `receiver`. Sets *delay to the loop delay of the furthest sender. */
static bool take_flows(struct oche_fluid_scene *scene, const struct oche_world *world,
                       uint32_t receiver, uint64_t capacity_bps, uint32_t line_bytes,
                       oche_time *delay, struct oche_error *error)
{
    struct oche_flow_walk walk = oche_flow_walk(oche_world_flows(world));
    const struct oche_flow_plan *flow;
    uint64_t later = 0;
    bool supplied = false;

    *delay = 0;
    while ((flow = oche_flow_walk_next(&walk)) != NULL) {
        if (flow->dst != receiver)
            continue;
        if (flow->start == OCHE_NEVER) {
            later++;
            continue;
        }
        supplied |= flow->supply_bps > 0;
        oche_time own = loop_delay(world, flow->src, receiver, line_bytes);

        *delay = own > *delay ? own : *delay;
        if (!add_flow(scene, world, flow, capacity_bps))
            return oche_fail(error, "workload[0]: more than %d flows go there; write fewer",
                             OCHE_FLUID_MOST_FLOWS);
    }
    add_word(scene->left_out, sizeof(scene->left_out), "sizes of flows");
    if (supplied)
        add_word(scene->left_out, sizeof(scene->left_out), "the rate at which flows are made");
    if (later > 0) {
        char note[64];

        snprintf(note, sizeof(note), "%llu flows that begin after others",
                 (unsigned long long)later);
        add_word(scene->left_out, sizeof(scene->left_out), note);
    }
    if (scene->flows.count > 0)
        return true;
    return oche_fail(error, "workload[0]: all flows begin after others; the model needs a start");
}

/*
 * If the thresholds come from the scenario's scheme, sets the model's base_rtt to the round trip on
 * the empty path. A NIC compares the whole round trip, without the packet's serialisation at the
 * sender, with its thresholds; the model by default compares only the queueing delay.
 */
static void take_base_rtt(struct oche_fluid_model *model, const struct oche_world *world,
                          uint32_t receiver, uint32_t line_bytes, oche_time delay)
{
    struct oche_flow_walk walk = oche_flow_walk(oche_world_flows(world));
    const struct oche_flow_plan *plan;
    const struct oche_topology *topology = oche_world_topology(world);
    oche_time leaving = OCHE_NEVER;

    if (model->name == OCHE_FLUID_DCQCN || strcmp(oche_world_scheme_name(oche_world_config(world)),
                                                  oche_fluid_names[model->name]) != 0)
        return;
    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        if (plan->dst == receiver)
            leaving = oche_time_min(
                leaving,
                oche_time_of_bytes(line_bytes,
                                   oche_topology_port_link(topology, plan->src, 0)->rate_bps));
    model->timely_params.base_rtt = delay > leaving ? delay - leaving : 0;
}

/* Lists what affects the packet simulation but is missing in the model's equations. */
static void note_differences(struct oche_fluid_scene *scene, const struct oche_fluid_model *model,
                             const struct oche_world_config *config,
                             const struct oche_switch_params *switches)
{
    for (size_t i = 0; i < oche_host_params.count; i++) {
        const struct oche_param *param = &oche_host_params.params[i];

        if ((param->traits & OCHE_PARAM_NOT_FLUID) && oche_param_get(param, &config->hosts).u != 0)
            add_word(scene->left_out, sizeof(scene->left_out), param->name);
    }
    if (model->name == OCHE_FLUID_DCQCN && switches->ecn_at == OCHE_ECN_AT_ENQUEUE)
        add_word(scene->left_out, sizeof(scene->left_out), "ecn_at");
    if (config->loss.probability > 0 || config->loss.pattern != NULL)
        add_word(scene->left_out, sizeof(scene->left_out), "loss");
    if (config->loss.late > 0)
        add_word(scene->left_out, sizeof(scene->left_out), "late packets");
    if (config->scripted.file != NULL)
        add_word(scene->left_out, sizeof(scene->left_out), "events");
    if (config->failure_count > 0)
        add_word(scene->left_out, sizeof(scene->left_out), "failures");
    if (config->receiver_count > 0)
        add_word(scene->left_out, sizeof(scene->left_out), "slow_receivers");
    if (config->storm_count > 0)
        add_word(scene->left_out, sizeof(scene->left_out), "pause_storms");
}

/* Puts the values that `auto` stands for on a line of `line_bps` in its place. */
static void take_automatic(struct oche_fluid_model *model, uint64_t line_bps)
{
    const struct oche_cc_scheme *scheme = oche_cc_find(oche_fluid_names[model->name]);
    struct oche_derived derived;

    for (size_t i = 0; i < scheme->table.count; i++) {
        const struct oche_param *param = &scheme->table.params[i];

        if (param->automatic && scheme->advice->derived(model->scheme, param, line_bps, &derived))
            oche_param_set(param, model->scheme, derived.value);
    }
}

/* Puts the values of `auto` of the scenario's scheme, which is also the model's, into the model. */
static void take_derived(struct oche_fluid_model *model, const struct oche_world *world,
                         uint64_t line_bps)
{
    const struct oche_cc_scheme *scheme = oche_world_config(world)->cc;
    struct oche_derived derived;

    for (size_t i = 0; i < model->row_count; i++) {
        const struct oche_param *to = model->rows[i].param;
        const struct oche_param *from = oche_param_find(&scheme->table, to->name);

        if (from != NULL && from->automatic &&
            scheme->advice->derived(oche_world_fitted_cc(world), from, line_bps, &derived))
            oche_param_set(to, model->rows[i].values, derived.value);
    }
}

/*
 * Takes how the switch at the bottleneck marks: all of it if the scenario has the model's scheme,
 * otherwise only the thresholds.
 */
static bool take_marking(struct oche_fluid_model *model, const struct oche_world *world,
                         const struct oche_switch_params *marking, struct oche_error *error)
{
    const char *scheme = oche_world_scheme_name(oche_world_config(world));

    if (model->name != OCHE_FLUID_DCQCN)
        return true;
    if (strcmp(scheme, oche_fluid_names[model->name]) == 0) {
        if (!marking->ecn)
            return oche_fail(error,
                             "switch.ecn: is false, and the model answers marks; set it to true");
        model->switches = *marking;
    }
    model->switches.kmin_bytes = marking->kmin_bytes;
    model->switches.kmax_bytes = marking->kmax_bytes;
    return true;
}

static bool take_world(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                       const struct oche_world *world, const char *receiver_name,
                       const char *remedy, struct oche_error *error)
{
    const struct oche_topology *topology = oche_world_topology(world);
    const struct oche_host_params *hosts = &oche_world_config(world)->hosts;
    uint32_t receiver = find_receiver(world, receiver_name, remedy, error);
    oche_time delay;

    if (receiver == UINT32_MAX)
        return false;
    uint32_t line_bytes =
        oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, (uint32_t)hosts->mtu_bytes, hosts->ipv6) +
        OCHE_GAP_BYTES;
    uint64_t capacity = oche_topology_port_link(topology, receiver, 0)->rate_bps;

    const struct oche_topology_port *port = oche_topology_port(topology, receiver, 0);
    struct oche_switch_params marking = oche_world_marking(world, port->peer, capacity);

    note_differences(scene, model, oche_world_config(world), &marking);
    if (!take_marking(model, world, &marking, error))
        return false;
    if (!take_flows(scene, world, receiver, capacity, line_bytes, &delay, error))
        return false;
    snprintf(scene->receiver, sizeof(scene->receiver), "%s", topology->nodes[receiver].name);
    oche_topology_port_name(topology, port->peer, port->peer_port, scene->bottleneck,
                            sizeof(scene->bottleneck));
    model->link = (struct oche_dcqcn_link_params){capacity, line_bytes, delay};
    if (model->name == OCHE_FLUID_DCQCN)
        take_automatic(model, capacity);
    else if (strcmp(oche_world_scheme_name(oche_world_config(world)),
                    oche_fluid_names[model->name]) == 0)
        take_derived(model, world, capacity);
    model->timely_params.capacity_bps = capacity;
    model->timely_params.packet_bytes = line_bytes;
    model->timely_params.delay = delay;
    take_base_rtt(model, world, receiver, line_bytes, delay);
    scene->payload_share = (double)hosts->mtu_bytes / (double)line_bytes;
    scene->all_flows = scene->flows.total == oche_world_flows(world)->count;
    for (uint32_t i = 0; i < oche_world_watch_count(world); i++) {
        const char *name;

        oche_world_watch(world, i, &name);
        scene->queue_watched |= strcmp(name, scene->bottleneck) == 0;
    }
    return true;
}

bool oche_fluid_scene_take(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                           const struct oche_scenario *scenario, const char *receiver,
                           const char *remedy, struct oche_error *error)
{
    struct oche_error message;

    const struct oche_world_config *config = &scenario->config;

    *scene = (struct oche_fluid_scene){
        .duration_s = (double)config->run.duration / (double)OCHE_SEC,
        .warmup_s = (double)config->run.warmup / (double)OCHE_SEC,
        .interval_s = (double)oche_measure_interval(config) / (double)OCHE_SEC,
    };
    if (!take_parameters(scene, model, scenario, error))
        return false;
    struct oche_world *world = oche_world_create(&scenario->config, &message);
    bool fine = world != NULL && take_world(scene, model, world, receiver, remedy, &message);

    oche_world_free(world);
    if (!fine) {
        oche_fluid_flows_free(&scene->flows);
        oche_scenario_place(scenario, message.text, error);
    }
    return fine;
}
