/* SPDX-License-Identifier: Apache-2.0 */
/* Themes and required features: see the header. */
#include "tests/swarm/plan.h"

#include <stdio.h>
#include <string.h>

#include "tests/swarm/coverage.h"

#define US ((double)OCHE_US)
#define MS ((double)OCHE_MS)

#define ONE_LARGE 16 /* one world in this many is large */

#define ONLY(theme) (1U << (theme))
#define BUSY        (((1U << THEMES) - 1) & ~ONLY(CALM))
#define RING        (ONLY(STUCK) | ONLY(GIVEN_UP))
#define WAITING     (RING | ONLY(DETOURED) | ONLY(LOOPED))
#define TREES       (ONLY(DETOURED) | ONLY(LOOPED))
#define PFC         (ONLY(PAUSED) | WAITING)
#define AROUND      (ONLY(DEFLECTED) | ONLY(ASTRAY))
#define QUIET       (WAITING | ONLY(LOST))
#define TRIES       (ONLY(FAILING) | ONLY(LOST) | ONLY(GIVEN_UP))
#define LOSES       (ONLY(LOSSY) | ONLY(FAILING) | ONLY(CUT))

/*
 * Limits under themes; a choice or truth value is drawn from least to most. The first matching row
 * counts.
 */
static const struct {
    uint32_t themes;
    const char *section, *key; /* key NULL: all parameters of that unit */
    enum oche_unit unit;       /* with key NULL */
    double least, most;
    unsigned percent;
} rows[] = {
    {BUSY, "", "duration", .least = 300 * US, .most = 50 * MS, .percent = 100},
    {BUSY, "", "warmup", .least = 0, .most = 30 * US, .percent = 12},
    {AROUND, "topology", "hosts_per_leaf", .least = 3, .most = 4, .percent = 100},
    {AROUND, "topology", "leaves", .least = 2, .most = 4, .percent = 100},
    {AROUND, "topology", "spines", .least = 2, .most = 3, .percent = 100},
    {ONLY(DETOURED), "topology", "leaves", .least = 4, .most = 4, .percent = 100},
    {ONLY(DETOURED), "topology", "hosts_per_leaf", .least = 1, .most = 1, .percent = 100},
    {TREES, "topology", "host_rate", .least = 5e10, .most = 2e11, .percent = 100},
    {TREES, "topology", NULL, OCHE_UNIT_BPS, .least = 5e9, .most = 2e10, .percent = 100},
    {ONLY(DETOURED), "topology", "spines", .least = 2, .most = 2, .percent = 100},
    {ONLY(DETOURED), "topology", "pods", .least = 4, .most = 4, .percent = 100},
    {ONLY(DETOURED), "topology", "tors_per_pod", .least = 1, .most = 1, .percent = 100},
    {ONLY(DETOURED), "topology", "hosts_per_tor", .least = 1, .most = 1, .percent = 100},
    {ONLY(DETOURED), "topology", "uplinks_per_tor", .least = 1, .most = 1, .percent = 100},
    {ONLY(DETOURED), "topology", "aggs_per_pod", .least = 1, .most = 1, .percent = 100},
    {ONLY(DETOURED), "topology", "uplinks_per_agg", .least = 2, .most = 2, .percent = 100},
    {ONLY(DETOURED), "topology", "cores", .least = 2, .most = 2, .percent = 100},
    {BUSY, "topology", "pods", .least = 2, .most = 3, .percent = 100},
    {BUSY, "topology", "tors_per_pod", .least = 1, .most = 3, .percent = 100},
    {BUSY, "topology", "hosts_per_tor", .least = 1, .most = 3, .percent = 100},
    {BUSY, "topology", "k", .least = 4, .most = 4, .percent = 100},
    {BUSY, "topology", "hosts", .least = 3, .most = 8, .percent = 100},
    {BUSY, "topology", "oversubscription", .least = 0, .most = 0, .percent = 100},
    {BUSY, "topology", "uplinks_per_tor", .least = 1, .most = 3, .percent = 100},
    {BUSY, "topology", NULL, OCHE_UNIT_COUNT, .least = 2, .most = 4, .percent = 100},
    {ONLY(PAUSED), "topology", "host_rate", .least = 5e10, .most = 4e11, .percent = 50},
    {ONLY(PAUSED), "topology", NULL, OCHE_UNIT_BPS, .least = 1e8, .most = 1e10, .percent = 50},
    {LOSES, "topology", NULL, OCHE_UNIT_BPS, .least = 1e9, .most = 1e11, .percent = 30},
    {BUSY, "topology", NULL, OCHE_UNIT_BPS, .least = 1e9, .most = 1e11, .percent = 10},
    {BUSY, "topology", NULL, OCHE_UNIT_TIME, .least = 5e3, .most = 3 * US, .percent = 20},
    {BUSY & ~ONLY(CUT), "routes", "reroute", .least = 0, .most = 500 * US, .percent = 10},
    {ONLY(CUT), "routes", "reroute", .least = 0, .most = 100 * US, .percent = 80},
    {ONLY(DETOURED), "iofd", "lanes", .least = 2, .most = 2, .percent = 90},
    {ONLY(DETOURED), "iofd", "threshold", .least = 0, .most = 2e3, .percent = 100},
    {ONLY(DETOURED), "iofd", "short_message", .least = 5e4, .most = 1e6, .percent = 100},
    {ONLY(DETOURED), "workload", "bytes", .least = 3e4, .most = 3e5, .percent = 100},
    {WAITING, "workload", "bytes", .least = 1e5, .most = 1e6, .percent = 100},
    {RING, "workload", "pattern", .least = 1, .most = 1, .percent = 100},
    {ONLY(LOOPED), "workload", "pattern", .least = 1, .most = 1, .percent = 60},
    {ONLY(DETOURED), "workload", "pattern", .least = 1, .most = 1, .percent = 100},
    {ONLY(DETOURED), "workload", "shift", .least = 1, .most = 1, .percent = 100},
    {RING, "workload", "shift", .least = 2, .most = 2, .percent = 100},
    {ONLY(LOST), "workload", "bytes", .least = 2e4, .most = 4e5, .percent = 100},
    {BUSY, "workload", "bytes", .least = 2e3, .most = 6e4, .percent = 100},
    {BUSY, "workload", "start", .least = 0, .most = 5 * US, .percent = 15},
    {BUSY, "workload", "jitter", .least = 0, .most = 2 * US, .percent = 20},
    {BUSY, "workload", "stagger", .least = 0, .most = 2 * US, .percent = 20},
    {BUSY, "workload", "spread", .least = 0, .most = 3 * US, .percent = 100},
    {QUIET, "workload", "load", .least = 0.1, .most = 1, .percent = 100},
    {QUIET, "workload", "messages", .least = 1, .most = 3, .percent = 90},
    {QUIET, "workload", "stop", .least = 3 * US, .most = 30 * US, .percent = 90},
    {BUSY, "workload", "load", .least = 0.8, .most = 8, .percent = 100},
    {BUSY, "workload", "messages", .least = 0, .most = 4, .percent = 80},
    {BUSY, "workload", "degree", .least = 2, .most = 8, .percent = 100},
    {BUSY, "workload", "pairs", .least = 2, .most = 6, .percent = 100},
    {BUSY, "workload", "initial_rate", .least = 1e9, .most = 1e11, .percent = 6},
    {BUSY, "workload", "stop", .least = 50 * US, .most = 2 * MS, .percent = 30},
    {BUSY, "workload", "outstanding", .least = 1, .most = 6, .percent = 50},
    {LOSES, "host", "ack_every", .least = 2, .most = 16, .percent = 30},
    {BUSY, "host", "window", .least = 0, .most = 200, .percent = 12},
    {BUSY, "host", "feedback_jitter", .least = 0, .most = 10 * US, .percent = 10},
    {BUSY, "host", "doorbell_latency", .least = 0, .most = 3 * US, .percent = 10},
    {BUSY, "host", "dma_latency", .least = 0, .most = 20 * US, .percent = 10},
    {BUSY, "host", "completion_latency", .least = 0, .most = 3 * US, .percent = 10},
    {ONLY(ASTRAY), "host", "retry_count", .least = 0, .most = 0, .percent = 100},
    {ONLY(ASTRAY), "host", "ack_timeout", .least = 2 * US, .most = 20 * US, .percent = 100},
    {ONLY(LOST) | ONLY(GIVEN_UP), "host", "retry_count", .least = 0, .most = 1, .percent = 100},
    {ONLY(GIVEN_UP) | ONLY(ASTRAY), "host", "timeouts", .least = 0, .most = 0, .percent = 100},
    {ONLY(FAILING), "host", "retry_count", .least = 0, .most = 3, .percent = 100},
    {ONLY(LOST) | ONLY(GIVEN_UP), "host", "ack_timeout", .least = 5 * US, .most = 30 * US,
     .percent = 100},
    {ONLY(FAILING), "host", "ack_timeout", .least = 5 * US, .most = 60 * US, .percent = 100},
    {BUSY, "host", "ack_timeout", .least = 20 * US, .most = 500 * US, .percent = 60},
    {ONLY(STUCK), "host", "ack_timeout", .least = 200 * US, .most = 2 * MS, .percent = 60},
    {ONLY(LOSSY), "switch", "pfc", .least = 0, .most = 0, .percent = 70},
    {ONLY(LOSSY), "switch", "buffer", .least = 5e3, .most = 5e4, .percent = 80},
    {PFC, "switch", "pfc", .least = 0, .most = 1, .percent = 6},
    {WAITING, "switch", "threshold", .least = 1, .most = 1, .percent = 97},
    {WAITING, "switch", "xoff", .least = 1e3, .most = 5e3, .percent = 97},
    {PFC, "switch", "threshold", .least = 1, .most = 1, .percent = 75},
    {PFC, "switch", "xoff", .least = 1e3, .most = 1.2e4, .percent = 90},
    {PFC, "switch", "buffer", .least = 5e4, .most = 4e5, .percent = 20},
    {PFC, "switch", "headroom", .least = 0, .most = 5e4, .percent = 10},
    {ONLY(CREDITS), "switch", "buffer", .least = 1e5, .most = 1e6, .percent = 20},
    {WAITING, "switch", "kmax", .least = 4e3, .most = 5e4, .percent = 70},
    {BUSY, "switch", "kmin", .least = 0, .most = 4e3, .percent = 60},
    {BUSY, "switch", "kmax", .least = 4e3, .most = 2e4, .percent = 75},
    {BUSY, "switch", "pmax", .least = 0.02, .most = 1, .percent = 75},
    {ONLY(MARKED), "switch", "ecn", .least = 1, .most = 1, .percent = 10},
    {ONLY(LOST), "loss", "port", .least = 1, .most = 0},
    {ONLY(LOST), "loss", "pattern", .least = 1, .most = 0},
    {ONLY(LOST), "loss", "probability", .least = 0.7, .most = 1, .percent = 100},
    {ONLY(FAILING), "loss", "probability", .least = 0.02, .most = 0.6, .percent = 90},
    {ONLY(LOSSY), "loss", "probability", .least = 1e-3, .most = 0.1, .percent = 80},
    {WAITING, "failures", "at", .least = 20 * US, .most = 2 * MS, .percent = 95},
    {LOSES, "recovery", "nak_interval", .least = 0, .most = 12 * US, .percent = 60},
    {LOSES, "recovery", "few_packets", .least = 0, .most = 12, .percent = 50},
    {LOSES, "recovery", "rto_low", .least = US, .most = 60 * US, .percent = 50},
    {LOSES, "recovery", "rto_high", .least = 20 * US, .most = 300 * US, .percent = 50},
    {BUSY, "congestion_control", "timer", .least = US, .most = 100 * US, .percent = 25},
    {BUSY, "congestion_control", "cnp_interval", .least = 500e3, .most = 20 * US, .percent = 25},
    {BUSY, "congestion_control", "min_rate_fraction", .least = 0.01, .most = 0.9, .percent = 25},
    {ONLY(CUT), "failures", "at", .least = US, .most = 40 * US, .percent = 100},
    {ONLY(CUT), "failures", "until", .least = 30 * US, .most = MS, .percent = 60},
    {TRIES, "congestion_control", "rto_min", .least = 2 * US, .most = 40 * US, .percent = 100},
    {TRIES, "congestion_control", "rto_initial", .least = 2 * US, .most = 40 * US, .percent = 100},
    {TRIES, "congestion_control", "ack_delay", .least = 0, .most = US, .percent = 100},
    {TRIES, "congestion_control", "rto", .least = 5 * US, .most = 50 * US, .percent = 100},
    {TRIES, "congestion_control", "stop_timeout", .least = 5 * US, .most = 50 * US, .percent = 100},
    {TRIES, "congestion_control", "retries", .least = 0, .most = 1, .percent = 100},
    {BUSY, "congestion_control", "os_overhead", .least = 0, .most = 20 * US, .percent = 60},
    {PFC, "congestion_control", "lossless", .least = 1, .most = 1, .percent = 80},
    {PFC, "congestion_control", "initial_window", .least = 10, .most = 200, .percent = 60},
    {BUSY & ~ONLY(DETOURED), "iofd", "threshold", .least = 0, .most = 4e3, .percent = 100},
    {BUSY & ~ONLY(DETOURED), "iofd", "short_message", .least = 100, .most = 2e4, .percent = 50},
    {ONLY(CREDITS), "ib_credits", "buffer", .least = 2e3, .most = 2e4, .percent = 100},
};

