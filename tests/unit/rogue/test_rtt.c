/* SPDX-License-Identifier: Apache-2.0 */
/* Round trips of batches (RoGUE sec 3.3; rogue.md#rtt), against the paper's two equations. */
#include "core/random.h"
#include "rogue/rtt.h"
#include "tests/support/test.h"

/* The paper's method: the state it keeps of the batch before. */
struct equations {
    oche_time completed, rtt; /* of batch i - 1; both 0 before the first */
};

static oche_time by_equations(struct equations *e, oche_time posted, oche_time serial,
                              oche_time completed)
{
    oche_time before = e->completed - e->rtt;
    oche_time start = posted > before ? posted : before;

    e->completed = completed;
    e->rtt = completed - start - serial;
    return e->rtt;
}

/* Batches that are posted at random times over a limiter, and return after random delays. */
static void agrees_with_the_equations(void **state)
{
    struct oche_random random = oche_random_stream(1, "round trips", 0);
    struct equations equations = {0};
    struct rogue_rtt rtt = {0};
    oche_time now = 0, free = 0;

    (void)state;
    for (unsigned i = 0; i < 10000; i++) {
        oche_time serial = 1 + oche_random_below(&random, 60 * OCHE_US);
        oche_time delay = oche_random_below(&random, 100 * OCHE_US);

        now += oche_random_below(&random, 100 * OCHE_US);
        free = (free > now ? free : now) + serial; /* when the NIC has sent it */
        oche_time left = rogue_rtt_posted(&rtt, now, serial);
        assert_int_equal(left, free);
        assert_int_equal(rogue_rtt_completed(left, free + delay),
                         by_equations(&equations, now, serial, free + delay));
        assert_int_equal(rogue_rtt_completed(left, free + delay), delay);
    }
}

/* A batch that is posted in pieces while the one before is still leaving. */
static void pieces_leave_one_behind_the_other(void **state)
{
    struct rogue_rtt rtt = {0};

    (void)state;
    assert_int_equal(rogue_rtt_posted(&rtt, 100, 50), 150);
    assert_int_equal(rogue_rtt_posted(&rtt, 100, 50), 200);
    assert_int_equal(rogue_rtt_posted(&rtt, 190, 10), 210);
    assert_int_equal(rogue_rtt_posted(&rtt, 500, 10), 510); /* the NIC was idle */
}

/*
 * A pacer sends a packet, waits until its time at the limiter's rate is over, and sends the next.
 * The last packet has left when its time on the line is over (rogue.md#r24).
 */
static void a_limiter_waits_after_a_packet(void **state)
{
    static const uint64_t rates[] = {OCHE_GBPS, 7 * OCHE_GBPS, 40 * OCHE_GBPS};
    const uint64_t line = 40 * OCHE_GBPS;

    (void)state;
    for (unsigned packets = 1; packets < 100; packets++) {
        const uint64_t bytes = 64 + packets * 13, rate = rates[packets % 3];
        const oche_time paced = oche_time_of_bytes(bytes, rate);
        struct rogue_rtt rtt = {0};
        oche_time start = 0, left = 0;

        for (unsigned i = 0; i < packets; i++) {
            left = start + oche_time_of_bytes(bytes, line);
            start += paced;
        }
        oche_time free = rogue_rtt_posted(&rtt, 0, packets * paced);
        assert_int_equal(rogue_rtt_left(free, bytes, rate, line), left);
    }
    assert_int_equal(rogue_rtt_left(5, 1000, OCHE_MBPS, line), 0);
}

static void is_never_negative(void **state)
{
    (void)state;
    assert_int_equal(rogue_rtt_completed(100, 99), 0);
    assert_int_equal(rogue_rtt_completed(100, 100), 0);
    assert_int_equal(rogue_rtt_completed(100, 107), 7);
}

/* rogue.md#r5 */
static void a_new_rate_stretches_what_has_not_left(void **state)
{
    static const struct {
        oche_time free, now;
        uint64_t old_bps, new_bps;
        oche_time expected;
    } rows[] = {
        {1000, 0, 10 * OCHE_GBPS, 5 * OCHE_GBPS, 2000},
        {1000, 400, 10 * OCHE_GBPS, 5 * OCHE_GBPS, 1600},
        {1000, 400, 5 * OCHE_GBPS, 10 * OCHE_GBPS, 700},
        {1000, 400, OCHE_GBPS, OCHE_GBPS, 1000},
        {1000, 1000, OCHE_GBPS, OCHE_MBPS, 1000}, /* is free */
        {1000, 2000, OCHE_GBPS, OCHE_MBPS, 1000},
        /* more than 64 bits in between: an hour at 400 Gbit/s, at 10 Mbit/s */
        {3600 * OCHE_SEC, 0, 400 * OCHE_GBPS, 400 * OCHE_MBPS, 3600 * 1000 * OCHE_SEC},
    };

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++)
        if (rogue_rtt_rescaled(rows[i].free, rows[i].now, rows[i].old_bps, rows[i].new_bps) !=
            rows[i].expected)
            fail_msg("row %u", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_equations),
                                       cmocka_unit_test(pieces_leave_one_behind_the_other),
                                       cmocka_unit_test(a_limiter_waits_after_a_packet),
                                       cmocka_unit_test(is_never_negative),
                                       cmocka_unit_test(a_new_rate_stretches_what_has_not_left)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
