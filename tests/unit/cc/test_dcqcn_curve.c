/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's rate curves against tables computed independently (exact rational arithmetic, not this
 * code), at a 40 Gbps line with the paper's deployed values unless a comment says otherwise.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS (40 * OCHE_GBPS)
#define T_PS     (55 * OCHE_US)

enum cause { CUT = 1, FIRST, FAST, ADDITIVE, HYPER, RELEASED };

struct update {
    oche_time time;
    uint64_t cause, bps;
};

/*
 * One CNP at time 0, then none: R_C = 40/2 = 20 Gbps, R_T = 40 Gbps. 10 MB take at least 2 ms, so
 * only the timer acts in the first 20 updates, at k * 55 us.
 *
 * Paper: events 1 to 4 are fast recovery, from event 5 on R_T + 40 Mbps is clamped to the line, so
 * each event halves the distance to 40 Gbps:   R_C(k) = 40e9 - 20e9 / 2^k, rounded to nearest.
 */
static const uint64_t paper_after_one_cnp[20] = {
    30000000000, 35000000000, 37500000000, 38750000000, 39375000000, 39687500000, 39843750000,
    39921875000, 39960937500, 39980468750, 39990234375, 39995117188, 39997558594, 39998779297,
    39999389648, 39999694824, 39999847412, 39999923706, 39999961853, 39999980927};

/*
 * ns3-rdma: the same up to event 4 (38.75 Gbps; the first cut is also by half, since alpha goes
 * from 1 to (1-g)*1 + g = 1 before it). From event 5 on R_T is not clamped: 40.04, 40.08, 40.12 …
 * Gbps:
 *     event 5: (38.75   + 40.04) / 2 = 39.395
 *     event 6: (39.395  + 40.08) / 2 = 39.7375
 *     event 7: (39.7375 + 40.12) / 2 = 39.92875
 *     event 8: (39.92875 + 40.16) / 2 = 40.044375, clamped to the line, and there it stays.
 */
static const uint64_t ns3_after_one_cnp[20] = {
    30000000000, 35000000000, 37500000000, 38750000000, 39395000000, 39737500000, 39928750000,
    40000000000, 40000000000, 40000000000, 40000000000, 40000000000, 40000000000, 40000000000,
    40000000000, 40000000000, 40000000000, 40000000000, 40000000000, 40000000000};

static void check_timer_curve(const char *mode, const uint64_t expected[20])
{
    static struct bench bench;

    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "mode", mode);
    bench_start(&bench, true);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    bench_cnp(&bench, 0);
    assert_true(bench.flow.rate_bps == 20 * OCHE_GBPS);
    for (unsigned k = 1; k <= 20; k++) {
        uint64_t before = bench.flow.rate_bps;

        bench_run(&bench, k * T_PS - 1);
        assert_true(bench.flow.rate_bps == before);
        bench_run(&bench, k * T_PS);
        assert_true(bench.flow.rate_bps == expected[k - 1]);
    }
    /* R_C stayed at the line rate. A cut starts from there, with alpha after 19 intervals. */
    bench_cnp(&bench, 20 * T_PS);
    if (expected[19] == LINE_BPS) {
        double alpha = pow(255.0 / 256, 19) * 255 / 256 + 1.0 / 256; /* ns3-rdma: raised first */

        assert_true(fabs((double)bench.flow.rate_bps - 40e9 * (1 - alpha / 2)) < 1.0);
    }
}

static void paper_curve_after_one_cnp(void **state)
{
    (void)state;
    check_timer_curve("paper", paper_after_one_cnp);
}

static void ns3_curve_after_one_cnp(void **state)
{
    (void)state;
    check_timer_curve("ns3", ns3_after_one_cnp);
}

/*
 * Timer and byte counter together, through all stages: byte_counter 150 KB, initial_alpha 1/2,
 * CNPs at 0, 50, 120 and 180 us, then none; 1020 bytes on the line a packet, the first at time 0,
 * each next one after the packet's time at the rate that holds when it has been sent; on equal
 * times packet, then CNP, then timer. Made by a script that follows dcqcn.md#algorithm with
 * fractions. The modes part at the first cut (old or new alpha), at hyper increase (min > 5 or >=
 * 5, which ns3-rdma meets one event earlier and multiplies by min-F+1) and then by ns3-rdma's
 * halved periods.
 */
