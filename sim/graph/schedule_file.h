/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are read as schedules. Each format has a file or a folder of its own, and a row in
 * schedule_file.c.
 */
#ifndef OCHE_SIM_GRAPH_SCHEDULE_FILE_H
#define OCHE_SIM_GRAPH_SCHEDULE_FILE_H

#include <string.h>

#include "core/param.h"
#include "sim/graph/collective/collective.h"
#include "sim/graph/goal.h"

#define OCHE_SCHEDULE_REMARK_BYTES 400
#define OCHE_SCHEDULE_MOST_OPS     (UINT64_C(1) << 28) /* of a file that is not GOAL itself */

/* How to read a file. */
struct oche_schedule_reading {
    uint32_t algorithm;      /* of collective operations; enum oche_collective_algorithm */
    uint64_t chunks, window; /* as struct oche_collective has them */
    bool control_deps;       /* Chakra: nodes wait for ctrl_deps, too */
    const char *groups_file; /* Chakra: path of the communicator groups, or NULL */
    uint64_t gpus;           /* SimAI: so many of them, in one stage; 0: as the file says */
    uint64_t most_ops;       /* no parameter; 0: OCHE_SCHEDULE_MOST_OPS; tests set less */
};

/* Rows of the table of a struct that has a member `reading`, of struct oche_schedule_reading. */
#define OCHE_PARAM_READING(type)                                                                   \
    {OCHE_PARAM_AS("algorithm", struct type, reading.algorithm),                                   \
     OCHE_IS_CHOICE(OCHE_RING, oche_algorithm_names), .where = "workloads.md#traces",              \
     .help = "of the file's collective operations, if it can do them; else direct for "            \
             "all_to_all, and ring"},                                                              \
        {OCHE_PARAM_AS("chunks", struct type, reading.chunks), OCHE_IS_COUNT(4, 1, 65536),         \
         .where = "workloads.md#traces",                                                           \
         .help = "messages of a block of a collective operation (tree: of half of the bytes)"},    \
        {OCHE_PARAM_AS("window", struct type, reading.window), OCHE_IS_COUNT(4, 0, UINT32_MAX),    \
         .where = "workloads.md#traces",                                                           \
         .help = "direct: blocks that a rank sends before it has got one; 0: all"},                \
        {OCHE_PARAM_AS("control_deps", struct type, reading.control_deps), OCHE_IS_BOOL(false),    \
         .where = "workloads.md#chakra",                                                           \
         .help = "Chakra: nodes wait for their ctrl_deps, too, not only for their data_deps"},     \
        {OCHE_PARAM_AS("groups_file", struct type, reading.groups_file), OCHE_IS_TEXT,             \
         .where = "workloads.md#chakra",                                                           \
         .help = "Chakra: path of the communicator groups, a JSON object: number, list of "        \
                 "ranks"},                                                                         \
    {                                                                                              \
        OCHE_PARAM_AS("gpus", struct type, reading.gpus),                                          \
            OCHE_IS_COUNT(0, 0, OCHE_GOAL_MOST_RANKS),                                             \
            .where = "workloads.md#simai",                                                         \
            .help = "SimAI: so many GPUs, in one stage of the pipeline; 0: as the file says"       \
    }
/* A table of these rows alone, of struct oche_schedule_reading. */
extern const struct oche_param_table oche_schedule_reading_table;

/* A link that fails: from an aggregation switch to a core, both by number from 0. */
struct oche_schedule_failure {
    uint32_t agg, link; /* link: which of the cores that the switch leads to */
    unsigned line;      /* in the file */
};

/* Properties of a file that is read as a schedule. */
struct oche_schedule_file {
    const char *format; /* "GOAL", "htsim's connection matrix" */
    bool acknowledged;  /* sends end when they are acknowledged */
    /* Not LogGOPSim's habits: sends never wait for their receives, and calculations end when they
       are over. */
    bool eager;
    struct oche_schedule_failure *failures; /* malloc'd, the caller's to free; of matrices alone */
    uint32_t failure_count;
    unsigned others; /* operations that another algorithm does: bits of their numbers */
    char remark[OCHE_SCHEDULE_REMARK_BYTES]; /* what was not understood, or assumed; or "" */
};

/* True if the file begins as one of the formats does. */
bool oche_schedule_is_one(const char *path);
/*
 * Opens the schedule. Returns false, with one line in `error`, if it is wrong, or if a parameter of
 * `reading` has no meaning for its format.
 */
bool oche_schedule_open(struct oche_goal *goal, const char *path,
                        const struct oche_schedule_reading *reading,
                        struct oche_schedule_file *about, struct oche_error *error);

/* ---- for the formats ---- */

/* Returns the text behind a byte-order mark of UTF-8, if it has one. */
static inline const char *oche_schedule_behind_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

/*
 * Adds to the remark, behind "; " if there is something before it. A remark that does not fit is
 * cut.
 */
void oche_schedule_remark(struct oche_schedule_file *about, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns how many operations a file may become. */
static inline uint64_t oche_schedule_most(const struct oche_schedule_reading *reading)
{
    return reading->most_ops > 0 ? reading->most_ops : OCHE_SCHEDULE_MOST_OPS;
}

/*
 * Returns the operation on `ranks` ranks, by an algorithm that can do it. Sets its bit in `others`
 * if that is not the one that `reading` names.
 */
struct oche_collective oche_schedule_collective(const struct oche_schedule_reading *reading,
                                                enum oche_collective_operation operation,
                                                uint32_t ranks, uint64_t bytes, unsigned *others);

/*
 * Returns the first tag of those that the operation needs, and moves *next behind them. Begins
 * again at `first` when there are no more: then that many messages are between.
 */
uint32_t oche_schedule_tags(uint32_t *next, uint32_t first, const struct oche_collective *of);

/* ---- the formats ---- */

/* htsim.c: connection matrices (.cm, .tm). */
bool oche_htsim_is_matrix(const char *path);
bool oche_htsim_open_matrix(struct oche_goal *goal, const char *path,
                            const struct oche_schedule_reading *reading,
                            struct oche_schedule_file *about, struct oche_error *error);
/* chakra/: execution traces (.et). The path is one of its files, or the beginning of their names.
 */
bool oche_chakra_is_trace(const char *path);
/* Returns the path of the file of rank `rank` (malloc'd), or NULL if there is none. */
char *oche_chakra_file(const char *path, uint32_t rank);
bool oche_chakra_open(struct oche_goal *goal, const char *path,
                      const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                      struct oche_error *error);
/* simai.c: workloads of SimAI. */
bool oche_simai_is_workload(const char *path);
bool oche_simai_open(struct oche_goal *goal, const char *path,
                     const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                     struct oche_error *error);
/* json_lines.c: an operation a line. */
bool oche_json_lines_is_one(const char *path);
bool oche_json_lines_open(struct oche_goal *goal, const char *path,
                          const struct oche_schedule_reading *reading,
                          struct oche_schedule_file *about, struct oche_error *error);

#endif
