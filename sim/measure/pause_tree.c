/* SPDX-License-Identifier: Apache-2.0 */
/* The forest of PAUSEs; see the header. */
#include "sim/measure/pause_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "core/wire/packet.h"
#include "core/wire/pfc_frame.h"

#define MOST_NODES    (UINT32_C(1) << 18)
#define MOST_EPISODES (UINT32_C(1) << 20)
#define MOST_DEPTH    63
#define FIRST_GAP     (100 * OCHE_NS) /* `gap` after the first merge */
#define LARGEST_GAP   OCHE_SEC
#define NONE          UINT32_MAX

/* The history of holds of one class of a port. */
struct line {
    struct oche_pause_episode *episodes;
    uint32_t count, capacity;
    bool open;   /* the last hold has not ended */
    bool stored; /* the last hold is part of the last episode */
    oche_time open_from;
    uint32_t open_node;
};

struct oche_pause_tree {
    struct oche_pause_tree_config config;
    struct oche_pause_node *nodes;
    uint32_t count, capacity;
    uint32_t *table; /* hash table (open addressing) of nodes by parent, port and class */
    uint32_t table_size;
    struct line **lines; /* for each port, an array of lines, one per class; or NULL */
    uint32_t port_count, episodes;
    oche_time end;   /* when the run ended; OCHE_NEVER: not yet */
    oche_time delay; /* the longest time until a PAUSE takes effect */
    oche_time gap;   /* holds with the same cause are merged if the gap is at most this */
    uint64_t lost_episodes;
};

static void *must(void *memory)
{
    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for the forest of PAUSEs");
    return memory;
}

/*
 * Returns the time that passes after the peer of port `held` begins a PFC frame until the port
 * obeys it.
 */
static oche_time delay_of(const struct oche_pause_tree *tree, uint32_t held)
{
    const struct oche_topology *topology = tree->config.topology;
    const struct oche_topology_link *link = &topology->links[topology->ports[held].link];
    bool is_host = oche_topology_node_of_port(topology, held) < topology->host_count;

    return oche_time_of_bytes(OCHE_MIN_FRAME_BYTES + OCHE_GAP_BYTES, link->rate_bps) + link->delay +
           (is_host ? tree->config.host_response : tree->config.switch_response);
}

struct oche_pause_tree *oche_pause_tree_create(const struct oche_pause_tree_config *config)
{
    struct oche_pause_tree *tree = must(calloc(1, sizeof(*tree)));
    const struct oche_topology *topology = config->topology;
    uint32_t last = oche_topology_nodes(topology) - 1;

    tree->config = *config;
    if (tree->config.most_nodes == 0)
        tree->config.most_nodes = MOST_NODES;
    if (tree->config.most_episodes == 0)
        tree->config.most_episodes = MOST_EPISODES;
    tree->port_count = topology->nodes[last].first_port + topology->nodes[last].port_count;
    tree->lines = must(calloc(tree->port_count, sizeof(*tree->lines)));
    tree->end = OCHE_NEVER;
    for (uint32_t p = 0; p < tree->port_count; p++)
        tree->delay = delay_of(tree, p) > tree->delay ? delay_of(tree, p) : tree->delay;
    return tree;
}

void oche_pause_tree_free(struct oche_pause_tree *tree)
{
    if (tree == NULL)
        return;
    for (uint32_t p = 0; p < tree->port_count; p++)
        for (unsigned cls = 0; tree->lines[p] != NULL && cls < OCHE_CLASSES; cls++)
            free(tree->lines[p][cls].episodes);
    for (uint32_t p = 0; p < tree->port_count; p++)
        free(tree->lines[p]);
    free(tree->lines);
    free(tree->nodes);
    free(tree->table);
    free(tree);
}

/* ---- nodes ---- */

static uint32_t place_of(const struct oche_pause_tree *tree, uint32_t parent, uint32_t port,
                         unsigned cls)
{
    uint64_t key = oche_mix64((uint64_t)parent << 32 | port) + cls;
    uint32_t at = (uint32_t)oche_mix64(key) & (tree->table_size - 1);

    while (tree->table[at] != NONE) {
        const struct oche_pause_node *node = &tree->nodes[tree->table[at]];

        if (node->parent == parent && node->port == port && node->cls == cls)
            break;
        at = (at + 1) & (tree->table_size - 1);
    }
    return at;
}

