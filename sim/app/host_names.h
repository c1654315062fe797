/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts as users write them in workloads: a number, or the name that the topology gives them. */
#ifndef OCHE_SIM_APP_HOST_NAMES_H
#define OCHE_SIM_APP_HOST_NAMES_H

#include "sim/topology/topology.h"

/* Zeroed but for `topology`, which may be NULL: then hosts have no names. */
struct oche_host_names {
    const struct oche_topology *topology;
    uint32_t *sorted; /* the hosts, by name; NULL: no name has been looked up */
};

/* Finds the host called `name`. False if there is none, also if a switch is called so. */
bool oche_host_names_find(struct oche_host_names *names, const char *name, uint32_t *host);
void oche_host_names_free(struct oche_host_names *names);

#endif
