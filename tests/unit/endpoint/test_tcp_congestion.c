/* SPDX-License-Identifier: Apache-2.0 */
/* The congestion window, ACK by ACK: New Reno by RFC 5681 and 6582, DCTCP by RFC 8257. */
#include "sim/endpoint/tcp_dctcp/congestion.h"
#include "tests/support/test.h"

#define MSS 1000

static struct oche_tcp_congestion make(bool dctcp)
{
    struct oche_tcp_params params;
    struct oche_tcp_congestion c;

    oche_param_defaults(&oche_dctcp_table, &params);
    params.mss_bytes = MSS;
    oche_tcp_congestion_init(&c, &params, dctcp);
    return c;
}

/* A connection whose window is always full. Tests the effect of an ACK for `bytes` of it. */
struct full {
    struct oche_tcp_congestion c;
    uint64_t una;
};

static bool ack(struct full *f, uint64_t bytes, bool ece)
{
    struct oche_tcp_acked acked = {.bytes = bytes,
                                   .una = f->una + bytes,
                                   .next = f->una + f->c.cwnd,
                                   .flight_before = f->c.cwnd,
                                   .ece = ece};

    f->una += bytes;
    return oche_tcp_congestion_acked(&f->c, &acked);
}

static void test_slow_start(void **state)
{
    struct full f = {.c = make(false)};

    (void)state;
    assert_int_equal(f.c.cwnd, 10 * MSS);
    for (unsigned i = 0; i < 5; i++)
        ack(&f, 2 * MSS, false); /* one for two segments: it doubles in a round trip */
    assert_int_equal(f.c.cwnd, 20 * MSS);
    ack(&f, 500, false);
    assert_int_equal(f.c.cwnd, 20 * MSS + 500);
    ack(&f, 9 * MSS, false); /* an ACK for much more: L = 2 */
    assert_int_equal(f.c.cwnd, 22 * MSS + 500);
}

static void test_avoidance(void **state)
{
    struct full f = {.c = make(false)};

    (void)state;
    f.c.cwnd = f.c.ssthresh = 8 * MSS;
    for (unsigned i = 0; i < 3; i++)
        ack(&f, 2 * MSS, false);
    assert_int_equal(f.c.cwnd, 8 * MSS);
    ack(&f, 2 * MSS, false); /* a window is acknowledged: one segment more */
    assert_int_equal(f.c.cwnd, 9 * MSS);
    for (unsigned i = 0; i < 9; i++)
        ack(&f, MSS, false);
    assert_int_equal(f.c.cwnd, 10 * MSS);
}

/* The window does not limit the sender, so it does not grow. */
static void test_not_limited(void **state)
{
    struct oche_tcp_congestion c = make(false);
    struct oche_tcp_acked acked = {
        .bytes = 2 * MSS, .una = 2 * MSS, .next = 9 * MSS, .flight_before = 5 * MSS - 1};

    (void)state;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.cwnd, 10 * MSS);
    acked.flight_before = 5 * MSS;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.cwnd, 12 * MSS);
    c.cwnd = c.ssthresh = 10 * MSS;
    acked.bytes = 10 * MSS;
    acked.flight_before = 9 * MSS;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.cwnd, 10 * MSS);
    acked.flight_before = 9 * MSS + 1;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.cwnd, 11 * MSS);
}

static void test_fast_recovery(void **state)
{
    struct oche_tcp_congestion c = make(false);

    (void)state;
    c.cwnd = 20 * MSS;
    oche_tcp_congestion_enter(&c, 20 * MSS);
    assert_int_equal(c.ssthresh, 10 * MSS);
    assert_int_equal(c.cwnd, 13 * MSS);
    for (unsigned i = 0; i < 7; i++)
        oche_tcp_congestion_inflate(&c);
    assert_int_equal(c.cwnd, 20 * MSS);
    oche_tcp_congestion_partial(&c, 5 * MSS); /* deflates by that, and grows by one segment */
    assert_int_equal(c.cwnd, 16 * MSS);
    oche_tcp_congestion_partial(&c, 300); /* less than a segment: no growth */
    assert_int_equal(c.cwnd, 16 * MSS - 300);
    oche_tcp_congestion_partial(&c, 100 * MSS);
    assert_int_equal(c.cwnd, MSS);
    oche_tcp_congestion_leave(&c, 4 * MSS); /* no burst: the data in flight and one more segment */
    assert_int_equal(c.cwnd, 5 * MSS);
    oche_tcp_congestion_leave(&c, 30 * MSS);
    assert_int_equal(c.cwnd, 10 * MSS);
    oche_tcp_congestion_enter(&c, 3 * MSS); /* two segments at least */
    assert_int_equal(c.ssthresh, 2 * MSS);
}

static void test_timeout(void **state)
{
    struct oche_tcp_congestion c = make(false);

    (void)state;
    c.cwnd = 20 * MSS;
    oche_tcp_congestion_timeout(&c, 20 * MSS, false);
    assert_int_equal(c.cwnd, MSS);
    assert_int_equal(c.ssthresh, 10 * MSS);
    oche_tcp_congestion_timeout(&c, MSS, true); /* of the same data: ssthresh does not change */
    assert_int_equal(c.ssthresh, 10 * MSS);
    c.cwnd = 50 * MSS;
    oche_tcp_congestion_idle(&c);
    assert_int_equal(c.cwnd, 10 * MSS);
    c.cwnd = 3 * MSS;
    oche_tcp_congestion_idle(&c);
    assert_int_equal(c.cwnd, 3 * MSS);
}