/* Makes room for one more node; the table stays at most half full. */
static void grow(struct oche_pause_tree *tree)
{
    if (tree->count < tree->capacity)
        return;
    tree->capacity = tree->capacity == 0 ? 64 : tree->capacity * 2;
    tree->nodes = must(realloc(tree->nodes, tree->capacity * sizeof(*tree->nodes)));
    tree->table_size = 2 * tree->capacity;
    tree->table = must(realloc(tree->table, tree->table_size * sizeof(*tree->table)));
    memset(tree->table, 0xff, tree->table_size * sizeof(*tree->table));
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct oche_pause_node *node = &tree->nodes[i];

        tree->table[place_of(tree, node->parent, node->port, node->cls)] = i;
    }
}

/*
 * Returns the child of `parent` for that port and class, created if it is new; NONE if there are
 * too many nodes.
 */
static uint32_t find_node(struct oche_pause_tree *tree, uint32_t parent, uint32_t port,
                          unsigned cls)
{
    const struct oche_pause_node *above = parent == NONE ? NULL : &tree->nodes[parent];
    /* One node is reserved for the root of unknown causes. */
    bool room = tree->count + (port != OCHE_NO_PORT) < tree->config.most_nodes &&
                (above == NULL || above->depth < MOST_DEPTH);

    grow(tree);
    uint32_t place = place_of(tree, parent, port, cls), number = tree->table[place];

    if (number != NONE || !room)
        return number;
    number = tree->table[place] = tree->count++;
    above = parent == NONE ? NULL : &tree->nodes[parent];
    tree->nodes[number] =
        (struct oche_pause_node){.parent = parent,
                                 .root = above == NULL ? number : above->root,
                                 .port = port,
                                 .cls = (uint8_t)cls,
                                 .depth = above == NULL ? 0 : (uint8_t)(above->depth + 1),
                                 .first = OCHE_NEVER};
    return number;
}

static uint32_t find_root(struct oche_pause_tree *tree, uint32_t port, unsigned cls)
{
    uint32_t root = find_node(tree, NONE, port, cls);

    return root != NONE ? root : find_node(tree, NONE, OCHE_NO_PORT, 0);
}

/*
 * Returns the node for a hold of `port` below `parent`. If the path from the root to `parent` has a
 * node of this port, returns that node, so that ports that wait for each other in a cycle do not
 * make an endless path. If there are too many nodes, returns the nearest node above, where the hold
 * is then counted.
 */
static uint32_t find_child(struct oche_pause_tree *tree, uint32_t parent, uint32_t port,
                           unsigned cls, bool *deeper)
{
    uint32_t child = parent;

    *deeper = false;
    while (tree->nodes[child].depth > 0 &&
           !(tree->nodes[child].port == port && tree->nodes[child].cls == cls))
        child = tree->nodes[child].parent;
    if (tree->nodes[child].depth > 0) {
        tree->nodes[child].returns = true;
        return child;
    }
    child = find_node(tree, parent, port, cls);
    *deeper = child == NONE;
    return *deeper ? parent : child;
}

/* ---- episodes ---- */

static struct line *line_of(struct oche_pause_tree *tree, uint32_t port, unsigned cls)
{
    if (tree->lines[port] == NULL)
        tree->lines[port] = must(calloc(OCHE_CLASSES, sizeof(**tree->lines)));
    return &tree->lines[port][cls];
}

static void merge_line(struct oche_pause_tree *tree, struct line *line)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < line->count; i++) {
        struct oche_pause_episode *last = &line->episodes[kept], *next = &line->episodes[i];

        if (last->node == next->node && next->from - last->until <= tree->gap) {
            last->until = next->until;
            last->held += next->held;
            tree->episodes--;
        } else {
            line->episodes[++kept] = *next;
        }
    }
    if (line->count > 0)
        line->count = kept + 1;
}

/*
 * Called when there are too many episodes: merges neighbours, across ever larger gaps, until at
 * most half of the allowed number is left.
 */
static void merge(struct oche_pause_tree *tree)
{
    while (tree->episodes > tree->config.most_episodes / 2 && tree->gap < LARGEST_GAP) {
        tree->gap = tree->gap == 0 ? FIRST_GAP : tree->gap * 4;
        for (uint32_t p = 0; p < tree->port_count; p++)
            for (unsigned cls = 0; tree->lines[p] != NULL && cls < OCHE_CLASSES; cls++)
                merge_line(tree, &tree->lines[p][cls]);
    }
}

