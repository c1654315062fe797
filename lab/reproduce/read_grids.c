/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the grids of a figure: the keys that each grid fixes and varies, in full and in quick mode.
 * The grids determine the figure's axes, and which grid runs which combination of values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/flow_text.h"
#include "lab/reproduce/read.h"
#include "params/units.h"

#define MOST_REPEATS      100000
#define MOST_COMBINATIONS 10000 /* most combinations in one grid */

/* One key of a grid, with its one fixed value or the values over which it varies. */
struct key {
    const char *key;
    bool varied;
    struct oche_axis_value *values;
    size_t count;
};

/* The keys and repeats of a grid in full or in quick mode. */
struct mode {
    struct key *keys;
    size_t count, capacity;
    uint32_t repeats;
};

struct grid {
    const struct oche_yaml *node;
    /* label of the only reading that the grid is for; NULL: for all readings */
    const char *reading;
    const char *measured; /* name of the file in which it is measured; NULL: the grid is run */
    struct mode full, quick;
};

/* ---- values ---- */

/* The units in which a value may be meant, the most likely first. */
static const struct {
    const char *name;
    enum oche_unit unit;
    double one;
} value_units[] = {{"ratio", OCHE_UNIT_REAL, 1},
                   {"s", OCHE_UNIT_TIME, 1e-12},
                   {"bytes", OCHE_UNIT_BYTES, 1},
                   {"bps", OCHE_UNIT_BPS, 1}};
#define VALUE_UNITS OCHE_COUNT_OF(value_units)

static double number_in(const char *text, enum oche_unit unit, double one)
{
    struct oche_param param = {.unit = unit, .help = ""};
    union oche_value value;
    struct oche_error ignored;

    if (unit == OCHE_UNIT_REAL)
        param.maximum.real = 1e300;
    else
        param.maximum.u = UINT64_MAX - 1;
    if (!oche_value_parse(&param, text, &value, &ignored))
        return NAN;
    return unit == OCHE_UNIT_REAL ? value.real : (double)value.u * one;
}

/* True if two texts mean the same value, such as 1e-3 and 0.1%. */
static bool is_same_value(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    for (size_t u = 0; u < VALUE_UNITS; u++) /* NAN equals nothing */
        if (number_in(a, value_units[u].unit, 1) == number_in(b, value_units[u].unit, 1))
            return true;
    return false;
}

/* ---- one grid ---- */

static struct key *find_key(const struct mode *mode, const char *name)
{
    for (size_t i = 0; i < mode->count; i++)
        if (strcmp(mode->keys[i].key, name) == 0)
            return &mode->keys[i];
    return NULL;
}

static struct key *make_key(const struct oche_reader *reader, struct mode *mode, const char *name)
{
    struct key *key = find_key(mode, name);

    if (key != NULL)
        return key;
    if (mode->count == mode->capacity) {
        struct key *old = mode->keys;

        mode->capacity = mode->capacity == 0 ? 8 : 2 * mode->capacity;
        mode->keys = oche_read_alloc(reader, mode->capacity, sizeof(*mode->keys));
        if (mode->count > 0)
            memcpy(mode->keys, old, mode->count * sizeof(*mode->keys));
    }
    key = &mode->keys[mode->count++];
    key->key = oche_document_print(reader->memory, "%s", name);
    return key;
}

/*
 * Returns the value for a node. If a value of `before` has the node's label or text, returns that
 * value, else a new one.
 */
static struct oche_axis_value value_of(const struct oche_reader *reader, const struct key *before,
                                       const struct oche_yaml *node)
{
    const char *text = oche_flow_text(reader->memory, node);

    for (size_t i = 0; i < before->count && node->kind == OCHE_YAML_SCALAR; i++)
        if (before->values[i].label != NULL && strcmp(before->values[i].label, node->text) == 0)
            return before->values[i];
    for (size_t i = 0; i < before->count; i++)
        if (strcmp(before->values[i].text, text) == 0)
            return before->values[i];
    return (struct oche_axis_value){.text = text, .document = reader->document, .node = node};
}

