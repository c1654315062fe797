/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read as schedules, each format by a file of its own. */
#ifndef OCHE_SIM_GRAPH_SCHEDULE_FILE_H
#define OCHE_SIM_GRAPH_SCHEDULE_FILE_H

#include "sim/graph/goal.h"

#define OCHE_SCHEDULE_REMARK_BYTES 400

/* Properties of a file that is read as a schedule. */
struct oche_schedule_file {
    const char *format;                      /* "GOAL", "htsim's connection matrix" */
    bool acknowledged;                       /* sends end when they are acknowledged */
    char remark[OCHE_SCHEDULE_REMARK_BYTES]; /* what was not understood, or assumed; or "" */
};

/* True if the file begins as one of the formats does. */
bool oche_schedule_is_one(const char *path);
/* Opens the schedule. Returns false, with one line in `error`, if it is wrong. */
bool oche_schedule_open(struct oche_goal *goal, const char *path, struct oche_schedule_file *about,
                        struct oche_error *error);

/* ---- the formats ---- */

/* htsim.c: connection matrices (.cm, .tm). */
bool oche_htsim_is_matrix(const char *path);
bool oche_htsim_open_matrix(struct oche_goal *goal, const char *path,
                            struct oche_schedule_file *about, struct oche_error *error);

#endif
