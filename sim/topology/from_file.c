/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology from a text file, with one statement per line; # begins a comment:
 *
 *     host NAME
 *     switch NAME [tor|aggregation|core]
 *     link NAME NAME 10Gbps 1us
 *
 * Hosts take addresses 0, 1, … in the order of their lines. A host has one link, to a switch. A
 * switch line without a tier makes a ToR if the switch has hosts, else an aggregation switch if the
 * switch is linked to a switch with hosts, else a core. Ports are numbered in the order of the link
 * lines. Every host must be able to reach every other host. The file is read three times: to count,
 * to name the nodes, and to link them.
 *
 * Files of two other programs are read, too: HPCC's (hpcc_topology.c) and htsim's
 * (htsim_topology.c).
 *
 * Random draws for nodes go by the order of names (sim/topology/name_order.c), so that the order of
 * host and switch lines decides nothing but these numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "params/units.h"
#include "params/printable.h"
#include "sim/topology/file_links.h"
#include "sim/topology/node_names.h"
#include "sim/topology/statements.h"
#include "sim/topology/types.h"

struct from_file {
    const char *file;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct from_file, file), OCHE_IS_TEXT,
     .help = "lines of \"host NAME\", \"switch NAME [tier]\", \"link NAME NAME 10Gbps 1us\"; or "
             "a topology of HPCC's ns-3 fork, or a fat tree of htsim (.topo)"},
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct from_file);

/* The values of a link line, parsed as a scenario's values are. */
struct link_values {
    uint64_t rate;
    oche_time delay;
};
static const struct oche_param rate_param = {OCHE_PARAM(struct link_values, rate),
                                             OCHE_IS_LINK_RATE(0), .help = "of the link"};
static const struct oche_param delay_param = {OCHE_PARAM(struct link_values, delay),
                                              OCHE_IS_LINK_DELAY(0), .help = "one way"};

static bool read_value(struct oche_statements *file, const struct oche_param *param,
                       const char *text, uint64_t *value)
{
    struct oche_error why;
    union oche_value parsed;

    if (!oche_value_parse(param, text, &parsed, &why)) {
        oche_statements_fail(file, "link: %s: %s", param->name, why.text);
        return false;
    }
    *value = parsed.u;
    return true;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length >= OCHE_TOPOLOGY_NAME_BYTES || (*name >= '0' && *name <= '9'))
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
           length;
}

static bool count_lines(struct oche_statements *file, uint32_t *hosts, uint32_t *switches,
                        uint32_t *links)
{
    *hosts = *switches = *links = 0;
    while (oche_statements_next(file)) {
        const char *verb = file->words[0];

        if (strcmp(verb, "host") == 0 && file->word_count == 2)
            (*hosts)++;
        else if (strcmp(verb, "switch") == 0 && (file->word_count == 2 || file->word_count == 3))
            (*switches)++;
        else if (strcmp(verb, "link") == 0 && file->word_count == 5)
            (*links)++;
        else if (strcmp(verb, "host") == 0)
            return oche_statements_fail(file, "host: %u words; \"host NAME\" would be right",
                                        file->word_count);
        else if (strcmp(verb, "switch") == 0)
            return oche_statements_fail(
                file, "switch: %s; \"switch NAME [tor|aggregation|core]\" would be right",
                file->word_count == 1 ? "no name" : "too many words");
        else if (strcmp(verb, "link") == 0)
            return oche_statements_fail(file,
                                        "link: %s; \"link NAME NAME 10Gbps 1us\" would be right",
                                        file->word_count < 5 ? "too few words" : "too many words");
        else
            return oche_statements_fail(
                file, "%.40s: unknown statement; \"host\", \"switch\" or \"link\"", verb);
        if (*hosts + *switches > OCHE_TOPOLOGY_MAX_NODES || *links > OCHE_TOPOLOGY_MAX_LINKS)
            return oche_statements_fail(file, "more than %u nodes, or than %u links",
                                        OCHE_TOPOLOGY_MAX_NODES, OCHE_TOPOLOGY_MAX_LINKS);
    }
    if (*hosts < 2)
        return oche_statements_fail(file, "host: %u in the file; at least 2 would be right",
                                    *hosts);
    if (*switches == 0)
        return oche_statements_fail(file, "switch: none in the file; hosts are linked to a switch");
    return true;
}

static bool read_tier(struct oche_statements *file, uint32_t *kind)
{
    const char *tier = file->words[2];

    if (file->word_count == 2)
        *kind = OCHE_TIER_BY_LINKS;
    else if (strcmp(tier, "tor") == 0)
        *kind = OCHE_NODE_TOR;
    else if (strcmp(tier, "aggregation") == 0)
        *kind = OCHE_NODE_AGGREGATION;
    else if (strcmp(tier, "core") == 0)
        *kind = OCHE_NODE_CORE;
    else
        return oche_statements_fail(
            file, "switch %s: tier \"%.40s\" is unknown; tor, aggregation or core", file->words[1],
            tier);
    return true;
}

