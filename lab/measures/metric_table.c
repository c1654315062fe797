/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics, one row each. */
#include "lab/measures/metric_table.h"

#include "core/qp/adapter_counters.h"
#include "lab/measures/scheme_counters.h"

#define BOTH true

static double goodput(const struct oche_outcome *o)
{
    return (double)oche_rate_of(o->totals.nic.delivered_bytes, o->totals.measured);
}

static double adapter_count(const struct oche_outcome *o, unsigned which)
{
    return (double)oche_adapter_count(which, &o->totals.nic, NULL);
}

static double load_alone(const struct oche_outcome *o)
{
    return o->load.alone;
}

/* A struct source: the kind of value, then where the value is. */
#define FROM(kind, ...)                                                                            \
    {                                                                                              \
        kind, __VA_ARGS__                                                                          \
    }
/* Where to find a value in an outcome: a member, or a member of each element of an array. */
#define SIZE_OF(member)   sizeof(((struct oche_outcome *)0)->member)
#define OUTCOME(member)   .at = offsetof(struct oche_outcome, member)
#define TOTAL(member)     OUTCOME(totals.member)
#define NIC(member)       OUTCOME(totals.nic.member)
#define GOODPUTS          OUTCOME(samples[OCHE_SAMPLES_GOODPUT])
#define TRIPS(member)     OUTCOME(round_trips.member)
#define THRESHOLD(member) OUTCOME(thresholds.member)
#define EACH(array)       OUTCOME(array), .stride = SIZE_OF(array[0])
#define ALL(array)        EACH(array), .count = SIZE_OF(array) / SIZE_OF(array[0])
#define OF(array, member) OUTCOME(array[0].member), .stride = SIZE_OF(array[0])
#define SIZES(member)     OF(sizes, member)
#define PACKETS(member)   OF(size_packets, member)
#define USE(member)       OF(utilisation, member)
#define LOAD(member)      OUTCOME(load.member)
#define LOAD_USE(member)  OF(load.utilisation, member)
#define MARKS(member)     OF(marks, member)
#define WHERE(member)     OF(congestion, member)
#define UPLINKS(member)   OF(imbalance, member)
#define PAUSES(member)    OF(pauses, member)
#define PAIR(member)      OF(pairs, member)
#define LISTED(member)    OF(listed, member)
/*
 * Members of the elements of arrays that the outcome points to. Offsets count from an element's
 * beginning.
 */
#define QUEUE(member)                                                                              \
    .at = offsetof(struct oche_outcome_queue, occupancy.member),                                   \
    .stride = sizeof(struct oche_outcome_queue)
#define WORKLOAD(member)                                                                           \
    .at = offsetof(struct oche_workload_outcome, member),                                          \
    .stride = sizeof(struct oche_workload_outcome)
/* The divisor of a quotient. OVER: the same for all subjects; OVER_EACH: one per array element. */
#define OVER(member)             .over = offsetof(struct oche_outcome, member)
#define OVER_EACH(array, member) OVER(array[0].member), .over_stride = SIZE_OF(array[0])
/* The metric exists only if this member of the outcome is not 0. */
#define ANY(member)                                                                                \
    {                                                                                              \
        offsetof(struct oche_outcome, member), SIZE_OF(member)                                     \
    }

/*
 * Rows of a distribution, one for each statistic. Arguments: the metric's name, unit and subject;
 * whether a fluid model has it; help; what a mean or percentile is over and what an extreme is of;
 * where the struct oche_sorted_values is.
 */
#define MEAN_ROW(name, unit, of, fluid, what, over, among, ...)                                    \
    {                                                                                              \
        name ".mean", unit, of, FROM(MEAN, __VA_ARGS__), what ": mean" over, fluid                 \
    }
#define PERCENTILE_ROW(name, at, words, unit, of, fluid, what, ...)                                \
    {                                                                                              \
        name, unit, of, FROM(PERCENTILE, __VA_ARGS__, .thousandths = at), what ": " words, fluid   \
    }
#define MIN_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".min", 0, "smallest" among, unit, of, fluid, what, __VA_ARGS__)
#define P10_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".p10", 100, "10th percentile" over, unit, of, fluid, what, __VA_ARGS__)
#define P50_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".p50", 500, "median" over, unit, of, fluid, what, __VA_ARGS__)
#define P90_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".p90", 900, "90th percentile" over, unit, of, fluid, what, __VA_ARGS__)
#define P99_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".p99", 990, "99th percentile" over, unit, of, fluid, what, __VA_ARGS__)
#define MAX_ROW(name, unit, of, fluid, what, over, among, ...)                                     \
    PERCENTILE_ROW(name ".max", 1000, "largest" among, unit, of, fluid, what, __VA_ARGS__)

#define MEAN_P10_P50_P90(...)                                                                      \
    MEAN_ROW(__VA_ARGS__), P10_ROW(__VA_ARGS__), P50_ROW(__VA_ARGS__), P90_ROW(__VA_ARGS__)
#define MEAN_MIN_P10_P50_P90(...)                                                                  \
    MEAN_ROW(__VA_ARGS__), MIN_ROW(__VA_ARGS__), P10_ROW(__VA_ARGS__), P50_ROW(__VA_ARGS__),       \
        P90_ROW(__VA_ARGS__)
#define MEAN_MIN_P10_P50_P90_MAX(...) MEAN_MIN_P10_P50_P90(__VA_ARGS__), MAX_ROW(__VA_ARGS__)
#define MEAN_P50_P90_P99_MAX(...)                                                                  \
    MEAN_ROW(__VA_ARGS__), P50_ROW(__VA_ARGS__), P90_ROW(__VA_ARGS__), P99_MAX(__VA_ARGS__)
#define P99_MAX(...) P99_ROW(__VA_ARGS__), MAX_ROW(__VA_ARGS__)

