/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts of TCP: the timeout, the echo of CE, the data behind a gap, sequence numbers. */
#include <string.h>

#include "core/random.h"
#include "sim/endpoint/tcp_dctcp/tcp.h"
#include "tests/support/test.h"

static void test_rto(void **state)
{
    struct oche_tcp_rtt rtt;

    (void)state;
    oche_tcp_rtt_init(&rtt, 7 * OCHE_MS, OCHE_US, OCHE_SEC);
    assert_int_equal(oche_tcp_rto(&rtt), 7 * OCHE_MS);
    oche_tcp_rtt_sample(&rtt, 800 * OCHE_US); /* SRTT = R, RTTVAR = R / 2 */
    assert_int_equal(oche_tcp_rto(&rtt), 2400 * OCHE_US);
    oche_tcp_rtt_sample(&rtt, 800 * OCHE_US); /* RTTVAR = 3/4 of it */
    assert_int_equal(oche_tcp_rto(&rtt), 2000 * OCHE_US);
    oche_tcp_rtt_sample(&rtt, 1600 * OCHE_US);
    /* RTTVAR = 3/4 * 300 + 1/4 * 800 = 425; SRTT = 7/8 * 800 + 1/8 * 1600 = 900 */
    assert_int_equal(rtt.deviation, 425 * OCHE_US);
    assert_int_equal(rtt.smoothed, 900 * OCHE_US);
    assert_int_equal(oche_tcp_rto(&rtt), 2600 * OCHE_US);
    oche_tcp_rtt_sample(&rtt, 100 * OCHE_US); /* shorter: the deviation grows as well */
    assert_int_equal(rtt.smoothed, 800 * OCHE_US);
    assert_int_equal(rtt.deviation, 425 * OCHE_US / 4 * 3 + 200 * OCHE_US);
}

static void test_backoff(void **state)
{
    static const uint64_t ms[] = {10, 20, 40, 80, 160, 320, 500, 500, 500};
    struct oche_tcp_rtt rtt;

    (void)state;
    oche_tcp_rtt_init(&rtt, 10 * OCHE_MS, 10 * OCHE_MS, 500 * OCHE_MS);
    oche_tcp_rtt_sample(&rtt, 50 * OCHE_US); /* below the least */
    for (rtt.backoff = 0; rtt.backoff < OCHE_COUNT_OF(ms); rtt.backoff++)
        assert_int_equal(oche_tcp_rto(&rtt), ms[rtt.backoff] * OCHE_MS);
    rtt.backoff = 1000000;
    rtt.most = OCHE_NEVER / 4;
    assert_true(oche_tcp_rto(&rtt) >= OCHE_NEVER / 8); /* no overflow on the way */
}

/* RFC 8257 sec 3.2, segment by segment, with one ACK for two. */
static void test_echo(void **state)
{
    static const struct {
        bool ce;
        unsigned waiting; /* segments without ACK when it comes */
        bool flush, flush_ece, then;
    } steps[] = {
        {false, 0, false, false, false}, {false, 1, false, false, false},
        {true, 0, false, false, true}, /* no ACK is pending: only the state changes */
        {false, 1, true, true, false}, /* the marked one is acknowledged alone, as marked */
        {true, 1, true, false, true},  /* and the other way round */
        {true, 1, false, true, true},    {true, 0, false, true, true},
        {false, 0, false, true, false},
    };
    struct oche_tcp_echo echo = {.ce = false};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(steps); i++) {
        bool ece = false;
        bool flush = oche_tcp_echo_arrived(&echo, steps[i].ce, steps[i].waiting, &ece);
        assert_int_equal(flush, steps[i].flush);
        if (flush)
            assert_int_equal(ece, steps[i].flush_ece);
        assert_int_equal(echo.ce, steps[i].then);
    }
}

/* For every order of marks, the bytes that ACKs echo are the marked bytes. */
static void test_echo_is_exact(void **state)
{
    struct oche_random random = oche_random_stream(3, "echo", 0);

    (void)state;
    for (unsigned every = 1; every <= 4; every++) {
        struct oche_tcp_echo echo = {.ce = false};
        unsigned waiting = 0, marked = 0, echoed = 0;
        for (unsigned i = 0; i < 1000; i++) {
            bool ce = oche_random_u64(&random) >> 62 == 0, ece;
            marked += ce;
            if (oche_tcp_echo_arrived(&echo, ce, waiting, &ece)) {
                echoed += ece ? waiting : 0;
                waiting = 0;
            }
            if (++waiting == every) {
                echoed += echo.ce ? waiting : 0;
                waiting = 0;
            }
        }
        assert_int_equal(echoed + (echo.ce ? waiting : 0), marked);
    }
}

