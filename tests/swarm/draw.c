/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws scenarios. Each world has a few features in unusual combinations. How many values a section
 * gives is drawn, too: some worlds are almost all defaults, some have almost none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/opcode.h"
#include "core/wire/packet.h"
#include "params/units.h"
#include "sim/endpoint/registry.h"
#include "tests/swarm/plan.h"

#define MOST_HOSTS    24
#define MOST_OF_LARGE 400   /* hosts of a large world */
#define WHOLE_PACKET  1024  /* the default MTU, also used in most other worlds */
#define MOST_SPARE    30000 /* beyond a limit, in any unit */
#define MOST_WORKLOAD 3
#define MOST_FAILURES 3
#define MOST_PACKETS  16 /* the most that fit into a time of recovery */

double draw_scale(struct draw *draw, double least, double most)
{
    if (most <= least)
        return least;
    double low = least > 0 ? least : most * 1e-6;

    return low * pow(most / low, oche_random_unit(&draw->random));
}

/* Rounds to two significant digits, as people write numbers. Small numbers stay. */
static uint64_t rounded(double value)
{
    double step = 1;

    while (value / step >= 100)
        step *= 10;
    return (uint64_t)(floor(value / step) * step);
}

static uint64_t clip(const struct oche_param *param, uint64_t value)
{
    if (value < param->minimum.u)
        return param->minimum.u;
    return value > param->maximum.u ? param->maximum.u : value;
}

static uint64_t draw_whole(const struct draft_part *part, const struct oche_param *param,
                           struct draw *draw)
{
    struct draft_limits limits = draft_limits_in(draw, part, param);

    if (param->minimum.u == 0 && limits.least == 0 && draw_one_in(draw, 8))
        return 0;
    if (param->maximum.u == OCHE_NEVER && limits.percent < 100 && draw_one_in(draw, 6))
        return OCHE_NEVER;
    if (param->automatic && draw_one_in(draw, 8))
        return OCHE_NEVER;
    if (limits.percent < 100 && draw_one_in(draw, 24))
        return clip(param, (uint64_t)(draw_one_in(draw, 2) ? limits.least : limits.most));
    /* Messages of a few bytes are rare; most worlds have longer ones. */
    if (param->unit == OCHE_UNIT_BYTES && strcmp(part->section->name, "workload") == 0 &&
        !draw_one_in(draw, 5))
        limits.least = limits.most / 100;
    if (param->unit == OCHE_UNIT_COUNT && limits.most - limits.least < 64)
        return clip(param, (uint64_t)limits.least +
                               draw_below(draw, (uint64_t)(limits.most - limits.least) + 1));
    /* A time of recovery is often a multiple of a packet's time, so that packets hit its end. */
    if (param->unit == OCHE_UNIT_TIME && draw->packet_time != 0 &&
        strcmp(part->section->name, "recovery") == 0 && draw_one_in(draw, 3))
        return clip(param, draw->packet_time * (1 + draw_below(draw, MOST_PACKETS)));
    uint64_t value = (uint64_t)draw_scale(draw, limits.least, limits.most);

    if (param->unit == OCHE_UNIT_BYTES && draw_one_in(draw, 6))
        return clip(param, (value / WHOLE_PACKET + 1) * WHOLE_PACKET);
    return clip(param, draw_one_in(draw, 4) ? value : rounded((double)value));
}

static double draw_real(const struct draft_part *part, const struct oche_param *param,
                        struct draw *draw)
{
    struct draft_limits limits = draft_limits_in(draw, part, param);
    double value;

    if (draw_one_in(draw, 12))
        return draw_one_in(draw, 2) ? limits.least : limits.most;
    if (limits.most <= 1 && draw_one_in(draw, 2))
        value = limits.least + (limits.most - limits.least) * oche_random_unit(&draw->random);
    else
        value = draw_scale(draw, limits.least, limits.most);
    double step = pow(10, floor(log10(value > 0 ? value : 1)) - 1);

    value = draw_one_in(draw, 4) ? value : floor(value / step) * step;
    if (value < param->minimum.real)
        return param->minimum.real;
    return value > param->maximum.real ? param->maximum.real : value;
}

