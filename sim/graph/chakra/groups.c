/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicator groups; see groups.h. A group is known by its name and its ranks: traces of
 * different ranks may use one name for different ranks.
 */
#include "sim/graph/chakra/groups.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "params/printable.h"

#define MOST_FILE (64 * OCHE_INPUT_MIB)
#define FIRST_TAG (UINT32_C(1) << 31)
#define SHOWN     60 /* bytes of a name in an error */

/* An operation, as the first rank that did it had it. */
struct done {
    enum oche_collective_operation operation;
    uint64_t bytes, node;
    uint32_t tag;
};

struct group {
    char *name;
    uint32_t *members;
    uint32_t count;
    struct done *list; /* operations, as `first_rank` has them */
    uint32_t done, room;
    uint32_t first_rank; /* that did the first one: the lowest one, as ranks come in order */
    uint32_t *by;        /* by index: operations that this rank has done; NULL: none yet */
    uint32_t rank;       /* the rank that `index` is about; or NONE */
    uint32_t index;      /* of that rank among the members; `count`: it is none of them */
};

#define NONE UINT32_MAX

/* The meaning of a name, for all ranks or for the rank that is being read. */
struct name {
    const char *text; /* of the group */
    struct group *group;
};

struct oche_chakra_groups {
    uint32_t ranks, rank, next_tag;
    struct group **list; /* all groups */
    uint32_t count, room;
    void *known;        /* tree of struct group, by name and members */
    void *shared, *own; /* trees of struct name: of the file, and of the rank's trace */
};

/* ---- trees ---- */

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;
    const int names = strcmp(a->name, b->name);

    if (names != 0)
        return names;
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return memcmp(a->members, b->members, a->count * sizeof(*a->members));
}

static int compare_names(const void *left, const void *right)
{
    const struct name *a = left, *b = right;

    return strcmp(a->text, b->text);
}

static void keep(void *node)
{
    (void)node;
}

static void free_group(struct group *group)
{
    free(group->name);
    free(group->members);
    free(group->list);
    free(group->by);
    free(group);
}

/* ---- groups ---- */

/*
 * Gives the name to the ranks, which become the module's (malloc'd). If the name is in the tree, it
 * now means these.
 */
static void define(struct oche_chakra_groups *groups, void **names, const char *text,
                   uint32_t *members, uint32_t count)
{
    struct group *group = calloc(1, sizeof(*group));
    struct name *name = calloc(1, sizeof(*name)), **found_name;
    struct group **found;

    OCHE_GOT(group != NULL && name != NULL);
    *group = (struct group){.name = strdup(text), .members = members, .count = count, .rank = NONE};
    OCHE_GOT(group->name != NULL);
    found = tsearch(group, &groups->known, compare_groups);
    OCHE_GOT(found != NULL);
    if (*found != group) {
        free_group(group);
        group = *found;
    } else {
        if (groups->count == groups->room) {
            groups->room = groups->room == 0 ? 16 : 2 * groups->room;
            groups->list = realloc(groups->list, groups->room * sizeof(struct group *));
            OCHE_GOT(groups->list != NULL);
        }
        groups->list[groups->count++] = group;
    }
    *name = (struct name){.text = group->name, .group = group};
    found_name = tsearch(name, names, compare_names);
    OCHE_GOT(found_name != NULL);
    if (*found_name != name) {
        **found_name = *name;
        free(name);
    }
}

struct oche_chakra_groups *oche_chakra_groups_create(uint32_t ranks)
{
    struct oche_chakra_groups *groups = calloc(1, sizeof(*groups));
    uint32_t *all = malloc((size_t)ranks * sizeof(*all));

    OCHE_GOT(groups != NULL && all != NULL);
    groups->ranks = ranks;
    groups->next_tag = FIRST_TAG;
    for (uint32_t i = 0; i < ranks; i++)
        all[i] = i;
    define(groups, &groups->shared, "", all, ranks);
    return groups;
}

void oche_chakra_groups_free(struct oche_chakra_groups *groups)
{
    tdestroy(groups->own, free);
    tdestroy(groups->shared, free);
    tdestroy(groups->known, keep);
    for (uint32_t i = 0; i < groups->count; i++)
        free_group(groups->list[i]);
    free(groups->list);
    free(groups);
}

/* ---- JSON ---- */

