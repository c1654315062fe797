/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology from a text file, a statement a line, # begins a comment:
 *
 *     host NAME
 *     switch NAME [tor|aggregation|core]
 *     link NAME NAME 10Gbps 1us
 *
 * Hosts take addresses 0, 1, … in the order of their lines. A host has one link, to a switch. A
 * switch that does not say its tier is a ToR if it has hosts, else an aggregation switch if it is
 * linked to one that has, else a core. Ports are numbered in the order of the link lines. Every
 * host must reach every other.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/units.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

struct from_file {
    const char *file;
};

static const struct oche_param params[] = {
    {
        .name = "file",
        .unit = OCHE_UNIT_TEXT,
        .offset = offsetof(struct from_file, file),
        .preset.text = NULL,
        .help = "lines of \"host NAME\", \"switch NAME [tier]\", \"link NAME NAME 10Gbps 1us\"",
    },
};
static const struct oche_param_table table = {.params = params,
                                              .count = sizeof(params) / sizeof(params[0]),
                                              .struct_bytes = sizeof(struct from_file)};

#define WORDS         5
#define TIER_BY_LINKS OCHE_NODE_KINDS

/*
 * The file is taken into memory and its lines are gone through three times: to count, to name the
 * nodes, to link them.
 */
struct reader {
    const char *path;
    FILE *file; /* over the memory */
    unsigned line;
    char *text; /* the line, cut into words; getline's */
    size_t text_bytes;
    char *words[WORDS + 1]; /* one more than any statement has */
    unsigned word_count;
    char *error;
    size_t error_bytes;
};

