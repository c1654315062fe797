/* SPDX-License-Identifier: Apache-2.0 */
/* Binds sections to parameter tables; see bind.h. */
#include "sim/scenario/bind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "params/error.h"
#include "params/units.h"
#include "sim/scenario/nic_file.h"

/* The arguments of oche_bind, shared by the functions of this file. */
struct binder {
    struct oche_document *document;
    const struct oche_section *sections;
    size_t section_count;
    struct oche_bindings *bindings;
    size_t capacity;
    enum oche_preset preset; /* the root's key `defaults` */
    const char **names;      /* keys that the root can have */
    size_t name_count;
    const struct oche_param_table *wire; /* keys to refuse, as only the wire has them; or NULL */
    struct oche_mistakes *mistakes;
    struct oche_error error; /* error of the last mistake */
};

/* Adds binder->error, which is about `node`, to the mistakes. Returns false. */
static bool add_mistake(struct binder *binder, const struct oche_yaml *node)
{
    oche_mistakes_add(binder->mistakes, oche_yaml_place(node), &binder->error);
    return false;
}

/* Adds a mistake, written as oche_document_fail does. Is false. What is independent goes on. */
#define FAIL(binder, node, below, ...)                                                             \
    (oche_document_fail((binder)->document, node, below, &(binder)->error, __VA_ARGS__) ||         \
     add_mistake(binder, node))

/* ---- values ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* True if a scenario of that name came through a pipe of the shell, as in <(…). */
static bool is_systems(const char *name)
{
    return strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0;
}

/*
 * Returns the path of a file that the scenario names: relative to the scenario's folder, if it has
 * one. A file that an override names is first looked for in the working directory.
 */
static const char *resolve_file(struct oche_document *document, const struct oche_yaml *node)
{
    const char *name = oche_document_name(document), *beside;
    const char *slash = strrchr(name, '/');

    if (node->text[0] == '/' || node->text[0] == '\0' || slash == NULL || is_systems(name))
        return node->text;
    beside = oche_document_print(document, "%.*s/%s", (int)(slash - name), name, node->text);
    if (node->set != NULL && (access(node->text, F_OK) == 0 || access(beside, F_OK) != 0))
        return node->text;
    return beside;
}

/*
 * Joins a list "[a, b]" to "a,b" where a TEXT is wanted. Returns NULL, with an error, if an entry
 * of the list is not a plain value.
 */
static const char *join_list(struct binder *binder, const struct oche_yaml *list)
{
    const char *text = "";

    for (uint32_t i = 0; i < list->count; i++) {
        const struct oche_yaml *item = list->child[i];

        if (item->kind != OCHE_YAML_SCALAR) {
            (void)FAIL(binder, item, NULL, "is a map or a list; write a list of plain words");
            return NULL;
        }
        text = oche_document_print(binder->document, "%s%s%s", text, i == 0 ? "" : ",", item->text);
    }
    return text;
}

/* True if the TEXT of the parameter called `name` is a file's name. */
static bool names_file(const char *name, const char *text)
{
    return strcmp(name, "file") == 0 || ends_with(name, "_file") ||
           (strcmp(name, "nic") == 0 && oche_nic_is_file(text));
}

static bool bind_value(struct binder *binder, const struct oche_yaml *node,
                       const struct oche_param *param, void *values)
{
    union oche_value value;
    struct oche_error reason;

    if (param->unit == OCHE_UNIT_TEXT && node->kind == OCHE_YAML_LIST) {
        value.text = join_list(binder, node);
        if (value.text == NULL)
            return false;
        oche_param_set(param, values, value);
        return true;
    }
    if (node->kind != OCHE_YAML_SCALAR)
        return FAIL(binder, node, NULL, "is a %s; write one value (%s)",
                    node->kind == OCHE_YAML_MAP ? "map" : "list", oche_unit_name(param->unit));
    if (!oche_value_parse(param, node->text, &value, &reason))
        return FAIL(binder, node, NULL, "%s", reason.text);
    if (param->unit == OCHE_UNIT_TEXT && names_file(param->name, value.text))
        value.text = resolve_file(binder->document, node);
    oche_param_set(param, values, value);
    return true;
}