bool draft_draw_value(struct draft_value *value, const struct draft_part *part,
                      const struct oche_param *param, struct draw *draw)
{
    struct draft_limits limits = draft_limits_in(draw, part, param);
    uint64_t count = 0;

    *value = (struct draft_value){.param = param};
    if (limits.chosen && (param->unit == OCHE_UNIT_BOOL || param->unit == OCHE_UNIT_CHOICE)) {
        value->value.u =
            (uint64_t)limits.least + draw_below(draw, (uint64_t)(limits.most - limits.least) + 1);
        return true;
    }
    switch (param->unit) {
    case OCHE_UNIT_TEXT:
        return draft_draw_text(value->text, part, param, draw);
    case OCHE_UNIT_BOOL:
        value->value.u = draw_below(draw, 2);
        return true;
    case OCHE_UNIT_CHOICE:
        while (param->choices[count] != NULL)
            count++;
        value->value.u = draw_below(draw, count);
        return true;
    case OCHE_UNIT_REAL:
        value->value.real = draw_real(part, param, draw);
        return true;
    default:
        value->value.u = draw_whole(part, param, draw);
        return true;
    }
}

/* True if an inner section lacks this parameter of the outer one. */
static bool section_has_not(const struct oche_section *section, const struct oche_param *param)
{
    return section->within != NULL && param->of_all;
}

/* Draws the values of a part whose variant is known. */
static void draw_values(struct draft_part *part, struct draw *draw)
{
    static const unsigned percents[] = {0, 6, 15, 40, 70};
    unsigned percent = percents[draw_below(draw, OCHE_COUNT_OF(percents))];
    const struct oche_param_table *table = draft_table(part);

    part->value_count = 0;
    for (size_t i = 0; i < table->count && part->value_count < DRAFT_MOST_VALUES; i++) {
        const struct oche_param *param = &table->params[i];
        struct draft_limits limits = draft_limits_in(draw, part, param);
        struct draft_value *value = &part->values[part->value_count];
        bool requested = draft_requires_param(draw, part, param);

        if (limits.percent == 0)
            limits.percent = percent;
        if (section_has_not(part->section, param))
            continue;
        if (limits.most < limits.least || (draw_below(draw, 100) >= limits.percent && !requested))
            continue;
        bool given = draft_draw_value(value, part, param, draw);

        for (int again = 0; requested && given && draft_is_preset(value) && again < 6; again++)
            given = draft_draw_value(value, part, param, draw);
        part->value_count += given;
    }
}

/* An entry of `failures` names one of `places`: the required one, if there is one. */
static void keep_one_place(struct draft_part *part, struct draw *draw)
{
    static const char *const places[] = {"link", "switch", "random"};
    uint32_t named[OCHE_COUNT_OF(places)];
    uint64_t count = 0;

    for (uint32_t i = 0; i < part->value_count; i++)
        for (size_t k = 0; k < OCHE_COUNT_OF(places); k++)
            if (strcmp(part->values[i].param->name, places[k]) == 0)
                named[count++] = i;
    if (count < 2)
        return;
    uint64_t kept = draw_below(draw, count);

    for (uint64_t i = 0; i < count; i++)
        if (draft_requires_param(draw, part, part->values[named[i]].param))
            kept = i;

    while (count-- > 0)
        if (count != kept)
            draft_remove_value(part, named[count]);
}

static void draw_part(struct draft_part *part, const struct oche_section *section,
                      struct draw *draw)
{
    *part = (struct draft_part){.section = section, .variant = DRAFT_NO_VARIANT};
    if (section->selector != NULL)
        part->variant = draft_pick_variant(draw, section);
    draw_values(part, draw);
    if (strcmp(section->name, "failures") == 0)
        keep_one_place(part, draw);
}

static struct draft_part *add(struct draft *draft, const struct oche_section *section,
                              struct draw *draw)
{
    if (draft->part_count == DRAFT_MOST_PARTS)
        return NULL;
    draw_part(&draft->parts[draft->part_count], section, draw);
    return &draft->parts[draft->part_count++];
}

/* ---- the network; other sections depend on it ---- */

