/* SPDX-License-Identifier: Apache-2.0 */
/* The flows of a fluid model, as they are written: "2", "40Gbps,5Gbps@10ms", "8x10Gbps". */
#ifndef OCHE_LAB_FLUID_FLOWS_H
#define OCHE_LAB_FLUID_FLOWS_H

#include "fluid/fluid.h"
#include "params/error.h"

#define OCHE_FLUID_MOST_FLOWS 100000 /* in all; alike ones are computed once */

/* Entries of flows that are alike. Ended by oche_fluid_flows_free. */
struct oche_fluid_flow_list {
    struct oche_fluid_flow *flows;
    size_t count;   /* entries */
    uint32_t total; /* flows */
};

/*
 * Reads "ENTRY,ENTRY…", where an entry is a COUNT of flows at `capacity_bps`, or
 * [COUNTx]RATE[@START]. False and what is wrong in `error`, with what would be right.
 */
bool oche_fluid_flows_read(struct oche_fluid_flow_list *list, const char *text, double capacity_bps,
                           struct oche_error *error);

/* Adds a flow; to the last entry, if it is the same. False: there are too many. */
bool oche_fluid_flows_add(struct oche_fluid_flow_list *list, double rate_bps, double start_s,
                          uint32_t count);
void oche_fluid_flows_free(struct oche_fluid_flow_list *list);

#endif
