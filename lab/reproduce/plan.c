/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one grid from the study's grids. */
#include "lab/reproduce/plan.h"

#include "lab/reproduce/measured.h"
#include "params/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    char *made = strdup(text);

    OCHE_GOT(made != NULL);
    return made;
}

static struct oche_axis axis_of_values(const struct oche_study_axis *from)
{
    struct oche_axis axis = {.key = copy(from->key),
                             .values = calloc(from->count, sizeof(char *)),
                             .count = from->count};

    OCHE_GOT(axis.values != NULL);
    for (size_t v = 0; v < from->count; v++)
        axis.values[v] = copy(from->values[v].text);
    return axis;
}

/* Makes an axis of the override's texts, each only once. */
static struct oche_axis axis_of_override(const struct oche_study_override *from, size_t grids)
{
    struct oche_axis axis = {.key = copy(from->key), .values = calloc(grids, sizeof(char *))};

    OCHE_GOT(axis.values != NULL);
    for (size_t g = 0; g < grids; g++) {
        size_t v = 0;

        while (v < axis.count && strcmp(axis.values[v], from->text[g]) != 0)
            v++;
        if (v == axis.count)
            axis.values[axis.count++] = copy(from->text[g]);
    }
    return axis;
}

static void make_grid(struct oche_plan *plan)
{
    const struct oche_study *study = plan->study;
    struct oche_grid *grid = &plan->grid;

    *grid = (struct oche_grid){.scenario = copy(study->scenario), .repeats = study->repeats};
    grid->sets = calloc(study->set_count + 1, sizeof(*grid->sets));
    grid->axes = calloc(study->axis_count + study->override_count + 1, sizeof(*grid->axes));
    OCHE_GOT(grid->sets != NULL && grid->axes != NULL);
    for (; grid->set_count < study->set_count; grid->set_count++)
        grid->sets[grid->set_count] = copy(study->sets[grid->set_count]);
    /* fixed values first, because a section can be fixed while a key in it varies */
    for (size_t o = 0; o < study->override_count; o++)
        grid->axes[grid->axis_count++] = axis_of_override(&study->overrides[o], study->grid_count);
    for (size_t a = 0; a < study->axis_count; a++)
        grid->axes[grid->axis_count++] = axis_of_values(&study->axes[a]);
}

size_t oche_plan_point(const struct oche_plan *plan, const struct oche_combination *combination,
                       uint32_t repeat)
{
    const struct oche_study *study = plan->study;
    struct oche_grid_place place = {.repeat = repeat};

    for (size_t a = 0; a < study->axis_count; a++)
        place.value[study->override_count + a] = combination->value[a];
    for (size_t o = 0; o < study->override_count; o++) {
        const struct oche_axis *axis = &plan->grid.axes[o];
        size_t *value = &place.value[o];

        while (strcmp(axis->values[*value], study->overrides[o].text[combination->grid]) != 0)
            (*value)++;
    }
    return oche_grid_number(&plan->grid, &place);
}

static void make_room(struct oche_plan *plan)
{
    const struct oche_study *study = plan->study;
    size_t most = 0;

    for (size_t c = 0; c < study->combination_count; c++)
        most += study->combinations[c].repeats;
    plan->points = calloc(most + 1, sizeof(*plan->points));
    OCHE_GOT(plan->points != NULL);
}

/* Opens one point of each combination. */
static bool check_points(struct oche_plan *plan, struct oche_pool *opened,
                         const struct oche_grid_watch *watch, struct oche_error *error)
{
    const struct oche_study *study = plan->study;

    for (size_t c = 0; c < study->combination_count; c++) {
        if (oche_measured_of(study, &study->combinations[c]) != NULL)
            continue;
        size_t point = oche_plan_point(plan, &study->combinations[c], 0);

        if (study->combinations[c].repeats > 0 &&
            (opened == NULL || oche_pool_expect(opened, &plan->grid, point)))
            plan->points[plan->count++] = point;
    }
    return oche_grid_check_points(&plan->grid, plan->points, plan->count, watch, error);
}

