/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port's reaction to frames of any kind, compared with the definition:
 *   - PFC frames at any times, several also at the same time. The last frame that has taken effect
 *     says until when a class is paused. The port also reports the next change and the total time
 *     of each class's pauses. All of this is exact while pending pauses fit into the port; if not,
 *     a pause may become longer, but never shorter.
 *   - RED marks both ECN-capable codepoints with the probability of the queue, and no others.
 *
 *     test_ports_random [RUNS]
 *     test_ports_random FIRST LAST
 */
#include "fabric/ecn.h"
#include "fabric/pause.h"
#include "tests/support/random_case.h"
#include "tests/support/seeds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS   400
#define FRAMES 80
#define STEPS  200
#define CALLS  500 /* of RED for each codepoint */
/*
 * The tolerance of the number of marks: five standard deviations, and a few more for rare events.
 */
#define DEVIATIONS 5
#define RARE       10

/* A pause of one class, or the end of a pause if until = effect. */
struct entry {
    oche_time effect, until;
    oche_time cleared; /* the link went down */
};

struct history {
    struct entry entry[FRAMES];
    uint32_t count;
};

struct world {
    uint64_t seed;
    struct oche_random random;
    struct oche_pause pause;
    struct history history[OCHE_CLASSES];
    uint64_t received[OCHE_CLASSES];
    uint64_t bits_ps; /* time of 512 bits on the line */
    oche_time now, counted_from;
    bool crowded; /* more pauses were pending than there is room for */
};

static uint64_t crowded_runs, changes, marked;

static uint32_t below(struct world *w, uint32_t n)
{
    return case_below(&w->random, n);
}

#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition))                                                                          \
            case_wrong("test_ports_random", w->seed, __VA_ARGS__);                                 \
    } while (0)

/* ---- the definition ---- */

/* Returns when a frame's pause ends: by itself, by the next frame, or with the link. */
static oche_time end_of(const struct history *history, uint32_t i)
{
    const struct entry *entry = &history->entry[i];
    const oche_time end = oche_time_min(entry->until, entry->cleared);

    return i + 1 < history->count ? oche_time_min(end, history->entry[i + 1].effect) : end;
}

static bool is_paused(const struct history *history, oche_time at)
{
    for (uint32_t i = history->count; i-- > 0;)
        if (history->entry[i].effect <= at)
            return at < end_of(history, i);
    return false;
}

static oche_time paused_for(const struct history *history, oche_time from, oche_time to)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        const oche_time begin = oche_time_max(history->entry[i].effect, from);
        const oche_time end = oche_time_min(end_of(history, i), to);
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

/* Returns how many pauses are active or pending. Pauses that touch count as one. */
static uint32_t to_come(const struct history *history, oche_time now)
{
    oche_time before = OCHE_NEVER;
    uint32_t count = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        const oche_time begin = history->entry[i].effect, end = end_of(history, i);
        if (end <= begin || end <= now)
            continue;
        count += begin != before;
        before = end;
    }
    return count;
}

static uint8_t mask_at(const struct world *w, oche_time at)
{
    uint8_t mask = 0;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        mask |= (uint8_t)(is_paused(&w->history[cls], at) << cls);
    return mask;
}

static oche_time next_change(const struct world *w)
{
    oche_time next = OCHE_NEVER;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        const struct history *history = &w->history[cls];
        const bool is = is_paused(history, w->now);
        for (uint32_t i = 0; i < history->count; i++) {
            const oche_time times[2] = {history->entry[i].effect, end_of(history, i)};
            for (int k = 0; k < 2; k++)
                if (times[k] > w->now && times[k] < next && is_paused(history, times[k]) != is)
                    next = times[k];
        }
    }
    return next;
}

/* ---- frames ---- */

static void note(struct world *w, unsigned cls, uint16_t quanta, oche_time effect)
{
    struct history *history = &w->history[cls];
    uint32_t pauses = 0;

    history->entry[history->count++] = (struct entry){
        .effect = effect, .until = effect + quanta * w->bits_ps, .cleared = OCHE_NEVER};
    w->received[cls] += quanta > 0;
    for (unsigned c = 0; c < OCHE_CLASSES; c++)
        pauses += to_come(&w->history[c], w->now);
    w->crowded |= pauses > OCHE_PAUSE_SPANS;
}

static void receive(struct world *w, uint32_t longest)
{
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        if (below(w, 3) > 0 || w->history[cls].count == FRAMES)
            continue;
        const uint16_t quanta = (uint16_t)(below(w, 2) * (1 + below(w, longest)));
        oche_pfc_set(&frame, cls, quanta);
        note(w, cls, quanta, w->now + w->pause.response);
    }
    oche_pause_receive(&w->pause, &frame, w->now);
}

static void clear(struct world *w)
{
    oche_pause_clear(&w->pause, w->now);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        for (uint32_t i = 0; i < w->history[cls].count; i++)
            w->history[cls].entry[i].cleared =
                oche_time_min(w->history[cls].entry[i].cleared, w->now);
}

