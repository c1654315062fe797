/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times at which the libraries of a host want to be called: a heap with one entry per end. Ends
 * that are due together are called in a fixed order: the end whose request is newest comes first.
 * An end that asks again after its call keeps its place. An end that does not ask loses its place
 * when the other due ends are called the next time. So each end has the number of its turn, and
 * lost places are found by counting calls instead of visiting all ends.
 */
#include "sim/endpoint/rogue/rogue_host.h"

void oche_rogue_make_timers(struct oche_rogue *rogue, uint32_t most_ends)
{
    struct oche_rogue_timers *timers = &rogue->timers;
    struct oche_arena *arena = &rogue->host->shard->arena;
    struct heap *const heaps[] = {&timers->later, &timers->due};

    for (unsigned i = 0; i < OCHE_COUNT_OF(heaps); i++)
        heap_init(heaps[i], oche_arena_take_spacious(arena, most_ends * sizeof(*heaps[i]->entries)),
                  oche_arena_take_spacious(arena, most_ends * sizeof(*heaps[i]->position)), 0);
    timers->ends = oche_arena_take_spacious(arena, most_ends * sizeof(struct oche_rogue_end *));
}

void oche_rogue_add_timer(struct oche_rogue_end *end)
{
    struct oche_rogue_timers *timers = &end->rogue->timers;

    end->slot = timers->count++;
    timers->ends[end->slot] = end;
    heap_init_slot(&timers->later, end->slot);
    heap_init_slot(&timers->due, end->slot);
}

/* Returns how many rounds of calls have passed the end's turn. */
static uint64_t rounds_past(const struct oche_rogue_end *end)
{
    const struct oche_rogue_timers *timers = &end->rogue->timers;

    return timers->rounds - (end->turn < timers->passed);
}

static bool is_in_heap(const struct oche_rogue_end *end)
{
    const struct oche_rogue_timers *timers = &end->rogue->timers;

    return heap_time(&timers->later, end->slot) != OCHE_NEVER ||
           heap_time(&timers->due, end->slot) != OCHE_NEVER;
}

bool oche_rogue_has_turn(const struct oche_rogue_end *end)
{
    return is_in_heap(end) || (end->turn != 0 && end->quiet_since == rounds_past(end));
}

/* Puts the end where it belongs: it is due in this round, later, or not at all. */
static void place(struct oche_rogue_end *end, oche_time when)
{
    struct oche_rogue_timers *timers = &end->rogue->timers;
    bool due = when <= end->rogue->now && end->turn < timers->passed;

    heap_set(&timers->due, end->slot, due ? UINT64_MAX - 1 - end->turn : OCHE_NEVER, 0);
    heap_set(&timers->later, end->slot, due ? OCHE_NEVER : when, 0);
}

void oche_rogue_note_time(struct oche_rogue_end *end)
{
    oche_time when = rogue_next(end->library);

    if (when == OCHE_NEVER && !is_in_heap(end))
        return;
    if (when == OCHE_NEVER)
        end->quiet_since = rounds_past(end);
    else if (!oche_rogue_has_turn(end))
        end->turn = ++end->rogue->timers.last_turn;
    place(end, when);
}

oche_time oche_rogue_next_time(const struct oche_rogue *rogue)
{
    return heap_next(&rogue->timers.later);
}

static void call(struct oche_rogue_end *end, oche_time now)
{
    struct oche_rogue_timers *timers = &end->rogue->timers;

    end->quiet_since = rounds_past(end);
    timers->passed = end->turn + 1;
    if (rogue_next(end->library) <= now) {
        rogue_expire(end->library, now);
        oche_rogue_report(end, now);
    }
    timers->passed = end->turn; /* so its turn has come: it loses it, if it wants nothing more */
    end->quiet_since = rounds_past(end) - 1;
    place(end, rogue_next(end->library));
}

void oche_rogue_call_due(struct oche_rogue *rogue, oche_time now)
{
    struct oche_rogue_timers *timers = &rogue->timers;

    timers->rounds++;
    timers->passed = UINT64_MAX;
    while (heap_next(&timers->later) <= now)
        place(timers->ends[timers->later.entries[0].slot], 0);
    while (timers->due.count > 0) {
        struct oche_rogue_end *end = timers->ends[timers->due.entries[0].slot];

        heap_remove(&timers->due, end->slot);
        call(end, now);
    }
    timers->passed = 0;
}
