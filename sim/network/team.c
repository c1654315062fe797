/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that run windows together. */
#include "sim/network/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "sim/engine/turn.h"
#include "sim/network/windows.h"

#define SPIN_NS      UINT64_C(30000) /* about what it takes to wake a thread */
#define MOST_WINDOWS 256             /* that a shard runs by itself between reports */

enum flag {
    ASKED = 1 << 0, /* for a check */
    LEAVE = 1 << 1, /* one thread goes on alone; set by the first thread */
};

/* The report of a shard to the others after a window. Two reports take turns. */
struct report {
    struct oche_turn turn; /* the number of the window, raised when the report is written */
    uint32_t flags;
    uint32_t events; /* in the window */
    oche_time end;   /* end of the window */
    /* time of the shard's next event, without packets that are to be taken in */
    oche_time next;
    /* arrival of the first packet that it sent to others; OCHE_NEVER: none */
    oche_time crosses_from;
    uint64_t flows, awaited; /* completed so far */
    int64_t idle;            /* packets in the pool */
} __attribute__((aligned(OCHE_CACHE_LINE)));

_Static_assert(sizeof(struct report) == OCHE_CACHE_LINE, "a report is one line");

struct member {
    struct report reports[2];
    struct oche_turn here; /* the number of the last call that it has come to */
    struct oche_turn met;  /* the number of the last window in which it waits for the first */
    struct oche_team *team;
    pthread_t thread;
    uint32_t shard;
} __attribute__((aligned(OCHE_CACHE_LINE)));

struct oche_team {
    struct oche_network *network;
    struct member *members;
    uint64_t spin_ns;
    oche_time until;
    oche_network_check *check;
    void *context;
    uint32_t turn;    /* turn of the last window that threads ran together */
    uint32_t call;    /* the number of the last call */
    bool is_called;   /* members are there, or will be */
    bool goes_on;     /* after all have met: together */
    bool is_paused;   /* all have met, and wait for the next step of the run */
    bool is_stopped;  /* `check` has returned true */
    bool cancelled;   /* the call was for nothing */
    atomic_bool over; /* threads are to end */
    /* Raised by the first thread: members are to come, to begin, and to go on after they met. */
    struct oche_turn called __attribute__((aligned(OCHE_CACHE_LINE)));
    struct oche_turn begun, looked;
};

/* The combined reports of all shards. */
struct sum {
    oche_time end, soonest;
    /*
     * Of the shards' own events `first` has the soonest. The other shards have none before
     * `others`, with those of packets that they have still to take in.
     */
    oche_time others;
    uint32_t first;
    uint32_t flags;
    uint64_t events, flows, awaited;
    int64_t most_idle, least_idle;
};

static struct sum sum_up(const struct oche_team *team, uint32_t turn)
{
    struct sum sum = {.soonest = OCHE_NEVER,
                      .others = OCHE_NEVER,
                      .most_idle = INT64_MIN,
                      .least_idle = INT64_MAX};
    oche_time crosses_from = OCHE_NEVER;

    for (uint32_t s = 0; s < team->network->shard_count; s++) {
        const struct report *report = &team->members[s].reports[turn & 1];

        sum.end = oche_time_max(sum.end, report->end);
        sum.flags |= report->flags;
        sum.events += report->events;
        sum.flows += report->flows;
        sum.awaited += report->awaited;
        sum.most_idle = report->idle > sum.most_idle ? report->idle : sum.most_idle;
        sum.least_idle = report->idle < sum.least_idle ? report->idle : sum.least_idle;
        crosses_from = oche_time_min(crosses_from, report->crosses_from);
        if (report->next < sum.soonest) {
            sum.others = sum.soonest;
            sum.first = s;
            sum.soonest = report->next;
        } else {
            sum.others = oche_time_min(sum.others, report->next);
        }
    }
    sum.soonest = oche_time_min(sum.soonest, crosses_from);
    sum.others = oche_time_min(sum.others, crosses_from);
    return sum;
}