/* ---- maps ---- */

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* Writes the error that `node` is an unknown key. The `count` known keys are in `known`. */
static bool unknown_key(struct binder *binder, const struct oche_yaml *node,
                        const char *const *known, size_t count)
{
    const char *nearest = oche_nearest_word(node->key, known, count);
    char list[512] = "";
    size_t used = 0;

    if (nearest != NULL)
        return FAIL(binder, node, NULL, "unknown key; did you mean \"%s\"?", nearest);
    for (size_t i = 0; i < count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
                                 known[i]);
    if (count == 0)
        return FAIL(binder, node, NULL, "unknown key; nothing can be set here");
    return FAIL(binder, node, NULL, "unknown key; write one of %s", list);
}

/*
 * Fills `values` with the defaults of the preset that `map` names by its key OCHE_PRESET or,
 * without that key, of the scenario's preset. `map` may be NULL.
 */
static void bind_defaults(const struct binder *binder, const struct oche_yaml *map,
                          const struct oche_param_table *table, void *values)
{
    const struct oche_yaml *node = map != NULL ? oche_yaml_find(map, OCHE_PRESET) : NULL;
    enum oche_preset preset = binder->preset;
    union oche_value value;
    struct oche_error reason;

    if (node != NULL && table->deployed_count > 0) {
        const struct oche_param *param = oche_param_find(table, OCHE_PRESET);

        /* A value that cannot be read is bind_keys' mistake. */
        if (node->kind == OCHE_YAML_SCALAR && oche_value_parse(param, node->text, &value, &reason))
            preset = (enum oche_preset)value.u;
    }
    oche_param_preset(table, preset, values);
}

/*
 * Changes `values` to those that `map` (NULL: none) gives. A key that is not in the table must be
 * one of the `other_count` words in `others`, which the caller handles.
 */
static bool bind_keys(struct binder *binder, const struct oche_yaml *map,
                      const struct oche_param_table *table, const char *const *others,
                      size_t other_count, void *values)
{
    bool ok = true;

    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        const struct oche_yaml *node = map->child[i];
        const struct oche_param *param = oche_param_find(table, node->key);

        if (param != NULL) {
            ok = bind_value(binder, node, param, values) && ok;
            continue;
        }
        if (is_among(node->key, others, other_count))
            continue;
        if (binder->wire != NULL && oche_param_find(binder->wire, node->key) != NULL) {
            ok = FAIL(binder, node, NULL,
                      "is only for `oche exec`, as no program looks at memory here; leave it out");
            continue;
        }
        const char **known = calloc(table->count + other_count, sizeof(*known));
        size_t count = 0;

        OCHE_GOT(known != NULL);
        for (size_t j = 0; j < other_count; j++)
            known[count++] = others[j];
        for (size_t j = 0; j < table->count; j++)
            known[count++] = table->params[j].name;
        ok = unknown_key(binder, node, known, count);
        free(known);
    }
    return ok;
}

/* Like bind_keys; keys that are not given keep their defaults. */
static bool bind_table(struct binder *binder, const struct oche_yaml *map,
                       const struct oche_param_table *table, const char *const *others,
                       size_t other_count, void *values)
{
    bind_defaults(binder, map, table, values);
    return bind_keys(binder, map, table, others, other_count, values);
}

static struct oche_bound *add_bound(struct binder *binder, struct oche_bound bound)
{
    struct oche_bindings *bindings = binder->bindings;

    if (bindings->count == binder->capacity) {
        size_t capacity = binder->capacity == 0 ? 16 : 2 * binder->capacity;
        struct oche_bound *grown = oche_document_alloc(binder->document, capacity * sizeof(*grown));

        if (bindings->count > 0)
            memcpy(grown, bindings->bound, bindings->count * sizeof(*grown));
        bindings->bound = grown;
        binder->capacity = capacity;
    }
    bound.values = oche_document_alloc(binder->document, bound.table->struct_bytes);
    bindings->bound[bindings->count] = bound;
    return &bindings->bound[bindings->count++];
}

/* ---- sections ---- */

