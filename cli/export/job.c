/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a job as flows, and their dependencies as triggers. A flow of a rank may wait for
 * messages that the rank gets, and for messages of its own that are acknowledged; all flows that
 * wait for the same ones share a trigger. A message can fire one trigger when it is there, and one
 * when it is acknowledged; jobs that need more cannot be exported, nor those that calculate after
 * a message.
 *
 * If an operation waits for several messages of one rank, by way of receives before it, the last
 * one counts, as messages of a queue pair arrive in their order. (With several channels, and in
 * htsim, they can overtake one another; a remark says so.)
 */
#include "cli/export/traffic.h"

#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 1024 /* for which one operation waits */
#define UNKNOWN     UINT32_MAX

/* An event: a message is there, or has been acknowledged. */
struct event {
    uint32_t message; /* of the job */
    uint32_t from;    /* the rank that sends it */
    bool acknowledged;
};

/* The operations and messages for which the end of an operation waits. */
struct needs {
    oche_time begins; /* when the operation can begin at the earliest, from the job's start on */
    oche_time after;  /* the same of its end: of calculations */
    uint32_t count;
    struct event *events; /* no two the same; malloc'd, NULL: none */
};

/* A receive or a send, by which messages find their receives. */
struct end {
    uint32_t src, dst, tag, rank, operation;
};

struct taking {
    struct oche_export_traffic *traffic;
    const struct oche_job *job;
    struct end *sends, *receives; /* sorted; the ones of the same place belong together */
    size_t send_count, receive_count;
    uint32_t **message_of; /* by rank and operation: the message that it receives, or sends */
    struct needs *needs;   /* by operation of the rank in work */
    uint32_t rank;
    struct oche_error *error;
};

static bool fail(const struct taking *of, const char *why)
{
    return oche_fail(of->error, "workload[%u]: rank %u: %s", of->job->workload, of->rank, why);
}

/* ---- which receive gets which message ---- */

static int compare_ends(const void *left, const void *right)
{
    const struct end *a = left, *b = right;

    if (a->src != b->src)
        return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst)
        return a->dst < b->dst ? -1 : 1;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->operation < b->operation ? -1 : a->operation > b->operation;
}

static bool list_ends(struct taking *of)
{
    const struct oche_goal *goal = &of->job->goal;
    size_t room = 0;

    for (uint32_t r = 0; r < goal->ranks; r++)
        room += goal->rank[r].count;
    of->sends = malloc((room + 1) * sizeof(*of->sends));
    of->receives = malloc((room + 1) * sizeof(*of->receives));
    OCHE_GOT(of->sends != NULL && of->receives != NULL);
    for (of->rank = 0; of->rank < goal->ranks; of->rank++)
        for (uint32_t i = 0; i < goal->rank[of->rank].count; i++) {
            const struct oche_goal_op op = oche_goal_op(&goal->rank[of->rank], i);
            struct end end = {op.peer, of->rank, op.tag, of->rank, i};

            if (op.type == OCHE_GOAL_RECV && (op.peer == OCHE_GOAL_ANY || op.tag == OCHE_GOAL_ANY))
                return fail(of, "receives from any source or with any tag, which no list of flows "
                                "can say");
            if (op.type == OCHE_GOAL_SEND) {
                end.src = of->rank;
                end.dst = op.peer;
                if (of->job->host_of[end.src] == of->job->host_of[end.dst])
                    return fail(of, "sends to a rank of its own host, which uses no network; set "
                                    "ranks_per_host: 1");
                of->sends[of->send_count++] = end;
            } else if (op.type == OCHE_GOAL_RECV) {
                of->receives[of->receive_count++] = end;
            }
        }
    return true;
}

/* Finds the message of each send and receive. */
static bool match(struct taking *of)
{
    const struct oche_goal *goal = &of->job->goal;

    if (!list_ends(of))
        return false;
    of->rank = 0;
    if (of->send_count != of->receive_count)
        return fail(of, "there are messages without receives, or receives without messages; oche "
                        "import says which");
    qsort(of->sends, of->send_count, sizeof(*of->sends), compare_ends);
    qsort(of->receives, of->receive_count, sizeof(*of->receives), compare_ends);
    of->message_of = calloc(goal->ranks, sizeof(*of->message_of));
    OCHE_GOT(of->message_of != NULL);
    for (uint32_t r = 0; r < goal->ranks; r++) {
        of->message_of[r] = malloc(((size_t)goal->rank[r].count + 1) * sizeof(**of->message_of));
        OCHE_GOT(of->message_of[r] != NULL);
    }
    for (size_t i = 0; i < of->send_count; i++) {
        const struct end *send = &of->sends[i], *receive = &of->receives[i];

        of->rank = send->rank;
        if (send->src != receive->src || send->dst != receive->dst || send->tag != receive->tag)
            return fail(of, "there are messages without receives, or receives without messages; "
                            "oche import says which");
        of->message_of[send->rank][send->operation] =
            of->message_of[receive->rank][receive->operation] = oche_job_number(
                of->job, &(struct oche_job_flow){send->rank, send->operation, OCHE_JOB_DATA});
    }
    return true;
}

