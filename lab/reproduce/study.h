/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study: a figure (or table) of a paper, as a file: what is run, what is measured, and what
 * results the paper gives. papers/PAPER/figures/FIGURE.yaml; docs/reproduce.md describes it.
 *
 *     title, place           what it is, where it stands in the paper
 *     scenario               in papers/PAPER/scenarios/
 *     grids                  each has set (fixed overrides), vary (axes), repeat; quick has less
 *     quantities             numbers made from a run's metrics
 *     at                     the condition of claims that do not give another one
 *     also                   other readings: claims are also measured under them, but not judged
 *     plot                   curves of the report, and the paper's points; or a list of plots
 *     claims                 see lab/reproduce/claim.h
 *     quick_differs          why verdicts of quick runs would mislead: they are left out
 *     differences            how the set-up differs from the paper's
 *
 * Axes are the keys that some grid varies. A grid that does not vary such a key gives its value
 * under `set`; so every combination of values is run by one grid or by none. A grid may be for one
 * reading only. Values that only such grids have are not usual values (read.h), so conditions need
 * not exclude them.
 *
 * Everything here belongs to the figure and lives as long as it does.
 */
#ifndef OCHE_LAB_REPRODUCE_STUDY_H
#define OCHE_LAB_REPRODUCE_STUDY_H

#include "params/error.h"
#include "sim/scenario/document.h"

#define OCHE_ANY SIZE_MAX /* no value of the axis is named */

/* Where an override is written. */
struct oche_study_source {
    const char *assignment;               /* "loss.probability=1%" */
    const struct oche_document *document; /* the figure's or the paper's */
    const struct oche_yaml *node;
};

struct oche_axis_value {
    const char *label; /* the value's name in claims and tables ("GBN+CE"), or its text */
    const char *text;  /* as --set accepts it */
    double number;     /* in the axis' unit; NAN if it is not a number, which no curve has */
    bool usual;        /* used by at least one grid that is for all readings */
    const struct oche_document *document; /* where it is written */
    const struct oche_yaml *node;
};

struct oche_study_axis {
    const char *key;
    const char
        *unit; /* unit of its numbers: s, bps, bytes, ratio (or count); NULL: some are no numbers */
    struct oche_axis_value *values;
    size_t count;
};

/*
 * Values of some axes. The values of other axes must come from another condition, or there is an
 * error.
 */
struct oche_condition {
    struct oche_condition_term {
        size_t *values; /* if there are several, the mean over them is taken */
        size_t count;   /* 0: not given */
    } * axis;           /* by axis */
};

/* A combination of values of all axes, and how often it is run. */
struct oche_combination {
    size_t grid;
    size_t *value;    /* by axis */
    uint32_t repeats; /* number of runs; 0: not run in this mode */
};

/* A fixed override that differs between grids. */
struct oche_study_override {
    const char *key;
    const char **text; /* by grid */
};

enum oche_statistic {
    OCHE_STATISTIC_MEAN,
    OCHE_STATISTIC_MEDIAN,
    OCHE_STATISTIC_PERCENTILE,
    OCHE_STATISTIC_MINIMUM,
    OCHE_STATISTIC_MAXIMUM,
    OCHE_STATISTIC_POOLED, /* a sum over the repeats, divided by another such sum */
};

/* How a measured value x is shown. */
enum oche_shape {
    OCHE_SHAPE_PLAIN,
    OCHE_SHAPE_REDUCTION, /* 1 - x */
    OCHE_SHAPE_INCREASE,  /* x - 1 */
    OCHE_SHAPE_FACTOR,    /* 1 / x */
};

struct oche_quantity {
    const char *name, *label;
    const char **metrics; /* metrics whose sum is taken */
    size_t metric_count;
    const char **over; /* metrics by whose sum the first sum is divided */
    size_t over_count;
    /* the result is relative to that of the point which differs only in these values */
    bool relative;
    struct oche_condition relative_to;
    enum oche_statistic statistic; /* over repeats */
    uint32_t thousandths;          /* PERCENTILE */
    enum oche_shape shape;
    double since;     /* is taken from the sum of the metrics, in their unit */
    const char *unit; /* ratio if it is divided by something, else the metrics' unit */
};

struct oche_claim_kind;

/* Which of the ratios along a curve a claim of kind `factor` is about. */
enum oche_take { OCHE_TAKE_MEDIAN, OCHE_TAKE_SMALLEST, OCHE_TAKE_LARGEST };

/* Where a claim comes from. */
enum oche_source {
    OCHE_SOURCE_TEXT,   /* the paper's words, or a table's number */
    OCHE_SOURCE_PLOT,   /* read off a curve or a bar */
    OCHE_SOURCE_MEMORY, /* general knowledge of the paper; its text was not available */
    /* this project's: computed here, or a question that the paper does not have */
    OCHE_SOURCE_OWN,
    OCHE_SOURCES
};
extern const char *const oche_source_names[]; /* names as used in files; NULL ends the list */