/*
 * Begins a hold. If its cause and the gap allow, the last episode goes on; else a new one begins.
 */
static void begin_episode(struct oche_pause_tree *tree, struct line *line, oche_time from,
                          uint32_t node)
{
    struct oche_pause_episode *last = line->count > 0 ? &line->episodes[line->count - 1] : NULL;

    line->stored = last != NULL && last->node == node && from - last->until <= tree->gap;
    if (line->stored)
        return;
    if (tree->episodes == tree->config.most_episodes)
        merge(tree);
    if (tree->episodes == tree->config.most_episodes) {
        tree->lost_episodes++;
        return;
    }
    if (line->count == line->capacity) {
        line->capacity = line->capacity == 0 ? 8 : line->capacity * 2;
        line->episodes = must(realloc(line->episodes, line->capacity * sizeof(*line->episodes)));
    }
    line->episodes[line->count++] =
        (struct oche_pause_episode){.from = from, .until = from, .node = node};
    line->stored = true;
    tree->episodes++;
}

/*
 * Returns the node of the newest hold of this port and class that began no later than `now`, or
 * NONE if there is none. That hold still lasts or has just ended.
 */
static uint32_t reason_of(const struct oche_pause_tree *tree, uint32_t port, unsigned cls,
                          oche_time now)
{
    const struct line *line = tree->lines[port] == NULL ? NULL : &tree->lines[port][cls];

    for (uint32_t i = line == NULL ? 0 : line->count; i > 0; i--)
        if (line->episodes[i - 1].from <= now)
            return line->episodes[i - 1].node;
    return NONE;
}

/* ---- notes ---- */

static void widen(struct oche_pause_node *node, oche_time from, oche_time until)
{
    node->first = oche_time_min(node->first, from);
    node->last = until > node->last ? until : node->last;
}

static void end_hold(struct oche_pause_tree *tree, struct line *line, oche_time until)
{
    struct oche_pause_episode *last = line->stored ? &line->episodes[line->count - 1] : NULL;
    struct oche_pause_node *node = &tree->nodes[line->open_node];
    oche_time from = line->open_from > tree->config.from ? line->open_from : tree->config.from;

    line->open = false;
    if (last != NULL && until > line->open_from) {
        last->held += until - line->open_from;
        last->until = until;
    }
    if (until <= from)
        return;
    node->held += until - from;
    widen(node, from, until);
}

static void begin_hold(struct oche_pause_tree *tree, const struct oche_pause_note *note,
                       uint32_t port, oche_time from)
{
    struct line *line = line_of(tree, port, note->cls);
    uint32_t parent = NONE;
    bool deeper;

    if (note->held && note->cause != OCHE_NO_PORT)
        parent = reason_of(tree, note->cause, note->cause_cls, note->time);
    if (parent == NONE)
        parent = find_root(tree, note->cause, note->cause_cls);
    uint32_t number = find_child(tree, parent, port, note->cls, &deeper);
    struct oche_pause_node *node = &tree->nodes[number];

    if (note->time >= tree->config.from) {
        node->pauses++;
        node->deeper += deeper;
    }
    if (line->open) /* the note of its RESUME is missing */
        end_hold(tree, line, from);
    begin_episode(tree, line, from, number);
    line->open = true;
    line->open_from = from;
    line->open_node = number;
}

void oche_pause_tree_note(struct oche_pause_tree *tree, const struct oche_pause_note *note)
{
    uint32_t held = oche_topology_far_port(tree->config.topology, note->port);
    oche_time effect = oche_time_min(oche_time_add(note->time, delay_of(tree, held)), tree->end);
    struct line *line = line_of(tree, held, note->cls);

    if (note->on)
        begin_hold(tree, note, held, effect);
    else if (line->open)
        end_hold(tree, line, effect);
}

oche_time oche_pause_tree_delay(const struct oche_pause_tree *tree)
{
    return tree->delay;
}

void oche_pause_tree_end(struct oche_pause_tree *tree, oche_time now)
{
    tree->end = now;
}

