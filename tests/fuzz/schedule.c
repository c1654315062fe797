/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a schedule (GOAL as text or binary, htsim's matrix), up to a world
 * whose ranks run it for a moment. tools/fuzz 60 schedule runs it.
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
                                "workload: {type: schedule, file: %s, ranks_per_host: 5}\n",
                                fuzz_file("schedule", bytes, count));

    return small_world_check(text, (size_t)length, true);
}
