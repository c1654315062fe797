/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of a rank; see trace.h. */
#include "sim/graph/chakra/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "sim/graph/chakra/frames.h"

/* ---- the file ---- */

static void add_node(struct oche_chakra_trace *trace, const struct oche_chakra_node *node)
{
    if (trace->count == trace->room) {
        trace->room = trace->room == 0 ? 64 : 2 * trace->room;
        trace->nodes = realloc(trace->nodes, trace->room * sizeof(*trace->nodes));
        OCHE_GOT(trace->nodes != NULL);
    }
    trace->nodes[trace->count++] = *node;
}

/* Reads the node of a message, and the groups that it defines. */
static bool take_node(struct oche_chakra_trace *trace, const struct oche_chakra_frames *frames,
                      uint32_t rank, struct oche_chakra_groups *groups, struct oche_error *reason)
{
    struct oche_chakra_node node;
    struct oche_error why;

    if (!oche_chakra_node(frames->bytes, frames->count, rank, &node, reason))
        return false;
    add_node(trace, &node);
    if (node.groups == NULL || oche_chakra_groups_define(groups, node.groups, &why))
        return true;
    return oche_fail(reason, "node %" PRIu64 ": %s", node.id, why.text);
}

static bool read_file(struct oche_chakra_trace *trace, const char *path, uint32_t rank,
                      struct oche_chakra_groups *groups, struct oche_error *error)
{
    struct oche_chakra_frames frames;
    enum oche_chakra_frame frame;
    struct oche_error why;
    bool good = true;

    if (!oche_chakra_frames_open(&frames, path, error))
        return false;
    frame = oche_chakra_frames_next(&frames, error);
    if (frame == OCHE_CHAKRA_END)
        good = oche_fail(error, "%s: is empty; a trace of Chakra", path);
    for (bool head = true; good && frame == OCHE_CHAKRA_FRAME;) {
        good = head ? oche_chakra_head(frames.bytes, frames.count, &why)
                    : take_node(trace, &frames, rank, groups, &why);
        head = false;
        if (!good)
            oche_fail(error, "%s: byte %" PRIu64 ": %s", path, frames.at, why.text);
        else if (trace->count > OCHE_SCHEDULE_MOST_OPS)
            good =
                oche_fail(error, "%s: more than %" PRIu64 " nodes", path, OCHE_SCHEDULE_MOST_OPS);
        else
            frame = oche_chakra_frames_next(&frames, error);
    }
    oche_chakra_frames_close(&frames);
    return good && frame != OCHE_CHAKRA_WRONG;
}

/* ---- dependencies ---- */

static int compare_ids(const void *left, const void *right)
{
    const struct oche_chakra_node *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* Replaces ids by indices, for the first `count` dependencies of a node. */
static bool find_deps(struct oche_chakra_trace *trace, struct oche_chakra_node *node,
                      struct oche_error *reason)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_chakra_node wanted = {.id = node->deps[i]};
        const struct oche_chakra_node *found =
            bsearch(&wanted, trace->nodes, trace->count, sizeof(wanted), compare_ids);

        if (found == NULL)
            return oche_fail(reason,
                             "node %" PRIu64 " waits for node %" PRIu64 ", which is not in the "
                             "file",
                             node->id, wanted.id);
        node->deps[i] = (uint64_t)(found - trace->nodes);
    }
    return true;
}

static bool connect(struct oche_chakra_trace *trace, bool control, struct oche_error *reason)
{
    if (trace->count > 0)
        qsort(trace->nodes, trace->count, sizeof(*trace->nodes), compare_ids);
    for (uint32_t i = 1; i < trace->count; i++)
        if (trace->nodes[i].id == trace->nodes[i - 1].id)
            return oche_fail(reason, "node %" PRIu64 " is there twice", trace->nodes[i].id);
    for (uint32_t i = 0; i < trace->count; i++) {
        struct oche_chakra_node *node = &trace->nodes[i];

        if (!control)
            node->count = node->data_count;
        if (!find_deps(trace, node, reason))
            return false;
    }
    return true;
}

/* ---- order ---- */

/* A heap of indices; the lowest is on top. */
struct heap {
    uint32_t *list, count;
};

