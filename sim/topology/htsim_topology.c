/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htsim's fat trees (.topo), as uet-htsim reads them. A head, and then the tiers from the ToRs up:
 *
 *     Nodes 32
 *     Tiers 2
 *     Podsize 32
 *     Tier 0
 *     Downlink_speed_Gbps 100
 *     Downlink_Latency_ns 1000
 *     Radix_Down 8
 *     Radix_Up 4
 *     Oversubscribed 2
 *     Tier 1
 *     …
 *
 * A tier's downlinks are the uplinks of the tier below. Hosts are numbered from ToR to ToR. The
 * rules that numbers must obey are those of htsim (set_custom_params), and so is the wiring:
 * aggregation switch p of each pod leads to cores p, p + a, p + 2a, … with a of them in a pod.
 *
 * It differs in two ways. A switch's latency, which htsim adds between ingress and egress, is added
 * to the delays of its links, one half to each; so each path takes as long as in htsim. Sizes of
 * queues are not used, as a switch here has one buffer; a remark says so.
 */
#include <stdio.h>
#include <string.h>

#include "core/base.h"
#include "params/printable.h"
#include "sim/topology/file_links.h"

#define MOST_TIERS 3
#define MOST_VALUE 1000000000 /* of a number in the file; htsim has 31 bits */

enum key { SPEED, LATENCY, DOWN, UP, OVERSUBSCRIBED, BUNDLE, SWITCH_LATENCY, QUEUE_UP, QUEUE_DOWN };
#define KEYS (QUEUE_DOWN + 1)

static const char *const key_names[KEYS] = {[SPEED] = "Downlink_speed_Gbps",
                                            [LATENCY] = "Downlink_Latency_ns",
                                            [DOWN] = "Radix_Down",
                                            [UP] = "Radix_Up",
                                            [OVERSUBSCRIBED] = "Oversubscribed",
                                            [BUNDLE] = "Bundle",
                                            [SWITCH_LATENCY] = "Switch_Latency_ns",
                                            [QUEUE_UP] = "Queue_Up",
                                            [QUEUE_DOWN] = "Queue_Down"};

struct tier {
    unsigned line; /* 0: the file has no such tier */
    bool given[KEYS];
    uint64_t value[KEYS];
};

/* A fat tree: what the file says, and what follows from it. */
struct tree {
    struct oche_statements *file;
    uint64_t nodes, tiers, pod_size;
    struct tier tier[MOST_TIERS];
    uint64_t pods, tors, aggs, cores; /* tors and aggs: of a pod */
};

static bool fail_at(struct tree *tree, unsigned line, const char *key, const char *why)
{
    tree->file->line = line;
    return oche_statements_fail(tree->file, "%s: %s", key, why);
}

/* Reads the number behind a key, which is the line's only other word. */
static bool take_number(struct tree *tree, const char *key, uint64_t least, uint64_t most,
                        uint64_t *value)
{
    struct oche_statements *file = tree->file;

    if (file->word_count != 2)
        return oche_statements_fail(file, "%s: %u words; one number would be right", key,
                                    file->word_count - 1);
    if (!oche_text_count(file->words[1], value) || *value < least || *value > most)
        return oche_statements_fail(file, "%s: \"%.40s\"; a whole number from %llu to %llu", key,
                                    file->words[1], (unsigned long long)least,
                                    (unsigned long long)most);
    return true;
}

static bool read_head_line(struct tree *tree)
{
    const struct {
        const char *name;
        uint64_t *value, least, most;
    } keys[] = {{"Nodes", &tree->nodes, 2, OCHE_TOPOLOGY_MAX_NODES},
                {"Tiers", &tree->tiers, 2, MOST_TIERS},
                {"Podsize", &tree->pod_size, 1, OCHE_TOPOLOGY_MAX_NODES}};

    for (size_t i = 0; i < OCHE_COUNT_OF(keys); i++) {
        if (strcasecmp(tree->file->words[0], keys[i].name) != 0)
            continue;
        if (*keys[i].value != 0)
            return oche_statements_fail(tree->file, "%s: is there twice", keys[i].name);
        return take_number(tree, keys[i].name, keys[i].least, keys[i].most, keys[i].value);
    }
    return oche_statements_fail(tree->file, "%.40s: unknown; Nodes, Tiers, Podsize, then Tier 0",
                                tree->file->words[0]);
}