/* Variants that a theme draws most often, and the sections and mechanisms that it requires. */
static const struct {
    uint32_t themes;
    const char *section, *variants; /* names, separated by bars; NULL: an entry of the section */
    unsigned percent;
} picks[] = {
    {AROUND, "topology", "|leaf_spine|clos|fat_tree|", 95},
    {RING, "topology", "|from_file|", 95},
    {ONLY(DETOURED), "topology", "|leaf_spine|clos|fat_tree|", 100},
    {ONLY(LOOPED), "topology", "|dumbbell|parking_lot|", 100},
    {RING, "workload", "|permutation|", 85},
    {ONLY(LOOPED) | ONLY(DETOURED), "workload", "|permutation|", 75},
    {ONLY(MARKED), "congestion_control", "|dcqcn|ib_cc|dctcp|dart|nscc|", 85},
    {AROUND | ONLY(CREDITS), "congestion_control",
     "|none|dcqcn|dart|ib_cc|rcp|timely|timely_patched|nscc|swift|hpcc|", 90},
    {WAITING, "congestion_control", "|none|timely|dcqcn|timely_patched|", 60},
    {ONLY(FAILING) | ONLY(CUT), "congestion_control", "|rogue|", 12},
    {AROUND, "workload", "|permutation|incast_groups|long_flows|", 70},
    {BUSY, "workload", "|incast|incast_groups|permutation|long_flows|transfers|", 70},
    {PFC | ONLY(MARKED) | AROUND | ONLY(CREDITS), "switch", NULL, 100},
    {TRIES | ONLY(ASTRAY), "host", NULL, 100},
    {AROUND, "iofd", NULL, 95},
    {ONLY(CREDITS), "ib_credits", NULL, 95},
    {ONLY(LOSSY), "loss", NULL, 60},
    {ONLY(FAILING), "loss", NULL, 95},
    {ONLY(LOST), "loss", NULL, 100},
    {ONLY(CUT), "failures", NULL, 100},
    {ONLY(PAUSED), "slow_receivers", NULL, 40},
    {ONLY(PAUSED), "pause_storms", NULL, 30},
};

