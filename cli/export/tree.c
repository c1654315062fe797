/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fat tree of htsim that a topology is: hosts below ToRs in the order of their numbers,
 * pods of ToRs that lead to the same aggregation switches, and, with three tiers, aggregation
 * switches of a pod that share out the cores as those of every other pod do. A leaf-spine is a tree
 * of two tiers. Then chooses the numbers of the file so that htsim's own checks accept them
 * (sim/topology/htsim_topology.c has the same).
 */
#include "cli/export/tree.h"

#include <stdlib.h>
#include <string.h>

#include "params/figures.h"

enum level { HOST, TOR, AGG, CORE, LEVELS };

/* Properties that all nodes of a level have. */
struct shape {
    uint32_t count;          /* nodes */
    uint32_t ups, up_bundle; /* nodes above to which each is linked, and by how many cables each */
    uint32_t downs;          /* nodes below of each */
    const struct oche_topology_link *up_link; /* one to a node above; NULL: none */
};

struct finding {
    const struct oche_topology *topology;
    uint8_t *level; /* by node */
    /* nodes, level by level: ToRs in the order of their hosts */
    uint32_t *node[LEVELS];
    struct shape shape[LEVELS];
    uint32_t pod_tors; /* ToRs of a pod */
    struct oche_error *error;
};

static bool no_tree(const struct finding *of, const char *why)
{
    return oche_fail(of->error,
                     "topology: is no fat tree of htsim: %s; write --to hpcc, which has any "
                     "network",
                     why);
}

/* ---- levels ---- */

static void add_node(struct finding *of, enum level level, uint32_t node)
{
    of->level[node] = (uint8_t)level;
    of->node[level][of->shape[level].count++] = node;
}

static void find_levels(struct finding *of)
{
    const struct oche_topology *t = of->topology;

    memset(of->level, LEVELS, oche_topology_nodes(t));
    for (uint32_t h = 0; h < t->host_count; h++) {
        const uint32_t tor = oche_topology_port(t, h, 0)->peer;

        add_node(of, HOST, h);
        if (of->level[tor] == LEVELS)
            add_node(of, TOR, tor);
    }
    for (uint32_t i = 0; i < of->shape[TOR].count; i++)
        for (uint32_t p = 0; p < t->nodes[of->node[TOR][i]].port_count; p++) {
            const uint32_t peer = oche_topology_port(t, of->node[TOR][i], p)->peer;

            if (of->level[peer] == LEVELS)
                add_node(of, AGG, peer);
        }
    for (uint32_t n = t->host_count; n < oche_topology_nodes(t); n++)
        if (of->level[n] == LEVELS)
            add_node(of, CORE, n);
}

/* Counts a node's neighbours above and below. Returns false if others differ from its level's. */
static bool take_node(struct finding *of, enum level level, uint32_t node, bool first)
{
    const struct oche_topology *t = of->topology;
    struct shape *shape = &of->shape[level];
    struct shape found = {.up_link = shape->up_link};

    for (uint32_t p = 0; p < t->nodes[node].port_count; p++) {
        const struct oche_topology_link *link = oche_topology_port_link(t, node, p);
        const enum level peer = (enum level)of->level[oche_topology_port(t, node, p)->peer];
        uint32_t number, cables = oche_topology_parallel(t, node, p, &number);

        if (peer != level + 1 && peer + 1 != level)
            return no_tree(of, "a link is not between two tiers that follow one another");
        if (peer + 1 == level) {
            found.downs += number == 1;
            continue;
        }
        if (found.up_link == NULL)
            found.up_link = link;
        if (link->rate_bps != found.up_link->rate_bps || link->delay != found.up_link->delay)
            return no_tree(of, "links of a tier differ in rate or delay");
        if (found.ups > 0 && cables != found.up_bundle)
            return no_tree(of, "switches are linked by different numbers of cables");
        found.ups += number == 1;
        found.up_bundle = cables;
    }
    if (!first && (found.ups != shape->ups || found.up_bundle != shape->up_bundle ||
                   found.downs != shape->downs))
        return no_tree(of, "switches of a tier have different numbers of links");
    found.count = shape->count;
    *shape = found;
    return true;
}

static bool find_shapes(struct finding *of)
{
    for (unsigned level = HOST; level < LEVELS; level++)
        for (uint32_t i = 0; i < of->shape[level].count; i++)
            if (!take_node(of, (enum level)level, of->node[level][i], i == 0))
                return false;
    for (uint32_t h = 0; h < of->shape[HOST].count; h++)
        if (oche_topology_port(of->topology, h, 0)->peer != of->node[TOR][h / of->shape[TOR].downs])
            return no_tree(of, "hosts of a ToR have no numbers that follow one another");
    return true;
}

/* ---- pods ---- */

/* Marks a node's neighbours above with a number; returns how many had another mark before. */
static uint32_t mark_ups(const struct finding *of, uint32_t node, uint32_t mark, uint32_t *marks)
{
    uint32_t others = 0;

    for (uint32_t p = 0; p < of->topology->nodes[node].port_count; p++) {
        const uint32_t peer = oche_topology_port(of->topology, node, p)->peer;

        if (of->level[peer] != of->level[node] + 1)
            continue;
        others += marks[peer] != mark;
        marks[peer] = mark;
    }
    return others;
}

