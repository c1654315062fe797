/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What spends a retry: a timeout whose retransmission has left, and nothing else. Not the NAKs
 * that were on their way before the repair arrived, not time in which the port may not send.
 */
#include "tests/support/pair.h"
#include "tests/support/test.h"

static int losses;

static enum pair_fate lose_first(struct pair *pair, int from, const struct oche_packet *packet)
{
    if (from == 0 && packet->psn == pair->options.first_psn && losses > 0) {
        losses--;
        return PAIR_DROP;
    }
    return PAIR_PASS;
}

static struct pair *open_lossy(const struct pair_options *options)
{
    struct pair *pair = pair_open(options);

    pair->fate = lose_first;
    losses = 1;
    return pair;
}

static void assert_done(struct pair *pair)
{
    struct oche_completion done;

    assert_int_equal(oche_cq_poll(pair->side[0].cq, &done, 1), 1);
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* One loss, and a NAK for every packet behind it: more NAKs than retries. */
static void test_repeated_naks(void **state)
{
    struct pair_options options = {.nak_interval = 1, .ack_every = 64};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 40000);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(oche_nic_stats(pair->side[0].nic)->naks_received > 8);
    assert_done(pair);
}

/* The same where the interval is there, but below the round trip. */
static void test_naks_faster_than_the_repair(void **state)
{
    struct pair_options options = {.nak_interval = 5 * OCHE_US,
                                   .ack_every = 64,
                                   .delay = 30 * OCHE_US,
                                   .line_rate_bps = 5 * OCHE_GBPS};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 60000);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_true(oche_nic_stats(pair->side[0].nic)->naks_received > 8);
    assert_done(pair);
}

/* The only packet is lost, then the class may not send for twelve times the ACK timeout. */
static void test_paused_is_no_retry(void **state)
{
    struct pair_options options = {0};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 500);
    struct pair *pair = open_lossy(&options);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 10 * OCHE_US);
    uint8_t classes = pair->side[0].classes;
    pair->side[0].classes = 0;
    pair_run(pair, pair->now + 6 * OCHE_MS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    pair->side[0].classes = classes;
    pair_run_quiet(pair);
    assert_done(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeated_naks),
        cmocka_unit_test(test_naks_faster_than_the_repair),
        cmocka_unit_test(test_paused_is_no_retry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