/* How often a theme leaves out sections and mechanisms, unless they are required. */
static const struct {
    uint32_t themes;
    const char *section;
    unsigned percent;
} shunned[] = {
    {PFC, "ib_credits", 90},
    {ONLY(CREDITS), "slow_receivers", 100},
    {ONLY(CREDITS), "pause_storms", 100},
    {WAITING, "failures", 70},
    {WAITING, "loss", 70},
};

/* ---- requirements of features: on the network, or on other sections ---- */

static const struct {
    const char *feature, *brings[5]; /* one of these, separated by bars, or NULL */
} needs[] = {
    {"routes.file",
     {"topology=parking_lot", "topology=leaf_spine", "topology=dumbbell", "topology=clos",
      "topology=fat_tree"}},
    {"mechanism=rcp_rate", {"congestion_control=rcp"}},
    {"mechanism=int_stamp", {"congestion_control=hpcc"}},
    {"mechanism=credit_shaper", {"congestion_control=expresspass"}},
    {"mechanism=fecn", {"congestion_control=ib_cc"}},
    {"failures.where", {"failures.random"}},
    {"slow_receivers.xon", {"slow_receivers.xoff"}},
    {"tier=tor",
     {"topology=star", "topology=dumbbell", "topology=parking_lot", "topology=fat_tree",
      "topology=from_file"}},
    {"tier=leaf", {"topology=leaf_spine"}},
    {"tier=spine", {"topology=leaf_spine"}},
    {"tier=agg", {"topology=clos", "topology=fat_tree"}},
    {"tier=core", {"topology=clos", "topology=fat_tree"}},
    {"tier=aggregation", {"topology=from_file"}},
};

