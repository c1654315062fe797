/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of a run, one line each. */
#include "lab/measures/metric_table.h"

#include <math.h>

#include "lab/measures/rate_metrics.h"
#include "lab/measures/scheme_counters.h"
#include "lab/measures/size_rows.h"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define BOTH            true

static const char second[] = "s", rate[] = "bps", byte[] = "bytes", number[] = "count",
                  ratio[] = "ratio";
const char *const oche_metric_units[] = {second, rate, byte, number, ratio};
const size_t oche_metric_unit_count = COUNT_OF(oche_metric_units);

/* ---- what is computed ---- */

static double goodput(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return (double)oche_rate_of(o->totals.nic.delivered_bytes, o->totals.measured);
}

static double jain(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->jain < 0 ? NAN : o->jain;
}

static double flow_goodput_mean(const struct oche_outcome *o, unsigned which)
{
    const struct oche_outcome_samples *samples = &o->samples[OCHE_SAMPLES_GOODPUT];
    double sum = 0;

    (void)which;
    for (size_t i = 0; i < samples->count; i++)
        sum += samples->values[i];
    return samples->count == 0 ? NAN : sum / (double)samples->count;
}

static double host_goodput_least(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->host_goodput_least < 0 ? NAN : o->host_goodput_least;
}

static double host_goodput_most(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->host_goodput_most < 0 ? NAN : o->host_goodput_most;
}

static double host_jain(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->host_jain < 0 ? NAN : o->host_jain;
}

static double listed_goodput(const struct oche_outcome *o, unsigned which)
{
    return (double)o->listed[which].goodput_bps;
}

static double listed_lost_share(const struct oche_outcome *o, unsigned which)
{
    return o->listed[which].lost_share;
}

static double mean_of(const struct oche_sorted_values *sorted)
{
    double sum = 0;

    for (size_t i = 0; i < sorted->count; i++)
        sum += sorted->values[i];
    return sorted->count == 0 ? NAN : sum / (double)sorted->count;
}

static double workload_flows_mean(const struct oche_outcome *o, unsigned which)
{
    return mean_of(&o->by_workload.workloads[which].flow_goodput);
}

static double workload_pairs_mean(const struct oche_outcome *o, unsigned which)
{
    return mean_of(&o->by_workload.workloads[which].pair_goodput);
}

static double retransmitted_ratio(const struct oche_outcome *o, unsigned which)
{
    const struct oche_nic_stats *nic = &o->totals.nic;

    (void)which;
    return nic->data_packets_sent == 0
               ? NAN
               : (double)nic->retransmitted_packets / (double)nic->data_packets_sent;
}

static double all_drops(const struct oche_outcome *o, unsigned which)
{
    uint64_t sum = 0;

    (void)which;
    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        sum += o->totals.drops[cause];
    return (double)sum;
}

/* NAN where nothing fails. */
static double if_any(const struct oche_outcome *o, uint64_t value)
{
    return o->failures.count == 0 ? NAN : (double)value;
}

static double failures_lost(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_any(o, o->failures.lost);
}

static double failures_flows(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_any(o, o->failures.hit.times.flows);
}

static double failures_failed(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_any(o, o->failures.hit.times.failed);
}

static double failures_timeouts(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_any(o, o->failures.hit.timeouts);
}

static double slowdown_of(const struct oche_failure_row *row, enum oche_percentile percentile)
{
    return row->times.delivered == 0 ? NAN : row->times.slowdown[percentile];
}

static double failures_slowdown_p50(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return slowdown_of(&o->failures.hit, OCHE_P50);
}

static double failures_slowdown_p99(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return slowdown_of(&o->failures.hit, OCHE_P99);
}

static double others_slowdown_p50(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->failures.count == 0 ? NAN : slowdown_of(&o->failures.others, OCHE_P50);
}

static double others_slowdown_p99(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->failures.count == 0 ? NAN : slowdown_of(&o->failures.others, OCHE_P99);
}

static double all_marks(const struct oche_outcome *o, unsigned which)
{
    uint64_t sum = 0;

    (void)which;
    for (unsigned place = 0; place < OCHE_PLACES; place++)
        sum += o->marks[place].marks;
    return (double)sum;
}

static double longest_pause(const struct oche_outcome *o, unsigned which)
{
    oche_time longest = 0;

    (void)which;
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (o->pauses[kind].longest_held > longest)
            longest = o->pauses[kind].longest_held;
    return (double)longest / (double)OCHE_SEC;
}

