/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a seed's world is to have, beside what chance gives it: a theme, under which something
 * happens that hardly happens by chance (queues fill, ports pause, a ring of switches waits for
 * itself), and two features. Every other seed walks through all pairs of features; those in between
 * have an aim (rare_features.c).
 */
#ifndef OCHE_TESTS_SWARM_PLAN_H
#define OCHE_TESTS_SWARM_PLAN_H

#include "tests/swarm/draft.h"

/* What is to happen. */
enum draft_theme {
    CALM, /* whatever chance brings: most worlds without a theme are idle */
    CROWDED,
    PAUSED,
    MARKED,
    LOSSY,
    DEFLECTED,
    CREDITS,
    FAILING,
    STUCK,              /* a ring of switches that wait for each other */
    CUT,                /* links fail while packets cross them */
    BY_TURN,            /* before here: themes of worlds without an aim */
    DETOURED = BY_TURN, /* a ring of detours through a leaf or a pod */
    LOOPED,             /* routes that go back and forth */
    GIVEN_UP,           /* a ring, and flows in it that fail */
    ASTRAY,             /* deflected packets, and flows that fail for every wait */
    LOST,               /* links that lose so much that all flows fail */
    THEMES
};

/* Plans the draw of `seed`. Without this a draw has neither theme nor wishes. */
void draft_plan(struct draw *draw, uint64_t seed);

/* rare_features.c: plans what seldom happens: walks through features that are to meet it. */
void draft_aim(struct draw *draw, uint64_t number);
/* The two features of an aim; false: there are not so many aims that name two. */
bool draft_aim_names(size_t number, const char *names[2]);

/* Wishes for a feature by its name (coverage.c); false: there is no such, or it is an event. */
bool draft_wish(struct draw *draw, const char *name);
/* Wishes for the feature of that number, modulo their number; its name. */
void draft_wish_number(struct draw *draw, uint64_t number);
void draft_name_number(const struct draw *draw, uint64_t number, char *name, size_t room);
/* Returns how many variants of a section are wished for. */
uint32_t draft_variants_wished(const struct draw *draw, const struct oche_section *section);

/*
 * advice.c: a refusal may say what another parameter would have to be. Gives it that; false: it
 * says nothing of the kind, or that one is wished for.
 */
bool draft_take_other(struct draft *draft, const struct draft_part *part,
                      const struct oche_param *param, const char *refusal, struct draw *draw);

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
/* combined_values.c: makes values meet that chance seldom draws together. */
void draft_meet(struct draft *draft, struct draw *draw);

/* True if the theme leaves out the section, or mechanism, this time. */
bool draft_shuns(struct draw *draw, const char *section);
/* True if what the theme is about takes time and events. */
bool draft_takes_time(const struct draw *draw);

/* Returns the files of tests/swarm/files that the theme is about, between bars. */
const char *draft_wished_files(const struct draw *draw);

/* Returns the variant that the draw wishes for, or one by chance, more often one of the theme's. */
uint32_t draft_pick_variant(struct draw *draw, const struct oche_section *section);

#endif
