/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution traces of Chakra (mlcommons/chakra, schema 0.0.4 and later), as ASTRA-sim's Workload.cc
 * runs them: a file for each rank, NAME.RANK.et, with nodes that wait for each other. Compute nodes
 * take their duration on the GPU or the CPU, memory nodes on a stream of their own; others take no
 * time. Sends and receives are messages. Collective nodes are done by our algorithms. A node waits
 * for its data_deps.
 *
 * Differences: nodes of a rank whose dependencies are met communicate at the same time (ASTRA-sim:
 * one after the other), a duration of 0 takes no time (there: 1 ns), a broadcast is one, from the
 * first rank of the group (there it takes its duration), and a barrier is an all_reduce of a byte
 * for each rank.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "params/input_file.h"
#include "params/printable.h"
#include "sim/graph/chakra/trace.h"

enum { GPU, MESSAGES, CPU, MEMORY, NO_TIME }; /* streams */

#define ENDING ".et"

struct traces {
    struct oche_goal_writer *out;
    struct oche_chakra_groups *groups;
    const struct oche_schedule_reading *reading;
    uint32_t ranks, rank;
    unsigned others; /* as struct oche_schedule_file has it */
    uint64_t operations;
    uint32_t *end; /* by node of the rank: the operation that ends it */
    /* nodes of all ranks, for the remark */
    uint64_t untimed, launches, some_dims, memory, sends, broadcasts;
};

/* ---- files ---- */

/*
 * Returns the common beginning of the files' names, malloc'd, without ".RANK.et". NULL: the path is
 * not that of a trace. `rank`: the number in the path, or 0.
 */
static char *prefix_of(const char *path, uint32_t *rank)
{
    const size_t length = strlen(path), ending = strlen(ENDING);
    size_t at = length;
    char *first = NULL, *prefix = strdup(path);
    bool is;

    OCHE_GOT(prefix != NULL);
    *rank = 0;
    if (length > ending && strcmp(path + length - ending, ENDING) == 0) {
        at = length - ending;
        while (at > 0 && path[at - 1] >= '0' && path[at - 1] <= '9')
            at--;
        if (at > 1 && path[at - 1] == '.' && length - ending - at - 1 < 9) {
            *rank = (uint32_t)strtoul(path + at, NULL, 10);
            prefix[at - 1] = '\0';
            return prefix;
        }
        free(prefix);
        return NULL;
    }
    OCHE_GOT(asprintf(&first, "%s.0" ENDING, path) > 0);
    is = !oche_input_is_regular(path) && oche_input_is_regular(first);
    free(first);
    if (is)
        return prefix;
    free(prefix);
    return NULL;
}

bool oche_chakra_is_trace(const char *path)
{
    uint32_t rank;
    char *prefix = prefix_of(path, &rank);

    free(prefix);
    return prefix != NULL;
}

char *oche_chakra_file(const char *path, uint32_t rank)
{
    uint32_t named;
    char *prefix = prefix_of(path, &named), *file = NULL;

    if (prefix == NULL)
        return NULL;
    OCHE_GOT(asprintf(&file, "%s.%u" ENDING, prefix, rank) > 0);
    free(prefix);
    if (oche_input_is_regular(file))
        return file;
    free(file);
    return NULL;
}

/* Returns the rank of a file "BASE.RANK.et", or UINT32_MAX. */
static uint32_t rank_of(const char *name, const char *base)
{
    const size_t length = strlen(base);
    char *end;
    unsigned long rank;

    if (strncmp(name, base, length) != 0 || name[length] != '.' || name[length + 1] < '0' ||
        name[length + 1] > '9')
        return UINT32_MAX;
    rank = strtoul(name + length + 1, &end, 10);
    return strcmp(end, ENDING) == 0 && rank < OCHE_GOAL_MOST_RANKS ? (uint32_t)rank : UINT32_MAX;
}