static bool build(const struct draft *draft, struct draw *draw, struct oche_error *error)
{
    static char yaml[DRAFT_YAML_BYTES];
    size_t bytes = draft_write(draft, yaml);
    bool fine = false;

    bytes += (size_t)snprintf(yaml + bytes, sizeof(yaml) - bytes, "workload:\n  type: incast\n");
    struct oche_scenario *scenario = oche_scenario_parse("topology", yaml, bytes, error);

    if (scenario == NULL)
        return false;
    const struct oche_topology_type *type = scenario->config.topology;
    const void *params = scenario->config.topology_params;

    fine = (type->check == NULL || type->check(params, error)) &&
           type->build(params, &draw->topology, error);
    oche_scenario_close(scenario);
    if (fine && draw->topology.host_count > (draw->large ? MOST_OF_LARGE : MOST_HOSTS)) {
        oche_topology_free(&draw->topology);
        fine = false;
    }
    return fine;
}

static void draw_network(struct draft *draft, const struct oche_section *section, struct draw *draw)
{
    struct draft *alone = calloc(1, sizeof(*alone));
    struct oche_error error;

    OCHE_MUST(alone != NULL);
    do {
        alone->part_count = 0;
        add(alone, section, draw);
    } while (!build(alone, draw, &error));
    draft->parts[draft->part_count++] = alone->parts[0];
    free(alone);
}

/* ---- the whole scenario ---- */

/* True if switches have the mechanism: the scenario names it, or the scheme brings it. */
static bool has_mechanism(struct draft *draft, const struct oche_section *section)
{
    const struct draft_value *named = draft_find(draft, "switch", "mechanisms");
    const char *scheme = NULL, *needed = NULL;

    if (named != NULL && strstr(named->text, section->name) != NULL)
        return true;
    for (uint32_t i = 0; i < draft->part_count; i++)
        if (strcmp(draft->parts[i].section->name, "congestion_control") == 0)
            scheme = draft_variant_name(&draft->parts[i]);
    if (scheme != NULL && oche_endpoint_find(scheme) != NULL)
        needed = oche_endpoint_find(scheme)->switch_mechanism;
    else if (scheme != NULL)
        needed = oche_cc_find(scheme)->switch_mechanism;
    return needed != NULL && strcmp(needed, section->name) == 0;
}

/* At least one entry for each required variant. */
static uint64_t least_entries(const struct draw *draw, const struct oche_section *section,
                              uint64_t count)
{
    uint32_t requested = draft_variants_required(draw, section);

    return count < requested ? requested : count;
}

/* True if the section is a tier that has switches in the drawn network. */
static bool is_tier_of(const struct draft *draft, const struct oche_section *section,
                       const struct draw *draw)
{
    const struct oche_topology *topology = &draw->topology;
    const struct oche_topology_type *type = NULL;
    bool outer = false;

    for (uint32_t i = 0; i < draft->part_count; i++) {
        const struct draft_part *part = &draft->parts[i];

        outer |= part->section == section->within;
        if (strcmp(part->section->name, "topology") == 0)
            type = part->section->variants[part->variant].type;
    }
    for (uint32_t i = topology->host_count; outer && i < oche_topology_nodes(topology); i++) {
        const char *tier = type->tiers[topology->nodes[i].kind];

        if (tier != NULL && strcmp(tier, strchr(section->name, '.') + 1) == 0)
            return true;
    }
    return false;
}

static uint64_t entries(struct draft *draft, const struct oche_section *section, struct draw *draw)
{
    if (section->name[0] == '\0')
        return 1;
    if (draft_shuns(draw, section->name))
        return 0;
    if (section->within != NULL)
        return is_tier_of(draft, section, draw) &&
               (draft_requires_section(draw, section) || draw_one_in(draw, 4));
    if (section->list && section->optional)
        return draw_one_in(draw, strcmp(section->name, "failures") == 0 ? 3 : 6) ||
                       draft_requires_section(draw, section)
                   ? 1 + draw_below(draw, MOST_FAILURES)
                   : 0;
    if (section->list)
        return least_entries(draw, section,
                             draw_one_in(draw, 2) ? 1 : 1 + draw_below(draw, MOST_WORKLOAD));
    if (!section->list && draft_requires_section(draw, section))
        return 1;
    if (oche_switch_mechanism_find(section->name) != NULL)
        return has_mechanism(draft, section) && draw_below(draw, 4) != 0;
    if (section->selector != NULL)
        return 1;
    return draw_below(draw, 3) != 0;
}

