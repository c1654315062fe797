/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static routes: reads the lines of the file, then makes a table for each switch. A switch routes
 * by group only, so a host that a line names becomes a group of its own.
 */
#include "sim/topology/static_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/topology/builder.h"
#include "sim/topology/statements.h"

#define NO_GROUP UINT32_MAX
#define MOST     UINT16_MAX /* most groups, and most sets of a switch */

/*
 * The destinations that a line is for. Lines are applied in this order, so the later ones override.
 */
enum scope { TO_ALL, TO_SWITCH, TO_HOST };

struct line {
    uint32_t sw;   /* the switch, counted from 0 */
    uint32_t to;   /* TO_SWITCH: the group of the destination switch; TO_HOST: the host */
    uint32_t from; /* the line's ports are ports[from … from + count) of the maker */
    uint16_t count, scope;
    unsigned number;
};

struct oche_static_table {
    uint16_t *set_of_group;
    struct oche_port_set *sets;
    uint16_t *ports;
    uint32_t set_count, port_count;
};

struct maker {
    const struct oche_topology_routes *shortest;
    const struct oche_topology *topology;
    struct oche_statements *file;
    struct oche_node_names names;
    struct oche_pinned_paths *pinned;
    struct line *lines; /* sorted by scope, switch, destination */
    uint32_t line_count, line_room;
    uint16_t *ports;
    uint32_t port_count, port_room;
    uint32_t *group_of_host; /* the host's own group, or NO_GROUP */
    uint32_t groups;
};

static void *must(void *memory)
{
    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for routes");
    return memory;
}

static void *room(void *array, uint32_t needed, uint32_t *capacity, size_t bytes)
{
    if (needed <= *capacity)
        return array;
    while (*capacity < needed)
        *capacity = *capacity == 0 ? 64 : *capacity * 2;
    return must(realloc(array, *capacity * bytes));
}

/* ---- the lines ---- */

/* Returns the node called `name`, or UINT32_MAX. */
static uint32_t find(const struct maker *maker, const char *name)
{
    return oche_node_names_find(&maker->names, name);
}

static bool read_switch(struct maker *maker, struct line *line)
{
    const struct oche_topology *topology = maker->topology;
    const char *name = maker->file->words[0];
    uint32_t node = find(maker, name);

    if (node == UINT32_MAX)
        return oche_statements_fail(maker->file,
                                    "no switch is called \"%.40s\"; switches are %s to %s", name,
                                    topology->nodes[topology->host_count].name,
                                    topology->nodes[oche_topology_nodes(topology) - 1].name);
    if (node < topology->host_count)
        return oche_statements_fail(
            maker->file, "%s is a host; a line begins with the switch that routes", name);
    line->sw = node - topology->host_count;
    return true;
}

static bool read_destination(struct maker *maker, struct line *line)
{
    const struct oche_topology *topology = maker->topology;
    const char *name = maker->file->words[1];
    uint32_t node = strcmp(name, "*") == 0 ? UINT32_MAX - 1 : find(maker, name);

    if (node == UINT32_MAX)
        return oche_statements_fail(maker->file,
                                    "no node is called \"%.40s\"; the destination is a host, a "
                                    "switch with hosts, or *",
                                    name);
    if (node == UINT32_MAX - 1) {
        line->scope = TO_ALL;
        return true;
    }
    if (node < topology->host_count) {
        line->scope = TO_HOST;
        line->to = node;
        return true;
    }
    line->scope = TO_SWITCH;
    line->to = maker->shortest->of[node - topology->host_count].own_group;
    if (line->to == NO_GROUP)
        return oche_statements_fail(maker->file,
                                    "%s has no hosts; the destination is a host, a switch with "
                                    "hosts, or *",
                                    name);
    if (node - topology->host_count == line->sw)
        return oche_statements_fail(maker->file,
                                    "from %s to its own hosts; name the host that is meant", name);
    return true;
}

static bool read_port(struct maker *maker, struct line *line, const char *word)
{
    const struct oche_topology *topology = maker->topology;
    char name[OCHE_PORT_NAME_BYTES];
    struct oche_error why;
    uint32_t node, port;

    snprintf(name, sizeof(name), "%s:%.*s", maker->file->words[0], OCHE_TOPOLOGY_NAME_BYTES + 6,
             word);
    if (!oche_topology_find_port(topology, name, &node, &port, &why))
        return oche_statements_fail(maker->file, "%s", why.text);
    uint32_t peer = oche_topology_port(topology, node, port)->peer;

    if (peer < topology->host_count && !(line->scope == TO_HOST && line->to == peer))
        return oche_statements_fail(maker->file,
                                    "port %s leads to a host, %s; the next hop is a switch, or the "
                                    "destination itself",
                                    word, topology->nodes[peer].name);
    for (uint32_t i = 0; i < line->count; i++)
        if (maker->ports[line->from + i] == port)
            return oche_statements_fail(maker->file, "port %s twice; once would be right", word);
    maker->ports =
        room(maker->ports, maker->port_count + 1, &maker->port_room, sizeof(*maker->ports));
    maker->ports[maker->port_count++] = (uint16_t)port;
    line->count++;
    return true;
}