#define BYTES 600

/* Random segments, duplicated and overlapping, against a map of bytes. */
static void test_ranges(void **state)
{
    static struct oche_tcp_ranges ranges;

    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        struct oche_random random = oche_random_stream(seed, "ranges", 0);
        bool have[BYTES + 64] = {false};
        uint64_t next = 0;

        memset(&ranges, 0, sizeof(ranges));
        while (next < BYTES) {
            uint64_t from = oche_random_u64(&random) % BYTES, before = next;
            uint64_t to = from + 1 + oche_random_u64(&random) % 40;
            to = to > BYTES ? BYTES : to;
            for (uint64_t i = from; i < to; i++)
                have[i] = true;
            if (from <= next && to > next)
                next = oche_tcp_ranges_take(&ranges, to);
            else if (from > next)
                assert_true(oche_tcp_ranges_add(&ranges, from, to));
            while (have[before])
                before++;
            assert_int_equal(next, before);
            for (uint32_t i = 0; i < ranges.count; i++) {
                assert_true(ranges.range[i].from > next);
                assert_true(ranges.range[i].from < ranges.range[i].to);
                assert_true(i == 0 || ranges.range[i - 1].to < ranges.range[i].from);
            }
        }
        assert_int_equal(ranges.count, 0);
    }
}

/*
 * No room for a further gap: rejected, and nothing is lost. A segment that closes a gap is
 * accepted.
 */
static void test_ranges_full(void **state)
{
    static struct oche_tcp_ranges ranges;

    (void)state;
    ranges.count = 0;
    for (uint64_t i = 0; i < OCHE_TCP_RANGES; i++)
        assert_true(oche_tcp_ranges_add(&ranges, 10 + 4 * i, 12 + 4 * i));
    assert_false(oche_tcp_ranges_add(&ranges, 5, 6));
    assert_false(oche_tcp_ranges_add(&ranges, 100000, 100001));
    assert_int_equal(ranges.count, OCHE_TCP_RANGES);
    assert_true(oche_tcp_ranges_add(&ranges, 12, 14));
    assert_int_equal(ranges.count, OCHE_TCP_RANGES - 1);
    assert_true(oche_tcp_ranges_add(&ranges, 5, 6));
    assert_int_equal(oche_tcp_ranges_take(&ranges, 10), 16);
}

/* 32 bits on the wire, 64 in the stream, across the wrap. */
static void test_sequence_numbers(void **state)
{
    static const uint64_t bytes[] = {0,          1,           0x7fffffff,   0xfffffffe,
                                     0xffffffff, 0x100000000, 0x123456789ab};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(bytes); i++) {
        assert_int_equal(oche_tcp_byte(oche_tcp_wire(bytes[i]), bytes[i]), bytes[i]);
        assert_int_equal(oche_tcp_byte(oche_tcp_wire(bytes[i] + 1000000), bytes[i]),
                         bytes[i] + 1000000);
        if (bytes[i] > 1000000)
            assert_int_equal(oche_tcp_byte(oche_tcp_wire(bytes[i] - 1000000), bytes[i]),
                             bytes[i] - 1000000);
    }
    assert_int_equal(oche_tcp_byte(0, 0), 0); /* the SYN's: before the stream */
    assert_int_equal(oche_tcp_byte(0xffff0000, 5), 0);
}

static void test_check(void **state)
{
    struct oche_tcp_params params;

    (void)state;
    oche_param_defaults(&oche_dctcp_table, &params);
    assert_null(oche_tcp_check(&params));
    params.ack_delay = params.rto_min;
    assert_non_null(oche_tcp_check(&params));
    params.ack_every = 1; /* none is delayed */
    assert_null(oche_tcp_check(&params));
    params.receive_window = params.mss_bytes - 1;
    assert_non_null(oche_tcp_check(&params));
    params.receive_window++;
    params.lossless = true;
    assert_null(oche_tcp_check(&params));
    params.port_buffer = 1;
    assert_non_null(oche_tcp_check(&params));
    params.lossless = false;
    assert_null(oche_tcp_check(&params));
    params.rto_max = params.rto_min - 1;
    assert_non_null(oche_tcp_check(&params));
    params.rto_max = params.rto_min;
    params.rto_initial = params.rto_max + 1;
    assert_non_null(oche_tcp_check(&params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rto),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_echo_is_exact),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_ranges_full),
        cmocka_unit_test(test_sequence_numbers),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
