/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fuzz target's sequences of events from random bytes, as a test of every check. A failure
 * names its seed: test_qp_events SEED runs that one.
 */
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "tests/fuzz/qp_events_check.h"

#define RUNS 1000

static void run(uint64_t seed)
{
    struct oche_random random = oche_random_stream(seed, "qp events", 0);
    uint8_t bytes[3000];
    size_t count = 1 + oche_random_below(&random, sizeof(bytes) - 1);
    bool calm = oche_random_below(&random, 2) == 0; /* few errors, so that much succeeds */

    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)oche_random_u64(&random);
        if (calm && (bytes[i] % 16 == 14 || bytes[i] % 16 == 11))
            bytes[i] = 6;
    }
    const char *wrong = qp_events_check(bytes, count);
    if (wrong != NULL)
        fprintf(stderr, "test_qp_events %lu: %s\n", (unsigned long)seed, wrong);
    assert_null(wrong);
}

static void test_random_events(void **state)
{
    const uint64_t *only = *state;

    if (only != NULL) {
        run(*only);
        return;
    }
    for (uint64_t seed = 1; seed <= seeds_of(RUNS); seed++)
        run(seed);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_random_events, argc > 1 ? &seed : NULL),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
