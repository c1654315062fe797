/* SPDX-License-Identifier: Apache-2.0 */
/* dcqcn.md#fixed-point-table and #stability; linear theory and runs. */
#include "tests/support/test.h"

#include <math.h>

#include "fluid/dcqcn_stability.h"
#include "tests/unit/fluid/model_defaults.h"

#define NONE 0 /* no queue: p* is above pmax */

struct row {
    double gbps, packet, rai_mbps, flows, estimate, mark, queue; /* percent, KB */
};

/* dcqcn.md#fixed-point-table, as printed there. estimate 0: not given. */
static const struct row table[] = {
    {40, 1000, 40, 2, 0.092, 0.078, 20.2},   {40, 1000, 40, 4, 0.232, 0.189, 41.8},
    {40, 1000, 40, 8, 0.583, 0.455, 93.8},   {40, 1000, 40, 10, 0.785, 0.603, 122.6},
    {40, 1000, 40, 16, 1.468, 1.087, NONE},  {40, 1000, 40, 20, 1.98, 1.44, NONE},
    {40, 1000, 40, 32, 3.70, 2.56, NONE},    {40, 1000, 40, 64, 9.31, 5.91, NONE},
    {100, 1000, 40, 2, 0.028, 0.024, 9.7},   {100, 1000, 40, 10, 0.232, 0.189, 41.8},
    {100, 1000, 40, 20, 0.583, 0.455, 93.8}, {100, 1000, 40, 32, 1.09, 0.823, 165.4},
    {100, 1000, 40, 64, 2.75, 1.95, NONE},   {10, 1000, 40, 2, 0.583, 0.455, 93.8},
    {10, 1000, 40, 4, 1.47, 1.087, NONE},    {40, 1500, 40, 2, 0, 0.117, 27.7},
    {40, 1500, 40, 8, 0, 0.682, 137.9},      {40, 1500, 40, 10, 0, 0.903, 181.0},
    {40, 1500, 40, 16, 0, 1.62, NONE},       {40, 1000, 10, 2, 0, 0.052, 15.1},
    {40, 1000, 10, 10, 0, 0.413, 85.5},      {40, 1000, 10, 16, 0, 0.752, 151.6},
    {40, 1000, 10, 20, 0, 0.998, 199.5},
};

/* Half a unit of the last of three digits, and a little for numbers that end in 5. */
static double half_digit(double printed)
{
    return 0.51 * pow(10, floor(log10(printed)) - 2);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(table); i++) {
        const struct row *row = &table[i];
        struct oche_dcqcn_model model = deployed();

        model.capacity = row->gbps * 1e9;
        model.packet = row->packet;
        model.rai = row->rai_mbps * 1e6;
        struct oche_dcqcn_point point = oche_dcqcn_fixed_point(&model, row->flows);
        double mark = point.mark * 100;

        /* Below 0.1 % the table has three decimals, which are two digits. */
        assert_near(mark, row->mark, fmax(half_digit(row->mark), row->mark < 1 ? 0.00051 : 0));
        if (row->estimate > 0)
            assert_near(point.estimate * 100, row->estimate,
                        fmax(half_digit(row->estimate), row->estimate < 1 ? 0.00051 : 0));
        assert_int_equal(point.on_ramp, row->queue != NONE);
        if (row->queue != NONE)
            assert_near(point.queue / 1e3, row->queue, 0.051);
        else
            assert_near(point.queue / 1e3, 200, 0);
    }
}

/*
 * At the fixed point nothing changes; the equation of dcqcn.md#fixed-point holds; a run ends there.
 */
static void test_rest(void **state)
{
    struct oche_dcqcn_model model = deployed();
    struct oche_dcqcn_point point = oche_dcqcn_fixed_point(&model, 4);
    double p = point.mark, rate = 10e9 / 8e3, bytes = 10e3, gap = point.target_bps - 10e9;
    double a = 1 - pow(1 - p, 50e-6 * rate), b = p / (pow(1 - p, -bytes) - 1);
    double d = p / (pow(1 - p, -55e-6 * rate) - 1), c = b * pow(1 - p, 5 * bytes);
    double e = d * pow(1 - p, 5 * 55e-6 * rate), rai = 40e6 / 8e3;

    (void)state;
    assert_near(a * a * point.alpha / ((b + d) * (c + e)) / (50e-6 * 50e-6 * rai * rate), 1, 1e-9);
    assert_near(point.alpha, 1 - pow(1 - p, 55e-6 * rate), 1e-12);
    assert_near(gap / 50e-6 * a / (40e6 * rate * (c + e)), 1, 1e-9);
    const struct oche_fluid_flow flows[] = {{40e9, 0, 3}, {40e9, 1e-3, 1}};
    struct came_to came =
        run_to(oche_dcqcn_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS), 0.29, 0.3);

    assert_near(came.queue_mean, point.queue, 1);
    assert_near(came.rates[0], 10e9, 1e5);
    assert_near(came.rates[1], 10e9, 1e5);
}

static struct oche_dcqcn_stability at(struct oche_dcqcn_model model, double delay, double flows)
{
    struct oche_dcqcn_point point = oche_dcqcn_fixed_point(&model, flows);

