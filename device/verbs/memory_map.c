/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks in /proc/self/maps that memory is mapped. An RNIC's driver finds unmapped memory when it
 * pins the pages. We pin none, so memory must stay mapped while it is registered.
 */
#include <inttypes.h>
#include <stdio.h>

#include "device/verbs/internal.h"

bool ov_memory_is_mapped(const void *addr, size_t length, bool write)
{
    uint64_t at = (uint64_t)(uintptr_t)addr;
    const uint64_t end = at + length;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    if (maps == NULL)
        return true; /* without /proc, trust the application */
    while (at < end && fgets(line, sizeof(line), maps) != NULL) {
        uint64_t from, to;
        char can[5];

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, can) != 3 || to <= at)
            continue;
        if (from > at || can[0] != 'r' || (write && can[1] != 'w'))
            break;
        at = to;
    }
    fclose(maps);
    return at >= end;
}
