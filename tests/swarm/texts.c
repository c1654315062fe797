/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that have a grammar: port names, loss patterns, lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/swarm/plan.h"

#define NAME_BYTES (OCHE_PORT_NAME_BYTES)

/* Appends text; cuts it off at the end of the buffer. */
__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    if (vsnprintf(text + used, DRAFT_TEXT_BYTES - used, format, arguments) >=
        (int)(DRAFT_TEXT_BYTES - used))
        text[used] = '\0';
    va_end(arguments);
}

static void put_port(char *text, struct draw *draw, bool of_switch)
{
    const struct oche_topology *topology = &draw->topology;
    char name[NAME_BYTES];
    uint32_t node;

    if (of_switch)
        node = topology->host_count + (uint32_t)draw_below(draw, topology->switch_count);
    else
        node = (uint32_t)draw_below(draw, topology->host_count + topology->switch_count);
    oche_topology_port_name(topology, node,
                            (uint32_t)draw_below(draw, topology->nodes[node].port_count), name,
                            sizeof(name));
    put(text, "%s", name);
}

static void put_queues(char *text, struct draw *draw)
{
    const struct oche_topology *topology = &draw->topology;

    for (uint64_t n = 1 + draw_below(draw, 3); n > 0; n--) {
        if (draw_one_in(draw, 4))
            put(text, "%s:*",
                topology->nodes[topology->host_count + draw_below(draw, topology->switch_count)]
                    .name);
        else
            put_port(text, draw, true);
        put(text, "%s", n > 1 ? ", " : "");
    }
}

static void put_link(char *text, struct draw *draw)
{
    for (uint64_t n = 1 + draw_below(draw, 2); n > 0; n--) {
        put_port(text, draw, false);
        put(text, "%s", n > 1 ? ", " : "");
    }
}

static void put_switch(char *text, struct draw *draw)
{
    const struct oche_topology *topology = &draw->topology;

    put(text, "%s",
        topology->nodes[topology->host_count + draw_below(draw, topology->switch_count)].name);
}

/* Draws names of hosts; sometimes all hosts, or a name that is already in the list. */
static void put_hosts(char *text, struct draw *draw)
{
    if (draw_one_in(draw, 6)) {
        put(text, "all");
        return;
    }
    for (uint64_t n = 1 + draw_below(draw, 2); n > 0; n--)
        put(text, "%s%s", draw->topology.nodes[draw_below(draw, draw->topology.host_count)].name,
            n > 1 ? ", " : "");
}

static void put_priorities(char *text, struct draw *draw)
{
    put(text, draw_one_in(draw, 4) ? "all" : "%u", (unsigned)draw_below(draw, 2));
    if (draw_one_in(draw, 8))
        put(text, ", 2");
}

/*
 * An adapter. Those whose timeouts are long make a world long, too; delays and CNPs are short, as
 * worlds are.
 */
static void put_nic(char *text, struct draw *draw)
{
    static const char *const nics[] = {
        "ideal",      "connectx-4",          "connectx-5", "connectx-5-ingress",
        "connectx-6", "connectx-6-no-floor", "e810"};

    put(text, "%s", nics[draw_below(draw, OCHE_COUNT_OF(nics))]);
    if (draw_one_in(draw, 3))
        put(text, ", nak_delay=%uns", (unsigned)draw_scale(draw, 1, 100000));
    if (draw_one_in(draw, 3))
        put(text, ", nak_reaction=%uns", (unsigned)draw_scale(draw, 1, 100000));
    if (draw_one_in(draw, 3))
        put(text, ", read_nak_delay=%uns", (unsigned)draw_scale(draw, 1, 100000));
    if (draw_one_in(draw, 3))
        put(text, ", cnp_interval=%uns, cnp_scope=%s", (unsigned)draw_scale(draw, 1, 40000),
            draw_one_in(draw, 2) ? "port" : "destination");
    if (draw_one_in(draw, 3))
        put(text, ", cnp_delay=%uns, nak_brings_cnp=true", (unsigned)draw_scale(draw, 1, 100000));
    if (draw_one_in(draw, 4))
        put(text,
            ", timeouts=adaptive, time_base=1us, timeout_init_low_bound=2, range_low_bound_0=%u",
            (unsigned)draw_below(draw, 12));
}

