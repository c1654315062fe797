/* SPDX-License-Identifier: Apache-2.0 */
/* Reads words, numbers and choices of a paper's files. */
#include "lab/reproduce/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/printable.h"
#include "params/units.h"

void *oche_read_alloc(const struct oche_reader *reader, size_t count, size_t bytes)
{
    return oche_document_alloc(reader->memory, (count > 0 ? count : 1) * bytes);
}

static size_t length_of(const char *const *words)
{
    size_t count = 0;

    while (words[count] != NULL)
        count++;
    return count;
}

bool oche_read_unknown(const struct oche_reader *reader, const struct oche_yaml *node,
                       const char *below, const char *text, const char *what,
                       const char *const *words, size_t count)
{
    /* if `text` is a number, suggests nothing: a similar number would be a wrong guess */
    bool number = text[0] >= '0' && text[0] <= '9';
    const char *nearest = number ? NULL : oche_nearest_word(text, words, count);
    const char *list = "";

    for (size_t i = 0; i < count; i++)
        list = oche_document_print(reader->memory, "%s%s%s", list, i > 0 ? ", " : "", words[i]);
    if (count == 0)
        return OCHE_READ_FAIL(reader, node, below, "\"%s\" is not %s; there is none", text, what);
    if (nearest != NULL)
        return OCHE_READ_FAIL(reader, node, below, "\"%s\" is not %s; did you mean \"%s\"? (%s)",
                              text, what, nearest, list);
    return OCHE_READ_FAIL(reader, node, below, "\"%s\" is not %s; one of %s", text, what, list);
}

bool oche_read_keys(const struct oche_reader *reader, const struct oche_yaml *node,
                    const char *const *known)
{
    if (node->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write KEY: VALUE below it");
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *child = node->child[i];
        size_t k = 0;

        while (known[k] != NULL && strcmp(known[k], child->key) != 0)
            k++;
        if (known[k] != NULL)
            continue;
        const char *nearest = oche_nearest_word(child->key, known, length_of(known));

        if (nearest != NULL)
            return OCHE_READ_FAIL(reader, child, NULL, "unknown key; did you mean \"%s\"?",
                                  nearest);
        const char *list = "";

        for (k = 0; known[k] != NULL; k++)
            list = oche_document_print(reader->memory, "%s%s%s", list, k > 0 ? ", " : "", known[k]);
        return OCHE_READ_FAIL(reader, child, NULL, "unknown key; there are %s", list);
    }
    return true;
}

bool oche_read_text(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                    bool required, const char **text)
{
    const struct oche_yaml *node = oche_yaml_find(map, key);

    *text = NULL;
    if (node == NULL) {
        if (required)
            return OCHE_READ_FAIL(reader, map, NULL, "has no \"%s\"; add %s: TEXT", key, key);
        return true;
    }
    if (node->kind != OCHE_YAML_SCALAR)
        return OCHE_READ_FAIL(reader, node, NULL, "is a %s; write a text",
                              node->kind == OCHE_YAML_MAP ? "map" : "list");
    if (node->text[0] == '\0')
        return OCHE_READ_FAIL(reader, node, NULL, "is empty; write a text%s",
                              required ? "" : ", or leave it out");
    if (!oche_is_printable(node->text))
        return OCHE_READ_FAIL(reader, node, NULL,
                              "has control characters; leave out what a terminal does not print");
    *text = oche_document_print(reader->memory, "%s", node->text);
    return true;
}

bool oche_read_count(const struct oche_reader *reader, const struct oche_yaml *map, const char *key,
                     uint32_t most, uint32_t *count)
{
    const struct oche_yaml *node = oche_yaml_find(map, key);
    const struct oche_param param = {OCHE_IS_COUNT(0, 1, most), .help = ""};
    union oche_value value;
    struct oche_error reason;

    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_SCALAR)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a number; write a whole number");
    if (!oche_value_parse(&param, node->text, &value, &reason))
        return OCHE_READ_FAIL(reader, node, NULL, "%s", reason.text);
    *count = (uint32_t)value.u;
    return true;
}

bool oche_read_choice(const struct oche_reader *reader, const struct oche_yaml *map,
                      const char *key, const char *const *words, unsigned *choice)
{
    const struct oche_yaml *node = oche_yaml_find(map, key);

    if (node == NULL)
        return true;
    if (node->kind == OCHE_YAML_SCALAR)
        for (unsigned i = 0; words[i] != NULL; i++)
            if (strcmp(node->text, words[i]) == 0) {
                *choice = i;
                return true;
            }
    return oche_read_unknown(reader, node, NULL,
                             node->kind == OCHE_YAML_SCALAR ? node->text : "a map or list", "known",
                             words, length_of(words));
}

/* The units in which a file gives numbers, each with its factor to the metric's unit. */
static const struct unit {
    const char *name;
    enum oche_unit unit;
    double one;
} units[] = {
    {"s", OCHE_UNIT_TIME, 1e-12}, {"bps", OCHE_UNIT_BPS, 1},    {"bytes", OCHE_UNIT_BYTES, 1},
    {"count", OCHE_UNIT_REAL, 1}, {"ratio", OCHE_UNIT_REAL, 1},
};

bool oche_read_number(const struct oche_reader *reader, const struct oche_yaml *node,
                      const char *unit, double *value)
{
    const struct unit *as = NULL;
    struct oche_param param = {.help = ""};
    union oche_value parsed;
    struct oche_error reason;

    for (size_t i = 0; i < OCHE_COUNT_OF(units); i++)
        if (strcmp(units[i].name, unit) == 0)
            as = &units[i];
    OCHE_MUST(as != NULL);
    if (node->kind != OCHE_YAML_SCALAR)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a number; write one, in %s", unit);
    const char *text = node->text;
    bool negative = text[0] == '-';

    param.unit = as->unit;
    if (as->unit == OCHE_UNIT_REAL)
        param.maximum.real = 1e300;
    else
        /* not the largest value, which means "never" */
        param.maximum.u = UINT64_MAX - 1;
    if (!oche_value_parse(&param, text + negative, &parsed, &reason))
        return OCHE_READ_FAIL(reader, node, NULL, "%s", reason.text);
    *value = as->unit == OCHE_UNIT_REAL ? parsed.real : (double)parsed.u * as->one;
    if (negative)
        *value = -*value;
    return true;
}

bool oche_read_words(const struct oche_reader *reader, const struct oche_yaml *node,
                     const char ***words, size_t *count)
{
    if (node == NULL)
        return true;
    bool list = node->kind == OCHE_YAML_LIST;
    uint32_t entries = list ? node->count : 1;

    if (entries == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is empty; write at least one word");
    *words = oche_read_alloc(reader, entries, sizeof(**words));
    *count = entries;
    for (uint32_t i = 0; i < entries; i++) {
        const struct oche_yaml *entry = list ? node->child[i] : node;

        if (entry->kind != OCHE_YAML_SCALAR || entry->text[0] == '\0')
            return OCHE_READ_FAIL(reader, entry, NULL, "is not a word; write a list of words");
        (*words)[i] = oche_document_print(reader->memory, "%s", entry->text);
    }
    return true;
}