static const struct oche_variant *find_variant(const struct oche_section *section, const char *name)
{
    for (size_t i = 0; i < section->variant_count; i++)
        if (strcmp(section->variants[i].name, name) == 0)
            return &section->variants[i];
    return NULL;
}

static bool unknown_variant(struct binder *binder, const struct oche_section *section,
                            const struct oche_yaml *node, const char *below, const char *text)
{
    const char **names = calloc(section->variant_count + 1, sizeof(*names));
    char list[512] = "";
    size_t used = 0;

    OCHE_GOT(names != NULL);
    for (size_t i = 0; i < section->variant_count; i++) {
        names[i] = section->variants[i].name;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ",
                                     names[i]);
    }
    const char *nearest = oche_nearest_word(text, names, section->variant_count);

    free(names);
    if (text[0] == '\0')
        return FAIL(binder, node, below, "is missing; write one of %s", list);
    if (nearest != NULL)
        return FAIL(binder, node, below, "\"%s\" is not known; did you mean \"%s\"? (%s)", text,
                    nearest, list);
    return FAIL(binder, node, below, "\"%s\" is not known; write one of %s", text, list);
}

/*
 * Checks a map that chooses no variant. If a key belongs to other presets only, the error names
 * them.
 */
static bool preset_has_keys(struct binder *binder, const struct oche_section *section,
                            const struct oche_yaml *map)
{
    const struct oche_variant *preset = find_variant(section, section->preset);
    bool ok = true;

    for (uint32_t i = 0; i < map->count; i++) {
        const char *key = map->child[i]->key;
        char list[256] = "";
        size_t used = 0;

        if (oche_param_find(preset->table, key) != NULL)
            continue;
        for (size_t j = 0; j < section->variant_count && used < sizeof(list); j++)
            if (oche_param_find(section->variants[j].table, key) != NULL)
                used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                         used == 0 ? "" : " or ", section->variants[j].name);
        if (used > 0)
            ok = FAIL(binder, map->child[i], NULL,
                      "unknown key of %s, which is meant where there is no %s; add %s: %s",
                      preset->name, section->selector, section->selector, list);
    }
    return ok;
}

static bool any_variant_has(const struct oche_section *section, const char *key)
{
    for (size_t i = 0; i < section->variant_count; i++)
        if (oche_param_find(section->variants[i].table, key) != NULL)
            return true;
    return false;
}

/* Returns a key of the map that probably misspells the one that chooses a variant, or NULL. */
static const struct oche_yaml *misspelt_selector(const struct oche_section *section,
                                                 const struct oche_yaml *map)
{
    for (uint32_t i = 0; i < map->count; i++)
        if (oche_nearest_word(map->child[i]->key, &section->selector, 1) != NULL &&
            !any_variant_has(section, map->child[i]->key))
            return map->child[i];
    return NULL;
}

/* Binds one entry of a section with variants; `node` may be NULL (not given), a name, or a map. */
static bool bind_variant(struct binder *binder, const struct oche_section *section,
                         const struct oche_yaml *node, const char *path)
{
    const struct oche_yaml *chosen = node, *map = NULL;
    const char *name = section->preset, *below = NULL;

    if (node != NULL && node->kind == OCHE_YAML_LIST)
        return FAIL(binder, node, NULL, "is a list; write one %s, or a map with the key %s",
                    section->selector, section->selector);
    if (node != NULL && node->kind == OCHE_YAML_MAP) {
        map = node;
        chosen = oche_yaml_find(node, section->selector);
        if (chosen == NULL)
            chosen = node->shorthand;
        if (chosen == NULL) {
            const struct oche_yaml *misspelt = misspelt_selector(section, map);

            if (misspelt != NULL) /* the list of valid keys depends on it */
                return unknown_key(binder, misspelt, &section->selector, 1);
            chosen = node;
            below = section->selector;
            name = section->preset != NULL ? section->preset : "";
            if (section->preset != NULL && !preset_has_keys(binder, section, map))
                return false;
        }
    }
    if (chosen != NULL && below == NULL) {
        if (chosen->kind != OCHE_YAML_SCALAR)
            return FAIL(binder, chosen, NULL, "is not a name; write it as %s: NAME",
                        section->selector);
        name = chosen->text;
    }
    const struct oche_variant *variant = find_variant(section, name);

    if (variant == NULL)
        return unknown_variant(binder, section, chosen, below, name);
    struct oche_bound *bound = add_bound(binder, (struct oche_bound){.section = section,
                                                                     .variant = variant,
                                                                     .table = variant->table,
                                                                     .node = node,
                                                                     .path = path});

    binder->wire = variant->wire;
    bool ok = bind_table(binder, map, variant->table, &section->selector, 1, bound->values);
    binder->wire = NULL;
    return ok;
}