/* Counts the ranks: one more than the highest number of a file. */
static bool count_ranks(const char *prefix, uint32_t *ranks, struct oche_error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash == NULL ? prefix : slash + 1;
    char *folder = slash == NULL ? strdup(".") : strndup(prefix, (size_t)(slash - prefix) + 1);
    DIR *list = folder == NULL ? NULL : opendir(folder);
    const struct dirent *entry;

    free(folder);
    *ranks = 0;
    if (list == NULL)
        return oche_fail(error, "%s.0" ENDING ": the folder cannot be read: %s", prefix,
                         strerror(errno));
    while ((entry = readdir(list)) != NULL) {
        const uint32_t rank = rank_of(entry->d_name, base);

        if (rank != UINT32_MAX && rank >= *ranks)
            *ranks = rank + 1;
    }
    closedir(list);
    return *ranks > 0 || oche_fail(error, "%s.0" ENDING ": there is no such file", prefix);
}

/* ---- nodes ---- */

static uint32_t calculate(struct traces *t, uint64_t ns, uint8_t cpu)
{
    const struct oche_goal_op op = {.type = OCHE_GOAL_CALC, .size = ns, .cpu = cpu};

    return oche_goal_write_op(t->out, &op);
}

static bool add_message(struct traces *t, const struct oche_chakra_node *node, uint32_t *number,
                        struct oche_error *reason)
{
    const bool sends = node->type == OCHE_CHAKRA_SEND;
    const struct oche_goal_op op = {.type = sends ? OCHE_GOAL_SEND : OCHE_GOAL_RECV,
                                    .peer = (uint32_t)node->peer,
                                    .size = node->bytes,
                                    .tag = (uint32_t)node->tag,
                                    .cpu = MESSAGES};

    if (node->peer >= t->ranks || node->peer == t->rank)
        return oche_fail(reason, "node %" PRIu64 ": %s: %" PRId64 "; another rank, 0 to %u",
                         node->id, sends ? "comm_dst" : "comm_src", node->peer, t->ranks - 1);
    *number = oche_goal_write_op(t->out, &op);
    t->sends += sends;
    return true;
}

static bool add_collective(struct traces *t, const struct oche_chakra_node *node, uint32_t *begin,
                           uint32_t *end, struct oche_error *reason)
{
    struct oche_chakra_part part;
    struct oche_error why;

    if (!oche_chakra_groups_take(t->groups, node, t->reading, &t->others, &part, &why))
        return oche_fail(reason, "node %" PRIu64 ": %s", node->id, why.text);
    t->operations += oche_collective_most(&part.of);
    if (t->operations > oche_schedule_most(t->reading))
        return true;
    const struct oche_collective_place place = {.writer = t->out,
                                                .members = part.members,
                                                .index = part.index,
                                                .first_tag = part.tag,
                                                .cpu = MESSAGES};

    oche_collective_add(&part.of, &place, begin, end);
    t->some_dims += node->some_dims;
    t->broadcasts += node->operation == OCHE_BROADCAST;
    return true;
}

/* Adds the operations of a node, the first and the last of them. */
static bool add_node(struct traces *t, const struct oche_chakra_node *node, uint32_t *begin,
                     uint32_t *end, struct oche_error *reason)
{
    bool good = true;

    t->operations++;
    *begin = *end = 0;
    switch (node->type) {
    case OCHE_CHAKRA_NOTHING:
        *begin = *end = calculate(t, 0, NO_TIME);
        return true;
    case OCHE_CHAKRA_MEMORY:
        t->memory++;
        *begin = *end = calculate(t, node->ns, MEMORY);
        return true;
    case OCHE_CHAKRA_COMPUTE:
        t->untimed += node->untimed;
        t->launches += node->launch;
        *begin = *end = calculate(t, node->ns, node->on_cpu ? CPU : GPU);
        return true;
    case OCHE_CHAKRA_SEND:
    case OCHE_CHAKRA_RECEIVE:
        good = add_message(t, node, begin, reason);
        *end = *begin;
        return good;
    case OCHE_CHAKRA_COLLECTIVE:
        return add_collective(t, node, begin, end, reason);
    }
    return good;
}

static bool add_trace(struct traces *t, const struct oche_chakra_trace *trace,
                      struct oche_error *reason)
{
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct oche_chakra_node *node = &trace->nodes[trace->order[i]];
        uint32_t begin;