/* Links crossed beyond the shortest ways, over those. */
static double longer_by(const struct oche_way_sum *sum)
{
    return sum->shortest == 0 ? NAN : (double)(sum->links - sum->shortest) / (double)sum->shortest;
}

static double load_added(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->ways.known ? longer_by(&o->ways.all) : NAN;
}

static double path_dilation(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->ways.known ? longer_by(&o->ways.short_ones) : NAN;
}

static double links_added(const struct oche_outcome *o, unsigned which)
{
    const struct oche_way_sum *sum = &o->ways.deflected;

    (void)which;
    return sum->packets == 0 ? NAN : (double)(sum->links - sum->shortest) / (double)sum->packets;
}

static double deflected_share(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return o->ways.short_ones.flows == 0
               ? NAN
               : (double)o->ways.deflected.flows / (double)o->ways.short_ones.flows;
}

/* ---- where congestion sits ---- */

static double share_of_marks(const struct oche_outcome *o, unsigned which)
{
    const uint64_t all = o->congestion[OCHE_WHERE_ALL].marks;

    return all == 0 ? NAN : (double)o->congestion[which].marks / (double)all;
}

static double share_of_queueing(const struct oche_outcome *o, unsigned which)
{
    const oche_time all = o->congestion[OCHE_WHERE_ALL].queueing;

    return all == 0 ? NAN : (double)o->congestion[which].queueing / (double)all;
}

static double queueing(const struct oche_outcome *o, unsigned which)
{
    const uint64_t packets = o->totals.nic.data_packets_sent;

    return packets == 0
               ? NAN
               : (double)o->congestion[which].queueing / (double)packets / (double)OCHE_SEC;
}

static double queueing_mean(const struct oche_outcome *o, unsigned which)
{
    return o->congestion[which].queueing_mean / (double)OCHE_SEC;
}

static double queueing_worst(const struct oche_outcome *o, unsigned which)
{
    return o->congestion[which].queueing_worst / (double)OCHE_SEC;
}

static double queue_most(const struct oche_outcome *o, unsigned which)
{
    return which == OCHE_WHERE_HOST_NIC ? NAN : (double)o->congestion[which].queue_most;
}

/* ---- the table ---- */

#define OUTCOME(member) offsetof(struct oche_outcome, member), 0, NULL
#define TOTAL(member)   OUTCOME(totals.member)
#define NIC(member)     OUTCOME(totals.nic.member)
#define OF(array, type, member)                                                                    \
    offsetof(struct oche_outcome, array) + offsetof(struct type, member), sizeof(struct type), NULL
#define SIZES(member)  OF(sizes, oche_completion_row, member)
#define USE(member)    OF(utilisation, oche_utilisation_row, member)
#define MARKS(member)  OF(marks, oche_mark_row, member)
#define WHERE(member)  OF(congestion, oche_congestion_row, member)
#define PAUSES(member) OF(pauses, oche_pause_sum, member)
#define PAIR(member)   OF(pairs, oche_pair_row, member)
#define QUEUE(member)                                                                              \
    offsetof(struct oche_outcome_queue, occupancy) +                                               \
        offsetof(struct oche_queue_occupancy, member),                                             \
        sizeof(struct oche_outcome_queue), NULL
#define WORKLOAD(member)                                                                           \
    offsetof(struct oche_workload_outcome, member), sizeof(struct oche_workload_outcome), NULL
#define THRESHOLD(member) OUTCOME(thresholds.member)
#define AT(thousandths)   thousandths, 0, NULL
#define FUNCTION(compute) 0, 0, compute

