/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid: a scenario, fixed overrides, axes (each a key and its values) and repeats. Every
 * combination of values is a point for each repeat; if the axes are zipped, the first values of all
 * axes are a combination, the second ones, and so on. Points are numbered from 0; the repeat varies
 * fastest, then the last axis. Repeat r runs with the scenario's seed + r in every combination, so
 * that combinations are compared with the same random numbers.
 */
#ifndef OCHE_LAB_SWEEP_GRID_H
#define OCHE_LAB_SWEEP_GRID_H

#include "core/base.h"
#include "params/error.h"
#include "params/mistakes.h"

#define OCHE_GRID_MAX_AXES   16
#define OCHE_GRID_MAX_POINTS 1000000

struct oche_axis {
    char *key;     /* key of a parameter: "loss.probability" */
    char **values; /* values as the user wrote them */
    size_t count;
};

/*
 * A remark about settings that do not fit the network (lab/measures/unfit.h) or keys that have no
 * effect (sim/scenario/idle_keys.h), with its section.
 */
struct oche_grid_remark {
    char *text;          /* the value in the first combination */
    size_t first, count; /* the first combination of those with a remark on the same key */
    bool idle;           /* the key has no effect */
};

struct oche_grid {
    char *scenario; /* path of the scenario */
    char **sets;    /* fixed overrides "key=value", applied before the axes' values */
    size_t set_count;
    struct oche_axis *axes;
    size_t axis_count;
    uint32_t repeats;  /* 1 or more */
    bool zipped;       /* axes go together; set before axes are added */
    bool skip_invalid; /* combinations that cannot be run are left out, not rejected */
    /* Set by oche_grid_check: why each combination cannot be run, NULL if it can; NULL: all can. */
    char **invalid;
    size_t invalid_count;
    /*
     * Set by oche_grid_check: one for each key. A key that is fixed is said to have no effect only
     * if it has none in any combination.
     */
    struct oche_grid_remark *remarks;
    size_t remark_count;
    /* Set by oche_grid_open: why no scenario can be opened; the first is in `error`, too. */
    struct oche_mistakes mistakes;
    /* Set by oche_grid_open, from the scenario with `sets` applied: */
    uint64_t seed_base;
    char *name, *description; /* `description` is NULL if the scenario has none */
};

struct oche_grid_place {
    size_t value[OCHE_GRID_MAX_AXES]; /* by axis: index into the axis' values */
    uint32_t repeat;
};

/*
 * Adds an axis from "key=a,b,c", the argument of --vary. Commas in brackets, braces and quotes are
 * part of a value. Returns false, with an error, if the argument is wrong.
 */
bool oche_grid_add_axis(struct oche_grid *grid, const char *argument, struct oche_error *error);
/* Returns false, with an error, if zipped axes are fewer than two or do not have as many values. */
bool oche_grid_check_zip(const struct oche_grid *grid, struct oche_error *error);
void oche_grid_free(struct oche_grid *grid);

/*
 * Returns the number of combinations; SIZE_MAX if it is too large to count. After oche_grid_open,
 * there are at most OCHE_GRID_MAX_POINTS points.
 */
size_t oche_grid_combinations(const struct oche_grid *grid);
size_t oche_grid_points(const struct oche_grid *grid);
struct oche_grid_place oche_grid_place(const struct oche_grid *grid, size_t point);
size_t oche_grid_number(const struct oche_grid *grid, const struct oche_grid_place *place);

/* Returns the seed with which a point runs. */
uint64_t oche_grid_seed(const struct oche_grid *grid, size_t point);

/*
 * Returns the overrides of a point, with the seed as the last one (the array and the strings are
 * malloc'd). Sets *count to their number.
 */
char **oche_grid_sets(const struct oche_grid *grid, size_t point, size_t *count);
void oche_grid_sets_free(char **sets, size_t count);

/*
 * Opens the scenario of the first combination and notes its seed, name and description. Returns
 * false, with one line in `error`, if that fails or there are too many points.
 */
bool oche_grid_open(struct oche_grid *grid, struct oche_error *error);

/*
 * Opens the grid like oche_grid_open, then opens every combination and builds its world, so
 * mistakes are found before any run. Returns false, with an error, if one of them fails (with
 * skip_invalid: if all do) or if two combinations give the same run (0.01 and 1%).
 */
bool oche_grid_check(struct oche_grid *grid, struct oche_error *error);
/* After oche_grid_check: returns why the point cannot be run; NULL: it can. */
const char *oche_grid_invalid(const struct oche_grid *grid, size_t point);

/* Watches a long check: `go_on` is called before each combination; false ends it. */
struct oche_grid_watch {
    bool (*go_on)(void *context);
    void *context;
};

/*
 * Checks only the combinations of the given points. Must be called after oche_grid_open. `watch`
 * may be NULL; if it ended the check, the error is "".
 */
bool oche_grid_check_points(const struct oche_grid *grid, const size_t *points, size_t count,
                            const struct oche_grid_watch *watch, struct oche_error *error);

#endif
