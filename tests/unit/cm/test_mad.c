/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection manager's messages. Those of a capture between two Linux kernels (rxe-rping.pcap),
 * byte for byte; each field of each kind alone; rejected messages.
 */
#include <string.h>

#include "core/cm/mad.h"
#include "core/random.h"
#include "core/wire/codec.h"
#include "tests/support/capture.h"
#include "tests/support/test.h"

static const char *directory;

/* ---- the capture ---- */

struct kept {
    struct oche_cm_message messages[8];
    unsigned count;
};

static void keep(void *context, unsigned number, uint8_t *bytes, size_t count)
{
    struct kept *kept = context;
    struct oche_packet packet;
    struct oche_frame frame;
    uint8_t again[OCHE_MAD_BYTES];

    (void)number;
    assert_int_equal(oche_decode_ethernet(bytes, count, NULL, &packet, &frame), OCHE_WIRE_OK);
    if (packet.dest_qpn != OCHE_CM_QPN)
        return;
    assert_true(kept->count < OCHE_COUNT_OF(kept->messages));
    struct oche_cm_message *message = &kept->messages[kept->count++];

    assert_int_equal(packet.deth.qkey, OCHE_CM_QKEY);
    assert_int_equal(oche_cm_read(packet.payload, packet.payload_bytes, message), OCHE_CM_OK);
    oche_cm_write(message, again);
    assert_memory_equal(again, packet.payload, OCHE_MAD_BYTES);
}