static void list_points(struct oche_plan *plan)
{
    const struct oche_study *study = plan->study;

    plan->count = 0;
    for (size_t c = 0; c < study->combination_count; c++)
        for (uint32_t r = 0; oche_measured_of(study, &study->combinations[c]) == NULL &&
                             r < study->combinations[c].repeats;
             r++)
            plan->points[plan->count++] = oche_plan_point(plan, &study->combinations[c], r);
}

/*
 * Finds the override that `error` names at its beginning ("--set KEY=VALUE: …", "--vary …"). If
 * several match, takes the longest. Returns NULL if none matches.
 */
static const struct oche_study_source *source_of(const struct oche_study *study, const char *error)
{
    const char *text = strncmp(error, "--", 2) == 0 ? strchr(error, ' ') : NULL;
    const struct oche_study_source *found = NULL;
    size_t longest = 0;

    for (size_t i = 0; text != NULL && i < study->source_count; i++) {
        size_t length = strlen(study->sources[i].assignment);

        if (length <= longest || strncmp(text + 1, study->sources[i].assignment, length) != 0 ||
            strncmp(text + 1 + length, ": ", 2) != 0)
            continue;
        found = &study->sources[i];
        longest = length;
    }
    return found;
}

/* Adds to a message the file and line where the override is written. */
static void place(const struct oche_study *study, struct oche_error *error)
{
    const struct oche_study_source *source = source_of(study, error->text);
    const struct oche_yaml *root = oche_document_root(study->document);
    const size_t path = strlen(study->scenario);
    char *whole = copy(error->text);

    if (source != NULL) {
        const char *rest = strchr(whole, ' ') + 1 + strlen(source->assignment) + 2;
        const size_t key = strcspn(source->assignment, "=");

        if (strncmp(rest, source->assignment, key) == 0 && strncmp(rest + key, ": ", 2) == 0)
            rest += key + 2; /* leaves out the key, because the place names it already */
        oche_document_fail(source->document, source->node, NULL, error, "%s", rest);
    } else if (strncmp(whole, study->scenario, path) == 0 &&
               strncmp(whole + path, ": cannot be read", 16) == 0) {
        oche_document_fail(study->document, oche_yaml_find(root, "scenario"), NULL, error, "%s",
                           whole);
    } else {
        oche_document_fail(study->document, oche_yaml_find(root, "grids"), NULL, error, "%s",
                           whole);
    }
    free(whole);
}

/* Makes the grid; opens its combinations too if `check`. */
static bool make(struct oche_plan *plan, const struct oche_study *study, bool check,
                 struct oche_pool *opened, const struct oche_grid_watch *watch,
                 struct oche_error *error)
{
    *plan = (struct oche_plan){.study = study};
    if (study->axis_count + study->override_count > OCHE_GRID_MAX_AXES) {
        oche_fail(error, "more than %d keys are varied or differ; vary fewer", OCHE_GRID_MAX_AXES);
        place(study, error);
        return false;
    }
    make_grid(plan);
    make_room(plan);
    if (oche_grid_open(&plan->grid, error) &&
        (!check || check_points(plan, opened, watch, error))) {
        list_points(plan);
        return true;
    }
    if (error->text[0] != '\0')
        place(study, error);
    oche_plan_free(plan);
    return false;
}

bool oche_plan_make(struct oche_plan *plan, const struct oche_study *study,
                    struct oche_pool *opened, const struct oche_grid_watch *watch,
                    struct oche_error *error)
{
    return make(plan, study, true, opened, watch, error);
}

bool oche_plan_outline(struct oche_plan *plan, const struct oche_study *study,
                       struct oche_error *error)
{
    return make(plan, study, false, NULL, NULL, error);
}

void oche_plan_free(struct oche_plan *plan)
{
    oche_grid_free(&plan->grid);
    free(plan->points);
    *plan = (struct oche_plan){.study = NULL};
}