static int compare_ranks(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* True if no rank is twice in the list. */
static bool are_different(const uint32_t *members, uint32_t count)
{
    uint32_t *sorted = malloc((size_t)count * sizeof(*sorted));
    bool different = true;

    OCHE_GOT(sorted != NULL);
    memcpy(sorted, members, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_ranks);
    for (uint32_t i = 1; i < count; i++)
        different = different && sorted[i] != sorted[i - 1];
    free(sorted);
    return different;
}

/* Defines a group by a list of ranks; `empty_is_all`: an empty list has all ranks. */
static bool take_group(struct oche_chakra_groups *groups, void **names, const char *text,
                       struct json_object *list, bool empty_is_all, struct oche_error *reason)
{
    char shown[SHOWN];
    uint32_t *members;
    size_t count;
    bool all;

    oche_printable(text, shown, sizeof(shown));
    if (!json_object_is_type(list, json_type_array))
        return oche_fail(reason, "group \"%s\": no list of ranks; write [0, 1]", shown);
    count = json_object_array_length(list);
    all = count == 0 && empty_is_all;
    if (all)
        count = groups->ranks;
    if (count == 0 || count > groups->ranks)
        return oche_fail(reason, "group \"%s\": %zu ranks; 1 to %u", shown, count, groups->ranks);
    members = malloc(count * sizeof(*members));
    OCHE_GOT(members != NULL);
    for (size_t i = 0; i < count; i++) {
        struct json_object *item = all ? NULL : json_object_array_get_idx(list, i);
        const int64_t rank = all ? (int64_t)i : json_object_get_int64(item);

        if ((!all && !json_object_is_type(item, json_type_int)) || rank < 0 ||
            rank >= groups->ranks) {
            free(members);
            return oche_fail(reason, "group \"%s\": its rank %zu is none; 0 to %u", shown, i,
                             groups->ranks - 1);
        }
        members[i] = (uint32_t)rank;
    }
    if (!are_different(members, (uint32_t)count)) {
        free(members);
        return oche_fail(reason, "group \"%s\" has a rank twice; once is enough", shown);
    }
    define(groups, names, text, members, (uint32_t)count);
    return true;
}

bool oche_chakra_groups_read(struct oche_chakra_groups *groups, const char *path,
                             struct oche_error *error)
{
    struct oche_input_file file;
    struct json_object *object = NULL;
    struct json_tokener *tokener;
    struct oche_error why;
    bool good;

    if (!oche_input_read(&file, path, MOST_FILE, &why))
        return oche_fail(error, "groups_file: %s: %s; a readable file", path, why.text);
    tokener = json_tokener_new();
    OCHE_GOT(tokener != NULL);
    object = json_tokener_parse_ex(tokener, file.text, (int)file.bytes + 1);
    good = json_object_is_type(object, json_type_object);
    if (!good)
        oche_fail(&why, "byte %zu: no JSON object; write {\"0\": [0, 1], \"1\": [2, 3]}",
                  json_tokener_get_parse_end(tokener));
    if (good) {
        json_object_object_foreach(object, key, list)
        {
            good = good && take_group(groups, &groups->shared, key, list, false, &why);
        }
    }
    json_tokener_free(tokener);
    json_object_put(object);
    oche_input_free(&file);
    return good || oche_fail(error, "groups_file: %s: %s", path, why.text);
}

void oche_chakra_groups_rank(struct oche_chakra_groups *groups, uint32_t rank)
{
    tdestroy(groups->own, free);
    groups->own = NULL;
    groups->rank = rank;
}

bool oche_chakra_groups_define(struct oche_chakra_groups *groups, const char *text,
                               struct oche_error *reason)
{
    const size_t length = strlen(text);
    struct json_object *list, *name, *ranks;
    struct json_tokener *tokener;
    bool good;

    if (length < 4 || length > MOST_FILE)
        return oche_fail(reason, "its groups are no list; write ['[…]']");
    tokener = json_tokener_new();
    OCHE_GOT(tokener != NULL);
    list = json_tokener_parse_ex(tokener, text + 2, (int)(length - 4));
    json_tokener_free(tokener);
    good = json_object_is_type(list, json_type_array) ||
           oche_fail(reason, "its groups are no list; write ['[…]']");
    for (size_t i = 0; good && i < json_object_array_length(list); i++) {
        struct json_object *item = json_object_array_get_idx(list, i);

        if (!json_object_is_type(item, json_type_object) ||
            !json_object_object_get_ex(item, "pg_name", &name) ||
            !json_object_is_type(name, json_type_string) ||
            !json_object_object_get_ex(item, "ranks", &ranks))
            good = oche_fail(reason, "its group %zu lacks pg_name, a text, or ranks", i);
        else
            good =
                take_group(groups, &groups->own, json_object_get_string(name), ranks, true, reason);
    }
    json_object_put(list);
    return good;
}

/* ---- operations ---- */

static struct group *find(const struct oche_chakra_groups *groups, const char *text)
{
    const struct name wanted = {.text = text};
    struct name **found = tfind(&wanted, &groups->own, compare_names);

    if (found == NULL)
        found = tfind(&wanted, &groups->shared, compare_names);
    return found == NULL ? NULL : (*found)->group;
}

/* Finds the rank in the group. */
static bool find_index(const struct oche_chakra_groups *groups, struct group *group)
{
    if (group->rank == groups->rank)
        return group->index < group->count;
    group->rank = groups->rank;
    for (group->index = 0; group->index < group->count; group->index++)
        if (group->members[group->index] == groups->rank)
            return true;
    return false;
}

/* Shows the group, in `shown`. */
static void show(const struct group *group, char *shown, size_t room)
{
    char name[SHOWN];

    oche_printable(group->name, name, sizeof(name));
    if (*name == '\0')
        snprintf(shown, room, "the group of all ranks");
    else
        snprintf(shown, room, "group \"%s\"", name);
}

/* Adds an operation that no rank of the group has done before. */
static void add(struct oche_chakra_groups *groups, struct group *group, const struct done *done,
                const struct oche_schedule_reading *reading)
{
    unsigned others = 0;
    const struct oche_collective of =
        oche_schedule_collective(reading, done->operation, group->count, done->bytes, &others);

    if (group->done == group->room) {
        group->room = group->room == 0 ? 4 : 2 * group->room;
        group->list = realloc(group->list, group->room * sizeof(*group->list));
        OCHE_GOT(group->list != NULL);
    }
    if (group->by == NULL) {
        group->by = calloc(group->count, sizeof(*group->by));
        OCHE_GOT(group->by != NULL);
        group->first_rank = groups->rank;
    }
    group->list[group->done] = *done;
    group->list[group->done++].tag = oche_schedule_tags(&groups->next_tag, FIRST_TAG, &of);
}

/*
 * Writes the bytes that the operation has as our algorithms count them. ASTRA-sim's comm_size of an
 * all_gather are the bytes that each rank gives. A barrier is an all_reduce of a byte for each
 * rank.
 */
static bool bytes_of(const struct oche_chakra_node *node, uint32_t ranks, uint64_t *bytes,
                     struct oche_error *reason)
{
    *bytes = node->barrier ? ranks : node->bytes;
    if (node->operation == OCHE_ALL_GATHER) {
        if (node->bytes > OCHE_CHAKRA_MOST_BYTES / ranks)
            return oche_fail(reason, "comm_size: %" PRIu64 " of each of %u ranks; at most %" PRIu64,
                             node->bytes, ranks, OCHE_CHAKRA_MOST_BYTES / ranks);
        *bytes *= ranks;
    }
    return true;
}

/* True if an operation of another rank of the group is the same. */
static bool check_same(const struct group *group, const char *shown, const struct done *here,
                       struct oche_error *reason)
{
    const uint32_t number = group->by[group->index];
    const struct done *first = &group->list[number];

    if (first->operation == here->operation && first->bytes == here->bytes)
        return true;
    return oche_fail(reason,
                     "operation %u of %s is %s of %" PRIu64 " bytes here, and %s of %" PRIu64
                     " at rank %u, node %" PRIu64,
                     number, shown, oche_collective_names[here->operation], here->bytes,
                     oche_collective_names[first->operation], first->bytes, group->first_rank,
                     first->node);
}

bool oche_chakra_groups_take(struct oche_chakra_groups *groups, const struct oche_chakra_node *node,
                             const struct oche_schedule_reading *reading, unsigned *others,
                             struct oche_chakra_part *part, struct oche_error *reason)
{
    const char *name = node->group == NULL ? "" : node->group;
    struct done done = {.operation = node->operation, .node = node->id};
    struct group *group = find(groups, name);
    char shown[SHOWN + 20];

    if (group == NULL) {
        oche_printable(name, shown, SHOWN);
        return oche_fail(reason,
                         "group \"%s\" (pg_name) is not known; `groups_file` names a file of "
                         "groups",
                         shown);
    }
    show(group, shown, sizeof(shown));
    if (!find_index(groups, group))
        return oche_fail(reason, "rank %u is not in %s", groups->rank, shown);
    if (!bytes_of(node, group->count, &done.bytes, reason))
        return false;
    if (group->by == NULL || group->first_rank == groups->rank)
        add(groups, group, &done, reading);
    else if (group->by[group->index] == group->done)
        return oche_fail(reason, "rank %u does more operations in %s than rank %u, which does %u",
                         groups->rank, shown, group->first_rank, group->done);
    if (!check_same(group, shown, &done, reason))
        return false;
    part->of = oche_schedule_collective(reading, node->operation, group->count, done.bytes, others);
    part->members = group->members;
    part->index = group->index;
    part->tag = group->list[group->by[group->index]++].tag;
    return true;
}

bool oche_chakra_groups_end(const struct oche_chakra_groups *groups, struct oche_error *reason)
{
    char shown[SHOWN + 20];

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *group = groups->list[i];

        for (uint32_t k = 0; group->by != NULL && k < group->count; k++)
            if (group->by[k] != group->done) {
                show(group, shown, sizeof(shown));
                return oche_fail(
                    reason, "rank %u does %u operations in %s, and rank %u does %u; as many",
                    group->members[k], group->by[k], shown, group->first_rank, group->done);
            }
    }
    return true;
}