/* Returns the key of a section within another: of "switch.tor" it is "tor". */
static const char *inner_key(const struct oche_section *section)
{
    return section->name + strlen(section->within->name) + 1;
}

/* Lists the keys of the sections within `section`. */
static size_t inner_keys(const struct binder *binder, const struct oche_section *section,
                         const char **keys)
{
    size_t count = 0;

    for (size_t i = 0; i < binder->section_count; i++)
        if (binder->sections[i].within == section) {
            OCHE_MUST(count < OCHE_MOST_INNER_SECTIONS);
            keys[count++] = inner_key(&binder->sections[i]);
        }
    return count;
}

static bool bind_plain(struct binder *binder, const struct oche_section *section,
                       const struct oche_yaml *node, const char *path)
{
    const char *inner[OCHE_MOST_INNER_SECTIONS];
    const struct oche_yaml *map = node;

    if (node != NULL && node->kind == OCHE_YAML_SCALAR && node->text[0] == '\0')
        map = NULL; /* "switch:" with nothing below it */
    if (map != NULL && (map->kind != OCHE_YAML_MAP || map->shorthand != NULL))
        return FAIL(binder, map, NULL, "is not a section; write its keys below it, as KEY: VALUE");
    struct oche_bound *bound = add_bound(
        binder, (struct oche_bound){
                    .section = section, .table = section->table, .node = node, .path = path});

    return bind_table(binder, map, section->table, inner, inner_keys(binder, section, inner),
                      bound->values);
}

/* Binds a section within another. Keys that it does not give have the other section's values. */
static bool bind_inner(struct binder *binder, const struct oche_section *section)
{
    const struct oche_section *outer = section->within;
    const struct oche_bound *from = oche_bindings_find(binder->bindings, outer->name);
    const struct oche_yaml *map =
        from != NULL && from->node != NULL && from->node->kind == OCHE_YAML_MAP
            ? oche_yaml_find(from->node, inner_key(section))
            : NULL;

    if (map == NULL || (map->kind == OCHE_YAML_SCALAR && map->text[0] == '\0'))
        return true;
    if (map->kind != OCHE_YAML_MAP || map->shorthand != NULL)
        return FAIL(binder, map, NULL, "is not a section; write its keys below it, as KEY: VALUE");
    const void *outer_values = from->values;
    struct oche_bound *bound = add_bound(binder, (struct oche_bound){.section = section,
                                                                     .table = section->table,
                                                                     .node = map,
                                                                     .path = section->name});

    memcpy(bound->values, outer_values, section->table->struct_bytes);
    bool ok = true;

    for (uint32_t i = 0; i < map->count; i++) {
        const struct oche_param *param = oche_param_find(section->table, map->child[i]->key);

        if (param != NULL && param->of_all)
            ok = FAIL(binder, map->child[i], NULL,
                      "has one value for the whole network; write it as %s.%s", outer->name,
                      param->name);
    }
    return ok && bind_keys(binder, map, section->table, NULL, 0, bound->values);
}

static bool bind_entry(struct binder *binder, const struct oche_section *section,
                       const struct oche_yaml *node, const char *path)
{
    if (section->selector != NULL)
        return bind_variant(binder, section, node, path);
    return bind_plain(binder, section, node, path);
}

/*
 * Lists the keys that the root can have: those in the tables of sections called "" (several
 * sections may share the root), and the names of all other sections. Leaves room for the keys that
 * the root has.
 */
