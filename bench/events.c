/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event queue alone, with 10^3, 10^4 and 10^5 pending events of as many nodes: pops an event
 * and pushes one with a later time. The delays are typical of a datacenter: mostly a packet's
 * serialisation, sometimes a link's delay, rarely a timer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/random.h"
#include "sim/engine/event_queue.h"

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static oche_time delay(struct oche_random *random)
{
    uint64_t draw = oche_random_u64(random);

    if ((draw & 63) == 0)
        return 55 * OCHE_US;
    if ((draw & 7) == 0)
        return OCHE_US + (draw >> 32) % 100;
    return 80000 + (draw >> 32) % 8000;
}

static double run(uint32_t pending, uint64_t events)
{
    struct oche_event_queue queue;
    struct oche_random random = oche_random_stream(1, "bench events", pending);
    struct oche_event event = {0};

    oche_events_init(&queue, &(struct oche_event_queue_config){.independent = OCHE_US,
                                                               .horizon = OCHE_US,
                                                               .node_count = pending});
    for (uint32_t i = 0; i < pending; i++)
        oche_event_push(&queue, oche_random_below(&random, 100000), i << OCHE_EVENT_NODE_SHIFT,
                        NULL);
    double start = 0;
    for (uint64_t i = 0; i < events + events / 4; i++) {
        if (i == events / 4)
            start = seconds();
        if (!oche_event_pop(&queue, OCHE_TIME_LIMIT - 1, &event))
            abort();
        oche_event_push(&queue, event.time + delay(&random), event.key, event.target);
    }
    double rate = (double)events / (seconds() - start);
    oche_events_free(&queue);
    return rate;
}

int main(void)
{
    for (uint32_t pending = 1000; pending <= 100000; pending *= 10)
        printf("events: pending=%u: %.1f M events/s\n", pending, run(pending, 20000000) / 1e6);
    return 0;
}
