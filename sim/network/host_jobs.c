/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks on a host; see host_jobs.h. */
#include "sim/network/host_jobs.h"

#include <string.h>

#include "sim/network/host_programs.h"

/* ---- operations ---- */

static oche_time time_of_ns(uint64_t ns)
{
    return ns < OCHE_TIME_LIMIT / OCHE_NS ? ns * OCHE_NS : OCHE_TIME_LIMIT;
}

oche_time host_program_take_cpu(struct program *program, unsigned cpu, oche_time time,
                                oche_time now)
{
    oche_time *cpu_free = &program->cpu_free[cpu];
    const oche_time before = oche_time_max(now, program->busy_until);

    host_program_note(program, 0, now);
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
    const struct oche_goal_op op = host_program_op(program, number);
    const oche_time from = oche_time_max(now, program->cpu_free[op.cpu]);
    const oche_time takes =
        op.type == OCHE_GOAL_CALC ? time_of_ns(op.size) : program->job->params.overhead;

    if (op.start_count > 0)
        host_program_defer(host, program, STARTS, number, from);
    host_program_defer(host, program, op.type == OCHE_GOAL_SEND ? SENDS : ENDS, number,
                       host_program_take_cpu(program, op.cpu, takes, now));
}

void host_program_take_message(struct oche_host *host, struct program *program, uint32_t receive,
                               oche_time now)
{
    const unsigned cpu = host_program_op(program, receive).cpu;

    host_program_defer(host, program, ENDS, receive,
                       host_program_take_cpu(program, cpu, program->job->params.overhead, now));
}

static void post_receive(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now)
{
    const struct oche_goal_op op = host_program_op(program, number);
    uint32_t handle;

    if (op.start_count > 0)
        host_program_defer(host, program, STARTS, number, now);
    handle = oche_match_post(oche_rank_match(program->way), op.peer, op.tag, number);
    if (handle != OCHE_NO_MATCH)
        host_program_meet(host, program, handle, number, now);
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
            if (host_program_op(program, jobs->ready[i]).type != type)
                continue;
            if (type == OCHE_GOAL_RECV)
                post_receive(host, program, jobs->ready[i], now);
            else
                start_op(host, program, jobs->ready[i], now);
        }
}

static void end_program(struct oche_host *host, struct program *program, oche_time now)
{
    host_program_note(program, 0, now);
    program->recorded = false;
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

void host_program_end_op(struct oche_host *host, struct program *program, uint32_t number,
                         oche_time now)
{
    host_program_note_phase_end(program, number, now);
    note_repetition(program, number, now);
    oche_rank_ended(program->way, number);
    if (oche_rank_is_done(program->way))
        end_program(host, program, now);
    else
        go_on(host, program, now);
}

/* ---- for the host ---- */

static void act(struct oche_host *host, const struct oche_deferred *due, oche_time now)
{
    struct program *program = due->object;

    switch ((enum program_work)due->kind) {
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
        host_program_send(host, program, due->number, now);
        break;
    case ENDS:
        host_program_end_op(host, program, due->number, now);
        break;
    default:
        host_program_message_due(host, due, now);
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

void oche_host_jobs_finish(struct oche_host *host, oche_time now)
{
    for (uint32_t i = 0; host->jobs != NULL && i < host->jobs->count; i++)
        host_program_note(&host->jobs->programs[i], 0, now);
}

static void add_program(struct oche_host *host, struct oche_job *job, uint32_t rank)
{
    struct program *program = &host->jobs->programs[host->jobs->count++];

    job->ways[rank] = oche_rank_create(&job->goal.rank[rank]);
    *program = (struct program){
        .job = job,
        .rank = rank,
        .way = job->ways[rank],
        .recorded = oche_timeline_has(&job->timeline, rank),
        .noted = job->params.start,
        .cpu_free = oche_arena_take(&host->shard->arena, job->goal.cpus * sizeof(oche_time))};
    host_program_defer(host, program, BEGINS, 0, job->params.start);
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
    host->jobs->request_free = OCHE_NO_MATCH;
    host->jobs->programs =
        oche_arena_take(&host->shard->arena, count * sizeof(*host->jobs->programs));
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct oche_job *job = jobs->list[i];

        for (uint32_t k = job->first_on[at]; k < job->first_on[at + 1]; k++)
            add_program(host, job, job->on_host[k]);
    }
}
