/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the commit that fixed a figure's claims and tolerances: the oldest commit after which they
 * did not change. Uses git if the papers are in a work tree; else the list that was made when the
 * papers were installed (papers/commits.txt: lines "PAPER/FIGURE COMMIT DIGEST").
 */
#ifndef OCHE_LAB_REPRODUCE_TOLERANCES_H
#define OCHE_LAB_REPRODUCE_TOLERANCES_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/paper.h"

#define OCHE_NOT_COMMITTED "not committed"

/*
 * Returns the name of that commit (malloc'd). It is OCHE_NOT_COMMITTED if no commit has the present
 * claims, or if nothing is known about commits.
 */
char *oche_tolerances_commit(const struct oche_study *figure);

/*
 * Returns the commit of the work tree that contains `folder` (malloc'd). A + follows if files
 * differ other than results and documents; "-" if there is no work tree.
 */
char *oche_work_tree_commit(const char *folder);

#endif
