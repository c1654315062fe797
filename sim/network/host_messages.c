/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the ranks on a host (host_jobs.h). An eager one goes out at once. Of a longer one the
 * sender asks first (rendezvous): the request meets a receive as a message would, the receiver
 * answers, and the sender sends the data. Each step takes its rank's cpu for the job's overhead.
 */
#include <string.h>

#include "sim/network/host_programs.h"

/* A message that waits for its receive has this handle (match.h), or a request's number and 1. */
#define EAGER 0

/* ---- requests ---- */

static uint32_t keep_request(struct oche_host *host, struct program *receiver, uint32_t sender,
                             uint32_t operation)
{
    struct oche_host_jobs *jobs = host->jobs;
    uint32_t at = jobs->request_free;

    if (at == OCHE_NO_MATCH) {
        const uint32_t room = jobs->request_room == 0 ? 16 : 2 * jobs->request_room;
        struct request *requests = oche_arena_take(&host->shard->arena, room * sizeof(*requests));

        if (jobs->request_room > 0)
            memcpy(requests, jobs->requests, jobs->request_room * sizeof(*requests));
        for (uint32_t i = jobs->request_room; i < room; i++)
            requests[i].next = i + 1 < room ? i + 1 : OCHE_NO_MATCH;
        at = jobs->request_room;
        jobs->requests = requests;
        jobs->request_room = room;
    }
    jobs->request_free = jobs->requests[at].next;
    jobs->requests[at] =
        (struct request){.receiver = receiver, .sender = sender, .operation = operation};
    return at;
}

static struct request let_request_go(struct oche_host *host, uint32_t at)
{
    const struct request request = host->jobs->requests[at];

    host->jobs->requests[at].next = host->jobs->request_free;
    host->jobs->request_free = at;
    return request;
}

/* ---- places ---- */

/* Returns the program of another rank of the same job on this host. */
static struct program *beside(struct program *program, uint32_t rank)
{
    const uint32_t *local_of = program->job->local_of;

    return program + ((int64_t)local_of[rank] - (int64_t)local_of[program->rank]);
}

static bool is_beside(const struct oche_host *host, const struct program *program, uint32_t rank)
{
    return program->job->host_of[rank] == host->address;
}

/* Returns the job of a flow, and in `number` its number among the job's flows; NULL: no job's. */
static struct oche_job *job_of(const struct oche_host *host, uint32_t flow, uint32_t *number)
{
    const struct oche_jobs *jobs = &host->shared->jobs;

    for (uint32_t i = 0; i < jobs->count; i++) {
        struct oche_job *job = jobs->list[i];

        *number = flow - job->first_flow;
        if (*number < oche_job_flows(job))
            return job;
    }
    return NULL;
}

/* Returns the program of a rank that is on this host. */
static struct program *program_of(const struct oche_host *host, const struct oche_job *job,
                                  uint32_t rank)
{
    struct program *program = host->jobs->programs;

    while (program->job != job)
        program +=
            program->job->first_on[host->address + 1] - program->job->first_on[host->address];
    return program + job->local_of[rank];
}

/* ---- sending ---- */

static void start_flow(struct oche_host *host, const struct oche_job *job,
                       const struct oche_job_flow *carries, oche_time now)
{
    const uint32_t flow = job->first_flow + oche_job_number(job, carries);

    oche_flows_make_at(host->flows, flow);
    oche_host_start(host, flow, now);
}

/* Returns when data for another rank of this host is there, if it begins to move now. */
static oche_time move(struct program *program, uint64_t bytes, oche_time now)
{
    const struct oche_job_params *params = &program->job->params;
    const oche_time from = oche_time_max(now, program->local_free);

    host_program_note_posted(program, now);
    program->local_free = from;
    if (params->local_bps > 0)
        program->local_free = oche_time_add(from, oche_time_of_bytes(bytes, params->local_bps));
    return oche_time_add(program->local_free, params->local_latency);
}

/* The data of a message has begun its way. */
static void is_posted(struct oche_host *host, struct program *program, uint32_t number,
                      oche_time now)
{
    if (!program->job->params.acknowledged)
        host_program_end_op(host, program, number, now);
}

static void ask(struct oche_host *host, struct program *program, uint32_t number, oche_time now)
{
    const uint32_t peer = host_program_op(program, number).peer;

    if (is_beside(host, program, peer))
        host_program_defer(host, program, ASKS,
                           keep_request(host, beside(program, peer), program->rank, number),
                           oche_time_add(now, program->job->params.local_latency));
    else
        start_flow(host, program->job,
                   &(struct oche_job_flow){program->rank, number, OCHE_JOB_REQUEST}, now);
}

