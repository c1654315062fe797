/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as messages to a connection manager, and as what its programs do.
 * tools/fuzz 60 connections runs it; replay.c does so without libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/connections_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *wrong = connections_check(bytes, count);

    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