/* How far from the paper a number may be. */
struct oche_tolerance {
    double reproduced, in_shape;
    bool relative; /* true: relative to the published value; false: in the quantity's unit */
};

/* A second condition of a claim, on the same runs: without it the verdict is "not reproduced". */
struct oche_proviso {
    const struct oche_quantity *quantity;
    double bound;
    bool least; /* true: the quantity is at least that; false: at most */
};

struct oche_claim {
    const struct oche_claim_kind *kind;
    const char *name, *text, *place, *confidence;
    enum oche_source source;
    const char *says;        /* the paper's statement if it is more than a number; or NULL */
    const char *explanation; /* or NULL */
    const struct oche_quantity *quantity; /* the first one; NULL for CONDITIONS_NONE */
    /* if several quantities are compared: one for each condition; else NULL */
    const struct oche_quantity **each;
    struct oche_condition *at; /* one or more, complete except for `along` */
    size_t at_count;
    size_t curves; /* kinds about curves: their number; `at` has these at the first x, and so on */
    enum oche_take take;
    double published; /* the published value or the bound; NAN: none */
    double limit;     /* at_least: its upper limit; NAN: none */
    struct oche_proviso *provided;
    size_t proviso_count;
    const char *not_testable; /* why the claim is measured but has no verdict; or NULL */
    struct oche_tolerance tolerance;
    size_t along; /* axis, or OCHE_ANY */
    double below; /* a share */
};

/* Another reading of the set-up. */
struct oche_reading {
    const char *label;
    struct oche_condition at;
    /* by axis, by value: the value that is measured in its place; NULL: the axis does not change */
    size_t **instead;
    /* pairs: a quantity that claims name, and the one that is measured in its place */
    const struct oche_quantity *(*other)[2];
    size_t other_count;
};

/*
 * Returns the value that the reading measures where a claim has `value`; no reading: `value`
 * itself.
 */
size_t oche_reading_value(const struct oche_reading *reading, size_t axis, size_t value);
/* Returns the quantity that the reading measures where a claim names `quantity`. */
const struct oche_quantity *oche_reading_quantity(const struct oche_reading *reading,
                                                  const struct oche_quantity *quantity);

struct oche_published_curve {
    const char *label;
    double (*points)[2];
    size_t count;
};

struct oche_plot {
    const char *title; /* NULL: the figure's title */
    const struct oche_quantity **quantities;
    size_t quantity_count;
    size_t along, by; /* axes, or OCHE_ANY */
    struct oche_condition at;
    const char *x_name, *x_scale, *y_name, *y_scale;
    struct oche_published_curve *published;
    size_t published_count;
};

struct oche_paper;

struct oche_study {
    struct oche_document *document;
    const struct oche_paper *paper; /* or NULL; not owned */
    const char *name;               /* "fig6a" */
    const char *title, *place;
    const char *scenario; /* path */
    bool quick;
    const char *quick_differs; /* why quick runs give no verdicts; NULL: they do */

    struct oche_study_axis *axes;
    size_t axis_count;
    size_t grid_count;
    /*
     * By grid: the name of the file in which it is measured, where that is written, and the file
     * (lab/reproduce/measured.h); NULL: the grid is run.
     */
    const char **measured_names;
    const struct oche_yaml **measured_nodes;
    const struct oche_measured **measured;
    struct oche_combination *combinations;
    size_t combination_count;
    const char **sets; /* "key=value", the same in all grids */
    size_t set_count;
    struct oche_study_override *overrides;
    size_t override_count;
    struct oche_study_source *sources; /* all overrides that any grid gives */
    size_t source_count;
    uint32_t repeats; /* most for any combination that is run */

    struct oche_quantity *quantities;
    size_t quantity_count;
    struct oche_condition at;
    struct oche_reading *also;
    size_t also_count;
    struct oche_plot *plots;
    size_t plot_count;
    struct oche_claim *claims;
    size_t claim_count;
    const char **differences; /* the paper's come first */
    size_t difference_count;
    size_t paper_difference_count;
    /* digest of all that decides verdicts: quantities, and claims without explanations */
    uint64_t digest;
};

/*
 * Reads the figure's file; with `quick`, applies the changes for quick mode to its grids. Returns
 * NULL, with one line in `error` ("FILE:LINE: key: what is wrong; what would be right"), on
 * failure.
 */
struct oche_study *oche_study_open(const struct oche_paper *paper, const char *name, bool quick,
                                   struct oche_error *error);

/* As oche_study_open, but reads a text. `paper` may be NULL. `path` is used as the file's name. */
struct oche_study *oche_study_parse(const struct oche_paper *paper, const char *path,
                                    const char *text, bool quick, struct oche_error *error);
void oche_study_close(struct oche_study *study);

/* Returns the combination with these values (by axis), or NULL if no grid has it. */
const struct oche_combination *oche_study_find(const struct oche_study *study, const size_t *value);

/* Returns the condition in words: "recovery GBN, loss.probability 0.01". Owned by the figure. */
const char *oche_condition_text(const struct oche_study *study,
                                const struct oche_condition *condition);

#endif
