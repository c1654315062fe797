/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks on a host; see host_jobs.h. */
#include "sim/network/host_jobs.h"

#include <string.h>

#include "sim/network/deferred.h"
#include "sim/network/host_state.h"

/* A rank of a job on this host. */
struct program {
    struct oche_job *job;
    uint32_t rank;
    uint32_t begun, ended; /* repetitions (struct oche_job_repeats) */
    struct oche_rank *way;
    oche_time *cpu_free;  /* by cpu: when it has done what it is to do */
    oche_time local_free; /* the same of its sends to other ranks of this host */
    oche_time busy_until; /* the last of its cpus */
};

struct oche_host_jobs {
    struct oche_deferred_heap heap;
    struct program *programs; /* by job, and in the order of ranks */
    uint32_t count;
    uint32_t *ready; /* operations that became ready at once; of the arena */
    uint32_t ready_room;
};

/* Deferred work. `object` is the program, and `number` an operation, unless stated otherwise. */
enum kind {
    BEGINS,    /* the program begins */
    STARTS,    /* the operation starts, and others wait for that */
    SENDS,     /* the cpu's part of a send is over */
    ENDS,      /* the operation is over */
    ARRIVES,   /* a message is here: `number` is its flow */
    COMPLETES, /* a message is acknowledged: `number` is its flow */
    MOVES,     /* a message between ranks of this host is there */
};

static void defer(struct oche_host *host, struct program *program, enum kind kind, uint32_t number,
                  oche_time until)
{
    oche_deferred_add(
        &host->jobs->heap, &host->shard->arena,
        &(struct oche_deferred){
            .until = until, .object = program, .number = number, .kind = (uint8_t)kind});
}

static struct oche_goal_op op_of(const struct program *program, uint32_t operation)
{
    return oche_goal_op(&program->job->goal.rank[program->rank], operation);
}

/* Returns the program of another rank of the same job on this host. */
static struct program *beside(struct program *program, uint32_t rank)
{
    const uint32_t *local_of = program->job->local_of;

    return program + ((int64_t)local_of[rank] - (int64_t)local_of[program->rank]);
}

/* ---- operations ---- */

static oche_time time_of_ns(uint64_t ns)
{
    return ns < OCHE_TIME_LIMIT / OCHE_NS ? ns * OCHE_NS : OCHE_TIME_LIMIT;
}

/*
 * Takes a cpu for a time, from now or from when it has done what it is to do. Returns the end. What
 * is taken reaches from now to the cpu's end without a gap; so the rank is busy until the last end.
 */
static oche_time take_cpu(struct program *program, unsigned cpu, oche_time time, oche_time now)
{
    oche_time *cpu_free = &program->cpu_free[cpu];
    const oche_time before = oche_time_max(now, program->busy_until);

    *cpu_free = oche_time_add(oche_time_max(now, *cpu_free), time);
    if (*cpu_free > before) {
        program->job->results[program->rank].busy += *cpu_free - before;
        program->busy_until = *cpu_free;
    }
    return *cpu_free;
}

static void start_op(struct oche_host *host, struct program *program, uint32_t number,
                     oche_time now)
{
    const struct oche_goal_op op = op_of(program, number);
    const oche_time from = oche_time_max(now, program->cpu_free[op.cpu]);
    const oche_time takes =
        op.type == OCHE_GOAL_CALC ? time_of_ns(op.size) : program->job->params.overhead;

    if (op.start_count > 0)
        defer(host, program, STARTS, number, from);
    defer(host, program, op.type == OCHE_GOAL_SEND ? SENDS : ENDS, number,
          take_cpu(program, op.cpu, takes, now));
}

/* A receive has its message. */
static void take_message(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now)
{
    const unsigned cpu = op_of(program, number).cpu;

    defer(host, program, ENDS, number, take_cpu(program, cpu, program->job->params.overhead, now));
}

static void post_receive(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now)
{
    const struct oche_goal_op op = op_of(program, number);

    if (op.start_count > 0)
        defer(host, program, STARTS, number, now);
    if (oche_match_post(oche_rank_match(program->way), op.peer, op.tag, number) != OCHE_NO_MATCH)
        take_message(host, program, number, now);
}

