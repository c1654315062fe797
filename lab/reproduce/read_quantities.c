/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads quantities, which are numbers made from a run's metrics, and plots, which draw quantities.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/reproduce/read.h"

/* ---- quantities ---- */

static bool read_statistic(const struct oche_reader *reader, const struct oche_yaml *map,
                           struct oche_quantity *quantity)
{
    static const char *const words[] = {"mean", "median", "minimum", "maximum", "pooled",
                                        "p1",   "p5",     "p10",     "p25",     "p75",
                                        "p90",  "p95",    "p99",     "p99.9",   NULL};
    static const enum oche_statistic statistics[] = {OCHE_STATISTIC_MEAN, OCHE_STATISTIC_MEDIAN,
                                                     OCHE_STATISTIC_MINIMUM, OCHE_STATISTIC_MAXIMUM,
                                                     OCHE_STATISTIC_POOLED};
    unsigned choice = 0;

    if (!oche_read_choice(reader, map, "statistic", words, &choice))
        return false;
    if (choice < OCHE_COUNT_OF(statistics)) {
        quantity->statistic = statistics[choice];
        return true;
    }
    quantity->statistic = OCHE_STATISTIC_PERCENTILE;
    quantity->thousandths = (uint32_t)(10 * strtod(words[choice] + 1, NULL) + 0.5);
    return true;
}

static bool check_metrics(const struct oche_reader *reader, const struct oche_yaml *map,
                          const char *key, const char **names, size_t count)
{
    struct oche_error wrong;

    for (size_t i = 0; i < count; i++)
        if (!oche_metric_check(names[i], &wrong))
            return OCHE_READ_FAIL(reader, oche_yaml_find(map, key), NULL, "%s", wrong.text);
    return true;
}

/* Returns the unit of a quotient of metrics. A count divided by a time has the unit of counts. */
static const char *quotient_unit(const struct oche_quantity *quantity)
{
    bool rate = strcmp(quantity->unit, "count") == 0 && quantity->over_count == 1 &&
                strcmp(oche_metric_unit(quantity->over[0]), "s") == 0 && !quantity->relative;

    return rate ? quantity->unit : "ratio";
}

/* Finds the unit of a sum of metrics, which must all have the same unit. */
static bool find_unit(const struct oche_reader *reader, const struct oche_yaml *map,
                      struct oche_quantity *quantity)
{
    quantity->unit = oche_metric_unit(quantity->metrics[0]);
    for (size_t i = 1; i < quantity->metric_count; i++)
        if (strcmp(oche_metric_unit(quantity->metrics[i]), quantity->unit) != 0)
            return OCHE_READ_FAIL(reader, oche_yaml_find(map, "metric"), NULL,
                                  "adds %s (in %s) and %s (in %s); add what is of one unit",
                                  quantity->metrics[0], quantity->unit, quantity->metrics[i],
                                  oche_metric_unit(quantity->metrics[i]));
    if (quantity->over_count > 0 || quantity->relative)
        quantity->unit = quotient_unit(quantity);
    return true;
}

