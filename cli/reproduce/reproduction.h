/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of `oche reproduce` that names papers: what it has opened, and its steps. Each step is a
 * file of this folder.
 */
#ifndef OCHE_CLI_REPRODUCE_REPRODUCTION_H
#define OCHE_CLI_REPRODUCE_REPRODUCTION_H

#include "cli/reproduce/options.h"
#include "cli/sweep/points_bar.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/pool.h"
#include "lab/reproduce/statements.h"
#include "lab/reproduce/tally.h"
#include "store/sweep_store.h"

/* Exit statuses. */
enum oche_reproduce_status {
    OCHE_REPRODUCE_DONE = 0,
    OCHE_REPRODUCE_NOT_ALL = 1, /* some runs are not done */
    OCHE_REPRODUCE_REFUSED = 2, /* `error` says why */
    OCHE_REPRODUCE_INTERRUPTED = 130
};

/* One of the figures to reproduce. */
struct oche_reproduce_work {
    struct oche_study *study;
    struct oche_plan plan;
    struct oche_sweep_store *store;
    struct oche_tally tally;
    struct oche_results results;
    char *folder;
};

struct oche_reproduction {
    struct oche_reproduce_options options;
    char *command;  /* command line as typed */
    char *folder;   /* folder of the papers */
    char *measured; /* with --measure: the folder of the new measurements */
    struct oche_paper **papers;
    size_t paper_count;
    struct oche_paper_statements *statements; /* by paper */
    size_t statement_count;                   /* papers whose statements are open */
    struct oche_reproduce_work *works;
    size_t work_count;
    struct oche_pool *pool;
    struct oche_reproduce_work *now; /* the figure whose runs are under way */
    struct oche_points_bar bar;
    size_t bad;
    bool broken;            /* results cannot be written; `error` says why */
    char *commit, date[16]; /* with --record: the version of the program */
    struct oche_error error;
};

/* ---- open.c ---- */

/*
 * Opens what the command names: a paper, one of its figures, or all papers, with their statements.
 * With --measure, measures first. Returns false, with `error`, if a file is wrong.
 */
bool oche_reproduce_open(struct oche_reproduction *session);
/* Returns the folder for a paper's results (malloc'd). */
char *oche_reproduce_folder(const struct oche_reproduction *session, const char *paper);

/* ---- lists.c ---- */

/* Prints the figures with their runs and claims. */
void oche_reproduce_list(const struct oche_reproduction *session);
/*
 * Prints one line per figure, in the form that lab/reproduce/tolerances.h reads if there is no git.
 */
void oche_reproduce_list_tolerances(const struct oche_reproduction *session);

/* ---- points.c ---- */

/* Opens or makes the figure's results file. Returns false, with `error`, on failure. */
bool oche_reproduce_open_store(struct oche_reproduction *session, struct oche_reproduce_work *work);
/* Runs those points of the figure that no results file has yet. */
enum oche_reproduce_status oche_reproduce_run_points(struct oche_reproduction *session,
                                                     struct oche_reproduce_work *work);

/* ---- show.c ---- */

/* Prints, for each paper, the number of runs and how the set-up differs from the paper's. */
void oche_reproduce_print_heads(const struct oche_reproduction *session);
/* Judges the figure, and stores and prints the findings. Returns false, with `error`, on failure.
 */
bool oche_reproduce_show(struct oche_reproduction *session, struct oche_reproduce_work *work);
/* Prints the statements of those papers whose figures were all opened. */
void oche_reproduce_print_statements(const struct oche_reproduction *session);
/* Prints the verdicts of each paper's figures together. */
void oche_reproduce_print_papers(const struct oche_reproduction *session);
/* True if all figures of the paper were opened, so that its statements have verdicts. */
bool oche_reproduce_is_whole(const struct oche_reproduction *session,
                             const struct oche_paper *paper);
/* Copies the verdicts of the paper's figures; oche_results_free frees them. */
void oche_reproduce_results(const struct oche_reproduction *session, const struct oche_paper *paper,
                            struct oche_results *results);
/* False if the command prints no tables: with --quiet or --json. */
bool oche_reproduce_shows_tables(const struct oche_reproduction *session);

/* ---- print_json.c ---- */

/*
 * Print what has run, or what was recorded, as JSON. Return false, with `error`, and print nothing,
 * if it cannot be read.
 */
bool oche_reproduce_print_json(struct oche_reproduction *session);
bool oche_reproduce_print_recorded(struct oche_reproduction *session);

#endif