static bool check_values(const struct oche_reader *reader, const struct oche_yaml *node,
                         const struct key *key)
{
    if (strcmp(key->key, "seed") == 0)
        return OCHE_READ_FAIL(reader, node, NULL,
                              "the repeats have the seeds; put the first one into the scenario");
    for (size_t i = 0; i < key->count; i++)
        for (size_t j = 0; j < i; j++) {
            const char *one = key->values[j].text, *other = key->values[i].text;

            if (strcmp(one, other) == 0)
                return OCHE_READ_FAIL(reader, node, NULL, "has %s twice; write each value once",
                                      one);
            if (is_same_value(one, other))
                return OCHE_READ_FAIL(reader, node, NULL,
                                      "%s and %s are the same; write each value once", one, other);
        }
    return true;
}

/* Reads the values of a grid's `vary`: KEY: [VALUE, …], or KEY: {LABEL: VALUE, …}. */
static bool read_vary(const struct oche_reader *reader, const struct oche_yaml *vary,
                      struct mode *mode)
{
    if (vary->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, vary, NULL, "is not a map; write KEY: [VALUE, VALUE]");
    for (uint32_t i = 0; i < vary->count; i++) {
        const struct oche_yaml *node = vary->child[i];
        struct key before = {.count = 0}, *key = make_key(reader, mode, node->key);

        if (node->kind == OCHE_YAML_SCALAR || node->count == 0)
            return OCHE_READ_FAIL(reader, node, NULL,
                                  "has no values; write [VALUE, VALUE] or {LABEL: VALUE}");
        before = *key;
        key->varied = true;
        key->count = node->count;
        key->values = oche_read_alloc(reader, key->count, sizeof(*key->values));
        for (uint32_t v = 0; v < node->count; v++) {
            key->values[v] = value_of(reader, &before, node->child[v]);
            if (node->kind == OCHE_YAML_MAP)
                key->values[v] = (struct oche_axis_value){
                    .label = oche_document_print(reader->memory, "%s", node->child[v]->key),
                    .text = oche_flow_text(reader->memory, node->child[v]),
                    .document = reader->document,
                    .node = node->child[v]};
        }
        if (!check_values(reader, node, key))
            return false;
    }
    return true;
}

static bool read_set(const struct oche_reader *reader, const struct oche_yaml *set,
                     struct mode *mode)
{
    if (set->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, set, NULL, "is not a map; write KEY: VALUE");
    for (uint32_t i = 0; i < set->count; i++) {
        const struct oche_yaml *node = set->child[i];
        struct key before, *key = make_key(reader, mode, node->key);

        before = *key;
        key->varied = false;
        key->count = 1;
        key->values = oche_read_alloc(reader, 1, sizeof(*key->values));
        key->values[0] = value_of(reader, &before, node);
        if (!check_values(reader, node, key))
            return false;
    }
    return true;
}

/* Reads `set`, `vary` and `repeat` of a node into a mode, where they replace earlier ones. */
static bool read_mode(const struct oche_reader *reader, const struct oche_yaml *node,
                      struct mode *mode)
{
    const struct oche_yaml *set = oche_yaml_find(node, "set"), *vary = oche_yaml_find(node, "vary");

    return (vary == NULL || read_vary(reader, vary, mode)) &&
           (set == NULL || read_set(reader, set, mode)) &&
           oche_read_count(reader, node, "repeat", MOST_REPEATS, &mode->repeats);
}

/*
 * Copies full mode as the start of quick mode, so that changing the copy leaves full mode as it is.
 */
static struct mode copy_mode(const struct oche_reader *reader, const struct mode *mode)
{
    struct mode copy = *mode;

    copy.capacity = mode->count + 8;
    copy.keys = oche_read_alloc(reader, copy.capacity, sizeof(*copy.keys));
    if (mode->count > 0)
        memcpy(copy.keys, mode->keys, mode->count * sizeof(*copy.keys));
    return copy;
}

static bool check_grid_keys(const struct oche_reader *reader, const struct oche_yaml *node,
                            bool of_figure)
{
    static const char *const own[] = {"from", "reading", "measured", "set",
                                      "vary", "repeat",  "quick",    NULL};
    static const char *const of_quick[] = {"set", "vary", "repeat", NULL};
    const struct oche_yaml *quick = NULL;

    if (!oche_read_keys(reader, node, own + (of_figure ? 0 : 3)))
        return false;
    quick = oche_yaml_find(node, "quick");
    return quick == NULL || oche_read_keys(reader, quick, of_quick);
}

