/* SPDX-License-Identifier: Apache-2.0 */
/* Goodputs by workload: flows belong to their workload, pairs add up, the warm-up is left out. */
#include "lab/measures/by_workload.h"

#include <math.h>
#include <stdlib.h>

#include "lab/sweep/point.h"
#include "sim/measure/percentile.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

#define SCENARIO "tests/scenarios/pauses.yaml"
#define DUMBBELL "topology={type: dumbbell, left_hosts: 3, right_hosts: 3, delay: 1us}"
#define LONG_AND_SHORT                                                                             \
    "workload=[{type: transfers, pairs: 0>3, bytes: 1GB},"                                         \
    "{type: transfers, pairs: [1>4, 1>4, 5>2], bytes: 50KB}]"

static struct oche_error error;
static struct oche_scenario *scenario;
static struct oche_world *world;
static struct oche_by_workload by;
static oche_time measured;

static void take(const char *topology, const char *workload, const char *warmup)
{
    const char *sets[] = {topology, workload, warmup, "congestion_control=none", "measure.queues="};
    struct oche_world_totals totals;

    oche_by_workload_free(&by);
    oche_world_free(world);
    oche_scenario_close(scenario);
    scenario = oche_scenario_open(SCENARIO, sets, 5, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    world = oche_world_create(&scenario->config, &error);
    if (world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &totals);
    measured = totals.measured;
    oche_by_workload_take(&by, world, measured);
}

static void close_to(double value, double expected)
{
    if (!(fabs(value / expected - 1) < 0.02))
        fail_msg("%g instead of %g", value, expected);
}

static double sum(const struct oche_sorted_values *sorted)
{
    double all = 0;

    for (size_t i = 0; i < sorted->count; i++) {
        assert_true(i == 0 || sorted->values[i] >= sorted->values[i - 1]);
        all += sorted->values[i];
    }
    return all;
}

/* The sum equals the run's goodput. Pairs' goodputs are parts of the workload's. */
static void adds_up(void **state)
{
    struct oche_world_totals totals;
    uint64_t bytes = 0, flows = 0, delivered = 0;
    size_t goodputs = 0;

    (void)state;
    take("topology.oversubscription=2",
         "workload=[{type: closed_cdf, pairs: 20, cdf: alistorage2019},"
         "{type: incast, degree: 3, bytes: 300KB, back_to_back: true},"
         "{type: poisson_cdf, cdf: fbhdp}]",
         "warmup=200us");
    oche_world_totals(world, &totals);
    assert_int_equal(by.count, 3);
    for (uint32_t w = 0; w < 3; w++) {
        const struct oche_workload_outcome *workload = &by.workloads[w];

        double fct = 0;

        for (OCHE_EACH_MADE_FLOW(i, oche_world_flows(world))) {
            const struct oche_flows *all = oche_world_flows(world);

            if (all->plan[i].workload == w && all->sent[i].started != OCHE_NEVER &&
                all->sent[i].started >= 200 * OCHE_US && all->received[i].delivered != OCHE_NEVER)
                fct += (double)(all->received[i].delivered - all->sent[i].started) * 1e-12;
        }
        assert_int_equal(workload->fct.count, workload->delivered);
        close_to(sum(&workload->fct), fct);
        bytes += workload->delivered_bytes;
        flows += workload->flows;
        delivered += workload->delivered;
        goodputs += workload->flow_goodput.count;
        assert_int_equal(workload->failed, 0);
        assert_true(workload->flows > 0 && workload->delivered <= workload->flows);
        sum(&workload->flow_goodput);
        close_to(sum(&workload->pair_goodput), workload->goodput_bps);
    }
    assert_string_equal(by.workloads[1].type, "incast");
    assert_int_equal(by.workloads[0].pair_goodput.count, 20);
    assert_int_equal(by.workloads[1].pair_goodput.count, 3);
    /* Equal to the NICs' counters, except for messages that were under way at either end. */
    close_to((double)bytes, (double)totals.nic.delivered_bytes);
    assert_true(goodputs <= flows && flows - goodputs <= 30);
    assert_true(delivered < flows && 2 * delivered > flows);
}

/*
 * A flow that begins in warm-up and lasts for the whole run is no measured transfer. Its pair still
 * has a goodput: the part of the link that the other pair leaves while it waits for its short
 * transfers.
 */
static void pairs_of_long_flows(void **state)
{
    (void)state;
    take(DUMBBELL, LONG_AND_SHORT, "warmup=400us");
    const struct oche_workload_outcome *one = &by.workloads[0], *other = &by.workloads[1];

    assert_int_equal(one->flows, 0);
    assert_int_equal(one->flow_goodput.count, 0);
    assert_int_equal(one->pair_goodput.count, 1);
    assert_int_equal(one->pair_goodput.values[0], one->goodput_bps);
    assert_in_range(one->goodput_bps, 15e9, 35e9);
    assert_int_equal(other->pair_goodput.count, 2); /* 1>4 is named twice, and is one pair */
    /* A link of 40 Gbit/s less headers and the other direction's ACKs. */
    assert_in_range(one->pair_goodput.values[0] + other->pair_goodput.values[0], 34e9, 37.1e9);
    close_to(other->goodput_bps, sum(&other->pair_goodput));
    /* it has the link alone, but waits for ACKs */
    assert_in_range(other->pair_goodput.values[1], 15e9, 25e9);
}

/*
 * The bytes that applications produce, and how many have not arrived: almost none if there is room,
 * otherwise everything above the line rate.
 */
static void offered_and_backlog(void **state)
{
    double rate = 6 * 40e9, seconds;

    (void)state;
    take(DUMBBELL, "workload={type: long_flows, load_of: host, load: 0.02, share: 0.5, spread: 0}",
         "warmup=200us");
    seconds = (double)measured / 1e12;
    close_to(by.workloads[0].offered_bps, 0.01 * rate);
    close_to(by.workloads[0].goodput_bps, 0.01 * rate);
    assert_true(by.workloads[0].backlog_bytes < 6 * 4096);
    /* Six hosts that offer three times what their links carry. */
    take(DUMBBELL, "workload={type: long_flows, load_of: host, load: 3, share: 1, spread: 0}",
         "warmup=200us");
    assert_true((double)measured / 1e12 == seconds);
    close_to(by.workloads[0].offered_bps, 3 * rate);
    assert_true(by.workloads[0].goodput_bps < rate);
    close_to((double)by.workloads[0].backlog_bytes,
             3 * rate / 8 * (seconds + 200e-6) -
                 (double)by.workloads[0].delivered_bytes * (seconds + 200e-6) / seconds);
}

/* Metrics have the same numbers. They are absent where there is no number. */
static void as_metrics(void **state)
{
    static const char *const sets[] = {DUMBBELL, LONG_AND_SHORT, "warmup=400us",
                                       "congestion_control=none", "measure.queues="};
    struct oche_point_result point;
    const struct oche_sorted_values *flows = &by.workloads[1].flow_goodput,
                                    *pairs = &by.workloads[1].pair_goodput;

    (void)state; /* after pairs_of_long_flows */
    oche_point_run(SCENARIO, sets, 5, &point);
    assert_int_equal(point.status, OCHE_POINT_DONE);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"workload.0.flows", 0},
        {"workload.0.goodput", by.workloads[0].goodput_bps},
        {"workload.0.pair_goodput.p10", by.workloads[0].pair_goodput.values[0]},
        {"workload.1.flows", (double)by.workloads[1].flows},
        {"workload.1.delivered", (double)by.workloads[1].delivered},
        {"workload.1.failed", 0},
        {"workload.1.delivered_bytes", (double)by.workloads[1].delivered_bytes},
        {"workload.1.flow_goodput.min", flows->values[0]},
        {"workload.1.flow_goodput.p10", oche_percentile_real(flows->values, flows->count, 100)},
        {"workload.1.flow_goodput.p50", oche_percentile_real(flows->values, flows->count, 500)},
        {"workload.1.flow_goodput.p90", oche_percentile_real(flows->values, flows->count, 900)},
        {"workload.1.flow_goodput.max", flows->values[flows->count - 1]},
        {"workload.1.pair_goodput.min", pairs->values[0]},
        {"workload.1.pair_goodput.mean", (pairs->values[0] + pairs->values[1]) / 2},
        {"workload.1.pair_goodput.max", pairs->values[1]},
    };
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        if (!(oche_point_metric(&point, rows[i].name) == rows[i].value))
            fail_msg("%s: %g instead of %g", rows[i].name, oche_point_metric(&point, rows[i].name),
                     rows[i].value);
    assert_true(isnan(oche_point_metric(&point, "workload.0.flow_goodput.p50")));
    assert_true(isnan(oche_point_metric(&point, "workload.2.flows")));
    oche_point_free(&point);
}

static int clean_up(void **state)
{
    (void)state;
    oche_by_workload_free(&by);
    oche_world_free(world);
    oche_scenario_close(scenario);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up),
        cmocka_unit_test(offered_and_backlog),
        cmocka_unit_test(pairs_of_long_flows),
        cmocka_unit_test(as_metrics),
    };

    return cmocka_run_group_tests(tests, NULL, clean_up);
}