/* ---- what operations wait for ---- */

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->acknowledged != b->acknowledged)
        return a->acknowledged ? 1 : -1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->message < b->message ? -1 : a->message > b->message;
}

/* Adds an event, unless it is there. Returns false if there are too many. */
static bool add_event(const struct taking *of, struct needs *needs, const struct event *event)
{
    for (uint32_t i = 0; i < needs->count; i++)
        if (compare_events(&needs->events[i], event) == 0)
            return true;
    if (needs->count == MOST_EVENTS)
        return fail(of, "an operation waits for more than 1,024 messages");
    needs->events = realloc(needs->events, (needs->count + 1) * sizeof(*needs->events));
    OCHE_GOT(needs->events != NULL);
    needs->events[needs->count++] = *event;
    return true;
}

/* Adds what another operation waits for, but for messages of rank `but`, which come in order. */
static bool add_needs(const struct taking *of, struct needs *needs, const struct needs *others,
                      uint32_t but)
{
    needs->after = oche_time_max(needs->after, others->after);
    for (uint32_t i = 0; i < others->count; i++)
        if ((others->events[i].acknowledged || others->events[i].from != but) &&
            !add_event(of, needs, &others->events[i]))
            return false;
    return true;
}

/* All that the operation waits for is in `needs`: adds the operation itself, to get its end's. */
static bool end_op(struct taking *of, uint32_t number, const struct oche_goal_op *op)
{
    struct needs *needs = &of->needs[number];
    struct event own = {.from = of->rank};

    if (op->type == OCHE_GOAL_CALC) {
        if (op->size > 0 && needs->count > 0)
            return fail(of, "calculates after a message; a flow of other simulators starts at once "
                            "when its trigger goes off");
        needs->after = oche_time_add(needs->after, op->size * OCHE_NS);
        return true;
    }
    own.message = of->message_of[of->rank][number];
    if (op->type == OCHE_GOAL_SEND && !of->job->params.acknowledged)
        return true;
    if (op->type == OCHE_GOAL_SEND) {
        /* Acknowledged: all that it waited for has come, too. */
        own.acknowledged = true;
        needs->count = 0;
        needs->after = 0;
        return add_event(of, needs, &own);
    }
    own.from = op->peer;
    struct needs all = {.after = needs->after};
    const bool good = add_needs(of, &all, needs, op->peer) && add_event(of, &all, &own);

    free(needs->events);
    *needs = all;
    return good;
}

/* ---- triggers ---- */

/* Returns the place where a message's end says which trigger it fires. */
static uint32_t *fires(const struct taking *of, const struct event *event)
{
    struct oche_export_flow *flow = &of->traffic->flows[of->job->first_flow + event->message];

    return event->acknowledged ? &flow->send_done : &flow->recv_done;
}

/* Finds the trigger that all these events fire and nothing else, or makes it. */
static bool find_trigger(struct taking *of, const struct needs *needs, uint32_t *trigger)
{
    const uint32_t first = *fires(of, &needs->events[0]);

    for (uint32_t i = 1; i < needs->count; i++)
        if (*fires(of, &needs->events[i]) != first)
            return fail(of, "a message lets operations go on that wait for different others; a "
                            "connection of htsim fires one trigger");
    if (first != OCHE_NO_TRIGGER) {
        *trigger = first;
        return of->traffic->triggers[first].firings == needs->count ||
               fail(of, "a message lets operations go on that wait for different others; a "
                        "connection of htsim fires one trigger");
    }
    *trigger = oche_export_add_trigger(of->traffic, needs->count);
    for (uint32_t i = 0; i < needs->count; i++)
        *fires(of, &needs->events[i]) = *trigger;
    return true;
}

static bool take_send(struct taking *of, uint32_t number, const struct oche_goal_op *op)
{
    const struct needs *needs = &of->needs[number];
    struct oche_export_flow *flow =
        &of->traffic->flows[of->job->first_flow + of->message_of[of->rank][number]];

    flow->src = of->job->host_of[of->rank];
    flow->dst = of->job->host_of[op->peer];
    flow->bytes = op->size > 0 ? op->size : 1;
    flow->start = OCHE_NEVER;
    if (needs->count > 0 && needs->after > 0)
        return fail(of, "a message waits for a time and for other messages; a flow of other "
                        "simulators has a start or a trigger");
    if (needs->count > 0)
        return find_trigger(of, needs, &flow->trigger);
    flow->start = oche_time_add(of->job->params.start, needs->after);
    return true;
}

/* ---- ranks ---- */

/*
 * Puts the operations in an order in which each comes after those that it waits for. Notes which of
 * them matter: a send is or comes after them.
 */