/* Finds in the paper's file the grid that `from` names. */
static bool find_base(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_yaml *node, const char *from, const struct oche_yaml **base)
{
    const struct oche_yaml *grids = study->paper != NULL ? study->paper->grids : NULL;
    size_t count = grids != NULL ? grids->count : 0;
    const char **names = oche_read_alloc(reader, count, sizeof(*names));

    *base = oche_yaml_find(grids, from);
    if (*base != NULL)
        return true;
    for (size_t i = 0; i < count; i++)
        names[i] = grids->child[i]->key;
    return oche_read_unknown(reader, node, "from", from, "a grid of paper.yaml", names, count);
}

/* Reads one grid. `from`: the paper's grid that this grid modifies; NULL: none. */
static bool read_grid(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_yaml *node, const char *from, struct grid *grid)
{
    struct oche_reader of_paper = *reader;
    const struct oche_yaml *base = NULL, *base_quick, *quick;

    *grid = (struct grid){.node = node, .full.repeats = 1};
    if ((from != NULL && !find_base(reader, study, node, from, &base)) ||
        !oche_read_text(reader, node, "reading", false, &grid->reading) ||
        !oche_read_text(reader, node, "measured", false, &grid->measured))
        return false;
    if (base != NULL) {
        of_paper.document = study->paper->document;
        if (!check_grid_keys(&of_paper, base, false) || !read_mode(&of_paper, base, &grid->full))
            return false;
    }
    if (!read_mode(reader, node, &grid->full))
        return false;
    grid->quick = copy_mode(reader, &grid->full);
    base_quick = oche_yaml_find(base, "quick");
    quick = oche_yaml_find(node, "quick");
    return (base_quick == NULL || read_mode(&of_paper, base_quick, &grid->quick)) &&
           (quick == NULL || read_mode(reader, quick, &grid->quick));
}

/* ---- the figure's axes ---- */

static bool is_varied(const struct grid *grids, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const struct key *full = find_key(&grids[i].full, name);
        const struct key *quick = find_key(&grids[i].quick, name);

        if ((full != NULL && full->varied) || (quick != NULL && quick->varied))
            return true;
    }
    return false;
}

/*
 * Adds the value to the axis if it is new. Fails, with an error, if its label already means another
 * value.
 */
static bool intern(const struct oche_reader *reader, const struct grid *grid,
                   struct oche_study_axis *axis, const struct oche_axis_value *value)
{
    const bool usual = grid->reading == NULL;

    for (size_t i = 0; i < axis->count; i++) {
        struct oche_axis_value *known = &axis->values[i];
        bool same = strcmp(known->text, value->text) == 0;

        if (value->label != NULL && known->label != NULL &&
            (strcmp(value->label, known->label) == 0) != same)
            return OCHE_READ_FAIL(reader, grid->node, NULL,
                                  "%s: \"%s\" is %s, and \"%s\" is %s; one name for one value",
                                  axis->key, value->label, value->text, known->label, known->text);
        if (!same && is_same_value(known->text, value->text))
            return oche_document_fail(value->document, value->node, NULL, reader->error,
                                      "%s is written as %s elsewhere; write it in one way",
                                      value->text, known->text);
        if (!same)
            continue;
        if (known->label == NULL)
            known->label = value->label;
        known->usual |= usual;
        return true;
    }
    struct oche_axis_value *grown = oche_read_alloc(reader, axis->count + 1, sizeof(*grown));

    if (axis->count > 0)
        memcpy(grown, axis->values, axis->count * sizeof(*grown));
    grown[axis->count] = *value;
    grown[axis->count++].usual = usual;
    axis->values = grown;
    return true;
}

/*
 * If all labels of usual values are numbers, uses the labels that are numbers as the axis' numbers.
 * Returns false if a usual one is not a number. A value of another reading then has no number.
 */
static bool number_labels(struct oche_study_axis *axis)
{
    bool all = true;

    for (size_t i = 0; i < axis->count; i++) {
        const char *label = axis->values[i].label;

        axis->values[i].number = label != NULL ? number_in(label, OCHE_UNIT_REAL, 1) : NAN;
        all = all && (!isnan(axis->values[i].number) || !axis->values[i].usual);
    }
    return all;
}

/*
 * Finds the first unit in which all values of the axis are numbers, and sets unit and numbers. If
 * there is no such unit, tries the labels.
 */
