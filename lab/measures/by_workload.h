/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a run for each entry of the scenario's list of workloads, for example when two
 * kinds of traffic share a network.
 */
#ifndef OCHE_LAB_MEASURES_BY_WORKLOAD_H
#define OCHE_LAB_MEASURES_BY_WORKLOAD_H

#include "lab/measures/jobs.h"

struct oche_workload_outcome {
    const char *type; /* the workload's type: "incast"; not owned */
    /* Flows that started after warm-up. */
    uint64_t flows, delivered, failed;
    /* Payload of the workload's flows that receivers got in order after warm-up. */
    uint64_t delivered_bytes;
    double goodput_bps; /* `delivered_bytes` as a rate: divided by the measured time */
    /*
     * `offered_bps`: payload that applications produced after warm-up, divided by the measured
     * time. `backlog_bytes`: payload that they have produced since the start and that receivers did
     * not have at the end. Neither includes failed flows.
     */
    double offered_bps;
    bool open;      /* a clock starts its flows (sim/world/run/load.c) */
    bool supplied;  /* at least one of the flows is produced at a given rate */
    double carried; /* goodput_bps / offered_bps; NAN: not supplied, or nothing was offered */
    uint64_t backlog_bytes;
    /*
     * Goodput of each flow that started after warm-up, from the flow's start to its end, or to the
     * end of the run if that is earlier.
     */
    struct oche_sorted_values flow_goodput;
    /*
     * Goodput of each pair of sender and receiver: what the pair's flows delivered after warm-up,
     * divided by the measured time. Includes every pair that has a flow that started.
     */
    struct oche_sorted_values pair_goodput;
    /*
     * Time from each flow's start to its last ACK, in seconds, of flows that started after warm-up
     * and completed. For a flow of one packet it is the packet's round trip.
     */
    struct oche_sorted_values round_trip;
    /* Completion time of each flow that started after warm-up and was delivered, in seconds. */
    struct oche_sorted_values fct;
    /* Time from each flow's start to its failure, of flows that started after warm-up. */
    struct oche_sorted_values failed_after;
    struct oche_job_outcome job;
};

struct oche_by_workload {
    struct oche_workload_outcome *workloads; /* malloc'd */
    uint32_t count;
};

/* Fills `by` from a world that has run. The caller releases it with oche_by_workload_free. */
void oche_by_workload_take(struct oche_by_workload *by, const struct oche_world *world,
                           oche_time measured);
void oche_by_workload_free(struct oche_by_workload *by);

/*
 * Returns a flow's goodput in bytes per picosecond: payload that the receiver had in order, divided
 * by the time from the flow's start to its end (delivery, failure, or the end of the run). Returns
 * -1 if the flow has no goodput because it began during warm-up, at the end, or never.
 */
double oche_flow_goodput(const struct oche_world *world, uint32_t number);

#endif
