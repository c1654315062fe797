/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a run that were deflected most often, each with its ordinary and its actual path
 * in words.
 */
#ifndef OCHE_LAB_MEASURES_DEFLECTED_H
#define OCHE_LAB_MEASURES_DEFLECTED_H

#include "sim/world/world.h"

#define OCHE_DEFLECTED_SHOWN 3
#define OCHE_DEFLECTED_BYTES 1024

struct oche_deflected_line {
    uint32_t flow, deflections, links, ordinary_links;
    char ordinary[OCHE_DEFLECTED_BYTES]; /* "host3 tor0 agg1 … host9" */
    char taken[OCHE_DEFLECTED_BYTES];    /* likewise; "agg1*" where it was deflected */
};

struct oche_deflected {
    struct oche_deflected_line lines[OCHE_DEFLECTED_SHOWN]; /* most deflections first */
    uint32_t count;
};

void oche_deflected_take(struct oche_deflected *deflected, const struct oche_world *world);

#endif
