/* SPDX-License-Identifier: Apache-2.0 */
/* Finds hosts by name, in an order that is made when the first name is looked up. */
#include "sim/app/host_names.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct oche_host_names *names, uint32_t place)
{
    return names->topology->nodes[names->sorted[place]].name;
}

static int compare(const void *a, const void *b, void *topology)
{
    const struct oche_topology_node *nodes = ((const struct oche_topology *)topology)->nodes;

    return strcmp(nodes[*(const uint32_t *)a].name, nodes[*(const uint32_t *)b].name);
}

static void sort(struct oche_host_names *names)
{
    const uint32_t count = names->topology->host_count;

    names->sorted = malloc(count * sizeof(*names->sorted));
    OCHE_GOT(names->sorted != NULL);
    for (uint32_t i = 0; i < count; i++)
        names->sorted[i] = i;
    qsort_r(names->sorted, count, sizeof(*names->sorted), compare, (void *)names->topology);
}

bool oche_host_names_find(struct oche_host_names *names, const char *name, uint32_t *host)
{
    if (names->topology == NULL)
        return false;
    if (names->sorted == NULL)
        sort(names);
    uint32_t low = 0, high = names->topology->host_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (strcmp(name_of(names, middle), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == names->topology->host_count || strcmp(name_of(names, low), name) != 0)
        return false;
    *host = names->sorted[low];
    return true;
}

void oche_host_names_free(struct oche_host_names *names)
{
    free(names->sorted);
    names->sorted = NULL;
}
