/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point of the fluid model: its results, in the names and units of packets. A point of both has
 * the results of packets and a distance.
 */
#include <math.h>
#include <string.h>

#include "lab/fluid/outcome.h"
#include "lab/measures/metrics.h"
#include "lab/sweep/point.h"
#include "fluid/dcqcn_fluid.h"
#include "fluid/fluid_summary.h"
#include "tests/support/test.h"

#define TWO    "tests/scenarios/two_flows.yaml"
#define PAUSES "tests/scenarios/pauses.yaml"

/* A packet of 1000 bytes of payload on the line. */
#define LINE (1000.0 + 14 + 20 + 8 + 12 + 4 + 4 + 20) /* Ethernet, IP, UDP, BTH, ICRC, FCS, gap */

static struct oche_point_result run(const char *scenario, const char *const *sets, size_t count)
{
    struct oche_point_result point;

    oche_point_run(scenario, sets, count, &point);
    if (point.status != OCHE_POINT_DONE)
        fail_msg("%s", point.error);
    return point;
}

static double metric(const struct oche_point_result *point, const char *name)
{
    double value = oche_point_metric(point, name);

    if (isnan(value))
        fail_msg("%s is missing", name);
    return value;
}

static void assert_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.9g is not %.9g", value, expected);
}

/* The same model by hand. */
static void test_against_model(void **state)
{
    static const char *const sets[] = {"model=fluid"};
    const struct oche_fluid_flow flows[] = {{40e9, 0, 1}, {5e9, 0, 1}};
    struct oche_dcqcn_model model = oche_dcqcn_model();
    struct oche_switch_params switches;
    struct oche_fluid_summary sum;
    struct oche_point_result point = run(TWO, sets, 1);

    (void)state;
    oche_param_defaults(&oche_switch_params, &switches);
    oche_dcqcn_model_take(&model, &oche_switch_params, &switches);
    model.packet = LINE;
    /* Four links of 1 us, a packet on two and a CNP of 60 + 18 + 20 bytes (64 at least) on two. */
    model.delay = 4e-6 + 2 * 8 * (LINE + 98) / 40e9;
    struct oche_fluid *fluid = oche_dcqcn_fluid_create(&model, flows, 2, &OCHE_FLUID_OPTIONS);

    oche_fluid_summary_begin(&sum, fluid, 0);
    assert_true(oche_fluid_run(fluid, 0.01, oche_fluid_summary_step, &sum));
    oche_fluid_summary_end(&sum, fluid);
    double goodput = sum.utilisation * 40e9 * 1000 / LINE;

    assert_near(metric(&point, "goodput"), goodput, 1e5);
    assert_near(metric(&point, "queue.tor0:host2.mean"), sum.queue_mean, 50);
    assert_near(metric(&point, "queue.tor0:host2.sd"), sum.queue_sd, 50);
    assert_near(metric(&point, "queue.tor0:host2.max"), sum.queue_max, 0.01 * sum.queue_max);
    assert_near(metric(&point, "flow.0.rate") + metric(&point, "flow.1.rate"), goodput, 1e6);
    assert_near(metric(&point, "flow.1.rate") / goodput,
                sum.rate_mean[1] / (sum.rate_mean[0] + sum.rate_mean[1]), 1e-3);
    assert_near(metric(&point, "flow.0.goodput"), metric(&point, "flow.0.rate"), 5e6);
    assert_near(metric(&point, "rate_gap.of_means"),
                metric(&point, "flow.0.rate") - metric(&point, "flow.1.rate"), 1);
    assert_true(metric(&point, "queue.tor0:host2.p50") <= metric(&point, "queue.tor0:host2.p99"));
    assert_true(metric(&point, "convergence.reached") == 0);
    assert_true(isnan(oche_point_metric(&point, "convergence.time")));
    assert_true(metric(&point, "measured_time") == 0.01);
    /* Metrics that no model has. */
    assert_true(isnan(oche_point_metric(&point, "cnps")));
    assert_true(isnan(oche_point_metric(&point, "pauses")));
    assert_true(isnan(oche_point_metric(&point, "thresholds.headroom")));
    for (size_t i = 0; i < point.metric_count; i++)
        assert_string_equal(oche_metric_unit(point.metrics[i].name), point.metrics[i].unit);
    oche_fluid_summary_free(&sum);
    oche_fluid_free(fluid);
    oche_point_free(&point);
}

