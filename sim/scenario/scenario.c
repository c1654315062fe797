/* SPDX-License-Identifier: Apache-2.0 */
/* From YAML to the configuration of a world: the one place that knows every registry. */
#include "sim/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/printable.h"
#include "sim/endpoint/registry.h"
#include "sim/world/world.h"

/* The keys at the root besides those of oche_run_params. */
struct head {
    const char *name, *description;
    uint64_t seed;
    uint32_t defaults; /* enum oche_preset */
    uint32_t model;    /* enum oche_scenario_model */
};

static const char *const models[] = {"packets", "fluid", "both", NULL};

static const struct oche_param head_params[] = {
    {OCHE_PARAM(struct head, name), OCHE_IS_TEXT,
     .help = "for tables and results; without it, the file's name"},
    {OCHE_PARAM(struct head, description), OCHE_IS_TEXT, .help = "what the scenario shows"},
    {OCHE_PARAM(struct head, seed), OCHE_IS_COUNT(1, 0, OCHE_MOST_SEED),
     .help = "names every random stream of the run"},
    {OCHE_PARAM(struct head, defaults), OCHE_IS_CHOICE(OCHE_PRESET_DEPLOYED, oche_preset_names),
     .where = "dcqcn.md#deployed",
     .help = "values that are not given: those of equipment in use, made for each line's rate, or "
             "the papers'"},
    {OCHE_PARAM(struct head, model), OCHE_IS_CHOICE(0, models), .where = "DCQCN sec 5.1",
     .help =
         "what a sweep computes a point by: packets, the fluid model of the congestion control, "
         "or packets and how far the model is from them"},
};
static const struct oche_param_table head_table = OCHE_PARAM_TABLE(head_params, struct head);

/* The sections, in the order in which they are bound and printed, also in struct oche_bindings. */
enum section {
    HEAD,
    RUN,
    TOPOLOGY,
    ROUTES,
    SWITCH,
    HOST,
    SCHEME,
    RECOVERY,
    WORKLOAD,
    LOSS,
    EVENTS,
    FAILURES,
    NICS,
    RECEIVERS,
    STORMS,
    MEASURE,
    MECHANISMS /* from here on: one for each mechanism in the registry, then tiers of switches */
};

/*
 * Lists the values of `congestion_control`: the RNIC's schemes, then the other endpoints. They form
 * one list so that one sweep can compare all of them.
 */
static size_t list_schemes(struct oche_schema *schema)
{
    size_t count = 0;

    for (; count < oche_cc_scheme_count; count++) {
        OCHE_MUST(count < OCHE_COUNT_OF(schema->schemes));
        schema->schemes[count] = (struct oche_variant){.name = oche_cc_schemes[count]->name,
                                                       .help = oche_cc_schemes[count]->paper,
                                                       .table = &oche_cc_schemes[count]->table,
                                                       .type = oche_cc_schemes[count]};
    }
    for (size_t i = 0; oche_endpoints[i] != NULL; i++, count++) {
        OCHE_MUST(count < OCHE_COUNT_OF(schema->schemes));
        schema->schemes[count] = (struct oche_variant){.name = oche_endpoints[i]->name,
                                                       .help = oche_endpoints[i]->paper,
                                                       .table = oche_endpoints[i]->table,
                                                       .type = oche_endpoints[i]};
    }
    return count;
}

static void list_registries(struct oche_schema *schema, size_t counts[4])
{
    size_t *topologies = &counts[0], *workloads = &counts[1];

    for (; oche_topology_types[*topologies] != NULL; ++*topologies) {
        const struct oche_topology_type *type = oche_topology_types[*topologies];

        OCHE_MUST(*topologies < OCHE_COUNT_OF(schema->topologies));
        schema->topologies[*topologies] = (struct oche_variant){
            .name = type->name, .help = type->help, .table = type->table, .type = type};
    }
    for (; oche_workload_types[*workloads] != NULL; ++*workloads) {
        const struct oche_workload_type *type = oche_workload_types[*workloads];

        OCHE_MUST(*workloads < OCHE_COUNT_OF(schema->workloads));
        schema->workloads[*workloads] = (struct oche_variant){.name = type->name,
                                                              .help = type->help,
                                                              .table = type->table,
                                                              .more = type->ends,
                                                              .type = type};
    }
    counts[2] = list_schemes(schema);
    counts[3] = oche_recovery_scheme_count;
    OCHE_MUST(counts[3] <= OCHE_COUNT_OF(schema->recoveries));
    for (size_t i = 0; i < counts[3]; i++)
        schema->recoveries[i] = (struct oche_variant){.name = oche_recovery_schemes[i]->name,
                                                      .help = oche_recovery_schemes[i]->paper,
                                                      .table = &oche_recovery_schemes[i]->table,
                                                      .wire = &oche_recovery_schemes[i]->wire_table,
                                                      .type = oche_recovery_schemes[i]};
}

