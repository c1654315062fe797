/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules as JSON lines, an operation a line, for programs that make their own:
 *
 *     {"ranks": 4}
 *     {"op": "calc", "rank": 0, "ns": 5000, "id": "c"}
 *     {"op": "send", "rank": 0, "to": 1, "bytes": 4096, "tag": 3, "after": "c"}
 *     {"op": "recv", "rank": 1, "from": 0, "bytes": 4096, "tag": 3, "id": "r"}
 *     {"op": "all_reduce", "ranks": [0, 1, 2, 3], "bytes": 1000000, "after": ["c", "r"]}
 *
 * The first line may say how many ranks there are; else there is one more than the highest number.
 * `id` names an operation. `after` lists operations above: this one waits for their ends; with
 * `after_start` it waits for their starts. A collective operation waits on each of its ranks for
 * those that this rank does. Lines without anything and those that begin with # are skipped.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "params/printable.h"
#include "sim/graph/schedule_file.h"

#define HEAD_BYTES 4096 /* of a file, to find its format */
#define MOST_SIZE  (UINT64_C(1) << 44)
#define MOST_NS    UINT64_C(1000000000000000)
#define MOST_TAG   ((UINT64_C(1) << 31) - 1) /* those above are for collective operations */
#define MOST_CPU   253
#define MOST_DEPTH 8          /* of JSON */
#define ALL        UINT32_MAX /* count of an item's ranks: all */
#define SHOWN      40         /* bytes of a name in an error */

/* A line. */
struct item {
    uint64_t size;       /* bytes, or ns */
    uint32_t line;       /* number of the line */
    uint32_t rank;       /* a collective operation: first of its ranks in `members` */
    uint32_t count;      /* a collective operation: how many ranks it has, or ALL; else 0 */
    uint32_t peer, tag;  /* send, recv */
    uint32_t deps, ends; /* first dependency, and how many of them wait for an end … */
    uint32_t starts;     /* … and those behind them for a start */
    uint32_t first_tag;  /* a collective operation's */
    uint8_t type, cpu;   /* enum oche_goal_type, or enum oche_collective_operation */
};

struct name {
    char *text;
    uint32_t item;
};

struct lines {
    const char *path; /* printable */
    struct oche_error *error;
    const struct oche_schedule_reading *reading;
    unsigned *others; /* as struct oche_schedule_file has it */
    unsigned line;
    uint32_t ranks; /* one more than the highest, or as the first line says */
    bool fixed;     /* the first line has said it */
    struct item *items;
    uint8_t cpus; /* all numbers of streams are below; the next is for collective operations */
    uint32_t *members, *deps;
    uint32_t item_count, item_room, member_count, member_room, dep_count, dep_room;
    void *names;     /* tree of struct name */
    uint32_t *marks; /* by rank: number of the item, from 1, that has marked it */
    uint32_t mark_room;
};

static bool fail(const struct lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct lines *lines, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_fail_at(lines->error, lines->path, lines->line, format, arguments);
    va_end(arguments);
    return false;
}

static void *grown(void *list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room == 0 ? 64 : 2 * *room;
    list = realloc(list, *room * bytes);
    OCHE_GOT(list != NULL);
    return list;
}

/* ---- values ---- */

/* Takes a whole number from 0 to `most`. Fractions of 0 are fine: 1000.0. */
static bool to_number(const struct lines *lines, const char *key, struct json_object *value,
                      uint64_t most, uint64_t *number)
{
    const bool whole = json_object_is_type(value, json_type_int);
    const double real = json_object_get_double(value);

    if (!whole && !(json_object_is_type(value, json_type_double) && real >= 0 && real < 1e15 &&
                    real == (double)(uint64_t)real))
        return fail(lines, "%s: no whole number from 0", key);
    if (whole && json_object_get_int64(value) < 0)
        return fail(lines, "%s: %" PRId64 "; 0 to %" PRIu64, key, json_object_get_int64(value),
                    most);
    *number = whole ? json_object_get_uint64(value) : (uint64_t)real;
    return *number <= most || fail(lines, "%s: %" PRIu64 "; 0 to %" PRIu64, key, *number, most);
}

/* Takes a number that fits 32 bits; `any`: the text "any" is OCHE_GOAL_ANY. */
static bool to_small(const struct lines *lines, const char *key, struct json_object *value,
                     uint64_t most, bool any, uint32_t *number)
{
    uint64_t wide = 0;

    if (any && json_object_is_type(value, json_type_string) &&
        strcmp(json_object_get_string(value), "any") == 0) {
        *number = OCHE_GOAL_ANY;
        return true;
    }
    if (!to_number(lines, key, value, most, &wide))
        return false;
    *number = (uint32_t)wide;
    return true;
}