static void sort_operations(const struct oche_goal_rank *rank, uint32_t *order, bool *matters)
{
    uint32_t *left = malloc(((size_t)rank->count + 1) * sizeof(*left)), count = 0;

    OCHE_GOT(left != NULL);
    for (uint32_t i = 0; i < rank->count; i++)
        left[i] = oche_goal_op(rank, i).dependencies;
    for (uint32_t i = 0; i < rank->roots; i++)
        order[count++] = oche_goal_root(rank, i);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_goal_op op = oche_goal_op(rank, order[i]);

        for (uint32_t k = 0; k < op.start_count + op.end_count; k++) {
            const uint32_t next = oche_goal_successor(
                rank, k < op.start_count ? op.start_first + k : op.end_first + k - op.start_count);

            if (--left[next] == 0)
                order[count++] = next;
        }
    }
    OCHE_MUST(count == rank->count); /* goal.c has checked that there is no circle */
    for (uint32_t i = count; i-- > 0;) {
        const struct oche_goal_op op = oche_goal_op(rank, order[i]);

        matters[order[i]] = op.type == OCHE_GOAL_SEND;
        for (uint32_t k = 0; k < op.start_count; k++)
            matters[order[i]] |= matters[oche_goal_successor(rank, op.start_first + k)];
        for (uint32_t k = 0; k < op.end_count; k++)
            matters[order[i]] |= matters[oche_goal_successor(rank, op.end_first + k)];
    }
    free(left);
}

/* Hands on to some operations what the one that they wait for needs. */
static bool hand_on(struct taking *of, uint32_t number, uint32_t first, uint32_t count,
                    const bool *matters)
{
    const struct oche_goal_rank *rank = &of->job->goal.rank[of->rank];

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t next = oche_goal_successor(rank, first + i);

        if (matters[next] && !add_needs(of, &of->needs[next], &of->needs[number], UNKNOWN))
            return false;
    }
    return true;
}

static bool take_operation(struct taking *of, uint32_t number, const bool *matters)
{
    const struct oche_goal_op op = oche_goal_op(&of->job->goal.rank[of->rank], number);

    of->needs[number].begins = of->needs[number].after;
    if (op.type == OCHE_GOAL_SEND && !take_send(of, number, &op))
        return false;
    return hand_on(of, number, op.start_first, op.start_count, matters) &&
           end_op(of, number, &op) && hand_on(of, number, op.end_first, op.end_count, matters);
}

/*
 * True if no operation has to wait for a calculation of its cpu that it does not depend on. (It is
 * enough that the cpu's calculations are over when others begin, and that they follow one another.)
 */
static bool check_cpus(struct taking *of, const struct oche_goal_rank *rank, const bool *matters)
{
    oche_time busy[UINT8_MAX + 1] = {0}, worked[UINT8_MAX + 1] = {0};

    for (uint32_t i = 0; i < rank->count; i++) {
        const struct oche_goal_op op = oche_goal_op(rank, i);

        if (!matters[i] || op.type != OCHE_GOAL_CALC || op.size == 0)
            continue;
        busy[op.cpu] = oche_time_max(busy[op.cpu], of->needs[i].after);
        worked[op.cpu] = oche_time_add(worked[op.cpu], op.size * OCHE_NS);
    }
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct oche_goal_op op = oche_goal_op(rank, i);
        const bool calculates = op.type == OCHE_GOAL_CALC && op.size > 0;

        if (!matters[i])
            continue;
        if (calculates ? worked[op.cpu] > busy[op.cpu] : of->needs[i].begins < busy[op.cpu])
            return fail(of, "a cpu calculates when other operations could begin; give calculations "
                            "a cpu of their own, one after the other");
    }
    return true;
}

static bool take_rank(struct taking *of)
{
    const struct oche_goal_rank *rank = &of->job->goal.rank[of->rank];
    uint32_t *order = malloc(((size_t)rank->count + 1) * sizeof(*order));
    bool *matters = malloc((size_t)rank->count + 1), good = true;

    of->needs = calloc((size_t)rank->count + 1, sizeof(*of->needs));
    OCHE_GOT(order != NULL && matters != NULL && of->needs != NULL);
    sort_operations(rank, order, matters);
    for (uint32_t i = 0; good && i < rank->count; i++)
        good = !matters[order[i]] || take_operation(of, order[i], matters);
    good = good && check_cpus(of, rank, matters);
    for (uint32_t i = 0; i < rank->count; i++)
        free(of->needs[i].events);
    free(of->needs);
    free(order);
    free(matters);
    return good;
}

bool oche_export_take_job(struct oche_export_traffic *traffic, const struct oche_job *job,
                          struct oche_error *error)
{
    struct taking of = {.traffic = traffic, .job = job, .error = error};
    bool good;

    if (job->params.overhead > 0)
        return oche_fail(error,
                         "workload[%u].overhead: other simulators start a flow at once; set it to "
                         "0",
                         job->workload);
    if (job->receives != NULL)
        return oche_fail(error,
                         "workload[%u].rendezvous_above: other simulators do not ask first; set it "
                         "to never",
                         job->workload);
    good = match(&of);
    for (uint32_t r = 0; good && r < job->goal.ranks; r++) {
        of.rank = r;
        good = take_rank(&of);
    }
    for (uint32_t r = 0; of.message_of != NULL && r < job->goal.ranks; r++)
        free(of.message_of[r]);
    free(of.message_of);
    free(of.sends);
    free(of.receives);
    return good;
}
