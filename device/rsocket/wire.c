/* SPDX-License-Identifier: Apache-2.0 */
#include "device/rsocket/wire.h"

#include <endian.h>
#include <string.h>

enum { FLAG_BIG_ENDIAN = 1, FLAG_IOMAP = 2 };

enum { AT_VERSION = 0, AT_FLAGS = 1, AT_CREDITS = 2, AT_IOMAPS = 7, AT_PLACES = 8, AT_BUFFER = 24 };

bool rs_is_big_endian(void)
{
    return htobe16(1) == 1;
}

/* ---- the hello, which is big-endian ---- */

static void put16(uint8_t *bytes, uint16_t value)
{
    value = htobe16(value);
    memcpy(bytes, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return be16toh(value);
}

static bool swap_for_network(void)
{
    return !rs_is_big_endian();
}

/* Up to 128 the number itself, above that multiples of 256. */
static uint8_t iomaps_byte(uint32_t iomaps)
{
    return (uint8_t)(iomaps <= 128 ? iomaps : 128 | (iomaps < 0x8000 ? iomaps >> 8 : 127));
}

static uint32_t iomaps_of(uint8_t byte)
{
    return byte <= 128 ? byte : (byte & 127U) << 8;
}

uint32_t rs_iomaps_rounded(uint32_t iomaps)
{
    return iomaps > 128 && iomaps < 256 ? 128 : iomaps_of(iomaps_byte(iomaps));
}

void rs_hello_write(const struct rs_hello *hello, uint8_t bytes[RS_HELLO_BYTES])
{
    memset(bytes, 0, RS_HELLO_BYTES);
    bytes[AT_VERSION] = RS_VERSION;
    bytes[AT_FLAGS] =
        (uint8_t)((hello->big_endian ? FLAG_BIG_ENDIAN : 0) | (hello->iomap ? FLAG_IOMAP : 0));
    put16(bytes + AT_CREDITS, hello->credits);
    bytes[AT_IOMAPS] = iomaps_byte(rs_iomaps_rounded(hello->iomaps));
    rs_place_write(&hello->places, swap_for_network(), bytes + AT_PLACES);
    rs_place_write(&hello->buffer, swap_for_network(), bytes + AT_BUFFER);
}

const char *rs_hello_read(const uint8_t *bytes, size_t count, struct rs_hello *hello)
{
    struct rs_place list;

    if (bytes == NULL || count < RS_HELLO_BYTES)
        return "too few bytes";
    if (bytes[AT_VERSION] != RS_VERSION)
        return "another version";
    hello->big_endian = (bytes[AT_FLAGS] & FLAG_BIG_ENDIAN) != 0;
    hello->iomap = (bytes[AT_FLAGS] & FLAG_IOMAP) != 0;
    hello->credits = get16(bytes + AT_CREDITS);
    hello->iomaps = hello->iomap ? iomaps_of(bytes[AT_IOMAPS]) : 0;
    hello->places = rs_place_read(bytes + AT_PLACES, swap_for_network());
    hello->buffer = rs_place_read(bytes + AT_BUFFER, swap_for_network());
    if (hello->credits == 0)
        return "no message may be sent";
    if (hello->places.length == 0 || hello->places.length > RS_MOST_PLACES)
        return "a list of places of a wrong length";
    list = hello->places;
    list.length = list.length * RS_PLACE_BYTES + hello->iomaps * RS_IOMAP_BYTES;
    if (!rs_place_is_sound(&list) || !rs_place_is_sound(&hello->buffer))
        return "a place that is no memory";
    return NULL;
}

/* ---- the immediate ---- */

uint32_t rs_immediate(enum rs_message message, uint32_t value)
{
    return (uint32_t)message << 29 | value;
}

enum rs_message rs_immediate_message(uint32_t immediate)
{
    return (enum rs_message)(immediate >> 29);
}

uint32_t rs_immediate_value(uint32_t immediate)
{
    return immediate & RS_MOST_VALUE;
}

/* ---- entries ---- */

static uint32_t order32(uint32_t value, bool swap)
{
    return swap ? __builtin_bswap32(value) : value;
}

static uint64_t order64(uint64_t value, bool swap)
{
    return swap ? __builtin_bswap64(value) : value;
}

void rs_place_write(const struct rs_place *place, bool swap, uint8_t bytes[RS_PLACE_BYTES])
{
    const uint64_t address = order64(place->address, swap);
    const uint32_t key = order32(place->key, swap), length = order32(place->length, swap);

    memcpy(bytes, &address, 8);
    memcpy(bytes + 8, &key, 4);
    memcpy(bytes + 12, &length, 4);
}

struct rs_place rs_place_read(const uint8_t bytes[RS_PLACE_BYTES], bool swap)
{
    struct rs_place place;

    memcpy(&place.address, bytes, 8);
    memcpy(&place.key, bytes + 8, 4);
    memcpy(&place.length, bytes + 12, 4);
    place.address = order64(place.address, swap);
    place.key = order32(place.key, swap);
    place.length = order32(place.length, swap);
    return place;
}

void rs_iomap_write(const struct rs_iomap *iomap, bool swap, uint8_t bytes[RS_IOMAP_BYTES])
{
    const uint64_t offset = order64(iomap->offset, swap);

    memcpy(bytes, &offset, 8);
    rs_place_write(&iomap->place, swap, bytes + 8);
}

struct rs_iomap rs_iomap_read(const uint8_t bytes[RS_IOMAP_BYTES], bool swap)
{
    struct rs_iomap iomap;

    memcpy(&iomap.offset, bytes, 8);
    iomap.offset = order64(iomap.offset, swap);
    iomap.place = rs_place_read(bytes + 8, swap);
    return iomap;
}

bool rs_place_is_sound(const struct rs_place *place)
{
    return place->length > 0 && place->address <= UINT64_MAX - place->length;
}
