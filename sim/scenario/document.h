/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario file as a tree in which every node knows its source: a line of the file, or an
 * override on the command line. libyaml's document API reads the file. Duplicate keys, several
 * documents, and nesting that is too deep are errors.
 *
 * Errors are one line without a newline: "FILE:LINE: key: what is wrong; what would be right".
 */
#ifndef OCHE_SIM_SCENARIO_DOCUMENT_H
#define OCHE_SIM_SCENARIO_DOCUMENT_H

#include "core/base.h"
#include "params/error.h"

enum oche_yaml_kind { OCHE_YAML_SCALAR, OCHE_YAML_LIST, OCHE_YAML_MAP };

struct oche_yaml {
    enum oche_yaml_kind kind;
    uint32_t line;    /* line of the node's key, or of the node itself in a list; from 1 */
    const char *set;  /* the override ("key=value") that made the node; NULL: it is from the file */
    const char *path; /* "workload[0].load"; "" for the root */
    const char *key;  /* the node's key if its parent is a map, else NULL */
    const char *text; /* SCALAR: the value; "" if there is none */
    uint32_t count;   /* LIST, MAP: number of children */
    uint32_t capacity; /* allocated entries of `child` */
    struct oche_yaml **child;
    /*
     * MAP: if an override turned a scalar ("dcqcn") into this map by adding keys, that scalar; else
     * NULL.
     */
    struct oche_yaml *shorthand;
};

struct oche_document;

/*
 * Reads the file `path`. Returns NULL, with an error, if the file cannot be read or is not YAML
 * with a map at its root.
 */
struct oche_document *oche_document_open(const char *path, struct oche_error *error);

/* As oche_document_open, but reads `text` from memory. Messages use `name` as the file's name. */
struct oche_document *oche_document_parse(const char *name, const char *text, size_t bytes,
                                          struct oche_error *error);
void oche_document_close(struct oche_document *document);

/*
 * Applies "key.path=value", as given to --set: the value is YAML ("4", "{type: incast}"). Missing
 * maps are created. "workload[1]" or "workload.1" names an entry of a list; the number after the
 * last adds an entry. The index 0 may be left out if the list has one entry. It is also allowed if
 * the scenario has a single entry without a list around it. If keys are added to a section that is
 * written as a bare name ("dcqcn"), the name stays. If a section is set to the name that it already
 * has, its keys stay.
 */
bool oche_document_set(struct oche_document *document, const char *assignment,
                       struct oche_error *error);

const struct oche_yaml *oche_document_root(const struct oche_document *document);
const char *oche_document_name(const struct oche_document *document);

/* Returns the file's text as it was read, for the record of the run. */
const char *oche_document_text(const struct oche_document *document);

/* Returns the value of `key` in `map`, or NULL. */
const struct oche_yaml *oche_yaml_find(const struct oche_yaml *map, const char *key);

/* Returns where the node stands, as oche_mistakes_add takes it: overrides are behind the file. */
uint64_t oche_yaml_place(const struct oche_yaml *node);

/* Returns zeroed memory, aligned to 16, that lives as long as the document. */
void *oche_document_alloc(struct oche_document *document, size_t bytes);
char *oche_document_print(struct oche_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/*
 * Writes an error about `node` to `error` and returns false. The error has the node's place and
 * path, ".below" if `below` (a key in the node) is not NULL, and the message.
 */
bool oche_document_fail(const struct oche_document *document, const struct oche_yaml *node,
                        const char *below, struct oche_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