    model.delay = delay;
    assert_true(point.on_ramp);
    return oche_dcqcn_stability(&model, &point, flows);
}

/*
 * "ECN or Delay", sec 3: stable at 4 us. At 85 us, unstable with 10 flows, but stable with 2. Then
 * its remedies.
 */
static void test_statements(void **state)
{
    struct oche_dcqcn_model model = deployed(), calm = model, wide;

    (void)state;
    calm.rai = 10e6;
    wide = calm;
    wide.kmax = 1e6;
    for (double flows = 2; flows <= 14; flows += 2) {
        assert_int_equal(at(model, 4e-6, flows).unstable_roots, 0);
        assert_int_equal(at(model, 4e-6, flows).unstable_differences, 0);
        for (double delay = 4e-6; delay < 110e-6; delay += 12e-6) {
            assert_int_equal(at(calm, delay, flows).unstable_roots, 0);
            assert_int_equal(at(wide, delay, flows).unstable_roots, 0);
            assert_int_equal(at(model, delay, flows).unstable_differences, 0);
        }
    }
    assert_int_equal(at(model, 85e-6, 2).unstable_roots, 0);
    assert_int_equal(at(model, 85e-6, 10).unstable_roots, 2);
    assert_int_equal(at(model, 100e-6, 10).unstable_roots, 2);
    /* Not monotonic in N: the margin falls, then rises. */
    assert_true(at(model, 100e-6, 6).margin.phase_deg < at(model, 100e-6, 2).margin.phase_deg);
    assert_true(at(model, 100e-6, 6).margin.phase_deg < at(model, 100e-6, 14).margin.phase_deg);
}

/* The margin, the roots and a run from line rate agree, except close to the boundary. */
static void test_agreement(void **state)
{
    unsigned stable = 0, unstable = 0;

    (void)state;
    for (uint32_t flows = 2; flows <= 14; flows += 4)
        for (double delay = 5e-6; delay < 125e-6; delay += 20e-6) {
            struct oche_dcqcn_model model = deployed();
            const struct oche_fluid_flow list[] = {{40e9, 0, flows}};
            struct oche_dcqcn_stability linear = at(model, delay, flows);

            model.delay = delay;
            assert_true((linear.margin.phase_deg > 0) == (linear.unstable_roots == 0));
            if (fabs(linear.margin.phase_deg) < 1)
                continue;
            struct came_to came =
                run_to(oche_dcqcn_fluid_create(&model, list, 1, &OCHE_FLUID_OPTIONS), 0.3, 0.4);

            stable += linear.unstable_roots == 0;
            unstable += linear.unstable_roots != 0;
            assert_true((came.queue_sd < 100) == (linear.unstable_roots == 0));
        }
    assert_true(stable > 5 && unstable > 5);
}

/* Upward crossings of the fixed point's queue: the first, the last, their number. */
struct passages {
    double level, before, first, last;
    unsigned count;
};

static void watch_passages(void *context, const struct oche_fluid *fluid, double begin, double end)
{
    struct passages *p = context;
    double queue = oche_fluid_at(fluid, end, NULL);

    if (p->before <= p->level && queue > p->level) {
        p->last = end - (end - begin) * (queue - p->level) / (queue - p->before);
        p->first = p->count++ == 0 ? p->last : p->first;
    }
    p->before = queue;
}

/* The delay at which the margin is 0. */
static double edge_of(struct oche_dcqcn_model model, const struct oche_dcqcn_point *point,
                      double flows)
{
    double low = 4e-6, high = 200e-6;

    for (unsigned i = 0; i < 40; i++) {
        model.delay = (low + high) / 2;
        if (oche_dcqcn_stability(&model, point, flows).margin.phase_deg > 0)
            low = model.delay;
        else
            high = model.delay;
    }
    return low;
}

/* Near the boundary, a run oscillates with the frequency at which the loop's gain is 1. */
static void test_frequency(void **state)
{
    (void)state;
    for (uint32_t flows = 2; flows <= 14; flows += 6) {
        struct oche_dcqcn_model model = deployed();
        struct oche_dcqcn_point point = oche_dcqcn_fixed_point(&model, flows);
        const struct oche_fluid_flow list[] = {{40e9, 0, flows}};
        struct passages passages = {.level = point.queue};

        /* Slightly below the boundary, so the run settles slowly. */
        model.delay = 0.99 * edge_of(model, &point, flows);
        struct oche_dcqcn_stability linear = oche_dcqcn_stability(&model, &point, flows);
        struct oche_fluid *fluid = oche_dcqcn_fluid_create(&model, list, 1, &OCHE_FLUID_OPTIONS);

        assert_int_equal(linear.unstable_roots, 0);
        assert_true(oche_fluid_run(fluid, 0.2, NULL, NULL));
        assert_true(oche_fluid_run(fluid, 0.3, watch_passages, &passages));
        oche_fluid_free(fluid);
        assert_true(passages.count > 20);
        double frequency =
            2 * 3.14159265358979 * (passages.count - 1) / (passages.last - passages.first);

        assert_near(frequency, linear.margin.frequency, 0.015 * frequency);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_rest),
        cmocka_unit_test(test_statements), cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_frequency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
