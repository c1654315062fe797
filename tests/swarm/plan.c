/* SPDX-License-Identifier: Apache-2.0 */
/* Themes and wishes: see the header. */
#include "tests/swarm/plan.h"

#include <stdio.h>
#include <string.h>

#define US ((double)OCHE_US)
#define MS ((double)OCHE_MS)

/* What is to happen. */
enum theme {
    CALM, /* whatever chance brings: most worlds without a theme are idle */
    CROWDED,
    PAUSED,
    MARKED,
    LOSSY,
    DEFLECTED,
    CREDITS,
    FAILING,
    STUCK, /* a ring of switches that wait for each other */
    CUT,   /* links fail while packets cross them */
    THEMES
};

#define ONLY(theme) (1U << (theme))
#define BUSY        (((1U << THEMES) - 1) & ~ONLY(CALM))
#define PFC         (ONLY(PAUSED) | ONLY(STUCK))

/*
 * Limits under themes; a choice or truth value is drawn from least to most. The first row
 * counts.
 */
static const struct {
    uint32_t themes;
    const char *section, *key; /* key NULL: all of that unit */
    enum oche_unit unit;       /* with key NULL */
    double least, most;
    unsigned percent;
} rows[] = {
    {BUSY, "", "duration", .least = 300 * US, .most = 50 * MS, .percent = 100},
    {BUSY, "", "warmup", .least = 0, .most = 30 * US, .percent = 12},
    {ONLY(DEFLECTED), "topology", "hosts_per_leaf", .least = 3, .most = 4, .percent = 100},
    {ONLY(DEFLECTED), "topology", "leaves", .least = 2, .most = 4, .percent = 100},
    {ONLY(DEFLECTED), "topology", "spines", .least = 2, .most = 3, .percent = 100},
    {BUSY, "topology", "k", .least = 4, .most = 4, .percent = 100},
    {BUSY, "topology", "hosts", .least = 3, .most = 8, .percent = 100},
    {BUSY, "topology", "oversubscription", .least = 0, .most = 0, .percent = 100},
    {BUSY, "topology", "uplinks_per_tor", .least = 1, .most = 3, .percent = 100},
    {BUSY, "topology", NULL, OCHE_UNIT_COUNT, .least = 2, .most = 4, .percent = 100},
    {ONLY(PAUSED), "topology", "host_rate", .least = 5e10, .most = 4e11, .percent = 50},
    {ONLY(PAUSED), "topology", NULL, OCHE_UNIT_BPS, .least = 1e8, .most = 1e10, .percent = 50},
    {BUSY, "topology", NULL, OCHE_UNIT_BPS, .least = 1e9, .most = 1e11, .percent = 10},
    {BUSY, "topology", NULL, OCHE_UNIT_TIME, .least = 5e3, .most = 3 * US, .percent = 20},
    {BUSY & ~ONLY(CUT), "routes", "reroute", .least = 0, .most = 500 * US, .percent = 10},
    {ONLY(CUT), "routes", "reroute", .least = 0, .most = 100 * US, .percent = 80},
    {ONLY(STUCK), "workload", "bytes", .least = 1e5, .most = 1e6, .percent = 100},
    {ONLY(STUCK), "workload", "pattern", .least = 1, .most = 1, .percent = 100},
    {ONLY(STUCK), "workload", "shift", .least = 2, .most = 2, .percent = 100},
    {BUSY, "workload", "bytes", .least = 2e3, .most = 6e4, .percent = 100},
    {BUSY, "workload", "start", .least = 0, .most = 5 * US, .percent = 15},
    {BUSY, "workload", "jitter", .least = 0, .most = 2 * US, .percent = 20},
    {BUSY, "workload", "stagger", .least = 0, .most = 2 * US, .percent = 20},
    {BUSY, "workload", "spread", .least = 0, .most = 3 * US, .percent = 100},
    {BUSY, "workload", "load", .least = 0.8, .most = 8, .percent = 100},
    {BUSY, "workload", "messages", .least = 0, .most = 4, .percent = 80},
    {BUSY, "workload", "degree", .least = 2, .most = 8, .percent = 100},
    {BUSY, "workload", "pairs", .least = 2, .most = 6, .percent = 100},
    {BUSY, "workload", "initial_rate", .least = 1e9, .most = 1e11, .percent = 6},
    {BUSY, "workload", "stop", .least = 50 * US, .most = 2 * MS, .percent = 30},
    {BUSY, "workload", "outstanding", .least = 1, .most = 6, .percent = 50},
    {BUSY, "host", "window", .least = 0, .most = 200, .percent = 12},
    {BUSY, "host", "feedback_jitter", .least = 0, .most = 10 * US, .percent = 10},
    {ONLY(FAILING), "host", "retry_count", .least = 0, .most = 3, .percent = 100},
    {ONLY(FAILING), "host", "ack_timeout", .least = 5 * US, .most = 60 * US, .percent = 100},
    {BUSY, "host", "ack_timeout", .least = 20 * US, .most = 500 * US, .percent = 60},
    {ONLY(STUCK), "host", "ack_timeout", .least = 200 * US, .most = 2 * MS, .percent = 60},
    {ONLY(LOSSY), "switch", "pfc", .least = 0, .most = 0, .percent = 70},
    {ONLY(LOSSY), "switch", "buffer", .least = 5e3, .most = 5e4, .percent = 80},
    {PFC, "switch", "pfc", .least = 0, .most = 1, .percent = 6},
    {ONLY(STUCK), "switch", "threshold", .least = 1, .most = 1, .percent = 97},
    {ONLY(STUCK), "switch", "xoff", .least = 1e3, .most = 5e3, .percent = 97},
    {PFC, "switch", "threshold", .least = 1, .most = 1, .percent = 75},
    {PFC, "switch", "xoff", .least = 1e3, .most = 1.2e4, .percent = 90},
    {PFC, "switch", "buffer", .least = 5e4, .most = 4e5, .percent = 20},
    {PFC, "switch", "headroom", .least = 0, .most = 5e4, .percent = 10},
    {ONLY(CREDITS), "switch", "buffer", .least = 1e5, .most = 1e6, .percent = 20},
    {BUSY, "switch", "kmin", .least = 0, .most = 4e3, .percent = 60},
    {BUSY, "switch", "kmax", .least = 4e3, .most = 2e4, .percent = 75},
    {BUSY, "switch", "pmax", .least = 0.02, .most = 1, .percent = 75},
    {ONLY(MARKED), "switch", "ecn", .least = 1, .most = 1, .percent = 10},
    {ONLY(FAILING), "loss", "probability", .least = 0.02, .most = 0.6, .percent = 90},
    {ONLY(LOSSY), "loss", "probability", .least = 1e-3, .most = 0.1, .percent = 80},
    {ONLY(CUT), "failures", "at", .least = US, .most = 40 * US, .percent = 100},
    {ONLY(CUT), "failures", "until", .least = 30 * US, .most = MS, .percent = 60},
    {ONLY(DEFLECTED), "iofd", "threshold", .least = 0, .most = 4e3, .percent = 100},
    {ONLY(DEFLECTED), "iofd", "short_message", .least = 100, .most = 2e4, .percent = 50},
    {ONLY(CREDITS), "ib_credits", "buffer", .least = 2e3, .most = 2e4, .percent = 100},
};

