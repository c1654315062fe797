/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/topology/pinned_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"
#include "params/error.h"

#define FORM "\"" OCHE_PINNED_WORD " NUMBER HOST SWITCH [SWITCH …] HOST\" would be right"

/* The position in the path that is being read. */
struct reader {
    struct oche_pinned_paths *paths;
    struct oche_statements *file;
    const struct oche_node_names *names;
    const struct oche_topology *topology;
};

static void *grown(void *array, uint32_t needed, uint32_t *room, size_t bytes)
{
    if (needed > *room) {
        *room = *room == 0 ? 64 : 2 * *room;
        array = realloc(array, *room * bytes);
        if (array == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for paths");
    }
    return array;
}

static bool read_number(struct oche_statements *file, uint32_t *number)
{
    const char *word = file->words[1];
    unsigned long long value = strtoull(word, NULL, 10);

    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 10 || value >= UINT32_MAX)
        return oche_statements_fail(
            file, "\"%.40s\" is no number of a flow; they are counted from 0", word);
    *number = (uint32_t)value;
    return true;
}

/* Finds the node that a word names, and the text behind its colon, or NULL. */
static bool read_node(struct reader *reader, unsigned word, uint32_t *node, const char **port)
{
    char name[OCHE_TOPOLOGY_NAME_BYTES];
    const char *text = reader->file->words[word], *colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    bool end = word == 2 || word + 1 == reader->file->word_count;

    *port = colon != NULL ? colon + 1 : NULL;
    *node = UINT32_MAX;
    if (length < sizeof(name)) {
        memcpy(name, text, length);
        name[length] = '\0';
        *node = oche_node_names_find(reader->names, name);
    }
    if (*node == UINT32_MAX)
        return oche_statements_fail(reader->file, "no node is called \"%.*s\"; " FORM,
                                    length < 40 ? (int)length : 40, text);
    if (end != (*node < reader->topology->host_count))
        return oche_statements_fail(
            reader->file, "%s is a %s; a path leads from a host through switches to a host",
            reader->topology->nodes[*node].name, end ? "switch" : "host");
    if (end && colon != NULL)
        return oche_statements_fail(reader->file, "%.40s: a host has one port; its name alone",
                                    text);
    return true;
}

/* Finds the port by which `from` leads to `to`: the one called `name`, or the only one. */
static bool find_port(struct reader *reader, uint32_t from, uint32_t to, const char *name,
                      uint32_t *port)
{
    const struct oche_topology *topology = reader->topology;
    const struct oche_topology_node *node = &topology->nodes[from], *next = &topology->nodes[to];
    char whole[OCHE_PORT_NAME_BYTES];
    struct oche_error why;
    uint32_t links = 0, found;

    for (uint32_t p = 0; p < node->port_count; p++)
        if (oche_topology_port(topology, from, p)->peer == to) {
            *port = p;
            links++;
        }
    if (links == 0)
        return oche_statements_fail(reader->file, "%s has no link to %s; a path follows links",
                                    node->name, next->name);
    if (name == NULL && links > 1)
        return oche_statements_fail(reader->file,
                                    "%u links lead from %s to %s; name the port, as %s:%u", links,
                                    node->name, next->name, node->name, *port);
    if (name == NULL)
        return true;
    snprintf(whole, sizeof(whole), "%s:%.*s", node->name, OCHE_TOPOLOGY_NAME_BYTES + 6, name);
    if (!oche_topology_find_port(topology, whole, &found, port, &why))
        return oche_statements_fail(reader->file, "%s", why.text);
    if (oche_topology_port(topology, from, *port)->peer != to)
        return oche_statements_fail(
            reader->file, "port %s leads to %s, not to %s", whole,
            topology->nodes[oche_topology_port(topology, from, *port)->peer].name, next->name);
    return true;
}

static void add_hop(struct oche_pinned_paths *paths, uint32_t sw, uint32_t port)
{
    paths->hops = grown(paths->hops, paths->hop_count + 1, &paths->hop_room, sizeof(*paths->hops));
    paths->hops[paths->hop_count++] = (struct oche_pinned_hop){.sw = sw, .port = port};
}

