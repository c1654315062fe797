/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a list of flows, up to a world that runs for a moment.
 * tools/fuzz 60 flows runs it.
 */
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    char text[300];
    const int length = snprintf(text, sizeof(text),
                                "defaults: paper\nduration: 20us\n"
                                "topology: {type: star, hosts: 4}\n"
                                "workload: {type: from_file, file: %s}\n",
                                fuzz_file("flows", bytes, count));

    return small_world_check(text, (size_t)length, true);
}