/* Lists what topologies call their tiers of switches, each name once. */
static void list_tiers(struct oche_schema *schema)
{
    for (size_t i = 0; oche_topology_types[i] != NULL; i++)
        for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++) {
            const char *called = oche_topology_types[i]->tiers[kind];
            struct oche_schema_tier *tier = schema->tiers;
            char name[sizeof(tier->name)];

            if (called == NULL)
                continue;
            snprintf(name, sizeof(name), "switch.%s", called);
            while (tier < schema->tiers + schema->tier_count && strcmp(tier->name, name) != 0)
                tier++;
            if (tier == schema->tiers + schema->tier_count) {
                OCHE_MUST(schema->tier_count < OCHE_COUNT_OF(schema->tiers));
                schema->tier_count++;
                memcpy(tier->name, name, sizeof(name));
                snprintf(tier->help, sizeof(tier->help), "switches of this tier in");
            }
            size_t used = strlen(tier->help);

            snprintf(tier->help + used, sizeof(tier->help) - used, "%s %s",
                     strcmp(tier->help + used - 3, " in") == 0 ? "" : ",",
                     oche_topology_types[i]->name);
        }
}

/* Adds a section within `switch` for each tier. */
static void add_tiers(struct oche_schema *schema)
{
    list_tiers(schema);
    for (size_t i = 0; i < schema->tier_count; i++) {
        OCHE_MUST(schema->section_count < OCHE_COUNT_OF(schema->sections));
        schema->sections[schema->section_count++] =
            (struct oche_section){.name = schema->tiers[i].name,
                                  .help = schema->tiers[i].help,
                                  .table = &oche_switch_params,
                                  .optional = true,
                                  .within = &schema->sections[SWITCH]};
    }
}

static void add_mechanisms(struct oche_schema *schema)
{
    for (size_t i = 0; oche_switch_mechanisms[i] != NULL; i++) {
        OCHE_MUST(schema->section_count < OCHE_COUNT_OF(schema->sections));
        schema->sections[schema->section_count++] =
            (struct oche_section){.name = oche_switch_mechanisms[i]->name,
                                  .help = oche_switch_mechanisms[i]->help,
                                  .table = oche_switch_mechanisms[i]->params};
    }
}