static void push(struct oche_host *host, struct program *program, uint32_t number, oche_time now)
{
    host_program_note_posted(program, now);
    start_flow(host, program->job, &(struct oche_job_flow){program->rank, number, OCHE_JOB_DATA},
               now);
    is_posted(host, program, number, now);
}

void host_program_send(struct oche_host *host, struct program *program, uint32_t number,
                       oche_time now)
{
    const struct oche_goal_op op = host_program_op(program, number);

    host_program_note_phase_begin(program, &op, now);
    if (oche_job_asks(program->job, op.size)) {
        ask(host, program, number, now);
    } else if (is_beside(host, program, op.peer)) {
        host_program_defer(host, program, MOVES, number, move(program, op.size, now));
        is_posted(host, program, number, now);
    } else {
        push(host, program, number, now);
    }
}

/* ---- arriving ---- */

void host_program_meet(struct oche_host *host, struct program *receiver, uint32_t handle,
                       uint32_t receive, oche_time now)
{
    const unsigned cpu = host_program_op(receiver, receive).cpu;

    if (handle == EAGER) {
        host_program_take_message(host, receiver, receive, now);
        return;
    }
    host->jobs->requests[handle - 1].receive = receive;
    host_program_defer(host, receiver, ANSWERS, handle - 1,
                       host_program_take_cpu(receiver, cpu, receiver->job->params.overhead, now));
}

/* A message, or the request for one, is at its receiver, whose link it took for a time at least. */
static void arrive(struct oche_host *host, struct program *receiver, uint32_t source, uint32_t tag,
                   uint32_t handle, oche_time took, oche_time now)
{
    host_program_note(receiver, took, now);

    const uint32_t receive = oche_match_arrive(oche_rank_match(receiver->way), source, tag, handle);

    if (receive != OCHE_NO_MATCH)
        host_program_meet(host, receiver, handle, receive, now);
}

/* The receiver has answered; `then` is for a rank of this host, and PUSHES of another. */
static void go_ahead(struct oche_host *host, struct program *sender, enum program_work then,
                     uint32_t number, uint32_t operation, oche_time now)
{
    const unsigned cpu = host_program_op(sender, operation).cpu;

    host_program_defer(host, sender, then, number,
                       host_program_take_cpu(sender, cpu, sender->job->params.overhead, now));
}

/* Returns how long bytes take on the host's link. */
static oche_time time_on_link(const struct oche_host *host, uint64_t bytes)
{
    const struct oche_network *network = host->shard->network;

    return oche_time_of_bytes(bytes,
                              network->extras[network->nodes[host->address].first_port].rate_bps);
}

/* The data of a message is here; `asked`: its sender has asked before. */
static void take_data(struct oche_host *host, const struct oche_job_flow *is, bool asked,
                      struct program *receiver, oche_time now)
{
    const struct oche_goal_op op = oche_goal_op(&receiver->job->goal.rank[is->rank], is->operation);
    const oche_time took = time_on_link(host, op.size);

    if (!asked) {
        arrive(host, receiver, is->rank, op.tag, EAGER, took, now);
        return;
    }
    host_program_note(receiver, took, now);
    host_program_take_message(host, receiver,
                              *oche_job_receive(receiver->job, is->rank, is->operation), now);
}

static void arrive_by_flow(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t number = 0;
    struct oche_job *job = job_of(host, flow, &number);
    const struct oche_job_flow is = oche_job_flow(job, number);
    const struct oche_goal_op op = oche_goal_op(&job->goal.rank[is.rank], is.operation);
    struct program *program = program_of(host, job, is.part == OCHE_JOB_ANSWER ? is.rank : op.peer);

    if (is.part == OCHE_JOB_ANSWER)
        go_ahead(host, program, PUSHES, is.operation, is.operation, now);
    else if (is.part == OCHE_JOB_REQUEST)
        arrive(host, program, is.rank, op.tag,
               keep_request(host, program, is.rank, is.operation) + 1,
               time_on_link(host, OCHE_JOB_CONTROL_BYTES), now);
    else
        take_data(host, &is, oche_job_asks(job, op.size), program, now);
}

static void complete_by_flow(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t number = 0;
    const struct oche_job *job = job_of(host, flow, &number);
    const struct oche_job_flow is = oche_job_flow(job, number);

    host_program_end_op(host, program_of(host, job, is.rank), is.operation, now);
}

