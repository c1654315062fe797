/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table, group by group. */
#include "cli/run/rows.h"

#include <inttypes.h>
#include <math.h>

#include "cli/run/adapter_rows.h"
#include "cli/run/jobs.h"
#include "cli/run/scheme_rows.h"
#include "lab/measures/metrics.h"
#include "lab/measures/steady.h"

/* ---- texts that are not metrics ---- */

static const char *so_far(const struct oche_outcome *o, unsigned which)
{
    return o->listed[which].delivered ? "" : " so far";
}

static void worst_victim(char *cell, const struct oche_outcome *o)
{
    const char *flow = o->pathologies.worst_flow;

    snprintf(cell, OCHE_CELL_BYTES, "%s", flow[0] == '\0' ? OCHE_NO_FIGURE : flow);
}

static void worst_victim_share(char *cell, const struct oche_outcome *o)
{
    static const char name[] = "victims.lost.max";
    const bool any = o->pathologies.worst_flow[0] != '\0';

    snprintf(cell, OCHE_CELL_BYTES, "%s",
             oche_metric_figure(name, any ? oche_metric_value(o, name, 0) : NAN).text);
}

static void jain(char *cell, const struct oche_outcome *o)
{
    static const char name[] = "jain";

    snprintf(cell, OCHE_CELL_BYTES, "%s",
             oche_metric_figure(name, o->compete ? oche_metric_value(o, name, 0) : NAN).text);
}

static void hash(char *cell, const struct oche_outcome *o)
{
    snprintf(cell, OCHE_CELL_BYTES, "%016" PRIx64, o->totals.hash);
}

static void wall(char *cell, const struct oche_outcome *o)
{
    snprintf(cell, OCHE_CELL_BYTES, "%.2f s", o->wall_s);
}

static void steady(char *cell, const struct oche_outcome *o)
{
    char text[OCHE_STEADY_TEXT_BYTES];

    oche_steady_text(&o->steady, text, sizeof(text));
    snprintf(cell, OCHE_CELL_BYTES, "%s", text);
}

static void threads(char *cell, const struct oche_outcome *o)
{
    if (o->processes > 1)
        snprintf(cell, OCHE_CELL_BYTES, "%u in %u processes", o->threads, o->processes);
    else if (o->processors > o->threads)
        snprintf(cell, OCHE_CELL_BYTES, "%u of %u (auto)", o->threads, o->processors);
    else
        snprintf(cell, OCHE_CELL_BYTES, "%u%s", o->threads, o->processors > 0 ? " (auto)" : "");
}

static void speed(char *cell, const struct oche_outcome *o)
{
    if (o->wall_s <= 0)
        snprintf(cell, OCHE_CELL_BYTES, "%s", OCHE_NO_FIGURE);
    else
        snprintf(cell, OCHE_CELL_BYTES, "%.2f M/s", (double)o->totals.hops / o->wall_s / 1e6);
}

/* ---- conditions for showing rows ---- */

/* True if the scheme sends packets of its own and has no row for them. */
static bool other_cc_packets(const struct oche_outcome *o)
{
    return o->totals.nic.cc_packets_sent > 0 && !oche_scheme_tells_own_packets(o);
}

/* True if a rate over the whole run is meaningful: not all flows are started by a clock. */
static bool has_goodput(const struct oche_outcome *o)
{
    return !o->load.known || !o->load.alone;
}

static bool has_no_load(const struct oche_outcome *o)
{
    return !o->load.known;
}

static bool has_load(const struct oche_outcome *o)
{
    return o->load.known;
}

/* True if the workload's flows are not started by a clock. */
static bool is_closed(const struct oche_outcome *o, unsigned which)
{
    return which < o->by_workload.count && !o->by_workload.workloads[which].open;
}

static bool until_stable(const struct oche_outcome *o)
{
    return o->steady.metric[0] != '\0';
}

static bool fails(const struct oche_outcome *o)
{
    return o->failures.count > 0;
}

static bool deflects(const struct oche_outcome *o)
{
    return o->ways.known;
}

static bool several_sizes(const struct oche_outcome *o)
{
    unsigned sizes = 0;

    for (unsigned i = 0; i < OCHE_OUTCOME_SIZES; i++)
        sizes += o->sizes[i].flows > 0;
    return sizes > 1;
}

static bool is_one_size(const struct oche_outcome *o, unsigned which)
{
    (void)o;
    return which < OCHE_OUTCOME_SIZES;
}

