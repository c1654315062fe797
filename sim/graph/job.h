/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job: a schedule whose ranks are programs on hosts. Its messages between hosts are flows whose
 * numbers follow one another. They are numbered in chunks of the flows of a rank's messages: the
 * first chunk of each rank, then the second ones, and so on; so flows with near numbers are over at
 * about the same time, and can be moved out of memory (flow_rest.c). Messages between ranks of one
 * host do not use the network.
 */
#ifndef OCHE_SIM_GRAPH_JOB_H
#define OCHE_SIM_GRAPH_JOB_H

#include "sim/graph/collective/collective.h"
#include "sim/graph/goal.h"
#include "sim/graph/rank.h"
#include "sim/graph/timeline.h"

/* How ranks run and send. */
struct oche_job_params {
    oche_time start;         /* when all ranks begin */
    oche_time overhead;      /* of a cpu, for each send, and for each receive with a message */
    uint64_t local_bps;      /* rate of messages between ranks of a host */
    oche_time local_latency; /* and what such a message takes besides */
    uint32_t channels;       /* queue pairs of each pair of ranks, which its messages use in turn */
    bool acknowledged;       /* a send ends when it is acknowledged; false: when it is posted */
    uint64_t eager_bytes;    /* the sender of a longer message asks first (rendezvous) */
};

/*
 * A message is one flow if it is eager. Otherwise it is three: the sender's request, the receiver's
 * answer, and the data.
 */
enum oche_job_flow_part { OCHE_JOB_REQUEST, OCHE_JOB_ANSWER, OCHE_JOB_DATA };
#define OCHE_JOB_PARTS         3
#define OCHE_JOB_CONTROL_BYTES 64 /* of a request, and of an answer */

/* Results of a rank; its host writes them. */
struct oche_job_rank {
    oche_time ended; /* its last operation; OCHE_NEVER: it has not */
    oche_time busy;  /* time in which at least one of its cpus calculates, sends or receives */
    /* Set by oche_job_finish: how many receives and messages wait, and the first of each. */
    uint64_t receives, messages;
    uint64_t receive;     /* operation */
    uint64_t sender, tag; /* of a message */
};

/* A collective operation, and how often the job does it. */
struct oche_job_repeats {
    char title[64]; /* "all_reduce (ring)"; "": it is not one */
    struct oche_collective of;
    uint64_t bytes;    /* of one operation */
    double bus_factor; /* bus bandwidth over algorithm bandwidth */
    uint32_t count;
    /* By rank and repetition: the operations whose ends begin and end it; malloc'd. */
    uint32_t *begins, *ends;
};

/* Some flows of a rank's messages whose numbers follow one another. */
struct oche_job_chunk {
    uint32_t rank, place; /* the first one's place among those of the rank's messages */
    uint32_t number;      /* its number among those of the job */
};

/* The contents of a flow. */
struct oche_job_flow {
    uint32_t rank, operation; /* the message's send */
    enum oche_job_flow_part part;
};

struct oche_job {
    struct oche_goal goal; /* the job's own */
    struct oche_job_repeats repeats;
    /* By rank and repetition: when it has begun and ended; OCHE_NEVER: it has not. */
    oche_time *begun, *ended;
    /*
     * By rank, repetition and phase: when the first message was posted and when the last one was
     * received; OCHE_NEVER: none was. phases 0: they are not noted (oche_job_keep_details).
     */
    oche_time *phase_begun, *phase_ended;
    uint32_t phases;
    struct oche_timeline timeline;
    struct oche_job_params params;
    uint32_t workload; /* index in the scenario's list */
    uint32_t hosts;    /* of the network */
    uint32_t *host_of; /* by rank */
    /* The ranks of a host are on_host[first_on[host] … first_on[host + 1]), in rising order. */
    uint32_t *first_on, *on_host;
    uint32_t *local_of;  /* by rank: its place among those of its host */
    uint32_t local_most; /* ranks of the host that has most */
    /*
     * The flows of a rank's messages belong to its operations sends[first_send[rank] …
     * first_send[rank + 1]): each eager message is there once, and others OCHE_JOB_PARTS times.
     */
    uint32_t *first_send, *sends;
    /* for each of these flows, the queue pair of its two ranks that it takes; NULL: there is one */
    uint8_t *channels;
    /* for each of them that is an answer, the receive that it is for; NULL: all are eager */
    uint32_t *receives;
    struct oche_job_chunk *chunks; /* in the order of numbers */
    uint32_t chunk_count;
    /* The numbers of a rank's chunks are chunk_of[first_chunk[rank] … first_chunk[rank + 1]). */
    uint32_t *first_chunk, *chunk_of;
    uint32_t first_flow;           /* number of the first flow */
    struct oche_job_rank *results; /* by rank */
    struct oche_rank **ways;       /* by rank; NULL: no host here runs it */
};