static bool read_quantity(const struct oche_reader *reader, const struct oche_study *study,
                          const struct oche_yaml *node, struct oche_quantity *quantity)
{
    static const char *const known[] = {"label",     "metric", "over",  "relative_to",
                                        "statistic", "as",     "since", NULL};
    static const char *const shapes[] = {"plain", "reduction", "increase", "factor", NULL};
    const struct oche_yaml *relative = oche_yaml_find(node, "relative_to");
    unsigned shape = OCHE_SHAPE_PLAIN;

    if (!oche_read_keys(reader, node, known) ||
        !oche_read_text(reader, node, "label", false, &quantity->label))
        return false;
    quantity->name = oche_document_print(reader->memory, "%s", node->key);
    if (quantity->label == NULL)
        quantity->label = quantity->name;
    if (oche_yaml_find(node, "metric") == NULL)
        return OCHE_READ_FAIL(reader, node, NULL, "has no \"metric\"; add metric: goodput");
    if (!oche_read_words(reader, oche_yaml_find(node, "metric"), &quantity->metrics,
                         &quantity->metric_count) ||
        !oche_read_words(reader, oche_yaml_find(node, "over"), &quantity->over,
                         &quantity->over_count) ||
        !check_metrics(reader, node, "metric", quantity->metrics, quantity->metric_count) ||
        !check_metrics(reader, node, "over", quantity->over, quantity->over_count) ||
        !oche_read_choice(reader, node, "as", shapes, &shape) ||
        !read_statistic(reader, node, quantity))
        return false;
    quantity->shape = (enum oche_shape)shape;
    quantity->relative = relative != NULL;
    if (!oche_read_condition(reader, study, relative, false, &quantity->relative_to) ||
        !find_unit(reader, node, quantity))
        return false;
    if (quantity->statistic == OCHE_STATISTIC_POOLED && quantity->over_count == 0)
        return OCHE_READ_FAIL(reader, node, "statistic",
                              "pooled is a sum over a sum; add what it is divided by: over");
    if (quantity->shape != OCHE_SHAPE_PLAIN && strcmp(quantity->unit, "ratio") != 0)
        return OCHE_READ_FAIL(reader, node, "as", "is for ratios; add over or relative_to");
    const struct oche_yaml *since = oche_yaml_find(node, "since");

    if (since == NULL)
        return true;
    if (strcmp(quantity->unit, "s") != 0)
        return OCHE_READ_FAIL(reader, since, NULL, "is for times, and this is in %s; leave it out",
                              quantity->unit);
    return oche_read_number(reader, since, quantity->unit, &quantity->since);
}

static const struct oche_quantity *find_quantity(const struct oche_study *study, const char *name)
{
    for (size_t i = 0; i < study->quantity_count; i++)
        if (strcmp(study->quantities[i].name, name) == 0)
            return &study->quantities[i];
    return NULL;
}

/*
 * Reads the figure's quantities. Only notes the paper's quantities; a quantity of the paper is read
 * when a claim names it.
 */
bool oche_read_quantities(const struct oche_reader *reader, struct oche_study *study,
                          const struct oche_yaml *node, const struct oche_yaml *of_paper)
{
    size_t most = (node != NULL ? node->count : 0) + (of_paper != NULL ? of_paper->count : 0);

    study->quantities = oche_read_alloc(reader, most, sizeof(*study->quantities));
    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, node, NULL, "is not a map; write NAME: {metric: goodput}");
    for (uint32_t i = 0; i < node->count; i++)
        if (!read_quantity(reader, study, node->child[i],
                           &study->quantities[study->quantity_count++]))
            return false;
    return true;
}

/*
 * Reads a quantity of the paper when the figure names it. It is not read earlier, because not every
 * figure has the axes that the paper's quantities name.
 */
static bool take_from_paper(const struct oche_reader *reader, struct oche_study *study,
                            const char *name, const struct oche_quantity **quantity)
{
    struct oche_reader of_paper = *reader;
    const struct oche_yaml *node =
        study->paper != NULL ? oche_yaml_find(study->paper->quantities, name) : NULL;

    *quantity = NULL;
    if (node == NULL)
        return true;
    of_paper.document = study->paper->document;
    struct oche_quantity *made = &study->quantities[study->quantity_count];

    if (!read_quantity(&of_paper, study, node, made))
        return false;
    study->quantity_count++;
    *quantity = made;
    return true;
}

static bool quantity_named(const struct oche_reader *reader, struct oche_study *study,
                           const struct oche_yaml *node, const char *name,
                           const struct oche_quantity **quantity)
{
    const struct oche_yaml *more = study->paper != NULL ? study->paper->quantities : NULL;
    const char **names;
    size_t count = 0;

    *quantity = find_quantity(study, name);
    if (*quantity == NULL && !take_from_paper(reader, study, name, quantity))
        return false;
    if (*quantity != NULL)
        return true;
    names = oche_read_alloc(reader, study->quantity_count + (more != NULL ? more->count : 0),
                            sizeof(*names));
    for (; count < study->quantity_count; count++)
        names[count] = study->quantities[count].name;
    for (uint32_t i = 0; more != NULL && i < more->count; i++)
        if (find_quantity(study, more->child[i]->key) == NULL)
            names[count++] = more->child[i]->key;
    return oche_read_unknown(reader, node, NULL, name, "a quantity", names, count);
}

