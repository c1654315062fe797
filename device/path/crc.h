/* SPDX-License-Identifier: Apache-2.0 */
/* The CRC-32 function with which the device computes ICRCs. */
#ifndef OCHE_DEVICE_PATH_CRC_H
#define OCHE_DEVICE_PATH_CRC_H

#include "core/wire/icrc.h"

/*
 * Returns isa-l's function if its library is on this machine and agrees with zlib on a few sums,
 * else zlib's (ten times slower). `name` (may be NULL) becomes "isa-l" or "zlib". Each call loads
 * the library and leaves it loaded, so call it once, when the device opens.
 */
oche_crc32 *oche_crc_choose(const char **name);

/* zlib's CRC-32. */
uint32_t oche_crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
