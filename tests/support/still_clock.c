/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces device/host/clock.c in a program that links this file. The test moves time
 * (still_clock.h). Each reading of the clock moves it a little, too, so that loops that wait see
 * time pass.
 */
#include "tests/support/still_clock.h"

#define START  1000 /* seconds; any number will do */
#define SECOND 1000000000

oche_time still_clock_look = 100 * OCHE_NS;

static void move_on(struct timespec *opened, int64_t ns)
{
    const int64_t all = (int64_t)opened->tv_sec * SECOND + opened->tv_nsec - ns;

    opened->tv_sec = all / SECOND;
    opened->tv_nsec = all % SECOND;
}

void oche_clock_start(struct oche_clock *clock)
{
    clock->opened = (struct timespec){.tv_sec = START};
}

oche_time oche_clock_now(const struct oche_clock *clock)
{
    struct oche_clock *looked_at = (struct oche_clock *)(uintptr_t)clock;
    const struct timespec *opened = &clock->opened;

    move_on(&looked_at->opened, (int64_t)(still_clock_look / OCHE_NS));
    return ((oche_time)(START - opened->tv_sec) * SECOND - (oche_time)opened->tv_nsec) * OCHE_NS;
}

/* Another process may have to do its part meanwhile, so this sleeps as well. */
void oche_clock_sleep(oche_time time)
{
    const struct timespec pause = {.tv_nsec = (long)(time / OCHE_NS)};

    nanosleep(&pause, NULL);
}

void still_clock_pass(struct oche_clock *clock, oche_time time)
{
    move_on(&clock->opened, (int64_t)(time / OCHE_NS));
}
