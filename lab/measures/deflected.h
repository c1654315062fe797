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
    /* the actual path; "agg1*" where the message was deflected */
    char taken[OCHE_DEFLECTED_BYTES];
};

struct oche_deflected {
    struct oche_deflected_line lines[OCHE_DEFLECTED_SHOWN]; /* most deflected message first */
    uint32_t count;
};

void oche_deflected_take(struct oche_deflected *deflected, const struct oche_world *world);

#endif