static bool supplied(const struct oche_outcome *o)
{
    for (uint32_t w = 0; w < o->by_workload.count; w++)
        if (o->by_workload.workloads[w].supplied)
            return true;
    return false;
}

/* ---- the rows ---- */

#define FLOWS      OCHE_METRICS_FLOWS
#define LOAD       OCHE_METRICS_LOAD
#define LIST       OCHE_METRICS_LIST
#define SLOWDOWNS  OCHE_METRICS_SLOWDOWNS
#define TIMES      OCHE_METRICS_TIMES
#define TRAFFIC    OCHE_METRICS_TRAFFIC
#define PAUSES     OCHE_METRICS_PAUSES
#define DEFLECTION OCHE_METRICS_DEFLECTION
#define LINKS      OCHE_METRICS_LINKS
#define MARKS      OCHE_METRICS_MARKS
#define QUEUES     OCHE_METRICS_QUEUES
#define RUN        OCHE_METRICS_RUN
#define IF_KNOWN   .shown = OCHE_SHOWN_IF_KNOWN
#define WIDE(a, b) .widths = {a, b}
/* A row of all flows; rows of the flows of each size, if there are several sizes. */
#define ALL_SIZES(...)                                                                             \
    {                                                                                              \
        __VA_ARGS__, .each = OCHE_EACH_ALL_SIZES                                                   \
    }
#define BY_SIZE(group_, title_, metric, ...)                                                       \
    {                                                                                              \
        group_, "  ", {metric}, title_, .each = OCHE_EACH_SIZE, .where = "flows.SIZE.started",     \
                                        .samples = "flows.SIZE.delivered", .only = several_sizes,  \
                                        .only_each = is_one_size, __VA_ARGS__                      \
    }

