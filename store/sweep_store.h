/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a sweep or of a reproduced figure in one SQLite file. The file is written by one
 * process, with one transaction per point: finished points survive any interruption, and a later
 * process can continue. store/sweep.sql has the tables and describes them.
 *
 * Units are s, bps, bytes, count, ratio. `PRAGMA user_version` is OCHE_SWEEP_SCHEMA, and `PRAGMA
 * application_id` OCHE_SWEEP_APPLICATION distinguishes such a file from a run's. Schema 1 had no
 * table of plots: x_scale, y_scale, x_name and y_name of the figure's only plot were in info. The
 * first files of schema 1 also had neither interval nor unsure for claims. Claims have a source
 * since schema 3. A sweep that continues an older file upgrades it.
 */
#ifndef OCHE_STORE_SWEEP_STORE_H
#define OCHE_STORE_SWEEP_STORE_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_SWEEP_SCHEMA      3
#define OCHE_SWEEP_OLDEST      1          /* the oldest schema that can be read */
#define OCHE_SWEEP_APPLICATION 0x6f636865 /* "oche" */

struct oche_sweep_store;

struct oche_sweep_axis {
    const char *key;
    const char *const *values; /* values as the user wrote them */
    size_t count;
};

/*
 * Describes the sweep. The members marked "compared" must equal those in a file that is continued;
 * otherwise the file is refused.
 */
struct oche_sweep_description {
    const char *program, *command;
    const char *kind;          /* "sweep" or "figure" */
    const char *scenario;      /* path of the scenario */
    const char *scenario_text; /* contents of the scenario; compared */
    const char *grid;          /* the grid in one line; compared */
    /* files named by the scenario, with digests, in one line; compared */
    const char *files;
    uint64_t seed;
    uint32_t repeats;
    bool zipped;    /* the axes go together: a combination is the same number on all of them */
    unsigned cores; /* number of CPU cores of the computer */
    const struct oche_sweep_axis *axes;
    size_t axis_count;
};

/*
 * Opens the file `path` to continue it, or creates it; `restart`: replaces an existing file. The
 * folder must exist; only one process at a time can have files of a folder open. Returns NULL, with
 * one line in `error`, if the file is not a sweep's, belongs to another sweep, is in use, or cannot
 * be written.
 */
struct oche_sweep_store *oche_sweep_store_open(const char *path,
                                               const struct oche_sweep_description *description,
                                               bool restart, struct oche_error *error);
/*
 * Merges the log of committed data, so the sweep is a single file. To be called when all is
 * written, and before the results are shown. Returns false, with an error, if that fails, or if
 * anything has failed since the file was opened.
 */
bool oche_sweep_store_settle(struct oche_sweep_store *store, struct oche_error *error);
void oche_sweep_store_close(struct oche_sweep_store *store);

/*
 * Begin and commit a transaction: rows added between these two calls are stored completely or not
 * at all. The first failure (such as a full disk) is kept: this and every later commit reports it
 * and returns false.
 */
void oche_sweep_store_begin(struct oche_sweep_store *store);
bool oche_sweep_store_commit(struct oche_sweep_store *store, struct oche_error *error);

/* Functions that add rows. A number that is NAN is stored as NULL, a text that is NULL as "". */
void oche_sweep_store_info(struct oche_sweep_store *store, const char *key, const char *value);
void oche_sweep_store_parameter(struct oche_sweep_store *store, const char *key, const char *value,
                                const char *unit, bool given);

struct oche_sweep_point {
    size_t id;
    uint32_t repeat;
    uint64_t seed;
    const char *status, *error; /* error: NULL if the point succeeded */
    double wall_s;
    uint64_t trace_hash;
    const size_t *numbers; /* the number of the point's value on each axis */
};
/* Adds a point. Removes the stored data of an earlier, failed attempt. */
void oche_sweep_store_point(struct oche_sweep_store *store, const struct oche_sweep_point *point);
void oche_sweep_store_metric(struct oche_sweep_store *store, size_t point, const char *name,
                             const char *unit, const char *help, double value);
