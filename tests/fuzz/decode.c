/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes into every decoder. tools/fuzz 60 decode runs it; replay.c does so
 * without libFuzzer.
 */
#include <zlib.h>

#include "tests/fuzz/decode_check.h"
#include "tests/fuzz/target.h"

static uint32_t crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(crc, bytes, count);
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static uint8_t again[DECODE_CHECK_ROOM];
    unsigned accepted = 0;

    return decode_check(bytes, count, crc_zlib, again, &accepted);
}