static bool read_nodes(struct oche_statements *file, struct oche_topology *topology)
{
    uint32_t host = 0, sw = topology->host_count;

    while (oche_statements_next(file)) {
        bool is_host = strcmp(file->words[0], "host") == 0;
        uint32_t kind = OCHE_NODE_HOST;

        if (strcmp(file->words[0], "link") == 0)
            continue;
        if (!is_name(file->words[1]))
            return oche_statements_fail(
                file,
                "%s: \"%.40s\" is no name; up to %d letters, digits, _ - and ., not "
                "beginning with a digit",
                file->words[0], file->words[1], OCHE_TOPOLOGY_NAME_BYTES - 1);
        if (!is_host && !read_tier(file, &kind))
            return false;
        struct oche_topology_node *node = &topology->nodes[is_host ? host++ : sw++];
        memcpy(node->name, file->words[1], strlen(file->words[1]) + 1);
        node->kind = kind;
        node->pod = OCHE_NO_POD;
    }
    return true;
}

/* Fails with the line that has a name for the second time. */
static bool fail_twice(struct oche_statements *file, const char *name)
{
    char twice[OCHE_TOPOLOGY_NAME_BYTES];
    unsigned seen = 0;

    snprintf(twice, sizeof(twice), "%s", name);
    oche_statements_rewind(file);
    while (seen < 2 && oche_statements_next(file))
        seen += strcmp(file->words[0], "link") != 0 && strcmp(file->words[1], twice) == 0;
    return oche_statements_fail(file, "%s %s: there is a node of that name already", file->words[0],
                                twice);
}

/* True if no two nodes have the same name. */
static bool check_names(struct oche_statements *file, const struct oche_node_names *names)
{
    for (uint32_t n = 1; n < oche_topology_nodes(names->topology); n++)
        if (strcmp(names->sorted[n - 1], names->sorted[n]) == 0)
            return fail_twice(file, names->sorted[n]);
    return true;
}

bool oche_file_link(struct oche_statements *file, struct oche_topology *topology, uint32_t a,
                    uint32_t b, const char *rate, const char *delay)
{
    const struct oche_topology_node *ends[] = {&topology->nodes[a], &topology->nodes[b]};
    uint64_t rate_bps, delay_ps;

    for (unsigned i = 0; i < 2; i++)
        if (ends[i]->kind == OCHE_NODE_HOST && ends[i]->port_count > 0)
            return oche_statements_fail(file, "link: host %s has a link already; a host has one",
                                        ends[i]->name);
    if (a == b)
        return oche_statements_fail(file, "link: from %s to itself; two different nodes",
                                    ends[0]->name);
    if (ends[0]->kind == OCHE_NODE_HOST && ends[1]->kind == OCHE_NODE_HOST)
        return oche_statements_fail(file,
                                    "link: %s and %s are both hosts; a host is linked to a switch",
                                    ends[0]->name, ends[1]->name);
    if (!read_value(file, &rate_param, rate, &rate_bps) ||
        !read_value(file, &delay_param, delay, &delay_ps))
        return false;
    oche_topology_link(topology, a, b, rate_bps, delay_ps);
    return true;
}

static bool read_link(struct oche_statements *file, struct oche_topology *topology,
                      const struct oche_node_names *names)
{
    uint32_t ends[2];

    for (unsigned i = 0; i < 2; i++) {
        ends[i] = oche_node_names_find(names, file->words[1 + i]);
        if (ends[i] == UINT32_MAX)
            return oche_statements_fail(
                file, "link: no node is called \"%.40s\"; add a line \"switch %.40s\"",
                file->words[1 + i], file->words[1 + i]);
    }
    return oche_file_link(file, topology, ends[0], ends[1], file->words[3], file->words[4]);
}

/* Gives a tier to each switch whose line has none, and a pod to each ToR and its hosts. */
static void settle(struct oche_topology *topology)
{
    uint32_t first = topology->host_count, nodes = oche_topology_nodes(topology);

    for (uint32_t l = 0; l < topology->link_count; l++) {
        uint32_t a = topology->links[l].a, b = topology->links[l].b;
        uint32_t host = a < first ? a : b, sw = a < first ? b : a;

        if (host >= first)
            continue;
        topology->nodes[host].pod = topology->nodes[sw].pod = sw - first;
        if (topology->nodes[sw].kind == OCHE_TIER_BY_LINKS)
            topology->nodes[sw].kind = OCHE_NODE_TOR;
    }
    for (uint32_t n = first; n < nodes; n++) {
        struct oche_topology_node *node = &topology->nodes[n];
        bool near_hosts = false;

        if (node->kind != OCHE_TIER_BY_LINKS)
            continue;
        for (uint32_t p = 0; p < node->port_count; p++)
            near_hosts |=
                topology->nodes[oche_topology_port(topology, n, p)->peer].pod != OCHE_NO_POD;
        node->kind = near_hosts ? OCHE_NODE_AGGREGATION : OCHE_NODE_CORE;
    }
}