static const struct update paper_both[] = {
    {0, CUT, 30000000000},
    {40188000, FAST, 35000000000},
    {50000000, CUT, 26215820313},
    {95968810, FAST, 30607910156},
    {105000000, FAST, 32803955078},
    {120000000, CUT, 24571306119},
    {169024918, FAST, 28687630598},
    {175000000, FAST, 30745792838},
    {180000000, CUT, 23030019500},
    {232145127, FAST, 26887906169},
    {235000000, FAST, 28816849504},
    {274257141, FAST, 29781321171},
    {290000000, FAST, 30263557005},
    {314415905, FAST, 30504674921},
    {345000000, FAST, 30625233880},
    {353971156, FAST, 30685513359},
    {393327908, ADDITIVE, 30735653099},
    {400000000, ADDITIVE, 30780722969},
    {432572970, ADDITIVE, 30823257903},
    {455000000, ADDITIVE, 30864525371},
    {471731596, ADDITIVE, 30905159105},
    {510000000, HYPER, 31025475971},
    {510805556, HYPER, 31185634405},
    {549531088, HYPER, 31365713622},
    {565000000, HYPER, 31655753230},
    {587824620, HYPER, 32000773034},
    {620000000, HYPER, 32473282936},
    {625485822, HYPER, 33009537887},
    {662071718, HYPER, 33577665363},
    {675000000, HYPER, 34261729101},
    {697582442, HYPER, 35003760969},
    {730000000, HYPER, 35874776904},
    {732038626, HYPER, 36810284871},
    {764846970, HYPER, 37778038855},
};
static const struct update ns3_both[] = {
    {0, CUT, 29960937500},
    {40240185, FAST, 34980468750},
    {50000000, CUT, 26167163774},
    {95878467, FAST, 30573816262},
    {105000000, FAST, 32777142506},
    {120000000, CUT, 24519337211},
    {169078520, FAST, 28648239858},
    {175000000, FAST, 30712691182},
    {180000000, CUT, 22975346395},
    {232317254, FAST, 26844018789},
    {235000000, FAST, 28778354985},
    {274466098, FAST, 29745523084},
    {290000000, FAST, 30229107133},
    {314667186, FAST, 30470899158},
    {345000000, FAST, 30591795170},
    {354265170, FAST, 30652243176},
    {393664694, ADDITIVE, 30702467179},
    {400000000, ADDITIVE, 30747579181},
    {432951330, ADDITIVE, 30790135182},
    {455000000, HYPER, 30911413182},
    {472107794, HYPER, 31072052182},
    {491541378, HYPER, 31252371682},
    {510000000, HYPER, 31542531432},
    {510855646, HYPER, 31887611307},
    {529792172, HYPER, 32260151245},
    {537500000, HYPER, 32746421214},
    {548348520, HYPER, 33289556198},
    {565000000, HYPER, 33961123690},
    {566458466, HYPER, 34696907436},
    {583861786, HYPER, 35464799309},
    {592500000, HYPER, 36348745246},
    {600686842, HYPER, 37290718214},
    {616879670, HYPER, 38261704698},
    {620000000, HYPER, 39347197940},
};

static void check_updates(const char *mode, const struct update *expected, unsigned count)
{
    static struct bench bench;

    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "mode", mode);
    bench_set(&bench, "byte_counter", 150000);
    bench_set_real(&bench, "initial_alpha", 0.5);
    bench_start(&bench, true);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 50 * OCHE_US);
    bench_cnp(&bench, 120 * OCHE_US);
    bench_cnp(&bench, 180 * OCHE_US);
    bench_run(&bench, expected[count - 1].time);
    assert_int_equal(bench.rate_count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_true(bench.rates[i].time == expected[i].time);
        assert_true(bench.rates[i].a == expected[i].cause);
        assert_true(bench.rates[i].b == expected[i].bps);
        assert_int_equal(bench.rates[i].qpn, 7);
    }
}

static void paper_curve_through_all_stages(void **state)
{
    (void)state;
    check_updates("paper", paper_both, OCHE_COUNT_OF(paper_both));
}

static void ns3_curve_through_all_stages(void **state)
{
    (void)state;
    check_updates("ns3", ns3_both, OCHE_COUNT_OF(ns3_both));
}

/*
 * HPCC's NIC variant with its numbers: alpha 1 us, F 1, R_AI 50, R_HAI 100 Mbps, timer 300 us, a
 * CNP at 0: no cut at once; the check 4 us later cuts with alpha after 4 intervals without a
 * further CNP, (255/256)^4. Then the timer alone, counted before the test: one step of fast
 * recovery, one additive, then hyper for ever, R_T (still the line) clamped.
 */
