/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before perftest's programs (pairs.py). As each begins it measures the processor's clock
 * for a fifth of a second, in which it reads the time without a pause; here it sleeps between two
 * readings. The result is the same, as both of its clocks run meanwhile.
 */
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#define PAUSE_NS 100000

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    static _Thread_local const struct timeval *last;
    struct timespec now;

    (void)zone;
    /* The first reading of an interval, and those that may end it, are stored in different places.
     */
    if (time == last)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    last = time;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}