static void check_pauses(struct world *w, const char *after)
{
    const uint8_t mask = mask_at(w, w->now);
    const unsigned cls = below(w, OCHE_CLASSES);
    const oche_time exact = paused_for(&w->history[cls], w->counted_from, w->now);
    const oche_time told = oche_pause_time(&w->pause, cls, w->now);

    MUST(w->crowded == (w->pause.merged > 0), "after %s %" PRIu64 " pauses are merged, %s room",
         after, w->pause.merged, w->crowded ? "without" : "with");
    MUST(w->pause.received[cls] == w->received[cls], "%" PRIu64 " pauses are counted, not %" PRIu64,
         w->pause.received[cls], w->received[cls]);
    if (w->crowded) {
        MUST((w->pause.mask & mask) == mask && told >= exact,
             "after %s a class is paused too short", after);
        return;
    }
    MUST(w->pause.mask == mask, "after %s classes %x are paused, not %x", after, w->pause.mask,
         mask);
    MUST(w->pause.next == next_change(w),
         "after %s the next change is told for %" PRIu64 " ps, and comes at %" PRIu64
         " ps; it is %" PRIu64 " ps",
         after, w->pause.next, next_change(w), w->now);
    MUST(told == exact, "after %s class %u was paused for %" PRIu64 " ps, not %" PRIu64, after, cls,
         told, exact);
}

static void pause_at_random(struct world *w)
{
    static const uint64_t rates[] = {10, 25, 40, 50, 100, 200, 400};
    const uint64_t rate = rates[below(w, 7)];
    const uint32_t longest = 1u << below(w, 16);
    const uint32_t pace = 1 + below(w, 3 * longest);

    w->bits_ps = UINT64_C(512000) / rate;
    oche_pause_init(&w->pause, rate * OCHE_GBPS,
                    below(w, 4) == 0 ? 0 : w->bits_ps * below(w, 4 * longest));
    for (int step = 0; step < STEPS; step++) {
        const char *what = "a frame";
        switch (below(w, 8)) {
        case 0: /* to the time of the change, or just before it */
            if (w->pause.next != OCHE_NEVER)
                w->now = w->pause.next - below(w, 2);
            changes += w->pause.next != OCHE_NEVER;
            break;
        case 1:
        case 2:
            w->now += below(w, pace) * w->bits_ps / (1 + below(w, 3));
            break;
        default: /* two changes at once */
            break;
        }
        oche_pause_update(&w->pause, w->now);
        check_pauses(w, "a while");
        if (below(w, 40) == 0) {
            clear(w);
            what = "the end of the link";
        } else if (below(w, 40) == 0) {
            oche_pause_reset(&w->pause, w->now);
            memset(w->received, 0, sizeof(w->received));
            w->counted_from = w->now;
            what = "a reset of the counters";
        } else {
            receive(w, longest);
        }
        check_pauses(w, what);
    }
    crowded_runs += w->crowded;
}

/* ---- RED ---- */

static double probability(const struct oche_switch_params *params, uint64_t queue)
{
    if (queue <= params->kmin_bytes)
        return 0;
    if (queue > params->kmax_bytes)
        return 1;
    return params->pmax * (double)(queue - params->kmin_bytes) /
           (double)(params->kmax_bytes - params->kmin_bytes);
}

static void mark_at_random(struct world *w)
{
    struct oche_switch_params params;

    oche_param_defaults(&oche_switch_params, &params);
    params.ecn = true;
    params.pmax = (1 + below(w, 100)) / 100.0;
    params.kmin_bytes = 1000 + below(w, 100000);
    params.kmax_bytes = params.kmin_bytes + below(w, 3) * below(w, 300000);
    const struct oche_red_ramp ramp = oche_red_ramp(&params, 100 * OCHE_GBPS);
    const uint64_t span = params.kmax_bytes - params.kmin_bytes;
    const uint64_t queue =
        params.kmin_bytes + oche_random_below(&w->random, span + span / 8 + 3) - below(w, 2);
    const double p = probability(&params, queue);

    for (uint8_t ecn = OCHE_ECN_NOT_ECT; ecn <= OCHE_ECN_CE; ecn++) {
        uint32_t marks = 0;
        for (int i = 0; i < CALLS; i++) {
            const struct oche_packet packet = {.ecn = ecn};

            marks += oche_red_chooses(&ramp, &w->random, &packet, queue);
        }
        const bool capable = ecn == OCHE_ECN_ECT0 || ecn == OCHE_ECN_ECT1;
        const double due = capable ? p * CALLS : 0;
        const bool certain = !capable || p == 0 || p == 1;
        MUST(fabs(marks - due) <= (certain ? 0 : DEVIATIONS * sqrt(due * (1 - p)) + RARE),
             "of %d packets with codepoint %u %u are marked; due are %.1f", CALLS, ecn, marks, due);
        marked += marks;
    }
}

static void run(uint64_t seed)
{
    static struct world world;

    world = (struct world){.seed = seed, .random = oche_random_stream(seed, "ports", 0)};
    pause_at_random(&world);
    mark_at_random(&world);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t last = argc > 1 ? strtoull(argv[argc > 2 ? 2 : 1], NULL, 0) : seeds_of(RUNS);

    for (uint64_t seed = first; seed <= last; seed++)
        run(seed);
    printf("%" PRIu64 " runs, %" PRIu64 " with more pauses than room; %" PRIu64 " changes; %" PRIu64
           " marks\n",
           last - first + 1, crowded_runs, changes, marked);
    return argc <= 2 && (crowded_runs == 0 || crowded_runs == last || changes == 0 || marked == 0);
}