/*
 * Adds a distribution of `samples` samples. `values` has `count` percentiles, every `step`
 * thousandths from 0.
 */
void oche_sweep_store_distribution(struct oche_sweep_store *store, size_t point, const char *name,
                                   const char *unit, uint64_t samples, const double *values,
                                   size_t count, uint32_t step);

/* The rest of this header is only for files of figures, not of sweeps. */
struct oche_sweep_claim {
    const char *name, *text, *quantity, *condition;
    double published;
    const char *published_text, *unit, *place, *tolerance, *confidence, *source;
    double measured, low, high, spread;
    const char *verdict, *explanation;
    const char *interval; /* how the interval was found: "t", "bootstrap", or "" if there is none */
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
    uint32_t plot; /* number returned by oche_sweep_store_plot */
    const char *label, *kind, *x_name, *y_name, *x_unit, *y_unit;
};
/* Removes all claims, plots, curves and differences, so that they can be written again. */
void oche_sweep_store_clear_figure(struct oche_sweep_store *store);
/* Stores a claim. Returns its number, which oche_sweep_store_reading needs. */
uint32_t oche_sweep_store_claim(struct oche_sweep_store *store,
                                const struct oche_sweep_claim *claim);
void oche_sweep_store_reading(struct oche_sweep_store *store, uint32_t claim,
                              const struct oche_sweep_reading *reading);
/* Stores a plot. Returns its number, which its curves need. */
uint32_t oche_sweep_store_plot(struct oche_sweep_store *store, const struct oche_sweep_plot *plot);
/* Stores a curve. Returns its number, which oche_sweep_store_curve_point needs. */
uint32_t oche_sweep_store_curve(struct oche_sweep_store *store,
                                const struct oche_sweep_curve *curve);
void oche_sweep_store_curve_point(struct oche_sweep_store *store, uint32_t curve, double x,
                                  double y, double low, double high);
void oche_sweep_store_difference(struct oche_sweep_store *store, const char *text);

/* ---- reading, inside or outside a transaction ---- */

/* Sets done[p] if point p is done, for the points 0 … count - 1. Returns how many are done. */
size_t oche_sweep_store_done(struct oche_sweep_store *store, bool *done, size_t count);

/* Reads the trace hashes of the points 0 … count - 1; 0: the point is not done, or has no trace. */
void oche_sweep_store_hashes(struct oche_sweep_store *store, uint64_t *hashes, size_t count);

/*
 * Reads a metric of the points 0 … count - 1 into `values`; NAN if a point does not have the
 * metric.
 */
void oche_sweep_store_values(struct oche_sweep_store *store, const char *name, double *values,
                             size_t count);

/* Hears what a point's rows say; each function is required. Texts last until it returns. */
struct oche_sweep_reader {
    void *context;
    void (*head)(void *context, uint64_t seed, uint64_t trace_hash, double wall_s);
    void (*metric)(void *context, const char *name, const char *unit, double value);
    /* `thousandth` rises; all percentiles of a distribution come one after the other */
    void (*percentile)(void *context, const char *name, const char *unit, uint64_t samples,
                       uint32_t thousandth, double value);
};

/*
 * Reads the stored data of a point that is done: its head, metrics by name, then distributions.
 * Returns false if the point is not done, or the file cannot be read.
 */
bool oche_sweep_store_read(struct oche_sweep_store *store, size_t point,
                           const struct oche_sweep_reader *reader);

/*
 * Writes points.csv (one row per point: its axis values, repeat, seed, status) and metrics.csv (one
 * row per point and metric) into `folder`, each completely or not at all. Returns false, with an
 * error, if that fails.
 */
bool oche_sweep_store_csv(struct oche_sweep_store *store, const char *folder,
                          struct oche_error *error);

#endif