const struct metric oche_metric_table[] = {
    /* Flows that began during warm-up are in no figure but their own. */
    {"flows.started", number, OF_RUN, COUNTER, OUTCOME(flows), "flows that started after warm-up"},
    {"flows.delivered", number, OF_RUN, COUNTER, OUTCOME(delivered),
     "of these, wholly at their receiver before the end"},
    {"flows.unfinished", number, OF_RUN, COUNTER, OUTCOME(unfinished),
     "of these, neither delivered nor failed at the end"},
    {"flows.failed", number, OF_RUN, COUNTER, OUTCOME(failed), "of these, failed"},
    {"flows.in_warmup", number, OF_RUN, COUNTER, OUTCOME(warmup_flows),
     "flows that began during warm-up; they are in no other figure of flows"},
    {"flows.SIZE.started", number, OF_SIZE, COUNTER, SIZES(flows), "flows.started, by flow size"},
    {"flows.SIZE.delivered", number, OF_SIZE, COUNTER, SIZES(delivered),
     "flows.delivered, by flow size"},
    {"flows.SIZE.failed", number, OF_SIZE, COUNTER, SIZES(failed), "flows.failed, by flow size"},

    {"fct.SIZE.p50", second, OF_DELIVERED, PICOSECONDS, SIZES(time[OCHE_P50]),
     "flow completion time, median of the delivered flows of that size"},
    {"fct.SIZE.p90", second, OF_DELIVERED, PICOSECONDS, SIZES(time[OCHE_P90]), "90th percentile"},
    {"fct.SIZE.p99", second, OF_DELIVERED, PICOSECONDS, SIZES(time[OCHE_P99]), "99th percentile"},
    {"fct.SIZE.p99.9", second, OF_DELIVERED, PICOSECONDS, SIZES(time[OCHE_P999]),
     "99.9th percentile"},
    {"fct.SIZE.mean", second, OF_DELIVERED, PICOSECONDS, SIZES(time_mean), "mean"},
    {"fct.SIZE.max", second, OF_DELIVERED, PICOSECONDS, SIZES(time_max), "largest"},
    {"slowdown.SIZE.p50", ratio, OF_DELIVERED, REAL, SIZES(slowdown[OCHE_P50]),
     "completion time over that of the flow alone, median of the delivered flows of that size"},
    {"slowdown.SIZE.p90", ratio, OF_DELIVERED, REAL, SIZES(slowdown[OCHE_P90]), "90th percentile"},
    {"slowdown.SIZE.p99", ratio, OF_DELIVERED, REAL, SIZES(slowdown[OCHE_P99]), "99th percentile"},
    {"slowdown.SIZE.p99.9", ratio, OF_DELIVERED, REAL, SIZES(slowdown[OCHE_P999]),
     "99.9th percentile"},
    {"slowdown.SIZE.mean", ratio, OF_DELIVERED, REAL, SIZES(slowdown_mean), "mean"},
    {"slowdown.SIZE.max", ratio, OF_DELIVERED, REAL, SIZES(slowdown_max), "largest"},

    {"goodput", rate, OF_RUN, COMPUTED, FUNCTION(goodput),
     "payload delivered in order to all hosts, over the measured time", BOTH},
    {"jain", ratio, OF_RUN, COMPUTED, FUNCTION(jain),
     "Jain's index of the flows' goodputs: 1 when all are equal", BOTH},
    {"flow_goodput.mean", rate, OF_RUN, COMPUTED, FUNCTION(flow_goodput_mean),
     "goodput of a flow from its start to its end, or the run's: mean over flows", BOTH},
    {"flow_goodput.min", rate, OF_RUN, PERCENTILE, AT(0), "smallest", BOTH},
    {"flow_goodput.p10", rate, OF_RUN, PERCENTILE, AT(100), "10th percentile", BOTH},
    {"flow_goodput.p50", rate, OF_RUN, PERCENTILE, AT(500), "median", BOTH},
    {"flow_goodput.p90", rate, OF_RUN, PERCENTILE, AT(900), "90th percentile", BOTH},
    {"flow_goodput.max", rate, OF_RUN, PERCENTILE, AT(1000), "largest", BOTH},
    {"flow.N.goodput", rate, OF_FLOW, COMPUTED, FUNCTION(listed_goodput),
     "goodput of flow N (from 0, as they are listed), where there are at most 16", BOTH},
    {"flow.N.lost_share", ratio, OF_FLOW, COMPUTED, FUNCTION(listed_lost_share),
     "of its time that flow N lost to PAUSEs for congestion that is not on its way"},

    {"pair.N.started", number, OF_PAIR, COUNTER, PAIR(started),
     "transfers from a host to another whose turn came after warm-up: those begun, but for what "
     "waits behind another one on its queue pair; pairs are numbered from 0 as "
     "flows "
     "first name them, where there are at most 16"},
    {"pair.N.delivered", number, OF_PAIR, COUNTER, PAIR(delivered), "of these, delivered"},
    {"pair.N.failed", number, OF_PAIR, COUNTER, PAIR(failed), "of these, failed"},
    {"pair.N.counted", number, OF_PAIR, COUNTER, PAIR(counted),
     "of these, in the pair's goodputs: those that ended, and unfinished ones that have taken "
     "longer than any that was delivered"},
    {"pair.N.goodput.mean", rate, OF_PAIR, REAL, PAIR(mean),
     "goodput of a transfer, mean over those of the pair"},
    {"pair.N.goodput.min", rate, OF_PAIR, REAL, PAIR(least), "smallest"},
    {"pair.N.goodput.p10", rate, OF_PAIR, REAL, PAIR(p10), "10th percentile"},
    {"pair.N.goodput.p50", rate, OF_PAIR, REAL, PAIR(median), "median"},
    {"pair.N.goodput.p90", rate, OF_PAIR, REAL, PAIR(p90), "90th percentile"},
    {"pair.N.goodput.max", rate, OF_PAIR, REAL, PAIR(most), "largest"},
    {"workload.N.flows", number, OF_WORKLOAD, COUNTER, WORKLOAD(flows),
     "flows.started, of entry N (from 0) of the scenario's list of workloads"},
    {"workload.N.delivered", number, OF_WORKLOAD, COUNTER, WORKLOAD(delivered),
     "flows.delivered, of that entry"},
    {"workload.N.failed", number, OF_WORKLOAD, COUNTER, WORKLOAD(failed),
     "flows.failed, of that entry"},
    {"workload.N.delivered_bytes", byte, OF_WORKLOAD, COUNTER, WORKLOAD(delivered_bytes),
     "payload delivered in order of any flow of that entry"},
    {"workload.N.offered", rate, OF_WORKLOAD, REAL, WORKLOAD(offered_bps),
     "payload that applications made for flows of that entry, over the measured time"},
    {"workload.N.backlog", byte, OF_WORKLOAD, COUNTER, WORKLOAD(backlog_bytes),
     "of it, and of what was made before, what receivers did not have at the end"},
    {"workload.N.goodput", rate, OF_WORKLOAD, REAL, WORKLOAD(goodput_bps),
     "that, over the measured time"},
    {"workload.N.flow_goodput.mean", rate, OF_WORKLOAD, COMPUTED, FUNCTION(workload_flows_mean),
     "flow_goodput of that entry: mean over flows"},
    {"workload.N.flow_goodput.min", rate, OF_WORKLOAD, FLOW_PERCENTILE, AT(0), "smallest"},
    {"workload.N.flow_goodput.p10", rate, OF_WORKLOAD, FLOW_PERCENTILE, AT(100), "10th percentile"},
    {"workload.N.flow_goodput.p50", rate, OF_WORKLOAD, FLOW_PERCENTILE, AT(500), "median"},
    {"workload.N.flow_goodput.p90", rate, OF_WORKLOAD, FLOW_PERCENTILE, AT(900), "90th percentile"},
    {"workload.N.flow_goodput.max", rate, OF_WORKLOAD, FLOW_PERCENTILE, AT(1000), "largest"},
    {"workload.N.pair_goodput.mean", rate, OF_WORKLOAD, COMPUTED, FUNCTION(workload_pairs_mean),
     "payload of all flows from a host to another of that entry, over the measured time: mean over "
     "pairs of hosts"},
    {"workload.N.pair_goodput.min", rate, OF_WORKLOAD, PAIR_PERCENTILE, AT(0), "smallest"},
    {"workload.N.pair_goodput.p10", rate, OF_WORKLOAD, PAIR_PERCENTILE, AT(100), "10th percentile"},
    {"workload.N.pair_goodput.p50", rate, OF_WORKLOAD, PAIR_PERCENTILE, AT(500), "median"},
    {"workload.N.pair_goodput.p90", rate, OF_WORKLOAD, PAIR_PERCENTILE, AT(900), "90th percentile"},
    {"workload.N.pair_goodput.max", rate, OF_WORKLOAD, PAIR_PERCENTILE, AT(1000), "largest"},
    {"flow.N.rate", rate, OF_RATED, COMPUTED, FUNCTION(oche_flow_rate),
     "payload of flow N (from 0) delivered in the measured time, over that time; this and what "
     "follows need measure.interval and at most 64 flows, and are meant for flows that do not end",
     BOTH},
    {"rate_gap.mean", rate, OF_RUN, COMPUTED, FUNCTION(oche_rate_gap_mean),
     "fastest flow's rate less the slowest's in a window of measure.interval, mean over windows",
     BOTH},
    {"rate_gap.of_means", rate, OF_RUN, COMPUTED, FUNCTION(oche_rate_gap_of_means),
     "largest flow.N.rate less the smallest", BOTH},
    {"rate_gap.late", rate, OF_RUN, COMPUTED, FUNCTION(oche_rate_gap_late),
     "the same, of rates in the second half of the windows", BOTH},
    {"convergence.time", second, OF_RUN, COMPUTED, FUNCTION(oche_convergence_time),
     "from when on, to the end, the rates are within 10 % of the fair share of each other; left "
     "out if they are not at the end",
     BOTH},
    {"convergence.reached", ratio, OF_RUN, COMPUTED, FUNCTION(oche_convergence_reached),
     "1 if there is such a time, 0 if not", BOTH},
    {"convergence.settled", second, OF_RUN, COMPUTED, FUNCTION(oche_convergence_settled),
     "from when on, to the end, each rate is within 10 % of a flow's part of what all move in the "
     "second half of the windows; left out if they are not at the end",
     BOTH},
    {"convergence.paced", second, OF_RUN, COMPUTED, FUNCTION(oche_convergence_paced),
     "the same of the rates that senders have at the end of each window; needs measure.rates"},
    {"convergence.paced_close", second, OF_RUN, COMPUTED, FUNCTION(oche_convergence_paced_close),
     "the same, each rate within 5 %"},
    {"convergence.first", second, OF_RUN, COMPUTED, FUNCTION(oche_convergence_first),
     "when they are for the first time", BOTH},
    {"convergence.share", ratio, OF_RUN, COMPUTED, FUNCTION(oche_convergence_share),
     "windows in which they are, over all", BOTH},
    {"flow.N.model_distance", rate, OF_RATED, COMPUTED, FUNCTION(oche_flow_model_distance),
     "with model: both, how far flow N's rate is from the fluid model's, mean over windows"},
    {"model_distance", rate, OF_RUN, COMPUTED, FUNCTION(oche_model_distance),
     "mean over flows of these"},

    {"host_goodput.min", rate, OF_RUN, COMPUTED, FUNCTION(host_goodput_least),
     "payload delivered in order to a host, over the measured time: the smallest, of the hosts "
     "that "
     "a flow was for"},
    {"host_goodput.max", rate, OF_RUN, COMPUTED, FUNCTION(host_goodput_most), "largest"},
    {"host_goodput.jain", ratio, OF_RUN, COMPUTED, FUNCTION(host_jain),
     "Jain's index of these: 1 when all are equal; also of flows that began during warm-up"},

    {"delivered_bytes", byte, OF_RUN, COUNTER, NIC(delivered_bytes),
     "payload delivered in order to all hosts"},
    {"delivered_messages", number, OF_RUN, COUNTER, NIC(delivered_messages),
     "messages delivered to all hosts"},
    {"data_packets", number, OF_RUN, COUNTER, NIC(data_packets_sent),
     "data packets that NICs sent, repeated ones too"},
    {"data_bytes", byte, OF_RUN, COUNTER, NIC(data_bytes_sent), "payload in them"},
    {"retransmitted_packets", number, OF_RUN, COUNTER, NIC(retransmitted_packets),
     "data packets that NICs sent again"},
    {"retransmitted_bytes", byte, OF_RUN, COUNTER, NIC(retransmitted_bytes), "payload in them"},
    {"retransmitted_ratio", ratio, OF_RUN, COMPUTED, FUNCTION(retransmitted_ratio),
     "retransmitted_packets over data_packets"},
    {"duplicate_packets", number, OF_RUN, COUNTER, NIC(duplicate_packets),
     "data packets that arrived though their receiver had them"},
    {"out_of_order_packets", number, OF_RUN, COUNTER, NIC(out_of_order_packets),
     "data packets that arrived before one that was expected"},
    {"timeouts", number, OF_RUN, COUNTER, NIC(timeouts), "ACK timers that ran out"},
    {"timeouts.last_packet", number, OF_RUN, COUNTER,
     TOTAL(timeout_causes[OCHE_TIMEOUT_LAST_PACKET]), "of these, because the last packet was lost"},
    {"timeouts.last_ack", number, OF_RUN, COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_LAST_ACK]),
     "of these, because the last ACK was lost"},
    {"timeouts.nak_lost", number, OF_RUN, COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_NAK_LOST]),
     "of these, because the NAK was lost"},
    {"timeouts.lost_twice", number, OF_RUN, COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_LOST_TWICE]),
     "of these, because the same packet was lost twice"},
    {"timeouts.nak_held", number, OF_RUN, COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_NAK_HELD]),
     "of these, because the NAK had to wait for the interval"},
    {"timeouts.other", number, OF_RUN, COUNTER, TOTAL(timeout_causes[OCHE_TIMEOUT_OTHER]),
     "of these, as the answer was on its way, or waited"},
    {"acks", number, OF_RUN, COUNTER, NIC(acks_sent), "ACKs sent"},
    {"naks", number, OF_RUN, COUNTER, NIC(naks_sent), "NAKs sent"},
    {"rnr_naks", number, OF_RUN, COUNTER, NIC(rnr_naks_sent), "RNR NAKs sent"},
    {"cnps", number, OF_RUN, COUNTER, NIC(cnps_sent), "congestion notification packets sent"},
    {"cc_packets", number, OF_RUN, COUNTER, NIC(cc_packets_sent),
     "packets of congestion control's own but CNPs: dart's updates, expresspass's credits"},
    {"SCHEME.COUNTER", number, OF_SCHEME, COMPUTED, FUNCTION(oche_scheme_count),
     "what a congestion-control scheme counts itself"},
    {"SCHEME.COUNTER.packets_share", ratio, OF_SCHEME_PACKETS, COMPUTED,
     FUNCTION(oche_scheme_packets_share), "of all packets that hosts sent"},
    {"SCHEME.COUNTER.bytes_share", ratio, OF_SCHEME_PACKETS, COMPUTED,
     FUNCTION(oche_scheme_bytes_share),
     "whole frames, of all bytes that hosts put on their links, with gaps"},
    {"rejected_packets", number, OF_RUN, COUNTER, TOTAL(rejected_packets),
     "packets that NICs threw away because something is wrong with them"},

    {"drops", number, OF_RUN, COMPUTED, FUNCTION(all_drops), "packets that switches dropped"},
    {"drops.buffer", number, OF_RUN, COUNTER, TOTAL(drops[OCHE_DROP_BUFFER]),
     "of these, because the buffer was full"},
    {"drops.no_route", number, OF_RUN, COUNTER, TOTAL(drops[OCHE_DROP_NO_ROUTE]),
     "of these, without a way to their destination"},
    {"drops.ttl", number, OF_RUN, COUNTER, TOTAL(drops[OCHE_DROP_TTL]), "of these, in a loop"},
    {"drops.mechanism", number, OF_RUN, COUNTER, TOTAL(drops[OCHE_DROP_MECHANISM]),
     "of these, credits of expresspass that a port had no room for"},
    {"drops.link_down", number, OF_RUN, COUNTER, TOTAL(drops[OCHE_DROP_LINK_DOWN]),
     "of these, at a port whose link was down"},
    {"drops.PLACE", number, OF_PLACE, COUNTER, MARKS(drops), "drops, by the place they were for"},
    {"lost", number, OF_RUN, COUNTER, TOTAL(lost_packets), "packets that links lost"},
    {"lost.link_down", number, OF_RUN, COUNTER, TOTAL(cut_packets),
     "of these, as the link went down, or was down"},
    {"lost.PLACE", number, OF_PLACE, COUNTER, offsetof(struct oche_outcome, lost), sizeof(uint64_t),
     NULL, "lost, by the place that sent them"},

    {"failures.lost", number, OF_RUN, COMPUTED, FUNCTION(failures_lost),
     "packets lost because of failures: drops.link_down, drops.no_route, lost.link_down"},
    {"failures.flows", number, OF_RUN, COMPUTED, FUNCTION(failures_flows),
     "flows that these were of"},
    {"failures.flows.failed", number, OF_RUN, COMPUTED, FUNCTION(failures_failed),
     "of them, those that ended in an error"},
    {"failures.timeouts", number, OF_RUN, COMPUTED, FUNCTION(failures_timeouts),
     "ACK timers that ran out, of those of them that are complete"},
    {"failures.slowdown.p50", ratio, OF_RUN, COMPUTED, FUNCTION(failures_slowdown_p50),
     "slowdown of these flows, median"},
    {"failures.slowdown.p99", ratio, OF_RUN, COMPUTED, FUNCTION(failures_slowdown_p99),
     "99th percentile"},
    {"failures.others.slowdown.p50", ratio, OF_RUN, COMPUTED, FUNCTION(others_slowdown_p50),
     "slowdown of all other flows, median"},
    {"failures.others.slowdown.p99", ratio, OF_RUN, COMPUTED, FUNCTION(others_slowdown_p99),
     "99th percentile"},

    {"utilisation.PLACE.mean", ratio, OF_PLACE, REAL, USE(mean),
     "bytes on the line over what it could carry, mean over the links from there"},
    {"utilisation.PLACE.max", ratio, OF_PLACE, REAL, USE(largest), "of the busiest link"},
    {"packets.PLACE", number, OF_PLACE, COUNTER, MARKS(packets), "packets that left from there"},
    {"marks", number, OF_RUN, COMPUTED, FUNCTION(all_marks), "packets marked CE"},
    {"marked_share.SIZE", ratio, OF_SIZE, COMPUTED, FUNCTION(oche_size_marked_share),
     "data packets that arrived with CE, over all that arrived, of flows of that size that started "
     "after warm-up; with measure.ways, or where switches deflect"},
    {"marks.PLACE", number, OF_PLACE, COUNTER, MARKS(marks), "marks, by the place that set them"},

    {"congestion.WHERE.marks", number, OF_WHERE, COUNTER, WHERE(marks),
     "packets marked CE there: see WHERE below"},
    {"congestion.WHERE.marks_share", ratio, OF_WHERE, COMPUTED, FUNCTION(share_of_marks),
     "of all marks"},
    {"congestion.WHERE.queueing", second, OF_WHERE, COMPUTED, FUNCTION(queueing),
     "time that packets waited there to leave, over data packets that NICs sent: what a packet's "
     "way loses there, mean"},
    {"congestion.WHERE.queueing_share", ratio, OF_WHERE, COMPUTED, FUNCTION(share_of_queueing),
     "of all such time"},
    {"congestion.WHERE.queueing_mean", second, OF_WHERE, COMPUTED, FUNCTION(queueing_mean),
     "time that a packet waited there, mean over those that left; at host NICs those with data"},
    {"congestion.WHERE.queueing_worst", second, OF_WHERE, COMPUTED, FUNCTION(queueing_worst),
     "the same, of the port where it is longest"},
    {"congestion.WHERE.queue_max", byte, OF_WHERE, COMPUTED, FUNCTION(queue_most),
     "the longest queue at a switch's port there"},
    {"congestion.WHERE.pause_time", second, OF_WHERE, PICOSECONDS, WHERE(paused),
     "time that ports there were held by PAUSE, summed over ports and classes"},

    {"pauses", number, OF_RUN, COUNTER, TOTAL(pauses_sent), "PAUSE frames (XOFF) that were sent"},
    {"pauses.TIER", number, OF_TIER, COUNTER, PAUSES(sent), "pauses, by who sent them"},
    {"pauses_received.TIER", number, OF_TIER, COUNTER, PAUSES(received),
     "PAUSE frames, refreshes too, by who got them"},
    {"pause_time", second, OF_RUN, PICOSECONDS, TOTAL(pause_time),
     "time that ports were held, summed over ports and classes"},
    {"pause_time.TIER", second, OF_TIER, PICOSECONDS, PAUSES(received_time),
     "pause_time, by whose ports were held"},
    {"pause_time.TIER.max", second, OF_TIER, PICOSECONDS, PAUSES(longest_held),
     "of the port that was held longest"},
    {"pause_time.max", second, OF_RUN, COMPUTED, FUNCTION(longest_pause),
     "of the port that was held longest, wherever it is"},
    {"held_upstream.TIER", second, OF_TIER, PICOSECONDS, PAUSES(sent_time),
     "time that the tier held what sends to it, summed over ports and classes"},
    {"pause_roots", number, OF_RUN, COUNTER, OUTCOME(pathologies.hot_spots),
     "ports where PAUSEs began: they filled though nothing held them"},
    {"victims", number, OF_RUN, COUNTER, OUTCOME(pathologies.victims),
     "flows that lost measure.victim_share of their time to congestion that is not on their way"},
    {"victims.share", ratio, OF_RUN, REAL, OUTCOME(pathologies.victim_share),
     "victims over flows.started"},
    {"victims.lost.max", ratio, OF_RUN, REAL, OUTCOME(pathologies.worst_share),
     "of its time that the worst off flow lost so"},

    {"queue.PORT.mean", byte, OF_PORT, COUNTER, QUEUE(mean_bytes),
     "queue of a port in measure.queues, mean over time", BOTH},
    {"queue.PORT.sd", byte, OF_PORT, REAL, QUEUE(deviation), "standard deviation over time", BOTH},
    {"queue.PORT.p50", byte, OF_PORT, COUNTER, QUEUE(percentile[OCHE_P50]),
     "what it did not exceed for half of the time", BOTH},
    {"queue.PORT.p90", byte, OF_PORT, COUNTER, QUEUE(percentile[OCHE_P90]), "for 90 % of it", BOTH},
    {"queue.PORT.p99", byte, OF_PORT, COUNTER, QUEUE(percentile[OCHE_P99]), "for 99 % of it", BOTH},
    {"queue.PORT.p99.9", byte, OF_PORT, COUNTER, QUEUE(percentile[OCHE_P999]), "for 99.9 % of it",
     BOTH},
    {"queue.PORT.max", byte, OF_PORT, COUNTER, QUEUE(max_bytes), "the most there was in it", BOTH},

    {"thresholds.headroom", byte, OF_THRESHOLDS, REAL, THRESHOLD(headroom),
     "buffer kept for a port and priority after a PAUSE (DCQCN sec 4), in the largest switch"},
    {"thresholds.headroom_all", byte, OF_THRESHOLDS, REAL, THRESHOLD(headroom_all),
     "of all its ports and priorities"},
    {"thresholds.shared", byte, OF_THRESHOLDS, REAL, THRESHOLD(shared), "what is left to share"},
    {"thresholds.static_pfc", byte, OF_THRESHOLDS, REAL, THRESHOLD(static_pfc),
     "static t_PFC, of an ingress port and priority"},
    {"thresholds.static_ecn", byte, OF_THRESHOLDS, REAL, THRESHOLD(static_ecn),
     "queue up to which ECN is sure to act before that"},
    {"thresholds.dynamic_pfc", byte, OF_THRESHOLDS, REAL, THRESHOLD(dynamic_pfc),
     "dynamic t_PFC when all is free"},
    {"thresholds.dynamic_ecn", byte, OF_THRESHOLDS, REAL, THRESHOLD(dynamic_ecn),
     "queue up to which ECN is sure to act before the dynamic t_PFC"},
    {"thresholds.resume", byte, OF_THRESHOLDS, REAL, THRESHOLD(resume),
     "RESUME is sent so far below t_PFC"},
    {"thresholds.frame", byte, OF_THRESHOLDS, REAL, THRESHOLD(frame), "largest frame"},

    {"MECHANISM.COUNTER", number, OF_MECHANISM, COUNTER,
     offsetof(struct oche_outcome, totals.mechanisms), sizeof(uint64_t), NULL,
     "what a mechanism in switch.mechanisms counts: see below"},
    {"iofd.path_dilation", ratio, OF_RUN, COMPUTED, FUNCTION(path_dilation),
     "links beyond the shortest way over those of it, packets of flows that are a short message"},
    {"iofd.load_added", ratio, OF_RUN, COMPUTED, FUNCTION(load_added),
     "the same, data packets of all flows: what deflection adds to the load of links"},
    {"iofd.links_added.mean", number, OF_RUN, COMPUTED, FUNCTION(links_added),
     "links beyond the shortest way, mean over the packets of deflected flows"},
    {"iofd.flows_deflected", ratio, OF_RUN, COMPUTED, FUNCTION(deflected_share),
     "flows with a deflected packet, over all that are a short message"},

    {"simulated_time", second, OF_RUN, PICOSECONDS, OUTCOME(simulated), "warm-up included", BOTH},
    {"measured_time", second, OF_RUN, PICOSECONDS, TOTAL(measured), "after warm-up", BOTH},
    {"packet_hops", number, OF_RUN, COUNTER, TOTAL(hops), "packets times links, the whole run"},
};
const size_t oche_metric_count = COUNT_OF(oche_metric_table);
