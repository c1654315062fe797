/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a schedule by the LogGOPS model; see loggops.h. */
#include "lab/loggops/loggops.h"

#include <stdlib.h>
#include <string.h>

#include "sim/graph/rank.h"

enum kind { IS_OP, IS_MESSAGE, IS_END };

/* Something that happens when its rank's cpu and nic are free. */
struct event {
    uint64_t time, order; /* order: events of one time come as they were made */
    uint32_t rank, op;    /* IS_MESSAGE: the receiver; the send's number */
    uint32_t from;        /* IS_MESSAGE: the sender */
    uint8_t kind;
};

/* A message that waits for its receive. */
struct message {
    uint32_t from, op;
    uint32_t next; /* free ones: the next one */
};

/* Until when a rank's streams are busy. */
struct streams {
    uint64_t *cpu, *send, *receive;
};

struct run {
    const struct oche_goal *goal;
    const struct oche_loggops *model;
    struct oche_loggops_result *result;
    struct oche_rank **ranks;
    struct streams *streams;
    struct event *heap;
    size_t events, room;
    uint64_t order, now;
    struct message *messages; /* that wait */
    uint32_t message_room, message_free;
    uint32_t *ready; /* operations that became ready at once */
    uint32_t ready_room;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct run *run, struct event event)
{
    size_t at = run->events++;

    if (run->events > run->room) {
        run->room = run->room == 0 ? 1024 : 2 * run->room;
        run->heap = realloc(run->heap, run->room * sizeof(*run->heap));
        OCHE_GOT(run->heap != NULL);
    }
    for (; at > 0 && is_before(&event, &run->heap[(at - 1) / 2]); at = (at - 1) / 2)
        run->heap[at] = run->heap[(at - 1) / 2];
    run->heap[at] = event;
}

static struct event pop(struct run *run)
{
    const struct event first = run->heap[0], last = run->heap[--run->events];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= run->events)
            break;
        child += child + 1 < run->events && is_before(&run->heap[child + 1], &run->heap[child]);
        if (!is_before(&run->heap[child], &last))
            break;
        run->heap[at] = run->heap[child];
        at = child;
    }
    run->heap[at] = last;
    return first;
}

/* ---- messages that wait ---- */

static uint32_t keep(struct run *run, uint32_t from, uint32_t op)
{
    uint32_t at = run->message_free;

    if (at == OCHE_NO_MATCH) {
        const uint32_t room = run->message_room == 0 ? 64 : 2 * run->message_room;

        run->messages = realloc(run->messages, room * sizeof(*run->messages));
        OCHE_GOT(run->messages != NULL);
        for (uint32_t i = run->message_room; i < room; i++)
            run->messages[i].next = i + 1 < room ? i + 1 : OCHE_NO_MATCH;
        at = run->message_room;
        run->message_room = room;
    }
    run->message_free = run->messages[at].next;
    run->messages[at] = (struct message){.from = from, .op = op};
    return at;
}

static struct message let_go(struct run *run, uint32_t at)
{
    const struct message message = run->messages[at];

    run->messages[at].next = run->message_free;
    run->message_free = at;
    return message;
}

/* ---- operations ---- */

static const struct oche_goal_rank *operations_of(const struct run *run, uint32_t rank)
{
    return &run->goal->rank[rank];
}

/* Makes events of the operations that have become ready: sends first, then receives, as LogGOPSim.
 */
static void take_ready(struct run *run, uint32_t rank)
{
    const struct streams *streams = &run->streams[rank];
    uint32_t count = 0, op;

    while ((op = oche_rank_next(run->ranks[rank])) != OCHE_NO_MATCH) {
        if (count == run->ready_room) {
            run->ready_room = run->ready_room == 0 ? 64 : 2 * run->ready_room;
            run->ready = realloc(run->ready, run->ready_room * sizeof(*run->ready));
            OCHE_GOT(run->ready != NULL);
        }
        run->ready[count++] = op;
    }
    for (uint8_t type = OCHE_GOAL_SEND; type <= OCHE_GOAL_CALC; type++)
        for (uint32_t i = 0; i < count; i++) {
            const struct oche_goal_op is = oche_goal_op(operations_of(run, rank), run->ready[i]);
            uint64_t time = streams->cpu[is.cpu];

            if (is.type != type)
                continue;
            if (type == OCHE_GOAL_SEND)
                time = later(time, streams->send[is.nic]);
            if (run->model->whole)
                time = later(time, run->now);
            push(run, (struct event){.time = time,
                                     .order = run->order++,
                                     .rank = rank,
                                     .op = run->ready[i],
                                     .kind = IS_OP});
        }
}