/* Writes the report on the window `turn` of the shard, without showing it. */
static void write_report(struct oche_shard *shard, struct report *report, oche_time end,
                         uint64_t events)
{
    report->end = end;
    report->next = oche_events_next_time(&shard->events);
    report->crosses_from = shard->crosses_from;
    report->events = (uint32_t)events;
    report->flows = shard->flows_completed;
    report->awaited = shard->awaited_completed;
    report->idle = oche_packet_pool_idle(&shard->pool);
    report->flags = oche_windows_ask(shard) ? ASKED : 0;
    shard->crosses_from = OCHE_NEVER;
}

/* The first thread's own reasons to check, or to leave. */
static uint32_t flags_of_first(struct oche_team *team, uint64_t events, uint64_t *unchecked)
{
    struct oche_network *network = team->network;
    uint64_t windows = network->checks.windows;
    uint32_t flags = 0;

    network->windows_together++;
    oche_pace_count(&network->pace, events, true, oche_clock_ns);
    if (!network->pace.together)
        flags |= LEAVE;
    if (windows > 0 && ++*unchecked >= windows) {
        *unchecked = 0;
        flags |= ASKED;
    }
    return flags;
}

/* Runs the next window, and reports. `sum` is of the one before. */
static void run_window(struct oche_team *team, struct oche_shard *shard, const struct sum *sum,
                       uint32_t turn, uint64_t *unchecked)
{
    const struct oche_network *network = team->network;
    struct report *report = &team->members[shard->index].reports[turn & 1];
    const oche_time end = oche_window_end(network, sum->soonest, team->until);
    const uint64_t events = shard->handled_events;
    oche_time limit = end, ran;

    if (shard->index == sum->first && sum->others >= end)
        limit = oche_time_min(oche_window_limit(network, sum->others, end, team->until),
                              oche_time_add(end, MOST_WINDOWS * network->window));
    shard->side = turn & 1;
    ran = oche_windows_run(shard, end, limit, sum->flows - shard->flows_completed,
                           sum->awaited - shard->awaited_completed);
    write_report(shard, report, ran, shard->handled_events - events);
    if (shard->index == 0)
        report->flags |= flags_of_first(team, sum->events, unchecked);
    oche_turn_raise(&report->turn, turn);
}

/* Waits for the others' reports, and takes in what they sent. */
static void exchange(struct oche_team *team, struct oche_shard *shard, uint32_t turn)
{
    for (uint32_t s = 0; s < team->network->shard_count; s++)
        oche_turn_await(&team->members[s].reports[turn & 1].turn, turn, team->spin_ns);
    oche_windows_collect(shard);
}

/* The first thread, when all others wait: checks if `due`, and decides whether all go on. */
static void look_at_all(struct oche_team *team, const struct sum *sum, uint32_t turn, bool due)
{
    struct oche_network *network = team->network;

    for (uint32_t s = 1; s < network->shard_count; s++)
        oche_turn_await(&team->members[s].met, turn, team->spin_ns);
    network->now = sum->end;
    oche_network_balance(network);
    team->is_stopped = due && team->check != NULL && team->check(team->context, sum->end);
    team->turn = turn;
    team->goes_on = !team->is_stopped && sum->soonest < team->until;
    /* At the end of a step all wait for the next one, which changes the reports. */
    team->is_paused = !team->goes_on && !(sum->flags & LEAVE);
    if (team->is_paused)
        return;
    team->goes_on = !(sum->flags & LEAVE);
    oche_turn_raise(&team->looked, turn);
}

/*
 * After a window: lets the first thread check if there is a reason; then the sum is made anew, as
 * the next step of the run may have changed it. Returns whether all go on.
 */
static bool meet(struct oche_team *team, uint32_t shard, struct sum *sum, uint32_t turn)
{
    bool due = (sum->flags & ASKED) || sum->end == team->until ||
               oche_windows_due(&team->network->checks, sum->end, sum->flows, sum->awaited);

    if (!due && !(sum->flags & LEAVE) && sum->soonest < team->until &&
        !oche_network_is_unbalanced(sum->most_idle, sum->least_idle))
        return true;
    if (shard == 0) {
        look_at_all(team, sum, turn, due);
    } else {
        oche_turn_raise(&team->members[shard].met, turn);
        oche_turn_await(&team->looked, turn, team->spin_ns);
        *sum = sum_up(team, turn);
    }
    return team->goes_on;
}

