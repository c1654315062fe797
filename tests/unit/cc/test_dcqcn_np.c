/* SPDX-License-Identifier: Apache-2.0 */
/* DCQCN's notification point: when the receiver half asks for CNPs, in each variant. */
#include "tests/support/test.h"

#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS (40 * OCHE_GBPS)
#define US       OCHE_US

static struct bench bench;

static void begin(const char *np)
{
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "np", np);
    bench_start(&bench, false);
}

static void expect_cnps(const oche_time *expected, unsigned count)
{
    assert_int_equal(bench.cnp_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_true(bench.cnps[i] == expected[i]);
}

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const oche_time expected[] = {__VA_ARGS__};                                                \
        expect_cnps(expected, OCHE_COUNT_OF(expected));                                            \
    } while (0)

static void unmarked_packets_cause_no_cnp(void **state)
{
    const char *const variants[] = {"window", "poll", "arrival"};

    (void)state;
    for (unsigned v = 0; v < 3; v++) {
        begin(variants[v]);
        for (unsigned i = 0; i < 500; i++)
            bench_data(&bench, i * US, false);
        bench_run(&bench, OCHE_MS);
        assert_int_equal(bench.cnp_count, 0);
        assert_int_equal(bench.timer_calls, 0);
    }
}

/* Fig 6: at once when idle; then at each window's end if the window had a mark; then idle. */
static void window_reports_at_once_then_at_window_ends(void **state)
{
    (void)state;
    begin("window");
    bench_data(&bench, 3 * US, true);
    EXPECT(3 * US);
    bench_data(&bench, 10 * US, true);
    bench_data(&bench, 11 * US, true);
    bench_data(&bench, 12 * US, false);
    bench_run(&bench, 53 * US - 1);
    EXPECT(3 * US);
    bench_run(&bench, 400 * US); /* the window 53 … 103 had no mark: idle */
    EXPECT(3 * US, 53 * US);
    bench_data(&bench, 401 * US, true);
    EXPECT(3 * US, 53 * US, 401 * US);
    bench_data(&bench, 451 * US, true); /* just N later: no longer within the window */
    EXPECT(3 * US, 53 * US, 401 * US, 451 * US);
    assert_int_equal(bench.timer_calls, 1);
}

static void steady_marks_give_one_cnp_an_interval(void **state)
{
    (void)state;
    begin("window");
    for (unsigned i = 0; i < 1000; i++)
        bench_data(&bench, i * US, true);
    assert_int_equal(bench.cnp_count, 20);
    for (unsigned i = 0; i < 20; i++)
        assert_true(bench.cnps[i] == i * 50 * US);
}

/* ns3-rdma: only at the first packet and every N after it. */
static void poll_reports_at_fixed_times(void **state)
{
    (void)state;
    begin("poll");
    bench_data(&bench, 7 * US, false);
    bench_data(&bench, 8 * US, true);
    bench_data(&bench, 9 * US, true);
    EXPECT();
    bench_run(&bench, 300 * US);
    EXPECT(57 * US);
    bench_data(&bench, 306 * US, true);
    bench_run(&bench, 500 * US);
    EXPECT(57 * US, 307 * US);

    begin("poll"); /* the first packet is itself polled */
    bench_data(&bench, 7 * US, true);
    bench_data(&bench, 7 * US, true); /* … once */
    bench_run(&bench, 56 * US);
    EXPECT(7 * US);
    bench_run(&bench, 500 * US);
    EXPECT(7 * US, 57 * US);
}

/* A NIC's least time between CNPs: a mark within it is not reported by itself. */
static void arrival_reports_only_with_a_marked_packet(void **state)
{
    (void)state;
    begin("arrival");
    bench_set(&bench, "cnp_interval", 4 * US);
    bench_data(&bench, 1 * US, true);
    bench_data(&bench, 2 * US, true);
    bench_run(&bench, 100 * US);
    EXPECT(1 * US);
    bench_data(&bench, 101 * US, true);
    bench_data(&bench, 104 * US, true);
    bench_data(&bench, 105 * US, true);
    EXPECT(1 * US, 101 * US, 105 * US);
    assert_int_equal(bench.timer_calls, 0);
}

