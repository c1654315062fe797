/* SPDX-License-Identifier: Apache-2.0 */
/* Reads YAML into a tree that knows its lines, and overrides parts of it. */
#include "sim/scenario/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "params/error.h"
#include "params/input_file.h"
#include "params/text_input.h"
#include "params/printable.h"

#define MAX_FILE_BYTES (16 * OCHE_INPUT_MIB)
#define MAX_DEPTH      32
/* most nodes; aliases are copied, so a small file can make many */
#define MAX_NODES 100000

struct block {
    struct block *next;
    uint64_t align; /* padding, never read: the memory after this struct is aligned to 16 */
};

struct oche_document {
    const char *name;
    const char *text;
    struct oche_yaml *root;
    struct block *blocks;
    uint32_t nodes;
};

/* The state of the functions that read YAML. */
struct reader {
    struct oche_document *document;
    yaml_document_t *yaml;
    /* the --set option that is being read, recorded in new nodes; NULL: the document's file */
    const char *set;
    struct oche_error *error; /* where errors are written */
};

void *oche_document_alloc(struct oche_document *document, size_t bytes)
{
    struct block *block = calloc(1, sizeof(*block) + bytes);

    OCHE_GOT(block != NULL);
    block->next = document->blocks;
    document->blocks = block;
    return block + 1;
}

char *oche_document_print(struct oche_document *document, const char *format, ...)
{
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);

    OCHE_MUST(length >= 0);
    char *text = oche_document_alloc(document, (size_t)length + 1);

    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

bool oche_document_fail(const struct oche_document *document, const struct oche_yaml *node,
                        const char *below, struct oche_error *error, const char *format, ...)
{
    char text[2 * OCHE_ERROR_BYTES];
    size_t used;
    va_list arguments;

    if (node->set != NULL)
        used = (size_t)snprintf(text, sizeof(text), "--set %s: ", node->set);
    else
        used = (size_t)snprintf(text, sizeof(text), "%s:%u: ", document->name, node->line);
    if (used < sizeof(text) && (node->path[0] != '\0' || below != NULL))
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s: ", node->path,
                                 node->path[0] != '\0' && below != NULL ? "." : "",
                                 below != NULL ? below : "");
    va_start(arguments, format);
    if (used < sizeof(text))
        vsnprintf(text + used, sizeof(text) - used, format, arguments);
    va_end(arguments);
    oche_printable(
        text, error->text,
        sizeof(error->text)); /* escapes newlines in quoted text, so the error is one line */
    return false;
}

/* ---- making nodes ---- */

static struct oche_yaml *new_node(struct oche_document *document, enum oche_yaml_kind kind,
                                  uint32_t line, const char *set, const char *path)
{
    struct oche_yaml *node = oche_document_alloc(document, sizeof(*node));

    *node = (struct oche_yaml){
        .kind = kind, .line = line, .set = set, .path = path, .text = "", .count = 0};
    document->nodes++;
    return node;
}

static void add_child(struct oche_document *document, struct oche_yaml *node,
                      struct oche_yaml *child)
{
    if (node->count == node->capacity) {
        uint32_t capacity = node->capacity == 0 ? 8 : 2 * node->capacity;
        struct oche_yaml **grown =
            oche_document_alloc(document, capacity * sizeof(struct oche_yaml *));

        if (node->count > 0)
            memcpy(grown, node->child, node->count * sizeof(struct oche_yaml *));
        node->child = grown;
        node->capacity = capacity;
    }
    node->child[node->count++] = child;
}

