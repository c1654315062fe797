/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACKs and READ data in two classes, one of which switches serve first. An ACK that overtakes READ
 * data of its queue pair would mean that the data was lost. So the ACK leaves in the data's class.
 */
#include "tests/support/test.h"

#include "core/recovery/go_back_0.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define CONTROL 1 /* classes as bits: those of pair.c */
#define DATA    2

static struct oche_packet *buffer(void)
{
    static struct oche_packet packet;
    static uint8_t payload[9216];

    packet.payload = payload;
    return &packet;
}

/* Returns the next packet of side 0 in these classes; NULL: none. */
static struct oche_packet *pull(struct pair *pair, uint8_t classes)
{
    struct oche_packet *packet = buffer();
    oche_time next = oche_nic_next(pair->side[0].nic, classes);

    if (oche_nic_transmit(pair->side[0].nic, pair->now, pair->now, classes, &packet, 1) == 0) {
        assert_int_not_equal(next, 0); /* a queue pair that reports a packet must send it */
        return NULL;
    }
    assert_int_equal(next, 0);
    return packet;
}

/* A request of side 1 arrives at side 0, on queue pair `index`. */
static void arrive(struct pair *pair, uint32_t index, uint8_t opcode, uint32_t psn, uint32_t length)
{
    struct oche_packet request =
        pair_packet(pair, 1, opcode, psn, opcode == OCHE_RC_READ_REQUEST ? 0 : (uint16_t)length);

    request.dest_qpn += 2 * index;
    request.reth.va = PAIR_VA;
    request.reth.rkey = PAIR_KEY;
    request.reth.dma_length = length;
    request.ext = OCHE_EXT_RETH;
    request.ecn = OCHE_ECN_CE;
    oche_nic_receive(pair->side[0].nic, &request, pair->now);
}

static void expect(const struct oche_packet *packet, uint8_t opcode, uint32_t psn, uint8_t class)
{
    assert_non_null(packet);
    assert_int_equal(packet->opcode, opcode);
    assert_int_equal(packet->psn, psn);
    assert_int_equal(1 << packet->traffic_class, class);
}

static void test_acks_follow_read_data_in_its_class(void **state)
{
    struct pair_options options = {.qps = 2};
    struct pair *pair = pair_open(&options);

    (void)state;
    pair->now = 10 * OCHE_US;
    arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1000, 8);
    expect(pull(pair, CONTROL | DATA), OCHE_RC_ACK, 1000, CONTROL); /* nothing to follow yet */
    arrive(pair, 0, OCHE_RC_READ_REQUEST, 1001, 100);
    arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1002, 8);
    assert_null(pull(pair, CONTROL)); /* behind the data that has not left */
    expect(pull(pair, CONTROL | DATA), OCHE_RC_READ_RESPONSE_ONLY, 1001, DATA);
    assert_null(pull(pair, CONTROL));
    arrive(pair, 1, OCHE_RC_WRITE_ONLY, 1000, 8);
    expect(pull(pair, CONTROL), OCHE_RC_ACK, 1000, CONTROL); /* the other one's passes it */
    assert_null(pull(pair, CONTROL));
    expect(pull(pair, CONTROL | DATA), OCHE_RC_ACK, 1002, DATA);
    arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1005, 8); /* a gap: so do NAKs */
    expect(pull(pair, DATA), OCHE_RC_ACK, 1003, DATA);
    assert_null(pull(pair, CONTROL | DATA));
    pair_close(pair);
}

/* With acks_with_data they are of its class from the first packet on, and again after RESET. */
static void test_acks_always_in_the_class_of_data(void **state)
{
    struct pair_options options = {.acks_with_data = true};
    struct pair *pair = pair_open(&options);
    struct oche_qp_connection to = pair_connection(pair, 0, 0);

    (void)state;
    pair->now = 10 * OCHE_US;
    for (unsigned round = 0; round < 2; round++) {
        arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1000, 8);
        assert_null(pull(pair, CONTROL));
        expect(pull(pair, CONTROL | DATA), OCHE_RC_ACK, 1000, DATA);
        arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1002, 8);
        assert_null(pull(pair, CONTROL));
        expect(pull(pair, DATA), OCHE_RC_ACK, 1001, DATA); /* a NAK */
        oche_qp_reset(pair->side[0].qp[0]);
        assert_true(oche_qp_init(pair->side[0].qp[0], pair->now) &&
                    oche_qp_ready_to_receive(pair->side[0].qp[0], &to, pair->now));
    }
    pair_close(pair);
}

static void cnp_on_ce(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                      struct oche_cc_reply *reply)
{
    (void)flow;
    (void)now;
    reply->send_cnp = packet->ecn == OCHE_ECN_CE;
}

