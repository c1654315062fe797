/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commit fixed a figure's claims and tolerances: the oldest one since which they are as they
 * are now. From git, where the papers are in a work tree; else from the list that installing them
 * made (papers/commits.txt: lines "PAPER/FIGURE COMMIT DIGEST").
 */
#ifndef OCHE_LAB_REPRODUCE_TOLERANCES_H
#define OCHE_LAB_REPRODUCE_TOLERANCES_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/paper.h"

#define OCHE_NOT_COMMITTED "not committed"

/*
 * The commit's name, malloc'd; or OCHE_NOT_COMMITTED if the claims are not what any commit says,
 * or nothing is known about commits.
 */
char *oche_tolerances_commit(const struct oche_study *figure);

#endif