static void what_linux_sends(void **state)
{
    struct kept kept = {.count = 0};
    struct oche_cma_header cma;
    static const uint8_t kinds[] = {OCHE_CM_REQ, OCHE_CM_REP, OCHE_CM_RTU, OCHE_CM_DREQ,
                                    OCHE_CM_DREP};
    const struct oche_cm_message *req = &kept.messages[0], *rep = &kept.messages[1];

    (void)state;
    capture_each(directory, "rxe-rping.pcap", keep, &kept);
    assert_int_equal(kept.count, OCHE_COUNT_OF(kinds));
    for (unsigned i = 0; i < kept.count; i++)
        assert_int_equal(kept.messages[i].kind, kinds[i]);

    assert_true(req->tid == UINT64_C(0x23d7ec89e));
    assert_int_equal(req->local_id, 0x9ec87e3d);
    assert_true(req->service_id == oche_cma_service(OCHE_CMA_TCP, 7174));
    assert_int_equal(req->qpn, 0x13);
    assert_int_equal(req->starting_psn, 2120380);
    assert_int_equal(req->responder_resources, 1);
    assert_int_equal(req->initiator_depth, 1);
    assert_int_equal(req->remote_response_timeout, 20);
    assert_int_equal(req->local_response_timeout, 20);
    assert_int_equal(req->transport, OCHE_CM_RC);
    assert_int_equal(req->retry_count, 7);
    assert_int_equal(req->rnr_retry, 7);
    assert_int_equal(req->max_cm_retries, 15);
    assert_int_equal(req->mtu, 5);
    assert_int_equal(req->pkey, 0xffff);
    assert_int_equal(req->path.hop_limit, 64);
    assert_int_equal(req->path.flow_label, 0x7cdbb);
    assert_int_equal(req->path.ack_timeout, 19);
    assert_int_equal(req->path.local_lid, 0xffff);
    assert_false(req->has_alternate);
    assert_true(oche_cma_read(req->private_data, req->private_bytes, &cma));
    assert_false(cma.ipv6);
    assert_int_equal(cma.port, 50091);
    assert_memory_equal(cma.source + 12, "\xc0\xa8\x47\x02", 4);
    assert_memory_equal(cma.destination + 12, "\xc0\xa8\x46\x02", 4);
    assert_memory_equal(req->path.local_gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\xa8\x47\x02", 16);

    assert_int_equal(rep->remote_id, req->local_id);
    assert_int_equal(rep->qpn, 0x13);
    assert_int_equal(rep->starting_psn, 14228226);
    assert_int_equal(rep->ack_delay, 15);
    assert_int_equal(rep->rnr_retry, 7);
    assert_int_equal(kept.messages[2].local_id, req->local_id);
    assert_int_equal(kept.messages[2].remote_id, rep->local_id);
    assert_int_equal(kept.messages[3].qpn, 0x13);
    assert_int_equal(kept.messages[4].local_id, rep->local_id);
}

/* ---- fields ---- */

/* Fills every field of this kind with random bits of its width. */
static void draw(struct oche_random *random, uint8_t kind, struct oche_cm_message *message)
{
    uint8_t mad[OCHE_MAD_BYTES];

    for (unsigned i = 0; i < sizeof(mad); i++)
        mad[i] = (uint8_t)oche_random_below(random, 256);
    memcpy(mad, "\x01\x07\x02\x03", 4);
    mad[16] = 0;
    mad[17] = kind;
    assert_int_equal(oche_cm_read(mad, sizeof(mad), message), OCHE_CM_OK);
    message->has_alternate = false; /* is not written */
}

static void every_kind_comes_back(void **state)
{
    struct oche_random random = oche_random_stream(1, "mad", 0);

    (void)state;
    for (uint8_t kind = OCHE_CM_REQ; kind < OCHE_CM_KINDS_END; kind++)
        for (unsigned i = 0; i < 200; i++) {
            struct oche_cm_message message, back;
            uint8_t mad[OCHE_MAD_BYTES];

            draw(&random, kind, &message);
            assert_int_equal(message.kind, kind);
            assert_int_equal(message.private_bytes, oche_cm_private_bytes(kind));
            oche_cm_write(&message, mad);
            assert_int_equal(oche_cm_read(mad, sizeof(mad), &back), OCHE_CM_OK);
            assert_memory_equal(&back, &message, sizeof(back));
        }
}

static void short_private_data_is_followed_by_zeros(void **state)
{
    struct oche_cm_message message = {
        .kind = OCHE_CM_REP, .private_bytes = 3, .private_data = "abc"};
    uint8_t mad[OCHE_MAD_BYTES];
    static const uint8_t zeros[OCHE_CM_REP_PRIVATE];

    (void)state;
    memset(mad, 0xff, sizeof(mad));
    oche_cm_write(&message, mad);
    assert_memory_equal(mad + 24 + 36, "abc", 3);
    assert_memory_equal(mad + 24 + 36 + 3, zeros, OCHE_CM_REP_PRIVATE - 3);
}

/* ---- rejected messages ---- */

static void what_is_no_message(void **state)
{
    static const struct {
        unsigned at;
        uint8_t value;
        enum oche_cm_error error;
    } changes[] = {
        {0, 2, OCHE_CM_NOT_CM},      {1, 0x03, OCHE_CM_NOT_CM}, {2, 1, OCHE_CM_CLASS_VERSION},
        {3, 0x81, OCHE_CM_UNKNOWN},  {16, 1, OCHE_CM_UNKNOWN},  {17, 0x0f, OCHE_CM_UNKNOWN},
        {17, 0x19, OCHE_CM_UNKNOWN}, /* LAP: no alternate paths */
    };
    struct oche_cm_message message = {.kind = OCHE_CM_REQ};
    uint8_t mad[OCHE_MAD_BYTES + 1] = {0};

    (void)state;
    oche_cm_write(&message, mad);
    assert_int_equal(oche_cm_read(mad, OCHE_MAD_BYTES - 1, &message), OCHE_CM_TRUNCATED);
    assert_int_equal(oche_cm_read(mad, OCHE_MAD_BYTES + 1, &message), OCHE_CM_TRUNCATED);
    assert_int_equal(oche_cm_read(mad, OCHE_MAD_BYTES, &message), OCHE_CM_OK);
    for (size_t i = 0; i < OCHE_COUNT_OF(changes); i++) {
        uint8_t before = mad[changes[i].at];

        mad[changes[i].at] = changes[i].value;
        assert_int_equal(oche_cm_read(mad, OCHE_MAD_BYTES, &message), changes[i].error);
        mad[changes[i].at] = before;
    }
}

static void info_is_no_longer_than_its_field(void **state)
{
    struct oche_cm_message message = {.kind = OCHE_CM_REJ, .reason = OCHE_CM_REASON_CONSUMER};
    uint8_t mad[OCHE_MAD_BYTES];

    (void)state;
    oche_cm_write(&message, mad);
    mad[24 + 9] = 0xfe; /* 127 bytes */
    assert_int_equal(oche_cm_read(mad, sizeof(mad), &message), OCHE_CM_OK);
    assert_int_equal(message.info_bytes, OCHE_CM_REJ_INFO);
}

static void rdma_cm_headers(void **state)
{
    struct oche_cma_header header = {.ipv6 = true, .port = 0x1234}, back;
    uint8_t data[OCHE_CMA_HEADER_BYTES];

    (void)state;
    memset(header.source, 1, sizeof(header.source));
    memset(header.destination, 2, sizeof(header.destination));
    oche_cma_write(&header, data);
    assert_int_equal(data[1], 0x60);
    assert_true(oche_cma_read(data, sizeof(data), &back));
    assert_memory_equal(&back, &header, sizeof(back));
    assert_false(oche_cma_read(data, sizeof(data) - 1, &back));
    data[1] = 0x50;
    assert_false(oche_cma_read(data, sizeof(data), &back));
    data[1] = 0x40;
    data[0] = 1;
    assert_false(oche_cma_read(data, sizeof(data), &back));
    assert_true(oche_cma_is_service(UINT64_C(0x1061144)));
    assert_false(oche_cma_is_service(UINT64_C(0x100001061144)));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_linux_sends),
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(short_private_data_is_followed_by_zeros),
        cmocka_unit_test(what_is_no_message),
        cmocka_unit_test(info_is_no_longer_than_its_field),
        cmocka_unit_test(rdma_cm_headers),
    };

    directory = argc > 1 ? argv[1] : "tests/golden";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
