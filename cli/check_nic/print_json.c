/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the result of `oche check-nic` as JSON. All times are in nanoseconds. */
#include <stdio.h>

#include "cli/check_nic/result.h"
#include "cli/json_line.h"
#include "core/qp/adapter_counters.h"

static double ns_of(oche_time time)
{
    return (double)time / (double)OCHE_NS;
}

static struct json_object *end_of(const struct oche_nic_end *end)
{
    struct json_object *object = oche_json_object();

    oche_json_add_text(object, "nic", end->name);
    oche_json_add(object, "sends_cnps", oche_json_truth(end->notifies));
    oche_json_add(object, "reacts_to_cnps", oche_json_truth(end->reacts));
    return object;
}

static struct json_object *verdict_of(const struct oche_check_result *result, unsigned judge)
{
    const struct oche_nic_verdict *verdict = &result->check.verdicts[judge];
    struct json_object *object = oche_json_object();

    oche_json_add_text(object, "judge", oche_nic_judge_name((enum oche_nic_judge)judge));
    oche_json_add_text(object, "verdict",
                       verdict->wrong    ? "wrong"
                       : verdict->judged ? "right"
                                         : "nothing to judge");
    if (!verdict->wrong)
        return object;
    oche_json_add_text(object, "why", verdict->what);
    oche_json_add_int(object, "stream", verdict->stream);
    if (verdict->at != SIZE_MAX)
        oche_json_add_int(object, "packet", result->watched.trace.packets[verdict->at].number);
    return object;
}

static struct json_object *verdicts_of(const struct oche_check_result *result)
{
    struct json_object *array = oche_json_array(OCHE_JUDGES);

    for (unsigned i = 0; i < OCHE_JUDGES; i++)
        oche_json_push(array, verdict_of(result, i));
    return array;
}

static void add_samples(struct json_object *array, const char *name,
                        const struct oche_nic_samples *samples)
{
    struct json_object *object;

    if (samples->count == 0)
        return;
    object = oche_json_object();
    oche_json_add_text(object, "latency", name);
    oche_json_add_int(object, "samples", samples->count);
    oche_json_add(object, "median_ns", oche_json_exact(ns_of(oche_nic_median(samples))));
    oche_json_add(object, "least_ns", oche_json_exact(ns_of(samples->list[0])));
    oche_json_add(object, "most_ns", oche_json_exact(ns_of(samples->list[samples->count - 1])));
    oche_json_push(array, object);
}

static struct json_object *latencies_of(const struct oche_check_nic *check)
{
    struct json_object *array = oche_json_array(0);

    for (int reads = 0; reads < 2; reads++)
        for (unsigned i = 0; i < OCHE_LATENCIES; i++)
            add_samples(array, oche_check_latency_name(i, reads), &check->latencies[reads][i]);
    add_samples(array, "CNP after its mark", &check->cnps.delays);
    return array;
}

static struct json_object *cnps_of(const struct oche_nic_cnps *cnps)
{
    static const char *const scopes[OCHE_NIC_SCOPES] = {"queue_pair", "destination", "port"};
    struct json_object *object = oche_json_object(), *array = oche_json_array(0);

    oche_json_add_int(object, "sent", cnps->sent);
    oche_json_add_int(object, "marks", cnps->marks);
    oche_json_add_int(object, "nacks", cnps->naks);
    oche_json_add(object, "interval_ns", oche_json_exact(ns_of(cnps->interval)));
    for (int naks = 0; naks < 2; naks++)
        for (unsigned i = 0; i < OCHE_NIC_SCOPES; i++) {
            struct json_object *fit = oche_json_object();

            oche_json_add_text(fit, "scope", scopes[i]);
            oche_json_add(fit, "nak_brings_cnp", oche_json_truth(naks != 0));
            oche_json_add_int(fit, "expected", cnps->expected[naks][i]);
            oche_json_add(fit, "fits", oche_json_truth(cnps->fits[naks][i]));
            oche_json_push(array, fit);
        }
    oche_json_add(object, "scopes", array);
    return object;
}

static struct json_object *counters_of(const struct oche_nic_counters *counters)
{
    struct json_object *object = oche_json_object();

    for (size_t i = 0; i < oche_check_counter_count; i++)
        oche_json_add_int(object, oche_check_counters[i].name, oche_check_counted(counters, i));
    return object;
}

/* The simulated adapters' own counters, both together. */
static struct json_object *counted_by(const struct oche_nic_stats *stats)
{
    struct json_object *object = oche_json_object();

    for (unsigned i = 0; i < OCHE_ADAPTER_HW_COUNTERS; i++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(i);

        if (counter.counted && !counter.of_port)
            oche_json_add_int(object, counter.name, oche_adapter_count(i, stats, NULL));
    }
    return object;
}

static struct json_object *packets_of(const struct oche_nic_trace *trace)
{
    struct json_object *array = oche_json_array(0);

    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *packet = &trace->packets[i];
        struct json_object *object = oche_json_object();

        oche_json_add_int(object, "packet", packet->number);
        oche_json_add(object, "ns", oche_json_exact(ns_of(packet->when)));
        oche_json_add_int(object, "stream", packet->stream);
        oche_json_add_text(object, "kind", oche_seen_kind_name(packet->kind));
        if (packet->kind != OCHE_SEEN_CNP)
            oche_json_add_int(object, "psn",
                              (packet->psn - trace->streams[packet->stream].first) & OCHE_PSN_MASK);
        oche_json_add_text(object, "event", oche_check_event_name(packet->event));
        oche_json_push(array, object);
    }
    return array;
}

void oche_check_print_json(const struct oche_check_result *result, bool packets)
{
    struct json_object *object = oche_json_object(), *events = oche_json_object();
    const char *direction = oche_check_one_direction(result);

    oche_json_add_text(object, "test", result->path);
    oche_json_add_text(object, "from",
                       result->capture_count == 0 ? "simulation"
                       : result->capture.mirror   ? "mirror"
                                                  : "capture");
    oche_json_add(object, "right", oche_json_truth(oche_check_is_right(result)));
    oche_json_add(object, "requester", end_of(&result->test.requester));
    oche_json_add(object, "responder", end_of(&result->test.responder));
    oche_json_add(object, "verdicts", verdicts_of(result));
    oche_json_add(object, "latencies", latencies_of(&result->check));
    oche_json_add(object, "cnps", cnps_of(&result->check.cnps));
    oche_json_add(object, "counters", counters_of(&result->check.counters));
    if (result->capture_count == 0)
        oche_json_add(object, "counted", counted_by(&result->simulated.counted));
    oche_json_add_int(events, "listed", result->watched.events);
    oche_json_add_int(events, "happened", result->watched.events_seen);
    oche_json_add_int(events, "contradicted", result->watched.contradicted);
    oche_json_add(object, "events", events);
    oche_json_add_int(object, "gaps_without_nack", result->check.gaps_without_nak);
    oche_json_add_int(object, "cnps_of_its_own", result->check.own_cnps);
    oche_json_add_int(object, "failed_messages", result->simulated.failed);
    oche_json_add_int(object, "packets_left_out", result->watched.strangers);
    oche_json_add_int(object, "packets_missing", result->capture.missing);
    oche_json_add_int(object, "packets_cut", result->capture.cut);
    oche_json_add_int(object, "packets_earlier", result->capture.earlier);
    if (direction != NULL)
        oche_json_add_text(object, "one_direction", direction);
    if (packets)
        oche_json_add(object, "packets", packets_of(&result->watched.trace));
    oche_json_print(object, stdout);
    putchar('\n');
}
