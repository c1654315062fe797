/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes big-endian fields (network byte order) at any alignment. The caller checks
 * bounds.
 */
#ifndef OCHE_CORE_WIRE_BYTES_H
#define OCHE_CORE_WIRE_BYTES_H

#include "core/base.h"

OCHE_C_BEGIN

static inline uint16_t oche_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t oche_get24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static inline uint32_t oche_get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | oche_get24(at + 1);
}

static inline uint64_t oche_get64(const uint8_t *at)
{
    return (uint64_t)oche_get32(at) << 32 | oche_get32(at + 4);
}

static inline void oche_put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void oche_put24(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 16);
    oche_put16(at + 1, (uint16_t)value);
}

static inline void oche_put32(uint8_t *at, uint32_t value)
{
    oche_put16(at, (uint16_t)(value >> 16));
    oche_put16(at + 2, (uint16_t)value);
}

static inline void oche_put64(uint8_t *at, uint64_t value)
{
    oche_put32(at, (uint32_t)(value >> 32));
    oche_put32(at + 4, (uint32_t)value);
}

OCHE_C_END

#endif