static const struct oche_section *section_of(const struct draw *draw, const char *name)
{
    for (size_t i = 0; i < draw->schema->section_count; i++)
        if (strcmp(draw->schema->sections[i].name, name) == 0)
            return &draw->schema->sections[i];
    return NULL;
}

/* In sections with one choice the first required variant counts. */
static void require(struct draw *draw, struct draft_feature feature)
{
    if (draw->required_count < DRAFT_MOST_REQUIRED)
        draw->required[draw->required_count++] = feature;
}

static bool is_mechanism(const struct oche_section *section)
{
    return oche_switch_mechanism_find(section->name) != NULL;
}

/* True if the section counts as one feature: a mechanism, or a tier of switches. */
static bool is_whole(const struct oche_section *section)
{
    return is_mechanism(section) || section->within != NULL;
}

/* Returns how many features of the section can be required. */
static uint64_t features_of(const struct oche_section *section)
{
    return section->selector != NULL ? section->variant_count
           : is_whole(section)       ? 1
                                     : section->table->count;
}

static struct draft_feature feature_of(const struct oche_section *section, uint32_t index)
{
    bool plain = section->selector == NULL && !is_whole(section);

    return (struct draft_feature){.section = section,
                                  .variant = section->selector != NULL ? index : DRAFT_NO_VARIANT,
                                  .param = plain ? &section->table->params[index] : NULL};
}