/* True if ToRs of a pod lead to the same switches. Finds how many ToRs a pod has. */
static bool find_pods(struct finding *of, uint32_t *marks)
{
    const uint32_t tors = of->shape[TOR].count;

    of->pod_tors = 1;
    mark_ups(of, of->node[TOR][0], 1, marks);
    while (of->pod_tors < tors && mark_ups(of, of->node[TOR][of->pod_tors], 1, marks) == 0)
        of->pod_tors++;
    if (tors % of->pod_tors != 0 || of->shape[AGG].downs != of->pod_tors)
        return no_tree(of, "its ToRs form no pods of equal size");
    for (uint32_t i = 0; i < tors; i++) {
        const uint32_t others = mark_ups(of, of->node[TOR][i], 2 + i / of->pod_tors, marks);

        if ((others > 0) != (i % of->pod_tors == 0))
            return no_tree(of, "ToRs of a pod have no numbers that follow one another");
    }
    return true;
}

/*
 * True if the aggregation switches of each pod share out the cores in the same way. `marks`: of
 * cores, which of the first pod's switches leads to it.
 */
static bool check_cores(const struct finding *of, uint32_t *marks)
{
    const uint32_t aggs = of->shape[TOR].ups, pods = of->shape[TOR].count / of->pod_tors;
    uint32_t *seen = calloc((size_t)aggs + 1, sizeof(*seen));
    bool good = of->shape[CORE].count == aggs * of->shape[AGG].ups;

    OCHE_GOT(seen != NULL);
    for (uint32_t i = 0; good && i < of->shape[AGG].count; i++) {
        const uint32_t node = of->node[AGG][i], pod = i / aggs;
        uint32_t mark = i + 1;

        if (pod > 0) {
            mark = 0;
            for (uint32_t p = 0; mark == 0 && p < of->topology->nodes[node].port_count; p++) {
                const uint32_t peer = oche_topology_port(of->topology, node, p)->peer;

                mark = of->level[peer] == CORE ? marks[peer] : 0;
            }
        }
        good = mark >= 1 && mark <= aggs && seen[mark] == pod &&
               (mark_ups(of, node, mark, marks) == 0 || pod == 0);
        if (mark <= aggs)
            seen[mark] = pod + 1;
    }
    for (uint32_t i = 1; good && i <= aggs; i++)
        good = seen[i] == pods;
    for (uint32_t i = 0; good && i < of->shape[CORE].count; i++)
        good = of->topology->nodes[of->node[CORE][i]].port_count == pods * of->shape[AGG].up_bundle;
    free(seen);
    return good || no_tree(of, "its cores are linked in another way than every aggregation switch "
                               "of a pod to cores of its own");
}

/* ---- the file's numbers ---- */

static bool take_links(struct oche_export_tier *tier, const struct finding *of, enum level below)
{
    const struct oche_topology_link *link = of->shape[below].up_link;

    tier->rate_bps = link->rate_bps;
    tier->delay = link->delay;
    tier->bundle = of->shape[below].up_bundle;
    if (tier->rate_bps % OCHE_GBPS != 0)
        return oche_fail(of->error, "topology: links of %s; htsim has whole Gbit/s",
                         oche_figure_rate(tier->rate_bps).text);
    if (tier->delay % OCHE_NS != 0)
        return oche_fail(of->error, "topology: a delay of %s; htsim has whole nanoseconds",
                         oche_figure_time(tier->delay).text);
    return true;
}

/*
 * Chooses the oversubscription of the ToRs and the number of downlinks of the tier above: htsim
 * computes from them how many aggregation switches there are.
 */
static bool choose_tor(struct oche_export_tree *tree, const struct finding *of, uint32_t aggs)
{
    struct oche_export_tier *tor = &tree->tier[0], *agg = &tree->tier[1];
    uint64_t down, up, pods = tree->hosts / tree->pod_hosts;

    tor->oversubscribed = tor->radix_down / tor->radix_up;
    if (tor->oversubscribed == 0)
        return no_tree(of, "a ToR has more uplinks than hosts, which htsim rejects");
    down = (uint64_t)tree->hosts * (tor->rate_bps / OCHE_GBPS);
    up = agg->rate_bps / OCHE_GBPS * tor->oversubscribed * pods * aggs;
    agg->radix_down = (uint32_t)(down / up);
    if (down % up != 0 || agg->radix_down == 0 || agg->radix_down % agg->bundle != 0)
        return no_tree(of, "rates and numbers of links do not fit htsim's rule that hosts x rate / "
                           "(rate of uplinks x oversubscription) fill the aggregation switches");
    return true;
}