/* Reads the words from the first host on. */
static bool read_hops(struct reader *reader, struct oche_pinned_path *path)
{
    struct oche_pinned_paths *paths = reader->paths;
    uint32_t hosts = reader->topology->host_count, node, next, port;
    const char *leaves, *leaves_next;

    if (!read_node(reader, 2, &path->src, &leaves) || !read_node(reader, 3, &node, &leaves) ||
        !find_port(reader, path->src, node, NULL, &port))
        return false;
    for (unsigned word = 4; word < reader->file->word_count; word++) {
        if (!read_node(reader, word, &next, &leaves_next) ||
            !find_port(reader, node, next, leaves, &port))
            return false;
        add_hop(paths, node - hosts, port);
        path->count++;
        for (uint32_t i = 0; next >= hosts && i < path->count; i++)
            if (paths->hops[path->first + i].sw == next - hosts)
                return oche_statements_fail(reader->file, "a loop: %s twice; once would be right",
                                            reader->topology->nodes[next].name);
        node = next;
        leaves = leaves_next;
    }
    path->dst = node;
    if (path->dst == path->src)
        return oche_statements_fail(reader->file, "from %s to itself; another host",
                                    reader->topology->nodes[node].name);
    return true;
}

bool oche_pinned_paths_read(struct oche_pinned_paths *paths, struct oche_statements *file,
                            const struct oche_node_names *names)
{
    struct reader reader = {paths, file, names, names->topology};
    struct oche_pinned_path path = {.first = paths->hop_count, .line = file->line};

    if (file->word_count < 5)
        return oche_statements_fail(file, "too few words; " FORM);
    if (file->word_count > OCHE_HOP_LIMIT + 3)
        return oche_statements_fail(file, "a path of more than %u links", OCHE_HOP_LIMIT);
    if (!read_number(file, &path.flow) || !read_hops(&reader, &path))
        return false;
    paths->paths = grown(paths->paths, paths->count + 1, &paths->room, sizeof(*paths->paths));
    paths->paths[paths->count++] = path;
    return true;
}

void oche_pinned_paths_make_tables(struct oche_pinned_paths *paths, uint32_t switches)
{
    size_t all = 0;

    if (paths->count == 0)
        return;
    paths->pins = calloc(switches, sizeof(*paths->pins));
    OCHE_MUST(paths->pins != NULL);
    for (uint32_t i = 0; i < paths->hop_count; i++)
        paths->pins[paths->hops[i].sw].mask++;
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t pins = paths->pins[s].mask, places = 2;

        while (places < 2 * pins)
            places *= 2;
        paths->pins[s].mask = places - 1;
        all += places;
    }
    paths->places = malloc(all * sizeof(*paths->places));
    OCHE_MUST(paths->places != NULL);
    memset(paths->places, 0xff, all * sizeof(*paths->places)); /* OCHE_NO_PIN */
    for (uint32_t s = 0, at = 0; s < switches; s++) {
        paths->pins[s].places = &paths->places[at];
        at += paths->pins[s].mask + 1;
    }
}

bool oche_pinned_paths_pin(struct oche_pinned_paths *paths, const struct oche_pinned_path *path,
                           uint32_t flow_hash)
{
    for (uint32_t i = path->first; i < path->first + path->count; i++) {
        struct oche_pin *place =
            oche_pin_place(&paths->pins[paths->hops[i].sw], path->dst, flow_hash);

        if (place->port != OCHE_NO_PIN)
            return false;
        *place = (struct oche_pin){path->dst, flow_hash, paths->hops[i].port};
    }
    return true;
}

void oche_pinned_paths_free(struct oche_pinned_paths *paths)
{
    free(paths->paths);
    free(paths->hops);
    free(paths->pins);
    free(paths->places);
    *paths = (struct oche_pinned_paths){.paths = NULL};
}
