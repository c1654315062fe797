/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: any bytes as a workload of SimAI. tools/fuzz 60 simai runs it. */
#include "tests/fuzz/input.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    const struct oche_schedule_reading reading = {.algorithm = count % 4,
                                                  .chunks = 1 + count % 3,
                                                  .window = count % 2,
                                                  .gpus = count % 5 == 0 ? 4 : 0,
                                                  .most_ops = FUZZ_MOST_OPS};

    return fuzz_reads(oche_simai_open, fuzz_file("workload", bytes, count), &reading);
}