bool oche_read_quantity(const struct oche_reader *reader, struct oche_study *study,
                        const struct oche_yaml *node, const struct oche_quantity **quantity)
{
    if (node->kind != OCHE_YAML_SCALAR)
        return OCHE_READ_FAIL(reader, node, NULL, "is not the name of a quantity");
    return quantity_named(reader, study, node, node->text, quantity);
}

bool oche_read_quantity_name(const struct oche_reader *reader, struct oche_study *study,
                             const struct oche_yaml *map, const char *key,
                             const struct oche_quantity **quantity)
{
    const struct oche_yaml *node = oche_yaml_find(map, key);
    const char *name;

    return oche_read_text(reader, map, key, true, &name) &&
           quantity_named(reader, study, node, name, quantity);
}

/* ---- plots ---- */

static bool read_scale(const struct oche_reader *reader, const struct oche_yaml *map,
                       const char *which, const char **name, const char **scale)
{
    static const char *const known[] = {"name", "scale", NULL};
    static const char *const scales[] = {"linear", "log", NULL};
    const struct oche_yaml *node = oche_yaml_find(map, which);
    unsigned choice = 0;

    *scale = scales[0];
    if (node == NULL)
        return OCHE_READ_FAIL(reader, map, NULL, "has no \"%s\"; add %s: {name: …, scale: log}",
                              which, which);
    if (!oche_read_keys(reader, node, known) || !oche_read_text(reader, node, "name", true, name) ||
        !oche_read_choice(reader, node, "scale", scales, &choice))
        return false;
    *scale = scales[choice];
    return true;
}

/* Reads a list [[X, Y], …], with x in the axis' unit and y in the quantity's unit. */
static bool read_points(const struct oche_reader *reader, const struct oche_study *study,
                        const struct oche_plot *plot, const struct oche_yaml *node,
                        struct oche_published_curve *curve)
{
    const char *x_unit = plot->along != OCHE_ANY ? study->axes[plot->along].unit : "ratio";

    curve->count = node->count;
    curve->points = oche_read_alloc(reader, node->count, sizeof(*curve->points));
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *point = node->child[i];

        if (point->kind != OCHE_YAML_LIST || point->count != 2)
            return OCHE_READ_FAIL(reader, point, NULL, "is not a point; write [X, Y]");
        if (!oche_read_number(reader, point->child[0], x_unit, &curve->points[i][0]) ||
            !oche_read_number(reader, point->child[1], plot->quantities[0]->unit,
                              &curve->points[i][1]))
            return false;
    }
    return true;
}

static bool read_published(const struct oche_reader *reader, const struct oche_study *study,
                           struct oche_plot *plot, const struct oche_yaml *node)
{
    static const char *const known[] = {"curve", "points", NULL};

    if (node == NULL)
        return true;
    if (node->kind != OCHE_YAML_LIST)
        return OCHE_READ_FAIL(reader, node, NULL,
                              "is not a list; write - {curve: LABEL, points: [[X, Y], …]}");
    plot->published = oche_read_alloc(reader, node->count, sizeof(*plot->published));
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *entry = node->child[i];
        struct oche_published_curve *curve = &plot->published[plot->published_count++];
        const struct oche_yaml *points = oche_yaml_find(entry, "points");

        if (!oche_read_keys(reader, entry, known) ||
            !oche_read_text(reader, entry, "curve", true, &curve->label))
            return false;
        if (points == NULL || points->kind != OCHE_YAML_LIST || points->count == 0)
            return OCHE_READ_FAIL(reader, entry, "points", "has none; write [[X, Y], …]");
        if (!read_points(reader, study, plot, points, curve))
            return false;
    }
    return true;
}