static void nic_curve_after_one_cnp(void **state)
{
    static struct bench bench;
    double alpha = 255.0 / 256 * 255 / 256 * 255 / 256 * 255 / 256;
    double rate = 40e9 * (1 - alpha / 2);
    const uint64_t causes[] = {FAST, ADDITIVE, HYPER, HYPER, HYPER};

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "mode", "nic");
    bench_set(&bench, "alpha_interval", OCHE_US);
    bench_set(&bench, "fast_recovery_steps", 1);
    bench_set(&bench, "timer", 300 * OCHE_US);
    bench_start(&bench, true);
    bench_cnp(&bench, 10 * OCHE_US);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    bench_run(&bench, 14 * OCHE_US - 1);
    assert_true(bench.flow.rate_bps == LINE_BPS);
    bench_run(&bench, 14 * OCHE_US);
    assert_true(fabs((double)bench.flow.rate_bps - rate) < 1.0);
    for (unsigned k = 0; k < 5; k++) {
        bench_run(&bench, 14 * OCHE_US + (k + 1) * 300 * OCHE_US);
        rate = (40e9 + rate) / 2;
        assert_true(fabs((double)bench.flow.rate_bps - rate) < 1.0);
        assert_true(bench.rates[k + 1].a == causes[k]);
    }
    assert_int_equal(bench.rate_count, 6);
}

/*
 * Two CNPs with nothing between: R_T follows R_C (eq 1), so the rate recovers only to the second
 * R_C.
 */
static void later_cnps_lower_the_target(void **state)
{
    static struct bench bench;
    /*
     * alpha stays 1 after (1-g)*1 + g, hence 40, 20, 10, 5 Gbps. Recovery then goes half the way to
     * 10.
     */
    const uint64_t rates[] = {20, 10, 5};

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_start(&bench, true);
    for (unsigned i = 0; i < 3; i++) {
        bench_cnp(&bench, i * 50 * OCHE_US);
        assert_true(bench.flow.rate_bps == rates[i] * OCHE_GBPS);
        assert_true(bench.states[i].b == 2 * rates[i] * OCHE_GBPS);
    }
    bench_run(&bench, 155 * OCHE_US);
    assert_true(bench.flow.rate_bps == 7500 * OCHE_MBPS);
    bench_run(&bench, 210 * OCHE_US);
    assert_true(bench.flow.rate_bps == 8750 * OCHE_MBPS);
}

/*
 * alpha: 1 at the first CNP and, raised, still 1. Then a CNP every 550 us: nine intervals of
 * 55 us end without one (the tenth ends just as the CNP comes, and the CNP is first), so
 * alpha <- alpha * (255/256)^9, used for the cut, then (1-g)*alpha + g.
 */
static void alpha_decays_between_cnps(void **state)
{
    static struct bench bench;
    double alpha = 1.0;

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_start(&bench, true);
    bench_cnp(&bench, 0);
    assert_true(bench_alpha(&bench) == 1.0);
    for (unsigned i = 1; i <= 50; i++) {
        uint64_t before;

        bench_run(&bench, i * 550 * OCHE_US - 1);
        before = bench.flow.rate_bps;
        bench_cnp(&bench, i * 550 * OCHE_US);
        for (unsigned k = 0; k < 9; k++)
            alpha *= 255.0 / 256;
        assert_true(fabs((double)bench.flow.rate_bps - (double)before * (1 - alpha / 2)) <= 2.0);
        alpha = alpha * 255.0 / 256 + 1.0 / 256;
        assert_true(fabs(bench_alpha(&bench) - alpha) < 1e-9);
    }
    assert_true(alpha < 0.25);
}

/* A CNP one picosecond after the tenth interval comes after ten decays. */
static void an_interval_ends_after_a_cnp_at_the_same_time(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_start(&bench, true);
    bench_cnp(&bench, 0);
    bench_cnp(&bench, 55 * OCHE_US);
    assert_true(bench_alpha(&bench) == 1.0);
    bench_cnp(&bench, 110 * OCHE_US + 1);
    assert_true(fabs(bench_alpha(&bench) - (255.0 / 256 * 255 / 256 + 1.0 / 256)) < 1e-9);
}