/* Notes how long a packet takes on the hosts' fastest link. Called when the network is drawn. */
static void note_packet_time(struct draft *draft, struct draw *draw)
{
    const struct draft_value *mtu = draft_find(draft, "host", "mtu");
    const struct draft_value *ipv6 = draft_find(draft, "host", "ipv6");
    uint32_t frame =
        oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, mtu != NULL ? (uint32_t)mtu->value.u : WHOLE_PACKET,
                         ipv6 != NULL && ipv6->value.u);
    uint64_t fastest = 0;

    for (uint32_t host = 0; host < draw->topology.host_count; host++) {
        uint64_t rate_bps = oche_topology_port_link(&draw->topology, host, 0)->rate_bps;

        fastest = rate_bps > fastest ? rate_bps : fastest;
    }
    draw->packet_time = oche_time_of_bytes(frame + OCHE_GAP_BYTES, fastest);
}

void draft_draw(struct draft *draft, struct draw *draw)
{
    draft->part_count = 0;
    draw->packet_time = 0;
    draw->topology = (struct oche_topology){.host_count = 0};
    for (size_t i = 0; i < draw->schema->section_count; i++) {
        const struct oche_section *section = &draw->schema->sections[i];

        if (strcmp(section->name, "topology") == 0) {
            draw_network(draft, section, draw);
            continue;
        }
        if (strcmp(section->name, "recovery") == 0)
            note_packet_time(draft, draw);
        draw->entry = 0;
        for (uint64_t n = entries(draft, section, draw); n > 0; n--, draw->entry++)
            add(draft, section, draw);
    }
}

/* ---- after a refusal ---- */

static bool redraw(struct draft *draft, uint32_t number, struct draw *draw)
{
    const struct oche_section *section = draft->parts[number].section;

    if (strcmp(section->name, "topology") == 0)
        return false; /* other parameters name its nodes */
    if (section->optional || oche_switch_mechanism_find(section->name) != NULL) {
        draft_remove_part(draft, number);
        return true;
    }
    for (draw->entry = 0; draw->entry < number; draw->entry++)
        if (draft->parts[number - draw->entry - 1].section != section)
            break;
    draw_part(&draft->parts[number], section, draw);
    return true;
}

/*
 * Returns the largest number of bytes that the message names, as a value that would be large
 * enough.
 */
static uint64_t largest_bytes(const char *message)
{
    uint64_t largest = 0;

    for (const char *at = message; (at = strpbrk(at, "0123456789")) != NULL;) {
        char *end;
        uint64_t number = strtoull(at, &end, 10);

        if (strncmp(end, " bytes", 6) == 0 && number > largest)
            largest = number;
        at = end;
    }
    return largest;
}

/*
 * Takes the limit that a message names ("…; would be right: at least 20062", "4KB is less than the
 * headroom of 20062 bytes"), or a little more, to test close to limits. Returns false if the
 * message names no limit.
 */
static bool take_advice(struct draft_value *value, const char *refusal, struct draw *draw)
{
    const char *least = strstr(refusal, "at least "), *most = strstr(refusal, "at most ");
    const char *from = least != NULL ? least + 9 : most != NULL ? most + 8 : NULL;
    union oche_value advice = {.u = largest_bytes(refusal)};
    struct oche_error error;
    char text[64];

    if (value->param->unit > OCHE_UNIT_TIME || draw_one_in(draw, 4))
        return false;
    if ((from == NULL || sscanf(from, "%63[^ ,;()]", text) != 1 ||
         !oche_value_parse(value->param, text, &advice, &error)) &&
        (value->param->unit != OCHE_UNIT_BYTES || advice.u <= value->value.u))
        return false;
    value->value = advice;
    if (most == NULL && advice.u < UINT64_MAX / 2 && !draw_one_in(draw, 3))
        value->value.u = clip(value->param, advice.u + (uint64_t)draw_scale(draw, 1, MOST_SPARE));
    return true;
}

