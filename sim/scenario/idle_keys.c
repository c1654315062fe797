/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parameter's needs are conditions, separated by commas; all must hold. A condition is one or
 * more alternatives, separated by "|":
 *
 *     KEY          the key has a value other than false, 0 and nothing
 *     KEY=CHOICE   the key has this value, or the section is of this type
 *     !KEY         the key has no value other than false, 0 and nothing
 *     @FACT        see `facts`
 *
 * KEY is a key of the same table, "section.key", or a section, which must be given. In a list of
 * sections one entry is enough.
 */
#include "sim/scenario/idle_keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "params/units.h"
#include "sim/world/world.h"

#define REASON_BYTES 200

/* A given key, and what its needs refer to. */
struct place {
    const struct oche_scenario *scenario;
    const struct oche_bound *bound;
    const void *values; /* the values of `bound` in effect */
};

/* An alternative of a condition. */
struct need {
    char key[64];
    const char *choice; /* NULL: any value but false, 0 and nothing */
    bool not ;
};

static void __attribute__((format(printf, 2, 3)))
say(struct oche_idle_keys *idle, const char *format, ...)
{
    va_list arguments;

    if (idle->count == OCHE_IDLE_KEYS_MOST)
        return;
    va_start(arguments, format);
    vsnprintf(idle->text[idle->count++], sizeof(idle->text[0]), format, arguments);
    va_end(arguments);
}

/* ---- conditions ---- */

/* Reads an alternative of `length` bytes. `choice` has room for as many bytes as need->key. */
static struct need need_of(const char *text, size_t length, char *choice)
{
    struct need need = {.not = length > 0 && text[0] == '!'};
    char *equals;

    OCHE_MUST(length < sizeof(need.key));
    snprintf(need.key, sizeof(need.key), "%.*s", (int)(length - need.not ), text + need.not );
    equals = strchr(need.key, '=');
    if (equals != NULL) {
        strcpy(choice, equals + 1);
        *equals = '\0';
        need.choice = choice;
    }
    return need;
}

static bool has_value(const struct oche_param *param, union oche_value value,
                      const struct need *need)
{
    if (need->choice != NULL)
        return param->unit == OCHE_UNIT_CHOICE &&
               strcmp(param->choices[value.u], need->choice) == 0;
    switch (param->unit) {
    case OCHE_UNIT_TEXT:
        return value.text != NULL && value.text[0] != '\0';
    case OCHE_UNIT_REAL:
        return value.real != 0;
    default:
        return value.u != 0;
    }
}

/* Writes what the value of a key is: "loss.late is 0", "loss.port is given". */
static void describe(const char *path, const struct oche_param *param, union oche_value value,
                     char *why)
{
    const char *dot = path[0] != '\0' ? "." : "";
    char text[OCHE_VALUE_BYTES];

    oche_value_show(param, value, text, sizeof(text));
    if (param->unit == OCHE_UNIT_TEXT)
        snprintf(why, REASON_BYTES, "%s%s%s is %sgiven", path, dot, param->name,
                 value.text != NULL && value.text[0] != '\0' ? "" : "not ");
    else
        snprintf(why, REASON_BYTES, "%s%s%s is %s", path, dot, param->name, text);
}

/* ---- facts that no key says ---- */

/* Says which mechanism of switches replaces what is asked for. */
static bool is_replaced_by(const struct oche_switch_mechanism *mechanism, char *why)
{
    snprintf(why, REASON_BYTES, "switches have %s instead", mechanism->name);
    return true;
}

static bool has_other_flow_control(const struct oche_world_config *config, char *why)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->flow_control)
            return is_replaced_by(config->mechanisms[i], why);
    return false;
}

/* True if switches mark by RED. */
static bool is_red(const struct oche_world_config *config, const struct oche_switch_params *of,
                   char *why)
{
    const uint32_t needs = config->endpoint != NULL ? config->endpoint->needs : config->cc->needs;

    (void)of;
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->marks)
            return !is_replaced_by(config->mechanisms[i], why);
    snprintf(why, REASON_BYTES, "with congestion_control %s packets ask for no marks",
             oche_world_scheme_name(config));
    return (needs & OCHE_CC_NEEDS_ECN) != 0 ||
           (oche_world_spreads(config) && oche_path_scheme(config->hosts.entropy)->hears);
}

/* True if PFC, where it is on, has lossless packets. */
static bool is_pfc(const struct oche_world_config *config, const struct oche_switch_params *of,
                   char *why)
{
    (void)of;
    if (has_other_flow_control(config, why))
        return false;
    snprintf(why, REASON_BYTES, "with congestion_control %s no packets are lossless",
             oche_world_scheme_name(config));
    return oche_world_lossless(config);
}

/* True if packets may be dropped: with PFC all packets of queue pairs are lossless. */
static bool is_lossy(const struct oche_world_config *config, const struct oche_switch_params *of,
                     char *why)
{
    if (has_other_flow_control(config, why))
        return false;
    snprintf(why, REASON_BYTES, "with switch.pfc: true all packets are lossless");
    return !of->pfc || (config->endpoint != NULL && !config->endpoint->roce);
}

