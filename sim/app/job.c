/* SPDX-License-Identifier: Apache-2.0 */
/* Adds jobs: their messages between hosts are a source of flows. */
#include "sim/app/job.h"

#include <stdlib.h>

const char *const oche_send_ends_names[] = {"posted", "acknowledged", NULL};
const char *const oche_job_verb_names[] = {"write", "send", NULL};

/* Returns the queue pair, of those between two hosts, that a flow takes. */
static uint32_t channel_of(const struct oche_job *job, uint32_t from, uint32_t to, uint32_t number)
{
    const uint32_t pair = job->local_of[from] * job->local_most + job->local_of[to];

    return pair * job->params.channels + oche_job_channel(job, number);
}

/* Describes a flow of a message. A message without bytes travels as one of a byte. */
static void flow_at(const struct oche_flow_source *source, uint32_t number,
                    struct oche_flow_plan *plan)
{
    const struct oche_job *job = source->context;
    const struct oche_job_flow flow = oche_job_flow(job, number);
    const struct oche_goal_op op = oche_goal_op(&job->goal.rank[flow.rank], flow.operation);
    const bool returns = flow.part == OCHE_JOB_ANSWER;
    const uint32_t from = returns ? op.peer : flow.rank, to = returns ? flow.rank : op.peer;

    plan->src = job->host_of[from];
    plan->dst = job->host_of[to];
    plan->bytes = flow.part != OCHE_JOB_DATA ? OCHE_JOB_CONTROL_BYTES : op.size > 0 ? op.size : 1;
    plan->priority = plan->bytes <= source->priority_bytes;
    plan->channel = channel_of(job, from, to, number);
}

/* Adds a source that has all messages of the job to other hosts. */
static bool add_source(struct oche_job *job, const struct oche_workload_facts *facts,
                       struct oche_flow_list *list)
{
    struct oche_flow_source source = oche_flow_list_source(list, facts->number, 0, 1, OCHE_NEVER);

    job->first_flow = list->count;
    source.at = flow_at;
    source.context = job;
    source.count = oche_job_flows(job);
    return oche_flow_list_add_source(list, &source);
}

bool oche_workload_add_job(const struct oche_job_plan *plan,
                           const struct oche_job_settings *settings,
                           const struct oche_workload_facts *facts, struct oche_flow_list *list,
                           struct oche_error *error)
{
    const struct oche_job_params params = {.start = settings->start,
                                           .overhead = settings->overhead,
                                           .local_bps = settings->local_rate,
                                           .local_latency = settings->local_latency,
                                           .channels = (uint32_t)settings->channels,
                                           .acknowledged = settings->send_ends == 1,
                                           .eager_bytes = settings->rendezvous_above};
    struct oche_goal goal = plan->goal;
    struct oche_error why;
    struct oche_job *job;

    list->initial_rate_bps = settings->initial_rate;
    list->tenant = (uint8_t)settings->tenant;
    job = oche_job_create(&goal, plan->host_of, facts->host_count, &params, plan->repeats,
                          OCHE_MAX_FLOW_BYTES, &why);
    if (job == NULL)
        return oche_fail(error, "%s: %s", plan->source, why.text);
    job->workload = facts->number;
    if ((uint64_t)job->local_most * job->local_most * params.channels > OCHE_FLOW_CHANNELS) {
        oche_fail(error,
                  "channels: %u ranks on a host and %u channels need more than %u queue pairs of "
                  "two hosts; fewer",
                  job->local_most, params.channels, OCHE_FLOW_CHANNELS);
        oche_job_free(job);
        return false;
    }
    if (!oche_flow_list_add_job(list, job) || !add_source(job, facts, list))
        return oche_workload_no_memory(list, error);
    return true;
}