void oche_schema_make(struct oche_schema *schema)
{
    size_t counts[4] = {0};

    list_registries(schema, counts);
    const struct oche_section sections[] = {
        [HEAD] = {.name = "", .help = "At the root: what it is", .table = &head_table},
        [RUN] = {.name = "", .help = "At the root: the run", .table = &oche_run_params},
        [TOPOLOGY] = {.name = "topology",
                      .help = "hosts, switches and links",
                      .selector = "type",
                      .variants = schema->topologies,
                      .variant_count = counts[0]},
        [ROUTES] = {.name = "routes",
                    .help = "ways that are not the shortest",
                    .table = &oche_routes_params},
        [SWITCH] = {.name = "switch", .help = "every switch", .table = &oche_switch_params},
        [HOST] = {.name = "host", .help = "every host's NIC", .table = &oche_host_params},
        [SCHEME] = {.name = "congestion_control",
                    .help = "the scheme of every queue pair, or a transport that is no RNIC's",
                    .selector = "name",
                    .variants = schema->schemes,
                    .variant_count = counts[2],
                    .preset = "dcqcn"},
        [RECOVERY] = {.name = "recovery",
                      .help = "what a lost packet leads to",
                      .selector = "name",
                      .variants = schema->recoveries,
                      .variant_count = counts[3],
                      .preset = "go_back_n"},
        [WORKLOAD] = {.name = "workload",
                      .help = "what the hosts want to send",
                      .selector = "type",
                      .variants = schema->workloads,
                      .variant_count = counts[1],
                      .list = true},
        [LOSS] = {.name = "loss",
                  .help = "packets that links lose, or deliver late",
                  .table = &oche_loss_params},
        [EVENTS] = {.name = "events",
                    .help = "what happens to single packets of a port, by a script",
                    .table = &oche_events_params},
        [FAILURES] = {.name = "failures",
                      .help = "links and switches that fail",
                      .table = &oche_failure_params,
                      .list = true,
                      .optional = true},
        [NICS] = {.name = "nics",
                  .help = "hosts with another adapter than host.nic",
                  .table = &oche_nics_params,
                  .list = true,
                  .optional = true},
        [RECEIVERS] = {.name = "slow_receivers",
                       .help = "hosts that take what arrives slowly, and pause it, or drop",
                       .table = &oche_receiver_params,
                       .list = true,
                       .optional = true},
        [STORMS] = {.name = "pause_storms",
                    .help = "hosts whose NICs send PAUSE without end",
                    .table = &oche_storm_params,
                    .list = true,
                    .optional = true},
        [MEASURE] = {.name = "measure",
                     .help = "what is looked at beside the default measures",
                     .table = &oche_measure_params},
    };

    _Static_assert(OCHE_COUNT_OF(sections) <= OCHE_COUNT_OF(schema->sections), "room");
    memcpy(schema->sections, sections, sizeof(sections));
    schema->section_count = OCHE_COUNT_OF(sections);
    add_mechanisms(schema);
    add_tiers(schema);
}

/* Returns the bound section `which`; of a list, the first entry. */
static const struct oche_bound *bound_of(const struct oche_scenario *scenario, enum section which)
{
    for (size_t i = 0; i < scenario->bindings.count; i++)
        if (scenario->bindings.bound[i].section == &scenario->schema.sections[which])
            return &scenario->bindings.bound[i];
    return NULL;
}

/* Returns the section of a mechanism, given its number in the registry. */
static const struct oche_bound *bound_of_mechanism(const struct oche_scenario *scenario,
                                                   size_t number)
{
    return bound_of(scenario, (enum section)(MECHANISMS + number));
}

/* Returns the name as it may be printed, in the document's memory. */
static const char *printable(struct oche_document *document, const char *name)
{
    const size_t bytes = strlen(name) * strlen("\\x00") + 1;
    char *shown = oche_document_alloc(document, bytes);

    oche_printable(name, shown, bytes);
    return shown;
}

/* Like `printable`, for a text that may have several lines. */
static const char *printable_lines(struct oche_document *document, const char *text)
{
    char *shown = text != NULL ? oche_printable_lines(text) : NULL;
    const char *copy = text;

    OCHE_GOT(text == NULL || shown != NULL);
    if (shown != NULL)
        copy = oche_document_print(document, "%s", shown);
    free(shown);
    return copy;
}

/*
 * Returns "websearch" for "dir/websearch.yaml", and "pipe" for "/dev/fd/63", whose number varies.
 */
static const char *name_of_file(struct oche_document *document)
{
    const char *path = oche_document_name(document);

    if (strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0)
        return "pipe";
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);

    return printable(document, oche_document_print(document, "%.*s", (int)length, base));
}

static void fill_workloads(struct oche_scenario *scenario)
{
    const struct oche_bound *first = bound_of(scenario, WORKLOAD);
    size_t count = 0;

    while (first + count < scenario->bindings.bound + scenario->bindings.count &&
           first[count].section == first->section)
        count++;
    struct oche_workload_config *workloads =
        oche_document_alloc(scenario->document, count * sizeof(*workloads));

    for (size_t i = 0; i < count; i++)
        workloads[i] = (struct oche_workload_config){.type = first[i].variant->type,
                                                     .params = first[i].values};
    scenario->config.workloads = workloads;
    scenario->config.workload_count = (uint32_t)count;
}

