/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts processors. A container may run on all processors of its machine but have only the time of
 * one. Then /sys/fs/cgroup/cpu.max has a quota and its period, in microseconds.
 */
#include "cli/run/processors.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

/* Returns how many processors' time the control group has, rounded down; 0: no limit is known. */
static uint64_t allotted(void)
{
    unsigned long long quota = 0, period = 0;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    bool read = file != NULL && fscanf(file, "%llu %llu", &quota, &period) == 2 && period > 0;

    if (file != NULL)
        fclose(file);
    if (!read)
        return 0;
    return quota < period ? 1 : quota / period;
}

uint32_t oche_processors(void)
{
    cpu_set_t mask;
    uint32_t count =
        sched_getaffinity(0, sizeof(mask), &mask) == 0 ? (uint32_t)CPU_COUNT(&mask) : 1;
    const uint64_t most = allotted();

    if (most > 0 && most < count)
        count = (uint32_t)most;
    return count == 0 ? 1 : count;
}
