/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: see the header. */
#include "tests/swarm/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "tests/swarm/judge.h"

#define RARE 20 /* pairs in the report */

/* True if parameters of this table are counted in pairs: the section has no variants. */
static bool is_plain(const struct oche_section *section)
{
    return section->selector == NULL && section->within == NULL &&
           oche_switch_mechanism_find(section->name) == NULL;
}

static uint16_t add(struct coverage *coverage, uint16_t group, const char *section,
                    const char *between, const char *name)
{
    OCHE_MUST(coverage->count < MOST_FEATURES);
    snprintf(coverage->names[coverage->count], sizeof(coverage->names[0]), "%s%s%s", section,
             between, name);
    coverage->group[coverage->count] = group;
    return coverage->count++;
}

static void add_table(struct coverage *coverage, const struct oche_section *section,
                      const char *owner, const struct oche_param_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (section->within != NULL && table->params[i].of_all)
            continue;
        if (is_plain(section)) {
            add(coverage, 0, section->name, ".", table->params[i].name);
            continue;
        }
        OCHE_MUST(coverage->detail_count < MOST_DETAILS);
        snprintf(coverage->details[coverage->detail_count++], sizeof(coverage->details[0]), "%s.%s",
                 owner, table->params[i].name);
    }
}

void coverage_make(struct coverage *coverage, const struct oche_schema *schema)
{
    memset(coverage, 0, sizeof(*coverage));
    for (size_t i = 0; i < schema->section_count; i++) {
        const struct oche_section *section = &schema->sections[i];
        uint16_t group = section->list ? 0 : (uint16_t)(i + 1);

        for (size_t v = 0; section->selector != NULL && v < section->variant_count; v++) {
            add(coverage, group, section->name, "=", section->variants[v].name);
            add_table(coverage, section, section->variants[v].name, section->variants[v].table);
        }
        if (section->selector != NULL)
            continue;
        if (section->within != NULL)
            add(coverage, 0, "tier", "=", strchr(section->name, '.') + 1);
        else if (!is_plain(section))
            add(coverage, 0, "mechanism", "=", section->name);
        add_table(coverage, section, section->name, section->table);
    }
    for (unsigned twin = TWIN_TWO; twin < TWINS; twin++)
        add(coverage, 0, "twin", "=", swarm_twin_names[twin]);
    for (unsigned event = 0; event < SWARM_EVENTS_SEEN; event++)
        add(coverage, 0, "saw", "=", swarm_event_names[event]);
}

static void has(const struct coverage *coverage, bool *here, const char *section,
                const char *between, const char *name)
{
    char whole[48];

    snprintf(whole, sizeof(whole), "%s%s%s", section, between, name);
    for (unsigned i = 0; i < coverage->count; i++)
        if (strcmp(coverage->names[i], whole) == 0)
            here[i] = true;
}

static void count_detail(struct coverage *coverage, const char *owner, const char *name)
{
    char whole[64];

    snprintf(whole, sizeof(whole), "%s.%s", owner, name);
    for (unsigned i = 0; i < coverage->detail_count; i++)
        coverage->alone[i] += strcmp(coverage->details[i], whole) == 0;
}

/* True if an inner section overrides the value with the parameter's default. */
static bool is_taken_back(const struct draft *draft, const struct draft_part *part,
                          const struct draft_value *value)
{
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const struct draft_part *inner = &draft->parts[i];

        if (inner->section->within != part->section)
            continue;
        for (uint32_t k = 0; k < inner->value_count; k++)
            if (strcmp(inner->values[k].param->name, value->param->name) == 0 &&
                draft_is_preset(&inner->values[k]))
                return true;
    }
    return false;
}