/* Returns the values of an optional list's entries, one after the other; sets *count. */
static const void *entries_of(struct oche_scenario *scenario, enum section which, uint32_t *count)
{
    const struct oche_bound *end = scenario->bindings.bound + scenario->bindings.count;
    const struct oche_bound *first = bound_of(scenario, which);
    size_t bytes = scenario->schema.sections[which].table->struct_bytes;

    *count = 0;
    while (first != NULL && first + *count < end && first[*count].section == first->section)
        ++*count;
    char *entries = oche_document_alloc(scenario->document, (*count + 1) * bytes);

    for (uint32_t i = 0; i < *count; i++)
        memcpy(entries + i * bytes, first[i].values, bytes);
    return entries;
}

/*
 * Fills in the endpoint that `congestion_control` names or, if no endpoint has that name, the
 * RNIC's scheme.
 */
static void fill_scheme(struct oche_scenario *scenario)
{
    const struct oche_bound *scheme = bound_of(scenario, SCHEME);
    struct oche_world_config *config = &scenario->config;

    config->endpoint = oche_endpoint_find(scheme->variant->name);
    if (config->endpoint == NULL) {
        config->cc = scheme->variant->type;
        config->cc_params = scheme->values;
        return;
    }
    config->endpoint_params = scheme->values;
    if (config->endpoint->switches != NULL)
        config->endpoint->switches(scheme->values, &config->switches);
}

/* Adds the mechanism `name` to the switches. Returns false, with an error, if that fails. */
static bool add_mechanism(struct oche_scenario *scenario, const char *name,
                          struct oche_error *error)
{
    struct oche_world_config *config = &scenario->config;
    char list[OCHE_ERROR_BYTES / 2] = "";
    struct oche_error message;
    size_t used = 0;

    for (size_t i = 0; oche_switch_mechanisms[i] != NULL; i++) {
        const struct oche_switch_mechanism *mechanism = oche_switch_mechanisms[i];

        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 mechanism->name);
        if (strcmp(mechanism->name, name) != 0)
            continue;
        if (oche_world_mechanism(config, mechanism) != NULL) {
            oche_fail(&message, "mechanisms: %s is there twice; name it once", name);
            return oche_bound_fail(scenario->document, bound_of(scenario, SWITCH), message.text,
                                   error);
        }
        scenario->mechanisms[config->mechanism_count] = mechanism;
        scenario->mechanism_params[config->mechanism_count++] =
            bound_of_mechanism(scenario, i)->values;
        return true;
    }
    oche_fail(&message, "mechanisms: \"%.64s\" is not known; write some of %s, or none", name,
              list);
    return oche_bound_fail(scenario->document, bound_of(scenario, SWITCH), message.text, error);
}

/*
 * Adds the mechanism that the congestion control needs, unless switch.mechanisms names it already.
 */
static bool add_needed(struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_world_config *config = &scenario->config;
    const char *needed = oche_world_needed_mechanism(config);

    if (needed == NULL || oche_world_mechanism(config, oche_switch_mechanism_find(needed)) != NULL)
        return true;
    return add_mechanism(scenario, needed, error);
}

/* Adds the mechanisms of switch.mechanisms ("iofd,other"), and what the scheme needs. */
static bool fill_mechanisms(struct oche_scenario *scenario, struct oche_error *error)
{
    const char *names = scenario->config.switches.mechanisms;
    bool ok = true;

    scenario->config.mechanisms = scenario->mechanisms;
    scenario->config.mechanism_params = scenario->mechanism_params;
    if (names == NULL || strcmp(names, "none") == 0)
        return add_needed(scenario, error);
    char *copy = strdup(names), *rest = copy;

    OCHE_GOT(copy != NULL);
    for (char *name; ok && (name = strsep(&rest, ", ")) != NULL;)
        ok = *name == '\0' || add_mechanism(scenario, name, error);
    free(copy);
    return ok && add_needed(scenario, error);
}

/* If switch.mechanisms is not given, refuses sections for mechanisms that switches do not have. */
static bool check_forgotten(const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_bound *of_switch = bound_of(scenario, SWITCH);
    struct oche_error message;

    if (of_switch->node != NULL && oche_yaml_find(of_switch->node, "mechanisms") != NULL)
        return true;
    for (size_t i = 0; oche_switch_mechanisms[i] != NULL; i++) {
        const struct oche_bound *bound = bound_of_mechanism(scenario, i);

        if (bound->node == NULL ||
            oche_world_mechanism(&scenario->config, oche_switch_mechanisms[i]) != NULL)
            continue;
        if (oche_switch_mechanisms[i]->only_for != NULL)
            oche_fail(&message,
                      "no switch has it: it comes with congestion_control: %s; choose that, or "
                      "leave this out",
                      oche_switch_mechanisms[i]->only_for);
        else
            oche_fail(&message,
                      "no switch has it; add mechanisms: [%s] to the section switch, or leave this "
                      "out",
                      oche_switch_mechanisms[i]->name);
        return oche_bound_fail(scenario->document, bound, message.text, error);
    }
    return true;
}

