/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as execution traces of Chakra of two ranks, and as their groups. An
 * input is a byte of options, two bytes with the length of the groups, two with that of the first
 * trace, and the three. tools/fuzz 60 chakra runs it.
 */
#include "tests/fuzz/input.h"
#include "tests/fuzz/refusal.h"
#include "tests/fuzz/target.h"

static char folder[] = "/tmp/oche-fuzz-chakra-XXXXXX", first[64], second[64];

static void remove_folder(void)
{
    unlink(first);
    unlink(second);
    rmdir(folder);
}

/* Makes a folder in which two names lead to files in memory. */
static void make_folder(const char *trace, const char *other)
{
    if (first[0] != '\0')
        return;
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(first, sizeof(first), "%s/x.0.et", folder);
    snprintf(second, sizeof(second), "%s/x.1.et", folder);
    if (symlink(trace, first) != 0 || symlink(other, second) != 0)
        abort();
    atexit(remove_folder);
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = {.at = bytes, .left = count};
    const uint8_t options = fuzz_byte(&input);
    const size_t groups = fuzz_number(&input, 2), length = fuzz_number(&input, 2);
    size_t taken;
    const uint8_t *at = fuzz_bytes(&input, groups, &taken);
    const char *groups_file = fuzz_file("groups", at, taken), *trace;

    at = fuzz_bytes(&input, length, &taken);
    trace = fuzz_file("trace", at, taken);
    make_folder(trace, fuzz_file("other", input.at, input.left));
    const struct oche_schedule_reading reading = {.algorithm = options % 4,
                                                  .chunks = 1 + options / 4 % 4,
                                                  .window = options / 16 % 2,
                                                  .control_deps = options / 32 % 2 == 1,
                                                  .groups_file = groups > 0 ? groups_file : NULL,
                                                  .most_ops = FUZZ_MOST_OPS};

    return fuzz_reads(oche_chakra_open, first, &reading);
}