static const char *path_below(struct oche_document *document, const char *path, const char *key)
{
    return oche_document_print(document, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
}

const struct oche_yaml *oche_yaml_find(const struct oche_yaml *map, const char *key)
{
    if (map == NULL || map->kind != OCHE_YAML_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->count; i++)
        if (strcmp(map->child[i]->key, key) == 0)
            return map->child[i];
    return NULL;
}

uint64_t oche_yaml_place(const struct oche_yaml *node)
{
    return node->set != NULL ? UINT64_MAX : node->line;
}

static bool convert(struct reader *reader, yaml_node_t *from, struct oche_yaml *to, unsigned depth);

static bool convert_scalar(struct reader *reader, yaml_node_t *from, struct oche_yaml *to)
{
    const char *text = (const char *)from->data.scalar.value;
    size_t length = from->data.scalar.length;

    if (strlen(text) != length)
        return oche_document_fail(reader->document, to, NULL, reader->error,
                                  "has a zero byte in it; write plain text");
    if (from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        (strcmp(text, "~") == 0 || strcmp(text, "null") == 0))
        text = "";
    to->text = oche_document_print(reader->document, "%s", text);
    return true;
}

static bool convert_list(struct reader *reader, yaml_node_t *from, struct oche_yaml *to,
                         unsigned depth)
{
    for (yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top; item++) {
        yaml_node_t *value = yaml_document_get_node(reader->yaml, *item);
        const char *path = oche_document_print(reader->document, "%s[%u]", to->path, to->count);
        struct oche_yaml *child = new_node(reader->document, OCHE_YAML_SCALAR,
                                           (uint32_t)value->start_mark.line + 1, reader->set, path);

        add_child(reader->document, to, child);
        if (!convert(reader, value, child, depth + 1))
            return false;
    }
    return true;
}

static bool convert_map(struct reader *reader, yaml_node_t *from, struct oche_yaml *to,
                        unsigned depth)
{
    for (yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(reader->yaml, pair->key);
        yaml_node_t *value = yaml_document_get_node(reader->yaml, pair->value);
        uint32_t line = (uint32_t)key->start_mark.line + 1;

        if (key->type != YAML_SCALAR_NODE) {
            to->line = line;
            return oche_document_fail(reader->document, to, NULL, reader->error,
                                      "a key is not a plain word; write it as key: value");
        }
        const char *name =
            oche_document_print(reader->document, "%s", (const char *)key->data.scalar.value);
        struct oche_yaml *child = new_node(reader->document, OCHE_YAML_SCALAR, line, reader->set,
                                           path_below(reader->document, to->path, name));
        const struct oche_yaml *first = oche_yaml_find(to, name);

        child->key = name;
        if (first != NULL)
            return oche_document_fail(reader->document, child, NULL, reader->error,
                                      "given twice; it is on line %u already, keep one of them",
                                      first->line);
        add_child(reader->document, to, child);
        if (!convert(reader, value, child, depth + 1))
            return false;
    }
    return true;
}

static bool convert(struct reader *reader, yaml_node_t *from, struct oche_yaml *to, unsigned depth)
{
    if (depth > MAX_DEPTH)
        return oche_document_fail(reader->document, to, NULL, reader->error,
                                  "is nested more than %d deep; write it flat", MAX_DEPTH);
    if (reader->document->nodes > MAX_NODES)
        return oche_document_fail(reader->document, to, NULL, reader->error,
                                  "makes more than %d values; use fewer aliases", MAX_NODES);
    switch (from->type) {
    case YAML_SCALAR_NODE:
        to->kind = OCHE_YAML_SCALAR;
        return convert_scalar(reader, from, to);
    case YAML_SEQUENCE_NODE:
        to->kind = OCHE_YAML_LIST;
        return convert_list(reader, from, to, depth);
    case YAML_MAPPING_NODE:
        to->kind = OCHE_YAML_MAP;
        return convert_map(reader, from, to, depth);
    default:
        return oche_document_fail(reader->document, to, NULL, reader->error,
                                  "is not YAML; write a value, a list or a map");
    }
}

/* ---- reading ---- */

/* Writes libyaml's message to the error, and adds how to correct the file. */
static void explain_yaml(const struct reader *reader, const yaml_parser_t *parser)
{
    const char *problem = parser->problem;

    if (problem == NULL || parser->error == YAML_MEMORY_ERROR) {
        oche_fail(reader->error, OCHE_OUT_OF_MEMORY);
        return;
    }
    const char *advice = "check indentation, colons and brackets here and on the line before";
    size_t line = parser->problem_mark.line + 1;

    if (strstr(problem, "tab character") != NULL)
        advice = "indent by spaces, not tabs";
    else if (strstr(problem, "cannot start any token") != NULL)
        advice = "indent by spaces, not tabs, and quote a value that begins with a sign";
    else if (parser->error == YAML_READER_ERROR)
        advice = "save the file as UTF-8 text";
    else if (strstr(problem, "undefined alias") != NULL)
        advice = "define it before with &name";
    if (reader->set != NULL)
        oche_fail(reader->error, "--set %s: not YAML: %s; quote the value", reader->set, problem);
    else
        oche_fail(reader->error, "%s:%zu: not YAML: %s; %s", reader->document->name, line, problem,
                  advice);
}

/*
 * True if `text` is nested no deeper than MAX_DEPTH. The text is checked event by event before it
 * is loaded, because the loader would need minutes for a text of nothing but brackets: for each
 * bracket libyaml examines all open brackets. Invalid YAML is not reported here, but by the loader.
 */
static bool is_shallow(struct reader *reader, const char *text, size_t bytes,
                       const struct oche_yaml *to)
{
    yaml_parser_t parser;
    yaml_event_t event;
    unsigned depth = 0;
    bool over = false;
    uint32_t line = 1;

    if (!yaml_parser_initialize(&parser))
        return true;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    while (!over && depth <= MAX_DEPTH && yaml_parser_parse(&parser, &event)) {
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        over = event.type == YAML_STREAM_END_EVENT;
        line = (uint32_t)event.start_mark.line + 1;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (depth <= MAX_DEPTH)
        return true;
    return oche_document_fail(
        reader->document, &(struct oche_yaml){.set = to->set, .path = to->path, .line = line}, NULL,
        reader->error, "is nested more than %d deep; write it flat", MAX_DEPTH);
}

/* Loads the one YAML document in `text` into the node `to`, which already has line, set and path.
 */
static bool load(struct reader *reader, const char *text, size_t bytes, struct oche_yaml *to)
{
    yaml_parser_t parser;
    yaml_document_t yaml, second;
    bool ok = false;

    if (!yaml_parser_initialize(&parser))
        return oche_fail(reader->error, "out of memory");
    if (!is_shallow(reader, text, bytes, to)) {
        yaml_parser_delete(&parser);
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    if (!yaml_parser_load(&parser, &yaml)) {
        explain_yaml(reader, &parser);
        yaml_parser_delete(&parser);
        return false;
    }
    yaml_node_t *root = yaml_document_get_root_node(&yaml);

    reader->yaml = &yaml;
    if (root == NULL)
        ok = true; /* the document is empty: `to` stays an empty scalar */
    else if (convert(reader, root, to, 0)) {
        ok = yaml_parser_load(&parser, &second);
        if (!ok) {
            explain_yaml(reader, &parser);
        } else {
            yaml_node_t *more = yaml_document_get_root_node(&second);

            if (more != NULL) {
                to->line = (uint32_t)more->start_mark.line + 1;
                ok = oche_document_fail(reader->document, to, NULL, reader->error,
                                        "a second document begins here; a file holds one");
            }
            yaml_document_delete(&second);
        }
    }
    yaml_document_delete(&yaml);
    yaml_parser_delete(&parser);
    return ok;
}

struct oche_document *oche_document_parse(const char *name, const char *text, size_t bytes,
                                          struct oche_error *error)
{
    const char *wide = oche_text_wide_encoding(text, bytes);

    if (wide != NULL) { /* the text is kept as it is, and results have it without NUL bytes */
        oche_fail(error, "%s:1: is %s; save the file as UTF-8 text", name, wide);
        return NULL;
    }
    struct oche_document *document = calloc(1, sizeof(*document));

    OCHE_GOT(document != NULL);
    document->name = oche_document_print(document, "%s", name);
    document->text = oche_document_print(document, "%.*s", (int)bytes, text);
    document->root = new_node(document, OCHE_YAML_SCALAR, 1, NULL, "");

    struct reader reader = {.document = document, .error = error};

    if (!load(&reader, text, bytes, document->root)) {
        oche_document_close(document);
        return NULL;
    }
    if (document->root->kind != OCHE_YAML_MAP) {
        oche_fail(error, "%s:1: %s; begin with a section, such as \"topology:\" of a scenario",
                  name,
                  document->root->kind == OCHE_YAML_SCALAR && document->root->text[0] == '\0'
                      ? "is empty"
                      : "is not a map of sections");
        oche_document_close(document);
        return NULL;
    }
    return document;
}

struct oche_document *oche_document_open(const char *path, struct oche_error *error)
{
    struct oche_input_file file;
    struct oche_error reason;

    if (!oche_input_read(&file, path, MAX_FILE_BYTES, &reason)) {
        oche_fail(error, "%s: cannot be read: %s; give the path of a scenario file", path,
                  reason.text);
        return NULL;
    }
    struct oche_document *document = oche_document_parse(path, file.text, file.bytes, error);

    oche_input_free(&file);
    return document;
}

void oche_document_close(struct oche_document *document)
{
    if (document == NULL)
        return;
    for (struct block *block = document->blocks, *next; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    free(document);
}

const struct oche_yaml *oche_document_root(const struct oche_document *document)
{
    return document->root;
}

const char *oche_document_name(const struct oche_document *document)
{
    return document->name;
}

const char *oche_document_text(const struct oche_document *document)
{
    return document->text;
}

/* ---- overriding ---- */

/* Returns "a.b[1].c" as "a.b.1.c", or NULL if a part is empty or a bracket is misplaced. */
static char *plain_path(struct oche_document *document, const char *text, size_t length)
{
    char *path = oche_document_print(document, "%.*s", (int)length, text);
    char *to = path;
    bool open = false;

    for (const char *from = path; *from != '\0'; from++) {
        if (*from == ']') {
            if (!open || (from[1] != '\0' && from[1] != '.' && from[1] != '['))
                return NULL;
            open = false;
            continue;
        }
        bool separator = *from == '.' || *from == '[';

        if (separator && (open || to == path || to[-1] == '.'))
            return NULL;
        open |= *from == '[';
        *to++ = separator ? '.' : *from;
    }
    *to = '\0';
    return open || to == path || to[-1] == '.' ? NULL : path;
}

/*
 * Returns the entry of `list` with the number `part`. If that is the number after the last, adds an
 * entry.
 */
static struct oche_yaml *list_entry(struct reader *reader, struct oche_yaml *list, const char *part)
{
    char *end;
    unsigned long index = strtoul(part, &end, 10);

    if (part[0] < '0' || part[0] > '9' || *end != '\0' || index > list->count) {
        oche_document_fail(
            reader->document, &(struct oche_yaml){.set = reader->set, .path = list->path}, NULL,
            reader->error, "\"%s\" is not an entry of this list of %u; write %s[0] for the first",
            part, list->count, list->path);
        return NULL;
    }
    if (index == list->count)
        add_child(reader->document, list,
                  new_node(reader->document, OCHE_YAML_SCALAR, list->line, reader->set,
                           oche_document_print(reader->document, "%s[%lu]", list->path, index)));
    return list->child[index];
}

/*
 * If the node is not a list, turns it into a list with the old node as its only entry, because a
 * scenario may leave out the brackets of a list with one entry.
 */
static void make_list(struct reader *reader, struct oche_yaml *node)
{
    struct oche_yaml *entry =
        new_node(reader->document, node->kind, node->line, node->set, node->path);

    *entry = *node;
    entry->key = NULL;
    *node = (struct oche_yaml){.kind = OCHE_YAML_LIST,
                               .line = entry->line,
                               .set = reader->set,
                               .path = entry->path,
                               .key = node->key,
                               .text = ""};
    add_child(reader->document, node, entry);
}

/* Returns the child of `node` that `part` names, created if necessary. */
static struct oche_yaml *descend(struct reader *reader, struct oche_yaml *node, const char *part)
{
    struct oche_document *document = reader->document;

    if (node->kind == OCHE_YAML_LIST && node->count == 1 && (part[0] < '0' || part[0] > '9'))
        node = node->child[0];
    bool empty = node->kind == OCHE_YAML_SCALAR && node->text[0] == '\0';
    bool number = part[0] >= '0' && part[0] <= '9' && node->path[0] != '\0';
    if (number && empty)
        node->kind = OCHE_YAML_LIST; /* an empty list */
    else if (number && node->kind != OCHE_YAML_LIST)
        make_list(reader, node);
    if (node->kind == OCHE_YAML_LIST)
        return list_entry(reader, node, part);
    if (node->kind == OCHE_YAML_SCALAR) { /* "dcqcn" becomes a map with shorthand "dcqcn" */
        if (node->text[0] != '\0') {
            node->shorthand =
                new_node(document, OCHE_YAML_SCALAR, node->line, node->set, node->path);
            node->shorthand->key = node->key;
            node->shorthand->text = node->text;
        }
        node->kind = OCHE_YAML_MAP;
        node->text = "";
    }
    for (uint32_t i = 0; i < node->count; i++)
        if (strcmp(node->child[i]->key, part) == 0)
            return node->child[i];
    struct oche_yaml *child = new_node(document, OCHE_YAML_SCALAR, node->line, reader->set,
                                       path_below(document, node->path, part));

    child->key = oche_document_print(document, "%s", part);
    add_child(document, node, child);
    return child;
}

/* True if `map` is a section whose name or type is `text`. */
static bool is_named(const struct oche_yaml *map, const char *text)
{
    const struct oche_yaml *name = oche_yaml_find(map, "name");
    const struct oche_yaml *type = oche_yaml_find(map, "type");

    if (name == NULL)
        name = type != NULL ? type : map->shorthand;
    return map->kind == OCHE_YAML_MAP && name != NULL && name->kind == OCHE_YAML_SCALAR &&
           strcmp(name->text, text) == 0;
}

/* Returns a node below `node` that another override made, or NULL. */
static const struct oche_yaml *overridden_below(const struct oche_yaml *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *child = node->child[i];
        const struct oche_yaml *found =
            child->set != NULL && child->set != node->set ? child : overridden_below(child);

        if (found != NULL)
            return found;
    }
    return NULL;
}

bool oche_document_set(struct oche_document *document, const char *assignment,
                       struct oche_error *error)
{
    const char *equals = strchr(assignment, '=');
    struct reader reader = {.document = document, .error = error};
    struct oche_yaml *node = document->root;
    const char *part;

    reader.set = oche_document_print(document, "%s", assignment);
    if (equals == NULL || equals == assignment)
        return oche_fail(error, "--set %s: not KEY=VALUE; write it as switch.buffer=9MB",
                         assignment);
    char *rest = plain_path(document, assignment, (size_t)(equals - assignment));

    if (rest == NULL)
        return oche_fail(
            error,
            "--set %s: not a key; write parts with dots between, such as switch.buffer or "
            "workload[0].load",
            assignment);
    /* The value is parsed first: it must be valid before anything is changed. */
    struct oche_yaml *value =
        new_node(document, OCHE_YAML_SCALAR, 1, reader.set,
                 oche_document_print(document, "%.*s", (int)(equals - assignment), assignment));

    if (!load(&reader, equals + 1, strlen(equals + 1), value))
        return false;
    while ((part = strsep(&rest, ".")) != NULL) {
        node = descend(&reader, node, part);
        if (node == NULL)
            return false;
    }
    if (value->kind == OCHE_YAML_SCALAR && is_named(node, value->text))
        return true;
    /* A map shows the keys that are left in the section; a bare name may be forgotten. */
    const struct oche_yaml *undone =
        value->kind == OCHE_YAML_SCALAR ? overridden_below(node) : NULL;

    if (undone != NULL)
        return oche_fail(error,
                         "--set %s: would undo --set %s; write both as one, %.*s={name: …, key: …}",
                         assignment, undone->set, (int)(equals - assignment), assignment);
    node->kind = value->kind;
    node->set = value->set;
    node->text = value->text;
    node->count = value->count;
    node->capacity = value->capacity;
    node->child = value->child;
    node->shorthand = NULL;
    return true;
}