struct oche_jobs {
    struct oche_job **list; /* malloc'd */
    uint32_t count;
};

/*
 * Makes a job of a schedule, which it takes over, and of the host of each rank (malloc'd, taken
 * over). `repeats` (NULL: the job is no collective operation) is copied, with its operations.
 * Returns NULL, with an error, if a message is longer than a flow may be or there are too many;
 * then the schedule is closed.
 */
struct oche_job *oche_job_create(struct oche_goal *goal, uint32_t *host_of, uint32_t hosts,
                                 const struct oche_job_params *params,
                                 const struct oche_job_repeats *repeats, uint64_t most_bytes,
                                 struct oche_error *error);
void oche_job_free(struct oche_job *job);
/*
 * To be called before the run: its hosts note when phases begin and end, unless there are more than
 * OCHE_JOB_PHASES of all ranks and repetitions, and how ranks spend their time.
 */
#define OCHE_JOB_PHASES (UINT64_C(1) << 22)
void oche_job_keep_details(struct oche_job *job);
void oche_jobs_free(struct oche_jobs *jobs);

/* The ranks that have not ended, and the receives and messages that wait. */
struct oche_job_waits {
    uint32_t ranks;    /* that have not ended */
    uint64_t receives; /* that have no message; the first is `operation` of rank `receiver` */
    uint32_t receiver, operation;
    uint64_t messages; /* that have no receive; the first goes from `sender` to `target` */
    uint32_t sender, target, tag;
};
/* To be called when the run is over: notes what waits at ranks that run in this process. */
void oche_job_finish(struct oche_job *job);
/* Returns what has been noted of all ranks. */
struct oche_job_waits oche_job_waits(const struct oche_job *job);

/* A repetition, or a phase of one, over all ranks. */
struct oche_job_part {
    oche_time begun, ended; /* by the first rank, and by the last one */
    uint32_t last;          /* the rank that ended it last; of several the lowest */
};
/* Finds a repetition. Returns false if not all ranks have ended it. */
bool oche_job_repetition(const struct oche_job *job, uint32_t repetition,
                         struct oche_job_part *part);
/*
 * Finds a phase of a repetition that all ranks have ended: from the first message that was posted
 * to the last one that was received. Returns false if the phase had no messages.
 */
bool oche_job_phase(const struct oche_job *job, uint32_t repetition, uint32_t phase,
                    struct oche_job_part *part);

/* Returns the time of all that does not use the network, one operation after the other. */
oche_time oche_job_serial(const struct oche_job *job);
/* Returns how many flows the messages to other hosts are. */
static inline uint32_t oche_job_flows(const struct oche_job *job)
{
    return job->first_send[job->goal.ranks];
}
/* Returns what a flow carries; `number` counts from the job's first flow. */
struct oche_job_flow oche_job_flow(const struct oche_job *job, uint32_t number);
/* Returns the queue pair of the two ranks that a flow takes. */
uint32_t oche_job_channel(const struct oche_job *job, uint32_t number);
/* Returns the number of a flow of a send to another host. The part must be one that it has. */
uint32_t oche_job_number(const struct oche_job *job, const struct oche_job_flow *flow);
/* Returns where the receive is noted to which the receiver's answer belongs. */
uint32_t *oche_job_receive(const struct oche_job *job, uint32_t rank, uint32_t operation);
/* True if the sender of a message of so many bytes asks first. */
static inline bool oche_job_asks(const struct oche_job *job, uint64_t bytes)
{
    return bytes > job->params.eager_bytes;
}

#endif
