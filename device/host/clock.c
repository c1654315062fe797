/* SPDX-License-Identifier: Apache-2.0 */
/* The device's clock. */
#include "device/host/clock.h"

void oche_clock_start(struct oche_clock *clock)
{
    clock_gettime(CLOCK_MONOTONIC, &clock->opened);
}

oche_time oche_clock_now(const struct oche_clock *clock)
{
    struct timespec now;
    int64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (int64_t)(now.tv_sec - clock->opened.tv_sec) * 1000000000 +
         (now.tv_nsec - clock->opened.tv_nsec);
    return (oche_time)ns * OCHE_NS;
}

void oche_clock_sleep(oche_time time)
{
    const struct timespec pause = {.tv_nsec = (long)(time / OCHE_NS)};

    nanosleep(&pause, NULL);
}
