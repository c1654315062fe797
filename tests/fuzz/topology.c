/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a topology's file, up to a world that runs for a moment.
 * tools/fuzz 60 topology runs it.
 */
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    char text[300];
    const int length = snprintf(text, sizeof(text),
                                "defaults: paper\nduration: 20us\n"
                                "topology: {type: from_file, file: %s}\n"
                                "workload: {type: permutation, bytes: 10KB, messages: 2}\n",
                                fuzz_file("topology", bytes, count));

    return small_world_check(text, (size_t)length, true);
}