        if (!add_node(t, node, &begin, &t->end[trace->order[i]], reason))
            return false;
        t->operations += node->count;
        if (t->operations > oche_schedule_most(t->reading))
            return oche_fail(reason,
                             "with rank %u there are more than %" PRIu64 " operations and "
                             "dependencies in all; take fewer `chunks`",
                             t->rank, oche_schedule_most(t->reading));
        for (uint32_t k = 0; k < node->count; k++)
            oche_goal_write_edge(t->out, begin, t->end[node->deps[k]], false);
    }
    oche_goal_write_rank(t->out, t->rank);
    return true;
}

static bool add_rank(struct traces *t, const char *prefix, struct oche_error *error)
{
    struct oche_chakra_trace trace;
    struct oche_error why;
    char *path = NULL;
    bool good;

    OCHE_GOT(asprintf(&path, "%s.%u" ENDING, prefix, t->rank) > 0);
    if (access(path, F_OK) != 0) {
        oche_fail(error, "%s: is missing; there are files of ranks up to %u", path, t->ranks - 1);
        free(path);
        return false;
    }
    good =
        oche_chakra_trace_read(&trace, path, t->rank, t->reading->control_deps, t->groups, error);
    if (good) {
        t->end = malloc(((size_t)trace.count + 1) * sizeof(*t->end));
        OCHE_GOT(t->end != NULL);
        good = add_trace(t, &trace, &why) || oche_fail(error, "%s: %s", path, why.text);
        free(t->end);
        oche_chakra_trace_free(&trace);
    }
    free(path);
    return good;
}

static bool add_all(struct traces *t, const char *prefix, struct oche_error *error)
{
    struct oche_error why;

    if (t->reading->groups_file != NULL &&
        !oche_chakra_groups_read(t->groups, t->reading->groups_file, error))
        return false;
    for (t->rank = 0; t->rank < t->ranks; t->rank++)
        if (!add_rank(t, prefix, error))
            return false;
    return oche_chakra_groups_end(t->groups, &why) || oche_fail(error, "%s: %s", prefix, why.text);
}

static void remark(const struct traces *t, struct oche_schedule_file *about)
{
    if (t->sends > 0)
        oche_schedule_remark(about, "a send ends when it is acknowledged");
    if (t->memory > 0)
        oche_schedule_remark(about, "%" PRIu64 " memory nodes take their duration", t->memory);
    if (t->untimed > 0)
        oche_schedule_remark(about, "%" PRIu64 " compute nodes have no duration and take no time",
                             t->untimed);
    if (t->launches > 0)
        oche_schedule_remark(about,
                             "%" PRIu64 " communication nodes of CPUs, without a type, are taken "
                             "for computation",
                             t->launches);
    if (t->some_dims > 0)
        oche_schedule_remark(about, "involved_dim of %" PRIu64 " nodes is ignored", t->some_dims);
    if (t->broadcasts > 0)
        oche_schedule_remark(about, "broadcasts go from the first rank of their group");
    about->others = t->others;
    about->acknowledged = t->sends > 0;
    about->eager = true;
}

bool oche_chakra_open(struct oche_goal *goal, const char *path,
                      const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                      struct oche_error *error)
{
    struct traces t = {.reading = reading};
    uint32_t named;
    char *prefix = prefix_of(path, &named), shown[OCHE_ERROR_BYTES / 2];
    int file = -1;
    bool good;

    if (prefix == NULL)
        return oche_fail(error, "%s: is no trace; a file NAME.RANK" ENDING, path);
    oche_printable(path, shown, sizeof(shown));
    good = count_ranks(prefix, &t.ranks, error) &&
           (named < t.ranks || oche_fail(error, "%s: is missing; there are files of ranks up to %u",
                                         path, t.ranks - 1));
    if (good) {
        t.groups = oche_chakra_groups_create(t.ranks);
        t.out = oche_goal_write_begin(t.ranks, error);
        good = t.out != NULL && add_all(&t, prefix, error);
        if (good)
            file = oche_goal_write_end(t.out, error);
        else if (t.out != NULL)
            oche_goal_write_abort(t.out);
        oche_chakra_groups_free(t.groups);
    }
    free(prefix);
    if (file < 0 || !oche_goal_adopt(goal, file, shown, error))
        return false;
    remark(&t, about);
    return true;
}
