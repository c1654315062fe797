/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices on one address: a service belongs to one of them, the other one knows whose it is,
 * and a connection manager's packet is for whom its service or its communication ID says. Requests
 * that nobody listens to are refused.
 */
#include <errno.h>
#include <string.h>

#include "core/cm/mad.h"
#include "core/wire/bytes.h"
#include "core/wire/opcode.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define SERVICE UINT64_C(0x1061c06)

#define WAIT  (10 * OCHE_SEC)
#define QUIET 200 /* rounds in which an answer would have come */

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

/* Makes the end's queue pair 1. */
static void manage(struct end *end)
{
    const struct oche_qp_connection ready = {.ack_every_packets = 1, .window_packets = 1};
    const struct oche_qp_config config = {.qpn = OCHE_CM_QPN,
                                          .transport = OCHE_TRANSPORT_UD,
                                          .qkey = OCHE_CM_QKEY,
                                          .mtu_bytes = 1024,
                                          .send_depth = 16,
                                          .recv_depth = 16,
                                          .max_inline_bytes = OCHE_MAD_BYTES,
                                          .send_cq = end->cq,
                                          .recv_cq = end->cq};

    end->qp = oche_device_create_qp(end->device, &config);
    assert_non_null(end->qp);
    assert_true(oche_device_connect(end->device, end->qp, &ready));
}

/* Requests that nobody listens to go to a process that can refuse them. */
static void a_manager_gets_the_rest(void **state)
{
    const unsigned slot_a = oche_device_slot(a.device), slot_b = oche_device_slot(b.device);
    struct oche_cm_message request = {.kind = OCHE_CM_REQ, .service_id = SERVICE};
    struct oche_cm_message given_up = {.kind = OCHE_CM_REJ};
    bool asks;

    (void)state;
    manage(&b);
    assert_int_equal(slot_of(&a, &request, &asks), slot_b);
    assert_true(asks);
    assert_int_equal(slot_of(&a, &given_up, &asks), slot_b);
    assert_int_equal(slot_of(&b, &request, &asks), slot_b);
    manage(&a);
    assert_int_equal(slot_of(&a, &request, &asks), slot_a); /* it can do so itself */
    oche_device_destroy_qp(a.device, a.qp);
    assert_int_equal(slot_of(&a, &request, &asks), slot_b);
    assert_true(oche_device_take_service(a.device, SERVICE));
    assert_int_equal(slot_of(&a, &request, &asks), slot_a);
    oche_device_release_service(a.device, SERVICE);
    oche_device_destroy_qp(b.device, b.qp);
    assert_int_equal(slot_of(&a, &request, &asks), slot_a);
}

/* ---- nobody has a queue pair 1 ---- */

static struct end client;

static int open_three(void **state)
{
    const struct oche_device_config alone = {0};

    open_both(state);
    end_open(&client, &alone, NULL, 2);
    manage(&client);
    return 0;
}

static int close_three(void **state)
{
    end_close(&client);
    return close_both(state);
}

static uint64_t sent_by_servers(void)
{
    struct oche_device_stats of_a, of_b;

    oche_device_stats_now(a.device, &of_a);
    oche_device_stats_now(b.device, &of_b);
    return of_a.sent_packets + of_b.sent_packets;
}

static void progress_all(void)
{
    oche_device_progress(a.device);
    oche_device_progress(b.device);
    oche_device_progress(client.device);
}

/* Sends a MAD to the servers' queue pair 1. */
static void ask(const uint8_t *mad, uint32_t bytes, uint32_t qkey)
{
    const struct oche_destination to = {
        .address = oche_device_peer(client.device, a.address), .qpn = OCHE_CM_QPN, .qkey = qkey};
    const struct oche_send_work work = {.opcode = OCHE_WORK_SEND,
                                        .flags = OCHE_WORK_INLINE,
                                        .sge_count = 1,
                                        .to = &to,
                                        .inline_data = mad,
                                        .sge = {{.length = bytes}}};

    oche_device_lock(client.device);
    assert_int_equal(oche_qp_post_send(client.qp, &work), 0);
    oche_device_unlock(client.device);
}