static bool read_tier_line(struct tree *tree, uint64_t tier)
{
    struct tier *of = &tree->tier[tier];
    unsigned key = 0;

    while (key < KEYS && strcasecmp(tree->file->words[0], key_names[key]) != 0)
        key++;
    if (key == KEYS)
        return oche_statements_fail(
            tree->file,
            "%.40s: unknown; Downlink_speed_Gbps, Downlink_Latency_ns, Radix_Down, Radix_Up, "
            "Oversubscribed, Bundle, Switch_Latency_ns, Queue_Up, Queue_Down",
            tree->file->words[0]);
    if (of->given[key])
        return oche_statements_fail(tree->file, "%s: is there twice in tier %llu", key_names[key],
                                    (unsigned long long)tier);
    of->given[key] = true;
    return take_number(tree, key_names[key], key == SWITCH_LATENCY ? 0 : 1, MOST_VALUE,
                       &of->value[key]);
}

/* Begins a tier: "Tier 0". */
static bool read_tier_begin(struct tree *tree, uint64_t *tier)
{
    if (tree->nodes == 0 || tree->tiers == 0 || tree->pod_size == 0)
        return oche_statements_fail(tree->file, "%s is missing above the first tier",
                                    tree->nodes == 0   ? "Nodes"
                                    : tree->tiers == 0 ? "Tiers"
                                                       : "Podsize");
    if (!take_number(tree, "Tier", 0, tree->tiers - 1, tier))
        return false;
    if (tree->tier[*tier].line != 0)
        return oche_statements_fail(tree->file, "Tier %llu: is there twice",
                                    (unsigned long long)*tier);
    tree->tier[*tier].line = tree->file->line;
    return true;
}

static bool read_file(struct tree *tree)
{
    uint64_t tier = MOST_TIERS;

    while (oche_statements_next(tree->file)) {
        bool good;

        if (strcasecmp(tree->file->words[0], "tier") == 0)
            good = read_tier_begin(tree, &tier);
        else if (tier == MOST_TIERS)
            good = read_head_line(tree);
        else
            good = read_tier_line(tree, tier);
        if (!good)
            return false;
    }
    if (tier != MOST_TIERS)
        return true;
    tree->file->line = 0;
    return oche_statements_fail(tree->file, "has no tiers; \"Tier 0\" and its keys come after "
                                            "Nodes, Tiers and Podsize");
}

/* Sets defaults, and checks that each tier has what it needs. */
static bool complete(struct tree *tree)
{
    static const enum key needed[] = {SPEED, LATENCY, DOWN, UP};

    for (unsigned i = 0; i < tree->tiers; i++) {
        struct tier *of = &tree->tier[i];
        const bool top = i + 1 == tree->tiers;

        if (of->line == 0) {
            tree->file->line = 0;
            return oche_statements_fail(tree->file, "there is no Tier %u, and Tiers is %llu", i,
                                        (unsigned long long)tree->tiers);
        }
        for (size_t k = 0; k < OCHE_COUNT_OF(needed) - top; k++)
            if (!of->given[needed[k]])
                return fail_at(tree, of->line, key_names[needed[k]], "is missing in this tier");
        if (top && (of->given[UP] || of->given[QUEUE_UP]))
            return fail_at(tree, of->line, key_names[of->given[UP] ? UP : QUEUE_UP],
                           "the top tier has no uplinks; leave it out");
        for (unsigned k = OVERSUBSCRIBED; k <= BUNDLE; k++)
            of->value[k] = of->given[k] ? of->value[k] : 1;
        if (of->value[SPEED] > 8000)
            return fail_at(tree, of->line, key_names[SPEED], "is above 8000, the fastest here");
    }
    return true;
}

/* Returns the bundle of a tier's uplinks: that of the downlinks of the tier above. */
static uint64_t bundle_up(const struct tree *tree, unsigned tier)
{
    return tree->tier[tier + 1].value[BUNDLE];
}

