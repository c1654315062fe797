/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run came to for each entry of the scenario's list of workloads: where two kinds of traffic
 * share a network, what became of either.
 */
#ifndef OCHE_LAB_MEASURES_BY_WORKLOAD_H
#define OCHE_LAB_MEASURES_BY_WORKLOAD_H

#include "sim/world/world.h"

/* One value a flow, or a pair; ascending, malloc'd. */
struct oche_sorted_values {
    double *values;
    size_t count;
};

struct oche_workload_outcome {
    const char *type; /* "incast"; not owned */
    /* Flows that started after warm-up. */
    uint64_t flows, delivered, failed;
    /* Payload that receivers got in order after warm-up, of any of its flows. */
    uint64_t delivered_bytes;
    double goodput_bps; /* that, over the measured time */
    /* Payload that applications made after warm-up, over that time; and of all that they ever made
     * what receivers did not have at the end. Failed flows are in neither. */
    double offered_bps;
    bool supplied;  /* a flow of it is made at a rate of its own */
    double carried; /* goodput_bps over offered_bps; NAN: not supplied, or nothing was offered */
    uint64_t backlog_bytes;
    /* Of a flow that started after warm-up, from its start to its end, or the run's. */
    struct oche_sorted_values flow_goodput;
    /*
     * Of a pair of hosts, sender and receiver: what its flows delivered after warm-up, over the
     * measured time. All pairs of which a flow has started.
     */
    struct oche_sorted_values pair_goodput;
};

struct oche_by_workload {
    struct oche_workload_outcome *workloads; /* malloc'd */
    uint32_t count;
};

/* Fills it from a world that has run; oche_by_workload_free frees what it holds. */
void oche_by_workload_take(struct oche_by_workload *by, const struct oche_world *world,
                           oche_time measured);
void oche_by_workload_free(struct oche_by_workload *by);

/*
 * A flow's goodput: payload that the receiver had in order, over the time from the flow's start to
 * its end (delivery, failure, or the end of the run). Bytes per picosecond; -1: none, because the
 * flow began during warm-up, at the end, or never.
 */
double oche_flow_goodput(const struct oche_world *world, uint32_t number);

#endif
