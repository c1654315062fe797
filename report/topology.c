/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the network with the utilisation of its links and how long their ports were held. A network
 * that is too large is drawn in groups: first the hosts of each ToR become a group, then also the
 * switches of a kind in a pod, then all nodes of a kind. Links between two groups are shown with
 * their mean and their largest utilisation, and with the port among them that was held longest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"

#define MOST_HOSTS  40  /* most hosts that are drawn one by one */
#define MOST_GROUPS 160 /* most groups that are drawn */
#define NO_POD      UINT64_MAX

/*
 * How nodes are grouped at each level: each node by itself; the hosts of one ToR; all nodes of a
 * kind in one pod; all nodes of a kind.
 */
enum level { NOTHING, HOSTS, PODS, KINDS, LEVELS };

enum kind { HOST, TOR, AGGREGATION, CORE, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"host", "tor", "aggregation", "core"};

struct node {
    char *name;
    enum kind kind;
    uint64_t pod;
    size_t tor;   /* for a host: index of the node to which it is linked */
    size_t group; /* index of the node's group */
};

struct link {
    size_t a, b; /* indices of the nodes at its ends; after group_links, of groups, with a < b */
    double rate_bps;
    double ab, ba;           /* utilisation from a to b and from b to a, 0 … 1 */
    double held_ab, held_ba; /* share of the time in which the sending port was held by PAUSE */
    char *port_ab, *port_ba;
};

struct network {
    struct node *nodes;
    size_t node_count, host_count;
    struct link *links;
    size_t link_count;
};

/* ---- reading ---- */

static char *copy(const char *text)
{
    char *own = strdup(text);

    OCHE_GOT(own != NULL);
    return own;
}

static enum kind kind_of(const char *name)
{
    unsigned kind = 0;

    while (kind + 1 < KIND_COUNT && strcmp(name, kind_names[kind]) != 0)
        kind++;
    return (enum kind)kind;
}

static void read_nodes(struct oche_report_source *source, struct network *network)
{
    size_t room = oche_report_number(source, "SELECT count(*) FROM nodes");
    sqlite3_stmt *row =
        oche_report_query(source, "SELECT id, name, kind, pod FROM nodes ORDER BY id");

    network->nodes = calloc(room + 1, sizeof(*network->nodes));
    OCHE_GOT(network->nodes != NULL);
    while (oche_report_row(source, row)) {
        if (oche_report_u64(row, 0) != network->node_count || network->node_count == room) {
            oche_report_source_fail(source, "damaged: its nodes are not numbered one by one");
            continue;
        }
        struct node *node = &network->nodes[network->node_count++];

        *node =
            (struct node){.name = copy(oche_report_text(row, 1)),
                          .kind = kind_of(oche_report_text(row, 2)),
                          .pod = oche_report_is_null(row, 3) ? NO_POD : oche_report_u64(row, 3)};
        network->host_count += node->kind == HOST;
    }
}

static double use(sqlite3_stmt *row, int column, double rate_bps, double use_s)
{
    double bytes = oche_report_is_null(row, column) ? 0 : oche_report_real(row, column);

    return rate_bps > 0 && use_s > 0 ? bytes * 8 / (rate_bps * use_s) : NAN;
}

/* Returns the share of the measured time for which a port was held. */
static double held(sqlite3_stmt *row, int column, double all_s)
{
    return oche_report_is_null(row, column) || all_s <= 0
               ? 0
               : oche_report_real(row, column) / 1e12 / all_s;
}

/* Returns the measured time, in seconds; 0 if it is not known. */
static double measured_time(struct oche_report_source *source)
{
    return (double)oche_report_number(source, "SELECT CAST(value AS INTEGER) FROM info WHERE key = "
                                              "'measured_ps'") /
           1e12;
}

/*
 * Returns the time over which link use is computed: where a clock starts flows, until arrivals
 * stop.
 */
static double time_of_use(struct oche_report_source *source)
{
    return (double)oche_report_number(source,
                                      "SELECT CAST(value AS INTEGER) FROM info WHERE key IN "
                                      "('load_ps', 'measured_ps') ORDER BY key LIMIT 1") /
           1e12;
}

static void read_links(struct oche_report_source *source, struct network *network)
{
    size_t room = oche_report_number(source, "SELECT count(*) FROM links");
    const double all_s = measured_time(source), use_s = time_of_use(source);
    sqlite3_stmt *row = oche_report_query(source, links_with_load);

    network->links = calloc(room + 1, sizeof(*network->links));
    OCHE_GOT(network->links != NULL);
    while (oche_report_row(source, row)) {
        uint64_t a = oche_report_u64(row, 0), b = oche_report_u64(row, 1);
        double rate_bps = oche_report_real(row, 2);

        if (a >= network->node_count || b >= network->node_count || network->link_count == room) {
            oche_report_source_fail(source, "damaged: a link leads to a node that is not there");
            continue;
        }
        network->links[network->link_count++] =
            (struct link){.a = a,
                          .b = b,
                          .rate_bps = rate_bps,
                          .ab = use(row, 5, rate_bps, use_s),
                          .ba = use(row, 6, rate_bps, use_s),
                          .held_ab = held(row, 7, all_s),
                          .held_ba = held(row, 8, all_s),
                          .port_ab = copy(oche_report_text(row, 3)),
                          .port_ba = copy(oche_report_text(row, 4))};
        if (network->nodes[a].kind == HOST)
            network->nodes[a].tor = b;
        if (network->nodes[b].kind == HOST)
            network->nodes[b].tor = a;
    }
}

static void free_network(struct network *network)
{
    for (size_t i = 0; i < network->node_count; i++)
        free(network->nodes[i].name);
    for (size_t i = 0; i < network->link_count; i++) {
        free(network->links[i].port_ab);
        free(network->links[i].port_ba);
    }
    free(network->nodes);
    free(network->links);
}

