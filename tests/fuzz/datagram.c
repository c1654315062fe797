/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any datagrams into a device. tools/fuzz 60 datagram runs it; replay.c does so
 * without libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/datagram_check.h"
#include "tests/fuzz/target.h"
#include "tests/support/still_clock.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static struct datagram_world worlds[DATAGRAM_VARIANTS];
    const unsigned variant = count > 0 ? bytes[0] % DATAGRAM_VARIANTS : 0;
    struct datagram_world *world = &worlds[variant];

    if (world->device == NULL) {
        char own[32];

        still_clock_look = OCHE_MS; /* opening waits for other processes of the address */
        snprintf(own, sizeof(own), "127.254.%u.%u", (unsigned)getpid() >> 8 & 0xff,
                 (unsigned)getpid() & 0xff);
        if (variant == DATAGRAM_IPV6
                ? !datagram_open(world, variant, "::1", "fd00::2", "fd00::3")
                : !datagram_open(world, variant, own, "127.255.0.2", "127.255.0.3"))
            exit(2);
        still_clock_look = 100 * OCHE_NS;
    }
    return datagram_check(world, bytes, count);
}
