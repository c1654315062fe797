/* SPDX-License-Identifier: Apache-2.0 */
/* Every number of a run has a name, and every name leads to its number. */
#include "lab/measures/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/point.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"

#define PAUSES     "tests/scenarios/pauses.yaml"
#define DEFLECTION "scenarios/deflection.yaml"

static struct oche_error error;

static void check_one(void *context, const char *name, const char *unit, double value)
{
    unsigned *count = context;

    (*count)++;
    assert_true(value == value); /* NAN is none */
    if (oche_metric_help(name) == NULL || strcmp(oche_metric_unit(name), unit) != 0 ||
        !oche_metric_check(name, &error))
        fail_msg("%s is not known", name);
    assert_non_null(oche_metric_unit_named(unit));
    /* Each help text is complete in a results file, where no other text is near it. */
    assert_null(strstr(oche_metric_help(name), ": see "));
}

struct wanted {
    const char *name;
    double value;
    bool found;
};

static void find_wanted(void *context, const char *name, const char *unit, double value)
{
    struct wanted *wanted = context;

    (void)unit;
    if (strcmp(wanted->name, name) != 0)
        return;
    wanted->found = true;
    wanted->value = value;
}

static double metric_of(const struct oche_outcome *o, const char *name)
{
    struct wanted wanted = {.name = name, .value = NAN};

    oche_metrics_each(o, find_wanted, &wanted);
    return wanted.value;
}

/* Dart's shares of the traffic: of packets as sent, of bytes as links carried them. */
static void test_dart(void **state)
{
    static const char *const schemes[] = {"congestion_control=dart", "congestion_control=dcqcn"};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct oche_scenario *scenario = oche_scenario_open(PAUSES, &schemes[i], 1, &error);
        struct oche_outcome o;
        assert_non_null(scenario);
        struct oche_world *world = oche_world_create(&scenario->config, &error);
        assert_non_null(world);
        oche_world_run(world, NULL, NULL);
        oche_outcome_take(&o, world, "", 1);
        const struct oche_nic_stats *nic = &o.totals.nic;
        const double acks = (double)(nic->acks_sent + nic->naks_sent);
        const double packets = acks + (double)(nic->data_packets_sent + nic->rnr_naks_sent +
                                               nic->cnps_sent + nic->cc_packets_sent);
        if (i == 1) {
            assert_true(isnan(metric_of(&o, "dart.updates")));
            assert_true(isnan(metric_of(&o, "dart.share_acks.bytes_share")));
            assert_true(isnan(metric_of(&o, "dart.groups.void")));
        } else {
            assert_true(metric_of(&o, "dart.updates") == (double)nic->cc_packets_sent);
            assert_true(metric_of(&o, "dart.share_acks") == acks && acks > 0);
            assert_true(metric_of(&o, "dart.share_acks.packets_share") == acks / packets);
            /* Ethernet 14 and 4, IPv4 20, UDP 8, BTH 12, AETH 4, a share 4, ICRC 4; gap 20. */
            const double bytes = metric_of(&o, "dart.share_acks.bytes_share") / acks;
            const double each =
                metric_of(&o, "dart.updates.bytes_share") / (double)nic->cc_packets_sent;
            assert_true(fabs(bytes * (double)o.host_line_bytes - 90) < 1e-6);
            assert_true(fabs(each * (double)o.host_line_bytes - 86) < 1e-6);
            assert_true((double)nic->data_bytes_sent + acks * 90 < (double)o.host_line_bytes);
            assert_true(metric_of(&o, "dart.groups") > 0);
            assert_true(metric_of(&o, "dart.groups.void") == 0);
        }
        oche_outcome_free(&o);
        oche_world_free(world);
        oche_scenario_close(scenario);
    }
}