static bool to_rank(struct lines *lines, const char *key, struct json_object *value, bool any,
                    uint32_t *rank)
{
    const uint64_t most = (lines->fixed ? lines->ranks : OCHE_GOAL_MOST_RANKS) - 1;

    if (!to_small(lines, key, value, most, any, rank))
        return false;
    if (*rank != OCHE_GOAL_ANY && *rank >= lines->ranks)
        lines->ranks = *rank + 1;
    return true;
}

/* ---- names and dependencies ---- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct name *)left)->text, ((const struct name *)right)->text);
}

static void free_name(void *name)
{
    free(((struct name *)name)->text);
    free(name);
}

/* Returns the text of an id, a text or a whole number, or NULL. */
static const char *text_of(struct json_object *id)
{
    if (!json_object_is_type(id, json_type_string) && !json_object_is_type(id, json_type_int))
        return NULL;
    return json_object_get_string(id);
}

/* Gives the next item its name. */
static bool take_id(struct lines *lines, struct json_object *id)
{
    const char *text = text_of(id);
    struct name *name, **found;
    char shown[SHOWN];

    if (text == NULL)
        return fail(lines, "id: no text and no whole number");
    name = malloc(sizeof(*name));
    OCHE_GOT(name != NULL);
    *name = (struct name){.text = strdup(text), .item = lines->item_count};
    OCHE_GOT(name->text != NULL);
    found = tsearch(name, &lines->names, compare_names);
    OCHE_GOT(found != NULL);
    if (*found == name)
        return true;
    free_name(name);
    oche_printable(text, shown, sizeof(shown));
    return fail(lines, "id: \"%s\" is also in line %u", shown, lines->items[(*found)->item].line);
}

/* Marks the ranks of the item, which has a list of them. */
static void mark(struct lines *lines, const struct item *item)
{
    const uint32_t stamp = lines->item_count + 1;

    if (lines->mark_room < lines->ranks) {
        const size_t room = 2 * (size_t)lines->ranks;

        lines->marks = realloc(lines->marks, room * sizeof(*lines->marks));
        OCHE_GOT(lines->marks != NULL);
        memset(lines->marks + lines->mark_room, 0,
               (room - lines->mark_room) * sizeof(*lines->marks));
        lines->mark_room = (uint32_t)room;
    }
    for (uint32_t i = 0; i < item->count; i++)
        lines->marks[lines->members[item->rank + i]] = stamp;
}

/* True if a rank does both. The item's own ranks are marked. */
static bool do_meet(const struct lines *lines, const struct item *item, const struct item *before)
{
    const uint32_t stamp = lines->item_count + 1;

    if (item->count == ALL || before->count == ALL)
        return true;
    if (item->count == 0 && before->count == 0)
        return item->rank == before->rank;
    if (item->count > 0 && before->count == 0)
        return before->rank < lines->mark_room && lines->marks[before->rank] == stamp;
    for (uint32_t i = 0; i < before->count; i++) {
        const uint32_t rank = lines->members[before->rank + i];

        if (item->count == 0 ? rank == item->rank
                             : rank < lines->mark_room && lines->marks[rank] == stamp)
            return true;
    }
    return false;
}

/* Takes an id of `after`. */
static bool take_dep(struct lines *lines, const struct item *item, const char *key,
                     struct json_object *id)
{
    const char *text = text_of(id);
    struct name wanted, **found;
    char shown[SHOWN];

    if (text == NULL)
        return fail(lines, "%s: no id; a text or a whole number, or a list of them", key);
    wanted.text = (char *)(uintptr_t)text;
    found = tfind(&wanted, &lines->names, compare_names);
    oche_printable(text, shown, sizeof(shown));
    if (found == NULL || (*found)->item == lines->item_count)
        return fail(lines, "%s: no operation above has the id \"%s\"", key, shown);
    if (!do_meet(lines, item, &lines->items[(*found)->item]))
        return fail(lines, "%s: \"%s\" is of another rank; ranks wait by messages alone", key,
                    shown);
    lines->deps = grown(lines->deps, lines->dep_count, &lines->dep_room, sizeof(*lines->deps));
    lines->deps[lines->dep_count++] = (*found)->item;
    return true;
}

