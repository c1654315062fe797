/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes into every decoder. tools/fuzz 60 decode runs it; replay.c does so
 * without libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "tests/fuzz/decode_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
    abort();
}

static uint32_t crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(crc, bytes, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static uint8_t again[DECODE_CHECK_ROOM];
    unsigned accepted = 0;
    const char *wrong = decode_check(bytes, count, crc_zlib, again, &accepted);

    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        abort();
    }
    return 0;
}