static void keep_ready(struct oche_host *host, uint32_t count, uint32_t operation)
{
    struct oche_host_jobs *jobs = host->jobs;

    if (count == jobs->ready_room) {
        const uint32_t room = count == 0 ? 64 : 2 * count;
        uint32_t *ready = oche_arena_take(&host->shard->arena, room * sizeof(*ready));

        if (count > 0)
            memcpy(ready, jobs->ready, count * sizeof(*ready));
        jobs->ready = ready;
        jobs->ready_room = room;
    }
    jobs->ready[count] = operation;
}

/*
 * Starts the operations that are ready. Of those that became so at once sends come first, then
 * receives, as in LogGOPSim.
 */
static void go_on(struct oche_host *host, struct program *program, oche_time now)
{
    struct oche_host_jobs *jobs = host->jobs;
    uint32_t count = 0, next;

    while ((next = oche_rank_next(program->way)) != OCHE_NO_MATCH)
        keep_ready(host, count++, next);
    for (uint8_t type = OCHE_GOAL_SEND; type <= OCHE_GOAL_CALC; type++)
        for (uint32_t i = 0; i < count; i++) {
            if (op_of(program, jobs->ready[i]).type != type)
                continue;
            if (type == OCHE_GOAL_RECV)
                post_receive(host, program, jobs->ready[i], now);
            else
                start_op(host, program, jobs->ready[i], now);
        }
}

static void end_program(struct oche_host *host, const struct program *program, oche_time now)
{
    program->job->results[program->rank].ended = now;
    oche_trace_emit(oche_host_trace(host), now, OCHE_TRACE_RANK_ENDED, 0, program->rank,
                    program->job->workload);
    host->shard->awaited_completed++;
}

/* Notes the begin or the end of a repetition. */
static void note_repetition(struct program *program, uint32_t number, oche_time now)
{
    const struct oche_job *job = program->job;
    const size_t first = (size_t)program->rank * job->repeats.count;

    if (program->begun < job->repeats.count &&
        job->repeats.begins[first + program->begun] == number)
        job->begun[first + program->begun++] = now;
    if (program->ended < job->repeats.count && job->repeats.ends[first + program->ended] == number)
        job->ended[first + program->ended++] = now;
}

static void end_op(struct oche_host *host, struct program *program, uint32_t number, oche_time now)
{
    note_repetition(program, number, now);
    oche_rank_ended(program->way, number);
    if (oche_rank_is_done(program->way))
        end_program(host, program, now);
    else
        go_on(host, program, now);
}

/* ---- messages ---- */

/* Sends to another rank of this host. */
static void move(struct oche_host *host, struct program *program, uint32_t number, uint64_t bytes,
                 oche_time now)
{
    const struct oche_job_params *params = &program->job->params;
    const oche_time from = oche_time_max(now, program->local_free);

    program->local_free = from;
    if (params->local_bps > 0)
        program->local_free = oche_time_add(from, oche_time_of_bytes(bytes, params->local_bps));
    defer(host, program, MOVES, number, oche_time_add(program->local_free, params->local_latency));
}

static void send_message(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now)
{
    const struct oche_job *job = program->job;
    const struct oche_goal_op op = op_of(program, number);

    if (job->host_of[op.peer] == host->address) {
        move(host, program, number, op.size, now);
    } else {
        const uint32_t flow = job->first_flow + oche_job_message(job, program->rank, number);

        oche_flows_make_at(host->flows, flow);
        oche_host_start(host, flow, now);
    }
    if (!job->params.acknowledged)
        end_op(host, program, number, now);
}

/* A message is at its receiver. */
static void arrive(struct oche_host *host, struct program *receiver, uint32_t source, uint32_t tag,
                   oche_time now)
{
    const uint32_t receive = oche_match_arrive(oche_rank_match(receiver->way), source, tag, 0);

    if (receive != OCHE_NO_MATCH)
        take_message(host, receiver, receive, now);
}

/* Returns the job of a flow, and in `message` the flow's message; NULL: no job has it. */
static struct oche_job *job_of(const struct oche_host *host, uint32_t flow, uint32_t *message)
{
    const struct oche_jobs *jobs = &host->shared->jobs;

