/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two binary trees (Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan, Parallel Computing 2009), each for half of the bytes. Ranks are in the first
 * tree in their order from left to right, so that every second one is a leaf; in the second tree
 * they are mirrored or, if their number is odd, shifted by one, so that leaves of one tree are
 * inside of the other. Chunks go up, summed with those of the children, and down again. For a
 * broadcast rank 0 gives both halves to the trees' roots, from where they go down.
 */
#include "sim/graph/collective/steps.h"

/* Returns the parent of node `at`, of 1 to `count` from left to right; 0: it is the root. */
static uint32_t parent_of(uint32_t at, uint32_t count)
{
    const uint32_t height = at & -at, above = (at - height) | height << 1;

    return above <= count ? above : at - height;
}

/* Returns the node that a rank is in a tree, and the other way round. */
static uint32_t node_of(uint32_t rank, uint32_t ranks, unsigned tree)
{
    if (tree == 0)
        return rank + 1;
    return ranks % 2 == 0 ? ranks - rank : (rank + 1) % ranks + 1;
}

static uint32_t rank_of(uint32_t node, uint32_t ranks, unsigned tree)
{
    if (tree == 0)
        return node - 1;
    return ranks % 2 == 0 ? ranks - node : (node + ranks - 2) % ranks;
}

/* Returns a rank's parent; OCHE_NO_STEP: it is the root. */
static uint32_t parent_rank(uint32_t rank, uint32_t ranks, unsigned tree)
{
    const uint32_t parent = parent_of(node_of(rank, ranks, tree), ranks);

    return parent == 0 ? OCHE_NO_STEP : rank_of(parent, ranks, tree);
}

/* A rank's place in a tree. */
struct place {
    uint32_t parent; /* OCHE_NO_STEP: none */
    uint32_t children[2];
    unsigned count; /* of children */
};

/* The children of a node are half as high as it is, or less where the tree ends. */
static struct place place_of(const struct oche_steps *steps, unsigned tree)
{
    const uint32_t ranks = steps->of->ranks, node = node_of(steps->rank, ranks, tree);
    uint32_t below = (node & -node) / 2;
    struct place place = {.parent = parent_rank(steps->rank, ranks, tree)};

    if (below == 0)
        return place;
    place.children[place.count++] = rank_of(node - below, ranks, tree);
    while (below > 0 && node + below > ranks)
        below /= 2;
    if (below > 0)
        place.children[place.count++] = rank_of(node + below, ranks, tree);
    return place;
}

/* Adds a chunk's way up. Returns what it waits for at the root, else OCHE_NO_STEP. */
static uint32_t add_up(struct oche_steps *steps, const struct place *place, uint64_t bytes,
                       uint32_t tag)
{
    uint32_t got[2] = {OCHE_NO_STEP, OCHE_NO_STEP};

    for (unsigned i = 0; i < place->count; i++)
        got[i] = oche_steps_receive(steps, place->children[i], bytes, tag, OCHE_NO_STEP);
    if (place->parent == OCHE_NO_STEP) {
        if (got[1] == OCHE_NO_STEP)
            return got[0];
        oche_steps_wait(steps, got[1], got[0]); /* so that both are awaited */
        return got[1];
    }
    const uint32_t send = oche_steps_send(steps, place->parent, bytes, tag, got[0]);

    oche_steps_wait(steps, send, got[1]);
    return OCHE_NO_STEP;
}

/* Adds a chunk's way down; `got`: what it waits for at the root. */
static void add_down(struct oche_steps *steps, const struct place *place, uint64_t bytes,
                     uint32_t tag, uint32_t got)
{
    if (place->parent != OCHE_NO_STEP)
        got = oche_steps_receive(steps, place->parent, bytes, tag, OCHE_NO_STEP);
    for (unsigned i = 0; i < place->count; i++)
        oche_steps_send(steps, place->children[i], bytes, tag, got);
}

/* Adds the way of a chunk of a broadcast from rank 0 to a tree's root. Returns as add_up does. */
static uint32_t add_to_root(struct oche_steps *steps, uint32_t root, uint64_t bytes, uint32_t tag)
{
    if (root == 0 || (steps->rank != 0 && steps->rank != root))
        return OCHE_NO_STEP;
    if (steps->rank != 0)
        return oche_steps_receive(steps, 0, bytes, tag, OCHE_NO_STEP);
    oche_steps_send(steps, root, bytes, tag, OCHE_NO_STEP);
    return OCHE_NO_STEP;
}

static uint32_t root_of(const struct oche_steps *steps, unsigned tree)
{
    uint32_t rank = 0, parent;

    while ((parent = parent_rank(rank, steps->of->ranks, tree)) != OCHE_NO_STEP)
        rank = parent;
    return rank;
}

void oche_tree_steps(struct oche_steps *steps)
{
    const uint32_t chunks = steps->of->chunks;
    const bool sums = steps->of->operation == OCHE_ALL_REDUCE;
    struct place place[2] = {place_of(steps, 0), place_of(steps, 1)};
    const uint32_t root[2] = {root_of(steps, 0), root_of(steps, 1)};

    for (uint32_t c = 0; c < chunks; c++)
        for (unsigned t = 0; t < 2; t++) {
            const uint64_t bytes =
                oche_part_bytes(oche_part_bytes(steps->of->bytes, t, 2), c, chunks);
            const uint32_t tag = 4 * c + 2 * t;
            const uint32_t got = sums ? add_up(steps, &place[t], bytes, tag)
                                      : add_to_root(steps, root[t], bytes, tag);

            add_down(steps, &place[t], bytes, tag + 1, got);
        }
}