/* alpha <- (15 alpha + F) / 16 once a window, computed by hand. */
static void test_alpha(void **state)
{
    static const struct {
        uint64_t acked, marked; /* bytes of the window */
        double alpha;           /* after it */
    } windows[] = {
        {10000, 10000, 1},
        {10000, 0, 0.9375},
        {20000, 5000, 0.89453125},
        {4000, 4000, 0.901123046875},
    };
    struct oche_tcp_congestion c = make(true);
    uint64_t una = 0;

    (void)state;
    assert_int_equal(c.alpha, OCHE_TCP_ONE);
    /*
     * The first ACK of all ends a window of its own. Its mark is chosen so that alpha does not
     * change.
     */
    for (size_t i = 0; i < OCHE_COUNT_OF(windows); i++) {
        uint64_t clean = windows[i].acked - windows[i].marked;
        /* All but a byte before the end of the window, that byte, and one byte after the end. */
        c.window_end = una + windows[i].acked - 1;
        struct oche_tcp_acked acked = {.bytes = clean, .una = una + clean, .next = una + 50000};
        if (clean > 0 && windows[i].marked > 0)
            oche_tcp_congestion_acked(&c, &acked);
        acked.bytes = windows[i].marked > 0 ? windows[i].marked : clean;
        acked.ece = windows[i].marked > 0;
        acked.una = una + windows[i].acked;
        oche_tcp_congestion_acked(&c, &acked);
        una += windows[i].acked;
        assert_true(c.alpha <= (uint64_t)(windows[i].alpha * (double)OCHE_TCP_ONE) + 4);
        assert_true(c.alpha + 4 >= (uint64_t)(windows[i].alpha * (double)OCHE_TCP_ONE));
        assert_int_equal(c.acked, 0);
        assert_int_equal(c.window_end, una + 50000 - windows[i].acked);
    }
}

/* An ACK of the window's end does not end the window; the end belongs to it. */
static void test_alpha_waits_for_the_window(void **state)
{
    struct oche_tcp_congestion c = make(true);
    struct oche_tcp_acked acked = {.bytes = 5000, .una = 5000, .next = 20000};

    (void)state;
    c.window_end = 10000;
    oche_tcp_congestion_acked(&c, &acked);
    acked.una = 10000;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.alpha, OCHE_TCP_ONE);
    assert_int_equal(c.acked, 10000);
    acked.una = 15000;
    oche_tcp_congestion_acked(&c, &acked);
    assert_int_equal(c.alpha, OCHE_TCP_ONE / 16 * 15);
}

/* One cut a window, by half of alpha. No growth until the data in flight is acknowledged. */
static void test_cut(void **state)
{
    struct full f = {.c = make(true)};

    (void)state;
    f.c.cwnd = f.c.ssthresh = 40 * MSS;
    f.c.alpha = OCHE_TCP_ONE / 4;
    f.c.window_end = 1000 * MSS; /* alpha stays */
    assert_true(ack(&f, 2 * MSS, true));
    assert_int_equal(f.c.cwnd, 35 * MSS);
    assert_int_equal(f.c.ssthresh, 35 * MSS);
    assert_int_equal(f.c.cut_end, 40 * MSS); /* everything sent before the ACK came */
    for (unsigned i = 0; i < 19; i++)
        assert_false(ack(&f, 2 * MSS, true));
    assert_int_equal(f.una, 40 * MSS);
    assert_int_equal(f.c.cwnd, 35 * MSS);
    assert_true(ack(&f, MSS, true)); /* the next window */
    assert_int_equal(f.c.cwnd, 35 * MSS - 35 * MSS / 8);
    f.c.cwnd = 2 * MSS + 1;
    f.c.reduced = false;
    f.c.alpha = OCHE_TCP_ONE;
    assert_true(ack(&f, MSS, true));
    assert_int_equal(f.c.cwnd, 2 * MSS); /* least_window */
    /* Plain New Reno ignores marks. */
    f.c = make(false);
    assert_false(ack(&f, 2 * MSS, true));
    assert_int_equal(f.c.cwnd, 12 * MSS);
}

/* In fast recovery marks are counted, and recovery sets the window. */
static void test_marks_in_recovery(void **state)
{
    struct oche_tcp_congestion c = make(true);
    struct oche_tcp_acked acked = {.bytes = 2000,
                                   .una = 2000,
                                   .next = 20000,
                                   .flight_before = 20000,
                                   .ece = true,
                                   .in_recovery = true};

    (void)state;
    c.window_end = 30000;
    oche_tcp_congestion_enter(&c, 20000);
    assert_false(oche_tcp_congestion_acked(&c, &acked));
    assert_int_equal(c.cwnd, 13 * MSS);
    assert_int_equal(c.marked, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_avoidance),
        cmocka_unit_test(test_not_limited),
        cmocka_unit_test(test_fast_recovery),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_alpha_waits_for_the_window),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_marks_in_recovery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