/* ---- grouping ---- */

/* True if two nodes belong to the same group at this level. */
static bool are_one(const struct node *a, const struct node *b, enum level level)
{
    if (a->kind != b->kind || level == NOTHING)
        return false;
    if (level == KINDS)
        return true;
    if (level == PODS && a->pod != NO_POD)
        return a->pod == b->pod;
    return a->kind == HOST && a->tor == b->tor;
}

/*
 * Numbers the groups, and returns how many there are. Every topology numbers its nodes such that
 * nodes of one group follow one another.
 */
static size_t group_nodes(struct network *network, enum level level)
{
    size_t groups = 0;

    for (size_t i = 0; i < network->node_count; i++) {
        struct node *node = &network->nodes[i];

        if (i == 0 || !are_one(node - 1, node, level))
            groups++;
        node->group = groups - 1;
    }
    return groups;
}

static size_t choose_groups(struct network *network)
{
    enum level level = network->host_count > MOST_HOSTS ? HOSTS : NOTHING;
    size_t groups = group_nodes(network, level);

    while (groups > MOST_GROUPS && level + 1 < LEVELS)
        groups = group_nodes(network, (enum level)(++level));
    return groups;
}

static int by_groups(const void *a, const void *b)
{
    const struct link *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return strcmp(x->port_ab, y->port_ab);
}

/*
 * Replaces nodes by groups as the ends of links, the smaller number first, and sorts the links, so
 * that links of the same two groups are neighbours.
 */
static void group_links(struct network *network)
{
    for (size_t i = 0; i < network->link_count; i++) {
        struct link *link = &network->links[i], was = *link;
        size_t a = network->nodes[was.a].group, b = network->nodes[was.b].group;

        link->a = a < b ? a : b;
        link->b = a < b ? b : a;
        if (a > b) {
            link->ab = was.ba;
            link->ba = was.ab;
            link->held_ab = was.held_ba;
            link->held_ba = was.held_ab;
            link->port_ab = was.port_ba;
            link->port_ba = was.port_ab;
        }
    }
    if (network->link_count > 0)
        qsort(network->links, network->link_count, sizeof(*network->links), by_groups);
}

/* ---- writing ---- */

static struct json_object *groups_json(const struct network *network)
{
    struct json_object *list = oche_json_array(0);

    for (size_t i = 0; i < network->node_count;) {
        const struct node *node = &network->nodes[i];
        struct json_object *group = oche_json_object();
        size_t end = i;

        while (end < network->node_count && network->nodes[end].group == node->group)
            end++;
        oche_json_add_text(group, "kind", kind_names[node->kind]);
        oche_json_add_text(group, "name", node->name);
        if (end - i > 1)
            oche_json_add_text(group, "last", network->nodes[end - 1].name);
        oche_json_add_int(group, "nodes", end - i);
        if (node->pod != NO_POD)
            oche_json_add_int(group, "pod", node->pod);
        if (node->kind == HOST)
            oche_json_add_int(group, "tor", network->nodes[node->tor].group);
        oche_json_push(list, group);
        i = end;
    }
    return list;
}

struct use {
    double sum, most, held;
    const char *port, *held_port; /* the ports with the largest utilisation, and held longest */
};

static void take(struct use *sum, double value, double held, const char *port)
{
    sum->sum += value;
    if (held > sum->held) {
        sum->held = held;
        sum->held_port = port;
    }
    if (sum->port == NULL || value > sum->most) {
        sum->most = value;
        sum->port = port;
    }
}

/* Returns [mean, most, port of most, share of time held, port held longest]; without the last two
 * if none was held. */
static struct json_object *use_json(const struct use *sum, size_t count)
{
    struct json_object *json = oche_json_array(0);

    oche_json_push_real(json, sum->sum / (double)count);
    oche_json_push_real(json, sum->most);
    oche_json_push(json, oche_json_text(sum->port));
    if (sum->held_port != NULL) {
        oche_json_push_real(json, sum->held);
        oche_json_push(json, oche_json_text(sum->held_port));
    }
    return json;
}

static struct json_object *links_json(const struct network *network)
{
    struct json_object *list = oche_json_array(0);

    for (size_t i = 0; i < network->link_count;) {
        const struct link *first = &network->links[i];
        struct use ab = {0}, ba = {0};
        size_t count = 0;

        for (; i < network->link_count; i++, count++) {
            const struct link *link = &network->links[i];

            if (link->a != first->a || link->b != first->b)
                break;
            take(&ab, link->ab, link->held_ab, link->port_ab);
            take(&ba, link->ba, link->held_ba, link->port_ba);
        }
        if (first->a == first->b)
            continue; /* the link is within a group */
        struct json_object *json = oche_json_object();

        oche_json_add_int(json, "a", first->a);
        oche_json_add_int(json, "b", first->b);
        oche_json_add_int(json, "links", count);
        oche_json_add_real(json, "rate_bps", first->rate_bps);
        oche_json_add(json, "ab", use_json(&ab, count));
        oche_json_add(json, "ba", use_json(&ba, count));
        oche_json_push(list, json);
    }
    return list;
}

struct json_object *oche_report_topology(struct oche_report_source *source)
{
    struct network network = {0};
    struct json_object *json = oche_json_object();

    read_nodes(source, &network);
    read_links(source, &network);
    choose_groups(&network);
    group_links(&network);
    oche_json_add_int(json, "nodes", network.node_count);
    oche_json_add_int(json, "hosts", network.host_count);
    oche_json_add(json, "groups", groups_json(&network));
    oche_json_add(json, "links", links_json(&network));
    free_network(&network);
    return json;
}
