/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a run: a scenario's file, or the results file of an earlier run, which has the
 * scenario's text and the overrides.
 */
#ifndef OCHE_CLI_RUN_SOURCE_H
#define OCHE_CLI_RUN_SOURCE_H

#include "lab/measures/outcome.h"
#include "sim/scenario/scenario.h"
#include "store/recorded.h"
#include "store/store.h"

struct oche_run_source {
    const char *path;
    bool is_recorded;              /* `path` is a results file */
    struct oche_recorded recorded; /* if `is_recorded` */
    /* overrides that name the files of the earlier run where they are now; recorded.file_count */
    char **files;
};

/*
 * Reads `path`. Returns false, with one line in `error`, if it is a results file that cannot be
 * repeated: a file that its scenario names is gone, or has changed, and none of the `count`
 * overrides in `sets` gives another.
 */
bool oche_run_source_read(struct oche_run_source *source, const char *path, const char *const *sets,
                          size_t count, struct oche_error *error);
void oche_run_source_free(struct oche_run_source *source);

/* As oche_scenario_read, with the recorded overrides and then these. */
struct oche_scenario *oche_run_source_open(const struct oche_run_source *source,
                                           const char *const *sets, size_t count, bool refused_too,
                                           struct oche_mistakes *mistakes);

/* Stores the overrides, recorded and these, and the files that the scenario names. */
void oche_run_source_store(const struct oche_run_source *source, const char *const *sets,
                           size_t count, const struct oche_scenario *scenario,
                           struct oche_results *results);

/* Returns one line (malloc'd) that states if a repeated run is the same. Sets *same. */
char *oche_run_source_compare(const struct oche_run_source *source,
                              const struct oche_outcome *outcome, bool *same);

#endif
