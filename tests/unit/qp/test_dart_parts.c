/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The division of a share among a sender's queue pairs to one receiver (dart.md#d2), between two
 * NICs. A queue pair that only waits for an ACK has no part. One that retransmits or sends READ
 * data has a part.
 */
#include "tests/support/test.h"

#include "core/cc/dart/dart.h"
#include "core/qp/send/sender.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define LINE  (100 * OCHE_GBPS)
#define SHORT (4 * 1024)
#define LONG  (1000 * 1024)

/*
 * Two queue pairs, and a round trip that is long enough to examine. Side 1 counts a sender as four,
 * unknown to the sender: it gets a quarter of the line.
 */
static struct pair *open_two(void)
{
    static uint64_t params[2][128];
    const struct oche_cc_scheme *dart = oche_cc_find("dart");
    const union oche_value no = {.u = 0}, four = {.text = "100:4"};

    for (unsigned k = 0; k < 2; k++) {
        oche_param_defaults(&dart->table, params[k]);
        oche_param_set(oche_param_find(&dart->table, "updates"), params[k], no);
    }
    oche_param_set(oche_param_find(&dart->table, "weights"), params[1], four);
    return pair_open(&(struct pair_options){.cc = dart,
                                            .cc_params = params[0],
                                            .peer_cc = dart,
                                            .peer_cc_params = params[1],
                                            .extensions = true,
                                            .initiator_depth = 4,
                                            .mtu = 1024,
                                            .delay = 20 * OCHE_US,
                                            .qps = 2});
}

static void post(struct pair *pair, uint32_t index, enum oche_work_opcode opcode, uint32_t length)
{
    const struct oche_send_work work = pair_work(opcode, 1, 0, 0, length);

    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
}

/* Side `to` receives this number of senders on its queue pair 0. */
static void tell(struct pair *pair, int to, uint16_t senders)
{
    static uint8_t sequence = 200;
    const struct oche_share share = {.senders = senders, .sequence = sequence++};
    struct oche_packet update =
        pair_packet(pair, !to, OCHE_SHARE, snd(pair->side[to].qp[0])->tx.una, 0);

    update.bth_reserved = OCHE_BTH_EXTENSIONS;
    oche_share_put(&update, &share);
    oche_nic_receive(pair->side[to].nic, &update, pair->now);
}

static uint64_t rate(const struct pair *pair, int side, uint32_t index)
{
    return oche_qp_rate_bps(pair->side[side].qp[index]);
}

/* A queue pair that has sent its message does not take half of the other one's rate. */
static void waiting(void **state)
{
    struct pair *pair = open_two();

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, LONG);
    post(pair, 1, OCHE_WORK_WRITE, SHORT);
    pair_run(pair, pair->now + OCHE_US / 5);
    tell(pair, 0, 4);
    assert_int_equal(rate(pair, 0, 0), LINE / 8);
    assert_int_equal(rate(pair, 0, 1), LINE / 8);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_int_equal(snd(pair->side[0].qp[1])->flight_bytes, SHORT); /* not yet acknowledged */
    assert_int_equal(rate(pair, 0, 0), LINE / 4);
    assert_int_equal(rate(pair, 0, 1), LINE / 8); /* what it would have */
    post(pair, 1, OCHE_WORK_WRITE, SHORT);
    pair_run(pair, pair->now + OCHE_US / 2);
    assert_int_equal(rate(pair, 0, 0), LINE / 8);
    pair_close(pair);
}

/* A message of one packet takes no part and keeps none. */
static void one_packet(void **state)
{
    struct pair *pair = open_two();

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, LONG);
    pair_run(pair, pair->now + OCHE_US / 5);
    tell(pair, 0, 4);
    for (unsigned i = 0; i < 10; i++) {
        post(pair, 1, OCHE_WORK_WRITE, 512);
        pair_run(pair, pair->now + OCHE_US);
        assert_int_equal(rate(pair, 0, 0), LINE / 4);
        assert_int_equal(rate(pair, 0, 1), LINE / 8);
    }
    pair_close(pair);
}

/* Drops the first 64 packets of queue pair 1. */
static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *lost = pair->context;

    if (from == 1 || packet->dest_qpn != pair->side[1].qp[1]->qpn || *lost == 64)
        return PAIR_PASS;
    (*lost)++;
    return PAIR_DROP;
}

/* A queue pair that repeats a message has more to send, from the first packet to the last. */
static void repeating(void **state)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, LONG);
    struct pair *pair = open_two();
    uint32_t lost = 0;
    unsigned halves = 0;

    (void)state;
    pair->fate = lose;
    pair->context = &lost;
    post(pair, 1, OCHE_WORK_WRITE, 64 * 1024);
    pair_run(pair, pair->now + 8 * OCHE_US);
    assert_int_equal(lost, 64);
    post(pair, 0, OCHE_WORK_WRITE, LONG);
    pair_run(pair, pair->now + 50 * OCHE_US);
    assert_int_equal(rate(pair, 0, 0), LINE / 4);
    while (pair->side[0].qp[1]->retransmitted_packets < 64) {
        const uint64_t before = pair->side[0].qp[1]->retransmitted_packets;

        (void)oche_qp_post_send(pair->side[0].qp[0], &work); /* it does not run out of work */
        pair_run(pair, pair->now + OCHE_US);
        const uint64_t again = pair->side[0].qp[1]->retransmitted_packets;
        if (before == 0 || again == 64)
            continue;
        assert_int_equal(rate(pair, 0, 0), LINE / 8);
        halves++;
    }
    assert_true(halves > 10);
    assert_int_equal(rate(pair, 0, 0), LINE / 4);
    pair_close(pair);
}

/*
 * READ: the responder is the sender. After its last response it has no part, and the next READ
 * begins at line rate.
 */
static void read(void **state)
{
    struct pair *pair = open_two();

    (void)state;
    post(pair, 0, OCHE_WORK_READ, LONG);
    post(pair, 1, OCHE_WORK_READ, SHORT);
    pair_run(pair, pair->now + 20 * OCHE_US + OCHE_US / 3);
    tell(pair, 1, 4);
    assert_int_equal(rate(pair, 1, 0), LINE / 8);
    assert_int_equal(rate(pair, 1, 1), LINE / 8);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_int_equal(rate(pair, 1, 0), LINE / 4);
    assert_int_equal(rate(pair, 1, 1), LINE);
    pair_run_quiet(pair);
    assert_int_equal(rate(pair, 1, 0), LINE);
    post(pair, 0, OCHE_WORK_READ, LONG);
    pair_run(pair, pair->now + 25 * OCHE_US);
    assert_int_equal(rate(pair, 1, 0), LINE);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting),
        cmocka_unit_test(one_packet),
        cmocka_unit_test(repeating),
        cmocka_unit_test(read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
