/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of hosts; see host_list.h. */
#include "sim/world/host_list.h"

#include <stdlib.h>
#include <string.h>

bool oche_world_each_host(const struct oche_topology *topology, const char *list, uint32_t number,
                          const char *hosts, bool (*add)(void *context, uint32_t host),
                          void *context, struct oche_error *error)
{
    uint32_t count = 0;
    bool fine = true;

    if (hosts != NULL && strcmp(hosts, "all") == 0) {
        while (fine && count < topology->host_count)
            fine = add(context, count++);
        return fine;
    }
    char *copy = strdup(hosts != NULL ? hosts : ""), *rest = copy;

    OCHE_GOT(copy != NULL);
    for (char *name; fine && (name = strsep(&rest, ", ")) != NULL;) {
        const uint32_t node =
            *name != '\0' ? oche_topology_find(topology, name) : topology->host_count;

        if (*name == '\0')
            continue;
        count++;
        fine = node < topology->host_count
                   ? add(context, node)
                   : oche_fail(error,
                               "%s[%u].hosts: no host is called \"%.64s\"; they are %s to %s, or "
                               "all",
                               list, number, name, topology->nodes[0].name,
                               topology->nodes[topology->host_count - 1].name);
    }
    free(copy);
    if (fine && count == 0)
        return oche_fail(error, "%s[%u].hosts: names none; write names such as %s, or all", list,
                         number, topology->nodes[0].name);
    return fine;
}
