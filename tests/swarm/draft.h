/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A draft is a scenario as data: it can be drawn at random, changed and written as YAML. It follows
 * the schema of scenarios (sim/scenario/scenario.h), so it can have every section, variant and
 * parameter of a scenario. Two things are named here: limits that keep worlds small (limits.c), and
 * texts that have a grammar (texts.c).
 */
#ifndef OCHE_TESTS_SWARM_DRAFT_H
#define OCHE_TESTS_SWARM_DRAFT_H

#include "core/random.h"
#include "sim/scenario/scenario.h"

#define DRAFT_MOST_PARTS  32
#define DRAFT_MOST_VALUES 64
#define DRAFT_TEXT_BYTES  160
#define DRAFT_YAML_BYTES  32768
#define DRAFT_NO_VARIANT  UINT32_MAX

/* A parameter that the scenario gives. */
struct draft_value {
    const struct oche_param *param;
    union oche_value value;
    char text[DRAFT_TEXT_BYTES]; /* the storage of a TEXT; value.text does not point here */
};

/* A section, or one entry of a section that is a list. */
struct draft_part {
    const struct oche_section *section;
    uint32_t variant; /* index in section->variants, or DRAFT_NO_VARIANT */
    struct draft_value values[DRAFT_MOST_VALUES];
    uint32_t value_count;
};

struct draft {
    struct draft_part parts[DRAFT_MOST_PARTS]; /* in the order of the schema */
    uint32_t part_count;
};

/* A feature that a draft must have: a section's entry, a variant or a value. */
struct draft_feature {
    const struct oche_section *section;
    uint32_t variant;               /* or DRAFT_NO_VARIANT: any */
    const struct oche_param *param; /* NULL: any variant */
};

#define DRAFT_MOST_REQUIRED 8

/* The network that has been drawn so far, for texts and host numbers. */
struct draw {
    const struct oche_schema *schema;
    struct oche_random random;
    struct oche_topology topology; /* the draft's network; host_count is 0 before it is known */
    unsigned theme;                /* enum draft_theme of plan.h; 0: none */
    bool large; /* a large world has more hosts, longer paths, faster links and more bytes */
    oche_time packet_time; /* time of a full packet on a host's link; 0: not known yet */
    struct draft_feature required[DRAFT_MOST_REQUIRED];
    uint32_t required_count;
    uint32_t entry; /* index of the entry of a list that is being drawn */
};

/* Returns the table of a part's parameters, and its name in messages and reports. */
const struct oche_param_table *draft_table(const struct draft_part *part);
const char *
draft_variant_name(const struct draft_part *part); /* NULL: the section has no variants */

/*
 * Returns the name of the section whose limits apply. A section within another, such as a tier, has
 * the limits of the outer one.
 */
static inline const char *draft_section(const struct draft_part *part)
{
    return part->section->within != NULL ? part->section->within->name : part->section->name;
}

/* Draws a scenario; the reader may refuse it. The same seed gives the same draft. */
void draft_draw(struct draft *draft, struct draw *draw);

/* Draws one value of `param`. Returns false if there is nothing to draw: the default stays. */
bool draft_draw_value(struct draft_value *value, const struct draft_part *part,
                      const struct oche_param *param, struct draw *draw);

/*
 * Changes the parameter that `refusal` (the reader's message) names: to another value, or to none.
 * Returns false if the message names nothing that can be changed.
 */
bool draft_mend(struct draft *draft, const char *refusal, struct draw *draw);

/* True if the value is the parameter's default. */
static inline bool draft_is_preset(const struct draft_value *value)
{
    return value->param->unit != OCHE_UNIT_TEXT && value->value.u == value->param->preset.u;
}

/* Returns a given value, by section (of a list its first entry) and key; NULL: not given. */
struct draft_value *draft_find(struct draft *draft, const char *section, const char *key);
/* Sets `key` of an existing section to `whole`. */
void draft_set(struct draft *draft, const char *section, const char *key, uint64_t whole);
void draft_remove_value(struct draft_part *part, uint32_t number);
void draft_remove_part(struct draft *draft, uint32_t number);

/* Writes the scenario into `yaml`, which has DRAFT_YAML_BYTES; returns its length. */
size_t draft_write(const struct draft *draft, char *yaml);

/* limits.c: a narrower range for `param`, in the units of its table, so that worlds stay small. */
struct draft_limits {
    double least, most;
    unsigned percent; /* of drafts give it; 100: the default is too large; 0: by chance */
    bool chosen;      /* of a choice or a truth value: its least and most number */
};
/* Returns limits within the range of the parameter. */
struct draft_limits draft_limits_clip(struct draft_limits limits, const struct oche_param *param);
struct draft_limits draft_limits(const struct draft_part *part, const struct oche_param *param);
/* Returns the limits in a large world. False: they are as in others. */
bool draft_limits_large(const struct draft_part *part, const struct oche_param *param,
                        struct draft_limits *limits);

/* True if the parameter must be given. */
static inline bool draft_is_needed(const struct draft_part *part, const struct oche_param *param)
{
    return draft_limits(part, param).percent == 100;
}

/* texts.c: draws a text for a parameter that has a grammar. False: no grammar is known. */
bool draft_draw_text(char *text, const struct draft_part *part, const struct oche_param *param,
                     struct draw *draw);

/* Draw uniformly in 0 … n-1; true once in n; uniformly in [least, most] by octave. */
static inline uint64_t draw_below(struct draw *draw, uint64_t n)
{
    return oche_random_below(&draw->random, n);
}

static inline bool draw_one_in(struct draw *draw, uint64_t n)
{
    return oche_random_below(&draw->random, n) == 0;
}

double draw_scale(struct draw *draw, double least, double most);

#endif
