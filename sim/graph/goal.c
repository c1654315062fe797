/* SPDX-License-Identifier: Apache-2.0 */
/* Maps and checks a binary schedule; see goal.h. */
#include "sim/graph/goal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/input_file.h"
#include "params/printable.h"

#define HEAD_BYTES 4096 /* in which a text says what it is */

/* ---- fields ---- */

static uint32_t get32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

struct oche_goal_op oche_goal_op(const struct oche_goal_rank *rank, uint32_t number)
{
    const uint8_t *at = rank->ops + (size_t)number * OCHE_GOAL_OP_BYTES;

    return (struct oche_goal_op){
        .dependencies = get32(at),
        .type = at[4],
        .peer = get32(at + 5),
        .size = get64(at + 9),
        .tag = get32(at + 17),
        .cpu = at[21],
        .nic = at[22],
        .end_count = get32(at + 23),
        .end_first = get32(at + 27),
        .start_count = get32(at + 31),
        .start_first = get32(at + 35),
    };
}

uint32_t oche_goal_root(const struct oche_goal_rank *rank, uint32_t at)
{
    return get32(rank->root_list + (size_t)at * 4);
}

uint32_t oche_goal_successor(const struct oche_goal_rank *rank, uint32_t at)
{
    return get32(rank->successor_list + (size_t)at * 4);
}

const char *oche_goal_type_name(unsigned type)
{
    static const char *const names[] = {"?", "send", "recv", "calc"};

    return type < OCHE_COUNT_OF(names) ? names[type] : names[0];
}

/* ---- checks ---- */

/* The arguments of the checks of one rank. */
struct checking {
    struct oche_goal *goal;
    const char *path;
    uint32_t number; /* of the rank */
    struct oche_error *error;
};

