/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/topology/node_names.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct oche_node_names oche_node_names_sort(const struct oche_topology *topology)
{
    uint32_t nodes = oche_topology_nodes(topology);
    struct oche_node_names names = {topology, malloc(nodes * sizeof(*names.sorted))};

    if (names.sorted == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for names");
    for (uint32_t n = 0; n < nodes; n++)
        names.sorted[n] = topology->nodes[n].name;
    qsort(names.sorted, nodes, sizeof(*names.sorted), compare);
    return names;
}

void oche_node_names_free(struct oche_node_names *names)
{
    free(names->sorted);
    names->sorted = NULL;
}

uint32_t oche_node_names_find(const struct oche_node_names *names, const char *name)
{
    const char *const *found = bsearch(&name, names->sorted, oche_topology_nodes(names->topology),
                                       sizeof(*names->sorted), compare);

    if (found == NULL)
        return UINT32_MAX;
    return (uint32_t)((const struct oche_topology_node *)(const void *)*found -
                      names->topology->nodes);
}
