/* SPDX-License-Identifier: Apache-2.0 */
/* PFC frames received from the peer; see the header. */
#include "fabric/pause.h"

#include <string.h>

void oche_pause_init(struct oche_pause *pause, uint64_t rate_bps, oche_time response)
{
    memset(pause, 0, sizeof(*pause));
    pause->next = OCHE_NEVER;
    pause->rate_bps = rate_bps;
    pause->response = response;
}

/* Returns how much of the span lies between the last reset of the counters and `end`. */
static oche_time counted(const struct oche_pause *pause, const struct oche_pause_span *span,
                         oche_time end)
{
    oche_time from = span->from > pause->counted_from ? span->from : pause->counted_from;

    return end > from ? end - from : 0;
}

static void remove_span(struct oche_pause *pause, unsigned at)
{
    unsigned behind = --pause->count - at;

    memmove(&pause->spans[at], &pause->spans[at + 1], behind * sizeof(pause->spans[0]));
    memmove(&pause->class_of[at], &pause->class_of[at + 1], behind);
}

/* Returns the index of the last span of `cls`, or -1. */
static int last_span(const struct oche_pause *pause, unsigned cls)
{
    int at = pause->count;

    while (--at >= 0 && pause->class_of[at] != cls)
        continue;
    return at;
}

/* Applies XON for `cls` at `effect`: if the last pause would last longer, it ends then. */
static void resume(struct oche_pause *pause, unsigned cls, oche_time effect)
{
    int last = last_span(pause, cls);

    if (last < 0 || pause->spans[last].until <= effect)
        return;
    pause->spans[last].until = effect;
    if (pause->spans[last].from >= effect)
        remove_span(pause, (unsigned)last);
}

/*
 * Makes room for one more span: merges the two pauses of the same class that have the shortest gap
 * between them, so that the class is paused during the gap too. There are more spans than classes,
 * so some class has two.
 */
static void merge_one(struct oche_pause *pause)
{
    oche_time shortest = OCHE_NEVER;
    unsigned first = 0, second = 0;

    for (unsigned later = 1; later < pause->count; later++) {
        for (unsigned at = later; at-- > 0;) {
            oche_time gap = pause->spans[later].from - pause->spans[at].until;

            if (pause->class_of[at] != pause->class_of[later])
                continue;
            if (gap < shortest) {
                shortest = gap;
                first = at;
                second = later;
            }
            break;
        }
    }
    OCHE_MUST(second > 0);
    pause->spans[first].until = pause->spans[second].until;
    remove_span(pause, second);
    pause->merged++;
}

/* Applies XOFF for `cls` from `effect` to `until`. */
static void pause_class(struct oche_pause *pause, unsigned cls, oche_time effect, oche_time until)
{
    int last = last_span(pause, cls);

    if (last >= 0 && pause->spans[last].until >= effect) {
        pause->spans[last].until = until;
        return;
    }
    if (pause->count == OCHE_PAUSE_SPANS)
        merge_one(pause);
    pause->spans[pause->count] = (struct oche_pause_span){.from = effect, .until = until};
    pause->class_of[pause->count++] = (uint8_t)cls;
}

void oche_pause_receive(struct oche_pause *pause, const struct oche_packet *frame, oche_time now)
{
    oche_time effect = oche_time_add(now, pause->response);

    oche_pause_update(pause, now);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        uint16_t quanta = frame->pfc.quanta[cls];

        if (!oche_pfc_has(frame, cls))
            continue;
        if (quanta == 0) {
            resume(pause, cls, effect);
            continue;
        }
        pause->received[cls]++;
        pause_class(pause, cls, effect,
                    oche_time_add(effect, oche_pause_duration(quanta, pause->rate_bps)));
    }
    oche_pause_update(pause, now);
}

uint8_t oche_pause_update(struct oche_pause *pause, oche_time now)
{
    unsigned at = 0;

    pause->mask = 0;
    pause->next = OCHE_NEVER;
    while (at < pause->count) {
        const struct oche_pause_span *span = &pause->spans[at];
        unsigned cls = pause->class_of[at];

        if (span->until <= now) {
            pause->total[cls] += counted(pause, span, span->until);
            remove_span(pause, at);
            continue;
        }
        if (span->from <= now)
            pause->mask |= (uint8_t)(1U << cls);
        pause->next = oche_time_min(pause->next, span->from > now ? span->from : span->until);
        at++;
    }
    return pause->mask;
}

void oche_pause_clear(struct oche_pause *pause, oche_time now)
{
    for (unsigned at = 0; at < pause->count; at++) {
        const struct oche_pause_span *span = &pause->spans[at];

        pause->total[pause->class_of[at]] += counted(pause, span, oche_time_min(now, span->until));
    }
    pause->count = 0;
    oche_pause_update(pause, now);
}

oche_time oche_pause_time(const struct oche_pause *pause, unsigned cls, oche_time now)
{
    oche_time total = pause->total[cls];

    for (unsigned at = 0; at < pause->count; at++) {
        const struct oche_pause_span *span = &pause->spans[at];

        if (pause->class_of[at] == cls && span->from < now)
            total += counted(pause, span, oche_time_min(now, span->until));
    }
    return total;
}

void oche_pause_reset(struct oche_pause *pause, oche_time now)
{
    oche_pause_update(pause, now);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        pause->before[cls] += oche_pause_time(pause, cls, now);
    memset(pause->received, 0, sizeof(pause->received));
    memset(pause->total, 0, sizeof(pause->total));
    pause->counted_from = now;
}
