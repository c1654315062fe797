/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binds a scenario's sections to parameter tables. Each section has one description (struct
 * oche_section): either a table, or variants to choose from, each with a table of its own
 * (topology: {type: clos, …}; congestion_control: dcqcn). A key that is in no table is an error,
 * whose message names the keys that would be right.
 */
#ifndef OCHE_SIM_SCENARIO_BIND_H
#define OCHE_SIM_SCENARIO_BIND_H

#include <stdio.h>

#include "core/param.h"
#include "params/error.h"
#include "params/mistakes.h"
#include "sim/scenario/document.h"

/* One entry of a registry: a topology, a scheme, a workload. */
struct oche_variant {
    const char *name;
    const char *help; /* one line, or NULL */
    const struct oche_param_table *table;
    const struct oche_param_table *wire; /* keys that only the wire has, refused; NULL: none */
    const char *more;                    /* a second line of help, or NULL */
    const void *type;                    /* the registry's struct that describes the entry */
};

#define OCHE_MOST_INNER_SECTIONS 8 /* within one section */

struct oche_section {
    const char *name; /* "topology"; "" for keys at the root (several sections may share it) */
    const char *help;
    const struct oche_param_table *table; /* NULL if the section has variants */
    const char *selector;                 /* the key that chooses a variant: "type", "name" */
    const struct oche_variant *variants;
    size_t variant_count;
    const char *preset; /* the variant that is used if the section is not given; NULL: none */
    bool list;          /* true: a list of maps (a single map is a list of one entry) */
    bool optional;      /* true: the section may be left out although there is no preset */
    /*
     * The section whose map has this one as a key ("switch" for "switch.tor"). This section has the
     * other's table, without its rows of_all, and the other's values as defaults. NULL: the key is
     * at the root.
     */
    const struct oche_section *within;
};

/* A section, or one entry of it, with its values. */
struct oche_bound {
    const struct oche_section *section;
    const struct oche_variant *variant; /* the chosen variant; NULL: the section has none */
    const struct oche_param_table *table;
    void *values;                 /* the struct that `table` describes, owned by the document */
    const struct oche_yaml *node; /* NULL: the section is not given, so all values are defaults */
    const char *path;             /* "topology", "workload[0]", "" for the root */
};

/* All sections of a scenario, in the order of the descriptions, lists flattened. */
struct oche_bindings {
    struct oche_bound *bound;
    size_t count;
};

/*
 * Binds the whole document, root keys and sections; refuses unknown ones. Returns false if the
 * document has mistakes, and adds all of them. A value that could not be read is not bound, or has
 * its default. The bindings and TEXT values live in the document's memory. A relative path in a
 * TEXT parameter called "file" (or ending in "_file") is relative to the scenario's folder. If an
 * override gave the path, the working directory comes first. A list where a TEXT is expected is
 * joined with commas.
 */
bool oche_bind(struct oche_document *document, const struct oche_section *sections,
               size_t section_count, struct oche_bindings *bindings,
               struct oche_mistakes *mistakes);

/* True if both have the same values, even if the scenarios write them differently. */
bool oche_bindings_same(const struct oche_bindings *a, const struct oche_bindings *b);

/* Returns the first bound section called `name`, or NULL. Entries of a list follow one another. */
const struct oche_bound *oche_bindings_find(const struct oche_bindings *bindings, const char *name);

/*
 * Adds the place in the file to `message`, and returns false. The message may begin with a key of
 * the section's table ("key: …"); then the error becomes "FILE:LINE: path.key: …", or "FILE:
 * path.key: …" if the value is not in the file.
 */
bool oche_bound_fail(const struct oche_document *document, const struct oche_bound *bound,
                     const char *message, struct oche_error *error);

/*
 * Adds the place in the file to a message that begins with a path ("switch.kmin: …", "workload[1]:
 * load: …") or a key of the root ("duration: …"). Copies any other message ("sizes.cdf:3: …")
 * unchanged. Returns false.
 */
bool oche_bindings_fail(const struct oche_document *document, const struct oche_bindings *bindings,
                        const char *message, struct oche_error *error);

/* Calls `each` for every parameter of every bound section, in order, with its effective value. */
void oche_bindings_each(const struct oche_bindings *bindings,
                        void (*each)(void *context, const char *key, const char *value,
                                     const char *unit, bool given),
                        void *context);

/* Prints everything that a scenario can contain: sections, variants and keys, from their tables. */
void oche_sections_print(const struct oche_section *sections, size_t section_count, FILE *out);

#endif
