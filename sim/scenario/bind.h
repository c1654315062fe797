/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding a scenario's sections to parameter tables. A section is described once (struct
 * oche_section): either one table, or a choice among variants, each with a table of its own
 * (topology: {type: clos, …}; congestion_control: dcqcn). Anything that is not in a table is an
 * error, whose message names what would be right.
 */
#ifndef OCHE_SIM_SCENARIO_BIND_H
#define OCHE_SIM_SCENARIO_BIND_H

#include <stdio.h>

#include "core/param.h"
#include "params/error.h"
#include "sim/scenario/document.h"

/* One entry of a registry: a topology, a scheme, a workload. */
struct oche_variant {
    const char *name;
    const char *help; /* one line, or NULL */
    const struct oche_param_table *table;
    const void *type; /* the registry's own struct; returned in struct oche_bound */
};

struct oche_section {
    const char *name; /* "topology"; "" for keys at the root (several sections may share it) */
    const char *help;
    const struct oche_param_table *table; /* of a section without variants */
    const char *selector;                 /* the key that chooses a variant: "type", "name" */
    const struct oche_variant *variants;
    size_t variant_count;
    const char *preset; /* the variant if the section is not given; NULL: none */
    bool list;          /* a list of such maps (a single map is a list of one entry) */
    bool optional;      /* may be left out although there is no preset */
};

/* A section, or one entry of it, with its values. */
struct oche_bound {
    const struct oche_section *section;
    const struct oche_variant *variant; /* or NULL */
    const struct oche_param_table *table;
    void *values;                 /* table->struct_bytes, owned by the document */
    const struct oche_yaml *node; /* NULL: not given, all defaults */
    const char *path;             /* "topology", "workload[0]", "" for the root */
};

/* All sections of a scenario, in the order of the descriptions, lists flattened. */
struct oche_bindings {
    struct oche_bound *bound;
    size_t count;
};

/*
 * Binds the whole document, root keys and sections; unknown ones are refused. Memory belongs to the
 * document. TEXT values point into it. A relative path in a TEXT parameter called "file" (or ending
 * in "_file") is relative to the scenario's folder, or to the working directory if it was given by
 * an override. A list where a TEXT is expected is joined with commas.
 */
bool oche_bind(struct oche_document *document, const struct oche_section *sections,
               size_t section_count, struct oche_bindings *bindings, struct oche_error *error);

/* True if both have the same values, however they were written. */
bool oche_bindings_same(const struct oche_bindings *a, const struct oche_bindings *b);

/* Returns the first bound section called `name`, or NULL. Entries of a list follow one another. */
const struct oche_bound *oche_bindings_find(const struct oche_bindings *bindings, const char *name);

/*
 * Writes the error "FILE:LINE: path.key: message" for a "key: message" from a table's own check (or
 * for a message without a key of the table); returns false. A value that is not in the file has no
 * line: "FILE: path.key: message".
 */
bool oche_bound_fail(const struct oche_document *document, const struct oche_bound *bound,
                     const char *message, struct oche_error *error);

/*
 * Does the same for a message that begins with a path: "switch.kmin: …", "workload[1]: load: …", or
 * a key of the root: "duration: …". A message that begins with something else ("sizes.cdf:3: …") is
 * copied unchanged.
 */
bool oche_bindings_fail(const struct oche_document *document, const struct oche_bindings *bindings,
                        const char *message, struct oche_error *error);

/* Calls `each` for every parameter of every bound section, in order, with its effective value. */
void oche_bindings_each(const struct oche_bindings *bindings,
                        void (*each)(void *context, const char *key, const char *value,
                                     const char *unit, bool given),
                        void *context);

/*
 * Prints what can be written in a scenario: sections, variants and keys, taken from the tables
 * alone.
 */
void oche_sections_print(const struct oche_section *sections, size_t section_count, FILE *out);

#endif