/* A run with losses, PAUSEs and a watched queue: each value against its source. */
static void test_values(void **state)
{
    static const char *const sets[] = {"measure.queues=tor0:host0", "loss.probability=1%"};
    struct oche_scenario *scenario = oche_scenario_open(PAUSES, sets, 2, &error);
    struct oche_outcome o;
    struct oche_point_result point;
    unsigned count = 0;

    (void)state;
    assert_non_null(scenario);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    assert_non_null(world);
    oche_world_run(world, NULL, NULL);
    oche_outcome_take(&o, world, "", 1);
    oche_metrics_each(&o, check_one, &count);
    oche_point_run(PAUSES, sets, 2, &point);
    assert_int_equal(point.status, OCHE_POINT_DONE);
    assert_int_equal(point.metric_count, count);
    const struct oche_completion_row *all = &o.sizes[OCHE_OUTCOME_SIZES];
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"flows.started", (double)o.flows},
        {"flows.all.delivered", (double)o.delivered},
        {"fct.all.p99", (double)all->time[OCHE_P99] / 1e12},
        {"fct.below_100KB.p90", (double)o.sizes[OCHE_OUTCOME_SHORT].time[OCHE_P90] / 1e12},
        {"fct.all.max", (double)all->time_max / 1e12},
        {"slowdown.all.p99.9", all->slowdown[OCHE_P999]},
        {"goodput", (double)oche_rate_of(o.totals.nic.delivered_bytes, o.totals.measured)},
        {"jain", o.jain},
        {"host_goodput.max", o.host_goodput_most},
        {"host_goodput.min", o.host_goodput_least},
        {"host_goodput.jain", o.host_jain},
        {"retransmitted_packets", (double)o.totals.nic.retransmitted_packets},
        {"naks", (double)o.totals.nic.naks_sent},
        {"lost", (double)o.totals.lost_packets},
        {"lost.host_nic", (double)o.lost[OCHE_PLACE_HOST_NIC]},
        {"lost.tor_to_host", (double)o.lost[OCHE_PLACE_TO_HOST]},
        {"utilisation.tor_to_host.max", o.utilisation[OCHE_PLACE_TO_HOST].largest},
        {"packets.tor_to_host", (double)o.marks[OCHE_PLACE_TO_HOST].packets},
        {"marks.tor_to_host", (double)o.marks[OCHE_PLACE_TO_HOST].marks},
        {"congestion.tor_to_host.marks", (double)o.congestion[OCHE_WHERE_TO_HOST].marks},
        {"congestion.all.queueing_share", 1},
        {"congestion.tor_to_host.queue_max", (double)o.congestion[OCHE_WHERE_TO_HOST].queue_most},
        {"congestion.host_nic.pause_time", (double)o.pauses[OCHE_NODE_HOST].received_time / 1e12},
        {"pauses", (double)o.totals.pauses_sent},
        {"pauses.tor", (double)o.pauses[OCHE_NODE_TOR].sent},
        {"pause_time.host", (double)o.pauses[OCHE_NODE_HOST].received_time / 1e12},
        {"queue.tor0:host0.p99", (double)o.queues[0].occupancy.percentile[OCHE_P99]},
        {"queue.tor0:host0.max", (double)o.queues[0].occupancy.max_bytes},
        {"flow_goodput.min", o.samples[OCHE_SAMPLES_GOODPUT].values[0]},
        {"packet_hops", (double)o.totals.hops},
    };
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        double value = oche_point_metric(&point, rows[i].name);

        if (!(value == rows[i].value))
            fail_msg("%s: %g instead of %g", rows[i].name, value, rows[i].value);
    }
    assert_true(o.totals.pauses_sent > 0 && o.totals.lost_packets > 0);
    assert_true(isnan(oche_point_metric(&point, "queue.tor1:agg0.p50"))); /* not watched */
    assert_true(isnan(oche_point_metric(&point, "flow.0.goodput")));      /* too many flows */
    assert_true(point.hash == o.totals.hash);

    /* Distributions end where the metrics do. */
    assert_int_equal(point.distribution_count, 3);
    assert_string_equal(point.distributions[0].name, "fct");
    assert_true(point.distributions[0].count == o.delivered);
    assert_true(point.distributions[0].value[200] == (double)all->time_max / 1e12);
    assert_true(point.distributions[0].value[100] == (double)all->time[OCHE_P50] / 1e12);
    assert_true(point.distributions[1].value[180] == all->slowdown[OCHE_P90]);
    assert_true(point.distributions[2].value[0] == o.samples[OCHE_SAMPLES_GOODPUT].values[0]);
    oche_point_free(&point);
    oche_outcome_free(&o);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

