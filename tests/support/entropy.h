/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, queue pair numbers and source ports of a device that are the same in every run. */
#ifndef OCHE_TESTS_SUPPORT_ENTROPY_H
#define OCHE_TESTS_SUPPORT_ENTROPY_H

#include <string.h>

#include "core/random.h"

/* For oche_device_config.entropy; the context is a struct oche_random. */
static inline bool entropy_from(void *context, void *bytes, size_t count)
{
    struct oche_random *random = context;
    uint8_t *to = bytes;

    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)oche_random_u64(random);
    return true;
}

#endif
