/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a file of routes and of flows' paths, up to a world that runs for a
 * moment. tools/fuzz 60 routes runs it.
 */
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    char text[400];
    const int length = snprintf(text, sizeof(text),
                                "defaults: paper\nduration: 20us\n"
                                "topology: {type: leaf_spine, leaves: 3, spines: 2, "
                                "hosts_per_leaf: 2}\n"
                                "routes: {file: %s}\n"
                                "workload: {type: permutation, bytes: 10KB, messages: 2}\n",
                                fuzz_file("routes", bytes, count));

    return small_world_check(text, (size_t)length, true);
}