static void list_names(struct binder *binder)
{
    size_t room = binder->section_count + oche_document_root(binder->document)->count;

    for (size_t i = 0; i < binder->section_count; i++)
        if (binder->sections[i].name[0] == '\0')
            room += binder->sections[i].table->count;
    binder->names = calloc(room, sizeof(*binder->names));
    OCHE_GOT(binder->names != NULL);
    for (size_t i = 0; i < binder->section_count; i++) {
        const struct oche_section *section = &binder->sections[i];

        if (section->name[0] != '\0' && section->within == NULL)
            binder->names[binder->name_count++] = section->name;
        for (size_t j = 0; section->name[0] == '\0' && j < section->table->count; j++)
            binder->names[binder->name_count++] = section->table->params[j].name;
    }
}

/* Binds the keys at the root. */
static bool bind_root(struct binder *binder)
{
    const struct oche_yaml *root = oche_document_root(binder->document);
    size_t all = binder->name_count; /* includes the unknown keys, which are reported only once */
    bool ok = true;

    for (uint32_t i = 0; i < root->count; i++)
        if (!is_among(root->child[i]->key, binder->names, binder->name_count)) {
            ok = unknown_key(binder, root->child[i], binder->names, binder->name_count);
            binder->names[all++] = root->child[i]->key;
        }
    for (size_t i = 0; i < binder->section_count; i++) {
        const struct oche_section *section = &binder->sections[i];

        if (section->name[0] != '\0')
            continue;
        struct oche_bound *bound = add_bound(
            binder, (struct oche_bound){
                        .section = section, .table = section->table, .node = root, .path = ""});

        ok = bind_table(binder, root, section->table, binder->names, all, bound->values) && ok;
    }
    return ok;
}

/* True if an unknown key of the root, which has been told, probably misspells the section. */
static bool is_misspelt(const struct binder *binder, const struct oche_section *section)
{
    const struct oche_yaml *root = oche_document_root(binder->document);

    for (uint32_t i = 0; i < root->count; i++) {
        const char *key = root->child[i]->key;
        const char *nearest = is_among(key, binder->names, binder->name_count)
                                  ? NULL
                                  : oche_nearest_word(key, binder->names, binder->name_count);

        if (nearest != NULL && strcmp(nearest, section->name) == 0)
            return true;
    }
    return false;
}

static bool bind_section(struct binder *binder, const struct oche_section *section)
{
    const struct oche_yaml *root = oche_document_root(binder->document);
    const struct oche_yaml *node = oche_yaml_find(root, section->name);

    if (section->within != NULL)
        return bind_inner(binder, section);
    if (node == NULL && section->selector != NULL && section->preset == NULL) {
        if (section->optional || is_misspelt(binder, section))
            return true;
        return FAIL(binder, root, section->name, "is missing; add \"%s: {%s: %s}\"", section->name,
                    section->selector, section->variants[0].name);
    }
    if (node != NULL && node->kind == OCHE_YAML_LIST && node->count == 0 && section->list &&
        !section->optional)
        return FAIL(binder, node, NULL, "is an empty list; write at least one entry");
    if (node == NULL && section->optional)
        return true;
    if (node == NULL || !section->list || node->kind != OCHE_YAML_LIST)
        return bind_entry(binder, section, node, section->name);
    bool ok = true;

    for (uint32_t i = 0; i < node->count; i++)
        ok = bind_entry(binder, section, node->child[i], node->child[i]->path) && ok;
    return ok;
}

/* Returns which defaults the sections have: the value of the root's parameter `defaults`. */
static enum oche_preset chosen_defaults(const struct oche_bindings *bindings)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];
        const struct oche_param *param = oche_param_find(bound->table, "defaults");

        if (param != NULL)
            return (enum oche_preset)oche_param_get(param, bound->values).u;
    }
    return OCHE_PRESET_PAPER;
}