static void put_pattern(char *text, struct draw *draw)
{
    static const char *const of[] = {"", "data:", "data:", "ack:"};

    put(text, "%s", of[draw_below(draw, OCHE_COUNT_OF(of))]);
    for (uint64_t n = 1 + draw_below(draw, 3); n > 0; n--) {
        unsigned first = (unsigned)draw_scale(draw, 1, 300);
        unsigned last = first + (unsigned)draw_below(draw, 8);

        switch (draw_below(draw, 5)) {
        case 0:
            put(text, "%u", first);
            break;
        case 1:
            put(text, "%u-%u", first, last);
            break;
        case 2:
            put(text, "every %u", first + 1);
            break;
        case 3:
            put(text, "psn %u", first - 1);
            break;
        default:
            put(text, "psn %u-%u", first - 1, last);
        }
        put(text, "%s", n > 1 ? ", " : "");
    }
}

/* Hosts or tenants with a weight, in rising order, as each may be named once. */
static void put_weights(char *text, struct draw *draw, uint64_t below)
{
    for (uint64_t i = 0, any = 0; i < below; i++)
        if (draw_one_in(draw, 2))
            put(text, "%s%u:%u", any++ > 0 ? ", " : "", (unsigned)i,
                1 + (unsigned)draw_below(draw, 9));
}

static void put_pairs(char *text, struct draw *draw)
{
    uint32_t hosts = draw->topology.host_count;

    for (uint64_t n = 1 + draw_below(draw, 6); n > 0; n--) {
        uint32_t src = (uint32_t)draw_below(draw, hosts);
        uint32_t dst = (src + 1 + (uint32_t)draw_below(draw, hosts - 1)) % hosts;

        put(text, "%u>%u%s", src, dst, n > 1 ? ", " : "");
    }
}

/* A distribution that ends at a few bytes would make millions of flows. */
static void put_sizes(char *text, struct draw *draw)
{
    for (uint64_t n = 1 + draw_below(draw, 4); n > 0; n--) {
        const double least = draw->large ? 1000 : n > 1 ? 1 : 64;

        put(text, "%uB%s", (unsigned)draw_scale(draw, least, 60000), n > 1 ? ", " : "");
    }
}

static void put_mechanisms(char *text, struct draw *draw)
{
    uint64_t count = 0;

    while (oche_switch_mechanisms[count] != NULL)
        count++;
    for (uint64_t i = 0, any = 0; i < count; i++)
        if ((draw_one_in(draw, oche_switch_mechanisms[i]->only_for != NULL ? 24 : 3) &&
             !draft_shuns(draw, oche_switch_mechanisms[i]->name)) ||
            draft_requires_mechanism(draw, oche_switch_mechanisms[i]->name))
            put(text, "%s%s", any++ > 0 ? ", " : "", oche_switch_mechanisms[i]->name);
}

/* Characters that a name can have without a meaning in YAML. */
static void put_words(char *text, struct draw *draw)
{
    static const char letters[] = "aZ0 _-:{}[]#&*!|>'\"%@`,?\\/.~=";

    for (uint64_t n = draw_below(draw, 20); n > 0; n--)
        put(text, "%c", letters[draw_below(draw, sizeof(letters) - 1)]);
}

static bool has_switch(const struct draw *draw, const char *name)
{
    const struct oche_topology *topology = &draw->topology;

    for (uint32_t i = 0; i < topology->switch_count; i++)
        if (strcmp(topology->nodes[topology->host_count + i].name, name) == 0)
            return true;
    return false;
}

