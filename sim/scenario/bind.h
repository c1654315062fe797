/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding a scenario's sections to parameter tables. A section is described once (struct
 * oche_section): either one table, or a choice among variants, each with a table of its own
 * (topology: {type: clos, …}; congestion_control: dcqcn). Everything that is not in a table is an
 * error that names what would be right.
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
    const void *type; /* the registry's own struct, given back in struct oche_bound */
};

struct oche_section {
    const char *name; /* "topology"; "" for keys at the root (several may be there) */
    const char *help;
    const struct oche_param_table *table; /* of a section without variants */
    const char *selector;                 /* the key that chooses a variant: "type", "name" */
    const struct oche_variant *variants;
    size_t variant_count;
    const char *preset; /* the variant of a section that is not given; NULL: none */
    bool list;          /* a list of such maps (a single map counts as one entry) */
    bool optional;      /* without a preset: need not be given */
};

/* A section, or an entry of one, and its values. */
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
 * Binds the whole document: root keys and sections, unknown ones refused. Memory belongs to the
 * document. TEXT values point into it; a TEXT parameter called "file" (or ending in "_file") that
 * is relative is taken from the scenario's folder, or from the working directory if it was given
 * by an override. A list where a TEXT is expected is joined with commas.
 */
bool oche_bind(struct oche_document *document, const struct oche_section *sections,
               size_t section_count, struct oche_bindings *bindings, struct oche_error *error);

/* Whether both say the same of everything, however it was written. */
bool oche_bindings_same(const struct oche_bindings *a, const struct oche_bindings *b);

/* The first bound section called `name`, or NULL. Entries of a list follow one another. */
const struct oche_bound *oche_bindings_find(const struct oche_bindings *bindings, const char *name);

/*
 * Writes the error "FILE:LINE: path.key: message" for a "key: message" that a table's own check
 * produced (or a message without a key of the table); false. What stands nowhere in the file has no
 * line: "FILE: path.key: message".
 */
bool oche_bound_fail(const struct oche_document *document, const struct oche_bound *bound,
                     const char *message, struct oche_error *error);

/*
 * The same for a message that begins with a path: "switch.kmin: …", "workload[1]: load: …", or a
 * key of the root: "duration: …". A message that begins with something else ("sizes.cdf:3: …") is
 * taken as it is.
 */
bool oche_bindings_fail(const struct oche_document *document, const struct oche_bindings *bindings,
                        const char *message, struct oche_error *error);

/* Calls `each` for every parameter of every bound section, in order: the effective list. */
void oche_bindings_each(const struct oche_bindings *bindings,
                        void (*each)(void *context, const char *key, const char *value,
                                     const char *unit, bool given),
                        void *context);

/* Prints what can be written in a scenario: sections, variants, keys, from the tables alone. */
void oche_sections_print(const struct oche_section *sections, size_t section_count, FILE *out);

#endif
