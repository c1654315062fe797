/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a seed's world is to have, beside what chance gives it: a theme, under which something
 * happens that hardly happens by chance (queues fill, ports pause, a ring of switches waits for
 * itself), and two features. Consecutive seeds walk through all pairs of features.
 */
#ifndef OCHE_TESTS_SWARM_PLAN_H
#define OCHE_TESTS_SWARM_PLAN_H

#include "tests/swarm/draft.h"

/* Plans the draw of `seed`. Without this a draw has neither theme nor wishes. */
void draft_plan(struct draw *draw, uint64_t seed);

/* Limits of a parameter under the draw's theme, or those of limits.c. */
struct draft_limits draft_limits_in(const struct draw *draw, const struct draft_part *part,
                                    const struct oche_param *param);

/* True if the draw wishes for an entry of the section, for the parameter, for the mechanism. */
bool draft_wishes_section(const struct draw *draw, const struct oche_section *section);
bool draft_wishes_param(const struct draw *draw, const struct draft_part *part,
                        const struct oche_param *param);
bool draft_wishes_mechanism(const struct draw *draw, const char *name);

/* True if the draw's theme is about ports that pause each other. */
bool draft_fills_queues(const struct draw *draw);
/* meet.c: makes values meet that chance seldom draws together. */
void draft_meet(struct draft *draft, struct draw *draw);

/* Returns the file of tests/swarm/files that the theme is about; "": it is about none. */
const char *draft_wished_file(const struct draw *draw);

/* Returns the variant that the draw wishes for, or one by chance, more often one of the theme's. */
uint32_t draft_pick_variant(struct draw *draw, const struct oche_section *section);

#endif