/* Returns how long bytes take between ranks of a host. */
static oche_time local_time(const struct program *program, uint64_t bytes)
{
    const uint64_t rate_bps = program->job->params.local_bps;

    return rate_bps > 0 ? oche_time_of_bytes(bytes, rate_bps) : 0;
}

static void arrive_beside(struct oche_host *host, struct program *sender, uint32_t number,
                          oche_time now)
{
    const struct oche_goal_op op = host_program_op(sender, number);

    host_program_note_acknowledged(sender, now);
    arrive(host, beside(sender, op.peer), sender->rank, op.tag, EAGER, local_time(sender, op.size),
           now);
    if (sender->job->params.acknowledged)
        host_program_end_op(host, sender, number, now);
}

/* The cpu's part of an answer is over. */
static void answer(struct oche_host *host, struct program *receiver, uint32_t at, oche_time now)
{
    const struct oche_job *job = receiver->job;
    struct request request = host->jobs->requests[at];

    if (is_beside(host, receiver, request.sender)) {
        host_program_defer(host, beside(receiver, request.sender), IS_GRANTED, at,
                           oche_time_add(now, job->params.local_latency));
        return;
    }
    let_request_go(host, at);
    *oche_job_receive(job, request.sender, request.operation) = request.receive;
    start_flow(host, job,
               &(struct oche_job_flow){request.sender, request.operation, OCHE_JOB_ANSWER}, now);
}

/* ---- what is due ---- */

/* The data of a message whose sender has asked is at a rank of this host. */
static void is_there(struct oche_host *host, struct program *sender, uint32_t at, oche_time now)
{
    const struct request request = let_request_go(host, at);

    host_program_note_acknowledged(sender, now);
    host_program_note(request.receiver,
                      local_time(sender, host_program_op(sender, request.operation).size), now);
    host_program_take_message(host, request.receiver, request.receive, now);
    if (sender->job->params.acknowledged)
        host_program_end_op(host, sender, request.operation, now);
}

static void hand_over(struct oche_host *host, struct program *sender, uint32_t at, oche_time now)
{
    const uint32_t operation = host->jobs->requests[at].operation;
    const uint64_t bytes = host_program_op(sender, operation).size;

    host_program_defer(host, sender, IS_THERE, at, move(sender, bytes, now));
    is_posted(host, sender, operation, now);
}

static void request_due(struct oche_host *host, const struct oche_deferred *due, oche_time now)
{
    const struct request request = host->jobs->requests[due->number];
    struct program *program = due->object;

    if (due->kind == ASKS)
        arrive(host, request.receiver, request.sender,
               host_program_op(program, request.operation).tag, due->number + 1, 0, now);
    else if (due->kind == ANSWERS)
        answer(host, program, due->number, now);
    else if (due->kind == IS_GRANTED)
        go_ahead(host, program, HANDS_OVER, due->number, request.operation, now);
    else if (due->kind == HANDS_OVER)
        hand_over(host, program, due->number, now);
    else
        is_there(host, program, due->number, now);
}

void host_program_message_due(struct oche_host *host, const struct oche_deferred *due,
                              oche_time now)
{
    if (due->kind == ARRIVES)
        arrive_by_flow(host, due->number, now);
    else if (due->kind == COMPLETES)
        complete_by_flow(host, due->number, now);
    else if (due->kind == MOVES)
        arrive_beside(host, due->object, due->number, now);
    else if (due->kind == PUSHES)
        push(host, due->object, due->number, now);
    else
        request_due(host, due, now);
}

/* ---- flows of the host ---- */

void oche_host_jobs_delivered(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t number = 0;

    if (job_of(host, flow, &number) == NULL)
        return;
    host_program_defer(host, NULL, ARRIVES, flow, now);
    host->next_start = oche_time_min(host->next_start, now);
}

void oche_host_jobs_completed(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t number = 0;
    struct oche_job *job = job_of(host, flow, &number);

    if (job == NULL || (job->timeline.rows == 0 && !job->params.acknowledged))
        return;

    const struct oche_job_flow is = oche_job_flow(job, number);

    if (is.part != OCHE_JOB_DATA)
        return;
    if (job->timeline.rows > 0)
        host_program_note_acknowledged(program_of(host, job, is.rank), now);
    if (!job->params.acknowledged || host->flows->sent[flow].failed != 0)
        return;
    host_program_defer(host, NULL, COMPLETES, flow, now);
    host->next_start = oche_time_min(host->next_start, now);
}