/*
 * Returns the kind of the switches in the tier that the topology calls `name`; OCHE_NODE_KINDS:
 * there is no such tier.
 */
static unsigned kind_of_tier(const struct oche_topology_type *type, const char *name)
{
    unsigned kind = 0;

    while (kind < OCHE_NODE_KINDS &&
           (type->tiers[kind] == NULL || strcmp(type->tiers[kind], name) != 0))
        kind++;
    return kind;
}

static bool refuse_tier(const struct oche_scenario *scenario, const struct oche_bound *bound,
                        struct oche_error *error)
{
    const struct oche_topology_type *type = scenario->config.topology;
    char list[128] = "";
    size_t used = 0;

    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (type->tiers[kind] != NULL)
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                                     type->tiers[kind]);
    return oche_document_fail(scenario->document, bound->node, NULL, error,
                              "topology %s has no such tier; it has %s", type->name, list);
}

/*
 * Takes what tiers of switches have of their own, and changes that as an endpoint changes all
 * switches. Returns false, with an error, if the topology has no such tier.
 */
static bool fill_tiers(struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_schema *schema = &scenario->schema;
    struct oche_world_config *config = &scenario->config;

    for (size_t i = 0; i < schema->tier_count; i++) {
        const struct oche_bound *bound =
            oche_bindings_find(&scenario->bindings, schema->tiers[i].name);

        if (bound == NULL)
            continue;
        unsigned kind = kind_of_tier(config->topology, strchr(schema->tiers[i].name, '.') + 1);

        if (kind == OCHE_NODE_KINDS)
            return refuse_tier(scenario, bound, error);
        struct oche_switch_params *params =
            oche_document_alloc(scenario->document, sizeof(*params));

        *params = *(const struct oche_switch_params *)bound->values;
        if (config->endpoint != NULL && config->endpoint->switches != NULL)
            config->endpoint->switches(config->endpoint_params, params);
        config->tiers[kind] = params;
    }
    return true;
}

static void fill_config(struct oche_scenario *scenario)
{
    const struct head *head = bound_of(scenario, HEAD)->values;
    const struct oche_bound *topology = bound_of(scenario, TOPOLOGY);
    const struct oche_bound *recovery = bound_of(scenario, RECOVERY);

    scenario->name = head->name != NULL && head->name[0] != '\0'
                         ? printable(scenario->document, head->name)
                         : name_of_file(scenario->document);
    scenario->description = printable_lines(scenario->document, head->description);
    scenario->model = (enum oche_scenario_model)head->model;
    scenario->config = (struct oche_world_config){
        .seed = head->seed,
        .defaults = (enum oche_preset)head->defaults,
        .threads = 1,
        .run = *(const struct oche_run_params *)bound_of(scenario, RUN)->values,
        .topology = topology->variant->type,
        .topology_params = topology->values,
        .routes = *(const struct oche_routes_params *)bound_of(scenario, ROUTES)->values,
        .switches = *(const struct oche_switch_params *)bound_of(scenario, SWITCH)->values,
        .hosts = *(const struct oche_host_params *)bound_of(scenario, HOST)->values,
        .recovery = recovery->variant->type,
        .recovery_params = recovery->values,
        .loss = *(const struct oche_loss_params *)bound_of(scenario, LOSS)->values,
        .scripted = *(const struct oche_events_params *)bound_of(scenario, EVENTS)->values,
        .measure = *(const struct oche_measure_params *)bound_of(scenario, MEASURE)->values,
    };
    fill_scheme(scenario);
    fill_workloads(scenario);
    struct oche_world_config *config = &scenario->config;

    config->failures = entries_of(scenario, FAILURES, &config->failure_count);
    config->nics = entries_of(scenario, NICS, &config->nic_count);
    config->receivers = entries_of(scenario, RECEIVERS, &config->receiver_count);
    config->storms = entries_of(scenario, STORMS, &config->storm_count);
}

