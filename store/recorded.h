/* SPDX-License-Identifier: Apache-2.0 */
/* The origin of a run, from its results file: enough to repeat it. */
#ifndef OCHE_STORE_RECORDED_H
#define OCHE_STORE_RECORDED_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A file that a parameter of the scenario named. */
struct oche_recorded_file {
    char *key, *path; /* `path`: the file's whole path */
    char *digest;     /* 16 hexadecimal digits */
};

struct oche_recorded {
    char *program, *scenario_file, *scenario_text, *status, *trace_hash;
    char *until_stable, *within; /* values of --until-stable and --within; NULL: not given */
    char **overrides;            /* in the order in which they were given */
    size_t override_count;
    struct oche_recorded_file *files;
    size_t file_count;
};

/* True if the file is an SQLite database, as results files are. False also if it cannot be read. */
bool oche_is_database(const char *path);

/*
 * Reads the record of a run. Returns false, with one line in `error`, if the file is not a run's
 * results, or is of a version that did not record overrides.
 */
bool oche_recorded_read(struct oche_recorded *recorded, const char *path, struct oche_error *error);
void oche_recorded_free(struct oche_recorded *recorded);

#endif