/*
 * Variants that a theme draws most often, and sections and mechanisms that it is nothing
 * without.
 */
static const struct {
    uint32_t themes;
    const char *section, *variants; /* between bars; NULL: an entry of the section */
    unsigned percent;
} picks[] = {
    {ONLY(DEFLECTED), "topology", "|leaf_spine|clos|fat_tree|", 95},
    {ONLY(STUCK), "topology", "|from_file|", 95},
    {ONLY(STUCK), "workload", "|permutation|", 85},
    {ONLY(MARKED), "congestion_control", "|dcqcn|ib_cc|dctcp|dart|", 85},
    {ONLY(DEFLECTED) | ONLY(CREDITS), "congestion_control",
     "|none|dcqcn|dart|ib_cc|rcp|timely|timely_patched|", 90},
    {ONLY(STUCK), "congestion_control", "|none|timely|dcqcn|timely_patched|", 60},
    {ONLY(FAILING) | ONLY(CUT), "congestion_control", "|rogue|", 12},
    {ONLY(DEFLECTED), "workload", "|permutation|incast_groups|long_flows|", 70},
    {BUSY, "workload", "|incast|incast_groups|permutation|long_flows|transfers|", 70},
    {ONLY(DEFLECTED), "iofd", NULL, 95},
    {ONLY(CREDITS), "ib_credits", NULL, 95},
    {ONLY(LOSSY), "loss", NULL, 60},
    {ONLY(FAILING), "loss", NULL, 95},
    {ONLY(CUT), "failures", NULL, 100},
};

/* ---- what the network must be for a feature, or what brings it ---- */

static const struct {
    const char *section, *key; /* of the wish: a parameter, or NULL: an entry */
    const char *other, *variant;
} needs[] = {
    {"routes", "file", "topology", "parking_lot"},
    {"rcp_rate", NULL, "congestion_control", "rcp"},
    {"credit_shaper", NULL, "congestion_control", "expresspass"},
    {"fecn", NULL, "congestion_control", "ib_cc"},
};

static const struct oche_section *section_of(const struct draw *draw, const char *name)
{
    for (size_t i = 0; i < draw->schema->section_count; i++)
        if (strcmp(draw->schema->sections[i].name, name) == 0)
            return &draw->schema->sections[i];
    return NULL;
}

/* Of sections with one choice the first wish counts. */
static void wish(struct draw *draw, struct draft_wish wish)
{
    if (draw->wish_count < DRAFT_MOST_WISHES)
        draw->wishes[draw->wish_count++] = wish;
}

static void wish_variant(struct draw *draw, const char *section, const char *variant)
{
    const struct oche_section *found = section_of(draw, section);

    for (uint32_t v = 0; found != NULL && v < found->variant_count; v++)
        if (strcmp(found->variants[v].name, variant) == 0)
            wish(draw, (struct draft_wish){found, v, NULL});
}

