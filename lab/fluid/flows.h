/* SPDX-License-Identifier: Apache-2.0 */
/* The flows of a fluid model, as text: "2", "40Gbps,5Gbps@10ms", "8x10Gbps". */
#ifndef OCHE_LAB_FLUID_FLOWS_H
#define OCHE_LAB_FLUID_FLOWS_H

#include "fluid/fluid.h"
#include "params/error.h"

/* most flows in a list; equal flows are computed only once */
#define OCHE_FLUID_MOST_FLOWS 100000

/* A list whose entries stand for equal flows. The caller frees it with oche_fluid_flows_free. */
struct oche_fluid_flow_list {
    struct oche_fluid_flow *flows;
    size_t count;   /* number of entries */
    uint32_t total; /* number of flows */
};

/*
 * Parses "ENTRY,ENTRY…". An entry is either COUNT, which gives flows at `capacity_bps`, or
 * [COUNTx]RATE[@START]. Returns false, with what is wrong and what would be right in `error`.
 */
bool oche_fluid_flows_read(struct oche_fluid_flow_list *list, const char *text, double capacity_bps,
                           struct oche_error *error);

/*
 * Adds `count` equal flows. If the last entry has flows with the same rate and start, adds them to
 * that entry; else makes a new entry. Returns false if the list would have too many flows.
 */
bool oche_fluid_flows_add(struct oche_fluid_flow_list *list, double rate_bps, double start_s,
                          uint32_t count);
void oche_fluid_flows_free(struct oche_fluid_flow_list *list);

#endif
