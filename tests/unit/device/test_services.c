/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices on one address: a service belongs to one of them, the other one knows whose it is,
 * and a connection manager's packet is for whom its service or its communication ID says.
 */
#include <errno.h>
#include <string.h>

#include "core/cm/mad.h"
#include "core/wire/bytes.h"
#include "core/wire/opcode.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define SERVICE UINT64_C(0x1061c06)

static struct end a, b;

static int open_both(void **state)
{
    const struct oche_device_config shared = {.share = true};

    (void)state;
    end_open(&a, &shared, NULL, 1);
    end_open(&b, &shared, NULL, 1);
    for (unsigned i = 0; i < 2000; i++) {
        oche_device_progress(a.device);
        oche_device_progress(b.device);
    }
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    end_close(&a);
    end_close(&b);
    return 0;
}

static void a_service_has_one_process(void **state)
{
    (void)state;
    assert_false(oche_device_service_taken(b.device, SERVICE));
    assert_true(oche_device_take_service(a.device, SERVICE));
    assert_true(oche_device_service_taken(a.device, SERVICE));
    assert_true(oche_device_service_taken(b.device, SERVICE));
    assert_false(oche_device_take_service(b.device, SERVICE));
    assert_int_equal(errno, EADDRINUSE);
    assert_false(oche_device_take_service(a.device, SERVICE));
    assert_int_equal(errno, EADDRINUSE);
    assert_true(oche_device_take_service(b.device, SERVICE + 1));
    oche_device_release_service(a.device, SERVICE);
    assert_false(oche_device_service_taken(b.device, SERVICE));
    assert_true(oche_device_take_service(b.device, SERVICE));
}

/* Returns the slot that `device` would hand the message to. */
static unsigned slot_of(struct end *end, const struct oche_cm_message *message, bool *asks)
{
    uint8_t packet[20 + OCHE_MAD_BYTES] = {[0] = OCHE_UD_SEND_ONLY};

    oche_put24(packet + 5, OCHE_CM_QPN);
    oche_cm_write(message, packet + 20);
    assert_true(oche_management_is(packet, sizeof(packet)));
    return oche_management_slot(&end->device->services, &end->device->share, packet, sizeof(packet),
                                asks);
}

static void messages_find_their_process(void **state)
{
    const unsigned slot_a = oche_device_slot(a.device), slot_b = oche_device_slot(b.device);
    struct oche_cm_message message = {.kind = OCHE_CM_REQ, .service_id = SERVICE};
    bool asks;

    (void)state;
    assert_int_not_equal(slot_a, slot_b);
    assert_int_equal(slot_of(&a, &message, &asks), slot_a); /* nobody's: to be refused here */
    assert_true(oche_device_take_service(b.device, SERVICE));
    assert_int_equal(slot_of(&a, &message, &asks), slot_b);
    assert_true(asks);
    assert_int_equal(slot_of(&b, &message, &asks), slot_b);
    message.kind = OCHE_CM_SIDR_REQ;
    assert_int_equal(slot_of(&a, &message, &asks), slot_b);
    for (uint8_t kind = OCHE_CM_MRA; kind <= OCHE_CM_DREP; kind++) {
        message.kind = kind;
        message.remote_id = slot_b << 26 | 7;
        assert_int_equal(slot_of(&a, &message, &asks), slot_b);
        assert_false(asks);
        message.remote_id = 0;
        assert_int_equal(slot_of(&a, &message, &asks), slot_a);
    }
    message.kind = OCHE_CM_SIDR_REP;
    message.local_id = slot_b << 26 | 9;
    assert_int_equal(slot_of(&a, &message, &asks), slot_b);
}

/* A packet that is no message of the connection manager is not passed on. */
static void garbage_stays(void **state)
{
    uint8_t packet[20 + OCHE_MAD_BYTES] = {[0] = OCHE_UD_SEND_ONLY};
    bool asks = true;

    (void)state;
    oche_put24(packet + 5, OCHE_CM_QPN);
    for (uint32_t count = OCHE_STEERED_BYTES; count <= sizeof(packet); count++)
        assert_int_equal(
            oche_management_slot(&a.device->services, &a.device->share, packet, count, &asks),
            oche_device_slot(a.device));
    assert_false(asks);
    oche_put24(packet + 5, 2);
    assert_false(oche_management_is(packet, sizeof(packet)));
    assert_false(oche_management_is(packet, OCHE_STEERED_BYTES - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_has_one_process, open_both, close_both),
        cmocka_unit_test_setup_teardown(messages_find_their_process, open_both, close_both),
        cmocka_unit_test_setup_teardown(garbage_stays, open_both, close_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
