/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables. A scheme, a switch mechanism, a topology or a workload describes its
 * parameters once, in such a table: name, unit, default, range, place in the paper. The scenario
 * reader, --show-defaults, the results file and the manual all read the same table.
 */
#ifndef OCHE_CORE_PARAM_H
#define OCHE_CORE_PARAM_H

#include "core/base.h"

OCHE_C_BEGIN

enum oche_unit {
    OCHE_UNIT_COUNT,  /* uint64_t: a plain number */
    OCHE_UNIT_BYTES,  /* uint64_t: 225KB (decimal), 4KiB (binary) */
    OCHE_UNIT_BPS,    /* uint64_t: 40Gbps */
    OCHE_UNIT_TIME,   /* uint64_t picoseconds: 55us; "never" is OCHE_NEVER */
    OCHE_UNIT_REAL,   /* double: 0.00390625, 1/256 or 1% */
    OCHE_UNIT_BOOL,   /* bool: true / false */
    OCHE_UNIT_CHOICE, /* uint32_t: index into choices */
    OCHE_UNIT_TEXT,   /* const char *: owned by the reader of the scenario, may be NULL */
};

union oche_value {
    uint64_t u; /* COUNT, BYTES, BPS, TIME, BOOL (0 or 1), CHOICE (index) */
    double real;
    const char *text;
};

struct oche_error;

/* Traits of a parameter that other parts of the program depend on. */
enum oche_param_traits {
    /* A time by which an ACK may be late: timeouts that follow the network allow for it. */
    OCHE_PARAM_DELAYS_ACKS = 1 << 0,
    /* The fluid models know nothing of it: `oche fluid` says so unless the value is 0. */
    OCHE_PARAM_NOT_FLUID = 1 << 1,
};

struct oche_param {
    const char *name;
    enum oche_unit unit;
    /* where the field is in the parameter struct; its unit determines its C type */
    uint32_t offset;
    union oche_value preset;
    union oche_value minimum, maximum; /* inclusive; ignored for BOOL, CHOICE and TEXT */
    const char *const *choices;        /* NULL-terminated, for CHOICE only */
    const char *where;                 /* "DCQCN sec 3.1", "dcqcn.md#a1" */
    const char *help;  /* one line, which also gives the meaning of special values */
    bool automatic;    /* whole numbers: UINT64_MAX, outside the range, stands for "auto" */
    bool zero_is_auto; /* numbers: 0, which need not be in the range, stands for "auto" */
    bool of_all;       /* one value for the whole network: no tier of switches has its own */
    uint8_t traits;    /* enum oche_param_traits */
    /*
     * Other keys without which this one has no effect, so that the user is told: "ecn",
     * "pattern=shift", "probability|late,!port" (sim/scenario/idle_keys.c). NULL: none.
     */
    const char *needs;
    uint64_t usual_most; /* whole numbers: random worlds (tests/swarm) draw up to it, from 0, so
                            that they stay small; 0: some octaves about the default */
    /*
     * Optional, in the section `host`: checks the value against the hosts' endpoint, a struct
     * oche_endpoint (NULL: the RNIC). Returns false and an error "what is wrong; what would be
     * right".
     */
    bool (*check)(const void *values, const void *endpoint, struct oche_error *error);
};

/* The value behind one that stands for another, such as `auto`. */
struct oche_derived {
    union oche_value value;
    const char *by; /* the parameter that decides it; NULL: the rate of a link, or the network */
};

/* The value that equipment in use has for a parameter whose own default is the paper's. */
struct oche_deployed {
    const char *name; /* name of the parameter */
    union oche_value value;
};

struct oche_param_table {
    const struct oche_param *params;
    size_t count;
    size_t struct_bytes; /* sizeof of the parameter struct to which the offsets refer */
    /*
     * A table with such values has a parameter OCHE_PRESET, which says which of the two sets of
     * defaults holds (enum oche_preset).
     */
    const struct oche_deployed *deployed;
    size_t deployed_count;
};

#define OCHE_PRESET "preset"

/* The two sets of defaults: the papers' and those of equipment in use. */
enum oche_preset { OCHE_PRESET_PAPER, OCHE_PRESET_DEPLOYED };
extern const char *const oche_preset_names[];

/*
 * Macros to write a table. A row names the field, the kind of value, the source of its default
 * and its meaning.
 *
 *     struct bucket_params {
 *         oche_time refill;
 *         uint64_t depth_bytes;
 *         uint32_t when_full;
 *     };
 *     static const char *const when_full_names[] = {"wait", "drop", NULL};
 *     static const struct oche_param rows[] = {
 *         {OCHE_PARAM(struct bucket_params, refill), OCHE_IS_TIME(5 * OCHE_US, 0, OCHE_SEC),
 *          .where = "Paper sec 2",
 *          .help = "between two refills; 0: always full"},
 *         {OCHE_PARAM_AS("depth", struct bucket_params, depth_bytes),
 *          OCHE_IS_BYTES(15000, 1, 1 << 20),
 *          .where = "our choice",
 *          .help = "most that may leave at once"},
 *         {OCHE_PARAM(struct bucket_params, when_full), OCHE_IS_CHOICE(0, when_full_names),
 *          .where = "Paper Fig 3",
 *          .help = "what a packet does that finds no room"},
 *     };
 *     const struct oche_param_table bucket_table = OCHE_PARAM_TABLE(rows, struct bucket_params);
 *
 * OCHE_PARAM names the parameter after the member of the struct; OCHE_PARAM_AS renames it.
 */
