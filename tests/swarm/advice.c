/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the advice in a refusal, which names another value: "…; would be right: buffer: auto", or
 * "…; 0, or iofd.lanes: one".
 */
#include <stdio.h>
#include <string.h>

#include "params/units.h"
#include "tests/swarm/plan.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz_"

/*
 * Returns the part that parameter `path` belongs to: its section's, or `part`. Sets *key to the
 * rest of the path.
 */
static const struct draft_part *part_of(const struct draft *draft, const struct draft_part *part,
                                        const char *path, const char **key)
{
    const char *point = strchr(path, '.');

    *key = path;
    if (point == NULL)
        return part;
    *key = point + 1;
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const char *name = draft->parts[i].section->name;

        if (strlen(name) == (size_t)(point - path) && strncmp(name, path, strlen(name)) == 0)
            return &draft->parts[i];
    }
    return NULL;
}

static bool give(struct draft *draft, const struct draft_part *part, const char *path,
                 const char *text, const struct draw *draw)
{
    const char *key;
    const struct draft_part *of = part_of(draft, part, path, &key);
    const struct oche_param *param = of != NULL ? oche_param_find(draft_table(of), key) : NULL;
    union oche_value value;
    struct oche_error error;

    if (param == NULL || param->unit == OCHE_UNIT_TEXT || draft_requires_param(draw, of, param) ||
        !oche_value_parse(param, text, &value, &error))
        return false;
    draft_set(draft, of->section->name, param->name, value.u);
    return true;
}

bool draft_take_other(struct draft *draft, const struct draft_part *part,
                      const struct oche_param *param, const char *refusal, struct draw *draw)
{
    const char *advice = strstr(refusal, "; ");
    char path[64], text[64];

    if (advice == NULL || (!draft_requires_param(draw, part, param) && draw_one_in(draw, 2)))
        return false;
    for (const char *at = advice; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
        if (sscanf(at, "%63[" LETTERS ".]: %63[^ ,;()]", path, text) == 2 &&
            give(draft, part, path, text, draw))
            return true;
    return false;
}
