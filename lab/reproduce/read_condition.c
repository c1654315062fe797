/* SPDX-License-Identifier: Apache-2.0 */
/* Reads conditions: the values of axes at which a quantity, a claim or a curve is measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/reproduce/flow_text.h"
#include "lab/reproduce/read.h"
#include "params/units.h"

struct oche_condition oche_no_condition(const struct oche_reader *reader,
                                        const struct oche_study *study)
{
    return (struct oche_condition){
        .axis = oche_read_alloc(reader, study->axis_count, sizeof(struct oche_condition_term))};
}

struct oche_condition oche_condition_merge(const struct oche_reader *reader,
                                           const struct oche_study *study,
                                           const struct oche_condition *under,
                                           const struct oche_condition *over)
{
    struct oche_condition merged = oche_no_condition(reader, study);

    for (size_t a = 0; a < study->axis_count; a++)
        merged.axis[a] = over->axis[a].count > 0 ? over->axis[a] : under->axis[a];
    return merged;
}

/* ---- reading ---- */

static bool unknown_axis(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, const char *key)
{
    const char **names = oche_read_alloc(reader, study->axis_count, sizeof(*names));

    for (size_t a = 0; a < study->axis_count; a++)
        names[a] = study->axes[a].key;
    return oche_read_unknown(reader, node, NULL, key, "varied in this figure", names,
                             study->axis_count);
}

bool oche_read_axis(const struct oche_reader *reader, const struct oche_study *study,
                    const struct oche_yaml *node, const char *key, size_t *axis)
{
    for (*axis = 0; *axis < study->axis_count; (*axis)++)
        if (strcmp(study->axes[*axis].key, key) == 0)
            return true;
    return unknown_axis(reader, study, node, key);
}

/* Returns the index of the axis' value whose label, text or number this is. */
static size_t find_value(const struct oche_reader *reader, const struct oche_study_axis *axis,
                         const struct oche_yaml *node)
{
    const char *text = oche_flow_text(reader->memory, node);
    const struct oche_param param = {OCHE_IS_REAL(0, 0, 1e300), .help = ""};
    union oche_value number;
    struct oche_error ignored;

    for (size_t v = 0; v < axis->count && node->kind == OCHE_YAML_SCALAR; v++)
        if (strcmp(axis->values[v].label, node->text) == 0)
            return v;
    for (size_t v = 0; v < axis->count; v++)
        if (strcmp(axis->values[v].text, text) == 0)
            return v;
    if (axis->unit == NULL || strcmp(axis->unit, "ratio") != 0 ||
        !oche_value_parse(&param, node->text, &number, &ignored))
        return OCHE_ANY;
    for (size_t v = 0; v < axis->count; v++)
        if (axis->values[v].number == number.real)
            return v;
    return OCHE_ANY;
}

bool oche_read_axis_value(const struct oche_reader *reader, const struct oche_study_axis *axis,
                          const struct oche_yaml *node, size_t *value)
{
    const char **labels;

    *value = find_value(reader, axis, node);
    if (*value != OCHE_ANY)
        return true;
    labels = oche_read_alloc(reader, axis->count, sizeof(*labels));
    for (size_t v = 0; v < axis->count; v++)
        labels[v] = axis->values[v].label;
    return oche_read_unknown(reader, node, NULL, oche_flow_text(reader->memory, node),
                             "a value that a grid runs", labels, axis->count);
}

static bool read_term(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_yaml *node, bool many, struct oche_condition *condition)
{
    const bool list = node->kind == OCHE_YAML_LIST;
    size_t found;

    if (!oche_read_axis(reader, study, node, node->key, &found))
        return false;
    if (list && !many)
        return OCHE_READ_FAIL(reader, node, NULL, "is a list; write one value");
    if (list && node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is an empty list; write one value or more");
    const struct oche_study_axis *axis = &study->axes[found];
    struct oche_condition_term *term = &condition->axis[found];

    term->count = list ? node->count : 1;
    term->values = oche_read_alloc(reader, term->count, sizeof(*term->values));
    for (size_t i = 0; i < term->count; i++)
        if (!oche_read_axis_value(reader, axis, list ? node->child[i] : node, &term->values[i]))
            return false;
    return true;
}

bool oche_read_condition(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, bool many, struct oche_condition *condition)
{
    *condition = oche_no_condition(reader, study);
    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write AXIS: VALUE");
    for (uint32_t i = 0; i < node->count; i++)
        if (!read_term(reader, study, node->child[i], many, condition))
            return false;
    return true;
}

bool oche_read_axis_name(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *map, const char *key, size_t *axis)
{
    const struct oche_yaml *node = oche_yaml_find(map, key);

    *axis = OCHE_ANY;
    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_SCALAR)
        return unknown_axis(reader, study, node, "a map or list");
    return oche_read_axis(reader, study, node, node->text, axis);
}

