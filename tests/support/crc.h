/* SPDX-License-Identifier: Apache-2.0 */
/* The two CRC-32 functions of the tests: zlib's and isa-l's. */
#ifndef OCHE_TESTS_SUPPORT_CRC_H
#define OCHE_TESTS_SUPPORT_CRC_H

#include <isa-l/crc.h>
#include <zlib.h>

#include "core/wire/icrc.h"

static inline uint32_t crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(crc, bytes, count);
}

static inline uint32_t crc_isal(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32_gzip_refl(crc, bytes, count);
}

#endif