static bool read_line(struct maker *maker)
{
    struct line line = {.from = maker->port_count, .number = maker->file->line};

    if (strcmp(maker->file->words[0], OCHE_PINNED_WORD) == 0 &&
        find(maker, OCHE_PINNED_WORD) == UINT32_MAX)
        return oche_pinned_paths_read(maker->pinned, maker->file, &maker->names);
    if (maker->file->word_count < 3 || maker->file->word_count > OCHE_STATEMENT_WORDS)
        return oche_statements_fail(
            maker->file, "too %s words; \"SWITCH DESTINATION PORT [PORT …]\" would be right",
            maker->file->word_count < 3 ? "few" : "many");
    if (!read_switch(maker, &line) || !read_destination(maker, &line))
        return false;
    for (unsigned i = 2; i < maker->file->word_count; i++)
        if (!read_port(maker, &line, maker->file->words[i]))
            return false;
    maker->lines =
        room(maker->lines, maker->line_count + 1, &maker->line_room, sizeof(*maker->lines));
    maker->lines[maker->line_count++] = line;
    return true;
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->sw != y->sw)
        return x->sw < y->sw ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool read_lines(struct maker *maker)
{
    while (oche_statements_next(maker->file))
        if (!read_line(maker))
            return false;
    if (maker->line_count == 0 && maker->pinned->count == 0) {
        maker->file->line = 0;
        return oche_statements_fail(maker->file, "no line in it; \"SWITCH DESTINATION PORT\"");
    }
    if (maker->line_count > 0)
        qsort(maker->lines, maker->line_count, sizeof(*maker->lines), compare_lines);
    for (uint32_t i = 1; i < maker->line_count; i++) {
        const struct line *one = &maker->lines[i - 1], *other = &maker->lines[i];

        if (one->scope != other->scope || one->sw != other->sw || one->to != other->to)
            continue;
        maker->file->line = other->number;
        return oche_statements_fail(
            maker->file,
            "line %u has this destination at %s already; one line with all "
            "its ports would be right",
            one->number, maker->topology->nodes[maker->topology->host_count + one->sw].name);
    }
    return true;
}

/* ---- the tables ---- */

static bool find_groups(struct maker *maker, struct oche_static_routes *routes)
{
    uint32_t hosts = maker->topology->host_count;

    maker->groups = maker->shortest->group_count;
    maker->group_of_host = must(malloc(hosts * sizeof(*maker->group_of_host)));
    routes->group_of = must(malloc(hosts * sizeof(*routes->group_of)));
    memset(maker->group_of_host, 0xff, hosts * sizeof(*maker->group_of_host));
    memcpy(routes->group_of, maker->shortest->of[0].group_of, hosts * sizeof(*routes->group_of));
    for (uint32_t i = 0; i < maker->line_count; i++) {
        const struct line *line = &maker->lines[i];

        if (line->scope == TO_HOST && maker->group_of_host[line->to] == NO_GROUP)
            routes->group_of[line->to] = maker->group_of_host[line->to] = maker->groups++;
    }
    maker->file->line = 0;
    /*
     * A switch has at most one set per group, and one more for each of its lines and named hosts.
     */
    if (maker->groups + maker->shortest->group_count + 1 < MOST)
        return true;
    return oche_statements_fail(
        maker->file, "%u switches have hosts, and %u hosts are named; too many",
        maker->shortest->group_count, maker->groups - maker->shortest->group_count);
}

static uint16_t add_set(struct oche_static_table *table, const uint16_t *ports, uint32_t count)
{
    memcpy(&table->ports[table->port_count], ports, count * sizeof(*ports));
    table->sets[table->set_count] =
        (struct oche_port_set){.first = table->port_count, .count = count};
    table->port_count += count;
    return (uint16_t)table->set_count++;
}

/*
 * Begins a switch's table as a copy of its shortest-path table. Leaves room for `sets` more port
 * sets, with `ports` ports in total. Adds an entry for each host that is a group of its own.
 */
static void begin_table(const struct maker *maker, uint32_t sw, uint32_t sets, uint32_t ports,
                        struct oche_static_table *table)
{
    const struct oche_routes *base = &maker->shortest->of[sw];
    uint32_t groups = maker->shortest->group_count;
    uint32_t hosts = maker->topology->host_count;