/* Relative to tests/swarm/regressions, so that scenarios that are kept there find the file. */
static const struct {
    const char *section, *key, *file;
    const char *needs, *is_without; /* switches of the network that it fits; NULL: any */
} files[] = {
    {"topology", "file", "ring.topology", NULL, NULL},
    {"topology", "file", "uneven.topology", NULL, NULL},
    {"topology", "file", "mixed.topology", NULL, NULL},
    {"topology", "file", "slow.topology", NULL, NULL},
    {"routes", "file", "detours.routes", "leaf3", "core0"},
    {"routes", "file", "circle.routes", "leaf3", "core0"},
    {"routes", "file", "pinned.routes", "leaf1", "core0"},
    {"routes", "file", "loop.routes", "tor1", "agg0"},
    {"routes", "file", "up.routes", "agg0", "agg8"},
    {"routes", "file", "pods.routes", "core1", "agg4"},
    {"routes", "file", "fat_tree.routes", "agg7", "agg8"},
    {"events", "file", "first.events", NULL, NULL},
    {"events", "file", "one_stream.events", NULL, NULL},
    {"workload", "file", "two.csv", NULL, NULL},
    {"workload", "file", "four.csv", NULL, NULL},
    {"workload", "file", "small.goal", NULL, NULL},
    {"workload", "file", "stuck.goal", NULL, NULL},
    {"workload", "cdf_file", "steps.cdf", NULL, NULL},
};

static bool suits(struct draw *draw, size_t file)
{
    return (files[file].needs == NULL || has_switch(draw, files[file].needs)) &&
           (files[file].is_without == NULL || !has_switch(draw, files[file].is_without));
}

/* Draws a file that may fit the network; the reader checks. Seldom any file. */
static void put_file(char *text, const struct draft_part *part, const struct oche_param *param,
                     struct draw *draw)
{
    bool any = draw_one_in(draw, 16);
    uint64_t fit = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++) {
        char name[40];

        if (strcmp(files[i].section, part->section->name) != 0 ||
            strcmp(files[i].key, param->name) != 0 || !(any || suits(draw, i)))
            continue;
        snprintf(name, sizeof(name), "|%s|", files[i].file);
        bool requested = !any && strstr(draft_required_files(draw), name) != NULL;

        if (requested || draw_one_in(draw, ++fit))
            snprintf(text, DRAFT_TEXT_BYTES, "../files/%s", files[i].file);
        if (requested)
            return;
    }
}

static bool is(const struct draft_part *part, const struct oche_param *param, const char *section,
               const char *key)
{
    return strcmp(part->section->name, section) == 0 && strcmp(param->name, key) == 0;
}

bool draft_draw_text(char *text, const struct draft_part *part, const struct oche_param *param,
                     struct draw *draw)
{
    text[0] = '\0';
    if (is(part, param, "", "name") || is(part, param, "", "description"))
        put_words(text, draw);
    else if (is(part, param, "switch", "mechanisms"))
        put_mechanisms(text, draw);
    else if (is(part, param, "measure", "queues"))
        put_queues(text, draw);
    else if (is(part, param, "loss", "pattern"))
        put_pattern(text, draw);
    else if (is(part, param, "loss", "port") || is(part, param, "events", "port"))
        put_port(text, draw, false);
    else if (strcmp(param->name, "hosts") == 0)
        put_hosts(text, draw);
    else if (is(part, param, "pause_storms", "priorities"))
        put_priorities(text, draw);
    else if (strcmp(param->name, "nic") == 0)
        put_nic(text, draw);
    else if (is(part, param, "failures", "link"))
        put_link(text, draw);
    else if (is(part, param, "failures", "switch"))
        put_switch(text, draw);
    else if (is(part, param, "congestion_control", "weights"))
        put_weights(text, draw, draw->topology.host_count);
    else if (is(part, param, "congestion_control", "tenant_shares"))
        put_weights(text, draw, 4);
    else if (is(part, param, "workload", "pairs"))
        put_pairs(text, draw);
    else if (is(part, param, "workload", "sizes"))
        put_sizes(text, draw);
    else
        put_file(text, part, param, draw);
    return text[0] != '\0';
}