bool oche_bind(struct oche_document *document, const struct oche_section *sections,
               size_t section_count, struct oche_bindings *bindings, struct oche_mistakes *mistakes)
{
    struct binder binder = {.document = document,
                            .sections = sections,
                            .section_count = section_count,
                            .bindings = bindings,
                            .mistakes = mistakes};

    *bindings = (struct oche_bindings){.bound = NULL, .count = 0};
    list_names(&binder);
    bool ok = bind_root(&binder);

    binder.preset = chosen_defaults(bindings);
    for (size_t i = 0; i < section_count; i++)
        if (sections[i].name[0] != '\0')
            ok = bind_section(&binder, &sections[i]) && ok;
    free(binder.names);
    return ok;
}

static bool same_value(const struct oche_param *param, const void *a, const void *b)
{
    union oche_value x = oche_param_get(param, a), y = oche_param_get(param, b);

    if (param->unit == OCHE_UNIT_TEXT)
        return strcmp(x.text != NULL ? x.text : "", y.text != NULL ? y.text : "") == 0;
    return param->unit == OCHE_UNIT_REAL ? x.real == y.real : x.u == y.u;
}

bool oche_bindings_same(const struct oche_bindings *a, const struct oche_bindings *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct oche_bound *x = &a->bound[i], *y = &b->bound[i];

        if (x->table != y->table || strcmp(x->path, y->path) != 0)
            return false;
        for (size_t j = 0; j < x->table->count; j++)
            if (!same_value(&x->table->params[j], x->values, y->values))
                return false;
    }
    return true;
}

const struct oche_bound *oche_bindings_find(const struct oche_bindings *bindings, const char *name)
{
    for (size_t i = 0; i < bindings->count; i++)
        if (strcmp(bindings->bound[i].section->name, name) == 0)
            return &bindings->bound[i];
    return NULL;
}

/*
 * Returns the root section whose table has the key with which `message` begins ("duration: …"), or
 * NULL.
 */
static const struct oche_bound *root_bound_of(const struct oche_bindings *bindings,
                                              const char *message)
{
    const char *colon = strchr(message, ':');
    char key[64];

    if (colon == NULL || (size_t)(colon - message) >= sizeof(key))
        return NULL;
    snprintf(key, sizeof(key), "%.*s", (int)(colon - message), message);
    for (size_t i = 0; i < bindings->count; i++)
        if (bindings->bound[i].path[0] == '\0' &&
            oche_param_find(bindings->bound[i].table, key) != NULL)
            return &bindings->bound[i];
    return NULL;
}

/*
 * Returns the node of the list with whose name `message` begins ("workload: …"), whatever its
 * entries are; NULL: it begins with none.
 */
static const struct oche_yaml *list_of(const struct oche_document *document,
                                       const struct oche_bindings *bindings, const char *message)
{
    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_section *section = bindings->bound[i].section;
        size_t length = strlen(section->name);

        if (section->list && strncmp(message, section->name, length) == 0 && message[length] == ':')
            return oche_yaml_find(oche_document_root(document), section->name);
    }
    return NULL;
}

bool oche_bindings_fail(const struct oche_document *document, const struct oche_bindings *bindings,
                        const char *message, struct oche_error *error)
{
    const struct oche_bound *best = NULL;
    size_t best_length = 0;

    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];
        size_t length = strlen(bound->path);

        if (length <= best_length || strncmp(message, bound->path, length) != 0)
            continue;
        if (bound->section->list && strncmp(message + length, "[0]", 3) == 0)
            length += 3; /* the scenario has a single entry instead of a list */
        if (message[length] == '.' || message[length] == ':') {
            best = bound;
            best_length = length;
        }
    }
    if (best == NULL) {
        const struct oche_yaml *list = list_of(document, bindings, message);

        if (list != NULL)
            return oche_document_fail(document, list, NULL, error, "%s",
                                      message + strlen(list->key) + 2);
        best = root_bound_of(bindings, message);
        if (best != NULL)
            return oche_bound_fail(document, best, message, error);
        return oche_fail(error, "%s", message);
    }
    message += best_length + 1;
    return oche_bound_fail(document, best, message + strspn(message, " "), error);
}

/* True if `message` begins with a key of the table ("kmin: …"); the key is then copied. */
static bool begins_with_key(const struct oche_param_table *table, const char *message, char *key,
                            size_t key_bytes)
{
    const char *colon = strchr(message, ':');

    if (colon == NULL || (size_t)(colon - message) >= key_bytes)
        return false;
    snprintf(key, key_bytes, "%.*s", (int)(colon - message), message);
    return oche_param_find(table, key) != NULL;
}

