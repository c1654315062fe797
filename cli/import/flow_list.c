/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a list of flows, to say what it has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/import/import.h"
#include "params/figures.h"
#include "sim/app/flow_file.h"
#include "sim/topology/builder.h"

#define MOST_BYTES (1024 * OCHE_INPUT_MIB)

/* Makes a network that has nothing but the names of hosts. */
static bool name_hosts(struct oche_topology *network, struct oche_error *error)
{
    if (!oche_topology_begin(network, OCHE_IMPORT_MOST_HOSTS, 0, 0, error))
        return false;
    for (uint32_t i = 0; i < OCHE_IMPORT_MOST_HOSTS; i++)
        oche_topology_name(network, i, OCHE_NODE_HOST, OCHE_NO_POD, "host", i);
    return true;
}

/* Reads the file's flows, of which none starts before `origin`. */
static bool read_flows(const char *path, const struct oche_input_file *input, oche_time origin,
                       const struct oche_workload_facts *facts, struct oche_flow_list *flows,
                       struct oche_error *error)
{
    const struct oche_flow_file file = {
        .name = path, .text = input->text, .bytes = input->bytes, .origin = origin};

    return oche_flow_file_read(&file, facts, flows, error);
}

static void sum_up(const struct oche_flow_list *flows, struct oche_import_list *list)
{
    *list = (struct oche_import_list){
        .flows = flows->count, .first = OCHE_NEVER, .smallest = UINT64_MAX};
    for (uint32_t i = 0; i < flows->count; i++) {
        const struct oche_flow_plan *flow = &flows->plan[i];
        const uint32_t high = flow->src > flow->dst ? flow->src : flow->dst;

        list->hosts = high >= list->hosts ? high + 1 : list->hosts;
        list->bytes += flow->bytes;
        list->smallest = flow->bytes < list->smallest ? flow->bytes : list->smallest;
        list->largest = flow->bytes > list->largest ? flow->bytes : list->largest;
        list->first = flow->start < list->first ? flow->start : list->first;
        list->last = flow->start > list->last ? flow->start : list->last;
    }
    snprintf(list->remark, sizeof(list->remark), "%s", flows->remark);
}

bool oche_import_read_list(const char *path, const struct oche_topology *network,
                           uint32_t mtu_bytes, struct oche_import_list *list,
                           struct oche_error *error)
{
    struct oche_topology names = {.host_count = 0};
    struct oche_flow_list flows = {.count = 0};
    struct oche_workload_facts facts = {.duration = OCHE_NEVER, .mtu_bytes = mtu_bytes};
    struct oche_input_file input;
    struct oche_error why;
    bool good;

    if (!oche_input_read(&input, path, MOST_BYTES, &why))
        return oche_fail(error, "%s: %s; a readable file of flows", path, why.text);
    good = network != NULL || name_hosts(&names, error);
    facts.topology = network != NULL ? network : &names;
    facts.host_count = facts.topology->host_count;
    good = good && read_flows(path, &input, 0, &facts, &flows, error);
    if (good)
        sum_up(&flows, list);
    oche_flow_list_free(&flows);
    /* once more for the remark on a run that begins with the first flow */
    flows = (struct oche_flow_list){.count = 0};
    if (good && *list->remark != '\0' &&
        read_flows(path, &input, list->first, &facts, &flows, &why))
        snprintf(list->remark, sizeof(list->remark), "%s", flows.remark);
    oche_flow_list_free(&flows);
    oche_topology_free(&names);
    oche_input_free(&input);
    return good;
}

void oche_import_note_list(struct oche_translation *to, const char *shown,
                           const struct oche_import_list *list)
{
    char sizes[2 * OCHE_FIGURE_BYTES + 8], starts[2 * OCHE_FIGURE_BYTES + 24];

    snprintf(sizes, sizeof(sizes), "%s", oche_figure_bytes(list->smallest).text);
    if (list->largest > list->smallest)
        snprintf(sizes, sizeof(sizes), "%s to %s", oche_figure_bytes(list->smallest).text,
                 oche_figure_bytes(list->largest).text);
    snprintf(starts, sizeof(starts), "at %s", oche_figure_time(list->first).text);
    if (list->last > list->first)
        snprintf(starts, sizeof(starts), "from %s on, within %s",
                 oche_figure_time(list->first).text,
                 oche_figure_time(list->last - list->first).text);
    oche_translation_note(to, OCHE_NOTE_FOUND, "%s: %u flow%s of %s, %s in all, %s", shown,
                          list->flows, list->flows == 1 ? "" : "s", sizes,
                          oche_figure_bytes(list->bytes).text, starts);
    if (*list->remark != '\0')
        oche_translation_note(to, OCHE_NOTE_ASSUMED, "%s", list->remark);
}