static void test_cnps_wait_for_nothing(void **state)
{
    struct oche_cc_scheme scheme = pair_cc_idle;
    struct pair_options options = {.cc = &scheme};
    struct pair *pair;

    (void)state;
    scheme.arrived = cnp_on_ce;
    options.acks_with_data = true;
    pair = pair_open(&options);
    pair->now = 10 * OCHE_US;
    arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1000, 8);
    expect(pull(pair, CONTROL | DATA), OCHE_CNP, 0, CONTROL);
    expect(pull(pair, CONTROL | DATA), OCHE_RC_ACK, 1000, DATA);
    pair_close(pair);
    options.acks_with_data = false;
    pair = pair_open(&options);
    pair->now = 10 * OCHE_US;
    arrive(pair, 0, OCHE_RC_READ_REQUEST, 1000, 100);
    expect(pull(pair, CONTROL | DATA), OCHE_CNP, 0, CONTROL);
    expect(pull(pair, CONTROL | DATA), OCHE_RC_READ_RESPONSE_ONLY, 1000, DATA);
    arrive(pair, 0, OCHE_RC_WRITE_ONLY, 1001, 8);
    assert_null(pull(pair, DATA)); /* first the CNP */
    expect(pull(pair, CONTROL), OCHE_CNP, 0, CONTROL);
    assert_null(pull(pair, CONTROL));
    expect(pull(pair, DATA), OCHE_RC_ACK, 1001, DATA);
    pair_close(pair);
}

/* A queue pair that is destroyed while its ACK waits for its class leaves the list intact. */
static void test_gone_while_it_waits(void **state)
{
    struct pair_options options = {.qps = 3};
    struct pair *pair = pair_open(&options);

    (void)state;
    pair->now = 10 * OCHE_US;
    for (uint32_t i = 0; i < 3; i++) {
        arrive(pair, i, OCHE_RC_READ_REQUEST, 1000, 100);
        expect(pull(pair, CONTROL | DATA), OCHE_RC_READ_RESPONSE_ONLY, 1000, DATA);
    }
    for (uint32_t i = 0; i < 3; i++)
        arrive(pair, i, OCHE_RC_WRITE_ONLY, 1001, 8);
    oche_qp_reset(pair->side[0].qp[2]);
    oche_qp_reset(pair->side[0].qp[0]);
    assert_null(pull(pair, CONTROL));
    expect(pull(pair, DATA), OCHE_RC_ACK, 1001, DATA);
    assert_null(pull(pair, CONTROL | DATA));
    pair_close(pair);
}

/* WRITEs and atomics behind READs, data slower than control: nothing is requested twice. */
static void test_nothing_is_read_twice(void **state)
{
    static const uint8_t opcodes[] = {OCHE_WORK_READ, OCHE_WORK_WRITE, OCHE_WORK_READ,
                                      OCHE_WORK_FETCH_ADD};
    static const struct oche_go_back_0_params params = {.nak_interval = 5 * OCHE_US};

    (void)state;
    for (int s = 0; s < 2; s++) {
        struct pair_options options = {.data_delay = 20 * OCHE_US,
                                       .send_depth = 32,
                                       .responder_resources = 32,
                                       .initiator_depth = 32,
                                       .recovery = s == 0 ? NULL : &oche_recovery_go_back_0,
                                       .own_recovery_params = &params};
        struct pair *pair = pair_open(&options);

        for (uint32_t i = 0; i < 32; i++) {
            uint8_t opcode = opcodes[i % 4];
            uint32_t length = opcode == OCHE_WORK_FETCH_ADD ? 8 : 3000;
            struct oche_send_work work =
                pair_work((enum oche_work_opcode)opcode, i, 8000, 4096, length);

            pair_post(pair, 0, &work);
        }
        pair_run_quiet(pair);
        for (uint32_t i = 0; i < 32; i++)
            pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
        for (int side = 0; side < 2; side++) {
            const struct oche_nic_stats *stats = oche_nic_stats(pair->side[side].nic);

            assert_int_equal(stats->retransmitted_packets, 0);
            assert_int_equal(stats->out_of_order_packets, 0);
            assert_int_equal(stats->duplicate_packets, 0);
            assert_int_equal(stats->timeouts, 0);
        }
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acks_follow_read_data_in_its_class),
        cmocka_unit_test(test_acks_always_in_the_class_of_data),
        cmocka_unit_test(test_cnps_wait_for_nothing),
        cmocka_unit_test(test_gone_while_it_waits),
        cmocka_unit_test(test_nothing_is_read_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