/* The work of each thread, from the first window that threads run together to the last. */
static void run_together(struct oche_team *team, uint32_t shard)
{
    struct oche_shard *own = &team->network->shards[shard];
    uint32_t turn = team->turn;
    struct sum sum = sum_up(team, turn);
    uint64_t unchecked = 0;

    do {
        turn++;
        run_window(team, own, &sum, turn, &unchecked);
        exchange(team, own, turn);
        sum = sum_up(team, turn);
    } while (meet(team, shard, &sum, turn));
}

/* ---- coming and going ---- */

static void *member_run(void *argument)
{
    struct member *member = argument;
    struct oche_team *team = member->team;

    for (uint32_t number = 1;; number++) {
        oche_turn_await(&team->called, number, team->spin_ns);
        if (team->over)
            return NULL;
        oche_turn_raise(&member->here, number);
        oche_turn_await(&team->begun, number, team->spin_ns);
        if (team->over)
            return NULL;
        run_together(team, member->shard);
    }
}

static struct oche_team *gather(struct oche_network *network)
{
    const uint32_t count = network->shard_count;
    struct oche_team *team = aligned_alloc(OCHE_CACHE_LINE, oche_lines(sizeof(*team)));
    struct member *members = aligned_alloc(OCHE_CACHE_LINE, count * sizeof(*members));
    cpu_set_t processors;

    OCHE_GOT(team != NULL && members != NULL);
    *team = (struct oche_team){.network = network, .members = members};
    /* Where threads share processors, who spins keeps the one that it waits for from running. */
    if (sched_getaffinity(0, sizeof(processors), &processors) != 0 ||
        (uint32_t)CPU_COUNT(&processors) >= count)
        team->spin_ns = SPIN_NS;
    for (uint32_t s = 0; s < count; s++)
        members[s] = (struct member){.team = team, .shard = s};
    for (uint32_t s = 1; s < count; s++)
        if (pthread_create(&members[s].thread, NULL, member_run, &members[s]) != 0)
            oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY ", or of threads");
    return team;
}

static void call(struct oche_team *team)
{
    team->is_called = true;
    oche_turn_raise(&team->called, ++team->call);
}

bool oche_team_is_here(struct oche_network *network)
{
    struct oche_team *team;
    bool all = true;

    if (network->shard_count == 1)
        return false;
    if (network->team == NULL)
        network->team = gather(network);
    team = network->team;
    if (team->is_paused)
        return true;
    if (!team->is_called)
        call(team);
    for (uint32_t s = 1; s < network->shard_count; s++) {
        if (network->pace.always || network->pace.met)
            oche_turn_await(&team->members[s].here, team->call, team->spin_ns);
        all = all && oche_turn_is(&team->members[s].here, team->call);
    }
    return all;
}

bool oche_team_run(struct oche_network *network, oche_time until, oche_network_check *check,
                   void *context)
{
    struct oche_team *team = network->team;
    const uint64_t events = oche_network_events(network);

    team->until = until;
    team->check = check;
    team->context = context;
    for (uint32_t s = 0; s < network->shard_count; s++)
        write_report(&network->shards[s], &team->members[s].reports[team->turn & 1], network->now,
                     0);
    team->is_stopped = false;
    if (team->is_paused) {
        team->is_paused = false;
        team->goes_on = true;
        oche_turn_raise(&team->looked, team->turn);
    } else {
        team->is_called = false;
        oche_turn_raise(&team->begun, team->call);
    }
    run_together(team, 0);
    network->events_together += oche_network_events(network) - events;
    return team->is_stopped;
}

void oche_team_free(struct oche_team *team)
{
    if (team == NULL)
        return;
    team->over = true;
    team->goes_on = false;
    if (team->is_paused)
        oche_turn_raise(&team->looked, team->turn);
    if (team->is_called)
        oche_turn_raise(&team->begun, team->call);
    oche_turn_raise(&team->called, ++team->call);
    for (uint32_t s = 1; s < team->network->shard_count; s++)
        pthread_join(team->members[s].thread, NULL);
    free(team->members);
    free(team);
}