/* htsim's rules for the shape, in its order. Finds how many switches there are. */
static bool find_shape(struct tree *tree)
{
    const struct tier *tor = &tree->tier[0], *agg = &tree->tier[1], *core = &tree->tier[2];
    uint64_t uplinks, down_rate, up_rate;

    for (unsigned i = 0; i < tree->tiers; i++)
        if (tree->tier[i].value[DOWN] % tree->tier[i].value[BUNDLE] != 0 ||
            (i + 1 < tree->tiers && tree->tier[i].value[UP] % bundle_up(tree, i) != 0))
            return fail_at(tree, tree->tier[i].line, "Bundle",
                           "a radix is no multiple of its bundle");
    if (tor->value[BUNDLE] != 1)
        return fail_at(tree, tor->line, "Bundle", "a host has one link; 1 would be right");
    if (tree->nodes % tree->pod_size != 0)
        return fail_at(tree, 0, "Podsize", "Nodes is no multiple of it");
    if (tree->pod_size % tor->value[DOWN] != 0)
        return fail_at(tree, tor->line, "Radix_Down", "Podsize is no multiple of a ToR's hosts");
    tree->pods = tree->nodes / tree->pod_size;
    if (tree->tiers == 2 && tree->pods != 1)
        return fail_at(tree, 0, "Podsize", "two tiers are one pod; write as many as Nodes");
    tree->tors = tree->pod_size / tor->value[DOWN];
    if (tor->value[DOWN] / tor->value[UP] != tor->value[OVERSUBSCRIBED])
        return fail_at(tree, tor->line, "Oversubscribed",
                       "is not Radix_Down / Radix_Up, which htsim asks of tier 0");
    down_rate = tree->nodes * tor->value[SPEED];
    up_rate = agg->value[SPEED] * tor->value[OVERSUBSCRIBED];
    uplinks = down_rate / up_rate;
    if (down_rate % up_rate != 0 || uplinks == 0 || uplinks % (tree->pods * agg->value[DOWN]) != 0)
        return fail_at(tree, agg->line, "Radix_Down",
                       "Nodes x speed / (speed of the uplinks x Oversubscribed) uplinks do not "
                       "fill aggregation switches of that many links");
    tree->aggs = uplinks / (tree->pods * agg->value[DOWN]);
    if (tree->aggs * agg->value[BUNDLE] != tor->value[UP])
        return fail_at(tree, tor->line, "Radix_Up",
                       "is not the number of aggregation switches of a pod times their Bundle, "
                       "as their Radix_Down gives them");
    if (tree->tiers == 2)
        return true;
    down_rate = uplinks * agg->value[SPEED];
    up_rate = core->value[SPEED] * agg->value[OVERSUBSCRIBED];
    tree->cores = down_rate / up_rate / core->value[DOWN];
    if (down_rate % up_rate != 0 || down_rate / up_rate % core->value[DOWN] != 0 ||
        tree->cores == 0 || tree->cores % tree->aggs != 0)
        return fail_at(tree, core->line, "Radix_Down",
                       "the uplinks of the aggregation switches do not fill core switches of that "
                       "many links, a multiple of the aggregation switches of a pod");
    if (tree->cores * core->value[BUNDLE] / tree->aggs != agg->value[UP])
        return fail_at(tree, agg->line, "Radix_Up",
                       "is not the number of core switches over the aggregation switches of a "
                       "pod, times the cores' Bundle");
    return true;
}

/* Returns the links of the tree, of which tier 0's are those of the hosts. */
static uint64_t links_of(const struct tree *tree, unsigned tier)
{
    if (tier == 0)
        return tree->nodes;
    return tier == 1 ? tree->pods * tree->tors * tree->tier[0].value[UP]
                     : tree->pods * tree->aggs * tree->tier[1].value[UP];
}

/* True if nothing has more than we can build. */
static bool fits(struct tree *tree, uint64_t links)
{
    const uint64_t switches = tree->pods * (tree->tors + tree->aggs) + tree->cores;
    const uint64_t ports[] = {tree->tier[0].value[DOWN] + tree->tier[0].value[UP],
                              tree->tors * tree->tier[1].value[BUNDLE] +
                                  (tree->tiers == 3 ? tree->tier[1].value[UP] : 0),
                              tree->tiers == 3 ? tree->pods * tree->tier[2].value[BUNDLE] : 0};
    struct oche_error why;

    for (size_t i = 0; i < OCHE_COUNT_OF(ports); i++)
        if (!oche_topology_fits(tree->nodes, switches, links, ports[i], "Nodes", &why)) {
            tree->file->line = 0;
            return oche_statements_fail(tree->file, "%s", why.text);
        }
    return true;
}

/* Returns the rate of a tier's downlinks. */
static uint64_t rate_of(const struct tree *tree, unsigned tier)
{
    return tree->tier[tier].value[SPEED] * OCHE_GBPS;
}

/*
 * Returns the delay of a tier's downlinks, with half of the latency of the switches at their ends.
 */
static oche_time delay_of(const struct tree *tree, unsigned tier)
{
    const uint64_t below = tier == 0 ? 0 : tree->tier[tier - 1].value[SWITCH_LATENCY];

    return tree->tier[tier].value[LATENCY] * OCHE_NS +
           (tree->tier[tier].value[SWITCH_LATENCY] + below) * OCHE_NS / 2;
}

static bool check_delays(struct tree *tree)
{
    for (unsigned i = 0; i < tree->tiers; i++)
        if (delay_of(tree, i) > OCHE_SEC)
            return fail_at(tree, tree->tier[i].line, key_names[LATENCY],
                           "is more than a second, with half of the latency of switches");
    return true;
}