/* The same of flows by size, whose percentiles are in struct oche_completion_row. */
#define BY_SIZE(name, unit, kind, member, what)                                                    \
    {name ".p50", unit, OF_DELIVERED, FROM(kind, SIZES(member[OCHE_P50])), what ", median"},       \
        {name ".p90", unit, OF_DELIVERED, FROM(kind, SIZES(member[OCHE_P90])),                     \
         what ", 90th percentile"},                                                                \
        {name ".p99", unit, OF_DELIVERED, FROM(kind, SIZES(member[OCHE_P99])),                     \
         what ", 99th percentile"},                                                                \
        {name ".p99.9", unit, OF_DELIVERED, FROM(kind, SIZES(member[OCHE_P999])),                  \
         what ", 99.9th percentile"},                                                              \
        {name ".mean", unit, OF_DELIVERED, FROM(kind, SIZES(member##_mean)), what ", mean"},       \
    {                                                                                              \
        name ".max", unit, OF_DELIVERED, FROM(kind, SIZES(member##_max)), what ", largest"         \
    }

#define PAIR_ROW(statistic, member, words)                                                         \
    {                                                                                              \
        "pair.N.goodput." statistic, BPS, OF_PAIR, FROM(REAL, PAIR(member)),                       \
            "goodput of a transfer between hosts of pair N: " words " pair.N.counted"              \
    }

#define QUEUE_ROW(statistic, percentile_, share)                                                   \
    {                                                                                              \
        "queue.PORT." statistic, BYTES, OF_PORT, FROM(COUNTER, QUEUE(percentile[percentile_])),    \
            "queue of a port in measure.queues: what it did not exceed for " share " of the time " \
            "(packets: rounded down to measure.queue_step)",                                       \
            BOTH                                                                                   \
    }

/* A metric of the flows that lost packets to failures, or of the others. */
#define FAILURE_ROW(name, unit, kind, member, if_any, what)                                        \
    {                                                                                              \
        name, unit, OF_RUN, FROM(kind, OUTCOME(failures.member)), what,                            \
            .only_if = ANY(failures.if_any)                                                        \
    }
#define FAILURES(name, member, what)                                                               \
    FAILURE_ROW(name ".flows", COUNT, COUNTER, member.times.flows, count, what),                   \
        FAILURE_ROW(name ".flows.delivered", COUNT, COUNTER, member.times.delivered, count,        \
                    name ".flows that were delivered"),                                            \
        FAILURE_ROW(name ".flows.failed", COUNT, COUNTER, member.times.failed, count,              \
                    name ".flows that ended in an error"),                                         \
        FAILURE_ROW(name ".timeouts", COUNT, COUNTER, member.timeouts, count,                      \
                    "ACK timers that ran out, of " name ".flows"),                                 \
        FAILURE_ROW(name ".retransmitted", COUNT, COUNTER, member.retransmitted, count,            \
                    "data packets sent again, of " name ".flows"),                                 \
        FAILURE_ROW(name ".fct.p50", SECONDS, PICOSECONDS, member.times.time[OCHE_P50],            \
                    member.times.delivered, "completion time of " name ".flows, median"),          \
        FAILURE_ROW(name ".fct.p99", SECONDS, PICOSECONDS, member.times.time[OCHE_P99],            \
                    member.times.delivered, "completion time of " name ".flows, 99th percentile"), \
        FAILURE_ROW(name ".fct.max", SECONDS, PICOSECONDS, member.times.time_max,                  \
                    member.times.delivered, "completion time of " name ".flows, largest"),         \
        FAILURE_ROW(name ".slowdown.p50", RATIO, REAL, member.times.slowdown[OCHE_P50],            \
                    member.times.delivered, "slowdown of " name ".flows, median"),                 \
        FAILURE_ROW(name ".slowdown.p99", RATIO, REAL, member.times.slowdown[OCHE_P99],            \
                    member.times.delivered, "slowdown of " name ".flows, 99th percentile")

const struct metric oche_metric_table[] = {
    /* Flows that began during warm-up are counted only in flows.in_warmup and flows.whole_run. */
    {"flows.started", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(flows)),
     "flows that started after warm-up"},
    {"flows.delivered", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(delivered)),
     "flows.started that were delivered completely before the end"},
    {"flows.unfinished", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(unfinished)),
     "flows.started that were neither delivered nor failed at the end"},
    {"flows.failed", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(failed)), "flows.started that failed"},
    {"flows.in_warmup", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(warmup_flows)),
     "flows that started during warm-up; flows.whole_run alone counts them"},
    {"flows.whole_run", COUNT, OF_RUN, FROM(COUNTER, TOTAL(flows)),
     "flows of the whole run, including those that started during warm-up or never started"},
    {"flows.whole_run.completed", COUNT, OF_RUN, FROM(COUNTER, TOTAL(flows_completed)),
     "flows.whole_run that were acknowledged completely"},
    {"acked.min", SECONDS, OF_RUN, FROM(PICOSECONDS, TOTAL(acked_first)),
     "least time from the start of a flow to its last ACK, in the whole run",
     .only_if = ANY(totals.flows_completed)},
    {"acked.max", SECONDS, OF_RUN, FROM(PICOSECONDS, TOTAL(acked_last)),
     "largest time from the start of a flow to its last ACK",
     .only_if = ANY(totals.flows_completed)},
    {"flows.whole_run.failed", COUNT, OF_RUN, FROM(COUNTER, TOTAL(flows_failed)),
     "flows.whole_run that failed"},
    {"flows.SIZE.started", COUNT, OF_SIZE, FROM(COUNTER, SIZES(flows)),
     "flows.started, by flow size"},
    {"flows.SIZE.delivered", COUNT, OF_SIZE, FROM(COUNTER, SIZES(delivered)),
     "flows.delivered, by flow size"},
    {"flows.SIZE.failed", COUNT, OF_SIZE, FROM(COUNTER, SIZES(failed)),
     "flows.failed, by flow size"},

    BY_SIZE("fct.SIZE", SECONDS, PICOSECONDS, time,
            "flow completion time of delivered flows of that size"),
    BY_SIZE("slowdown.SIZE", RATIO, REAL, slowdown,
            "slowdown (completion time over that of the flow alone) of delivered flows of that "
            "size"),

    {"goodput", BPS, OF_RUN, FROM(COMPUTED, .compute = goodput),
     "payload delivered in order to all hosts, over the measured time, which lasts until the last "
     "flow is over: where a clock starts flows, load.delivered says what the network carries",
     BOTH},
    {"load.offered", BPS, OF_RUN, FROM(REAL, LOAD(offered_bps)),
     "payload of the flows that a clock started in load.window, over that time",
     .only_if = ANY(load.known)},
    {"load.delivered", BPS, OF_RUN, FROM(REAL, LOAD(delivered_bps)),
     "payload of such flows, those of warm-up too, that hosts received in order in load.window, "
     "over that time",
     .only_if = ANY(load.known)},
    {"load.delivered_share", SHARE, OF_RUN, FROM(REAL, LOAD(share)),
     "load.delivered over load.offered; above 1 if more was under way when the window began than "
     "when it ended",
     .only_if = ANY(load.known)},
    {"load.flows", COUNT, OF_RUN, FROM(COUNTER, LOAD(flows)),
     "flows that a clock started in load.window", .only_if = ANY(load.known)},
    {"load.alone", COUNT, OF_RUN, FROM(COMPUTED, .compute = load_alone),
     "1 if a clock starts the flows of all workloads, 0 if there are others",
     .only_if = ANY(load.known)},
    {"load.window", SECONDS, OF_RUN, FROM(PICOSECONDS, LOAD(window)),
     "time from the end of warm-up until arrivals stop, or until the run ends if that is earlier",
     .only_if = ANY(load.known)},
    {"load.drain", SECONDS, OF_RUN, FROM(REAL, LOAD(drain_s)),
     "time from when arrivals stop until the last flow that a clock started is over",
     .only_if = ANY(load.known)},
    {"load.utilisation.PLACE.mean", SHARE, OF_PLACE, FROM(REAL, LOAD_USE(mean)),
     "utilisation.PLACE.mean in load.window", .only_if = ANY(load.known)},
    {"load.utilisation.PLACE.max", SHARE, OF_PLACE, FROM(REAL, LOAD_USE(largest)),
     "utilisation.PLACE.max in load.window", .only_if = ANY(load.known)},
    {"jain", INDEX, OF_RUN, FROM(NOT_NEGATIVE, OUTCOME(jain)),
     "Jain's index of the flows' goodputs: 1 when all are equal", BOTH},
    MEAN_MIN_P10_P50_P90_MAX("flow_goodput", BPS, OF_RUN, BOTH,
                             "goodput of a flow, from its start to its end or the run's",
                             " over flows", " of all flows", GOODPUTS),
    {"flow.N.goodput", BPS, OF_FLOW, FROM(COUNTER, LISTED(goodput_bps)),
     "goodput of flow N (from 0, as they are listed), where there are at most 16", BOTH},
    {"flow.N.lost_share", SHARE, OF_FLOW, FROM(REAL, LISTED(lost_share)),
     "share of its time that flow N lost to PAUSEs for congestion that is not on its path"},

    {"pair.N.started", COUNT, OF_PAIR, FROM(COUNTER, PAIR(started)),
     "transfers from one host to another that started after warm-up; one posted behind another on "
     "its queue pair starts when that one is delivered; pairs are numbered from 0 in the order in "
     "which flows first name them, and shown if there are at most 16"},
    {"pair.N.delivered", COUNT, OF_PAIR, FROM(COUNTER, PAIR(delivered)),
     "pair.N.started that were delivered"},
    {"pair.N.failed", COUNT, OF_PAIR, FROM(COUNTER, PAIR(failed)), "pair.N.started that failed"},
    {"pair.N.counted", COUNT, OF_PAIR, FROM(COUNTER, PAIR(counted)),
     "pair.N.started that count in the pair's goodputs: those that ended, and unfinished ones that "
     "have already taken longer than any delivered one"},
    PAIR_ROW("mean", mean, "mean over"),
    PAIR_ROW("min", least, "smallest of"),
    PAIR_ROW("p10", p10, "10th percentile over"),
    PAIR_ROW("p50", median, "median over"),
    PAIR_ROW("p90", p90, "90th percentile over"),
    PAIR_ROW("max", most, "largest of"),
    {"workload.N.flows", COUNT, OF_WORKLOAD, FROM(COUNTER, WORKLOAD(flows)),
     "flows.started, of entry N (from 0) of the scenario's list of workloads"},
    {"workload.N.delivered", COUNT, OF_WORKLOAD, FROM(COUNTER, WORKLOAD(delivered)),
     "flows.delivered, of workload entry N"},
    {"workload.N.failed", COUNT, OF_WORKLOAD, FROM(COUNTER, WORKLOAD(failed)),
     "flows.failed, of workload entry N"},
    {"workload.N.delivered_bytes", BYTES, OF_WORKLOAD, FROM(COUNTER, WORKLOAD(delivered_bytes)),
     "payload of all flows of workload entry N that was delivered in order"},
    {"workload.N.offered", BPS, OF_WORKLOAD, FROM(REAL, WORKLOAD(offered_bps)),
     "payload that applications produced for flows of workload entry N, over the measured time"},
    {"workload.N.carried", SHARE, OF_WORKLOAD, FROM(REAL, WORKLOAD(carried)),
     "workload.N.goodput over workload.N.offered, where applications produce payload at a given "
     "rate"},
    {"workload.N.backlog", BYTES, OF_WORKLOAD, FROM(COUNTER, WORKLOAD(backlog_bytes)),
     "payload of workload entry N that applications had produced, during warm-up too, and "
     "receivers did not have at the end"},
    {"workload.N.goodput", BPS, OF_WORKLOAD, FROM(REAL, WORKLOAD(goodput_bps)),
     "workload.N.delivered_bytes over the measured time"},
    MEAN_MIN_P10_P50_P90_MAX(
        "workload.N.flow_goodput", BPS, OF_WORKLOAD, false,
        "goodput of a flow of workload entry N, from its start to its end or the run's",
        " over flows", " of all flows", WORKLOAD(flow_goodput)),
    MEAN_MIN_P10_P50_P90_MAX(
        "workload.N.pair_goodput", BPS, OF_WORKLOAD, false,
        "payload of workload entry N from one host to another, over the measured time",
        " over pairs of hosts", " of all pairs of hosts", WORKLOAD(pair_goodput)),
    MEAN_P50_P90_P99_MAX("workload.N.fct", SECONDS, OF_WORKLOAD, false,
                         "completion time of flows of workload entry N, from start to delivery", "",
                         "", WORKLOAD(fct)),
    MEAN_P50_P90_P99_MAX("workload.N.failed_after", SECONDS, OF_WORKLOAD, false,
                         "time from the start of a flow of workload entry N to the error with "
                         "which it failed",
                         "", "", WORKLOAD(failed_after)),
#define ROUND_TRIP                                                                                 \
    "workload.N.round_trip", SECONDS, OF_WORKLOAD, false,                                          \
        "time from the start of a flow of workload entry N to its last ACK, which for one packet " \
        "is its round trip",                                                                       \
        "", "", WORKLOAD(round_trip)
    MEAN_P10_P50_P90(ROUND_TRIP),
    P99_MAX(ROUND_TRIP),
    {"workload.N.ranks", COUNT, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.ranks)),
     "ranks of the job that workload entry N is"},
    {"workload.N.ranks_done", COUNT, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.ranks_done)),
     "of these, ranks that have done all their operations"},
    {"workload.N.receives_left", COUNT, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.receives_left)),
     "receives of job N that wait for a message at the end of the run"},
    {"workload.N.messages_left", COUNT, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.messages_left)),
     "messages of job N that have arrived and wait for a receive at the end of the run"},
    {"workload.N.time", SECONDS, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.time_s)),
     "time from the begin of the job's ranks to the end of the last one"},
    {"workload.N.straggler", SECONDS, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.late_s)),
     "how much later than the median rank the last rank of job N ends"},
    MEAN_P50_P90_P99_MAX("workload.N.busy", SECONDS, OF_WORKLOAD, false,
                         "time in which a rank of job N calculates, sends or receives",
                         " over ranks", " of all ranks", WORKLOAD(job.busy)),
    MEAN_P50_P90_P99_MAX(
        "workload.N.exposed", SECONDS, OF_WORKLOAD, false,
        "time until a rank of job N ends in which it does nothing of that but wait "
        "(exposed communication)",
        " over ranks", " of all ranks", WORKLOAD(job.exposed)),
    MEAN_P50_P90_P99_MAX(
        "workload.N.repetition", SECONDS, OF_WORKLOAD, false,
        "time of a repetition of collective operation N, from the first rank's begin "
        "to the last one's end",
        " over repetitions", " of all repetitions", WORKLOAD(job.repetition)),
    {"workload.N.algorithm_bandwidth", BPS, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.algorithm_bps)),
     "bytes of collective operation N over the mean time of a repetition"},
    {"workload.N.bus_bandwidth", BPS, OF_WORKLOAD, FROM(REAL, WORKLOAD(job.bus_bps)),
     "that, times what each rank sends at least over the operation's bytes (NCCL's definition)"},
    {"flow.N.rate", BPS, OF_RATED, FROM(REAL, EACH(by_rate.flow_rate)),
     "payload of flow N (from 0) delivered in the measured time, over that time; like rate_gap and "
     "convergence it needs measure.interval and at most 64 flows, and is meant for flows that do "
     "not end",
     BOTH},
    {"rate_gap.mean", BPS, OF_RUN, FROM(REAL, OUTCOME(by_rate.gap_mean)),
     "difference between the fastest and the slowest flow's rate in a window of measure.interval, "
     "mean over windows",
     BOTH},
    {"rate_gap.of_means", BPS, OF_RUN, FROM(REAL, OUTCOME(by_rate.gap_of_means)),
     "difference between the largest and the smallest flow.N.rate", BOTH},
    {"rate_gap.late", BPS, OF_RUN, FROM(REAL, OUTCOME(by_rate.gap_late)),
     "difference between the largest and the smallest mean rate of a flow in the second half of "
     "the windows",
     BOTH},
    {"convergence.time", SECONDS, OF_RUN, FROM(REAL, OUTCOME(by_rate.equal_since)),
     "when flows become equal for good: from then on the fastest and the slowest differ by less "
     "than 10 % of the fair share; left out if they are not equal at the end",
     BOTH, .or_never = "convergence.reached"},
    {"convergence.reached", RATIO, OF_RUN, FROM(REAL, OUTCOME(by_rate.reached)),
     "1 if flows are equal at the end (see convergence.time), 0 if not", BOTH},
    {"convergence.settled", SECONDS, OF_RUN, FROM(REAL, OUTCOME(by_rate.settled)),
     "from when on, to the end, each flow's rate is within 10 % of its share of the total rate in "
     "the second half of the windows; left out if that is not so at the end",
     BOTH, .or_never = "convergence.reached"},
    {"convergence.paced", SECONDS, OF_RUN, FROM(REAL, OUTCOME(by_rate.paced_settled)),
     "convergence.settled of the rates that senders have at the end of each window; needs "
     "measure.rates",
     .or_never = "convergence.paced_reached"},
    {"convergence.paced_close", SECONDS, OF_RUN, FROM(REAL, OUTCOME(by_rate.paced_close)),
     "convergence.paced with 5 % instead of 10 %", .or_never = "convergence.paced_reached"},
    {"convergence.paced_reached", RATIO, OF_RUN, FROM(REAL, OUTCOME(by_rate.paced_reached)),
     "1 if senders' rates have settled at the end (see convergence.paced), 0 if not"},
    {"convergence.trips", COUNT, OF_RUN, FROM(REAL, OUTCOME(by_rate.paced_trips)),
     "from the start of the last flow that does not wait for another to convergence.paced, in "
     "round trips over the empty path (the longest)",
     .or_never = "convergence.paced_reached"},
    {"convergence.settled_trips", COUNT, OF_RUN, FROM(REAL, OUTCOME(by_rate.settled_trips)),
     "the same to convergence.settled", .or_never = "convergence.reached"},
    {"convergence.first", SECONDS, OF_RUN, FROM(REAL, OUTCOME(by_rate.equal_first)),
     "when flows are equal (see convergence.time) for the first time", BOTH,
     .or_never = "convergence.reached"},
    {"convergence.share", SHARE, OF_RUN, FROM(REAL, OUTCOME(by_rate.equal_share)),
     "share of windows in which flows are equal (see convergence.time)", BOTH},
    {"flow.N.model_distance", BPS, OF_RATED, FROM(REAL, EACH(by_rate.flow_model_distance)),
     "with model: both, how far flow N's rate is from the fluid model's, mean over windows"},
    {"model_distance", BPS, OF_RUN, FROM(REAL, OUTCOME(by_rate.model_distance)),
     "flow.N.model_distance, mean over flows"},

    MEAN_MIN_P10_P50_P90_MAX(
        "interval_goodput", BPS, OF_RUN, false,
        "rate of a flow in a window of measure.interval, of all flows (up to 64) and all windows "
        "in which they are in progress from begin to end",
        "", "", TRIPS(interval_goodput)),