/* By host: one host receives everything, so its value is the total. Flows of the warm-up count. */
static void test_host_goodput(void **state)
{
    static const char *const one[] = {"workload={type: incast, degree: 8, bytes: 2MB}"};
    static const char *const all[] = {"workload={type: permutation, bytes: 2MB, jitter: 400us}",
                                      "loss.probability=1%"};
    struct oche_point_result point;

    (void)state;
    oche_point_run(PAUSES, one, 1, &point);
    assert_int_equal(point.status, OCHE_POINT_DONE);
    double goodput = oche_point_metric(&point, "goodput");
    assert_true(goodput > 1e9);
    assert_true(isnan(oche_point_metric(&point, "jain"))); /* all began during warm-up */
    assert_true(oche_point_metric(&point, "host_goodput.min") == goodput);
    assert_true(oche_point_metric(&point, "host_goodput.max") == goodput);
    assert_true(oche_point_metric(&point, "host_goodput.jain") == 1);
    oche_point_free(&point);
    oche_point_run(PAUSES, all, 2, &point);
    goodput = oche_point_metric(&point, "goodput") / 16;
    assert_true(oche_point_metric(&point, "host_goodput.min") < 0.8 * goodput);
    assert_true(oche_point_metric(&point, "host_goodput.max") > 1.2 * goodput);
    assert_in_range(1000 * oche_point_metric(&point, "host_goodput.jain"), 100, 990);
    oche_point_free(&point);
}

static const char *const good[] = {"goodput",
                                   "fct.10KB_to_100KB.p99.9",
                                   "fct.below_100KB.p50",
                                   "host_goodput.min",
                                   "slowdown.10MB_and_more.mean",
                                   "flow.0.goodput",
                                   "flow.15.goodput",
                                   "workload.0.flow_goodput.p10",
                                   "workload.31.pair_goodput.p50",
                                   "pair.3.goodput.p50",
                                   "queue.tor0:host0.p99",
                                   "queue.a.b.p50",
                                   "drops.core",
                                   "drops.ttl",
                                   "dart.groups.void",
                                   "dart.updates.packets_share",
                                   "credits.wasted"};
static const char *const bad[] = {"",
                                  "good",
                                  "goodputs",
                                  "fct.p99",
                                  "fct..p99",
                                  "fct.SIZE.p99",
                                  "fct.tiny.p99",
                                  "fct.all.p98",
                                  "queue..p99",
                                  "queue.p99",
                                  "flow.x.goodput",
                                  "pair.all.goodput.p50",
                                  "pair.0.goodput.p99",
                                  "flow..goodput",
                                  "flow.01.goodput",
                                  "flow.1234.goodput",
                                  "workload.goodput",
                                  "workload.x.goodput",
                                  "workload.0.goodput.p10",
                                  "drops.nowhere",
                                  "iofd",
                                  "iofd.",
                                  "iofd.entries",
                                  "MECHANISM.COUNTER",
                                  "SCHEME.COUNTER",
                                  "dart",
                                  "dart.",
                                  "dart.groups.packets_share",
                                  "dart.packets_share",
                                  "credits.groups",
                                  "iofd.path_dilation.mean",
                                  "pauses.ToR",
                                  "xfct.all.p99"};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(good); i++)
        if (!oche_metric_check(good[i], &error))
            fail_msg("%s", error.text);
    for (size_t i = 0; i < OCHE_COUNT_OF(bad); i++)
        if (oche_metric_check(bad[i], &error))
            fail_msg("%s is taken for a metric", bad[i]);
    assert_false(oche_metric_check("gootput", &error));
    assert_string_equal(error.text,
                        "gootput: no such metric; perhaps goodput? oche sweep --metrics "
                        "lists them");
    assert_false(oche_metric_check("iofd.deflection", &error));
    assert_string_equal(error.text,
                        "iofd.deflection: no such metric; perhaps iofd.deflections? oche "
                        "sweep --metrics lists them");
    assert_false(oche_metric_check("dart.update", &error));
    assert_string_equal(error.text, "dart.update: no such metric; perhaps dart.updates? oche sweep "
                                    "--metrics lists them");
    assert_string_equal(oche_metric_help("dart.share_acks"), "ACKs and NAKs that carried a share");
    assert_string_equal(oche_metric_help("dart.share_acks.packets_share"),
                        "share of all packets that hosts sent");
    assert_string_equal(oche_metric_unit("dart.share_acks"), "count");
    assert_null(oche_metric_unit_named("furlongs"));
}

