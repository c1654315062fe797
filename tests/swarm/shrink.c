/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a draft smaller: removes parts, then values, then simplifies the rest; repeats until
 * nothing changes.
 */
#include "tests/swarm/shrink.h"

#include <stdlib.h>
#include <string.h>

struct shrinking {
    struct draft *best, *trial;
    shrink_breaks *breaks;
    void *context;
    unsigned tried, most;
};

static void begin(struct shrinking *shrinking)
{
    memcpy(shrinking->trial, shrinking->best, sizeof(*shrinking->best));
}

/* Keeps the trial if it breaks the same rule. */
static bool keep(struct shrinking *shrinking)
{
    if (shrinking->tried >= shrinking->most)
        return false;
    shrinking->tried++;
    if (!shrinking->breaks(shrinking->context, shrinking->trial))
        return false;
    memcpy(shrinking->best, shrinking->trial, sizeof(*shrinking->best));
    return true;
}

static bool drop_parts(struct shrinking *shrinking)
{
    bool any = false;

    for (uint32_t i = shrinking->best->part_count; i-- > 0;) {
        begin(shrinking);
        draft_remove_part(shrinking->trial, i);
        any |= keep(shrinking);
    }
    return any;
}

static bool drop_values(struct shrinking *shrinking)
{
    bool any = false;

    for (uint32_t i = shrinking->best->part_count; i-- > 0;)
        for (uint32_t k = shrinking->best->parts[i].value_count; k-- > 0;) {
            const struct draft_part *part = &shrinking->best->parts[i];

            if (draft_is_needed(part, part->values[k].param))
                continue;
            begin(shrinking);
            draft_remove_value(&shrinking->trial->parts[i], k);
            any |= keep(shrinking);
        }
    return any;
}

/* Tries the variants before this one in the list, without values. */
static bool plain_variants(struct shrinking *shrinking)
{
    bool any = false;

    for (uint32_t i = 0; i < shrinking->best->part_count; i++)
        for (uint32_t v = 0; shrinking->best->parts[i].variant != DRAFT_NO_VARIANT &&
                             strcmp(shrinking->best->parts[i].section->name, "topology") != 0 &&
                             strcmp(shrinking->best->parts[i].section->name, "workload") != 0 &&
                             v < shrinking->best->parts[i].variant;
             v++) {
            begin(shrinking);
            shrinking->trial->parts[i].variant = v;
            shrinking->trial->parts[i].value_count = 0;
            any |= keep(shrinking);
        }
    return any;
}

static bool is_whole(const struct oche_param *param)
{
    return param->unit == OCHE_UNIT_COUNT || param->unit == OCHE_UNIT_BYTES ||
           param->unit == OCHE_UNIT_BPS || param->unit == OCHE_UNIT_TIME;
}

static bool try_value(struct shrinking *shrinking, uint32_t i, uint32_t k, uint64_t whole)
{
    begin(shrinking);
    shrinking->trial->parts[i].values[k].value.u = whole;
    return keep(shrinking);
}

/* Tries the least value, then half, then fewer digits. */
static bool smaller(struct shrinking *shrinking, uint32_t i, uint32_t k)
{
    const struct draft_value *value = &shrinking->best->parts[i].values[k];
    uint64_t least = value->param->minimum.u;
    bool any = false;

    if (!is_whole(value->param) || value->value.u == OCHE_NEVER || value->value.u <= least)
        return false;
    if (value->param->unit != OCHE_UNIT_TIME && try_value(shrinking, i, k, least))
        return true;
    while (value->value.u > least + 1 && value->value.u / 2 >= least &&
           try_value(shrinking, i, k, value->value.u / 2))
        any = true;
    for (uint64_t step = 10; step <= value->value.u && value->value.u / step >= 1; step *= 10)
        if (value->value.u % step != 0 && value->value.u / step * step >= least)
            any |= try_value(shrinking, i, k, value->value.u / step * step);
    if (value->param->unit == OCHE_UNIT_COUNT && value->value.u > least)
        any |= try_value(shrinking, i, k, value->value.u - 1);
    return any;
}

static bool small_values(struct shrinking *shrinking)
{
    bool any = false;

    for (uint32_t i = 0; i < shrinking->best->part_count; i++)
        for (uint32_t k = 0; k < shrinking->best->parts[i].value_count; k++)
            any |= smaller(shrinking, i, k);
    return any;
}

unsigned shrink(struct draft *draft, shrink_breaks *breaks, void *context, unsigned tries)
{
    struct shrinking shrinking = {.best = draft,
                                  .trial = calloc(1, sizeof(*draft)),
                                  .breaks = breaks,
                                  .context = context,
                                  .most = tries};
    bool any = true;

    OCHE_MUST(shrinking.trial != NULL);
    while (any && shrinking.tried < shrinking.most) {
        any = drop_parts(&shrinking);
        any |= drop_values(&shrinking);
        any |= plain_variants(&shrinking);
        any |= small_values(&shrinking);
    }
    free(shrinking.trial);
    return shrinking.tried;
}