/* Only the byte counter: an event for every 100 KB on the line, counted from the CNP. */
static void the_byte_counter_counts_line_bytes(void **state)
{
    static struct bench bench;
    struct oche_packet packet = {.frame_bytes = 1480};
    const uint64_t expected[] = {30000, 35000, 37500, 38750}; /* Mbps */

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_choose(&bench, "increase_on", "bytes");
    bench_set(&bench, "byte_counter", 100500);
    bench_start(&bench, false);
    for (unsigned i = 0; i < 1000; i++) /* before the first CNP nothing is counted */
        bench.scheme->sent(&bench.flow, i * OCHE_US, &packet, 1500);
    bench_cnp(&bench, OCHE_MS);
    for (unsigned event = 0; event < 4; event++) {
        for (unsigned i = 0; i < 66; i++)
            bench.scheme->sent(&bench.flow, OCHE_MS + i, &packet, 1500);
        assert_int_equal(bench.rate_count, 1 + event);
        bench.scheme->sent(&bench.flow, OCHE_MS + 66, &packet, 1500);
        assert_int_equal(bench.rate_count, 2 + event);
        assert_true(bench.flow.rate_bps == expected[event] * OCHE_MBPS);
    }
    bench_run(&bench, 2 * OCHE_MS); /* the timer is off */
    assert_int_equal(bench.rate_count, 5);
}

/* A cut also resets the byte counter, T and BC. */
static void a_cnp_restarts_recovery(void **state)
{
    static struct bench bench;
    struct oche_packet packet = {.frame_bytes = 1480};

    (void)state;
    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_set(&bench, "byte_counter", 15000);
    bench_start(&bench, false);
    bench_cnp(&bench, 0);
    bench_run(&bench, 275 * OCHE_US);
    assert_true(bench.rates[5].a == ADDITIVE);
    for (unsigned i = 0; i < 9; i++)
        bench.scheme->sent(&bench.flow, 275 * OCHE_US, &packet, 1500);
    assert_int_equal(bench.rate_count, 6);
    bench_cnp(&bench, 275 * OCHE_US);
    for (unsigned i = 0; i < 9; i++)
        bench.scheme->sent(&bench.flow, 275 * OCHE_US, &packet, 1500);
    assert_int_equal(bench.rate_count, 7);
    bench.scheme->sent(&bench.flow, 275 * OCHE_US, &packet, 1500);
    assert_int_equal(bench.rate_count, 8);
    assert_true(bench.rates[7].a == FAST);
    bench_run(&bench, 330 * OCHE_US);
    assert_true(bench.rates[8].a == FAST);
}

/* Returns the rate after 400 ms of so many CNPs a second, as a fraction of the line. */
static double rate_under(double cnps_a_second)
{
    static struct bench bench;
    const oche_time gap = (oche_time)((double)OCHE_SEC / cnps_a_second);

    bench_init(&bench, "dcqcn", LINE_BPS);
    bench_start(&bench, true);
    for (oche_time at = gap; at < 400 * OCHE_MS; at += gap) {
        bench_cnp(&bench, at);
        bench.rate_count = bench.state_count = 0;
    }
    return (double)bench.flow.rate_bps / LINE_BPS;
}

/*
 * The CNPs that hold the rate at its floor, 0.1 % of the line (dcqcn.md#cnp-flood). One CNP in each
 * fast recovery, 5 timers of 55 us, prevents additive increase.
 */
static void how_many_cnps_hold_the_floor(void **state)
{
    (void)state;
    assert_true(rate_under(3640) < 0.0011);
    assert_true(rate_under(20000) < 0.0011);
    assert_true(rate_under(3630) > 0.1);
    assert_true(rate_under(2500) > 0.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_curve_after_one_cnp),
        cmocka_unit_test(ns3_curve_after_one_cnp),
        cmocka_unit_test(paper_curve_through_all_stages),
        cmocka_unit_test(ns3_curve_through_all_stages),
        cmocka_unit_test(nic_curve_after_one_cnp),
        cmocka_unit_test(later_cnps_lower_the_target),
        cmocka_unit_test(alpha_decays_between_cnps),
        cmocka_unit_test(an_interval_ends_after_a_cnp_at_the_same_time),
        cmocka_unit_test(the_byte_counter_counts_line_bytes),
        cmocka_unit_test(a_cnp_restarts_recovery),
        cmocka_unit_test(how_many_cnps_hold_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