static void end_op(struct run *run, uint32_t rank, uint32_t op)
{
    oche_rank_ended(run->ranks[rank], op);
    run->result->operations++;
    take_ready(run, rank);
}

/* Ends an operation, now or when its cpu is free again. */
static void finish(struct run *run, uint32_t rank, uint32_t op)
{
    const uint8_t cpu = oche_goal_op(operations_of(run, rank), op).cpu;
    const uint64_t free_at = run->streams[rank].cpu[cpu];

    if (!run->model->whole || free_at <= run->now)
        end_op(run, rank, op);
    else
        push(run,
             (struct event){
                 .time = free_at, .order = run->order++, .rank = rank, .op = op, .kind = IS_END});
}

/* A send longer than S ends now, when its message meets its receive. */
static void end_long_send(struct run *run, uint32_t rank, uint32_t op, uint64_t now)
{
    const struct oche_goal_op is = oche_goal_op(operations_of(run, rank), op);
    struct streams *streams = &run->streams[rank];

    if (is.size <= run->model->S)
        return;
    streams->cpu[is.cpu] = later(streams->cpu[is.cpu], now);
    streams->send[is.nic] = later(streams->send[is.nic], now);
    end_op(run, rank, op);
}

/* Returns the cost of all bytes but the first. */
static uint64_t bytes_cost(uint64_t size, uint64_t each)
{
    return size > 0 ? (size - 1) * each : 0;
}

static void send(struct run *run, const struct event *event, const struct oche_goal_op *op)
{
    const struct oche_loggops *m = run->model;
    struct streams *streams = &run->streams[event->rank];
    const uint64_t now = event->time;

    oche_rank_started(run->ranks[event->rank], event->op);
    streams->cpu[op->cpu] = now + m->o + bytes_cost(op->size, m->O);
    streams->send[op->nic] = now + m->g + bytes_cost(op->size, m->G);
    push(run, (struct event){.time = now + m->o + m->L,
                             .order = run->order++,
                             .rank = op->peer,
                             .from = event->rank,
                             .op = event->op,
                             .kind = IS_MESSAGE});
    if (op->size <= m->S)
        finish(run, event->rank, event->op);
    else
        take_ready(run, event->rank);
}

static void receive(struct run *run, const struct event *event, const struct oche_goal_op *op)
{
    uint32_t at;

    oche_rank_started(run->ranks[event->rank], event->op);
    at = oche_match_post(oche_rank_match(run->ranks[event->rank]), op->peer, op->tag, event->op);
    if (at == OCHE_NO_MATCH) {
        take_ready(run, event->rank);
        return;
    }
    const struct message message = let_go(run, at);

    end_long_send(run, message.from, message.op, event->time);
    end_op(run, event->rank, event->op);
}

/* Runs the operation, or waits until its streams are free. */
static void run_op(struct run *run, struct event event)
{
    const struct oche_goal_op op = oche_goal_op(operations_of(run, event.rank), event.op);
    struct streams *streams = &run->streams[event.rank];
    uint64_t free_at = streams->cpu[op.cpu];

    if (op.type == OCHE_GOAL_RECV) {
        receive(run, &event, &op);
        return;
    }
    if (op.type == OCHE_GOAL_SEND)
        free_at = later(free_at, streams->send[op.nic]);
    if (free_at > event.time) {
        event.time = free_at;
        push(run, event);
    } else if (op.type == OCHE_GOAL_SEND) {
        send(run, &event, &op);
    } else {
        streams->cpu[op.cpu] = event.time + op.size;
        oche_rank_started(run->ranks[event.rank], event.op);
        finish(run, event.rank, event.op);
        if (run->model->whole)
            take_ready(run, event.rank); /* those that wait for its start */
    }
}