static bool fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *reader, const char *format, ...)
{
    char what[OCHE_TOPOLOGY_ERROR_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (reader->line > 0)
        return oche_topology_error(reader->error, reader->error_bytes, "%s:%u: %s", reader->path,
                                   reader->line, what);
    return oche_topology_error(reader->error, reader->error_bytes, "%s: %s", reader->path, what);
}

/* The next line that holds a word. False at the end. */
static bool next_line(struct reader *reader)
{
    while (getline(&reader->text, &reader->text_bytes, reader->file) >= 0) {
        char *rest = reader->text, *word;

        reader->line++;
        reader->text[strcspn(reader->text, "#\r\n")] = '\0';
        reader->word_count = 0;
        while (reader->word_count <= WORDS && (word = strsep(&rest, " \t")) != NULL)
            if (*word != '\0')
                reader->words[reader->word_count++] = word;
        if (reader->word_count > 0)
            return true;
    }
    return false;
}

/* The values of a link line, read as the scenario's values are. */
struct link_values {
    uint64_t rate;
    oche_time delay;
};
static const struct oche_param rate_param =
    OCHE_TOPOLOGY_RATE(link_values, rate, 0, NULL, "of the link");
static const struct oche_param delay_param =
    OCHE_TOPOLOGY_DELAY(link_values, delay, 0, NULL, "one way");

static bool read_value(struct reader *reader, const struct oche_param *param, const char *text,
                       uint64_t *value)
{
    char why[OCHE_TOPOLOGY_ERROR_BYTES];
    union oche_value parsed;

    if (!oche_value_parse(param, text, &parsed, why, sizeof(why)))
        return fail(reader, "link: %s: %s", param->name, why);
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

static bool count_lines(struct reader *reader, uint32_t *hosts, uint32_t *switches, uint32_t *links)
{
    *hosts = *switches = *links = 0;
    while (next_line(reader)) {
        const char *verb = reader->words[0];

        if (strcmp(verb, "host") == 0 && reader->word_count == 2)
            (*hosts)++;
        else if (strcmp(verb, "switch") == 0 &&
                 (reader->word_count == 2 || reader->word_count == 3))
            (*switches)++;
        else if (strcmp(verb, "link") == 0 && reader->word_count == 5)
            (*links)++;
        else if (strcmp(verb, "host") == 0)
            return fail(reader, "host: %u words; \"host NAME\" would be right", reader->word_count);
        else if (strcmp(verb, "switch") == 0)
            return fail(reader, "switch: %s; \"switch NAME [tor|aggregation|core]\" would be right",
                        reader->word_count == 1 ? "no name" : "too many words");
        else if (strcmp(verb, "link") == 0)
            return fail(reader, "link: %s; \"link NAME NAME 10Gbps 1us\" would be right",
                        reader->word_count < 5 ? "too few words" : "too many words");
        else
            return fail(reader, "%.40s: unknown statement; \"host\", \"switch\" or \"link\"", verb);
        if (*hosts + *switches > OCHE_TOPOLOGY_MAX_NODES || *links > OCHE_TOPOLOGY_MAX_LINKS)
            return fail(reader, "more than %u nodes, or than %u links", OCHE_TOPOLOGY_MAX_NODES,
                        OCHE_TOPOLOGY_MAX_LINKS);
    }
    if (*hosts < 2)
        return fail(reader, "host: %u in the file; at least 2 would be right", *hosts);
    if (*switches == 0)
        return fail(reader, "switch: none in the file; hosts are linked to a switch");
    return true;
}

static bool read_tier(struct reader *reader, uint32_t *kind)
{
    const char *tier = reader->words[2];

    if (reader->word_count == 2)
        *kind = TIER_BY_LINKS;
    else if (strcmp(tier, "tor") == 0)
        *kind = OCHE_NODE_TOR;
    else if (strcmp(tier, "aggregation") == 0)
        *kind = OCHE_NODE_AGGREGATION;
    else if (strcmp(tier, "core") == 0)
        *kind = OCHE_NODE_CORE;
    else
        return fail(reader, "switch %s: tier \"%.40s\" is unknown; tor, aggregation or core",
                    reader->words[1], tier);
    return true;
}

static bool read_nodes(struct reader *reader, struct oche_topology *topology)
{
    uint32_t host = 0, sw = topology->host_count;

    while (next_line(reader)) {
        bool is_host = strcmp(reader->words[0], "host") == 0;
        uint32_t kind = OCHE_NODE_HOST;

        if (strcmp(reader->words[0], "link") == 0)
            continue;
        if (!is_name(reader->words[1]))
            return fail(reader,
                        "%s: \"%.40s\" is no name; up to %d letters, digits, _ - and ., not "
                        "beginning with a digit",
                        reader->words[0], reader->words[1], OCHE_TOPOLOGY_NAME_BYTES - 1);
        if (!is_host && !read_tier(reader, &kind))
            return false;
        if (oche_topology_find(topology, reader->words[1]) != UINT32_MAX)
            return fail(reader, "%s %s: there is a node of that name already", reader->words[0],
                        reader->words[1]);
        struct oche_topology_node *node = &topology->nodes[is_host ? host++ : sw++];
        memcpy(node->name, reader->words[1], strlen(reader->words[1]) + 1);
        node->kind = kind;
        node->pod = OCHE_NO_POD;
    }
    return true;
}

static bool read_link(struct reader *reader, struct oche_topology *topology)
{
    uint32_t ends[2];
    uint64_t rate, delay;

    for (unsigned i = 0; i < 2; i++) {
        ends[i] = oche_topology_find(topology, reader->words[1 + i]);
        if (ends[i] == UINT32_MAX)
            return fail(reader, "link: no node is called \"%.40s\"; add a line \"switch %.40s\"",
                        reader->words[1 + i], reader->words[1 + i]);
        if (topology->nodes[ends[i]].kind == OCHE_NODE_HOST &&
            topology->nodes[ends[i]].port_count > 0)
            return fail(reader, "link: host %s has a link already; a host has one",
                        reader->words[1 + i]);
    }
    if (ends[0] == ends[1])
        return fail(reader, "link: from %s to itself; two different nodes", reader->words[1]);
    if (topology->nodes[ends[0]].kind == OCHE_NODE_HOST &&
        topology->nodes[ends[1]].kind == OCHE_NODE_HOST)
        return fail(reader, "link: %s and %s are both hosts; a host is linked to a switch",
                    reader->words[1], reader->words[2]);
    if (!read_value(reader, &rate_param, reader->words[3], &rate) ||
        !read_value(reader, &delay_param, reader->words[4], &delay))
        return false;
    oche_topology_link(topology, ends[0], ends[1], rate, delay);
    return true;
}

/* Gives a tier to switches that did not say theirs, and a pod to each ToR with its hosts. */
static void settle(struct oche_topology *topology)
{
    uint32_t first = topology->host_count, nodes = oche_topology_nodes(topology);

    for (uint32_t l = 0; l < topology->link_count; l++) {
        uint32_t a = topology->links[l].a, b = topology->links[l].b;
        uint32_t host = a < first ? a : b, sw = a < first ? b : a;

        if (host >= first)
            continue;
        topology->nodes[host].pod = topology->nodes[sw].pod = sw - first;
        if (topology->nodes[sw].kind == TIER_BY_LINKS)
            topology->nodes[sw].kind = OCHE_NODE_TOR;
    }
    for (uint32_t n = first; n < nodes; n++) {
        struct oche_topology_node *node = &topology->nodes[n];
        bool near_hosts = false;

        if (node->kind != TIER_BY_LINKS)
            continue;
        for (uint32_t p = 0; p < node->port_count; p++)
            near_hosts |=
                topology->nodes[oche_topology_port(topology, n, p)->peer].pod != OCHE_NO_POD;
        node->kind = near_hosts ? OCHE_NODE_AGGREGATION : OCHE_NODE_CORE;
    }
}

/* Whether every node has a link and one can walk from the first host to all others. */
static bool is_connected(struct reader *reader, const struct oche_topology *topology)
{
    uint32_t nodes = oche_topology_nodes(topology), count = 1;
    uint32_t *queue = calloc(nodes, sizeof(*queue));
    bool *seen = calloc(nodes, sizeof(*seen));
    bool good = true;

    if (queue == NULL || seen == NULL) {
        free(queue);
        free(seen);
        return fail(reader, "no memory for %u nodes", nodes);
    }
    seen[0] = true; /* queue[0] is host 0 */
    for (uint32_t head = 0; head < count; head++)
        for (uint32_t p = 0; p < topology->nodes[queue[head]].port_count; p++) {
            uint32_t peer = oche_topology_port(topology, queue[head], p)->peer;

            if (!seen[peer])
                queue[count++] = peer;
            seen[peer] = true;
        }
    reader->line = 0;
    for (uint32_t n = 0; n < nodes && good; n++)
        if (!seen[n])
            good = fail(reader, "%s cannot be reached from %s; a link is missing",
                        topology->nodes[n].name, topology->nodes[0].name);
    free(queue);
    free(seen);
    return good;
}

static bool read_all(struct reader *reader, struct oche_topology *topology)
{
    uint32_t hosts, switches, links;

    if (!count_lines(reader, &hosts, &switches, &links) ||
        !oche_topology_begin(topology, hosts, switches, links, reader->error, reader->error_bytes))
        return false;
    rewind(reader->file);
    reader->line = 0;
    if (!read_nodes(reader, topology))
        return false;
    rewind(reader->file);
    reader->line = 0;
    while (next_line(reader))
        if (strcmp(reader->words[0], "link") == 0 && !read_link(reader, topology))
            return false;
    if (!oche_topology_finish(topology, reader->error, reader->error_bytes) ||
        !is_connected(reader, topology))
        return false;
    settle(topology);
    snprintf(topology->summary, sizeof(topology->summary),
             "from_file: %u hosts, %u switches, %u links from %.100s", hosts, switches, links,
             reader->path);
    return true;
}

/* The whole file as a string, or NULL and an error. */
static char *slurp(struct reader *reader)
{
    FILE *file;
    char *text = NULL;
    size_t text_bytes = 0;

    errno = 0;
    file = fopen(reader->path, "r");
    if (file != NULL && getdelim(&text, &text_bytes, '\0', file) > 0 && *text != '\0') {
        fclose(file);
        return text;
    }
    fail(reader, "%s", errno != 0 ? strerror(errno) : "empty");
    if (file != NULL)
        fclose(file);
    free(text);
    return NULL;
}

static bool check(const void *values, char *error, size_t error_bytes)
{
    const struct from_file *p = values;

    if (p->file == NULL || *p->file == '\0')
        return oche_topology_error(error, error_bytes,
                                   "file: not given; the path of a topology file");
    return true;
}

static bool build(const void *values, struct oche_topology *topology, char *error,
                  size_t error_bytes)
{
    const struct from_file *p = values;
    struct reader reader = {.path = p->file, .error = error, .error_bytes = error_bytes};
    char *text = slurp(&reader);
    bool good;

    *topology = (struct oche_topology){0};
    if (text == NULL)
        return false;
    reader.file = fmemopen(text, strlen(text), "r");
    good = reader.file != NULL ? read_all(&reader, topology) : fail(&reader, "%s", strerror(errno));
    if (!good)
        oche_topology_free(topology);
    if (reader.file != NULL)
        fclose(reader.file);
    free(reader.text);
    free(text);
    return good;
}

const struct oche_topology_type oche_topology_from_file = {
    .name = "from_file",
    .help = "hosts, switches and links listed in a text file",
    .table = &table,
    .check = check,
    .build = build,
};
