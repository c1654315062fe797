/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: any bytes as JSON lines of operations. tools/fuzz 60 json_lines runs it. */
#include "tests/fuzz/input.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    const struct oche_schedule_reading reading = {.algorithm = count % 4,
                                                  .chunks = 1 + count % 3,
                                                  .window = count % 2,
                                                  .most_ops = FUZZ_MOST_OPS};

    return fuzz_reads(oche_json_lines_open, fuzz_file("lines", bytes, count), &reading);
}