/* True if thresholds follow the rates of ports. */
static bool is_kmin_auto(const struct oche_world_config *config,
                         const struct oche_switch_params *of, char *why)
{
    (void)config;
    snprintf(why, REASON_BYTES, "kmin is not auto");
    return of->kmin_bytes == OCHE_NEVER;
}

static bool is_kmax_auto(const struct oche_world_config *config,
                         const struct oche_switch_params *of, char *why)
{
    (void)config;
    snprintf(why, REASON_BYTES, "kmax is not auto");
    return of->kmax_bytes == OCHE_NEVER;
}

/* True if packets of a queue pair may overtake each other, by a choice of paths. */
static bool is_reordered(const struct oche_world_config *config,
                         const struct oche_switch_params *of, char *why)
{
    (void)of;
    snprintf(why, REASON_BYTES, "all packets of a queue pair take one path");
    return oche_world_reordering_mechanism(config) != NULL || oche_world_spreads(config);
}

static const struct fact {
    const char *name;
    /* Sets `why` to a reason why not. */
    bool (*holds)(const struct oche_world_config *config, const struct oche_switch_params *of,
                  char *why);
} facts[] = {{"@red", is_red},
             {"@pfc", is_pfc},
             {"@lossy", is_lossy},
             {"@kmin_auto", is_kmin_auto},
             {"@kmax_auto", is_kmax_auto},
             {"@reorders", is_reordered}};

static bool holds_as_fact(const struct place *place, const char *name, char *why)
{
    const struct oche_world_config *config = &place->scenario->config;
    const struct oche_switch_params *of =
        place->bound->table == &oche_switch_params ? place->values : &config->switches;

    size_t i = 0;

    while (i < OCHE_COUNT_OF(facts) && strcmp(facts[i].name, name) != 0)
        i++;
    OCHE_MUST(i < OCHE_COUNT_OF(facts)); /* the tables name no others */
    return facts[i].holds(config, of, why);
}

/* ---- keys ---- */

static bool gives(const struct oche_bound *bound, const char *key)
{
    return bound->node != NULL && oche_yaml_find(bound->node, key) != NULL;
}

/* Returns the values of a section in effect: an endpoint may change those of switches. */
static const void *values_of(const struct oche_scenario *scenario, const struct oche_bound *bound)
{
    return bound->table == &oche_switch_params && bound->section->within == NULL
               ? &scenario->config.switches
               : bound->values;
}

static bool holds_in_own(const struct place *place, const struct oche_param *param,
                         const struct need *need, char *why)
{
    const struct oche_section *within = place->bound->section->within;
    const union oche_value value = oche_param_get(param, place->values);

    describe(within != NULL && !gives(place->bound, param->name) ? within->name
                                                                 : place->bound->path,
             param, value, why);
    return has_value(param, value, need) != need->not ;
}

/* The same for another section, or for the entries of a list. */
static bool holds_in_section(const struct place *place, const char *section, const char *key,
                             const struct need *need, char *why)
{
    const struct oche_bindings *bindings = &place->scenario->bindings;
    bool has = false;

    snprintf(why, REASON_BYTES, need->choice != NULL ? "no %s has %s: %s" : "no %s gives %s",
             section, key, need->choice != NULL ? need->choice : "");
    for (size_t i = 0; i < bindings->count && !has; i++) {
        const struct oche_bound *bound = &bindings->bound[i];
        const struct oche_param *param = oche_param_find(bound->table, key);

        if (param == NULL || strcmp(bound->section->name, section) != 0)
            continue;
        const union oche_value value = oche_param_get(param, values_of(place->scenario, bound));

        has = has_value(param, value, need);
        if (!bound->section->list)
            describe(bound->path, param, value, why);
    }
    return has != need->not ;
}

static bool holds(const struct place *place, const struct need *need, char *why)
{
    const struct oche_param *own = oche_param_find(place->bound->table, need->key);
    const char *dot = strchr(need->key, '.');
    char section[sizeof(need->key)];

    if (need->key[0] == '@')
        return holds_as_fact(place, need->key, why);
    if (own != NULL)
        return holds_in_own(place, own, need, why);
    if (dot != NULL) {
        snprintf(section, sizeof(section), "%.*s", (int)(dot - need->key), need->key);
        return holds_in_section(place, section, dot + 1, need, why);
    }
    const struct oche_bound *bound = oche_bindings_find(&place->scenario->bindings, need->key);
    const bool given = bound != NULL && bound->node != NULL;

    if (need->choice != NULL) {
        snprintf(why, REASON_BYTES, "%s is %s", need->key, bound->variant->name);
        return (strcmp(bound->variant->name, need->choice) == 0) != need->not ;
    }
    snprintf(why, REASON_BYTES, "%s is %sgiven", need->key, given ? "" : "not ");
    return given != need->not ;
}

