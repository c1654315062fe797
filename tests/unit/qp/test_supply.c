/* SPDX-License-Identifier: Apache-2.0 */
/* Data that is produced at a rate of its own: when packets may leave, to the picosecond. */
#include "tests/support/test.h"

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define PACKET 1024
#define BPS    OCHE_GBPS
#define MADE   oche_time_of_bytes(PACKET, BPS) /* the application's time for a packet */
#define START  (10 * OCHE_US)

static struct oche_packet *pull_of(struct pair *pair, oche_time now, uint8_t classes)
{
    static struct oche_packet packet;
    static uint8_t payload[9216];
    struct oche_packet *out = &packet;

    packet.payload = payload;
    return oche_nic_transmit(pair->side[0].nic, now, now, classes, &out, 1) ? out : NULL;
}

static struct oche_packet *pull(struct pair *pair, oche_time now)
{
    return pull_of(pair, now, UINT8_MAX);
}

static struct pair *open_with(uint64_t bps, uint32_t packets)
{
    struct pair_options options = {.ack_timeout = OCHE_SEC};
    struct pair *pair = pair_open(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, packets * PACKET);

    oche_qp_set_supply(pair->side[0].qp[0], bps, START);
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 0);
    return pair;
}

/*
 * The first one leaves when its production begins, each later one when all before it have been
 * produced.
 */
static void leaves_as_it_is_made(void **state)
{
    struct pair *pair = open_with(BPS, 8);

    (void)state;
    assert_null(pull(pair, START - 1));
    for (uint32_t i = 0; i < 8; i++) {
        oche_time due = START + i * MADE;

        if (i > 0) {
            assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
            assert_null(pull(pair, due - 1));
        }
        assert_non_null(pull(pair, due));
    }
    pair_close(pair);
}

/* Delayed for a while: the data produced meanwhile leaves at once, and no more than that. */
static void catches_up(void **state)
{
    struct pair *pair = open_with(BPS, 16);
    uint32_t count = 0;

    (void)state;
    assert_non_null(pull(pair, START));
    for (uint32_t i = 1; i < 6; i++)
        assert_null(pull_of(pair, START + i * MADE, 0)); /* its class may not send */
    for (; pull(pair, START + 5 * MADE + MADE / 2) != NULL; count++)
        ;
    assert_int_equal(count, 5);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), START + 6 * MADE);
    pair_close(pair);
}

/* A limit applies, too: the later of both times counts. Without a supply all data is there. */
static void with_a_limit_and_without(void **state)
{
    struct pair *pair = open_with(BPS, 8);
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    oche_qp_set_rate_limit(qp, BPS / 4, START);
    assert_non_null(pull(pair, START));
    assert_null(pull(pair, START + 4 * MADE - 1));
    assert_true(oche_nic_next(pair->side[0].nic, UINT8_MAX) > START + 4 * MADE);
    oche_qp_set_rate_limit(qp, 0, START);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), START + MADE);
    oche_qp_set_supply(qp, 0, START);
    for (uint32_t i = 1; i < 8; i++)
        assert_non_null(pull(pair, START));
    pair_close(pair);
}

/* Retransmitted data has been produced already. */
static void again_is_not_new(void **state)
{
    struct pair *pair = open_with(BPS, 8);
    uint32_t count = 0;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        assert_non_null(pull(pair, START + i * MADE));
    struct oche_packet nak = pair_packet(pair, 1, OCHE_RC_ACK, 1, 0);

    nak.aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 0);
    oche_nic_receive(pair->side[0].nic, &nak, START + 3 * MADE + 1);
    for (struct oche_packet *packet; (packet = pull(pair, START + 3 * MADE + 1)) != NULL; count++)
        assert_int_equal(packet->psn, 1 + count);
    assert_int_equal(count, 3);
    assert_null(pull(pair, START + 4 * MADE - 1));
    struct oche_packet *packet = pull(pair, START + 4 * MADE);

    assert_non_null(packet);
    assert_int_equal(packet->psn, 4);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_as_it_is_made),
        cmocka_unit_test(catches_up),
        cmocka_unit_test(with_a_limit_and_without),
        cmocka_unit_test(again_is_not_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
