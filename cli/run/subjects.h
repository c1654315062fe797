/* SPDX-License-Identifier: Apache-2.0 */
/* The subjects of rows in tables: sizes of flows, places, links, … of one run or of several. */
#ifndef OCHE_CLI_RUN_SUBJECTS_H
#define OCHE_CLI_RUN_SUBJECTS_H

#include "lab/measures/outcome.h"

enum oche_each {
    OCHE_EACH_RUN, /* one row */
    OCHE_EACH_SIZE,
    OCHE_EACH_PLACE,
    OCHE_EACH_LINK, /* kinds of links (sim/measure/congestion.h) */
    OCHE_EACH_TIER,
    OCHE_EACH_FLOW,     /* one by one, if every run has the same ones */
    OCHE_EACH_WORKLOAD, /* if there are several, and every run has the same ones */
    OCHE_EACH_QUEUE     /* queues that some run watches */
};

#define OCHE_SUBJECT_BYTES (4 * OCHE_OUTCOME_NAME_BYTES)

/* Subject `number` of a table of these runs. */
struct oche_subject {
    enum oche_each each;
    unsigned which; /* its number in an outcome; for queues see oche_subject_in */
    char name[OCHE_SUBJECT_BYTES];
};

/* Returns how many there are; some may appear twice, such as queues of several runs. */
unsigned oche_subject_count(enum oche_each each, const struct oche_outcome *outcomes, size_t count);
/* Returns false if it has appeared before. */
bool oche_subject_take(struct oche_subject *subject, enum oche_each each, unsigned number,
                       const struct oche_outcome *outcomes, size_t count);
/* Returns its number in that run; UINT_MAX if the run has no such queue. */
unsigned oche_subject_in(const struct oche_subject *subject, const struct oche_outcome *outcome);

#endif
