/* SPDX-License-Identifier: Apache-2.0 */
/* Which CRC-32 the device computes its ICRCs with. */
#ifndef OCHE_DEVICE_CRC_H
#define OCHE_DEVICE_CRC_H

#include "core/wire/icrc.h"

/*
 * isa-l's if its library is on this machine and agrees with zlib on a few sums, else zlib's (ten
 * times slower). `name` (may be NULL) becomes "isa-l" or "zlib". Loads the library each time it is
 * called, and leaves it loaded: call it once, when the device opens.
 */
oche_crc32 *oche_crc_choose(const char **name);

/* zlib's. */
uint32_t oche_crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