/* Takes `after` or `after_start`: an id, or a list. */
static bool take_deps(struct lines *lines, const struct item *item, const char *key,
                      struct json_object *object, uint32_t *count)
{
    const uint32_t before = lines->dep_count;
    struct json_object *value;

    if (!json_object_object_get_ex(object, key, &value))
        return true;
    if (!json_object_is_type(value, json_type_array)) {
        if (!take_dep(lines, item, key, value))
            return false;
    } else {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            if (!take_dep(lines, item, key, json_object_array_get_idx(value, i)))
                return false;
    }
    *count = lines->dep_count - before;
    return true;
}

/* ---- operations ---- */

enum key { OP, RANK, RANKS, TO, FROM, BYTES, NS, TAG, CPU, ID, AFTER, AFTER_START, KEYS };
static const char *const keys[] = {"op", "rank", "ranks", "to", "from",  "bytes",
                                   "ns", "tag",  "cpu",   "id", "after", "after_start"};

#define BIT(key)   (1U << (key))
#define EVERY_HAS  (BIT(OP) | BIT(ID) | BIT(AFTER) | BIT(AFTER_START))
#define COLLECTIVE (BIT(RANKS) | BIT(BYTES))

/* The kinds of operations, which keys they need, and which they may have. */
static const struct kind {
    const char *name;
    uint8_t type;
    unsigned needs, may;
} kinds[] = {
    {"send", OCHE_GOAL_SEND, BIT(RANK) | BIT(TO) | BIT(BYTES), BIT(TAG) | BIT(CPU)},
    {"recv", OCHE_GOAL_RECV, BIT(RANK) | BIT(FROM) | BIT(BYTES), BIT(TAG) | BIT(CPU)},
    {"calc", OCHE_GOAL_CALC, BIT(RANK) | BIT(NS), BIT(CPU)},
    {"all_reduce", OCHE_ALL_REDUCE, COLLECTIVE, 0},
    {"all_gather", OCHE_ALL_GATHER, COLLECTIVE, 0},
    {"reduce_scatter", OCHE_REDUCE_SCATTER, COLLECTIVE, 0},
    {"broadcast", OCHE_BROADCAST, COLLECTIVE, 0},
    {"all_to_all", OCHE_ALL_TO_ALL, COLLECTIVE, 0},
};

/* Finds the values of an object. Returns which keys it has; 0, with an error: unknown ones. */
static unsigned find_values(const struct lines *lines, struct json_object *object,
                            struct json_object **values)
{
    unsigned has = 0;
    char shown[SHOWN];

    json_object_object_foreach(object, key, value)
    {
        unsigned i = 0;

        while (i < KEYS && strcmp(keys[i], key) != 0)
            i++;
        if (i == KEYS) {
            oche_printable(key, shown, sizeof(shown));
            fail(lines,
                 "\"%s\" is not known; op, rank, ranks, to, from, bytes, ns, tag, cpu, id, after, "
                 "after_start are",
                 shown);
            return 0;
        }
        has |= BIT(i);
        values[i] = value;
    }
    if (has == 0)
        fail(lines, "the object is empty; write {\"op\": \"calc\", \"rank\": 0, \"ns\": 100}");
    return has;
}

/* Returns the operation's kind if the object has the right keys, or NULL with an error. */
static const struct kind *kind_of(const struct lines *lines, struct json_object *op, unsigned has)
{
    const struct kind *kind = NULL;
    char shown[SHOWN];

    for (size_t i = 0; i < OCHE_COUNT_OF(kinds); i++)
        if (json_object_is_type(op, json_type_string) &&
            strcmp(json_object_get_string(op), kinds[i].name) == 0)
            kind = &kinds[i];
    if (kind == NULL) {
        oche_printable(op == NULL ? "" : json_object_get_string(op), shown, sizeof(shown));
        fail(lines,
             "op: \"%s\" is not known; send, recv, calc, all_reduce, all_gather, reduce_scatter, "
             "broadcast, all_to_all are",
             shown);
        return NULL;
    }
    for (unsigned i = 0; i < KEYS; i++) {
        if (kind->needs & ~has & BIT(i)) {
            fail(lines, "%s needs %s", kind->name, keys[i]);
            return NULL;
        }
        if (has & ~(kind->needs | kind->may | EVERY_HAS) & BIT(i)) {
            fail(lines, "%s has no %s", kind->name, keys[i]);
            return NULL;
        }
    }
    return kind;
}

