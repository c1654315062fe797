/* SPDX-License-Identifier: Apache-2.0 */
/* A draft as data, and as YAML. */
#include "tests/swarm/draft.h"

#include <stdio.h>
#include <string.h>

#include "params/units.h"

const struct oche_param_table *draft_table(const struct draft_part *part)
{
    return part->variant == DRAFT_NO_VARIANT ? part->section->table
                                             : part->section->variants[part->variant].table;
}

const char *draft_variant_name(const struct draft_part *part)
{
    return part->variant == DRAFT_NO_VARIANT ? NULL : part->section->variants[part->variant].name;
}

struct draft_value *draft_find(struct draft *draft, const char *section, const char *key)
{
    for (uint32_t i = 0; i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];

        for (uint32_t k = 0; k < part->value_count; k++)
            if (strcmp(part->section->name, section) == 0 &&
                strcmp(part->values[k].param->name, key) == 0)
                return &part->values[k];
    }
    return NULL;
}

void draft_set(struct draft *draft, const char *section, const char *key, uint64_t whole)
{
    struct draft_value *value = draft_find(draft, section, key);

    for (uint32_t i = 0; value == NULL && i < draft->part_count; i++) {
        struct draft_part *part = &draft->parts[i];
        const struct oche_param *param = oche_param_find(draft_table(part), key);

        if (strcmp(part->section->name, section) != 0 || param == NULL ||
            part->value_count == DRAFT_MOST_VALUES)
            continue;
        value = &part->values[part->value_count++];
        *value = (struct draft_value){.param = param};
    }
    if (value != NULL)
        value->value.u = whole;
}

void draft_remove_value(struct draft_part *part, uint32_t number)
{
    memmove(&part->values[number], &part->values[number + 1],
            (--part->value_count - number) * sizeof(part->values[0]));
}

void draft_remove_part(struct draft *draft, uint32_t number)
{
    memmove(&draft->parts[number], &draft->parts[number + 1],
            (--draft->part_count - number) * sizeof(draft->parts[0]));
}

/* ---- YAML ---- */

struct text {
    char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int count = vsnprintf(text->at, (size_t)(text->end - text->at), format, arguments);
    va_end(arguments);
    OCHE_MUST(count >= 0 && count < text->end - text->at);
    text->at += count;
}

static void put_value(struct text *text, const struct draft_value *value)
{
    char number[OCHE_VALUE_BYTES];

    if (value->param->unit != OCHE_UNIT_TEXT) {
        oche_value_format(value->param, value->value, number, sizeof(number));
        put(text, "%s: %s\n", value->param->name, number);
        return;
    }
    put(text, "%s: \"", value->param->name);
    for (const char *c = value->text; *c != '\0'; c++)
        put(text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    put(text, "\"\n");
}

static void put_part(struct text *text, const struct draft_part *part, bool first, bool empty)
{
    const struct oche_section *section = part->section;
    const char *indent = section->name[0] == '\0' ? "" : section->list ? "    " : "  ";
    const char *begin = section->list ? "  - " : indent; /* indentation of the next line */

    if (section->name[0] != '\0' && first)
        put(text, "%s:%s\n", section->name,
            section->selector == NULL && !section->list && empty ? " {}" : "");
    if (section->selector != NULL) {
        put(text, "%s%s: %s\n", begin, section->selector, draft_variant_name(part));
        begin = indent;
    } else if (section->list && part->value_count == 0) {
        put(text, "  - {}\n");
    }
    for (uint32_t i = 0; i < part->value_count; i++) {
        put(text, "%s", begin);
        put_value(text, &part->values[i]);
        begin = indent;
    }
}

/* Writes the inner sections of the part, such as tiers of switches. */
static void put_inner(struct text *text, const struct draft *draft, const struct draft_part *outer)
{
    for (uint32_t i = 0; i < draft->part_count; i++) {
        const struct draft_part *part = &draft->parts[i];

        if (part->section->within != outer->section)
            continue;
        put(text, "  %s:%s\n", strchr(part->section->name, '.') + 1,
            part->value_count == 0 ? " {}" : "");
        for (uint32_t k = 0; k < part->value_count; k++) {
            put(text, "    ");
            put_value(text, &part->values[k]);
        }
    }
}

static bool is_empty(const struct draft *draft, const struct draft_part *outer)
{
    for (uint32_t i = 0; i < draft->part_count; i++)
        if (draft->parts[i].section->within == outer->section)
            return false;
    return outer->value_count == 0;
}

size_t draft_write(const struct draft *draft, char *yaml)
{
    struct text text = {yaml, yaml + DRAFT_YAML_BYTES};

    for (uint32_t i = 0; i < draft->part_count; i++) {
        const struct draft_part *part = &draft->parts[i];
        bool first = i == 0 || draft->parts[i - 1].section != part->section;

        if (part->section->within != NULL)
            continue;
        put_part(&text, part, first, is_empty(draft, part));
        put_inner(&text, draft, part);
    }
    *text.at = '\0';
    return (size_t)(text.at - yaml);
}