/* Waits for the answer of the servers, and reads it. */
static void hear(struct oche_cm_message *answer)
{
    const oche_time end = oche_device_now(client.device) + WAIT;
    struct oche_completion done = {0};

    while (oche_cq_poll(client.cq, &done, 1) == 0 || done.opcode != OCHE_DONE_RECV) {
        assert_true(oche_device_now(client.device) < end);
        progress_all();
    }
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    assert_int_equal(done.bytes, OCHE_GRH_BYTES + OCHE_MAD_BYTES);
    assert_int_equal(done.src_qpn, OCHE_CM_QPN);
    assert_int_equal(oche_cm_read(client.memory + OCHE_GRH_BYTES, OCHE_MAD_BYTES, answer),
                     OCHE_CM_OK);
    post_receive(&client, 0, 0, 1024);
}

static void requests_are_refused(void **state)
{
    struct oche_cm_message request = {
        .kind = OCHE_CM_REQ, .tid = 77, .local_id = 0x12345, .service_id = SERVICE};
    struct oche_cm_message answer;
    uint8_t mad[OCHE_MAD_BYTES];
    const uint64_t before = sent_by_servers();

    (void)state;
    post_receive(&client, 0, 0, 1024);
    oche_cm_write(&request, mad);
    ask(mad, sizeof(mad), OCHE_CM_QKEY);
    hear(&answer);
    assert_int_equal(answer.kind, OCHE_CM_REJ);
    assert_int_equal(answer.about, OCHE_CM_ABOUT_REQ);
    assert_int_equal(answer.reason, OCHE_CM_REASON_INVALID_SERVICE);
    assert_int_equal(answer.tid, 77);
    assert_int_equal(answer.remote_id, 0x12345);
    assert_int_equal(answer.local_id, 0);
    request.kind = OCHE_CM_SIDR_REQ;
    oche_cm_write(&request, mad);
    ask(mad, sizeof(mad), OCHE_CM_QKEY);
    hear(&answer);
    assert_int_equal(answer.kind, OCHE_CM_SIDR_REP);
    assert_int_equal(answer.status, OCHE_CM_SIDR_UNSUPPORTED);
    assert_int_equal(answer.tid, 77);
    assert_int_equal(answer.local_id, 0x12345);
    assert_int_equal(answer.service_id, SERVICE);
    assert_int_equal(sent_by_servers() - before, 2); /* one answer a request */
}

/* Only requests are answered, so that two devices never answer each other. */
static void nothing_else_is_answered(void **state)
{
    struct oche_cm_message message = {.tid = 77, .local_id = 3, .service_id = SERVICE};
    const uint64_t before = sent_by_servers();
    uint8_t mad[OCHE_MAD_BYTES];
    struct oche_device_stats stats;

    (void)state;
    for (uint8_t kind = OCHE_CM_REQ; kind < OCHE_CM_KINDS_END; kind++) {
        message.kind = kind;
        oche_cm_write(&message, mad);
        if (kind == OCHE_CM_REQ || kind == OCHE_CM_SIDR_REQ) {
            ask(mad, sizeof(mad), 0x11111111); /* no manager's Q_Key */
            ask(mad, sizeof(mad) - 4, OCHE_CM_QKEY);
            mad[3] ^= 1; /* the method */
        }
        ask(mad, sizeof(mad), OCHE_CM_QKEY);
        for (unsigned i = 0; i < QUIET; i++)
            progress_all();
    }
    oche_device_stats_now(a.device, &stats);
    assert_true(stats.received_packets >= OCHE_CM_KINDS_END - OCHE_CM_REQ); /* they have come */
    assert_int_equal(stats.nic.rejected_packets, stats.received_packets);
    assert_int_equal(sent_by_servers(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_has_one_process, open_both, close_both),
        cmocka_unit_test_setup_teardown(messages_find_their_process, open_both, close_both),
        cmocka_unit_test_setup_teardown(garbage_stays, open_both, close_both),
        cmocka_unit_test_setup_teardown(a_manager_gets_the_rest, open_both, close_both),
        cmocka_unit_test_setup_teardown(requests_are_refused, open_three, close_three),
        cmocka_unit_test_setup_teardown(nothing_else_is_answered, open_three, close_three),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