    for (uint32_t g = 0; g < groups; g++) {
        struct oche_port_set set = base->sets[base->set_of_group[g]];

        if (base->set_of_group[g] >= table->set_count)
            table->set_count = base->set_of_group[g] + 1u;
        if (set.first + set.count > table->port_count)
            table->port_count = set.first + set.count;
    }
    for (uint32_t host = 0; host < hosts; host++)
        sets += maker->group_of_host[host] != NO_GROUP && base->group_of[host] == base->own_group;
    table->set_of_group = must(calloc(maker->groups, sizeof(*table->set_of_group)));
    table->sets = must(calloc(table->set_count + sets + 1, sizeof(*table->sets)));
    table->ports = must(calloc(table->port_count + ports + sets + 1, sizeof(*table->ports)));
    memcpy(table->set_of_group, base->set_of_group, groups * sizeof(*table->set_of_group));
    memcpy(table->sets, base->sets, table->set_count * sizeof(*table->sets));
    memcpy(table->ports, base->ports, table->port_count * sizeof(*table->ports));
    for (uint32_t host = 0; host < hosts; host++) {
        uint32_t group = maker->group_of_host[host];

        if (group == NO_GROUP)
            continue;
        table->set_of_group[group] = base->group_of[host] == base->own_group
                                         ? add_set(table, &base->port_of_address[host], 1)
                                         : base->set_of_group[base->group_of[host]];
    }
}

static void apply(const struct maker *maker, const struct line *line,
                  struct oche_static_table *table)
{
    const struct oche_routes *base = &maker->shortest->of[line->sw];
    uint32_t named = maker->groups - maker->shortest->group_count;
    uint16_t set = add_set(table, &maker->ports[line->from], line->count);

    if (line->scope == TO_HOST) {
        table->set_of_group[maker->group_of_host[line->to]] = set;
        return;
    }
    for (uint32_t g = 0; g < maker->shortest->group_count; g++)
        if (g != base->own_group && (line->scope == TO_ALL || g == line->to))
            table->set_of_group[g] = set;
    for (uint32_t host = 0; named > 0 && host < maker->topology->host_count; host++) {
        uint32_t group = base->group_of[host];

        if (maker->group_of_host[host] != NO_GROUP && group != base->own_group &&
            (line->scope == TO_ALL || group == line->to))
            table->set_of_group[maker->group_of_host[host]] = set;
    }
}

static void make_tables(struct maker *maker, struct oche_static_routes *routes)
{
    uint32_t switches = maker->topology->switch_count;
    uint32_t *sets = must(calloc(switches, sizeof(*sets)));
    uint32_t *ports = must(calloc(switches, sizeof(*ports)));

    routes->switches = switches;
    routes->groups = maker->groups;
    routes->tables = must(calloc(switches, sizeof(*routes->tables)));
    routes->of = must(calloc(switches, sizeof(*routes->of)));
    for (uint32_t i = 0; i < maker->line_count; i++) {
        sets[maker->lines[i].sw]++;
        ports[maker->lines[i].sw] += maker->lines[i].count;
    }
    for (uint32_t s = 0; s < switches; s++)
        begin_table(maker, s, sets[s], ports[s], &routes->tables[s]);
    for (uint32_t i = 0; i < maker->line_count; i++)
        apply(maker, &maker->lines[i], &routes->tables[maker->lines[i].sw]);
    oche_pinned_paths_make_tables(&routes->pinned, switches);
    for (uint32_t s = 0; s < switches; s++) {
        routes->of[s] = maker->shortest->of[s];
        routes->of[s].pins = routes->pinned.pins != NULL ? &routes->pinned.pins[s] : NULL;
        routes->of[s].group_of = routes->group_of;
        routes->of[s].set_of_group = routes->tables[s].set_of_group;
        routes->of[s].sets = routes->tables[s].sets;
        routes->of[s].ports = routes->tables[s].ports;
    }
    free(sets);
    free(ports);
}

/* Makes the routes that the open file `file` contains. */
static bool read_routes(const struct oche_topology_routes *shortest, struct oche_statements *file,
                        struct oche_static_routes *routes)
{
    struct maker maker = {.shortest = shortest, .topology = shortest->topology, .file = file};

    *routes = (struct oche_static_routes){.of = NULL};
    maker.names = oche_node_names_sort(maker.topology);
    maker.pinned = &routes->pinned;
    bool good = read_lines(&maker) && find_groups(&maker, routes);

    if (good)
        make_tables(&maker, routes);
    else
        oche_static_routes_free(routes);
    oche_node_names_free(&maker.names);
    free(maker.lines);
    free(maker.ports);
    free(maker.group_of_host);
    return good;
}

bool oche_static_routes_read(const struct oche_topology_routes *shortest, const char *path,
                             struct oche_static_routes *routes, struct oche_error *error)
{
    struct oche_statements file;

    *routes = (struct oche_static_routes){.of = NULL};
    if (!oche_statements_open(&file, "routes.file", path, error))
        return false;
    bool good = read_routes(shortest, &file, routes);

    oche_statements_close(&file);
    return good;
}

void oche_static_routes_free(struct oche_static_routes *routes)
{
    for (uint32_t s = 0; routes->tables != NULL && s < routes->switches; s++) {
        free(routes->tables[s].set_of_group);
        free(routes->tables[s].sets);
        free(routes->tables[s].ports);
    }
    free(routes->tables);
    free(routes->of);
    free(routes->group_of);
    oche_pinned_paths_free(&routes->pinned);
    *routes = (struct oche_static_routes){.of = NULL};
}
