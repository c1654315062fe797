/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a comparison's runs in sentences. */
#ifndef OCHE_CLI_RUN_RUN_NAME_H
#define OCHE_CLI_RUN_RUN_NAME_H

struct oche_outcome;

struct oche_run_name {
    char text[256];
};

/*
 * Returns a run's name, from the compared key and the run's value. The name of a scheme stands
 * alone; any other value has its key before it, because "true" or "7" alone says nothing:
 * "switch.pfc=true". "" for a run that is not compared, whose key is NULL.
 */
struct oche_run_name oche_run_name(const char *key, const char *value);

/*
 * Returns the name of a run that has been made, for tables and sentences: as oche_run_name, but
 * "PFC alone" or "no congestion control" for the scheme "none", which would be read as "no run".
 */
struct oche_run_name oche_run_name_of(const char *key, const struct oche_outcome *outcome);

/* The same for objects that are not named by their scheme: "dcqcn", or "none (PFC alone)". */
struct oche_run_name oche_run_scheme_name(const struct oche_outcome *outcome);

#endif