static void build(const struct tree *tree, struct oche_topology *topology)
{
    const uint32_t tors = (uint32_t)(tree->pods * tree->tors);
    const uint32_t aggs = (uint32_t)(tree->pods * tree->aggs), a = (uint32_t)tree->aggs;
    const uint32_t first_tor = (uint32_t)tree->nodes, first_agg = first_tor + tors;
    const uint32_t first_core = first_agg + aggs, hosts = (uint32_t)tree->tier[0].value[DOWN];
    const enum oche_node_kind middle = tree->tiers == 3 ? OCHE_NODE_AGGREGATION : OCHE_NODE_CORE;

    for (uint32_t i = 0; i < tors; i++) {
        const uint32_t pod = i / (uint32_t)tree->tors;

        oche_topology_name(topology, first_tor + i, OCHE_NODE_TOR, pod, "tor", i);
        oche_topology_hosts(topology, first_tor + i, i * hosts, hosts, pod, rate_of(tree, 0),
                            delay_of(tree, 0));
    }
    for (uint32_t i = 0; i < aggs; i++)
        oche_topology_name(topology, first_agg + i, middle, tree->tiers == 3 ? i / a : OCHE_NO_POD,
                           tree->tiers == 3 ? "agg" : "spine", i);
    for (uint32_t i = 0; i < tree->cores; i++)
        oche_topology_name(topology, first_core + i, OCHE_NODE_CORE, OCHE_NO_POD, "core", i);
    for (uint32_t i = 0; i < tors; i++)
        for (uint32_t k = 0; k < tree->tier[0].value[UP]; k++)
            oche_topology_link(topology, first_tor + i,
                               first_agg + i / (uint32_t)tree->tors * a +
                                   k / (uint32_t)bundle_up(tree, 0),
                               rate_of(tree, 1), delay_of(tree, 1));
    for (uint32_t i = 0; tree->tiers == 3 && i < aggs; i++)
        for (uint32_t k = 0; k < tree->tier[1].value[UP]; k++)
            oche_topology_link(topology, first_agg + i,
                               first_core + i % a + k / (uint32_t)bundle_up(tree, 1) * a,
                               rate_of(tree, 2), delay_of(tree, 2));
}

/* Says what is in the file and has no counterpart here. */
static void remark(const struct tree *tree, struct oche_topology *topology)
{
    bool queues = false, latencies = false;
    size_t used = 0;

    for (unsigned i = 0; i < tree->tiers; i++) {
        queues |= tree->tier[i].given[QUEUE_UP] || tree->tier[i].given[QUEUE_DOWN];
        latencies |= tree->tier[i].value[SWITCH_LATENCY] > 0;
    }
    if (queues)
        used = (size_t)snprintf(topology->remark, sizeof(topology->remark),
                                "Queue_Up and Queue_Down are not used, as a switch has one buffer: "
                                "set switch.buffer");
    if (latencies)
        snprintf(topology->remark + used, sizeof(topology->remark) - used,
                 "%shalf of a switch's Switch_Latency_ns is in the delay of each of its links",
                 used > 0 ? "; " : "");
}

static void summarise(const struct tree *tree, struct oche_topology *topology, const char *name)
{
    const uint64_t tor_down = tree->tier[0].value[DOWN] * rate_of(tree, 0);
    const uint64_t tor_up = tree->tier[0].value[UP] * rate_of(tree, 1);
    char path[101], switches[64], ratio[64];

    oche_printable(name, path, sizeof(path));
    snprintf(switches, sizeof(switches), "%llu ToR, %llu %s",
             (unsigned long long)(tree->pods * tree->tors),
             (unsigned long long)(tree->pods * tree->aggs),
             tree->tiers == 3 ? "aggregation" : "spine");
    if (tree->tiers == 3)
        snprintf(switches + strlen(switches), sizeof(switches) - strlen(switches), ", %llu core",
                 (unsigned long long)tree->cores);
    snprintf(topology->summary, sizeof(topology->summary),
             "from_file: %llu hosts, %s, ToR oversubscription %s, from %s",
             (unsigned long long)tree->nodes, switches,
             oche_topology_oversubscription(tor_down, tor_up, ratio, sizeof(ratio)), path);
}

bool oche_htsim_topology_begins(const struct oche_statements *file)
{
    static const char *const words[] = {"nodes", "tiers", "podsize"};

    for (size_t i = 0; i < OCHE_COUNT_OF(words); i++)
        if (strcasecmp(file->words[0], words[i]) == 0)
            return true;
    return false;
}

bool oche_htsim_topology_read(struct oche_statements *file, struct oche_topology *topology)
{
    struct tree tree = {.file = file};
    uint64_t links = 0;

    oche_statements_rewind(file);
    if (!read_file(&tree) || !complete(&tree) || !find_shape(&tree) || !check_delays(&tree))
        return false;
    for (unsigned i = 0; i < tree.tiers; i++)
        links += links_of(&tree, i);
    if (!fits(&tree, links) ||
        !oche_topology_begin(topology, tree.nodes, tree.pods * (tree.tors + tree.aggs) + tree.cores,
                             links, file->error))
        return false;
    build(&tree, topology);
    remark(&tree, topology);
    summarise(&tree, topology, file->path);
    return true;
}
