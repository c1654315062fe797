/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the commit that fixed a figure's claims and tolerances: the oldest one since which they
 * have not changed. It comes from git if the papers are in a work tree; else from the list that
 * their installation made (papers/commits.txt: lines "PAPER/FIGURE COMMIT DIGEST").
 */
#ifndef OCHE_LAB_REPRODUCE_TOLERANCES_H
#define OCHE_LAB_REPRODUCE_TOLERANCES_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/paper.h"

#define OCHE_NOT_COMMITTED "not committed"

/*
 * Returns the commit's name (malloc'd); or OCHE_NOT_COMMITTED if the claims are not those of any
 * commit, or nothing is known about commits.
 */
char *oche_tolerances_commit(const struct oche_study *figure);

#endif
