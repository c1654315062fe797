/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads other readings of the paper (`also`): the other place at which a claim is measured. `at`
 * gives axes another value than the figure's `at`. `instead` replaces values wherever a claim names
 * them, also in lists, so one of the schemes of an order can be replaced. `quantities` replaces
 * what is measured.
 */
#include <string.h>

#include "lab/reproduce/read.h"

/*
 * Reads {VALUE: OTHER, …} of one axis. Returns the replacement of each value, or the value itself.
 */
static bool read_replaced(const struct oche_reader *reader, const struct oche_study *study,
                          const struct oche_yaml *node, struct oche_reading *reading)
{
    size_t a;

    if (!oche_read_axis(reader, study, node, node->key, &a))
        return false;
    if (node->kind != OCHE_YAML_MAP || node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write {VALUE: OTHER}");
    const struct oche_study_axis *axis = &study->axes[a];
    size_t *other = oche_read_alloc(reader, axis->count, sizeof(*other));

    for (size_t v = 0; v < axis->count; v++)
        other[v] = v;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *pair = node->child[i];
        /* the key as a value, so it may be written in all forms of a value */
        const struct oche_yaml key = {
            .kind = OCHE_YAML_SCALAR, .text = pair->key, .path = node->path, .line = pair->line};
        size_t from, to;

        if (!oche_read_axis_value(reader, axis, &key, &from) ||
            !oche_read_axis_value(reader, axis, pair, &to))
            return false;
        if (from == to)
            return OCHE_READ_FAIL(reader, pair, NULL, "replaces a value by itself; leave it out");
        other[from] = to;
    }
    reading->instead[a] = other;
    return true;
}

static bool read_instead(const struct oche_reader *reader, const struct oche_study *study,
                         const struct oche_yaml *node, struct oche_reading *reading)
{
    reading->instead = oche_read_alloc(reader, study->axis_count, sizeof(*reading->instead));
    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_MAP || node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write {AXIS: {VALUE: OTHER}}");
    for (uint32_t i = 0; i < node->count; i++)
        if (!read_replaced(reader, study, node->child[i], reading))
            return false;
    return true;
}

/* Reads {QUANTITY: OTHER, …}. The other one has the same unit, because the tolerance is in it. */
static bool read_quantities(const struct oche_reader *reader, struct oche_study *study,
                            const struct oche_yaml *node, struct oche_reading *reading)
{
    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_MAP || node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write {QUANTITY: OTHER}");
    reading->other = oche_read_alloc(reader, node->count, sizeof(*reading->other));
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *pair = node->child[i];
        const struct oche_yaml key = {
            .kind = OCHE_YAML_SCALAR, .text = pair->key, .path = node->path, .line = pair->line};
        const struct oche_quantity **of = reading->other[reading->other_count++];

        if (!oche_read_quantity(reader, study, &key, &of[0]) ||
            !oche_read_quantity(reader, study, pair, &of[1]))
            return false;
        if (of[0] == of[1])
            return OCHE_READ_FAIL(reader, pair, NULL,
                                  "replaces a quantity by itself; leave it out");
        if (strcmp(of[0]->unit, of[1]->unit) != 0)
            return OCHE_READ_FAIL(reader, pair, NULL, "\"%s\" is in %s, and \"%s\" in %s",
                                  of[1]->name, of[1]->unit, of[0]->name, of[0]->unit);
    }
    return true;
}

/* Reads the label, which results.csv and statements use as the reading's name. */
static bool read_label(const struct oche_reader *reader, const struct oche_study *study,
                       const struct oche_yaml *entry, struct oche_reading *reading)
{
    if (!oche_read_text(reader, entry, "label", true, &reading->label))
        return false;
    if (strpbrk(reading->label, "\"\n") != NULL)
        return OCHE_READ_FAIL(reader, entry, "label",
                              "has a quotation mark or a line break; leave it out");
    for (const struct oche_reading *other = study->also; other < reading; other++)
        if (strcmp(other->label, reading->label) == 0)
            return OCHE_READ_FAIL(reader, entry, "label",
                                  "\"%s\" is there twice; give another label", reading->label);
    return true;
}

bool oche_read_also(const struct oche_reader *reader, struct oche_study *study,
                    const struct oche_yaml *node)
{
    static const char *const known[] = {"label", "at", "instead", "quantities", NULL};

    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_LIST)
        return OCHE_READ_FAIL(reader, node, NULL,
                              "is not a list; write - {label: …, at: {AXIS: VALUE}}");
    study->also = oche_read_alloc(reader, node->count, sizeof(*study->also));
    for (uint32_t i = 0; i < node->count; i++) {
        struct oche_reading *reading = &study->also[study->also_count++];
        const struct oche_yaml *entry = node->child[i], *at = oche_yaml_find(entry, "at");
        const struct oche_yaml *instead = oche_yaml_find(entry, "instead");
        const struct oche_yaml *quantities = oche_yaml_find(entry, "quantities");

        if (!oche_read_keys(reader, entry, known) || !read_label(reader, study, entry, reading))
            return false;
        if (at == NULL && instead == NULL && quantities == NULL)
            return OCHE_READ_FAIL(reader, entry, NULL,
                                  "has neither \"at\" nor \"instead\" nor \"quantities\"; add at: "
                                  "{AXIS: VALUE}");
        if (!oche_read_condition(reader, study, at, false, &reading->at) ||
            !read_instead(reader, study, instead, reading) ||
            !read_quantities(reader, study, quantities, reading))
            return false;
    }
    return true;
}

size_t oche_reading_value(const struct oche_reading *reading, size_t axis, size_t value)
{
    return reading != NULL && reading->instead[axis] != NULL ? reading->instead[axis][value]
                                                             : value;
}

const struct oche_quantity *oche_reading_quantity(const struct oche_reading *reading,
                                                  const struct oche_quantity *quantity)
{
    for (size_t i = 0; reading != NULL && i < reading->other_count; i++)
        if (reading->other[i][0] == quantity)
            return reading->other[i][1];
    return quantity;
}