/* Takes the ranks of a collective operation: a list, or "all". */
static bool take_ranks(struct lines *lines, struct json_object *list, struct item *item)
{
    item->rank = lines->member_count;
    if (json_object_is_type(list, json_type_string) &&
        strcmp(json_object_get_string(list), "all") == 0) {
        item->count = ALL;
        return true;
    }
    if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) == 0)
        return fail(lines, "ranks: no list of ranks, and not \"all\"");
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        uint32_t rank;

        if (!to_rank(lines, "ranks", json_object_array_get_idx(list, i), false, &rank))
            return false;
        lines->members = grown(lines->members, lines->member_count, &lines->member_room,
                               sizeof(*lines->members));
        lines->members[lines->member_count++] = rank;
        item->count++;
    }
    mark(lines, item);
    for (uint32_t i = 0; i < item->count; i++) {
        uint32_t *stamp = &lines->marks[lines->members[item->rank + i]];

        if (*stamp == 0)
            return fail(lines, "ranks: %u is there twice; once is enough",
                        lines->members[item->rank + i]);
        *stamp = 0;
    }
    mark(lines, item); /* again, for its dependencies */
    return true;
}

/* Takes the values that send, recv and calc have. */
static bool take_values(struct lines *lines, struct json_object **values, unsigned has,
                        struct item *item)
{
    const bool receives = item->type == OCHE_GOAL_RECV;
    const enum key peer = receives ? FROM : TO;

    if (!to_rank(lines, "rank", values[RANK], false, &item->rank))
        return false;
    if (has & BIT(CPU)) {
        uint32_t cpu;

        if (!to_small(lines, "cpu", values[CPU], MOST_CPU, false, &cpu))
            return false;
        item->cpu = (uint8_t)cpu;
    }
    if (item->cpu >= lines->cpus)
        lines->cpus = item->cpu + 1;
    if (item->type == OCHE_GOAL_CALC)
        return to_number(lines, "ns", values[NS], MOST_NS, &item->size);
    if (!to_rank(lines, keys[peer], values[peer], receives, &item->peer) ||
        !to_number(lines, "bytes", values[BYTES], MOST_SIZE, &item->size) ||
        ((has & BIT(TAG)) && !to_small(lines, "tag", values[TAG], MOST_TAG, receives, &item->tag)))
        return false;
    return item->peer != item->rank ||
           fail(lines, "%s: %u is the rank itself; another one", keys[peer], item->peer);
}

static bool take_operation(struct lines *lines, struct json_object *object)
{
    struct json_object *values[KEYS] = {NULL};
    const unsigned has = find_values(lines, object, values);
    struct item item = {.line = lines->line, .deps = lines->dep_count};
    const struct kind *kind;

    if (has == BIT(RANKS) && lines->item_count == 0 && !lines->fixed) {
        if (!to_small(lines, "ranks", values[RANKS], OCHE_GOAL_MOST_RANKS, false, &lines->ranks))
            return false;
        lines->fixed = true;
        return lines->ranks > 0 || fail(lines, "ranks: 0; at least 1");
    }
    if (has == 0 || (kind = kind_of(lines, values[OP], has)) == NULL)
        return false;
    item.type = kind->type;
    if (kind->needs == COLLECTIVE) {
        if (!take_ranks(lines, values[RANKS], &item) ||
            !to_number(lines, "bytes", values[BYTES], MOST_SIZE, &item.size))
            return false;
    } else if (!take_values(lines, values, has, &item)) {
        return false;
    }
    if (!take_deps(lines, &item, "after", object, &item.ends) ||
        !take_deps(lines, &item, "after_start", object, &item.starts))
        return false;
    lines->items = grown(lines->items, lines->item_count, &lines->item_room, sizeof(*lines->items));
    lines->items[lines->item_count] = item;
    if ((has & BIT(ID)) && !take_id(lines, values[ID]))
        return false;
    lines->item_count++;
    return true;
}

/* ---- lines ---- */

static bool take_line(struct lines *lines, struct json_tokener *tokener, const char *text,
                      size_t length)
{
    struct json_object *object;
    enum json_tokener_error result;
    bool good;

    json_tokener_reset(tokener);
    object = json_tokener_parse_ex(tokener, text, (int)length);
    result = json_tokener_get_error(tokener);
    if (result == json_tokener_success && json_object_is_type(object, json_type_object))
        good = take_operation(lines, object);
    else if (result == json_tokener_continue)
        good = fail(lines, "the line ends within an object; it is in one line");
    else if (result != json_tokener_success)
        good = fail(lines, "column %zu: %s; a JSON object", json_tokener_get_parse_end(tokener) + 1,
                    json_tokener_error_desc(result));
    else
        good = fail(lines, "no object; write {\"op\": \"calc\", \"rank\": 0, \"ns\": 100}");
    json_object_put(object);
    return good;
}