const struct oche_row oche_rows[] = {
    {FLOWS, "flows started", {"flows.started"}, .zero_tells = true},
    {FLOWS, "  delivered", {"flows.delivered"}},
    {FLOWS, "  unfinished at the end", {"flows.unfinished"}},
    {FLOWS, "  failed", {"flows.failed"}},
    {FLOWS, "left out: began in warm-up", {"flows.in_warmup"}},

    {LOAD, "load offered until arrivals stop", {"load.offered"}, .only = has_load},
    {LOAD, "  delivered by then", {"load.delivered"}, .only = has_load, .zero_tells = true},
    {LOAD,
     "  share delivered by then",
     {"load.delivered_share"},
     .only = has_load,
     .zero_tells = true},
    {LOAD, "  all delivered, after that", {"load.drain"}, .only = has_load},
    {LOAD, "goodput, all hosts", {"goodput"}, .only = has_goodput, .zero_tells = true},
    {LOAD, "Jain's index of flow goodputs", .text = jain},

    {LIST, .draw = oche_job_rows},
    {LIST,
     "  ",
     {"flow.N.goodput"},
     "goodput of each flow",
     .each = OCHE_EACH_FLOW,
     .note = so_far,
     .zero_tells = true},
    {LIST,
     "  ",
     {"workload.N.flow_goodput.p10", "workload.N.flow_goodput.p50"},
     "goodput of a flow by workload",
     {"p10", "p50"},
     .each = OCHE_EACH_WORKLOAD,
     WIDE(0, 8)},
    {LIST,
     "  ",
     {"workload.N.pair_goodput.p10", "workload.N.pair_goodput.p50"},
     "goodput of a pair by workload, measured time",
     {"p10", "p50"},
     .each = OCHE_EACH_WORKLOAD,
     WIDE(0, 8),
     .only_each = is_closed},
    {LIST,
     "  ",
     {"workload.N.offered", "workload.N.carried"},
     "load by workload, measured time",
     {"offered", "share carried"},
     .each = OCHE_EACH_WORKLOAD,
     WIDE(0, 8),
     .only = supplied},

    ALL_SIZES(SLOWDOWNS, "slowdown p50", {"slowdown.SIZE.p50"}, .samples = "flows.SIZE.delivered"),
    ALL_SIZES(SLOWDOWNS, "slowdown p90", {"slowdown.SIZE.p90"}),
    ALL_SIZES(SLOWDOWNS, "slowdown p99", {"slowdown.SIZE.p99"}),
    ALL_SIZES(SLOWDOWNS, "slowdown p99.9", {"slowdown.SIZE.p99.9"}),
    ALL_SIZES(SLOWDOWNS, "slowdown max", {"slowdown.SIZE.max"}),
    BY_SIZE(SLOWDOWNS, "slowdown p50 by flow size", "slowdown.SIZE.p50"),
    BY_SIZE(SLOWDOWNS, "slowdown p90 by flow size", "slowdown.SIZE.p90", .by_size = true),
    BY_SIZE(SLOWDOWNS, "slowdown p99 by flow size", "slowdown.SIZE.p99"),
    BY_SIZE(SLOWDOWNS, "slowdown p99.9 by flow size", "slowdown.SIZE.p99.9", .by_size = true),
    BY_SIZE(SLOWDOWNS, "slowdown max by flow size", "slowdown.SIZE.max", .by_size = true),

    ALL_SIZES(TIMES, "FCT p50", {"fct.SIZE.p50"}, .samples = "flows.SIZE.delivered"),
    ALL_SIZES(TIMES, "FCT p90", {"fct.SIZE.p90"}),
    ALL_SIZES(TIMES, "FCT p99", {"fct.SIZE.p99"}),
    ALL_SIZES(TIMES, "FCT p99.9", {"fct.SIZE.p99.9"}),
    ALL_SIZES(TIMES, "FCT max", {"fct.SIZE.max"}),
    BY_SIZE(TIMES, "FCT p50 by flow size", "fct.SIZE.p50", .by_size = true),
    BY_SIZE(TIMES, "FCT p90 by flow size", "fct.SIZE.p90", .by_size = true),
    BY_SIZE(TIMES, "FCT p99 by flow size", "fct.SIZE.p99", .by_size = true),
    BY_SIZE(TIMES, "FCT p99.9 by flow size", "fct.SIZE.p99.9", .by_size = true),
    BY_SIZE(TIMES, "FCT max by flow size", "fct.SIZE.max", .by_size = true),

    {TRAFFIC, "data packets retransmitted", {"retransmitted_packets"}},
    {TRAFFIC, "trimmed packets that arrived", {"trimmed_packets"}},
    {TRAFFIC, "NACKs for them", {"trim_nacks"}},
    {TRAFFIC, "ACK timeouts", {"timeouts"}},
    {TRAFFIC, "  the last packet was lost", {"timeouts.last_packet"}, IF_KNOWN},
    {TRAFFIC, "  the last ACK was lost", {"timeouts.last_ack"}, IF_KNOWN},
    {TRAFFIC, "  the NAK was lost", {"timeouts.nak_lost"}, IF_KNOWN},
    {TRAFFIC, "  the same packet was lost twice", {"timeouts.lost_twice"}, IF_KNOWN},
    {TRAFFIC, "  the NAK waited for its interval", {"timeouts.nak_held"}, IF_KNOWN},
    {TRAFFIC, "  the answer was on its way", {"timeouts.other"}, IF_KNOWN},
    {TRAFFIC, "NAKs", {"naks"}},
    {TRAFFIC, "CNPs", {"cnps"}},
    {TRAFFIC, "other packets of congestion control", {"cc_packets"}, .only = other_cc_packets},
    {TRAFFIC, .draw = oche_scheme_rows},
    {TRAFFIC, .draw = oche_adapter_rows},
    {TRAFFIC,
     "busiest uplink over the mean, ",
     {"imbalance.WHERE"},
     .each = OCHE_EACH_LINK,
     IF_KNOWN},
    {TRAFFIC, "dropped by switches, buffer full", {"drops.buffer"}},
    {TRAFFIC,
     "dropped for another reason",
     {"drops.no_route", "drops.ttl", "rejected_packets"},
     .cell = OCHE_CELL_SUM},
    {TRAFFIC, "dropped by slow receivers", {"receive_buffer.drops"}, IF_KNOWN},
    {TRAFFIC, "lost on links", {"lost"}},
    {TRAFFIC, "storms that watchdogs detected", {"pfc_watchdog.detected"}, IF_KNOWN},
    {TRAFFIC, "  queues restored after them", {"pfc_watchdog.restored"}, IF_KNOWN},
    {TRAFFIC, "  packets that these queues sent", {"pfc_watchdog.tx_packets"}, IF_KNOWN},
    {TRAFFIC, "  packets dropped for the queue", {"pfc_watchdog.tx_dropped"}, IF_KNOWN},
    {TRAFFIC, "  packets dropped from its peer", {"pfc_watchdog.rx_dropped"}, IF_KNOWN},
    {TRAFFIC, "lost to failures: at ports that were down", {"drops.link_down"}, .only = fails},
    {TRAFFIC, "  without a way left", {"drops.no_route"}, .only = fails},
    {TRAFFIC, "  on links that were or went down", {"lost.link_down"}, .only = fails},
    {TRAFFIC, "  flows that lost some of these", {"failures.flows"}, .only = fails},

    {PAUSES, "PAUSE frames sent", {"pauses"}},
    {PAUSES,
     "  by ",
     {"pauses.TIER"},
     .after = " switches",
     .after_host = "s",
     .each = OCHE_EACH_TIER,
     IF_KNOWN},
    {PAUSES,
     "",
     {"pause_time.TIER"},
     .after = " ports held, sum",
     .each = OCHE_EACH_TIER,
     IF_KNOWN},
    {PAUSES, "most that one port was held", {"pause_time.max"}},
    {PAUSES, "ports where PAUSEs began", {"pause_roots"}},
    {PAUSES, "victims of congestion elsewhere", {"victims"}},
    {PAUSES, "  worst off", .text = worst_victim},
    {PAUSES, "  share of its time lost", .text = worst_victim_share},

    {DEFLECTION,
     "deflected flows, of short messages",
     {"iofd.short_flows.deflected", "iofd.short_flows"},
     .cell = OCHE_CELL_PART,
     .only = deflects},
    {DEFLECTION, "deflections", {"iofd.deflections"}, .only = deflects},
    {DEFLECTION, "  refused: no token", {"iofd.refused_no_token"}, .only = deflects},
    {DEFLECTION, "  refused: table full", {"iofd.refused_no_entry"}, .only = deflects},
    {DEFLECTION, "  refused: no other port", {"iofd.refused_no_candidate"}, .only = deflects},
    {DEFLECTION, "  refused: at the receiver's port", {"iofd.refused_last_hop"}, .only = deflects},
    {DEFLECTION,
     "  refused: behind another one",
     {"iofd.refused_follower"},
     .only = deflects,
     IF_KNOWN},
    {DEFLECTION, "most entries at one switch", {"iofd.entries_peak"}, .only = deflects},
    {DEFLECTION, "packets too late for their entry", {"iofd.late"}, .only = deflects, IF_KNOWN},
    {DEFLECTION, "entries that aged", {"iofd.aged"}, .only = deflects},
    {DEFLECTION, "ways of short messages longer by", {"iofd.path_dilation"}, .only = deflects},
    {DEFLECTION, "load of links higher by", {"iofd.load_added"}, .only = deflects},

    {LINKS,
     "  ",
     {"load.utilisation.PLACE.mean", "load.utilisation.PLACE.max"},
     "link use until arrivals stop",
     {"mean", "most"},
     .each = OCHE_EACH_PLACE,
     WIDE(0, 7),
     IF_KNOWN},
    {LINKS,
     "  ",
     {"utilisation.PLACE.mean", "utilisation.PLACE.max"},
     "link utilisation",
     {"mean", "most"},
     .each = OCHE_EACH_PLACE,
     WIDE(0, 7),
     IF_KNOWN,
     .only = has_no_load},

    {MARKS,
     "  ",
     {"marks.PLACE"},
     "packets marked CE",
     .each = OCHE_EACH_PLACE,
     IF_KNOWN,
     .where = "marks"},
    {MARKS,
     "  ",
     {"congestion.WHERE.queueing", "congestion.WHERE.queueing_share"},
     "waiting on a packet's way",
     {"mean", "share"},
     .each = OCHE_EACH_LINK,
     WIDE(0, 7),
     IF_KNOWN},

    {QUEUES,
     "  ",
     {"queue.PORT.p50", "queue.PORT.p90", "queue.PORT.p99", "queue.PORT.p99.9", "queue.PORT.max"},
     "queue, measured time",
     {"p50", "p90", "p99", "p99.9", "most"},
     .each = OCHE_EACH_QUEUE,
     .by_subject = true,
     WIDE(6, 6),
     .zero_tells = true},

    {RUN, "simulated time", {"simulated_time"}},
    {RUN, "  of which measured", {"measured_time"}},
    {RUN, "until stable, 95 % interval", .text = steady, .only = until_stable},
    {RUN, "packet-hops", {"packet_hops"}},
    {RUN, "trace hash", .text = hash},
    {RUN, "threads", .text = threads},
    {RUN, "wall time", .text = wall, .zero_tells = true},
    {RUN, "speed, packet-hops", .text = speed, .zero_tells = true},
};
const size_t oche_row_count = OCHE_COUNT_OF(oche_rows);