/* ---- existence ---- */

static const char *values_of(const struct oche_reader *reader, const struct oche_study_axis *axis)
{
    const char *list = "";

    for (size_t v = 0; v < axis->count; v++)
        list = oche_document_print(reader->memory, "%s%s%s", list, v > 0 ? ", " : "",
                                   axis->values[v].label);
    return list;
}

static bool must_exist(const struct oche_reader *reader, const struct oche_study *study,
                       const struct oche_yaml *node, const size_t *value, const char *what)
{
    const char *text = "";

    if (oche_study_find(study, value) != NULL)
        return true;
    for (size_t a = 0; a < study->axis_count; a++)
        text = oche_document_print(reader->memory, "%s%s%s %s", text, a > 0 ? ", " : "",
                                   study->axes[a].key, study->axes[a].values[value[a]].label);
    return OCHE_READ_FAIL(reader, node, NULL, "%sno grid runs %s; add it to a grid", what, text);
}

/* True if every combination that the condition names is run, and also its reference. */
static bool points_exist(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, const struct oche_quantity *quantity,
                         const struct oche_condition *condition)
{
    size_t total = 1, *value = oche_read_alloc(reader, study->axis_count, sizeof(*value));

    for (size_t a = 0; a < study->axis_count; a++)
        total *= condition->axis[a].count;
    for (size_t i = 0; i < total; i++) {
        size_t rest = i;

        for (size_t a = 0; a < study->axis_count; a++) {
            value[a] = condition->axis[a].values[rest % condition->axis[a].count];
            rest /= condition->axis[a].count;
        }
        if (!must_exist(reader, study, node, value, ""))
            return false;
        if (quantity == NULL || !quantity->relative)
            continue;
        for (size_t a = 0; a < study->axis_count; a++)
            if (quantity->relative_to.axis[a].count > 0)
                value[a] = quantity->relative_to.axis[a].values[0];
        if (!must_exist(reader, study, node, value, "its quantity is relative, but "))
            return false;
    }
    return true;
}

size_t oche_usual_value(const struct oche_study_axis *axis)
{
    size_t found = OCHE_ANY;

    for (size_t v = 0; v < axis->count; v++) {
        if (!axis->values[v].usual)
            continue;
        if (found != OCHE_ANY)
            return OCHE_ANY;
        found = v;
    }
    return found;
}

bool oche_condition_complete(const struct oche_reader *reader, const struct oche_study *study,
                             const struct oche_yaml *node, size_t but,
                             const struct oche_quantity *quantity, struct oche_condition *condition)
{
    for (size_t a = 0; a < study->axis_count; a++) {
        struct oche_condition_term *term = &condition->axis[a];

        if (term->count > 0 || a == but)
            continue;
        size_t usual = oche_usual_value(&study->axes[a]);

        if (usual == OCHE_ANY)
            return OCHE_READ_FAIL(reader, node, NULL, "does not say which %s (%s)",
                                  study->axes[a].key, values_of(reader, &study->axes[a]));
        term->values = oche_read_alloc(reader, 1, sizeof(*term->values));
        term->values[0] = usual;
        term->count = 1;
    }
    return but != OCHE_ANY || points_exist(reader, study, node, quantity, condition);
}

const char *oche_condition_text(const struct oche_study *study,
                                const struct oche_condition *condition)
{
    const char *text = "";

    for (size_t a = 0; a < study->axis_count; a++) {
        const struct oche_condition_term *term = &condition->axis[a];
        const struct oche_study_axis *axis = &study->axes[a];

        if (term->count == 0 || axis->count == 1)
            continue;
        text = oche_document_print(study->document, "%s%s%s", text, text[0] != '\0' ? ", " : "",
                                   axis->key);
        for (size_t v = 0; v < term->count; v++)
            text = oche_document_print(study->document, "%s%s%s", text, v > 0 ? "/" : " ",
                                       axis->values[term->values[v]].label);
    }
    return text;
}