#define OCHE_PARAM_AS(key, type, member) .name = key, .offset = offsetof(type, member)
#define OCHE_PARAM(type, member)         OCHE_PARAM_AS(#member, type, member)

/* The value: its unit, its default and, for numbers, its smallest and largest value. */
#define OCHE_IS_COUNT(preset, least, most) OCHE_IS_WHOLE(OCHE_UNIT_COUNT, preset, least, most)
#define OCHE_IS_BYTES(preset, least, most) OCHE_IS_WHOLE(OCHE_UNIT_BYTES, preset, least, most)
#define OCHE_IS_BPS(preset, least, most)   OCHE_IS_WHOLE(OCHE_UNIT_BPS, preset, least, most)
#define OCHE_IS_TIME(preset, least, most)  OCHE_IS_WHOLE(OCHE_UNIT_TIME, preset, least, most)
#define OCHE_IS_REAL(value, least, most)                                                           \
    .unit = OCHE_UNIT_REAL, .preset.real = (value), .minimum.real = (least), .maximum.real = (most)
#define OCHE_IS_BOOL(value) .unit = OCHE_UNIT_BOOL, .preset.u = (value)
#define OCHE_IS_CHOICE(value, names)                                                               \
    .unit = OCHE_UNIT_CHOICE, .preset.u = (value), .choices = (names)
#define OCHE_IS_TEXT .unit = OCHE_UNIT_TEXT

/* A whole-number value; used by the first four OCHE_IS_ macros. */
#define OCHE_IS_WHOLE(in, value, least, most)                                                      \
    .unit = (in), .preset.u = (value), .minimum.u = (least), .maximum.u = (most)

/*
 * A row that chooses between the two sets of defaults; `type` has the member uint32_t preset.
 * `place` says how they differ.
 */
#define OCHE_PRESET_ROW(type) OCHE_PRESET_ROW_AT(type, "dcqcn.md#deployed")
#define OCHE_PRESET_ROW_AT(type, place)                                                            \
    {                                                                                              \
        OCHE_PARAM(type, preset), OCHE_IS_CHOICE(OCHE_PRESET_PAPER, oche_preset_names),            \
            .where = (place), .of_all = true,                                                      \
            .help = "what values that are not given are: those of the paper, or of equipment in "  \
                    "use"                                                                          \
    }

#define OCHE_PARAM_TABLE(rows, type)                                                               \
    {                                                                                              \
        .params = (rows), .count = OCHE_COUNT_OF(rows), .struct_bytes = sizeof(type)               \
    }

/* As OCHE_PARAM_TABLE, with an array of struct oche_deployed. */
#define OCHE_PARAM_TABLE_DEPLOYED(rows, type, in_use)                                              \
    {                                                                                              \
        .params = (rows), .count = OCHE_COUNT_OF(rows), .struct_bytes = sizeof(type),              \
        .deployed = (in_use), .deployed_count = OCHE_COUNT_OF(in_use)                              \
    }

/* Writes the papers' default of every parameter into `values` (table->struct_bytes bytes). */
void oche_param_defaults(const struct oche_param_table *table, void *values);

/*
 * Writes the defaults of `preset` into `values`. If the table has the parameter OCHE_PRESET, sets
 * it to `preset`.
 */
void oche_param_preset(const struct oche_param_table *table, enum oche_preset preset, void *values);

/* Returns the default that `param` has under `preset`. */
union oche_value oche_param_default(const struct oche_param_table *table,
                                    const struct oche_param *param, enum oche_preset preset);

/* Returns the parameter called `name`, or NULL. */
const struct oche_param *oche_param_find(const struct oche_param_table *table, const char *name);

/* Reads or writes one field, whatever its C type. */
union oche_value oche_param_get(const struct oche_param *param, const void *values);
void oche_param_set(const struct oche_param *param, void *values, union oche_value value);

/*
 * Sets the field of the parameter called `name` to a whole number, within its range, if its bit is
 * set in `free` (bit i: row i; a table that is fitted has at most 64 rows).
 */
void oche_param_fit(const struct oche_param_table *table, void *values, uint64_t free,
                    const char *name, uint64_t value);
/* True if the parameter's bit is set in `free`, as above. */
bool oche_param_is_free(const struct oche_param_table *table, uint64_t free, const char *name);

/* True if `value` lies in the parameter's range, or if its unit has no range. */
bool oche_param_in_range(const struct oche_param *param, union oche_value value);

OCHE_C_END

#endif
