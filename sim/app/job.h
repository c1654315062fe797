/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the types of workload that run jobs (sim/graph/job.h). */
#ifndef OCHE_SIM_APP_JOB_H
#define OCHE_SIM_APP_JOB_H

#include "sim/app/placement.h"
#include "sim/graph/job.h"

/* The parameters that each of them has. */
struct oche_job_settings {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    struct oche_placement_params place;
    oche_time start, overhead, local_latency;
    uint64_t local_rate, channels, rendezvous_above;
    uint32_t send_ends; /* 0: when it is posted; 1: when it is acknowledged */
};
extern const char *const oche_send_ends_names[];

/* `type` has a member `job`, of struct oche_job_settings. */
#define OCHE_PARAM_JOB(type)                                                                       \
    {OCHE_PARAM_AS("placement", struct type, job.place.placement),                                 \
     OCHE_IS_CHOICE(OCHE_PLACE_PACKED, oche_placement_names), .where = "workloads.md#jobs",        \
     .help =                                                                                       \
         "hosts of the ranks: the first ones (packed), as far apart as they can be (strided), "    \
         "or drawn (random)"},                                                                     \
        {OCHE_PARAM_AS("hosts", struct type, job.place.hosts), OCHE_IS_TEXT,                       \
         .where = "workloads.md#jobs",                                                             \
         .help = "these hosts, in this order, in place of placement: host3, host5"},               \
        {OCHE_PARAM_AS("first_host", struct type, job.place.first_host),                           \
         OCHE_IS_COUNT(0, 0, UINT32_MAX), .where = "workloads.md#jobs",                            \
         .help = "packed: number of the first host, so that jobs can be side by side"},            \
        {OCHE_PARAM_AS("ranks_per_host", struct type, job.place.ranks_per_host),                   \
         OCHE_IS_COUNT(1, 1, 64), .where = "workloads.md#jobs",                                    \
         .help = "ranks (GPUs) of a host; neighbours by number are on one host"},                  \
        {OCHE_PARAM_AS("local_rate", struct type, job.local_rate),                                 \
         OCHE_IS_BPS(3600 * OCHE_GBPS, 0, UINT64_C(100000) * OCHE_GBPS),                           \
         .where = "workloads.md#jobs",                                                             \
         .help = "rate at which a rank sends to others of its host (NVLink); 0: no limit"},        \
        {OCHE_PARAM_AS("local_latency", struct type, job.local_latency),                           \
         OCHE_IS_TIME(OCHE_US, 0, OCHE_SEC), .where = "our choice",                                \
         .help = "what such a message takes besides"},                                             \
        {OCHE_PARAM_AS("overhead", struct type, job.overhead), OCHE_IS_TIME(0, 0, OCHE_SEC),       \
         .where = "workloads.md#jobs",                                                             \
         .help = "time of a rank's cpu for each send and each receive (LogGOPS: o)"},              \
        {OCHE_PARAM_AS("send_ends", struct type, job.send_ends),                                   \
         OCHE_IS_CHOICE(0, oche_send_ends_names), .where = "workloads.md#jobs",                    \
         .help = "when a send is over for what waits for it: posted, as in LogGOPSim, or "         \
                 "acknowledged"},                                                                  \
        {OCHE_PARAM_AS("channels", struct type, job.channels), OCHE_IS_COUNT(1, 1, 64),            \
         .where = "workloads.md#jobs",                                                             \
         .help = "queue pairs of each pair of ranks, which its messages use in turn"},             \
        {OCHE_PARAM_AS("rendezvous_above", struct type, job.rendezvous_above),                     \
         OCHE_IS_BYTES(OCHE_NEVER, 0, OCHE_NEVER), .usual_most = 65536,                            \
         .where = "workloads.md#jobs",                                                             \
         .help = "the sender of a longer message asks the receiver first, and sends it when a "    \
                 "receive is posted (MPI: rendezvous; LogGOPS: S)"},                               \
        {OCHE_PARAM_AS("start", struct type, job.start), OCHE_IS_TIME(0, 0, OCHE_NEVER),           \
         .help = "when all ranks begin"},                                                          \
        {OCHE_PARAM_AS("initial_rate", struct type, job.initial_rate),                             \
         OCHE_IS_BPS(0, 0, 1000 * OCHE_GBPS), .where = "DCQCN sec 3.1",                            \
         .help = "of each queue pair's sender, on the line; 0, or more than the line: line rate, " \
                 "or what congestion control begins with"},                                        \
        {OCHE_PARAM_AS("tenant", struct type, job.tenant), OCHE_IS_COUNT(0, 0, UINT8_MAX),         \
         .needs = "congestion_control=dart", .where = "Dart sec III-E",                            \
         .help =                                                                                   \
             "tenant that the flows belong to, for congestion control that knows tenants (dart)"}, \
    {                                                                                              \
        OCHE_PARAM_AS("verb", struct type, job.verb),                                              \
            OCHE_IS_CHOICE(OCHE_VERB_WRITE, oche_job_verb_names),                                  \
            .help = "what moves a message: a WRITE or a SEND of its sender"                        \
    }
extern const char *const oche_job_verb_names[];

/*
 * Adds a job that runs the schedule of a file, with defaults for all but a flow's
 * `initial_rate_bps` and `tenant`. As a type's `generate`.
 */
bool oche_workload_add_schedule(const char *file, uint64_t initial_rate_bps, uint64_t tenant,
                                uint32_t verb, const struct oche_workload_facts *facts,
                                struct oche_flow_list *list, struct oche_error *error);
/* The parts of a job. */
struct oche_job_plan {
    struct oche_goal goal;
    uint32_t *host_of;                      /* of oche_place_ranks */
    const struct oche_job_repeats *repeats; /* NULL: it is no collective operation */
    const char *source; /* a file or a key, with which an error about its messages begins */
};

/*
 * Adds a job, which takes over the plan's memory. Returns false, with an error, if there are too
 * many messages, or one is too long.
 */
bool oche_workload_add_job(const struct oche_job_plan *plan,
                           const struct oche_job_settings *settings,
                           const struct oche_workload_facts *facts, struct oche_flow_list *list,
                           struct oche_error *error);

#endif