/* Checks that every curve has one value of each axis, except of the axis along which it runs. */
static bool plot_is_complete(const struct oche_reader *reader, const struct oche_study *study,
                             struct oche_plot *plot, const struct oche_yaml *node)
{
    size_t curves = plot->by != OCHE_ANY ? study->axes[plot->by].count : 1;

    plot->at = oche_condition_merge(reader, study, &study->at, &plot->at);
    for (size_t c = 0; c < curves; c++) {
        struct oche_condition at = oche_no_condition(reader, study);

        if (plot->by != OCHE_ANY)
            at.axis[plot->by] = (struct oche_condition_term){&c, 1};
        at = oche_condition_merge(reader, study, &plot->at, &at);
        if (!oche_condition_complete(reader, study, node, plot->along, NULL, &at))
            return false;
    }
    return true;
}

/*
 * Reads one plot. `of_list`: it is in a list of plots, so it needs a title that no other plot has.
 */
static bool read_plot(const struct oche_reader *reader, struct oche_study *study,
                      const struct oche_yaml *node, bool of_list, struct oche_plot *plot)
{
    static const char *const known[] = {"title", "quantity", "along",     "by", "at",
                                        "x",     "y",        "published", NULL};
    const struct oche_yaml *which;
    const char **names;

    plot->along = plot->by = OCHE_ANY;
    plot->at = oche_no_condition(reader, study);
    if (!oche_read_keys(reader, node, known) ||
        !oche_read_text(reader, node, "title", of_list, &plot->title))
        return false;
    which = oche_yaml_find(node, "quantity");
    if (which == NULL)
        return OCHE_READ_FAIL(reader, node, NULL, "has no \"quantity\"; name one, or several");
    if (!oche_read_words(reader, which, &names, &plot->quantity_count))
        return false;
    plot->quantities = oche_read_alloc(reader, plot->quantity_count, sizeof(*plot->quantities));
    for (size_t i = 0; i < plot->quantity_count; i++)
        if (!quantity_named(reader, study, which, names[i], &plot->quantities[i]))
            return false;
    if (!oche_read_axis_name(reader, study, node, "along", &plot->along) ||
        !oche_read_axis_name(reader, study, node, "by", &plot->by) ||
        !oche_read_condition(reader, study, oche_yaml_find(node, "at"), false, &plot->at) ||
        !read_scale(reader, node, "x", &plot->x_name, &plot->x_scale) ||
        !read_scale(reader, node, "y", &plot->y_name, &plot->y_scale))
        return false;
    if (plot->along != OCHE_ANY && study->axes[plot->along].unit == NULL)
        return OCHE_READ_FAIL(reader, node, "along", "%s has values that are no numbers",
                              study->axes[plot->along].key);
    return plot_is_complete(reader, study, plot, node) &&
           read_published(reader, study, plot, oche_yaml_find(node, "published"));
}

bool oche_read_plots(const struct oche_reader *reader, struct oche_study *study,
                     const struct oche_yaml *node)
{
    if (node == NULL)
        return true;
    const bool of_list = node->kind == OCHE_YAML_LIST;
    const size_t count = of_list ? node->count : 1;

    if (count == 0)
        return OCHE_READ_FAIL(reader, node, NULL, "has no plots; leave it out");
    study->plots = oche_read_alloc(reader, count, sizeof(*study->plots));
    for (size_t i = 0; i < count; i++) {
        const struct oche_yaml *one = of_list ? node->child[i] : node;

        if (!read_plot(reader, study, one, of_list, &study->plots[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(study->plots[k].title, study->plots[i].title) == 0)
                return OCHE_READ_FAIL(reader, one, "title",
                                      "\"%s\" is that of another plot; give it one of its own",
                                      study->plots[i].title);
        study->plot_count++;
    }
    return true;
}
