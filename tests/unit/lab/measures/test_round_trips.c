/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips that senders measured, rates that senders assume, rates by window, and round trips of
 * a probe. The metrics equal the values in the endpoints and flows, without warm-up.
 */
#include "lab/measures/round_trips.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/outcome.h"
#include "sim/measure/percentile.h"
#include "sim/network/host.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

#define STAR "topology={type: star, hosts: 5, host_rate: 10Gbps, delay: 400ns}"
#define FLOWS                                                                                      \
    "workload=[{type: transfers, pairs: [1>0, 2>0, 3>0], bytes: 3MB, messages: 1, stagger: 1ms},"  \
    "{type: transfers, pairs: 4>0, bytes: 1B, messages: 40, start: 2400us}]"
#define WARMUP   (2500 * OCHE_US)
#define INTERVAL (500 * OCHE_US)

static struct oche_error error;
static struct oche_scenario *scenario;
static struct oche_world *world;
static struct oche_outcome outcome;

static int take(void **state)
{
    const char *sets[] = {
        STAR,
        FLOWS,
        "warmup=2500us",
        "duration=8ms",
        "stop_when_done=false",
        "host={connections: per_pair}",
        "switch={pfc: false}",
        "congestion_control={name: rogue, hold_off_bytes: 0, segment_bytes: 16KiB}",
        "measure={interval: 500us}"};

    (void)state;
    scenario = oche_scenario_open("tests/scenarios/pauses.yaml", sets, OCHE_COUNT_OF(sets), &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    world = oche_world_create(&scenario->config, &error);
    if (world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(world, NULL, NULL);
    oche_outcome_take(&outcome, world, "one", 1);
    return 0;
}

static int give_back(void **state)
{
    (void)state;
    oche_outcome_free(&outcome);
    oche_world_free(world);
    oche_scenario_close(scenario);
    return 0;
}

struct wanted {
    const char *name, *unit;
    double value;
    bool found;
};

static void look(void *context, const char *name, const char *unit, double value)
{
    struct wanted *wanted = context;

    if (strcmp(name, wanted->name) != 0)
        return;
    assert_string_equal(unit, wanted->unit);
    wanted->found = true;
    wanted->value = value;
}

static void assert_metric(const char *name, const char *unit, double value)
{
    struct wanted wanted = {.name = name, .unit = unit};

    oche_metrics_each(&outcome, look, &wanted);
    if (!wanted.found || !(wanted.value == value))
        fail_msg("%s: %.17g instead of %.17g", name, wanted.found ? wanted.value : NAN, value);
}

static void of_samples(void **state)
{
    static double rtts[10000], estimates[10000];
    size_t count = 0, before = 0;

    (void)state;
    for (uint32_t host = 0; host < 5; host++)
        for (const struct oche_rtt_chunk *chunk = oche_host_rtts(oche_world_host(world, host));
             chunk != NULL; chunk = chunk->before)
            for (uint32_t i = 0; i < chunk->count; i++) {
                if (chunk->samples[i].when < WARMUP) {
                    before++;
                    continue;
                }
                rtts[count] = (double)chunk->samples[i].rtt / 1e12;
                estimates[count++] =
                    (double)chunk->samples[i].window_bytes * 8e12 / (double)chunk->samples[i].rtt;
            }
    assert_true(before > 20 && count > 100);
    oche_sort_real(rtts, count);
    oche_sort_real(estimates, count);
    assert_int_equal(outcome.round_trips.rtt.count, count);
    assert_metric("rtt.min", "s", rtts[0]);
    assert_metric("rtt.p10", "s", oche_percentile_real(rtts, count, 100));
    assert_metric("rtt.p50", "s", oche_percentile_real(rtts, count, 500));
    assert_metric("rtt.p99", "s", oche_percentile_real(rtts, count, 990));
    assert_metric("rtt.max", "s", rtts[count - 1]);
    assert_metric("estimate.p10", "bps", oche_percentile_real(estimates, count, 100));
    assert_metric("estimate.p50", "bps", oche_percentile_real(estimates, count, 500));
    assert_metric("estimate.p90", "bps", oche_percentile_real(estimates, count, 900));
}

/* Windows in which a flow runs from begin to end. The probe's flows are short and have none. */
static void by_window(void **state)
{
    const struct oche_flows *flows = oche_world_flows(world);
    const struct oche_sorted_values *got = &outcome.round_trips.interval_goodput;
    size_t whole = 0, windows = 0;
    double sum = 0, all = 0;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(flows->plan[i].bytes, 3000000);
        for (oche_time at = WARMUP; at + INTERVAL <= 8 * OCHE_MS; at += INTERVAL, windows++)
            whole += flows->sent[i].started <= at && flows->received[i].delivered >= at + INTERVAL;
    }
    for (size_t i = 0; i < got->count; i++)
        sum += got->values[i];
    for (uint32_t i = 0; i < 3 * outcome.rates.windows; i++)
        all += outcome.rates.rates[i];
    assert_int_equal(got->count, whole);
    assert_true(whole > 12 && whole < windows); /* they start and end within the run */
    assert_true(sum < all && sum > 0.6 * all);
    assert_metric("interval_goodput.p50", "bps", oche_percentile_real(got->values, whole, 500));
    assert_metric("interval_goodput.min", "bps", got->values[0]);
    assert_true(got->values[0] > 1e8); /* not a window without the flow */
    assert_true(got->values[whole - 1] < 9.5e9);
}

static void of_a_probe(void **state)
{
    static double times[40];
    const struct oche_flows *flows = oche_world_flows(world);
    size_t count = 0;

    (void)state;
    for (uint32_t i = 3; i < flows->count; i++)
        if (flows->sent[i].started != OCHE_NEVER && flows->sent[i].started >= WARMUP &&
            flows->sent[i].completed != OCHE_NEVER) {
            assert_true(flows->sent[i].completed > flows->received[i].delivered);
            times[count++] = (double)(flows->sent[i].completed - flows->sent[i].started) / 1e12;
        }
    assert_true(count > 5);
    oche_sort_real(times, count);
    assert_metric("workload.1.round_trip.p50", "s", oche_percentile_real(times, count, 500));
    assert_metric("workload.1.round_trip.p90", "s", oche_percentile_real(times, count, 900));
    assert_metric("workload.1.round_trip.max", "s", times[count - 1]);
    assert_true(times[0] > 1.6e-6); /* four links' delay */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_samples),
        cmocka_unit_test(by_window),
        cmocka_unit_test(of_a_probe),
    };

    return cmocka_run_group_tests(tests, take, give_back);
}
