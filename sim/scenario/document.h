/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario file as a tree in which every node knows where it came from: a line of the file, or an
 * override on the command line. It is read with libyaml's document API; duplicate keys, several
 * documents, and nesting that is too deep are refused here.
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
    uint32_t line;     /* of its key, or of the node itself in a list; from 1 */
    const char *set;   /* the override ("key=value") it came from; NULL: from the file */
    const char *path;  /* "workload[0].load"; "" for the root */
    const char *key;   /* last part of the path if it is in a map, else NULL */
    const char *text;  /* SCALAR: "" if there is no value */
    uint32_t count;    /* LIST, MAP: number of children */
    uint32_t capacity; /* allocated entries of `child` */
    struct oche_yaml **child;
    /* MAP: the scalar ("dcqcn") that was in the file where an override then added keys. */
    struct oche_yaml *shorthand;
};

struct oche_document;

/*
 * Reads `path`. Returns NULL, with an error, if it cannot be read or is not YAML with a map at its
 * root.
 */
struct oche_document *oche_document_open(const char *path, struct oche_error *error);

/* Does the same for text in memory; messages use `name` in place of the file's. */
struct oche_document *oche_document_parse(const char *name, const char *text, size_t bytes,
                                          struct oche_error *error);
void oche_document_close(struct oche_document *document);

/*
 * Applies "key.path=value", as given to --set: the value is YAML ("4", "{type: incast}"). Missing
 * maps are created; "workload[1]" or "workload.1" names an entry of a list (one past the last adds
 * one); a list of one entry needs no index, and one that is written as just its entry may be given
 * one. A section written as a bare name ("dcqcn") keeps that name when keys are added below it; a
 * section set to the name it has keeps its keys.
 */
bool oche_document_set(struct oche_document *document, const char *assignment,
                       struct oche_error *error);

const struct oche_yaml *oche_document_root(const struct oche_document *document);
const char *oche_document_name(const struct oche_document *document);

/* Returns the file's text as it was read, for the record of the run. */
const char *oche_document_text(const struct oche_document *document);

/* Returns the value of `key` in `map`, or NULL. */
const struct oche_yaml *oche_yaml_find(const struct oche_yaml *map, const char *key);

/* Returns zeroed memory, aligned to 16, that lives as long as the document. */
void *oche_document_alloc(struct oche_document *document, size_t bytes);
char *oche_document_print(struct oche_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/*
 * Writes an error about `node` to `error` and returns false: its place, its path and, if `below` is
 * not NULL, a key below it, followed by the message.
 */
bool oche_document_fail(const struct oche_document *document, const struct oche_yaml *node,
                        const char *below, struct oche_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
