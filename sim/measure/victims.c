/* SPDX-License-Identifier: Apache-2.0 */
/* Victims of PAUSEs; see the header. */
#include "sim/measure/victims.h"

#include <stdlib.h>

#define ROOTS 64 /* most foreign roots counted at one port; there are seldom two */

/* One port of a flow's path, during the flow's life. */
struct stretch {
    oche_time own, foreign;
    uint32_t root; /* the foreign root that held the port longest */
    oche_time root_held;
};

struct share {
    uint32_t root;
    oche_time held;
};

/* Returns how much of an episode's held time lies within [begun, ended), if it is spread evenly. */
static oche_time part_of(const struct oche_pause_episode *episode, oche_time begun, oche_time ended)
{
    oche_time from = episode->from > begun ? episode->from : begun;
    oche_time until = oche_time_min(episode->until, ended);

    if (until <= from)
        return 0;
    return (oche_time)((unsigned __int128)episode->held * (until - from) /
                       (episode->until - episode->from));
}

/* Returns the index of the first episode that ends after `time`; `count` if there is none. */
static uint32_t first_after(const struct oche_pause_episode *episodes, uint32_t count,
                            oche_time time)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (episodes[middle].until <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_on_way(const struct oche_walk *walk, uint32_t port)
{
    for (uint32_t i = 0; i < walk->count; i++)
        if (walk->ports[i] == port)
            return true;
    return false;
}

static void add_share(struct share *shares, unsigned *count, uint32_t root, oche_time held)
{
    unsigned at = 0;

    while (at < *count && shares[at].root != root)
        at++;
    if (at == *count) {
        if (at == ROOTS)
            return;
        shares[(*count)++] = (struct share){.root = root};
    }
    shares[at].held += held;
}

static void look(const struct oche_pause_tree *tree, const struct oche_walk *walk, uint32_t port,
                 unsigned cls, oche_time begun, oche_time ended, struct stretch *stretch)
{
    struct share shares[ROOTS];
    unsigned share_count = 0;
    uint32_t count, node_count;
    const struct oche_pause_node *nodes = oche_pause_tree_nodes(tree, &node_count);
    const struct oche_pause_episode *episodes = oche_pause_tree_episodes(tree, port, cls, &count);

    *stretch = (struct stretch){.root = OCHE_NO_PAUSE_NODE};
    for (uint32_t i = first_after(episodes, count, begun); i < count && episodes[i].from < ended;
         i++) {
        uint32_t root = nodes[episodes[i].node].root;
        oche_time held = part_of(&episodes[i], begun, ended);

        if (nodes[root].port == OCHE_NO_PORT || is_on_way(walk, nodes[root].port)) {
            stretch->own += held;
        } else {
            stretch->foreign += held;
            add_share(shares, &share_count, root, held);
        }
    }
    for (unsigned s = 0; s < share_count; s++)
        if (shares[s].held > stretch->root_held ||
            (shares[s].held == stretch->root_held && shares[s].root < stretch->root)) {
            stretch->root = shares[s].root;
            stretch->root_held = shares[s].held;
        }
}

void oche_flow_pause_loss_of(const struct oche_pause_tree *tree, const struct oche_walk *walk,
                             unsigned cls, oche_time begun, oche_time ended, oche_time alone,
                             struct oche_flow_pause_loss *holds)
{
    oche_time longest_foreign = 0;

    *holds = (struct oche_flow_pause_loss){.root = OCHE_NO_PAUSE_NODE};
    if (ended <= begun)
        return;
    holds->life = ended - begun;
    for (uint32_t i = 0; i < walk->count; i++) {
        struct stretch stretch;

        look(tree, walk, walk->ports[i], cls, begun, ended, &stretch);
        if (stretch.own + stretch.foreign > holds->held)
            holds->held = stretch.own + stretch.foreign;
        if (stretch.own > holds->own)
            holds->own = stretch.own;
        if (stretch.foreign > longest_foreign) {
            longest_foreign = stretch.foreign;
            holds->root = stretch.root;
        }
    }
    holds->foreign = holds->held - holds->own;
    holds->lost = holds->foreign;
    if (holds->life < alone)
        holds->lost = 0;
    else if (holds->life - alone < holds->lost)
        holds->lost = holds->life - alone;
}

bool oche_flow_is_victim(const struct oche_flow_pause_loss *holds, double share)
{
    return holds->lost > 0 && (double)holds->lost >= share * (double)holds->life;
}
