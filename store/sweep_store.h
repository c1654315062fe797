/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a sweep or of a reproduced figure: one SQLite file, written by one process, one
 * transaction per point, so that whatever interrupts it, finished points stay and can be used.
 * store/sweep.sql has the tables and describes them.
 *
 * Units are s, bps, bytes, count, ratio. `PRAGMA user_version` is OCHE_SWEEP_SCHEMA, and `PRAGMA
 * application_id` OCHE_SWEEP_APPLICATION distinguishes such a file from a run's. Schema 1 had no
 * plots: x_scale, y_scale, x_name and y_name of a figure's only plot were in info; and at first
 * claims had neither interval nor unsure. A sweep that continues such a file upgrades it.
 */
#ifndef OCHE_STORE_SWEEP_STORE_H
#define OCHE_STORE_SWEEP_STORE_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_SWEEP_SCHEMA      2
#define OCHE_SWEEP_OLDEST      1          /* the oldest schema that can be read */
#define OCHE_SWEEP_APPLICATION 0x6f636865 /* "oche" */

struct oche_sweep_store;

struct oche_sweep_axis {
    const char *key;
    const char *const *values; /* as typed */
    size_t count;
};

/*
 * What the file describes; a file that was begun with another program, scenario or grid is refused.
 */
struct oche_sweep_description {
    const char *program, *command;
    const char *kind;          /* "sweep" or "figure" */
    const char *scenario;      /* path */
    const char *scenario_text; /* compared */
    const char *grid;          /* one line; compared */
    const char *files;         /* files named by the scenario, with digests; one line; compared */
    uint64_t seed;
    uint32_t repeats;
    unsigned cores; /* of the host */
    const struct oche_sweep_axis *axes;
    size_t axis_count;
};

/*
 * Opens `path` to continue it, or creates it; `restart` replaces an existing one. The folder must
 * exist. Only one process at a time has files of a folder open. Returns NULL, with one line in
 * `error`, if the file is not a sweep's, is another sweep's, is being written, or cannot be
 * written.
 */
struct oche_sweep_store *oche_sweep_store_open(const char *path,
                                               const struct oche_sweep_description *description,
                                               bool restart, struct oche_error *error);
void oche_sweep_store_close(struct oche_sweep_store *store);

/*
 * A transaction: what is added between these two is stored completely or not at all. The first
 * failure (such as a full disk) is kept; commit then reports it and returns false, now and from
 * then on.
 */
void oche_sweep_store_begin(struct oche_sweep_store *store);
bool oche_sweep_store_commit(struct oche_sweep_store *store, struct oche_error *error);

/* Functions that add rows. NAN becomes NULL; a NULL text becomes "". */
void oche_sweep_store_info(struct oche_sweep_store *store, const char *key, const char *value);
void oche_sweep_store_parameter(struct oche_sweep_store *store, const char *key, const char *value,
                                const char *unit, bool given);

struct oche_sweep_point {
    size_t id;
    uint32_t repeat;
    uint64_t seed;
    const char *status, *error; /* error: NULL if the point is done */
    double wall_s;
    uint64_t trace_hash;
    const size_t *numbers; /* of its axis values, one per axis */
};
/* Removes what was stored about that point (a failure), and begins it again. */
void oche_sweep_store_point(struct oche_sweep_store *store, const struct oche_sweep_point *point);
void oche_sweep_store_metric(struct oche_sweep_store *store, size_t point, const char *name,
                             const char *unit, const char *help, double value);
/* `values` has `count` percentiles, every `step` thousandths from 0. */
void oche_sweep_store_distribution(struct oche_sweep_store *store, size_t point, const char *name,
                                   const char *unit, uint64_t samples, const double *values,
                                   size_t count, uint32_t step);

/* For a figure only. */
struct oche_sweep_claim {
    const char *name, *text, *quantity, *condition;
    double published;
    const char *published_text, *unit, *place, *tolerance, *confidence;
    double measured, low, high, spread;
    const char *verdict, *explanation;
    const char *interval; /* "t", "bootstrap" or "" */
    bool unsure;
};
struct oche_sweep_reading {
    const char *label;
    double measured, low, high;
    const char *verdict;
};
struct oche_sweep_plot {
    const char *title, *x_name, *x_scale, *y_name, *y_scale;
};
struct oche_sweep_curve {
    uint32_t plot; /* its number */
    const char *label, *kind, *x_name, *y_name, *x_unit, *y_unit;
};
/* Removes claims, plots, curves and differences, to write them again. */
void oche_sweep_store_clear_figure(struct oche_sweep_store *store);
/* Returns its number, for its readings. */
uint32_t oche_sweep_store_claim(struct oche_sweep_store *store,
                                const struct oche_sweep_claim *claim);
void oche_sweep_store_reading(struct oche_sweep_store *store, uint32_t claim,
                              const struct oche_sweep_reading *reading);
/* Returns its number, for its curves. */
uint32_t oche_sweep_store_plot(struct oche_sweep_store *store, const struct oche_sweep_plot *plot);
/* Returns its number, for its points. */
uint32_t oche_sweep_store_curve(struct oche_sweep_store *store,
                                const struct oche_sweep_curve *curve);
void oche_sweep_store_curve_point(struct oche_sweep_store *store, uint32_t curve, double x,
                                  double y, double low, double high);
void oche_sweep_store_difference(struct oche_sweep_store *store, const char *text);

/* ---- reading, inside or outside a transaction ---- */

/* Finds which of the points 0 … count - 1 are done. Returns their number. */
size_t oche_sweep_store_done(struct oche_sweep_store *store, bool *done, size_t count);

/* Reads a metric of the points 0 … count - 1; NAN if a point does not have it. */
void oche_sweep_store_values(struct oche_sweep_store *store, const char *name, double *values,
                             size_t count);

/*
 * Reads a distribution of a point as `count` percentiles, every `step` thousandths from 0; NAN if
 * there is none. Returns the number of samples; 0: the point has no distribution of that name.
 */
uint64_t oche_sweep_store_percentiles(struct oche_sweep_store *store, size_t point,
                                      const char *name, double *values, size_t count,
                                      uint32_t step);

/*
 * Writes points.csv (one row per point: its axis values, repeat, seed, status) and metrics.csv (one
 * row per point and metric) into `folder`, each completely or not at all. Returns false, with an
 * error, if that fails.
 */
bool oche_sweep_store_csv(struct oche_sweep_store *store, const char *folder,
                          struct oche_error *error);

#endif
