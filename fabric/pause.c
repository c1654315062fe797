/* SPDX-License-Identifier: Apache-2.0 */
/* Received PFC, as described in the header. */
#include "fabric/pause.h"

#include <string.h>

void oche_pause_init(struct oche_pause *pause, uint64_t rate_bps, oche_time response)
{
    memset(pause, 0, sizeof(*pause));
    pause->next = OCHE_NEVER;
    pause->rate_bps = rate_bps;
    pause->response = response;
}

/* Of a span: the part up to `end` that lies after the last reset. */
static oche_time counted(const struct oche_pause *pause, const struct oche_pause_span *span,
                         oche_time end)
{
    oche_time from = span->from > pause->counted_from ? span->from : pause->counted_from;

    return end > from ? end - from : 0;
}

/* XON for `cls` at `effect`: the last pause ends then, if it would have lasted longer. */
static void resume(struct oche_pause *pause, unsigned cls, oche_time effect)
{
    struct oche_pause_span *last = &pause->spans[cls][0];

    if (pause->counts[cls] == 0)
        return;
    last += pause->counts[cls] - 1;
    if (last->until > effect)
        last->until = effect;
    if (last->until <= last->from)
        pause->counts[cls]--;
}

/* XOFF for `cls` from `effect` to `until`. */
static void pause_class(struct oche_pause *pause, unsigned cls, oche_time effect, oche_time until)
{
    struct oche_pause_span *last = &pause->spans[cls][0];
    unsigned count = pause->counts[cls];

    if (count > 0) {
        last += count - 1;
        if (last->until >= effect || count == OCHE_PAUSE_SPANS) {
            last->until = until;
            return;
        }
        last++;
    }
    *last = (struct oche_pause_span){.from = effect, .until = until};
    pause->counts[cls]++;
}

void oche_pause_receive(struct oche_pause *pause, const struct oche_packet *frame, oche_time now)
{
    oche_time effect = oche_time_add(now, pause->response);

    oche_pause_update(pause, now);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        uint16_t quanta = oche_pfc_quanta(frame, cls);

        if (!(frame->rkey >> cls & 1))
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

/* The class's state at `now`; returns the time of its next change. */
static oche_time update_class(struct oche_pause *pause, unsigned cls, oche_time now)
{
    struct oche_pause_span *spans = pause->spans[cls];
    uint8_t bit = (uint8_t)(1U << cls);

    while (pause->counts[cls] > 0 && spans[0].until <= now) {
        pause->total[cls] += counted(pause, &spans[0], spans[0].until);
        pause->counts[cls]--;
        memmove(&spans[0], &spans[1], pause->counts[cls] * sizeof(spans[0]));
    }
    pause->mask &= (uint8_t)~bit;
    if (pause->counts[cls] == 0)
        return OCHE_NEVER;
    if (spans[0].from > now)
        return spans[0].from;
    pause->mask |= bit;
    return spans[0].until;
}

uint8_t oche_pause_update(struct oche_pause *pause, oche_time now)
{
    oche_time next = OCHE_NEVER;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        next = oche_time_min(next, update_class(pause, cls, now));
    pause->next = next;
    return pause->mask;
}

oche_time oche_pause_time(const struct oche_pause *pause, unsigned cls, oche_time now)
{
    oche_time total = pause->total[cls];

    for (unsigned i = 0; i < pause->counts[cls]; i++) {
        const struct oche_pause_span *span = &pause->spans[cls][i];
        if (span->from < now)
            total += counted(pause, span, oche_time_min(now, span->until));
    }
    return total;
}

void oche_pause_reset(struct oche_pause *pause, oche_time now)
{
    oche_pause_update(pause, now);
    memset(pause->received, 0, sizeof(pause->received));
    memset(pause->total, 0, sizeof(pause->total));
    pause->counted_from = now;
}