static void push(struct heap *heap, uint32_t index)
{
    uint32_t at = heap->count++;

    for (; at > 0 && heap->list[(at - 1) / 2] > index; at = (at - 1) / 2)
        heap->list[at] = heap->list[(at - 1) / 2];
    heap->list[at] = index;
}

static uint32_t pop(struct heap *heap)
{
    const uint32_t top = heap->list[0], last = heap->list[--heap->count];
    uint32_t at = 0, child;

    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count && heap->list[child + 1] < heap->list[child])
            child++;
        if (heap->list[child] >= last)
            break;
        heap->list[at] = heap->list[child];
        at = child;
    }
    heap->list[at] = last;
    return top;
}

/* Which nodes wait for each node: those of node i are list[first[i] … first[i + 1]). */
struct waiting {
    size_t *first;
    uint32_t *list;
};

static struct waiting waiting_of(const struct oche_chakra_trace *trace)
{
    struct waiting waiting = {.first = calloc((size_t)trace->count + 2, sizeof(size_t))};

    OCHE_GOT(waiting.first != NULL);
    for (uint32_t i = 0; i < trace->count; i++)
        for (uint32_t k = 0; k < trace->nodes[i].count; k++)
            waiting.first[trace->nodes[i].deps[k] + 2]++;
    for (uint32_t i = 2; i < trace->count + 2; i++)
        waiting.first[i] += waiting.first[i - 1];
    waiting.list = malloc((waiting.first[trace->count + 1] + 1) * sizeof(*waiting.list));
    OCHE_GOT(waiting.list != NULL);
    for (uint32_t i = 0; i < trace->count; i++)
        for (uint32_t k = 0; k < trace->nodes[i].count; k++)
            waiting.list[waiting.first[trace->nodes[i].deps[k] + 1]++] = i;
    return waiting;
}

/* Orders the nodes. Returns how many there are in the order: all, unless some wait in a circle. */
static uint32_t order(struct oche_chakra_trace *trace, uint32_t *left)
{
    struct heap ready = {.list = malloc(((size_t)trace->count + 1) * sizeof(uint32_t))};
    struct waiting waiting = waiting_of(trace);
    uint32_t done = 0;

    OCHE_GOT(ready.list != NULL);
    for (uint32_t i = 0; i < trace->count; i++) {
        left[i] = trace->nodes[i].count;
        if (left[i] == 0)
            push(&ready, i);
    }
    while (ready.count > 0) {
        const uint32_t node = pop(&ready);

        trace->order[done++] = node;
        for (size_t i = waiting.first[node]; i < waiting.first[node + 1]; i++)
            if (--left[waiting.list[i]] == 0)
                push(&ready, waiting.list[i]);
    }
    free(ready.list);
    free(waiting.first);
    free(waiting.list);
    return done;
}

static bool put_in_order(struct oche_chakra_trace *trace, struct oche_error *reason)
{
    uint32_t *left = malloc(((size_t)trace->count + 1) * sizeof(*left)), done, first = 0;

    trace->order = malloc(((size_t)trace->count + 1) * sizeof(*trace->order));
    OCHE_GOT(left != NULL && trace->order != NULL);
    done = order(trace, left);
    while (done < trace->count && left[first] == 0)
        first++;
    free(left);
    return done == trace->count ||
           oche_fail(reason,
                     "%u nodes wait for each other in a circle, or for one of those; the first is "
                     "node %" PRIu64,
                     trace->count - done, trace->nodes[first].id);
}

/* ---- for callers ---- */

bool oche_chakra_trace_read(struct oche_chakra_trace *trace, const char *path, uint32_t rank,
                            bool control, struct oche_chakra_groups *groups,
                            struct oche_error *error)
{
    struct oche_error why;

    *trace = (struct oche_chakra_trace){.count = 0};
    oche_chakra_groups_rank(groups, rank);
    if (read_file(trace, path, rank, groups, error)) {
        if (connect(trace, control, &why) && put_in_order(trace, &why))
            return true;
        oche_fail(error, "%s: %s", path, why.text);
    }
    oche_chakra_trace_free(trace);
    return false;
}

void oche_chakra_trace_free(struct oche_chakra_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++)
        oche_chakra_node_free(&trace->nodes[i]);
    free(trace->nodes);
    free(trace->order);
    *trace = (struct oche_chakra_trace){.count = 0};
}