static bool mend_value(struct draft *draft, struct draft_part *part, const char *key,
                       const char *refusal, struct draw *draw)
{
    const struct oche_param *param = oche_param_find(draft_table(part), key);
    uint32_t number = 0;

    if (param == NULL)
        return false;
    while (number < part->value_count && part->values[number].param != param)
        number++;
    if (number == DRAFT_MOST_VALUES)
        return false;
    if (draft_take_other(draft, part, param, refusal, draw))
        return true;
    if (number < part->value_count && take_advice(&part->values[number], refusal, draw))
        return true;
    bool requested = draft_requires_param(draw, part, param);

    if (number < part->value_count && !draft_is_needed(part, param) &&
        draw_one_in(draw, requested ? 8 : 2)) {
        draft_remove_value(part, number);
        return true;
    }
    struct draft_value value;

    if (draft_draw_value(&value, part, param, draw)) {
        part->values[number] = value;
        part->value_count += number == part->value_count;
    } else if (number < part->value_count) {
        draft_remove_value(part, number);
    } else {
        return false;
    }
    return true;
}

/* The scenario names a file that does not fit the network: leaves the file out if possible. */
static bool mend_file(struct draft *draft, const char *refusal, struct draw *draw)
{
    for (uint32_t i = 0; i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];

        for (uint32_t k = 0; k < part->value_count; k++) {
            size_t length = strlen(part->values[k].text);

            if (length == 0 || strncmp(refusal, part->values[k].text, length) != 0)
                continue;
            if (draft_is_needed(part, part->values[k].param))
                return redraw(draft, i, draw);
            if (!draft_requires_param(draw, part, part->values[k].param) || draw_one_in(draw, 8) ||
                !draft_draw_value(&part->values[k], part, part->values[k].param, draw))
                draft_remove_value(part, k);
            return true;
        }
    }
    return false;
}

/* If the value does not fit into the switch, makes it smaller, or takes the default. */
static bool mend_buffer(struct draft *draft, const char *refusal, struct draw *draw)
{
    if (strstr(refusal, "a larger switch.buffer") == NULL || draw_one_in(draw, 3))
        return false;
    for (uint32_t i = 0; i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];

        for (uint32_t k = 0; k < part->value_count; k++)
            if (strcmp(part->section->name, "switch") == 0 &&
                strcmp(part->values[k].param->name, "buffer") == 0) {
                draft_remove_value(part, k);
                return true;
            }
    }
    return false;
}

/* "switch.tor.kmin: …": a message about an inner section. */
static bool mend_inner(struct draft *draft, const char *path, const char *refusal,
                       struct draw *draw)
{
    for (uint32_t i = 0; i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];
        size_t length = strlen(part->section->name);

        if (part->section->within == NULL || strncmp(path, part->section->name, length) != 0)
            continue;
        if (path[length] == '.')
            return mend_value(draft, part, path + length + 1, refusal, draw);
        draft_remove_part(draft, i);
        return true;
    }
    return false;
}

/* Reads "FILE:LINE: switch.kmin: what is wrong", "FILE: workload[1].load: …" and similar. */
bool draft_mend(struct draft *draft, const char *refusal, struct draw *draw)
{
    const char *at = strstr(refusal, ": ");
    char path[128];
    unsigned entry = 0;

    if (mend_file(draft, refusal, draw) || mend_buffer(draft, refusal, draw))
        return true;
    if (at == NULL || sscanf(at + 2, "%127[^: ]", path) != 1)
        return false;
    if (mend_inner(draft, path, refusal, draw))
        return true;
    char *key = strchr(path, '.'), *index = strchr(path, '[');

    if (index != NULL) {
        entry = (unsigned)strtoul(index + 1, NULL, 10);
        *index = '\0';
    }
    if (key != NULL)
        *key++ = '\0';
    for (uint32_t i = 0; i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];

        if (part->section->name[0] == '\0' && key == NULL &&
            mend_value(draft, part, path, refusal, draw))
            return true;
        if (strcmp(part->section->name, path) != 0 || entry-- > 0)
            continue;
        if (index != NULL && index[1] != '0' && strstr(refusal, " already; ") != NULL &&
            !draw_one_in(draw, 4)) { /* an earlier entry names the same host */
            draft_remove_part(draft, i);
            return true;
        }
        return key != NULL ? mend_value(draft, part, key, refusal, draw) : redraw(draft, i, draw);
    }
    /* The message is about a default of a section that is not given. */
    for (size_t i = 0; key != NULL && i < draw->schema->section_count; i++)
        if (strcmp(draw->schema->sections[i].name, path) == 0) {
            struct draft_part *part = add(draft, &draw->schema->sections[i], draw);

            return part != NULL && mend_value(draft, part, key, refusal, draw);
        }
    return false;
}
