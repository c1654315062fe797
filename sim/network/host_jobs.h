/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of jobs (sim/graph/job.h) on a host: programs that calculate, send and receive. A send
 * takes its cpu for the job's overhead and then posts a flow; a message that has arrived and has a
 * receive takes the receiver's cpu for as long. Operations of a cpu follow one another in the order
 * in which they became ready. The streams of NICs that a schedule may name have no meaning here:
 * the host has one NIC, as the network has it.
 */
#ifndef OCHE_SIM_NETWORK_HOST_JOBS_H
#define OCHE_SIM_NETWORK_HOST_JOBS_H

#include "sim/graph/job.h"
#include "sim/network/host.h"

struct oche_host_jobs;

/* Makes the host's programs, if it has any. */
void oche_host_jobs_start(struct oche_host *host);
/* Returns when a program acts next; OCHE_NEVER: only when a flow has ended. */
oche_time oche_host_jobs_next(const struct oche_host_jobs *jobs);
/* Lets programs act that are due at `now`. */
void oche_host_jobs_run(struct oche_host *host, oche_time now);
/* A flow has been delivered at this host, or is completed at it: a program will know at `now`. */
void oche_host_jobs_delivered(struct oche_host *host, uint32_t flow, oche_time now);
void oche_host_jobs_completed(struct oche_host *host, uint32_t flow, oche_time now);
/* The run ends at `now`: completes the timelines of ranks that have not ended. */
void oche_host_jobs_finish(struct oche_host *host, oche_time now);

#endif
