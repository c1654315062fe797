/* SPDX-License-Identifier: Apache-2.0 */
/* Which host runs which rank of a job. */
#ifndef OCHE_SIM_APP_PLACEMENT_H
#define OCHE_SIM_APP_PLACEMENT_H

#include "sim/app/generate.h"

enum oche_placement { OCHE_PLACE_PACKED, OCHE_PLACE_STRIDED, OCHE_PLACE_RANDOM };
extern const char *const oche_placement_names[];

struct oche_placement_params {
    uint32_t placement;      /* enum oche_placement */
    uint64_t ranks_per_host; /* ranks 0 … ranks_per_host - 1 are on the first host, and so on */
    uint64_t first_host;     /* packed: the first host, by number */
    const char *hosts;       /* "host3, host5": these, in this order; NULL: by `placement` */
};

/* Returns how many hosts ranks can have. */
uint64_t oche_place_hosts(const struct oche_placement_params *params,
                          const struct oche_workload_facts *facts);
/*
 * Returns the host of each rank (malloc'd). Returns NULL, with an error that names the parameter,
 * if there are not enough hosts.
 */
uint32_t *oche_place_ranks(const struct oche_placement_params *params, uint32_t ranks,
                           const struct oche_workload_facts *facts, struct oche_error *error);

#endif
