/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as packets of a hostile peer beside honest work. tools/fuzz 60
 * hostile_peer runs it; replay.c does so without libFuzzer.
 */
#include <stdlib.h>

#include "tests/fuzz/hostile_peer_check.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static struct hostile_world worlds[HOSTILE_VARIANTS];
    const unsigned variant = count > 0 ? bytes[0] % HOSTILE_VARIANTS : 0;
    struct hostile_world *world = &worlds[variant];

    if (world->variant == NULL && !hostile_open(world, variant))
        exit(2);
    return hostile_peer_check(world, bytes, count);
}