/* Writes the error that `key` of section `which` does not suit the congestion control. */
static bool disagrees(const struct oche_scenario *scenario, enum section which, const char *key,
                      const char *needs, struct oche_error *error)
{
    struct oche_error message;

    oche_fail(&message, "%s: congestion_control %s %s, or choose another scheme", key,
              oche_world_scheme_name(&scenario->config), needs);
    return oche_bound_fail(scenario->document, bound_of(scenario, which), message.text, error);
}

/* Rejects mechanisms of switches that would have no effect. */
static bool check_mechanisms(const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_world_config *config = &scenario->config;
    struct oche_error message;

    for (uint32_t i = 0; i < config->mechanism_count; i++) {
        const struct oche_switch_mechanism *mechanism = config->mechanisms[i];
        const char *scheme = oche_world_scheme_name(config);

        if (mechanism->only_for != NULL && strcmp(mechanism->only_for, scheme) != 0)
            oche_fail(&message,
                      "mechanisms: %s is of use to congestion_control: %s alone, and this is %s; "
                      "leave it out, or choose that",
                      mechanism->name, mechanism->only_for, scheme);
        else if (config->endpoint != NULL && mechanism->rnic_only)
            oche_fail(
                &message,
                "mechanisms: %s is for messages of RNICs, and hosts that end in %s have none; "
                "leave it out, or choose another congestion_control",
                mechanism->name, config->endpoint->name);
        else
            continue;
        return oche_bound_fail(scenario->document, bound_of(scenario, SWITCH), message.text, error);
    }
    return true;
}

/* True if the switches of some tier mark. */
static bool any_marks(const struct oche_world_config *config)
{
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (config->topology->tiers[kind] != NULL && oche_world_of_tier(config, kind)->ecn)
            return true;
    return false;
}

/* Checks the scheme's parameters, and that other sections suit the scheme. */
static bool check_scheme(const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_world_config *config = &scenario->config;
    const struct oche_bound *scheme = bound_of(scenario, SCHEME);
    bool rnic = config->endpoint == NULL;
    const char *(*own)(const void *) = rnic ? config->cc->check : config->endpoint->check;
    uint32_t needs = rnic ? config->cc->needs : config->endpoint->needs;
    const char *message = own == NULL ? NULL : own(scheme->values);

    if (message != NULL)
        return oche_bound_fail(scenario->document, scheme, message, error);
    if (rnic && (config->cc->transports & OCHE_CC_RC) == 0)
        return oche_bound_fail(scenario->document, scheme,
                               "does not work on RC; choose another scheme", error);
    /* If two sections disagree, the error is reported at the one that differs from its default. */
    if ((needs & OCHE_CC_NEEDS_ECN) != 0 && !any_marks(config))
        return disagrees(scenario, SWITCH, "ecn",
                         config->switches.ecn
                             ? "needs switches that mark; set this to true in a tier"
                             : "needs switches that mark; set this to true",
                         error);
    if ((needs & OCHE_CC_NEEDS_ACK_A_PACKET) != 0 && config->hosts.ack_every_packets != 1)
        return disagrees(scenario, HOST, "ack_every",
                         "needs an ACK for every packet; set this to 1", error);
    return true;
}

static bool check_warmup(const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_run_params *run = &scenario->config.run;

    return run->duration == 0 || run->warmup < run->duration ||
           oche_bound_fail(scenario->document, bound_of(scenario, RUN),
                           "warmup: leaves nothing to measure; make it less than duration", error);
}

static bool check_samples(const struct oche_scenario *scenario, struct oche_error *error)
{
    const struct oche_world_config *config = &scenario->config;

    return config->run.duration == 0 || oche_measure_interval(config) == 0 ||
           (config->run.duration - config->run.warmup) / oche_measure_interval(config) <=
               OCHE_WORLD_MOST_SAMPLES ||
           oche_bound_fail(scenario->document, bound_of(scenario, MEASURE),
                           "interval: gives more than a million samples; make it longer, or "
                           "duration shorter",
                           error);
}

