/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a scenario, up to a small world that runs for a moment.
 * tools/fuzz 60 scenario runs it. Texts that name files are only read: what is there is no part of
 * the input.
 */
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    const bool names_files = memmem(bytes, count, "file", 4) != NULL;
    char *text = malloc(count + 1);
    const char *wrong;

    memcpy(text, bytes, count);
    wrong = small_world_check(text, count, !names_files);
    free(text);
    return wrong;
}