/* Returns the next place in `text` where `word` stands as a word of its own, or NULL. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
            !isalnum((unsigned char)at[length]) && at[length] != '_')
            return at;
    return NULL;
}

/*
 * Lists in `values` the keys that `message` names beside others and that the scenario does not
 * give: " (line_above is 0.95 by default)". Keys of one word are words of the sentence as often as
 * keys. Returns the first key named that the scenario gives, or NULL.
 */
static const struct oche_yaml *defaults_of(const struct oche_bound *bound, const char *message,
                                           char *values, size_t bytes)
{
    const struct oche_yaml *first = NULL;
    size_t used = 0, named = 0;

    values[0] = '\0';
    for (size_t i = 0; i < bound->table->count; i++) {
        const struct oche_param *param = &bound->table->params[i];
        const struct oche_yaml *given =
            bound->node != NULL ? oche_yaml_find(bound->node, param->name) : NULL;
        char text[OCHE_VALUE_BYTES];

        if (strchr(param->name, '_') == NULL || param->unit == OCHE_UNIT_TEXT ||
            find_word(message, param->name) == NULL)
            continue;
        named++;
        first = first == NULL ? given : first;
        if (given != NULL || used >= bytes)
            continue;
        oche_value_show(param, oche_param_get(param, bound->values), text, sizeof(text));
        used += (size_t)snprintf(values + used, bytes - used, "%s%s is %s by default",
                                 used == 0 ? " (" : ", ", param->name, text);
    }
    if (named < 2 || used == 0 || used + 1 >= bytes)
        values[0] = '\0';
    else
        strcpy(values + used, ")");
    return first;
}

bool oche_bound_fail(const struct oche_document *document, const struct oche_bound *bound,
                     const char *message, struct oche_error *error)
{
    char key[64], values[256] = "";
    bool keyed = begins_with_key(bound->table, message, key, sizeof(key));
    const struct oche_yaml *given = keyed ? oche_yaml_find(bound->node, key) : NULL;
    const struct oche_yaml *other =
        keyed ? defaults_of(bound, message, values, sizeof(values)) : NULL;

    /* The value is a default and stands in no line of the file, so the error has no line number. */
    if (bound->node == NULL || (bound->path[0] == '\0' && given == NULL))
        return oche_fail(error, "%s: %s%s%s%s", oche_document_name(document), bound->path,
                         bound->path[0] == '\0' ? ""
                         : keyed                ? "."
                                                : ": ",
                         message, values);
    if (!keyed)
        return oche_document_fail(document, bound->node, NULL, error, "%s", message);
    message += strlen(key) + 1;
    message += strspn(message, " ");
    if (given == NULL && other != NULL)
        return oche_document_fail(document, other, NULL, error, "%s: %s%s", key, message, values);
    return oche_document_fail(document, given != NULL ? given : bound->node,
                              given != NULL ? NULL : key, error, "%s%s", message, values);
}

void oche_bindings_each(const struct oche_bindings *bindings,
                        void (*each)(void *context, const char *key, const char *value,
                                     const char *unit, bool given),
                        void *context)
{
    char key[192], text[1024];

    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];
        const char *dot = bound->path[0] != '\0' ? "." : "";

        if (bound->variant != NULL) {
            snprintf(key, sizeof(key), "%s%s%s", bound->path, dot, bound->section->selector);
            each(context, key, bound->variant->name, "choice", bound->node != NULL);
        }
        for (size_t j = 0; j < bound->table->count; j++) {
            const struct oche_param *param = &bound->table->params[j];

            if (bound->section->within != NULL && param->of_all)
                continue;
            snprintf(key, sizeof(key), "%s%s%s", bound->path, dot, param->name);
            oche_value_format(param, oche_param_get(param, bound->values), text, sizeof(text));
            each(context, key, text, oche_unit_name(param->unit),
                 bound->node != NULL && oche_yaml_find(bound->node, param->name) != NULL);
        }
    }
}