static void number_values(struct oche_study_axis *axis)
{
    for (size_t u = 0; u < VALUE_UNITS && axis->unit == NULL; u++) {
        bool all = true;

        for (size_t i = 0; i < axis->count; i++) {
            axis->values[i].number =
                number_in(axis->values[i].text, value_units[u].unit, value_units[u].one);
            all = all && !isnan(axis->values[i].number);
        }
        if (all)
            axis->unit = value_units[u].name;
    }
    if (axis->unit == NULL && number_labels(axis))
        axis->unit = "count";
}

static struct oche_study_axis *find_axis(struct oche_study *study, const char *key)
{
    for (size_t i = 0; i < study->axis_count; i++)
        if (strcmp(study->axes[i].key, key) == 0)
            return &study->axes[i];
    return NULL;
}

/*
 * Makes the axes, in the order in which the grids first name them, with all values in full and in
 * quick mode.
 */
static bool make_axes(const struct oche_reader *reader, struct oche_study *study,
                      const struct grid *grids)
{
    size_t most = 0;

    for (size_t g = 0; g < study->grid_count; g++)
        most += grids[g].quick.count; /* quick mode has all keys of full mode too */
    study->axes = oche_read_alloc(reader, most, sizeof(*study->axes));
    for (size_t g = 0; g < study->grid_count; g++) {
        const struct mode *modes[] = {&grids[g].full, &grids[g].quick};

        for (size_t m = 0; m < 2; m++)
            for (size_t k = 0; k < modes[m]->count; k++) {
                const struct key *key = &modes[m]->keys[k];
                struct oche_study_axis *axis = find_axis(study, key->key);

                if (!is_varied(grids, study->grid_count, key->key))
                    continue;
                if (axis == NULL) {
                    axis = &study->axes[study->axis_count++];
                    axis->key = key->key;
                }
                for (size_t v = 0; v < key->count; v++)
                    if (!intern(reader, &grids[g], axis, &key->values[v]))
                        return false;
            }
    }
    for (size_t a = 0; a < study->axis_count; a++) {
        number_values(&study->axes[a]);
        for (size_t v = 0; v < study->axes[a].count; v++)
            if (study->axes[a].values[v].label == NULL)
                study->axes[a].values[v].label = study->axes[a].values[v].text;
    }
    return true;
}

/* ---- fixed overrides ---- */

/*
 * Divides the keys that no grid varies: a key with the same value in all grids becomes a set, any
 * other key an override. Fails if a grid does not give such a key.
 */
static bool make_overrides(const struct oche_reader *reader, struct oche_study *study,
                           const struct grid *grids)
{
    bool quick = study->quick;
    const struct mode *first = quick ? &grids[0].quick : &grids[0].full;

    /* every grid must have the same keys as the first one */
    for (size_t g = 1; g < study->grid_count; g++) {
        const struct mode *mode = quick ? &grids[g].quick : &grids[g].full;

        for (size_t k = 0; k < mode->count; k++)
            if (find_axis(study, mode->keys[k].key) == NULL &&
                find_key(first, mode->keys[k].key) == NULL)
                return OCHE_READ_FAIL(reader, grids[0].node, NULL,
                                      "does not say %s, as another grid does; add it to its set",
                                      mode->keys[k].key);
    }
    study->sets = oche_read_alloc(reader, first->count, sizeof(*study->sets));
    study->overrides = oche_read_alloc(reader, first->count, sizeof(*study->overrides));
    for (size_t k = 0; k < first->count; k++) {
        const char *key = first->keys[k].key;
        const char **text = oche_read_alloc(reader, study->grid_count, sizeof(*text));
        bool same = true;

        if (find_axis(study, key) != NULL)
            continue;
        for (size_t g = 0; g < study->grid_count; g++) {
            const struct mode *mode = quick ? &grids[g].quick : &grids[g].full;
            const struct key *other = find_key(mode, key);

            if (other == NULL && grids[g].measured == NULL)
                return OCHE_READ_FAIL(reader, grids[g].node, NULL,
                                      "does not say %s, as another grid does; add it to its set",
                                      key);
            text[g] = other != NULL ? other->values[0].text : text[0];
            same = same && strcmp(text[g], text[0]) == 0;
        }
        if (same)
            study->sets[study->set_count++] =
                oche_document_print(reader->memory, "%s=%s", key, text[0]);
        else
            study->overrides[study->override_count++] =
                (struct oche_study_override){.key = key, .text = text};
    }
    return true;
}

