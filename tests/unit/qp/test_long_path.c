/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long paths. A window sized for the peer's memory grows to the amount that the path delivers in a
 * round trip, and no further. Probes find a link that was down for seconds. A peer that is gone is
 * given up after its time.
 */
#include "tests/support/test.h"

#include "core/qp/send/sender.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define DELAY     (10 * OCHE_MS)
#define RATE      UINT64_C(200000000)
#define WINDOW    64u /* packets; in a round trip the link carries 464 */
#define MESSAGE   PAIR_MEMORY
#define MESSAGES  16
#define DOWN      (3 * OCHE_SEC)
#define PROBE     (200 * OCHE_MS)
#define FOUR_SECS (UINT64_C(4096) * OCHE_NS << 20)

static struct pair *open_pair(bool grows, oche_time delay, uint64_t rate_bps, uint32_t retries)
{
    static struct oche_selective_repeat_params params;

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    params.window = 4096;
    params.rto = OCHE_SELECTIVE_RTO_MEASURED;
    params.rto_low = 100 * OCHE_MS;
    params.rto_high = 200 * OCHE_MS;
    params.rto_most = OCHE_SEC;
    params.probe = PROBE;
    params.reorder = OCHE_SELECTIVE_REORDER_RACK;
    return pair_open(&(struct pair_options){.recovery = &oche_recovery_selective_repeat,
                                            .own_recovery_params = &params,
                                            .extensions = true,
                                            .delay = delay,
                                            .line_rate_bps = rate_bps,
                                            .window_packets = WINDOW,
                                            .window_grows = grows,
                                            .ack_every = WINDOW / 4,
                                            .retry_count = retries,
                                            .ack_timeout = FOUR_SECS});
}

/* Returns the payload rate of MESSAGES messages in Mbit/s. */
static double rate_of(struct pair *pair)
{
    const oche_time began = pair->now;
    oche_time ended;

    for (uint64_t i = 0; i < MESSAGES; i++) {
        const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, MESSAGE);

        pair_post(pair, 0, &work);
    }
    ended = pair_run_quiet(pair);
    for (uint64_t i = 0; i < MESSAGES; i++)
        pair_expect(pair, 0, i, OCHE_STATUS_SUCCESS);
    return MESSAGES * MESSAGE * 8.0 / ((double)(ended - began) / (double)OCHE_US);
}

static void test_window_grows(void **state)
{
    struct pair *pair = open_pair(false, DELAY, RATE, 7);
    const uint32_t in_a_round_trip = 464; /* packets that the link carries */

    (void)state;
    assert_true(rate_of(pair) < 30);
    assert_int_equal(snd(pair->side[0].qp[0])->window_packets, WINDOW);
    pair_close(pair);

    pair = open_pair(true, DELAY, RATE, 7);
    assert_true(rate_of(pair) > 130); /* with the time that it takes to grow */
    assert_in_range(snd(pair->side[0].qp[0])->window_packets, WINDOW,
                    WINDOW + in_a_round_trip + 16);
    pair_close(pair);
}

/* With short round trips, the peer's room is the limit. */
static void test_short_path(void **state)
{
    struct pair *pair = open_pair(true, OCHE_US, 10000000000, 7);

    (void)state;
    rate_of(pair);
    assert_in_range(snd(pair->side[0].qp[0])->window_packets, WINDOW, WINDOW + 8);
    pair_close(pair);
}

static void write_one(struct pair *pair, uint64_t wr_id)
{
    const struct oche_send_work work = pair_work(OCHE_WORK_WRITE, wr_id, 0, 0, PAIR_MTU);

    pair_post(pair, 0, &work);
}

static enum pair_fate nothing_passes(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return PAIR_DROP;
}

static void test_link_down(void **state)
{
    struct pair *pair = open_pair(true, DELAY, RATE, 7);
    struct oche_completion done;

    (void)state;
    write_one(pair, 1);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair->fate = nothing_passes;
    write_one(pair, 2);
    const oche_time up = pair->now + DOWN;

    pair_run(pair, up);
    pair->fate = NULL;
    pair_run(pair, up + PROBE + 3 * DELAY);
    assert_int_equal(oche_cq_poll(pair->side[0].cq, &done, 1), 1);
    assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* Probes cost no time: (retries + 1) ACK timeouts, as without them. */
static void test_given_up_in_time(void **state)
{
    struct pair *pair = open_pair(true, DELAY, RATE, 2);
    oche_time began, ended;

    (void)state;
    write_one(pair, 1);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair->fate = nothing_passes;
    began = pair->now;
    write_one(pair, 2);
    ended = pair_run_quiet(pair);
    pair_expect(pair, 0, 2, OCHE_STATUS_RETRY_EXCEEDED);
    assert_in_range(ended - began, 3 * FOUR_SECS, 3 * FOUR_SECS + 2 * PROBE);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_grows),
        cmocka_unit_test(test_short_path),
        cmocka_unit_test(test_link_down),
        cmocka_unit_test(test_given_up_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
