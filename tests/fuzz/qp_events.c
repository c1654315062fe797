/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as a sequence of events into a pair of queue pairs. tools/fuzz 60
 * qp_events runs it; replay.c does so without libFuzzer.
 */
#include <stdio.h>

#include "tests/fuzz/qp_events_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *wrong = qp_events_check(bytes, count);

    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
