/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of an adapter of one's own, as a file of YAML:
 *
 *     like: connectx-5            # where it begins; without this line: ideal
 *     title: the adapters of rack 7
 *     timeouts: as_asked          # habits, as `oche nic ideal` lists them
 *     limiter_lag: {value: 40KB, class: measured, source: our laboratory}
 */
#ifndef OCHE_SIM_SCENARIO_NIC_FILE_H
#define OCHE_SIM_SCENARIO_NIC_FILE_H

#include "core/nic/profile.h"
#include "params/error.h"

/* True if `text` names a file, not a profile. */
bool oche_nic_is_file(const char *text);

#define OCHE_MOST_HABITS 64

/* A file's class and source of one habit. */
struct oche_nic_fact {
    bool given;
    int evidence;     /* enum oche_evidence, or -1: the file does not say it */
    char source[160]; /* "": none */
};

/* An adapter, with what is known of it. */
struct oche_nic_facts {
    struct oche_nic_habits habits;
    char title[160];                              /* of a file; "": none */
    const struct oche_nic_profile *like;          /* the profile where it begins; NULL: unknown */
    struct oche_nic_fact facts[OCHE_MOST_HABITS]; /* by row of oche_nic_habits_table */
};

/* As oche_nic_read, with the facts. */
bool oche_nic_read_facts(struct oche_nic_facts *facts, const char *text, struct oche_error *error);

/* Reads what oche_nic_parse reads or, if `text` ends in .yaml, a file. Errors are one line. */
bool oche_nic_read(struct oche_nic_habits *habits, const char *text, struct oche_error *error);

#endif