/* Flows of the warm-up are in no goodput. A flow that starts later counts from its start. */
static void test_warmup(void **state)
{
    static const char *const late[] = {"model=fluid", "warmup=2ms",
                                       "workload[1].file=tests/scenarios/two_flows_late.csv"};
    struct oche_point_result point = run(TWO, late, 3);

    (void)state;
    assert_true(isnan(oche_point_metric(&point, "flow.1.goodput"))); /* the other is in no list */
    assert_near(metric(&point, "flow.0.goodput"), metric(&point, "flow.1.rate") * 8 / 5, 1e7);
    assert_true(metric(&point, "flow_goodput.max") == metric(&point, "flow_goodput.min"));
    assert_true(metric(&point, "measured_time") == 0.008);
    oche_point_free(&point);
}

static void test_convergence(void **state)
{
    static const char *const sets[] = {"model=fluid", "duration=60ms"};
    struct oche_point_result point = run(TWO, sets, 2);

    (void)state;
    assert_near(metric(&point, "convergence.time"), 0.040, 0.003); /* dcqcn.md#sweeps */
    assert_true(metric(&point, "convergence.first") <= metric(&point, "convergence.time"));
    assert_true(metric(&point, "convergence.reached") == 1);
    oche_point_free(&point);
}

static void test_both(void **state)
{
    static const char *const both[] = {"model=both"}, *const packets[] = {"model=packets"};
    struct oche_point_result b = run(TWO, both, 1), p = run(TWO, packets, 1);

    (void)state;
    assert_true(b.hash == p.hash && p.hash != 0);
    assert_int_equal(b.metric_count, p.metric_count + 3);
    for (size_t i = 0; i < p.metric_count; i++)
        assert_true(oche_point_metric(&b, p.metrics[i].name) == p.metrics[i].value);
    double first = metric(&b, "flow.0.model_distance"),
           second = metric(&b, "flow.1.model_distance");

    assert_near(metric(&b, "model_distance"), (first + second) / 2, 1);
    assert_true(first > 1e6 && first < 10e9 && second > 1e6 && second < 10e9);
    oche_point_free(&b);
    oche_point_free(&p);
}

/* TIMELY's parameters are the scenario's. Its thresholds also count the empty path. */
static void test_timely(void **state)
{
    static const char *const sets[] = {"model=fluid",
                                       "duration=400ms",
                                       "congestion_control={name: timely_patched, t_low: 40us}",
                                       "topology.host_rate=10Gbps",
                                       "workload[0].initial_rate=7Gbps",
                                       "workload[1].initial_rate=3Gbps",
                                       "warmup=300ms"};
    struct oche_point_result point = run(TWO, sets, 7);
    double base = 4e-6 + 8 * (LINE + 2 * 98) / 10e9;

    (void)state;
    assert_near(metric(&point, "queue.tor0:host2.mean"), (1.25 * 40e-6 - base) * 10e9 / 8, 300);
    assert_near(metric(&point, "rate_gap.mean"), 0, 1e8);
    oche_point_free(&point);
}

static void refused(const char *scenario, const char *const *sets, size_t count, const char *why)
{
    struct oche_point_result point;

    oche_point_run(scenario, sets, count, &point);
    assert_int_equal(point.status, OCHE_POINT_FAILED);
    if (strstr(point.error, why) == NULL || strchr(point.error, '\n') != NULL)
        fail_msg("%s", point.error);
    oche_point_free(&point);
}

static void test_refused(void **state)
{
    static const char *const none[] = {"model=fluid", "congestion_control=none"};
    static const char *const fluid[] = {"model=fluid"};
    static const char *const blind[] = {"model=both", "measure.interval=0s"};
    static const char *const chained[] = {"model=both", "workload[0].initial_rate=0bps",
                                          "duration=1s", "stop_when_done=true",
                                          "congestion_control=dcqcn"};

    (void)state;
    refused(TWO, none, 2, "has no fluid model; set it to packets");
    refused(PAUSES, fluid, 1, "one bottleneck; let all go to one host, or set model to packets");
    refused(TWO, blind, 2, "interval: is 0, and model: both compares");
    refused(TWO, chained, 5, "came to their end; make them larger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_model), cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_convergence),   cmocka_unit_test(test_both),
        cmocka_unit_test(test_timely),        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