/* ---- where overrides are written ---- */

static void make_sources(const struct oche_reader *reader, struct oche_study *study,
                         const struct grid *grids)
{
    size_t most = 0;

    for (size_t pass = 0; pass < 2; pass++) { /* the first pass counts, the second fills in */
        if (pass == 1)
            study->sources = oche_read_alloc(reader, most, sizeof(*study->sources));
        for (size_t g = 0; g < 2 * study->grid_count; g++) {
            const struct mode *mode = g % 2 == 0 ? &grids[g / 2].full : &grids[g / 2].quick;

            for (size_t k = 0; k < mode->count; k++)
                for (size_t v = 0; v < mode->keys[k].count; v++) {
                    const struct oche_axis_value *value = &mode->keys[k].values[v];

                    most += pass == 0;
                    if (pass == 1)
                        study->sources[study->source_count++] = (struct oche_study_source){
                            .assignment = oche_document_print(reader->memory, "%s=%s",
                                                              mode->keys[k].key, value->text),
                            .document = value->document,
                            .node = value->node};
                }
        }
    }
}

/* ---- combinations ---- */

static size_t index_of(const struct oche_study_axis *axis, const char *text)
{
    size_t i = 0;

    while (strcmp(axis->values[i].text, text) != 0)
        i++;
    return i;
}

/* Adds all combinations of a grid's values. If `study->combinations` is NULL, only counts them. */
static bool add_combinations(const struct oche_reader *reader, struct oche_study *study,
                             const struct grid *grid, size_t number, const struct mode *mode,
                             bool run)
{
    size_t total = 1, *value = oche_read_alloc(reader, study->axis_count, sizeof(*value));

    for (size_t a = 0; a < study->axis_count; a++)
        total *= find_key(mode, study->axes[a].key)->count;
    for (size_t c = 0; c < total; c++) {
        size_t rest = c;
        struct oche_combination *combination;

        for (size_t a = study->axis_count; a-- > 0;) {
            const struct key *key = find_key(mode, study->axes[a].key);

            value[a] = index_of(&study->axes[a], key->values[rest % key->count].text);
            rest /= key->count;
        }
        combination = (struct oche_combination *)oche_study_find(study, value);
        if (combination != NULL && combination->grid != number)
            return OCHE_READ_FAIL(reader, grid->node, NULL,
                                  "runs what another grid runs, such as %s=%s; leave it to one",
                                  study->axes[0].key, study->axes[0].values[value[0]].text);
        if (combination == NULL) {
            combination = &study->combinations[study->combination_count++];
            combination->grid = number;
            combination->value = oche_read_alloc(reader, study->axis_count, sizeof(*value));
            memcpy(combination->value, value, study->axis_count * sizeof(*value));
        }
        combination->repeats = run ? mode->repeats : 0;
    }
    return true;
}

/*
 * Returns the number of combinations in a mode. Returns 0, with an error, if a grid lacks a key or
 * there are too many combinations.
 */
static size_t count_combinations(const struct oche_reader *reader, const struct oche_study *study,
                                 const struct grid *grid, const struct mode *mode)
{
    size_t count = 1;

    for (size_t a = 0; a < study->axis_count; a++) {
        const struct key *key = find_key(mode, study->axes[a].key);

        if (key == NULL) {
            OCHE_READ_FAIL(reader, grid->node, NULL,
                           "does not say %s, which another grid varies; add it to its set",
                           study->axes[a].key);
            return 0;
        }
        count *= key->count;
        if (count > MOST_COMBINATIONS) {
            OCHE_READ_FAIL(reader, grid->node, NULL,
                           "has more than %d combinations of values; fewer values",
                           MOST_COMBINATIONS);
            return 0;
        }
    }
    return count;
}