/* A message arrives, or waits until the receiver's streams are free. */
static void run_message(struct run *run, struct event event)
{
    const struct oche_loggops *m = run->model;
    const struct oche_goal_op op = oche_goal_op(operations_of(run, event.from), event.op);
    struct streams *streams = &run->streams[event.rank];
    const uint64_t free_at = later(streams->cpu[op.cpu], streams->receive[op.nic]);
    uint32_t handle, receives;

    if (free_at > event.time) {
        event.time = free_at;
        push(run, event);
        return;
    }
    streams->cpu[op.cpu] = event.time + m->o + bytes_cost(op.size, later(m->O, m->G));
    streams->receive[op.nic] = event.time + m->g + bytes_cost(op.size, m->G);
    handle = keep(run, event.from, event.op);
    receives =
        oche_match_arrive(oche_rank_match(run->ranks[event.rank]), event.from, op.tag, handle);
    if (receives == OCHE_NO_MATCH)
        return;
    let_go(run, handle);
    end_long_send(run, event.from, event.op, event.time);
    finish(run, event.rank, receives);
}

/* ---- the run ---- */

static void make(struct run *run)
{
    const struct oche_goal *goal = run->goal;
    const size_t streams = (size_t)goal->cpus + 2 * (size_t)goal->nics;
    uint64_t *times = calloc(goal->ranks * streams, sizeof(*times));

    run->ranks = calloc(goal->ranks, sizeof(*run->ranks));
    run->streams = calloc(goal->ranks, sizeof(*run->streams));
    run->result->rank_ns = calloc(goal->ranks, sizeof(*run->result->rank_ns));
    OCHE_GOT(times != NULL && run->ranks != NULL && run->streams != NULL &&
             run->result->rank_ns != NULL);
    run->message_free = OCHE_NO_MATCH;
    for (uint32_t i = 0; i < goal->ranks; i++) {
        run->ranks[i] = oche_rank_create(&goal->rank[i]);
        run->streams[i].cpu = times + i * streams;
        run->streams[i].send = run->streams[i].cpu + goal->cpus;
        run->streams[i].receive = run->streams[i].send + goal->nics;
    }
    for (uint32_t i = 0; i < goal->ranks; i++)
        take_ready(run, i);
}

/* Notes the rank's receives and messages that wait. */
static void take_waits(struct run *run, uint32_t rank)
{
    struct oche_loggops_result *result = run->result;
    const struct oche_match *match = oche_rank_match(run->ranks[rank]);

    if (oche_match_posted(match) > 0 && result->receives == 0) {
        result->receiver = rank;
        result->receive = oche_match_first_posted(match).handle;
    }
    if (oche_match_unexpected(match) > 0 && result->messages == 0) {
        const struct oche_match_waits first = oche_match_first_unexpected(match);

        result->sender = first.source;
        result->target = rank;
        result->tag = first.tag;
    }
    result->receives += oche_match_posted(match);
    result->messages += oche_match_unexpected(match);
}

/* Notes when each rank is done, and what is left. */
static void take_results(struct run *run)
{
    struct oche_loggops_result *result = run->result;

    for (uint32_t i = 0; i < run->goal->ranks; i++) {
        for (uint32_t cpu = 0; cpu < run->goal->cpus; cpu++)
            result->rank_ns[i] = later(result->rank_ns[i], run->streams[i].cpu[cpu]);
        result->end_ns = later(result->end_ns, result->rank_ns[i]);
        result->left += oche_rank_left(run->ranks[i]);
        take_waits(run, i);
    }
}

static void release(struct run *run)
{
    for (uint32_t i = 0; i < run->goal->ranks; i++)
        oche_rank_free(run->ranks[i]);
    free(run->streams[0].cpu);
    free(run->streams);
    free(run->ranks);
    free(run->heap);
    free(run->messages);
    free(run->ready);
}

void oche_loggops_run(const struct oche_goal *goal, const struct oche_loggops *model,
                      struct oche_loggops_result *result)
{
    struct run run = {.goal = goal, .model = model, .result = result};

    *result = (struct oche_loggops_result){.end_ns = 0};
    make(&run);
    while (run.events > 0) {
        const struct event event = pop(&run);

        run.now = event.time;
        if (event.kind == IS_OP)
            run_op(&run, event);
        else if (event.kind == IS_END)
            end_op(&run, event.rank, event.op);
        else
            run_message(&run, event);
    }
    take_results(&run);
    release(&run);
}