/*
 * Finds feature `number` of those that can be required: variants, mechanisms, tiers, and parameters
 * of sections without variants. Returns false if there are only `*count`.
 */
static bool find_feature(const struct draw *draw, uint64_t number, struct draft_feature *found,
                         uint64_t *count)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < draw->schema->section_count; i++) {
        const struct oche_section *section = &draw->schema->sections[i];
        uint64_t here = features_of(section);

        if (number >= seen && number < seen + here) {
            *found = feature_of(section, (uint32_t)(number - seen));
            return true;
        }
        seen += here;
    }
    *count = seen;
    return false;
}

/* Writes the feature's name as in coverage.c. */
static void name_feature(const struct draft_feature *feature, char *name, size_t room)
{
    const struct oche_section *section = feature->section;

    if (feature->variant != DRAFT_NO_VARIANT)
        snprintf(name, room, "%s=%s", section->name, section->variants[feature->variant].name);
    else if (feature->param != NULL)
        snprintf(name, room, "%s.%s", section->name, feature->param->name);
    else if (section->within != NULL)
        snprintf(name, room, "tier=%s", strchr(section->name, '.') + 1);
    else
        snprintf(name, room, "mechanism=%s", section->name);
}

bool draft_require(struct draw *draw, const char *name)
{
    struct draft_feature found;
    uint64_t count;
    char here[64];

    for (uint64_t i = 0; find_feature(draw, i, &found, &count); i++) {
        name_feature(&found, here, sizeof(here));
        if (strcmp(here, name) != 0)
            continue;
        require(draw, found);
        return true;
    }
    return false;
}