/* Adds the error, if not `ok`, as a mistake in the section. Returns `ok`. */
static bool note(const struct oche_scenario *scenario, enum section which, bool ok,
                 const struct oche_error *error, struct oche_mistakes *mistakes)
{
    const struct oche_yaml *node = bound_of(scenario, which)->node;

    if (!ok)
        oche_mistakes_add(mistakes, node != NULL ? oche_yaml_place(node) : 0, error);
    return ok;
}

/*
 * Completes the configuration and checks that the sections suit each other. The values within one
 * section are checked later, when the world is created. A mistake does not hide others that do not
 * come from it.
 */
static void check(struct oche_scenario *scenario, struct oche_mistakes *mistakes)
{
    struct oche_error error;
    const bool tiers = note(scenario, SWITCH, fill_tiers(scenario, &error), &error, mistakes);
    const bool mechanisms =
        note(scenario, SWITCH, fill_mechanisms(scenario, &error), &error, mistakes) &&
        note(scenario, SWITCH, check_forgotten(scenario, &error), &error, mistakes);

    if (note(scenario, RUN, check_warmup(scenario, &error), &error, mistakes))
        note(scenario, MEASURE, check_samples(scenario, &error), &error, mistakes);
    if ((!tiers || note(scenario, SCHEME, check_scheme(scenario, &error), &error, mistakes)) &&
        mechanisms)
        note(scenario, SWITCH, check_mechanisms(scenario, &error), &error, mistakes);
}

static struct oche_document *open_document(const struct oche_scenario_input *input,
                                           struct oche_error *error)
{
    return input->text == NULL ? oche_document_open(input->name, error)
                               : oche_document_parse(input->name, input->text, input->bytes, error);
}

/* Applies the overrides. Each that cannot be is a mistake. */
static bool override(struct oche_document *document, const struct oche_scenario_input *input,
                     struct oche_mistakes *mistakes)
{
    struct oche_error error;
    bool ok = true;

    for (size_t i = 0; i < input->set_count; i++)
        if (!oche_document_set(document, input->sets[i], &error)) {
            oche_mistakes_add(mistakes, i, &error);
            ok = false;
        }
    return ok;
}

struct oche_scenario *oche_scenario_read(const struct oche_scenario_input *input,
                                         struct oche_mistakes *mistakes)
{
    struct oche_error error;
    struct oche_document *document = open_document(input, &error);

    mistakes->count = 0;
    if (document == NULL) {
        oche_mistakes_add(mistakes, 0, &error);
        return NULL;
    }
    struct oche_scenario *scenario = calloc(1, sizeof(*scenario));

    OCHE_GOT(scenario != NULL);
    scenario->document = document;
    oche_schema_make(&scenario->schema);
    bool bound = override(document, input, mistakes) &&
                 oche_bind(document, scenario->schema.sections, scenario->schema.section_count,
                           &scenario->bindings, mistakes);

    if (bound) {
        fill_config(scenario);
        check(scenario, mistakes);
    }
    scenario->refused = mistakes->count > 0;
    if (!scenario->refused || (bound && input->refused_too))
        return scenario;
    oche_scenario_close(scenario);
    return NULL;
}

/* Like oche_scenario_read; the first mistake becomes the error. */
static struct oche_scenario *read_until_first(const struct oche_scenario_input *input,
                                              struct oche_error *error)
{
    struct oche_mistakes mistakes;
    struct oche_scenario *scenario = oche_scenario_read(input, &mistakes);

    if (scenario == NULL)
        *error = mistakes.kept[0].error;
    return scenario;
}

struct oche_scenario *oche_scenario_open(const char *path, const char *const *sets,
                                         size_t set_count, struct oche_error *error)
{
    return read_until_first(
        &(struct oche_scenario_input){.name = path, .sets = sets, .set_count = set_count}, error);
}

struct oche_scenario *oche_scenario_parse(const char *name, const char *text, size_t bytes,
                                          struct oche_error *error)
{
    return read_until_first(
        &(struct oche_scenario_input){.name = name, .text = text, .bytes = bytes}, error);
}

void oche_scenario_close(struct oche_scenario *scenario)
{
    if (scenario == NULL)
        return;
    oche_document_close(scenario->document);
    free(scenario);
}

void oche_scenario_place(const struct oche_scenario *scenario, const char *message,
                         struct oche_error *error)
{
    oche_bindings_fail(scenario->document, &scenario->bindings, message, error);
}