static bool make_combinations(const struct oche_reader *reader, struct oche_study *study,
                              const struct grid *grids)
{
    size_t most = 0;

    for (size_t g = 0; g < study->grid_count; g++) {
        size_t full = count_combinations(reader, study, &grids[g], &grids[g].full);
        size_t quick = full > 0 ? count_combinations(reader, study, &grids[g], &grids[g].quick) : 0;

        if (quick == 0)
            return false;
        most += full + quick;
    }
    study->combinations = oche_read_alloc(reader, most, sizeof(*study->combinations));
    for (size_t g = 0; g < study->grid_count; g++) {
        const struct mode *mode = study->quick ? &grids[g].quick : &grids[g].full;

        if (!add_combinations(reader, study, &grids[g], g, &grids[g].full, !study->quick) ||
            (study->quick && !add_combinations(reader, study, &grids[g], g, &grids[g].quick, true)))
            return false;
        if (grids[g].measured == NULL && mode->repeats > study->repeats)
            study->repeats = mode->repeats;
    }
    return true;
}

const struct oche_combination *oche_study_find(const struct oche_study *study, const size_t *value)
{
    for (size_t c = 0; c < study->combination_count; c++)
        if (memcmp(study->combinations[c].value, value, study->axis_count * sizeof(*value)) == 0)
            return &study->combinations[c];
    return NULL;
}

/*
 * Notes which grids are measured. The first grid must be run, because the figure needs a scenario.
 */
static bool note_measured(const struct oche_reader *reader, struct oche_study *study,
                          const struct grid *grids)
{
    const size_t count = study->grid_count;

    study->measured_names = oche_read_alloc(reader, count, sizeof(*study->measured_names));
    study->measured_nodes = oche_read_alloc(reader, count, sizeof(*study->measured_nodes));
    study->measured = oche_read_alloc(reader, count, sizeof(*study->measured));
    for (size_t g = 0; g < count; g++) {
        study->measured_names[g] = grids[g].measured;
        study->measured_nodes[g] = grids[g].node;
    }
    return grids[0].measured == NULL ||
           OCHE_READ_FAIL(reader, grids[0].node, "measured",
                          "is in the first grid; put one that is run before it");
}

/* Checks that every reading for which there is a grid is in the figure's `also`. */
static bool check_readings(const struct oche_reader *reader, const struct grid *grids, size_t count,
                           const struct oche_yaml *also)
{
    size_t known = also != NULL && also->kind == OCHE_YAML_LIST ? also->count : 0;
    const char **labels = oche_read_alloc(reader, known, sizeof(*labels));
    bool any_usual = false;

    for (size_t i = 0; i < known; i++) {
        const struct oche_yaml *label = oche_yaml_find(also->child[i], "label");

        labels[i] = label != NULL && label->kind == OCHE_YAML_SCALAR ? label->text : "";
    }
    for (size_t g = 0; g < count; g++) {
        size_t i = 0;

        any_usual |= grids[g].reading == NULL;
        if (grids[g].reading == NULL)
            continue;
        while (i < known && strcmp(labels[i], grids[g].reading) != 0)
            i++;
        if (i == known)
            return oche_read_unknown(reader, grids[g].node, "reading", grids[g].reading,
                                     "a label of also", labels, known);
    }
    return any_usual || OCHE_READ_FAIL(reader, grids[0].node, "reading",
                                       "no grid is of the figure's own; leave it out of one");
}

bool oche_read_grids(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *node, const struct oche_yaml *also, bool quick)
{
    struct grid *grids;
    size_t most = 0;

    study->quick = quick;
    if (node->kind != OCHE_YAML_LIST || node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL,
                              "is not a list of grids; write - {set: …, vary: …} below it");
    for (uint32_t g = 0; g < node->count; g++) {
        const struct oche_yaml *from = oche_yaml_find(node->child[g], "from");

        most += from != NULL && from->count > 0 ? from->count : 1;
    }
    grids = oche_read_alloc(reader, most, sizeof(*grids));
    for (uint32_t g = 0; g < node->count; g++) {
        const struct oche_yaml *each = node->child[g];
        const char **from = NULL;
        size_t count = 0;

        if (!check_grid_keys(reader, each, true) ||
            !oche_read_words(reader, oche_yaml_find(each, "from"), &from, &count))
            return false;
        for (size_t f = 0; f < (count > 0 ? count : 1); f++)
            if (!read_grid(reader, study, each, count > 0 ? from[f] : NULL,
                           &grids[study->grid_count++]))
                return false;
    }
    make_sources(reader, study, grids);
    return check_readings(reader, grids, study->grid_count, also) &&
           note_measured(reader, study, grids) && make_axes(reader, study, grids) &&
           make_overrides(reader, study, grids) && make_combinations(reader, study, grids);
}