/* True if every node has a link and all nodes can be reached from the first host. */
static bool is_connected(struct oche_statements *file, const struct oche_topology *topology)
{
    uint32_t nodes = oche_topology_nodes(topology), count = 1;
    uint32_t *queue = calloc(nodes, sizeof(*queue));
    bool *seen = calloc(nodes, sizeof(*seen));
    bool good = true;

    if (queue == NULL || seen == NULL) {
        free(queue);
        free(seen);
        return oche_statements_fail(file, "no memory for %u nodes", nodes);
    }
    seen[0] = true; /* queue[0] is host 0 */
    for (uint32_t head = 0; head < count; head++)
        for (uint32_t p = 0; p < topology->nodes[queue[head]].port_count; p++) {
            uint32_t peer = oche_topology_port(topology, queue[head], p)->peer;

            if (!seen[peer])
                queue[count++] = peer;
            seen[peer] = true;
        }
    file->line = 0;
    for (uint32_t n = 0; n < nodes && good; n++)
        if (!seen[n])
            good = oche_statements_fail(file, "%s cannot be reached from %s; a link is missing",
                                        topology->nodes[n].name, topology->nodes[0].name);
    free(queue);
    free(seen);
    return good;
}

static bool read_links(struct oche_statements *file, struct oche_topology *topology)
{
    struct oche_node_names names = oche_node_names_sort(topology);
    bool good = check_names(file, &names);

    oche_statements_rewind(file);
    while (good && oche_statements_next(file))
        good = strcmp(file->words[0], "link") != 0 || read_link(file, topology, &names);
    oche_node_names_free(&names);
    return good;
}

/* Reads statements. */
static bool read_statements(struct oche_statements *file, struct oche_topology *topology,
                            uint32_t *links)
{
    uint32_t hosts, switches;

    if (!count_lines(file, &hosts, &switches, links) ||
        !oche_topology_begin(topology, hosts, switches, *links, file->error))
        return false;
    oche_statements_rewind(file);
    return read_nodes(file, topology) && read_links(file, topology);
}

/* Reads a fat tree of htsim, whose first line has been taken. */
static bool read_fat_tree(struct oche_statements *file, struct oche_topology *topology)
{
    return oche_htsim_topology_read(file, topology) && oche_topology_finish(topology, file->error);
}

/* Reads statements, or HPCC's topology, whose first line has been taken. */
static bool read_links_file(struct oche_statements *file, struct oche_topology *topology, bool hpcc)
{
    uint32_t links;
    bool more = false;
    char path[101];

    if (!hpcc)
        oche_statements_rewind(file);
    if (!(hpcc ? oche_hpcc_topology_read(file, topology, &links, &more)
               : read_statements(file, topology, &links)))
        return false;
    if (!oche_topology_finish(topology, file->error) || !is_connected(file, topology) ||
        !oche_topology_order(topology, file->error))
        return false;
    settle(topology);
    oche_printable(file->path, path, sizeof(path));
    snprintf(topology->summary, sizeof(topology->summary),
             "from_file: %u hosts, %u switches, %u links from %s%s", topology->host_count,
             topology->switch_count, links, path,
             more ? ", whose first line says so; what follows them is not read" : "");
    return true;
}

/* The first word says which format it is: HPCC's files begin with a number. */
static bool read_lines(struct oche_statements *file, struct oche_topology *topology)
{
    const bool any = oche_statements_next(file);
    const char *word = file->words[0];

    if (any && oche_htsim_topology_begins(file))
        return read_fat_tree(file, topology);
    return read_links_file(file, topology, any && strspn(word, "0123456789") == strlen(word));
}

static bool read_all(struct oche_statements *file, struct oche_topology *topology)
{
    bool good = read_lines(file, topology);

    if (!good)
        oche_topology_free(topology);
    return good;
}

static bool check(const void *values, struct oche_error *error)
{
    const struct from_file *p = values;

    if (p->file == NULL || *p->file == '\0')
        return oche_fail(error, "file: not given; the path of a topology file");
    return true;
}

static bool build(const void *values, struct oche_topology *topology, struct oche_error *error)
{
    const struct from_file *p = values;
    struct oche_statements file;
    bool good;

    *topology = (struct oche_topology){0};
    if (!oche_statements_open(&file, "topology.file", p->file, error))
        return false;
    good = read_all(&file, topology);
    oche_statements_close(&file);
    return good;
}

const struct oche_topology_type oche_topology_from_file = {
    .name = "from_file",
    .help = "hosts, switches and links listed in a text file",
    .table = &table,
    .tiers = {[OCHE_NODE_TOR] = "tor",
              [OCHE_NODE_AGGREGATION] = "aggregation",
              [OCHE_NODE_CORE] = "core"},
    .check = check,
    .build = build,
};
