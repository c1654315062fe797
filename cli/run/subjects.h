/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of rows in tables: sizes of flows, places, links, … of one run or of several. */
#ifndef OCHE_CLI_RUN_SUBJECTS_H
#define OCHE_CLI_RUN_SUBJECTS_H

#include "lab/measures/outcome.h"

enum oche_each {
    OCHE_EACH_RUN, /* the run as a whole: one row */
    OCHE_EACH_SIZE,
    OCHE_EACH_ALL_SIZES, /* flows of all sizes: one row, without a name */
    OCHE_EACH_PLACE,
    OCHE_EACH_LINK, /* kinds of links (sim/measure/congestion.h) */
    OCHE_EACH_TIER,
    OCHE_EACH_FLOW,     /* flows one by one, if every run has the same flows */
    OCHE_EACH_WORKLOAD, /* workloads, if there are several and every run has the same */
    OCHE_EACH_QUEUE     /* queues that some run watches */
};

#define OCHE_SUBJECT_BYTES (4 * OCHE_OUTCOME_NAME_BYTES)

/* One subject of the rows, with its name. */
struct oche_subject {
    enum oche_each each;
    unsigned which; /* number of the subject in an outcome; for queues use oche_subject_in */
    char name[OCHE_SUBJECT_BYTES];
};

/*
 * Returns the number of subjects. A subject may be counted twice, such as a queue of several runs.
 */
unsigned oche_subject_count(enum oche_each each, const struct oche_outcome *outcomes, size_t count);
/*
 * Fills `subject` with subject `number`. Returns false if it is the same as an earlier subject, or
 * has no row of its own.
 */
bool oche_subject_take(struct oche_subject *subject, enum oche_each each, unsigned number,
                       const struct oche_outcome *outcomes, size_t count);
/* Returns how many subjects have no row: with many queues, the shorter ones. */
unsigned oche_subjects_left_out(enum oche_each each, const struct oche_outcome *outcomes,
                                size_t count);
/* Returns the subject's number in the outcome of one run; UINT_MAX if the run has no such queue. */
unsigned oche_subject_in(const struct oche_subject *subject, const struct oche_outcome *outcome);

#endif
