/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid: a scenario, fixed overrides, axes (a key and its values each) and repeats. Every
 * combination of values, once for each repeat, is a point; points are numbered from 0, the repeat
 * running fastest, then the last axis. Repeat r runs with the scenario's seed + r in every
 * combination, so that combinations are compared under the same chance.
 */
#ifndef OCHE_LAB_SWEEP_GRID_H
#define OCHE_LAB_SWEEP_GRID_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_GRID_MAX_AXES   16
#define OCHE_GRID_MAX_POINTS 1000000

struct oche_axis {
    char *key;     /* "loss.probability" */
    char **values; /* as typed */
    size_t count;
};

struct oche_grid {
    char *scenario; /* path */
    char **sets;    /* "key=value", applied before the axes' values */
    size_t set_count;
    struct oche_axis *axes;
    size_t axis_count;
    uint32_t repeats; /* 1 or more */
    /* Set by oche_grid_open, from the scenario with `sets` applied: */
    uint64_t seed_base;
    char *name, *description; /* description: or NULL */
};

struct oche_grid_place {
    size_t value[OCHE_GRID_MAX_AXES]; /* index into the axis' values */
    uint32_t repeat;
};

/* "key=a,b,c", as --vary takes it (commas in brackets, braces and quotes belong to a value). */
bool oche_grid_add_axis(struct oche_grid *grid, const char *argument, struct oche_error *error);
void oche_grid_free(struct oche_grid *grid);

/* SIZE_MAX: too many to count. Of a grid that oche_grid_open took: at most the maximum. */
size_t oche_grid_combinations(const struct oche_grid *grid);
size_t oche_grid_points(const struct oche_grid *grid);
struct oche_grid_place oche_grid_place(const struct oche_grid *grid, size_t point);
size_t oche_grid_number(const struct oche_grid *grid, const struct oche_grid_place *place);

/* The seed of a point. */
uint64_t oche_grid_seed(const struct oche_grid *grid, size_t point);

/* The overrides of a point, the seed's last. malloc'd, as are the strings; *count of them. */
char **oche_grid_sets(const struct oche_grid *grid, size_t point, size_t *count);
void oche_grid_sets_free(char **sets, size_t count);

/*
 * Opens the scenario as the first combination has it and notes its seed, name and description.
 * False and one line in `error` if that cannot be, or if there are too many points.
 */
bool oche_grid_open(struct oche_grid *grid, struct oche_error *error);

/*
 * The same, and then opens every combination and makes its world, so that a mistake is found
 * before anything runs. Combinations that come to the same run are refused (0.01 and 1%).
 */
bool oche_grid_check(struct oche_grid *grid, struct oche_error *error);

/* Opens the combinations of these points only; of a grid that oche_grid_open took. */
bool oche_grid_check_points(const struct oche_grid *grid, const size_t *points, size_t count,
                            struct oche_error *error);

#endif