    for (uint32_t i = 0; i < jobs->count; i++) {
        struct oche_job *job = jobs->list[i];

        *message = flow - job->first_flow;
        if (*message < oche_job_messages(job))
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

static void arrive_by_flow(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t message = 0, operation;
    const struct oche_job *job = job_of(host, flow, &message);
    const uint32_t sender = oche_job_sender(job, message, &operation);
    const struct oche_goal_op op = oche_goal_op(&job->goal.rank[sender], operation);

    arrive(host, program_of(host, job, op.peer), sender, op.tag, now);
}

static void complete_by_flow(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t message = 0, operation;
    const struct oche_job *job = job_of(host, flow, &message);
    const uint32_t sender = oche_job_sender(job, message, &operation);

    end_op(host, program_of(host, job, sender), operation, now);
}

static void arrive_beside(struct oche_host *host, struct program *sender, uint32_t number,
                          oche_time now)
{
    const struct oche_goal_op op = op_of(sender, number);

    arrive(host, beside(sender, op.peer), sender->rank, op.tag, now);
    if (sender->job->params.acknowledged)
        end_op(host, sender, number, now);
}

/* ---- for the host ---- */

static void act(struct oche_host *host, const struct oche_deferred *due, oche_time now)
{
    struct program *program = due->object;

    switch ((enum kind)due->kind) {
    case BEGINS:
        if (oche_rank_is_done(program->way))
            end_program(host, program, now);
        else
            go_on(host, program, now);
        break;
    case STARTS:
        oche_rank_started(program->way, due->number);
        go_on(host, program, now);
        break;
    case SENDS:
        send_message(host, program, due->number, now);
        break;
    case ENDS:
        end_op(host, program, due->number, now);
        break;
    case ARRIVES:
        arrive_by_flow(host, due->number, now);
        break;
    case COMPLETES:
        complete_by_flow(host, due->number, now);
        break;
    case MOVES:
        arrive_beside(host, program, due->number, now);
        break;
    }
}

void oche_host_jobs_run(struct oche_host *host, oche_time now)
{
    struct oche_deferred due;

    while (oche_deferred_take(&host->jobs->heap, now, &due))
        act(host, &due, now);
}

oche_time oche_host_jobs_next(const struct oche_host_jobs *jobs)
{
    return oche_deferred_next(&jobs->heap);
}

void oche_host_jobs_delivered(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t message = 0;

    if (job_of(host, flow, &message) == NULL)
        return;
    defer(host, NULL, ARRIVES, flow, now);
    host->next_start = oche_time_min(host->next_start, now);
}

void oche_host_jobs_completed(struct oche_host *host, uint32_t flow, oche_time now)
{
    uint32_t message = 0;
    const struct oche_job *job = job_of(host, flow, &message);

    if (job == NULL || !job->params.acknowledged || host->flows->sent[flow].failed != 0)
        return;
    defer(host, NULL, COMPLETES, flow, now);
    host->next_start = oche_time_min(host->next_start, now);
}

static void add_program(struct oche_host *host, struct oche_job *job, uint32_t rank)
{
    struct program *program = &host->jobs->programs[host->jobs->count++];

    job->ways[rank] = oche_rank_create(&job->goal.rank[rank]);
    *program = (struct program){
        .job = job,
        .rank = rank,
        .way = job->ways[rank],
        .cpu_free = oche_arena_take(&host->shard->arena, job->goal.cpus * sizeof(oche_time))};
    defer(host, program, BEGINS, 0, job->params.start);
}

void oche_host_jobs_start(struct oche_host *host)
{
    const struct oche_jobs *jobs = &host->shared->jobs;
    const uint32_t at = host->address;
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->count; i++)
        count += jobs->list[i]->first_on[at + 1] - jobs->list[i]->first_on[at];
    if (count == 0)
        return;
    host->jobs = oche_arena_take(&host->shard->arena, sizeof(*host->jobs));
    host->jobs->programs =
        oche_arena_take(&host->shard->arena, count * sizeof(*host->jobs->programs));
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct oche_job *job = jobs->list[i];

        for (uint32_t k = job->first_on[at]; k < job->first_on[at + 1]; k++)
            add_program(host, job, job->on_host[k]);
    }
}
