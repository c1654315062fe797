/* SPDX-License-Identifier: Apache-2.0 */
/* The PFC frame's bytes, written by hand, and frames that are none. */
#include <string.h>

#include "core/random.h"
#include "core/wire/pfc_frame.h"
#include "tests/support/test.h"

static const uint8_t mac[6] = {2, 0, 10, 0, 0, 1};

static void layout(void **state)
{
    static const uint8_t want[OCHE_PFC_BYTES] = {
        0x01, 0x80, 0xc2, 0, 0, 1, 2,    0,    10, 0, 0, 1, 0x88, 0x08, 0x01, 0x01, /* opcode */
        0,    0x89,                            /* classes 0, 3, 7 */
        0xff, 0xff, 0,    0, 0, 0, 0x12, 0x34, /* 0 … 3 */
        0,    0,    0,    0, 0, 0, 0,    0};   /* 4 … 7 */
    struct oche_packet pfc = {.kind = OCHE_PACKET_PFC}, back;
    uint8_t bytes[OCHE_PFC_BYTES], from[6];

    (void)state;
    oche_pfc_set(&pfc, 0, 0xffff);
    oche_pfc_set(&pfc, 3, 0x1234);
    oche_pfc_set(&pfc, 7, 0);
    oche_pfc_encode(&pfc, mac, bytes);
    assert_int_equal(sizeof bytes, 60);
    assert_memory_equal(bytes, want, sizeof want);
    assert_true(oche_pfc_decode(bytes, sizeof bytes, &back, from));
    assert_memory_equal(from, mac, 6);
    assert_int_equal(back.kind, OCHE_PACKET_PFC);
    assert_int_equal(back.frame_bytes, 64);
    assert_int_equal(back.pfc.classes, 0x89);
    assert_int_equal(back.ext, OCHE_EXT_LINK);
    assert_int_equal(back.pfc.quanta[0], 0xffff);
    assert_int_equal(back.pfc.quanta[3], 0x1234);
    assert_int_equal(back.pfc.quanta[7], 0);
}

static void round_trips(void **state)
{
    struct oche_random random = oche_random_stream(1, "pfc", 0);

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct oche_packet pfc = {.kind = OCHE_PACKET_PFC}, back;
        uint8_t bytes[OCHE_PFC_BYTES];

        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
            if ((oche_random_u64(&random) & 1) != 0)
                oche_pfc_set(&pfc, cls, (uint16_t)oche_random_u64(&random));
        oche_pfc_encode(&pfc, mac, bytes);
        assert_true(oche_pfc_decode(bytes, sizeof bytes, &back, NULL));
        assert_int_equal(back.pfc.classes, pfc.pfc.classes);
        assert_memory_equal(back.pfc.quanta, pfc.pfc.quanta, sizeof back.pfc.quanta);
    }
}

static void refusals(void **state)
{
    struct oche_packet pfc = {.kind = OCHE_PACKET_PFC}, back;
    uint8_t bytes[OCHE_PFC_BYTES];

    (void)state;
    oche_pfc_encode(&pfc, mac, bytes);
    assert_true(oche_pfc_decode(bytes, 34, &back, NULL));
    for (size_t count = 0; count < 34; count++)
        assert_false(oche_pfc_decode(bytes, count, &back, NULL));
    assert_true(oche_pfc_is_control(bytes, 14));
    assert_false(oche_pfc_is_control(bytes, 13));
    bytes[14] = 0; /* the PAUSE of IEEE 802.3x */
    assert_false(oche_pfc_decode(bytes, sizeof bytes, &back, NULL));
    assert_true(oche_pfc_is_control(bytes, sizeof bytes));
    bytes[14] = 1;
    bytes[5] = 2; /* another address */
    assert_false(oche_pfc_decode(bytes, sizeof bytes, &back, NULL));
    bytes[5] = 1;
    bytes[13] = 0;
    assert_false(oche_pfc_decode(bytes, sizeof bytes, &back, NULL));
    assert_false(oche_pfc_is_control(bytes, sizeof bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
