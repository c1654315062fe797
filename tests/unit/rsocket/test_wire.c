/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between sockets over RDMA, to the bit, and messages that are rejected. */
#include "tests/support/test.h"

#include <string.h>

#include "device/rsocket/wire.h"

/*
 * A hello as rdma-core's would write it on a little-endian processor: version 1, an iomap, 384
 * credits, 2 places at 0x1122334455667788, and 65536 bytes at 0x7f0000001000.
 */
static const uint8_t golden[RS_HELLO_BYTES] = {
    1,    2,    0x01, 0x80, 0,    0,    0,    0,    0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
    0x77, 0x88, 0xaa, 0xbb, 0xcc, 0xdd, 0,    0,    0,    2,    0,    0,    0x7f, 0,
    0,    0,    0x10, 0,    0x01, 0x02, 0x03, 0x04, 0,    1,    0,    0};

static const struct rs_hello hello = {
    .iomap = true,
    .credits = 384,
    .places = {.address = UINT64_C(0x1122334455667788), .key = 0xaabbccdd, .length = 2},
    .buffer = {.address = UINT64_C(0x7f0000001000), .key = 0x01020304, .length = 65536}};

static void hello_bytes(void **state)
{
    uint8_t bytes[RS_HELLO_BYTES];
    struct rs_hello read;

    (void)state;
    rs_hello_write(&hello, bytes);
    assert_memory_equal(bytes, golden, sizeof(golden));
    assert_null(rs_hello_read(golden, sizeof(golden), &read));
    assert_false(read.big_endian);
    assert_true(read.iomap);
    assert_int_equal(read.credits, 384);
    assert_int_equal(read.iomaps, 0);
    assert_int_equal(read.places.address, hello.places.address);
    assert_int_equal(read.places.key, hello.places.key);
    assert_int_equal(read.places.length, 2);
    assert_int_equal(read.buffer.address, hello.buffer.address);
    assert_int_equal(read.buffer.key, hello.buffer.key);
    assert_int_equal(read.buffer.length, 65536);
    /* the rest belongs to another program: a REP has room for 196 bytes */
    assert_null(rs_hello_read(golden, sizeof(golden) + 16, &read));
}

static void refused(size_t at, const uint8_t *bytes, size_t count)
{
    uint8_t copy[RS_HELLO_BYTES];
    struct rs_hello read;

    memcpy(copy, golden, sizeof(copy));
    memcpy(copy + at, bytes, count);
    assert_non_null(rs_hello_read(copy, sizeof(copy), &read));
}

static void bad_hellos(void **state)
{
    static const uint8_t none[8] = {0}, all[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    static const uint8_t version = 2, many[4] = {0, 0, 0, RS_MOST_PLACES + 1};
    struct rs_hello read;

    (void)state;
    for (size_t count = 0; count < RS_HELLO_BYTES; count++)
        assert_non_null(rs_hello_read(golden, count, &read));
    assert_non_null(rs_hello_read(NULL, 0, &read));
    refused(0, &version, 1);
    refused(2, none, 2);  /* no credits */
    refused(20, none, 4); /* no places */
    refused(20, many, 4);
    refused(20, all, 4);
    refused(8, all, 8);   /* places that end beyond the address space */
    refused(36, none, 4); /* an empty buffer */
    refused(24, all, 8);
}

/* Every byte string of this length is read without harm. Each accepted one can be written again. */
static void any_hello(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[RS_HELLO_BYTES], again[RS_HELLO_BYTES];
        struct rs_hello read;

        for (size_t j = 0; j < sizeof(bytes); j++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            bytes[j] = (uint8_t)(seed >> 56);
        }
        bytes[0] = RS_VERSION;
        bytes[20] = bytes[21] = bytes[22] = 0;
        if (rs_hello_read(bytes, sizeof(bytes), &read) != NULL)
            continue;
        bytes[1] &= 3;
        memset(bytes + 4, 0, 3);
        if (!read.iomap)
            bytes[7] = 0;
        rs_hello_write(&read, again);
        bytes[7] = again[7]; /* 128 has two forms */
        assert_memory_equal(bytes, again, sizeof(bytes));
    }
}

static void iomaps(void **state)
{
    (void)state;
    assert_int_equal(rs_iomaps_rounded(0), 0);
    assert_int_equal(rs_iomaps_rounded(128), 128);
    assert_int_equal(rs_iomaps_rounded(129), 128);
    assert_int_equal(rs_iomaps_rounded(256), 256);
    assert_int_equal(rs_iomaps_rounded(1000), 768);
    assert_int_equal(rs_iomaps_rounded(UINT32_MAX), 127 * 256);
    for (uint32_t i = 0; i < 40000; i++)
        assert_true(rs_iomaps_rounded(i) <= i);
}

static void immediates(void **state)
{
    (void)state;
    assert_int_equal(rs_immediate(RS_MESSAGE_DATA, 1500), 1500);
    assert_int_equal(rs_immediate(RS_MESSAGE_CREDIT, 0x1234), 0x80001234);
    assert_int_equal(rs_immediate(RS_MESSAGE_IOMAP, 3), 0xc0000003);
    assert_int_equal(rs_immediate(RS_MESSAGE_CONTROL, RS_CONTROL_SHUTDOWN), 0xe0000002);
    assert_int_equal(rs_immediate_message(0x80001234), RS_MESSAGE_CREDIT);
    assert_int_equal(rs_immediate_value(0xffffffff), RS_MOST_VALUE);
}

static void entries(void **state)
{
    const struct rs_iomap iomap = {.offset = 0x0102030405060708, .place = hello.buffer};
    uint8_t bytes[RS_IOMAP_BYTES], swapped[RS_IOMAP_BYTES];
    struct rs_iomap read;

    (void)state;
    rs_iomap_write(&iomap, false, bytes);
    rs_iomap_write(&iomap, true, swapped);
    for (int i = 0; i < 8; i++)
        assert_int_equal(bytes[i], swapped[7 - i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(bytes[20 + i], swapped[23 - i]);
    read = rs_iomap_read(swapped, true);
    assert_memory_equal(&read, &iomap, sizeof(read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_bytes), cmocka_unit_test(bad_hellos), cmocka_unit_test(any_hello),
        cmocka_unit_test(iomaps),      cmocka_unit_test(immediates), cmocka_unit_test(entries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