/* Takes a line, unless it is empty or a comment. */
static bool read_line(struct lines *lines, struct json_tokener *tokener, const char *text,
                      size_t length)
{
    const char *begin = lines->line == 1 ? oche_schedule_behind_mark(text) : text;

    begin += strspn(begin, " \t\r\n");
    length -= (size_t)(begin - text);
    while (length > 0 && strchr(" \t\r\n", begin[length - 1]) != NULL && begin[length - 1] != '\0')
        length--;
    if (length == 0 || *begin == '#')
        return true;
    if (length > INT32_MAX / 2)
        return fail(lines, "the line has more than a gigabyte");
    if (lines->item_count >= oche_schedule_most(lines->reading))
        return fail(lines, "more than %" PRIu64 " operations", oche_schedule_most(lines->reading));
    return take_line(lines, tokener, begin, length);
}

static bool read_lines(struct lines *lines, FILE *file)
{
    struct json_tokener *tokener = json_tokener_new_ex(MOST_DEPTH);
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;

    OCHE_GOT(tokener != NULL);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    while (good && (length = getline(&text, &room, file)) > 0) {
        lines->line++;
        good = read_line(lines, tokener, text, (size_t)length);
    }
    if (good && ferror(file))
        good = fail(lines, "cannot be read on: %s", strerror(errno));
    free(text);
    json_tokener_free(tokener);
    lines->line = 0;
    return good && (lines->ranks > 0 || fail(lines, "has no operation"));
}

/* ---- the schedule ---- */

/* The tasks of the ranks: those of rank i are list[first[i] … first[i + 1]). */
struct program {
    size_t *first;
    struct task {
        uint32_t item, index; /* index of the rank in a collective operation */
    } * list;
};

static uint32_t count_of(const struct lines *lines, const struct item *item)
{
    return item->count == ALL ? lines->ranks : item->count;
}

static uint32_t member(const struct lines *lines, const struct item *item, uint32_t index)
{
    return item->count == ALL ? index : lines->members[item->rank + index];
}

static struct oche_collective collective_of(const struct lines *lines, const struct item *item)
{
    return oche_schedule_collective(lines->reading, (enum oche_collective_operation)item->type,
                                    count_of(lines, item), item->size, lines->others);
}

/* Counts the operations, and gives tags to the collective ones. */
static bool check_most(struct lines *lines)
{
    uint32_t next = (uint32_t)MOST_TAG + 1;
    uint64_t all = 0;

    for (uint32_t i = 0; i < lines->item_count; i++) {
        struct item *item = &lines->items[i];
        const uint64_t deps = item->ends + item->starts;
        struct oche_collective of;

        all += deps + 1;
        if (item->count > 0) {
            of = collective_of(lines, item);
            all += (deps + oche_collective_most(&of)) * of.ranks;
        }
        lines->line = item->line;
        if (all > oche_schedule_most(lines->reading))
            return fail(lines,
                        "up to here there are more than %" PRIu64 " operations and dependencies; "
                        "fewer ranks or `chunks`",
                        oche_schedule_most(lines->reading));
        if (item->count > 0)
            item->first_tag = oche_schedule_tags(&next, (uint32_t)MOST_TAG + 1, &of);
    }
    return true;
}

static struct program program_of(const struct lines *lines)
{
    struct program program = {.first = calloc((size_t)lines->ranks + 2, sizeof(size_t))};

    OCHE_GOT(program.first != NULL);
    for (uint32_t i = 0; i < lines->item_count; i++) {
        const struct item *item = &lines->items[i];

        if (item->count == 0)
            program.first[item->rank + 2]++;
        for (uint32_t k = 0; item->count > 0 && k < count_of(lines, item); k++)
            program.first[member(lines, item, k) + 2]++;
    }
    for (uint32_t i = 2; i < lines->ranks + 2; i++)
        program.first[i] += program.first[i - 1];
    program.list = malloc((program.first[lines->ranks + 1] + 1) * sizeof(*program.list));
    OCHE_GOT(program.list != NULL);
    for (uint32_t i = 0; i < lines->item_count; i++) {
        const struct item *item = &lines->items[i];

        if (item->count == 0)
            program.list[program.first[item->rank + 1]++] = (struct task){.item = i};
        for (uint32_t k = 0; item->count > 0 && k < count_of(lines, item); k++)
            program.list[program.first[member(lines, item, k) + 1]++] =
                (struct task){.item = i, .index = k};
    }
    return program;
}

