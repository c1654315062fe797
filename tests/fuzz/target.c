/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of libFuzzer, and the end of a target when an input has broken a rule. */
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *wrong = fuzz_input(bytes, count);

    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