static bool choose_agg(struct oche_export_tree *tree, const struct finding *of, uint32_t aggs)
{
    struct oche_export_tier *agg = &tree->tier[1], *core = &tree->tier[2];
    const uint64_t pods = tree->hosts / tree->pod_hosts, cores = of->shape[CORE].count;
    const uint64_t down = pods * aggs * agg->radix_down * (agg->rate_bps / OCHE_GBPS);
    const uint64_t rate = core->rate_bps / OCHE_GBPS;

    /* First the number of links that a core has. */
    core->radix_down = (uint32_t)(pods * core->bundle);
    agg->oversubscribed = (uint32_t)(down / (rate * cores * core->radix_down));
    if (agg->oversubscribed > 0 && down == rate * cores * core->radix_down * agg->oversubscribed)
        return true;
    agg->oversubscribed = 1;
    core->radix_down = (uint32_t)(down / (rate * cores));
    if (core->radix_down > 0 && core->radix_down % core->bundle == 0 &&
        down == rate * cores * core->radix_down)
        return true;
    return no_tree(of, "rates and numbers of links do not fit htsim's rule that the uplinks of "
                       "aggregation switches fill the cores");
}

/* A single switch: htsim has two tiers at least, so there is a spine without use. */
static bool make_star(struct oche_export_tree *tree, const struct finding *of)
{
    struct oche_export_tier *tor = &tree->tier[0], *spine = &tree->tier[1];

    *spine = *tor;
    tree->idle_spine = true;
    tree->tiers = 2;
    tor->radix_up = 1;
    return choose_tor(tree, of, 1);
}

static bool choose(struct oche_export_tree *tree, const struct finding *of)
{
    const uint32_t aggs = of->shape[TOR].ups;

    *tree = (struct oche_export_tree){.hosts = of->shape[HOST].count,
                                      .tiers = of->shape[CORE].count > 0 ? 3 : 2};
    tree->pod_hosts = of->pod_tors * of->shape[TOR].downs;
    if (!take_links(&tree->tier[0], of, HOST))
        return false;
    tree->tier[0].radix_down = of->shape[TOR].downs;
    if (aggs == 0)
        return make_star(tree, of);
    tree->tier[0].radix_up = aggs * of->shape[TOR].up_bundle;
    if (!take_links(&tree->tier[1], of, TOR) || !choose_tor(tree, of, aggs))
        return false;
    tree->tier[1].radix_up = of->shape[AGG].ups * of->shape[AGG].up_bundle;
    return tree->tiers == 2 || (take_links(&tree->tier[2], of, AGG) && choose_agg(tree, of, aggs));
}

static bool find(struct oche_export_tree *tree, struct finding *of)
{
    uint32_t *marks = calloc(oche_topology_nodes(of->topology), sizeof(*marks));
    bool good;

    OCHE_GOT(marks != NULL);
    find_levels(of);
    good = find_shapes(of);
    if (good && of->shape[TOR].ups > 0)
        good = find_pods(of, marks);
    else
        of->pod_tors = 1;
    if (good && of->shape[TOR].ups == 0 && of->shape[TOR].count > 1)
        good = no_tree(of, "its switches are not linked");
    if (good && of->shape[CORE].count > 0)
        good = check_cores(of, marks);
    else if (good && of->pod_tors != of->shape[TOR].count)
        good = no_tree(of, "its pods have no cores");
    free(marks);
    return good && choose(tree, of);
}

bool oche_export_tree_find(struct oche_export_tree *tree, const struct oche_topology *topology,
                           struct oche_error *error)
{
    struct finding of = {.topology = topology, .error = error};
    const size_t nodes = oche_topology_nodes(topology);
    bool good;

    of.level = malloc(nodes);
    OCHE_GOT(of.level != NULL);
    for (unsigned i = 0; i < LEVELS; i++) {
        of.node[i] = malloc(nodes * sizeof(**of.node));
        OCHE_GOT(of.node[i] != NULL);
    }
    good = find(tree, &of);
    for (unsigned i = 0; i < LEVELS; i++)
        free(of.node[i]);
    free(of.level);
    return good;
}

void oche_export_tree_print(const struct oche_export_tree *tree, FILE *out)
{
    fprintf(out, "# A fat tree of htsim, written by oche export.\n");
    if (tree->idle_spine)
        fprintf(out,
                "# A single switch: tier 1 is without use, as htsim has two tiers at least.\n");
    fprintf(out, "Nodes %u\nTiers %u\nPodsize %u\n", tree->hosts, tree->tiers, tree->pod_hosts);
    for (unsigned i = 0; i < tree->tiers; i++) {
        const struct oche_export_tier *tier = &tree->tier[i];

        fprintf(out, "Tier %u\nDownlink_speed_Gbps %llu\nDownlink_Latency_ns %llu\nRadix_Down %u\n",
                i, (unsigned long long)(tier->rate_bps / OCHE_GBPS),
                (unsigned long long)(tier->delay / OCHE_NS), tier->radix_down);
        if (i + 1 < tree->tiers)
            fprintf(out, "Radix_Up %u\n", tier->radix_up);
        if (tier->oversubscribed > 1)
            fprintf(out, "Oversubscribed %u\n", tier->oversubscribed);
        if (tier->bundle > 1)
            fprintf(out, "Bundle %u\n", tier->bundle);
    }
}