/* The operations that an item is on the rank that is being written. */
struct place {
    uint32_t begin, end, rank;
};

static void write_item(const struct lines *lines, struct oche_goal_writer *out,
                       const struct task *task, struct place *place)
{
    const struct item *item = &lines->items[task->item];

    if (item->count == 0) {
        place->begin = place->end =
            oche_goal_write_op(out, &(struct oche_goal_op){.type = item->type,
                                                           .cpu = item->cpu,
                                                           .peer = item->peer,
                                                           .tag = item->tag,
                                                           .size = item->size});
        return;
    }
    const struct oche_collective of = collective_of(lines, item);
    const struct oche_collective_place at = {
        .writer = out,
        .members = item->count == ALL ? NULL : lines->members + item->rank,
        .stride = 1,
        .index = task->index,
        .first_tag = item->first_tag,
        .cpu = lines->cpus};

    oche_collective_add(&of, &at, &place->begin, &place->end);
}

static void write_rank(const struct lines *lines, struct oche_goal_writer *out,
                       const struct program *program, uint32_t rank, struct place *places)
{
    for (size_t i = program->first[rank]; i < program->first[rank + 1]; i++) {
        const struct task *task = &program->list[i];
        const struct item *item = &lines->items[task->item];
        struct place *place = &places[task->item];

        write_item(lines, out, task, place);
        place->rank = rank;
        for (uint32_t k = 0; k < item->ends + item->starts; k++) {
            const struct place *before = &places[lines->deps[item->deps + k]];
            const bool start = k >= item->ends;

            if (before->rank == rank)
                oche_goal_write_edge(out, place->begin, start ? before->begin : before->end, start);
        }
    }
    oche_goal_write_rank(out, rank);
}

static bool write_all(struct lines *lines, struct oche_goal *goal)
{
    struct oche_goal_writer *out;
    struct program program;
    struct place *places;
    int file;

    if (!check_most(lines) || (out = oche_goal_write_begin(lines->ranks, lines->error)) == NULL)
        return false;
    program = program_of(lines);
    places = malloc(((size_t)lines->item_count + 1) * sizeof(*places));
    OCHE_GOT(places != NULL);
    for (uint32_t i = 0; i < lines->item_count; i++)
        places[i].rank = UINT32_MAX;
    for (uint32_t i = 0; i < lines->ranks; i++)
        write_rank(lines, out, &program, i, places);
    free(program.first);
    free(program.list);
    free(places);
    file = oche_goal_write_end(out, lines->error);
    return file >= 0 && oche_goal_adopt(goal, file, lines->path, lines->error);
}

/* ---- the file ---- */

/* True if the text is an object that begins with a key of an operation. */
static bool is_operation(const char *text)
{
    const char *at = text + 1;

    at += strspn(at, " \t\r\n");
    for (size_t i = 0; *at == '"' && i < OCHE_COUNT_OF(keys); i++) {
        const size_t length = strlen(keys[i]);

        if (strncmp(at + 1, keys[i], length) == 0 && at[1 + length] == '"')
            return true;
    }
    return *at != '"'; /* a wrong line, of which the reader says why */
}

bool oche_json_lines_is_one(const char *path)
{
    char head[HEAD_BYTES + 1];
    const char *at;

    head[oche_input_head(path, head, HEAD_BYTES)] = '\0';
    at = oche_schedule_behind_mark(head);
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            return *at == '{' && is_operation(at);
        at += strcspn(at, "\n");
    }
}

bool oche_json_lines_open(struct oche_goal *goal, const char *path,
                          const struct oche_schedule_reading *reading,
                          struct oche_schedule_file *about, struct oche_error *error)
{
    char shown[OCHE_ERROR_BYTES / 2];
    struct lines lines = {
        .path = shown, .error = error, .reading = reading, .others = &about->others};
    struct oche_error why;
    FILE *file = oche_input_stream(path, &why);
    bool good;

    about->eager = true;
    oche_printable(path, shown, sizeof(shown));
    if (file == NULL)
        return oche_fail(error, "%s: %s; a readable file", shown, why.text);
    good = read_lines(&lines, file) && write_all(&lines, goal);
    fclose(file);
    tdestroy(lines.names, free_name);
    free(lines.items);
    free(lines.members);
    free(lines.deps);
    free(lines.marks);
    return good;
}