void oche_pause_tree_finish(struct oche_pause_tree *tree)
{
    for (uint32_t p = 0; p < tree->port_count; p++)
        for (unsigned cls = 0; tree->lines[p] != NULL && cls < OCHE_CLASSES; cls++)
            if (tree->lines[p][cls].open)
                end_hold(tree, &tree->lines[p][cls], tree->end);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct oche_pause_node *node = &tree->nodes[i];
        struct oche_pause_node *root = &tree->nodes[node->root];

        if (node->depth == 0 || (node->held == 0 && node->pauses == 0))
            continue;
        root->pauses += node->pauses;
        root->held += node->held;
        root->ports++;
        widen(root, node->first, node->last);
    }
}

/* ---- reading ---- */

const struct oche_pause_node *oche_pause_tree_nodes(const struct oche_pause_tree *tree,
                                                    uint32_t *count)
{
    *count = tree->count;
    return tree->nodes;
}

const struct oche_pause_episode *oche_pause_tree_episodes(const struct oche_pause_tree *tree,
                                                          uint32_t port, unsigned cls,
                                                          uint32_t *count)
{
    const struct line *line = tree->lines[port] == NULL ? NULL : &tree->lines[port][cls];

    *count = line == NULL ? 0 : line->count;
    return line == NULL ? NULL : line->episodes;
}

uint64_t oche_pause_tree_lost_episodes(const struct oche_pause_tree *tree)
{
    return tree->lost_episodes;
}

/* A node to be sorted by parent, then by held time, longest first. */
struct ranked {
    const struct oche_pause_node *node;
    uint32_t number;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->node->parent != y->node->parent)
        return x->node->parent < y->node->parent ? -1 : 1;
    if (x->node->held != y->node->held)
        return x->node->held > y->node->held ? -1 : 1;
    if (x->node->pauses != y->node->pauses)
        return x->node->pauses > y->node->pauses ? -1 : 1;
    if (x->node->port != y->node->port)
        return x->node->port < y->node->port ? -1 : 1;
    return x->node->cls < y->node->cls ? -1 : x->node->cls > y->node->cls;
}

/*
 * Appends the children of `parent`, each followed by its branches, to `order`. The children begin
 * at ranked[at].
 */
static uint32_t append(const struct ranked *ranked, uint32_t count, const uint32_t *first,
                       uint32_t parent, uint32_t at, uint32_t *order, uint32_t filled)
{
    for (; at < count && ranked[at].node->parent == parent; at++) {
        uint32_t number = ranked[at].number;

        order[filled++] = number;
        if (first[number] != NONE)
            filled = append(ranked, count, first, number, first[number], order, filled);
    }
    return filled;
}

/*
 * Returns an array with one entry per node: true if the node, or a node below it, was held or has
 * PAUSEs in the measured time.
 */
static bool *find_used(const struct oche_pause_tree *tree)
{
    bool *used = must(calloc(tree->count + 1, sizeof(*used)));

    for (uint32_t i = tree->count; i > 0; i--) {
        const struct oche_pause_node *node = &tree->nodes[i - 1];

        used[i - 1] |= node->held > 0 || node->pauses > 0;
        if (used[i - 1] && node->parent != NONE)
            used[node->parent] = true;
    }
    return used;
}

uint32_t oche_pause_tree_order(const struct oche_pause_tree *tree, uint32_t *order)
{
    struct ranked *ranked = must(calloc(tree->count + 1, sizeof(*ranked)));
    uint32_t *first = must(malloc((tree->count + 1) * sizeof(*first)));
    bool *used = find_used(tree);
    uint32_t count = 0, roots = NONE;

    for (uint32_t i = 0; i < tree->count; i++)
        if (used[i])
            ranked[count++] = (struct ranked){.node = &tree->nodes[i], .number = i};
    qsort(ranked, count, sizeof(*ranked), compare_ranked);
    memset(first, 0xff, (tree->count + 1) * sizeof(*first));
    for (uint32_t i = count; i > 0; i--) {
        uint32_t parent = ranked[i - 1].node->parent;

        if (parent == NONE)
            roots = i - 1;
        else
            first[parent] = i - 1;
    }
    uint32_t filled = roots == NONE ? 0 : append(ranked, count, first, NONE, roots, order, 0);

    OCHE_MUST(filled == count);
    free(used);
    free(first);
    free(ranked);
    return filled;
}