/* True if an alternative of the condition holds; else `why` says that none does. */
static bool any_holds(const struct place *place, const char *text, size_t length, char *why)
{
    size_t used = 0;

    for (const char *end = text + length; text < end;) {
        char one[REASON_BYTES], choice[sizeof(((struct need *)0)->key)];
        size_t part = strcspn(text, "|,");
        const struct need need = need_of(text, part, choice);

        if (holds(place, &need, one))
            return true;
        text += part + 1;
        if (used < REASON_BYTES)
            used += (size_t)snprintf(why + used, REASON_BYTES - used, "%s%s",
                                     used == 0    ? ""
                                     : text < end ? ", "
                                                  : " and ",
                                     one);
    }
    return false;
}

/* True if all of a parameter's needs are met; else `why` names the first that is not. */
static bool has_all(const struct place *place, const struct oche_param *param, char *why)
{
    for (const char *at = param->needs; at != NULL && *at != '\0'; at += *at == ',') {
        size_t length = strcspn(at, ",");

        if (!any_holds(place, at, length, why))
            return false;
        at += length;
    }
    return true;
}

/* ---- given keys ---- */

/* True if the endpoint gives switches another value than the scenario does. */
static bool is_replaced(const struct place *place, const struct oche_param *param, char *why)
{
    if (place->bound->table != &oche_switch_params || param->unit == OCHE_UNIT_TEXT)
        return false;
    const union oche_value given = oche_param_get(param, place->bound->values);
    const union oche_value used = oche_param_get(param, place->values);

    snprintf(why, REASON_BYTES, "congestion_control %s has its own value",
             oche_world_scheme_name(&place->scenario->config));
    return param->unit == OCHE_UNIT_REAL ? given.real != used.real : given.u != used.u;
}

static bool is_idle(const struct place *place, const struct oche_param *param, char *why)
{
    return is_replaced(place, param, why) || !has_all(place, param, why);
}

/* Returns the section of a tier of switches, or NULL if it is not given. */
static const struct oche_bound *bound_of_tier(const struct oche_scenario *scenario, unsigned kind)
{
    char name[32];

    snprintf(name, sizeof(name), "switch.%s", scenario->config.topology->tiers[kind]);
    return oche_bindings_find(&scenario->bindings, name);
}

/*
 * The same for a key of `switch`: it has an effect if it has one in a tier that has no value of its
 * own.
 */
static bool is_idle_in_tiers(const struct place *place, const struct oche_param *param, char *why)
{
    const struct oche_world_config *config = &place->scenario->config;
    char reason[REASON_BYTES] = "";

    snprintf(why, REASON_BYTES, "every tier of switches has its own");
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++) {
        if (config->topology->tiers[kind] == NULL)
            continue;
        const struct oche_bound *tier = bound_of_tier(place->scenario, kind);
        const struct place in_tier = {place->scenario, tier != NULL ? tier : place->bound,
                                      oche_world_of_tier(config, kind)};

        if (tier != NULL && gives(tier, param->name))
            continue;
        if (!is_idle(&in_tier, param, reason))
            return false;
    }
    if (reason[0] != '\0')
        memcpy(why, reason, REASON_BYTES);
    return true;
}

static void find_in(const struct oche_scenario *scenario, const struct oche_bound *bound,
                    struct oche_idle_keys *idle)
{
    const bool of_switches = bound->table == &oche_switch_params;
    struct place place = {scenario, bound, values_of(scenario, bound)};
    char why[REASON_BYTES];

    for (unsigned kind = 0; of_switches && kind < OCHE_NODE_KINDS; kind++)
        if (scenario->config.topology->tiers[kind] != NULL &&
            bound_of_tier(scenario, kind) == bound)
            place.values = oche_world_of_tier(&scenario->config, kind);
    for (uint32_t i = 0; i < bound->node->count; i++) {
        const char *key = bound->node->child[i]->key;
        const struct oche_param *param = key != NULL ? oche_param_find(bound->table, key) : NULL;

        if (param == NULL)
            continue;
        const bool in_tiers = of_switches && bound->section->within == NULL && !param->of_all;

        if (in_tiers ? is_idle_in_tiers(&place, param, why) : is_idle(&place, param, why))
            say(idle, "%s%s%s has no effect here: %s", bound->path,
                bound->path[0] != '\0' ? "." : "", key, why);
    }
}

/* True if the section is a mechanism's, and switches do not have that mechanism. */
static bool is_of_no_switch(const struct oche_scenario *scenario, const struct oche_bound *bound)
{
    for (size_t i = 0; oche_switch_mechanisms[i] != NULL; i++)
        if (strcmp(oche_switch_mechanisms[i]->name, bound->section->name) == 0)
            return oche_world_mechanism(&scenario->config, oche_switch_mechanisms[i]) == NULL;
    return false;
}

void oche_idle_keys_find(const struct oche_scenario *scenario, struct oche_idle_keys *idle)
{
    idle->count = 0;
    for (size_t i = 0; i < scenario->bindings.count; i++) {
        const struct oche_bound *bound = &scenario->bindings.bound[i];

        if (bound->node == NULL || bound->node->kind != OCHE_YAML_MAP)
            continue;
        if (is_of_no_switch(scenario, bound))
            say(idle, "%s has no effect here: switch.mechanisms does not name it", bound->path);
        else
            find_in(scenario, bound, idle);
    }
}