static bool wrong(const struct checking *of, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(const struct checking *of, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return oche_fail(of->error, "%s: rank %u: %s", of->path, of->number, text);
}

static bool check_op(const struct checking *of, const struct oche_goal_rank *rank, uint32_t number)
{
    const struct oche_goal_op op = oche_goal_op(rank, number);

    if (op.type != OCHE_GOAL_SEND && op.type != OCHE_GOAL_RECV && op.type != OCHE_GOAL_CALC)
        return wrong(of, "operation %u has type %u; 1 sends, 2 receives, 3 calculates", number,
                     op.type);
    if (op.type != OCHE_GOAL_CALC && op.peer >= of->goal->ranks &&
        (op.type == OCHE_GOAL_SEND || op.peer != OCHE_GOAL_ANY))
        return wrong(of, "operation %u, a %s, names rank %u; ranks are 0 to %u", number,
                     oche_goal_type_name(op.type), op.peer, of->goal->ranks - 1);
    if (op.type == OCHE_GOAL_SEND && op.peer == of->number && !of->goal->to_self)
        return wrong(of, "operation %u sends to its own rank", number);
    if (op.type == OCHE_GOAL_SEND && op.tag == OCHE_GOAL_ANY)
        return wrong(of, "operation %u sends with any tag; only receives may", number);
    /* The head's numbers may be too small: txt2bin writes them before it has seen all ranks. */
    of->goal->cpus = op.cpu >= of->goal->cpus ? op.cpu + 1U : of->goal->cpus;
    of->goal->nics = op.nic >= of->goal->nics ? op.nic + 1U : of->goal->nics;
    if ((uint64_t)op.end_first + op.end_count > rank->successors ||
        (uint64_t)op.start_first + op.start_count > rank->successors)
        return wrong(of, "what waits for operation %u lies outside of the rank's list", number);
    return true;
}

/* Releases one dependency of an operation; adds it to the ready ones if it was the last. */
static bool release(const struct checking *of, const struct oche_goal_rank *rank, uint32_t number,
                    uint32_t *left, uint32_t *ready, uint32_t *ready_count)
{
    if (number >= rank->count)
        return wrong(of, "operation %u waits for another one, and there are only %u", number,
                     rank->count);
    if (left[number] == 0)
        return wrong(of, "operation %u waits for more operations than it says", number);
    if (--left[number] == 0)
        ready[(*ready_count)++] = number;
    return true;
}

/*
 * Goes through the operations as their dependencies allow. Each one must come; then no operations
 * wait for each other.
 */
static bool walk(const struct checking *of, const struct oche_goal_rank *rank, uint32_t *left,
                 uint32_t *ready)
{
    uint32_t ready_count = 0, done = 0, roots = 0;

    for (uint32_t i = 0; i < rank->count; i++) {
        if (!check_op(of, rank, i))
            return false;
        left[i] = oche_goal_op(rank, i).dependencies;
        roots += left[i] == 0;
    }
    if (roots != rank->roots)
        return wrong(of, "%u operations wait for nothing; the list of them has %u", roots,
                     rank->roots);
    for (uint32_t i = 0; i < roots; i++) {
        const uint32_t root = oche_goal_root(rank, i);

        if (root >= rank->count || left[root] != 0)
            return wrong(of, "operation %u is in the list of those that wait for nothing", root);
        left[root] = UINT32_MAX; /* in the list once */
        ready[ready_count++] = root;
    }
    for (; done < ready_count; done++) {
        const struct oche_goal_op op = oche_goal_op(rank, ready[done]);

        left[ready[done]] = 0;
        for (uint32_t i = 0; i < op.end_count; i++)
            if (!release(of, rank, oche_goal_successor(rank, op.end_first + i), left, ready,
                         &ready_count))
                return false;
        for (uint32_t i = 0; i < op.start_count; i++)
            if (!release(of, rank, oche_goal_successor(rank, op.start_first + i), left, ready,
                         &ready_count))
                return false;
    }
    for (uint32_t i = 0; done < rank->count && i < rank->count; i++)
        if (left[i] > 0)
            return wrong(of,
                         "%u operations wait for each other in a circle, or for one of those; "
                         "the first is operation %u, a %s",
                         rank->count - done, i, oche_goal_type_name(oche_goal_op(rank, i).type));
    return true;
}

static bool check_rank(const struct checking *of)
{
    const struct oche_goal_rank *rank = &of->goal->rank[of->number];
    uint32_t *left = malloc(2 * ((size_t)rank->count + 1) * sizeof(*left));
    bool right;

    OCHE_GOT(left != NULL);
    right = walk(of, rank, left, left + rank->count + 1);
    free(left);
    return right;
}

/* ---- the parts of the file ---- */

/* Finds the parts of a rank's block. Returns false if they do not fit into it. */
static bool find_parts(struct oche_goal *goal, uint32_t number)
{
    const uint8_t *row = goal->bytes + OCHE_GOAL_HEADER + (size_t)number * OCHE_GOAL_RANK_BYTES;
    const uint64_t begin = get64(row), end = get64(row + 8), length = goal->length;
    struct oche_goal_rank *rank = &goal->rank[number];
    const uint8_t *block;
    uint64_t fixed, whole;

    if (begin > end || end > length - OCHE_GOAL_OFFSET || end - begin < 8)
        return false;
    block = goal->bytes + OCHE_GOAL_OFFSET + begin;
    whole = end - begin;
    rank->count = get32(block);
    rank->roots = get32(block + 4);
    fixed = 8 + (uint64_t)rank->roots * 4 + (uint64_t)rank->count * OCHE_GOAL_OP_BYTES;
    if (rank->roots > rank->count || fixed > whole || (whole - fixed) % 4 != 0 ||
        (whole - fixed) / 4 > UINT32_MAX)
        return false;
    rank->root_list = block + 8;
    rank->ops = rank->root_list + (size_t)rank->roots * 4;
    rank->successor_list = rank->ops + (size_t)rank->count * OCHE_GOAL_OP_BYTES;
    rank->successors = (uint32_t)((whole - fixed) / 4);
    goal->operations += rank->count;
    return true;
}

static bool read_head(struct oche_goal *goal, const char *path, struct oche_error *error)
{
    if (goal->length < OCHE_GOAL_HEADER)
        return oche_fail(error, "%s: is no schedule: it has only %zu bytes", path, goal->length);
    goal->ranks = get32(goal->bytes + 8);
    goal->cpus = goal->bytes[12] + 1U; /* the head has the highest numbers */
    goal->nics = goal->bytes[13] + 1U;
    if (goal->ranks == 0 || goal->ranks > OCHE_GOAL_MOST_RANKS)
        return oche_fail(error, "%s: has %u ranks; 1 to %u are possible", path, goal->ranks,
                         OCHE_GOAL_MOST_RANKS);
    if (goal->length < OCHE_GOAL_HEADER + (uint64_t)goal->ranks * OCHE_GOAL_RANK_BYTES)
        return oche_fail(error, "%s: ends in the table of its %u ranks", path, goal->ranks);
    goal->rank = calloc(goal->ranks, sizeof(*goal->rank));
    OCHE_GOT(goal->rank != NULL);
    for (uint32_t i = 0; i < goal->ranks; i++) {
        const struct checking of = {.goal = goal, .path = path, .number = i, .error = error};

        if (!find_parts(goal, i))
            return wrong(&of, "its block does not fit into the file");
    }
    for (uint32_t i = 0; i < goal->ranks; i++) {
        const struct checking of = {.goal = goal, .path = path, .number = i, .error = error};

        if (!check_rank(&of))
            return false;
    }
    return true;
}

/* ---- the file ---- */

/* Maps the file of the descriptor, which it closes. */
static bool map(struct oche_goal *goal, int file, const char *path, struct oche_error *error)
{
    struct stat about;
    void *bytes = MAP_FAILED;

    if (fstat(file, &about) == 0 && about.st_size > 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return oche_fail(error, "%s: cannot be read: %s", path,
                         about.st_size == 0 ? "it is empty" : strerror(errno));
    goal->bytes = bytes;
    goal->length = (size_t)about.st_size;
    return true;
}

/* True if the file begins as a binary schedule does. */
static bool is_binary(int file)
{
    uint8_t cookie[8];

    return pread(file, cookie, sizeof(cookie), 0) == (ssize_t)sizeof(cookie) &&
           get64(cookie) == OCHE_GOAL_COOKIE;
}

/* Returns what is behind blanks and comments. */
static const char *behind_comments(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (strncmp(text, "//", 2) == 0)
            text += strcspn(text, "\n");
        else if (strncmp(text, "/*", 2) == 0 && strstr(text, "*/") != NULL)
            text = strstr(text, "*/") + 2;
        else
            return text;
    }
}

bool oche_goal_is_schedule(const char *path)
{
    char head[HEAD_BYTES + 1];
    const size_t count = oche_input_head(path, head, HEAD_BYTES);

    head[count] = '\0';
    return (count >= 8 && get64((const uint8_t *)head) == OCHE_GOAL_COOKIE) ||
           strncmp(behind_comments(head), "num_ranks", 9) == 0;
}

/* Maps and checks a binary schedule. */
static bool adopt(struct oche_goal *goal, int file, const char *name, bool to_self,
                  struct oche_error *error)
{
    *goal = (struct oche_goal){.to_self = to_self};
    if (map(goal, file, name, error) && read_head(goal, name, error))
        return true;
    oche_goal_close(goal);
    return false;
}

bool oche_goal_open(struct oche_goal *goal, const char *path, struct oche_error *error)
{
    struct oche_error why;
    char shown[OCHE_ERROR_BYTES / 2];
    int file = oche_input_open(path, &why);

    oche_printable(path, shown, sizeof(shown));
    if (file < 0)
        return oche_fail(error, "%s: %s", shown, why.text);
    if (!is_binary(file)) {
        close(file);
        file = oche_goal_translate(path, error);
        if (file < 0)
            return false;
    }
    return adopt(goal, file, shown, false, error);
}

bool oche_goal_adopt(struct oche_goal *goal, int file, const char *name, struct oche_error *error)
{
    return adopt(goal, file, name, true, error);
}

void oche_goal_close(struct oche_goal *goal)
{
    if (goal->bytes != NULL)
        munmap((void *)(uintptr_t)goal->bytes, goal->length);
    free(goal->rank);
    *goal = (struct oche_goal){.bytes = NULL};
}