static struct draft_feature feature_number(const struct draw *draw, uint64_t number)
{
    struct draft_feature found = {0};
    uint64_t count;

    find_feature(draw, UINT64_MAX, &found, &count);
    find_feature(draw, number % count, &found, &count);
    return found;
}

void draft_require_number(struct draw *draw, uint64_t number)
{
    require(draw, feature_number(draw, number));
}

void draft_name_number(const struct draw *draw, uint64_t number, char *name, size_t room)
{
    struct draft_feature found = feature_number(draw, number);

    name_feature(&found, name, room);
}

/* Requires what a feature depends on, unless the section is already chosen. */
static void require_dependencies(struct draw *draw)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        for (size_t k = 0; k < OCHE_COUNT_OF(needs); k++) {
            uint64_t choices = 0;
            char name[64];

            name_feature(&draw->required[i], name, sizeof(name));
            if (strcmp(name, needs[k].feature) != 0)
                continue;
            while (choices < OCHE_COUNT_OF(needs[k].brings) && needs[k].brings[choices] != NULL)
                choices++;
            const char *brings = needs[k].brings[draw_below(draw, choices)];

            snprintf(name, sizeof(name), "%.*s", (int)strcspn(brings, "=."), brings);
            if (draft_variants_required(draw, section_of(draw, name)) == 0)
                draft_require(draw, brings);
        }
}

/* Requires two features. Consecutive numbers walk through all pairs. */
static void plan_pair(struct draw *draw, uint64_t number)
{
    struct draft_feature any;
    uint64_t count;

    draw->theme = (unsigned)draw_below(draw, BY_TURN);
    find_feature(draw, UINT64_MAX, &any, &count);
    draft_require_number(draw, number % count);
    draft_require_number(draw, number % count + number / count);
}

void draft_plan(struct draw *draw, uint64_t seed)
{
    draw->required_count = 0;
    draw->large = draw_one_in(draw, ONE_LARGE);
    if (seed % 2 == 0)
        plan_pair(draw, seed / 2);
    else
        draft_rare_event(draw, seed / 2);
    require_dependencies(draw);
    for (size_t i = 0; i < OCHE_COUNT_OF(picks); i++)
        if (picks[i].variants == NULL && (picks[i].themes >> draw->theme & 1) &&
            draw_below(draw, 100) < picks[i].percent)
            require(draw, (struct draft_feature){section_of(draw, picks[i].section),
                                                 DRAFT_NO_VARIANT, NULL});
}

/* ---- questions of the draw ---- */

struct draft_limits draft_limits_in(const struct draw *draw, const struct draft_part *part,
                                    const struct oche_param *param)
{
    struct draft_limits large;

    if (draw->large && draft_limits_large(part, param, &large))
        return large;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        if (!(rows[i].themes >> draw->theme & 1) ||
            strcmp(rows[i].section, draft_section(part)) != 0 ||
            (rows[i].key == NULL ? rows[i].unit != param->unit
                                 : strcmp(rows[i].key, param->name) != 0) ||
            (part->section->within != NULL && strcmp(param->name, "ecn") == 0))
            continue;
        if (param->unit == OCHE_UNIT_TEXT && rows[i].least <= rows[i].most)
            continue;
        return draft_limits_clip(
            (struct draft_limits){rows[i].least, rows[i].most, rows[i].percent, true}, param);
    }
    return draft_limits(part, param);
}