/* Each counter of each mechanism has the help and the unit of its own row. */
static void test_mechanism_texts(void **state)
{
    (void)state;
    for (unsigned m = 0; oche_switch_mechanisms[m] != NULL; m++)
        for (unsigned c = 0; c < oche_switch_mechanisms[m]->counter_count; c++) {
            const struct oche_switch_counter *counter = &oche_switch_mechanisms[m]->counters[c];
            char name[64];

            snprintf(name, sizeof(name), "%s.%s", oche_switch_mechanisms[m]->name, counter->name);
            assert_string_equal(oche_metric_help(name), counter->help);
            assert_string_equal(oche_metric_unit(name), counter->bytes ? "bytes" : "count");
        }
    assert_string_equal(oche_metric_unit("ib_credits.peak"), "bytes");
    assert_string_equal(oche_metric_figure("ib_credits.peak", 8192).text, "8.19KB");
    assert_string_equal(oche_metric_help("iofd.refused_no_entry"),
                        "messages that met a queue above the threshold and were not deflected: "
                        "the table was full");
}

/* Mechanisms of switches: their counters, if there are any; path lengths against the shortest. */
static void test_mechanisms(void **state)
{
    static const char *const on[] = {"switch.mechanisms=iofd", "duration=1ms", "warmup=200us"};
    static const char *const off[] = {"switch.mechanisms=none", "duration=1ms", "warmup=200us"};
    static const char *const names[] = {"iofd.deflections", "iofd.path_dilation", "iofd.load_added",
                                        "iofd.links_added.mean", "iofd.flows_deflected"};
    struct oche_scenario *scenario = oche_scenario_open(DEFLECTION, on, 3, &error);
    struct oche_point_result with, without;
    struct oche_world_totals totals;
    struct oche_world_path_lengths ways;

    (void)state;
    assert_non_null(scenario);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    assert_non_null(world);
    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &totals);
    oche_world_path_lengths(world, &ways);
    oche_point_run(DEFLECTION, on, 3, &with);
    oche_point_run(DEFLECTION, off, 3, &without);
    assert_int_equal(with.status, OCHE_POINT_DONE);
    assert_int_equal(without.status, OCHE_POINT_DONE);
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++) {
        assert_true(oche_point_metric(&with, names[i]) > 0);
        assert_true(isnan(oche_point_metric(&without, names[i])));
    }
    for (unsigned c = 0; c < oche_switch_mechanisms[0]->counter_count; c++) {
        char name[64];

        snprintf(name, sizeof(name), "iofd.%s", oche_switch_mechanisms[0]->counters[c].name);
        assert_true(oche_point_metric(&with, name) == (double)totals.mechanisms[0][c]);
        assert_string_equal(oche_metric_unit(name), "count");
    }
    assert_true(ways.known && ways.deflected.flows < ways.short_ones.flows);
    assert_true(ways.all.packets > ways.short_ones.packets);
    /* Only deflected flows have longer paths. Those that began in warm-up are in the sum. */
    assert_true(ways.all.links - ways.all.shortest >=
                ways.deflected.links - ways.deflected.shortest);
    assert_int_equal(ways.short_ones.links - ways.short_ones.shortest,
                     ways.deflected.links - ways.deflected.shortest);
    assert_true(oche_point_metric(&with, "iofd.links_added.mean") ==
                (double)(ways.deflected.links - ways.deflected.shortest) /
                    (double)ways.deflected.packets);
    oche_point_free(&with);
    oche_point_free(&without);
    oche_world_free(world);
    oche_scenario_close(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_dart),
        cmocka_unit_test(test_host_goodput), cmocka_unit_test(test_mechanisms),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_mechanism_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
