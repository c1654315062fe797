/* SPDX-License-Identifier: Apache-2.0 */
/* Real time for the core: picoseconds of CLOCK_MONOTONIC since a device was opened. */
#ifndef OCHE_DEVICE_HOST_CLOCK_H
#define OCHE_DEVICE_HOST_CLOCK_H

#include <time.h>

#include "core/base.h"

struct oche_clock {
    struct timespec opened;
};

void oche_clock_start(struct oche_clock *clock);
/* Returns picoseconds since oche_clock_start, a multiple of 1000. Overflows after 213 days. */
oche_time oche_clock_now(const struct oche_clock *clock);

/* Sleeps for this time, below a second, or until a signal handler has run. */
void oche_clock_sleep(oche_time time);

#endif