#define RTT                                                                                        \
    "rtt", SECONDS, OF_RUN, false,                                                                 \
        "round trip that a sender measured and changed its window by, of all after warm-up "       \
        "(rogue)",                                                                                 \
        "", "", TRIPS(rtt)
    MEAN_MIN_P10_P50_P90(RTT),
    P99_MAX(RTT),
    MEAN_P10_P50_P90("estimate", BPS, OF_RUN, false,
                     "rate that a sender believes to have, its window over its round trip, at each "
                     "change of the window after warm-up (rogue)",
                     "", "", TRIPS(estimate)),

    {"host_goodput.min", BPS, OF_RUN, FROM(NOT_NEGATIVE, OUTCOME(host_goodput_least)),
     "payload delivered in order to a host, over the measured time: smallest of all hosts that "
     "flows are sent to"},
    {"host_goodput.max", BPS, OF_RUN, FROM(NOT_NEGATIVE, OUTCOME(host_goodput_most)),
     "payload delivered in order to a host, over the measured time: largest of all hosts that "
     "flows are sent to"},
    {"host_goodput.jain", INDEX, OF_RUN, FROM(NOT_NEGATIVE, OUTCOME(host_jain)),
     "Jain's index of the hosts' goodputs: 1 when all are equal; includes flows that started "
     "during warm-up"},

    {"delivered_bytes", BYTES, OF_RUN, FROM(COUNTER, NIC(delivered_bytes)),
     "payload delivered in order to all hosts"},
    {"delivered_messages", COUNT, OF_RUN, FROM(COUNTER, NIC(delivered_messages)),
     "messages delivered to all hosts"},
    {"data_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(data_packets_sent)),
     "data packets that NICs sent, including repeated ones"},
    {"data_bytes", BYTES, OF_RUN, FROM(COUNTER, NIC(data_bytes_sent)), "payload in data_packets"},
    {"data_packets.received", COUNT, OF_RUN, FROM(COUNTER, NIC(data_packets_received)),
     "data packets that NICs received, whether they were expected or not"},
    {"data_packets.received.marked", COUNT, OF_RUN, FROM(COUNTER, NIC(ce_received)),
     "data_packets.received that had CE"},
    {"data_bytes.received", BYTES, OF_RUN, FROM(COUNTER, NIC(data_bytes_received)),
     "payload in data_packets.received"},
    {"data_packets.queueing_time", SECONDS, OF_RUN, FROM(PICOSECONDS, NIC(queueing_time)),
     "time that data packets waited for their own host's port, summed over packets"},
    {"retransmitted_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(retransmitted_packets)),
     "data packets that NICs sent again"},
    {"retransmitted_bytes", BYTES, OF_RUN, FROM(COUNTER, NIC(retransmitted_bytes)),
     "payload in retransmitted_packets"},
    {"retransmitted_ratio", SHARE, OF_RUN,
     FROM(RATIO_OF, NIC(retransmitted_packets), OVER(totals.nic.data_packets_sent)),
     "retransmitted_packets over data_packets"},
    {"duplicate_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(duplicate_packets)),
     "data packets that arrived although their receiver already had them"},
    {"out_of_order_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(out_of_order_packets)),
     "data packets that arrived before one that was expected"},
    {"out_of_order_packets.kept", COUNT, OF_RUN, FROM(COUNTER, NIC(placed_packets)),
     "out_of_order_packets that the receiver kept, so that they need not come again"},
    {"timeouts", COUNT, OF_RUN, FROM(COUNTER, NIC(timeouts)), "ACK timers that ran out"},
    {"timeouts.adaptive", COUNT, OF_RUN, FROM(COUNTER, NIC(adaptive_timeouts)),
     "timeouts of these that adapters call adaptive retransmissions (host.nic)"},
    {"timeouts.last_packet", COUNT, OF_RUN,
     FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_LAST_PACKET])),
     "timeouts because the last packet was lost", .only_if = ANY(totals.timeout_causes_known)},
    {"timeouts.last_ack", COUNT, OF_RUN,
     FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_LAST_ACK])),
     "timeouts because the last ACK was lost", .only_if = ANY(totals.timeout_causes_known)},
    {"timeouts.nak_lost", COUNT, OF_RUN,
     FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_NAK_LOST])),
     "timeouts because the NAK was lost", .only_if = ANY(totals.timeout_causes_known)},
    {"timeouts.lost_twice", COUNT, OF_RUN,
     FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_LOST_TWICE])),
     "timeouts because the same packet was lost twice",
     .only_if = ANY(totals.timeout_causes_known)},
    {"timeouts.nak_held", COUNT, OF_RUN,
     FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_NAK_HELD])),
     "timeouts because the NAK had to wait for its interval",
     .only_if = ANY(totals.timeout_causes_known)},
    {"timeouts.other", COUNT, OF_RUN, FROM(COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_OTHER])),
     "timeouts while the answer was on its way, or waited",
     .only_if = ANY(totals.timeout_causes_known)},
    {"acks", COUNT, OF_RUN, FROM(COUNTER, NIC(acks_sent)), "ACKs sent"},
    {"acks.received", COUNT, OF_RUN, FROM(COUNTER, NIC(acks_received)), "ACKs received"},
    {"naks", COUNT, OF_RUN, FROM(COUNTER, NIC(naks_sent)), "NAKs sent"},
    {"naks.received", COUNT, OF_RUN, FROM(COUNTER, NIC(naks_received)), "NAKs received"},
    {"rnr_naks", COUNT, OF_RUN, FROM(COUNTER, NIC(rnr_naks_sent)), "RNR NAKs sent"},
    {"rnr_naks.received", COUNT, OF_RUN, FROM(COUNTER, NIC(rnr_naks_received)),
     "RNR NAKs received"},
    {"cnps", COUNT, OF_RUN, FROM(COUNTER, NIC(cnps_sent)), "congestion notification packets sent"},
    {"cnps.received", COUNT, OF_RUN, FROM(COUNTER, NIC(cnps_received)),
     "congestion notification packets received"},
    {"cc_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(cc_packets_sent)),
     "packets of congestion control's own, except CNPs: dart's updates, expresspass's credits"},
    {"cc_packets.received", COUNT, OF_RUN, FROM(COUNTER, NIC(cc_packets_received)),
     "cc_packets that arrived"},
    {"SCHEME.COUNTER", COUNT, OF_SCHEME, FROM(COMPUTED_EACH, .compute_each = oche_scheme_count),
     "what a congestion-control scheme counts itself"},
    {"SCHEME.COUNTER.packets_share", SHARE, OF_SCHEME_PACKETS,
     FROM(COMPUTED_EACH, .compute_each = oche_scheme_packets_share),
     "share of all packets that hosts sent"},
    {"SCHEME.COUNTER.bytes_share", SHARE, OF_SCHEME_PACKETS,
     FROM(COMPUTED_EACH, .compute_each = oche_scheme_bytes_share),
     "whole frames: share of all bytes that hosts put on their links, with gaps"},
    {"adapter.COUNTER", COUNT, OF_ADAPTER, FROM(COMPUTED_EACH, .compute_each = adapter_count),
     "what an adapter has in hw_counters/"},
    {"trimmed_packets", COUNT, OF_RUN, FROM(COUNTER, NIC(trimmed_packets)),
     "packets that switches had cut to their headers, as they arrived"},
    {"trim_nacks", COUNT, OF_RUN, FROM(COUNTER, NIC(trim_nacks_sent)),
     "NACKs sent for such packets"},
    {"rejected_packets", COUNT, OF_RUN, FROM(COUNTER, TOTAL(rejected_packets)),
     "packets that NICs threw away because something was wrong with them"},
    {"late_packets", COUNT, OF_RUN, FROM(COUNTER, TOTAL(late_packets)),
     "CNPs and ACKs that arrived after their queue pair was gone"},
    {"corrupt_bytes", BYTES, OF_RUN, FROM(COUNTER, TOTAL(corrupt_bytes)),
     "payload that arrived different from what was sent; checked with payload: true"},

    {"drops", COUNT, OF_RUN, FROM(SUM, ALL(totals.drops)), "packets that switches dropped"},
    {"drops.buffer", COUNT, OF_RUN, FROM(COUNTER, TOTAL(drops[OCHE_DROP_BUFFER])),
     "drops because the buffer was full"},
    {"drops.no_route", COUNT, OF_RUN, FROM(COUNTER, TOTAL(drops[OCHE_DROP_NO_ROUTE])),
     "drops because there was no route to the destination"},
    {"drops.ttl", COUNT, OF_RUN, FROM(COUNTER, TOTAL(drops[OCHE_DROP_TTL])),
     "drops because the packet was in a loop (TTL 0)"},
    {"drops.mechanism", COUNT, OF_RUN, FROM(COUNTER, TOTAL(drops[OCHE_DROP_MECHANISM])),
     "drops of expresspass's credits for which a port had no room"},
    {"drops.link_down", COUNT, OF_RUN, FROM(COUNTER, TOTAL(drops[OCHE_DROP_LINK_DOWN])),
     "drops at a port whose link was down"},
    {"drops.PLACE", COUNT, OF_PLACE, FROM(COUNTER, MARKS(drops)),
     "drops, by the place of the ports that the packets were for; without drops.no_route and "
     "drops.ttl, which were for none"},
    {"receive_buffer.drops", COUNT, OF_RUN, FROM(COUNTER, TOTAL(dropped_by_hosts)),
     "packets that found the buffer of a slow receiver full; not part of drops",
     .only_if = ANY(totals.slow_receivers)},
    {"receive_buffer.peak", BYTES, OF_RUN, FROM(COUNTER, TOTAL(receive_buffer_most)),
     "the most that a slow receiver's buffer held", .only_if = ANY(totals.slow_receivers)},
    {"lost", COUNT, OF_RUN, FROM(COUNTER, TOTAL(lost_packets)), "packets that links lost"},
    {"scripted.happened", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(events.counts.happened)),
     "scripted events that happened, in the whole run", .only_if = ANY(events.counts.listed)},
    {"scripted.never", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(events.counts.never)),
     "scripted events that never happened", .only_if = ANY(events.counts.listed)},
    {"lost.link_down", COUNT, OF_RUN, FROM(COUNTER, TOTAL(cut_packets)),
     "lost because the link went down or was down"},
    {"lost.degraded", COUNT, OF_RUN, FROM(COUNTER, TOTAL(grey_packets)),
     "lost by links that a failure with loss made so", .only_if = ANY(failures.count)},
    {"lost.PLACE", COUNT, OF_PLACE, FROM(COUNTER, EACH(lost)),
     "lost, by the place that sent the packets"},

    {"failures.lost", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(failures.lost)),
     "packets lost because of failures: drops.link_down, drops.no_route, lost.link_down, "
     "lost.degraded",
     .only_if = ANY(failures.count)},
    FAILURES("failures", hit, "flows that lost a packet to a failure while they were in progress"),
    FAILURES("failures.others", others, "flows that lost no packet to a failure"),

    {"ports.PLACE", COUNT, OF_PLACE, FROM(COUNTER, USE(ports)), "number of ports at that place"},
    {"utilisation.PLACE.mean", SHARE, OF_PLACE, FROM(REAL, USE(mean)),
     "bytes on the line over what it could carry, mean over the links from that place"},
    {"utilisation.PLACE.max", SHARE, OF_PLACE, FROM(REAL, USE(largest)),
     "bytes on the line over what it could carry, of the busiest link from that place"},
    {"packets.PLACE", COUNT, OF_PLACE, FROM(COUNTER, MARKS(packets)),
     "packets that left from that place"},
    {"marks", COUNT, OF_RUN, FROM(SUM, MARKS(marks), .count = OCHE_PLACES), "packets marked CE"},
    {"marked_share.SIZE", SHARE, OF_SIZE,
     FROM(RATIO_OF, PACKETS(marked), OVER_EACH(size_packets, packets)),
     "data packets that arrived with CE, over all that arrived, of flows of that size that started "
     "after warm-up; with measure.ways, or where switches deflect"},
    {"unsuppressed_share.SIZE", SHARE, OF_SIZE,
     FROM(RATIO_OF, PACKETS(unsuppressed), OVER_EACH(size_packets, packets)),
     "marked_share.SIZE without packets whose mark the receiver suppresses because its own link is "
     "the bottleneck (dart)"},
    {"answered_share.SIZE", SHARE, OF_SIZE,
     FROM(RATIO_OF, PACKETS(answered), OVER_EACH(size_packets, packets)),
     "unsuppressed_share.SIZE without packets whose mark is not answered, because the receiver "
     "does "
     "not know yet where the congestion is (dart)"},
    {"marks.PLACE", COUNT, OF_PLACE, FROM(COUNTER, MARKS(marks)),
     "marks, by the place that set them"},

    {"congestion.WHERE.marks", COUNT, OF_WHERE, FROM(COUNTER, WHERE(marks)),
     "packets marked CE at that kind of link"},
    {"congestion.WHERE.marks_share", SHARE, OF_WHERE,
     FROM(RATIO_OF, WHERE(marks), OVER(congestion[OCHE_WHERE_ALL].marks)),
     "congestion.WHERE.marks as a share of all marks"},
    {"congestion.WHERE.queueing", SECONDS, OF_WHERE,
     FROM(PICOSECONDS_EACH, WHERE(queueing), OVER(totals.nic.data_packets_sent)),
     "time that packets waited there to leave, over data packets that NICs sent: the mean time "
     "that a packet loses there"},
    {"congestion.WHERE.queueing_share", SHARE, OF_WHERE,
     FROM(RATIO_OF, WHERE(queueing), OVER(congestion[OCHE_WHERE_ALL].queueing)),
     "congestion.WHERE.queueing as a share of that of all links"},
    {"congestion.WHERE.queueing_mean", SECONDS, OF_WHERE,
     FROM(REAL_PICOSECONDS, WHERE(queueing_mean)),
     "time that a packet waited there, mean over packets that left; at host NICs over data "
     "packets"},
    {"congestion.WHERE.queueing_worst", SECONDS, OF_WHERE,
     FROM(REAL_PICOSECONDS, WHERE(queueing_worst)),
     "congestion.WHERE.queueing_mean of the port where it is longest"},
    {"congestion.WHERE.queue_max", BYTES, OF_SWITCH_WHERE, FROM(COUNTER, WHERE(queue_most)),
     "the longest queue at a switch's port there"},
    {"congestion.WHERE.pause_time", SECONDS, OF_WHERE, FROM(PICOSECONDS, WHERE(paused)),
     "time that ports there were held by PAUSE, summed over ports and classes"},
    {"imbalance.WHERE", RATIO, OF_WHERE, FROM(REAL, UPLINKS(mean)),
     "ECMP: busiest uplink of a switch over the mean of its uplinks (1: even), all switches of the "
     "layer together; of ToRs and aggregation switches with two uplinks or more"},
    {"imbalance.WHERE.max", RATIO, OF_WHERE, FROM(REAL, UPLINKS(largest)),
     "imbalance.WHERE of the switch where it is largest, of those that sent at least a tenth of "
     "the "
     "mean upwards"},

    {"pauses", COUNT, OF_RUN, FROM(COUNTER, TOTAL(pauses_sent)),
     "PAUSE frames (XOFF) that were sent"},
    {"pauses.TIER", COUNT, OF_TIER, FROM(COUNTER, PAUSES(sent)),
     "pauses, by the tier that sent them"},
    {"pauses_received.TIER", COUNT, OF_TIER, FROM(COUNTER, PAUSES(received)),
     "PAUSE frames, including refreshes, by the tier that received them"},
    {"pause_time", SECONDS, OF_RUN, FROM(PICOSECONDS, TOTAL(pause_time)),
     "time that ports were held by PAUSE, summed over ports and classes"},
    {"pause_time.TIER", SECONDS, OF_TIER, FROM(PICOSECONDS, PAUSES(received_time)),
     "pause_time, by the tier whose ports were held"},
    {"pause_time.TIER.max", SECONDS, OF_TIER, FROM(PICOSECONDS, PAUSES(longest_held)),
     "time that the port held longest by PAUSE was held, of that tier"},
    {"pause_time.max", SECONDS, OF_RUN,
     FROM(LONGEST, PAUSES(longest_held), .count = OCHE_NODE_KINDS),
     "time that the port held longest by PAUSE was held, wherever it is"},
    {"held_upstream.TIER", SECONDS, OF_TIER, FROM(PICOSECONDS, PAUSES(sent_time)),
     "time that the tier held ports that send to it, summed over ports and classes"},
    {"pause_roots", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(pathologies.hot_spots)),
     "ports where PAUSEs began: their queues filled although nothing held them"},
    {"victims", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(pathologies.victims)),
     "flows that lost at least measure.victim_share of their time to congestion that is not on "
     "their path"},
    {"victims.share", SHARE, OF_RUN, FROM(REAL, OUTCOME(pathologies.victim_share)),
     "victims over flows.started"},
    {"victims.lost.max", SHARE, OF_RUN, FROM(REAL, OUTCOME(pathologies.worst_share)),
     "largest share of its time that a flow lost to congestion that is not on its path"},

    {"queue.PORT.mean", BYTES, OF_PORT, FROM(REAL, QUEUE(mean_bytes)),
     "queue of a port in measure.queues, mean over time", BOTH},
    {"queue.PORT.sd", BYTES, OF_PORT, FROM(REAL, QUEUE(deviation)),
     "queue of a port in measure.queues, standard deviation over time", BOTH},
    QUEUE_ROW("p50", OCHE_P50, "half"),
    QUEUE_ROW("p90", OCHE_P90, "90 %"),
    QUEUE_ROW("p99", OCHE_P99, "99 %"),
    QUEUE_ROW("p99.9", OCHE_P999, "99.9 %"),
    {"queue.PORT.max", BYTES, OF_PORT, FROM(COUNTER, QUEUE(max_bytes)),
     "queue of a port in measure.queues, largest", BOTH},

    {"thresholds.headroom", BYTES, OF_RUN, FROM(REAL, THRESHOLD(headroom)),
     "buffer kept for a port and priority after a PAUSE (DCQCN sec 4), in the largest switch",
     .only_if = ANY(has_thresholds)},
    {"thresholds.headroom_all", BYTES, OF_RUN, FROM(REAL, THRESHOLD(headroom_all)),
     "thresholds.headroom, for all ports and priorities of that switch",
     .only_if = ANY(has_thresholds)},
    {"thresholds.shared", BYTES, OF_RUN, FROM(REAL, THRESHOLD(shared)),
     "buffer that is left to share, without the headroom", .only_if = ANY(has_thresholds)},
    {"thresholds.static_pfc", BYTES, OF_RUN, FROM(REAL, THRESHOLD(static_pfc)),
     "static t_PFC of an ingress port and priority", .only_if = ANY(has_thresholds)},
    {"thresholds.static_ecn", BYTES, OF_RUN, FROM(REAL, THRESHOLD(static_ecn)),
     "ECN threshold below which ECN is sure to act before the static t_PFC",
     .only_if = ANY(has_thresholds)},
    {"thresholds.dynamic_pfc", BYTES, OF_RUN, FROM(REAL, THRESHOLD(dynamic_pfc)),
     "dynamic t_PFC when the whole buffer is free", .only_if = ANY(has_thresholds)},
    {"thresholds.dynamic_ecn", BYTES, OF_RUN, FROM(REAL, THRESHOLD(dynamic_ecn)),
     "ECN threshold below which ECN is sure to act before the dynamic t_PFC",
     .only_if = ANY(has_thresholds)},
    {"thresholds.resume", BYTES, OF_RUN, FROM(REAL, THRESHOLD(resume)),
     "how far below t_PFC a RESUME is sent", .only_if = ANY(has_thresholds)},
    {"thresholds.frame", BYTES, OF_RUN, FROM(REAL, THRESHOLD(frame)),
     "largest frame that the thresholds allow for", .only_if = ANY(has_thresholds)},

    {"MECHANISM.COUNTER", COUNT, OF_MECHANISM,
     FROM(COUNTER, OUTCOME(totals.mechanisms), .stride = sizeof(uint64_t)),
     "what a mechanism in switch.mechanisms counts"},
    {"iofd.short_flows", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(ways.short_ones.flows)),
     "flows that are a short message, where switches deflect", .only_if = ANY(ways.known)},
    {"iofd.short_flows.deflected", COUNT, OF_RUN, FROM(COUNTER, OUTCOME(ways.deflected.flows)),
     "iofd.short_flows of which a packet was deflected", .only_if = ANY(ways.known)},
    {"iofd.path_dilation", SHARE, OF_RUN,
     FROM(RATIO_OF, OUTCOME(ways.short_ones.added), OVER(ways.short_ones.shortest)),
     "links beyond the shortest path over links of the shortest path, for packets of flows that "
     "are a short message"},
    {"iofd.load_added", SHARE, OF_RUN,
     FROM(RATIO_OF, OUTCOME(ways.all.added), OVER(ways.all.shortest)),
     "links beyond the shortest path over links of the shortest path, for data packets of all "
     "flows: the load that deflection adds"},
    {"iofd.links_added.mean", COUNT, OF_RUN,
     FROM(RATIO_OF, OUTCOME(ways.deflected.added), OVER(ways.deflected.packets)),
     "links beyond the shortest path, mean over packets of deflected flows"},
    {"iofd.flows_deflected", SHARE, OF_RUN,
     FROM(RATIO_OF, OUTCOME(ways.deflected.flows), OVER(ways.short_ones.flows)),
     "iofd.short_flows.deflected over iofd.short_flows"},

    {"simulated_time", SECONDS, OF_RUN, FROM(PICOSECONDS, OUTCOME(simulated)),
     "simulated time, including warm-up", BOTH},
    {"measured_time", SECONDS, OF_RUN, FROM(PICOSECONDS, TOTAL(measured)),
     "simulated time after warm-up", BOTH},
    {"packet_hops", COUNT, OF_RUN, FROM(COUNTER, TOTAL(hops)),
     "packets times the links they crossed, in the whole run"},
    {"events", COUNT, OF_RUN, FROM(COUNTER, TOTAL(events)),
     "events that the simulator handled in the whole run"},
    {"live_packets", COUNT, OF_RUN, FROM(COUNTER, TOTAL(live_packets)),
     "packets in queues and on links at the end"},
    {"queued_bytes", BYTES, OF_RUN, FROM(COUNTER, TOTAL(queued_bytes)),
     "bytes in switches at the end"},
};
const size_t oche_metric_count = OCHE_COUNT_OF(oche_metric_table);