static void wish_what_is_needed(struct draw *draw)
{
    for (uint32_t i = 0; i < draw->wish_count; i++)
        for (size_t k = 0; k < OCHE_COUNT_OF(needs); k++) {
            const struct oche_param *param = draw->wishes[i].param;
            bool same = needs[k].key == NULL
                            ? param == NULL
                            : param != NULL && strcmp(param->name, needs[k].key) == 0;

            if (same && strcmp(draw->wishes[i].section->name, needs[k].section) == 0)
                wish_variant(draw, needs[k].other, needs[k].variant);
        }
}

/*
 * The feature of that number, of those that can be wished for: variants of sections that have
 * variants, mechanisms, parameters of other sections. False: there are only `*count`.
 */
static bool find_feature(const struct draw *draw, uint64_t number, struct draft_wish *found,
                         uint64_t *count)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < draw->schema->section_count; i++) {
        const struct oche_section *section = &draw->schema->sections[i];
        bool mechanism = oche_switch_mechanism_find(section->name) != NULL;
        uint64_t here = section->selector != NULL ? section->variant_count
                        : mechanism               ? 1
                                                  : section->table->count;

        if (number >= seen && number < seen + here) {
            bool plain = section->selector == NULL && !mechanism;
            uint32_t index = (uint32_t)(number - seen);

            *found =
                (struct draft_wish){.section = section,
                                    .variant = section->selector != NULL ? index : DRAFT_NO_VARIANT,
                                    .param = plain ? &section->table->params[index] : NULL};
            return true;
        }
        seen += here;
    }
    *count = seen;
    return false;
}

void draft_plan(struct draw *draw, uint64_t seed)
{
    struct draft_wish first, second;
    uint64_t count;

    draw->wish_count = 0;
    draw->theme = (unsigned)oche_random_below(&draw->random, THEMES);
    find_feature(draw, UINT64_MAX, &first, &count);
    uint64_t a = seed % count, b = (a + seed / count) % count;

    if (!find_feature(draw, a, &first, &count) || !find_feature(draw, b, &second, &count))
        return;
    wish(draw, first);
    wish(draw, second);
    wish_what_is_needed(draw);
    for (size_t i = 0; i < OCHE_COUNT_OF(picks); i++)
        if (picks[i].variants == NULL && (picks[i].themes >> draw->theme & 1) &&
            draw_below(draw, 100) < picks[i].percent)
            wish(draw,
                 (struct draft_wish){section_of(draw, picks[i].section), DRAFT_NO_VARIANT, NULL});
}

/* ---- the draw asks ---- */

struct draft_limits draft_limits_in(const struct draw *draw, const struct draft_part *part,
                                    const struct oche_param *param)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        if (!(rows[i].themes >> draw->theme & 1) ||
            strcmp(rows[i].section, part->section->name) != 0 ||
            (rows[i].key == NULL ? rows[i].unit != param->unit
                                 : strcmp(rows[i].key, param->name) != 0))
            continue;
        if (param->unit == OCHE_UNIT_TEXT)
            continue;
        return draft_limits_clip(
            (struct draft_limits){rows[i].least, rows[i].most, rows[i].percent, true}, param);
    }
    return draft_limits(part, param);
}

bool draft_wishes_section(const struct draw *draw, const struct oche_section *section)
{
    for (uint32_t i = 0; i < draw->wish_count; i++)
        if (draw->wishes[i].section == section)
            return true;
    return false;
}

bool draft_wishes_mechanism(const struct draw *draw, const char *name)
{
    for (uint32_t i = 0; i < draw->wish_count; i++)
        if (strcmp(draw->wishes[i].section->name, name) == 0)
            return true;
    return false;
}

/* True if some switch mechanism is wished for that does not come with a congestion control. */
static bool wishes_any_mechanism(const struct draw *draw)
{
    for (uint32_t i = 0; i < draw->wish_count; i++)
        if (oche_switch_mechanism_find(draw->wishes[i].section->name) != NULL)
            return true;
    return false;
}

bool draft_wishes_param(const struct draw *draw, const struct draft_part *part,
                        const struct oche_param *param)
{
    if (strcmp(part->section->name, "switch") == 0 && strcmp(param->name, "mechanisms") == 0 &&
        wishes_any_mechanism(draw))
        return true;
    for (uint32_t i = 0; i < draw->wish_count; i++)
        if (draw->wishes[i].section == part->section && draw->wishes[i].param == param)
            return true;
    return false;
}

bool draft_fills_queues(const struct draw *draw)
{
    return draw->theme == PAUSED;
}

const char *draft_wished_file(const struct draw *draw)
{
    return draw->theme == STUCK ? "ring.topology" : "";
}

uint32_t draft_pick_variant(struct draw *draw, const struct oche_section *section)
{
    uint32_t variant = (uint32_t)draw_below(draw, section->variant_count);
    uint64_t wished = 0;

    for (uint32_t i = 0; i < draw->wish_count; i++)
        if (draw->wishes[i].section == section && draw->wishes[i].variant != DRAFT_NO_VARIANT &&
            draw_one_in(draw, ++wished))
            variant = draw->wishes[i].variant;
    if (wished > 0)
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
