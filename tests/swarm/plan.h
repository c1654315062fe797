/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans what a seed's world must have. A theme brings events that hardly happen by chance: queues
 * fill, ports pause, a ring of switches waits for itself. In addition two features are required.
 * Even seeds walk through all pairs of features; odd seeds bring rare events (rare_features.c).
 */
#ifndef OCHE_TESTS_SWARM_PLAN_H
#define OCHE_TESTS_SWARM_PLAN_H

#include "tests/swarm/draft.h"

/* The event that a theme brings. */
enum draft_theme {
    CALM, /* no theme: most worlds are idle */
    CROWDED,
    PAUSED,
    MARKED,
    LOSSY,
    DEFLECTED,
    CREDITS,
    FAILING,
    STUCK,              /* switches in a ring wait for each other */
    CUT,                /* links fail while packets cross them */
    BY_TURN,            /* themes before this one are for worlds without a rare feature */
    DETOURED = BY_TURN, /* themes before this one are for scenarios without a rare event */
    LOOPED,             /* routes that lead packets back and forth */
    GIVEN_UP,           /* a ring, and flows in it that fail */
    ASTRAY,             /* deflected packets, and flows that fail for every wait */
    LOST,               /* links lose so much that all flows fail */
    THEMES
};

/* Plans the draw of `seed`. A draw without a plan has no theme and no required feature. */
void draft_plan(struct draw *draw, uint64_t seed);

/* rare_features.c: plans a rare event, and the feature that must be there when it happens. */
void draft_rare_event(struct draw *draw, uint64_t number);
/* Returns the two features of pair `number`; false: there are fewer such pairs. */
bool draft_rare_pair(size_t number, const char *names[2]);

/* Requires a feature by its name (coverage.c). False: there is none, or the name is an event. */
bool draft_require(struct draw *draw, const char *name);
/* Requires feature `number`, modulo their number. Returns its name. */
void draft_require_number(struct draw *draw, uint64_t number);
void draft_name_number(const struct draw *draw, uint64_t number, char *name, size_t room);
/* Returns how many variants of a section are required. */
uint32_t draft_variants_required(const struct draw *draw, const struct oche_section *section);

/*
 * advice.c: a refusal may name a value for another parameter. Sets it. Returns false if the refusal
 * names none, or if that parameter is required.
 */
bool draft_take_other(struct draft *draft, const struct draft_part *part,
                      const struct oche_param *param, const char *refusal, struct draw *draw);

/* Returns the limits of a parameter under the draw's theme, or those of limits.c. */
struct draft_limits draft_limits_in(const struct draw *draw, const struct draft_part *part,
                                    const struct oche_param *param);

/* True if the draw requires an entry of the section, the parameter, or the mechanism. */
bool draft_requires_section(const struct draw *draw, const struct oche_section *section);
bool draft_requires_param(const struct draw *draw, const struct draft_part *part,
                          const struct oche_param *param);
bool draft_requires_mechanism(const struct draw *draw, const char *name);

/* True if the draw's theme brings ports that pause each other. */
bool draft_fills_queues(const struct draw *draw);
/* combined_values.c: sets values that matter only in combinations that chance seldom draws. */
void draft_meet(struct draft *draft, struct draw *draw);

/* True if the theme leaves out this section or mechanism in this draw. */
bool draft_shuns(struct draw *draw, const char *section);
/* True if the theme needs a long run. */
bool draft_takes_time(const struct draw *draw);

/* Returns the files of tests/swarm/files that the theme needs, separated by bars. */
const char *draft_required_files(const struct draw *draw);

/* Returns the required variant, or one by chance; the theme's variants are drawn more often. */
uint32_t draft_pick_variant(struct draw *draw, const struct oche_section *section);

#endif