static void modes_choose_their_np(void **state)
{
    const char *const modes[] = {"paper", "ns3", "nic"};
    /* Packets at 0 (unmarked), 5, 10 and 70 us. */
    const oche_time expected[3][3] = {{5 * US, 55 * US, 105 * US}, /* window */
                                      {50 * US, 100 * US},         /* poll, origin 0 */
                                      {5 * US, 70 * US}};          /* arrival */
    const unsigned counts[3] = {3, 2, 2};

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        bench_init(&bench, "dcqcn", LINE_BPS);
        bench_choose(&bench, "mode", modes[m]);
        bench_start(&bench, false);
        bench_data(&bench, 0, false);
        bench_data(&bench, 5 * US, true);
        bench_data(&bench, 10 * US, true);
        bench_data(&bench, 70 * US, true);
        bench_run(&bench, 400 * US);
        expect_cnps(expected[m], counts[m]);
    }
}

/*
 * Three queue pairs of one NIC that can make a CNP every 5 us: marks at the same time are
 * reported at 0, 5 and 10 us, in the order of the marks, and each one's next window follows from
 * its own CNP.
 */
static void a_nic_makes_one_cnp_per_gap(void **state)
{
    static struct bench qps[3];
    const oche_time first[] = {0, 5 * US, 10 * US};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        bench_init(&qps[i], "dcqcn", LINE_BPS);
        bench_set(&qps[i], "min_cnp_gap", 5 * US);
        qps[i].flow.nic_state = qps[0].nic_state;
        bench_start(&qps[i], false);
    }
    for (unsigned i = 0; i < 3; i++)
        bench_data(&qps[i], 0, true);
    bench_data(&qps[1], 1 * US, true); /* waits already: no second slot */
    for (unsigned i = 0; i < 3; i++) {
        bench_run(&qps[i], 20 * US);
        assert_int_equal(qps[i].cnp_count, 1);
        assert_true(qps[i].cnps[0] == first[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        bench_data(&qps[i], 30 * US, true);
    for (unsigned i = 0; i < 3; i++) {
        bench_run(&qps[i], 200 * US);
        assert_int_equal(qps[i].cnp_count, 2);
        assert_true(qps[i].cnps[1] == first[i] + 50 * US);
    }
}

/* A slot is for one CNP: later marks at the same time are spread again. */
static void a_slot_is_used_once(void **state)
{
    static struct bench qps[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        bench_init(&qps[i], "dcqcn", LINE_BPS);
        bench_set(&qps[i], "min_cnp_gap", 5 * US);
        qps[i].flow.nic_state = qps[0].nic_state;
        bench_start(&qps[i], false);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 2; i++)
            bench_data(&qps[i], round * 200 * US, true);
        for (unsigned i = 0; i < 2; i++) {
            bench_run(&qps[i], (round * 200 + 100) * US);
            assert_int_equal(qps[i].cnp_count, round + 1);
            assert_true(qps[i].cnps[round] == (round * 200 + i * 5) * US);
        }
    }
}

/* poll: a CNP that waited for its slot does not move the times of polling. */
static void a_late_slot_does_not_move_polling(void **state)
{
    (void)state;
    begin("poll");
    bench_set(&bench, "min_cnp_gap", 20 * US);
    bench_data(&bench, 0, false);
    bench_data(&bench, 1 * US, true);
    bench.nic_state[0] = 60 * US; /* the NIC makes CNPs for others until then */
    bench_run(&bench, 70 * US);
    EXPECT(60 * US);
    bench_data(&bench, 71 * US, true);
    bench_run(&bench, 300 * US);
    EXPECT(60 * US, 100 * US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmarked_packets_cause_no_cnp),
        cmocka_unit_test(window_reports_at_once_then_at_window_ends),
        cmocka_unit_test(steady_marks_give_one_cnp_an_interval),
        cmocka_unit_test(poll_reports_at_fixed_times),
        cmocka_unit_test(arrival_reports_only_with_a_marked_packet),
        cmocka_unit_test(modes_choose_their_np),
        cmocka_unit_test(a_nic_makes_one_cnp_per_gap),
        cmocka_unit_test(a_slot_is_used_once),
        cmocka_unit_test(a_late_slot_does_not_move_polling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