bool draft_requires_section(const struct draw *draw, const struct oche_section *section)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (draw->required[i].section == section)
            return true;
    return false;
}

bool draft_requires_mechanism(const struct draw *draw, const char *name)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (strcmp(draw->required[i].section->name, name) == 0)
            return true;
    return false;
}

/* True if a required switch mechanism does not come with a congestion control. */
static bool requires_any_mechanism(const struct draw *draw)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (oche_switch_mechanism_find(draw->required[i].section->name) != NULL)
            return true;
    return false;
}

bool draft_requires_param(const struct draw *draw, const struct draft_part *part,
                          const struct oche_param *param)
{
    if (strcmp(part->section->name, "switch") == 0 && strcmp(param->name, "mechanisms") == 0 &&
        requires_any_mechanism(draw))
        return true;
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (draw->required[i].section == part->section && draw->required[i].param == param)
            return true;
    return false;
}

bool draft_fills_queues(const struct draw *draw)
{
    return draw->theme == PAUSED;
}

/* True if a mechanism excludes a required feature. */
static bool excludes_required(const struct draw *draw, const char *mechanism)
{
    char name[64], requested[64];

    snprintf(name, sizeof(name), "mechanism=%s", mechanism);
    for (uint32_t i = 0; i < draw->required_count; i++) {
        name_feature(&draw->required[i], requested, sizeof(requested));
        if (coverage_impossible(requested, name) != NULL)
            return true;
    }
    return false;
}

bool draft_shuns(struct draw *draw, const char *section)
{
    if (excludes_required(draw, section))
        return true;
    for (size_t i = 0; i < OCHE_COUNT_OF(shunned); i++)
        if ((shunned[i].themes >> draw->theme & 1) && strcmp(shunned[i].section, section) == 0 &&
            !draft_requires_section(draw, section_of(draw, section)))
            return draw_below(draw, 100) < shunned[i].percent;
    return false;
}

bool draft_takes_time(const struct draw *draw)
{
    return QUIET >> draw->theme & 1;
}

const char *draft_required_files(const struct draw *draw)
{
    if (RING >> draw->theme & 1)
        return "|ring.topology|";
    if (draw->theme == DETOURED)
        return "|circle.routes|pods.routes|fat_tree.routes|";
    return draw->theme == LOOPED ? "|loop.routes|" : "";
}

uint32_t draft_variants_required(const struct draw *draw, const struct oche_section *section)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < draw->required_count; i++)
        count +=
            draw->required[i].section == section && draw->required[i].variant != DRAFT_NO_VARIANT;
    return count;
}

/* The entries of a list take the required variants in turn; in other sections the first counts. */
static bool required_variant(const struct draw *draw, const struct oche_section *section,
                             uint32_t *variant)
{
    uint32_t count = draft_variants_required(draw, section);
    uint32_t skip = count > 0 && section->list ? draw->entry % count : 0;

    for (uint32_t i = 0; i < draw->required_count; i++) {
        if (draw->required[i].section != section || draw->required[i].variant == DRAFT_NO_VARIANT)
            continue;
        *variant = draw->required[i].variant;
        if (skip-- == 0)
            return true;
    }
    return false;
}

uint32_t draft_pick_variant(struct draw *draw, const struct oche_section *section)
{
    uint32_t variant = (uint32_t)draw_below(draw, section->variant_count);

    if (required_variant(draw, section, &variant))
        return variant;
    for (size_t i = 0; i < OCHE_COUNT_OF(picks); i++) {
        char name[40];

        if (picks[i].variants == NULL || strcmp(picks[i].section, section->name) != 0 ||
            !(picks[i].themes >> draw->theme & 1))
            continue;
        if (draw_below(draw, 100) >= picks[i].percent)
            return variant;
        for (unsigned tries = 0; tries < 100; tries++) {
            snprintf(name, sizeof(name), "|%s|", section->variants[variant].name);
            if (strstr(picks[i].variants, name) != NULL)
                return variant;
            variant = (uint32_t)draw_below(draw, section->variant_count);
        }
    }
    return variant;
}