void coverage_count(struct coverage *coverage, struct draft *draft,
                    const struct swarm_verdict *verdict)
{
    bool here[MOST_FEATURES] = {false};

    for (uint32_t i = 0; i < draft->part_count; i++) {
        const struct draft_part *part = &draft->parts[i];
        const char *variant = draft_variant_name(part), *section = part->section->name;

        if (variant != NULL)
            has(coverage, here, section, "=", variant);
        if (part->section->within != NULL && part->value_count > 0)
            has(coverage, here, "tier", "=", strchr(section, '.') + 1);
        for (uint32_t k = 0; k < part->value_count; k++) {
            if (draft_is_preset(&part->values[k]) || is_taken_back(draft, part, &part->values[k]))
                continue;
            if (is_plain(part->section))
                has(coverage, here, section, ".", part->values[k].param->name);
            else
                count_detail(coverage, variant != NULL ? variant : section,
                             part->values[k].param->name);
        }
    }
    for (unsigned i = 0; oche_switch_mechanisms[i] != NULL; i++)
        if (verdict->mechanisms >> i & 1)
            has(coverage, here, "mechanism", "=", oche_switch_mechanisms[i]->name);
    for (unsigned twin = TWIN_TWO; twin < TWINS; twin++)
        if (verdict->twins >> twin & 1)
            has(coverage, here, "twin", "=", swarm_twin_names[twin]);
    for (unsigned event = 0; event < SWARM_EVENTS_SEEN; event++)
        if (verdict->saw >> event & 1)
            has(coverage, here, "saw", "=", swarm_event_names[event]);
    for (unsigned i = 0; i < coverage->count; i++)
        for (unsigned k = i; here[i] && k < coverage->count; k++)
            coverage->pairs[i][k] += here[k];
}

struct pair {
    uint32_t count;
    uint16_t a, b;
};

static int by_count(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return (a->count > b->count) - (a->count < b->count);
}

static void print_pairs(const struct coverage *coverage, FILE *out, bool all)
{
    struct pair *pairs = calloc(MOST_FEATURES * MOST_FEATURES, sizeof(*pairs));
    unsigned count = 0, none = 0, impossible = 0;

    OCHE_MUST(pairs != NULL);
    for (uint16_t a = 0; a < coverage->count; a++)
        for (uint16_t b = (uint16_t)(a + 1); b < coverage->count; b++) {
            bool apart = coverage->group[a] != 0 && coverage->group[a] == coverage->group[b];

            if (apart || coverage->pairs[a][a] == 0 || coverage->pairs[b][b] == 0)
                continue;
            const char *why = coverage_impossible(coverage->names[a], coverage->names[b]);

            impossible += why != NULL;
            if (why != NULL && coverage->pairs[a][b] == 0)
                continue;
            if (why != NULL)
                fprintf(out, "said to be impossible, and met: %s with %s\n", coverage->names[a],
                        coverage->names[b]);
            none += coverage->pairs[a][b] == 0;
            pairs[count++] = (struct pair){coverage->pairs[a][b], a, b};
        }
    qsort(pairs, count, sizeof(*pairs), by_count);
    fprintf(out, "pairs of features: %u, of which %u never met; %u more are impossible\n", count,
            none, impossible);
    for (unsigned i = 0; i < count && (all || i < none + RARE); i++)
        if (all || i >= none)
            fprintf(out, "  %6u  %s with %s\n", pairs[i].count, coverage->names[pairs[i].a],
                    coverage->names[pairs[i].b]);
    free(pairs);
}

void coverage_print(const struct coverage *coverage, FILE *out, bool all_pairs)
{
    fprintf(out, "worlds by feature:\n");
    for (unsigned i = 0; i < coverage->count; i++)
        fprintf(out, "  %6u  %s\n", coverage->pairs[i][i], coverage->names[i]);
    fprintf(out, "worlds by parameter of a variant that is not at its default:\n");
    for (unsigned i = 0; i < coverage->detail_count; i++)
        fprintf(out, "  %6u  %s\n", coverage->alone[i], coverage->details[i]);
    print_pairs(coverage, out, all_pairs);
}
