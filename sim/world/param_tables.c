/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter tables of the scenario's sections `run`, `routes`, `measure`, `loss`, `events` and
 * `failures`.
 */
#include "sim/world/config.h"

static const struct oche_param run_params[] = {
    {OCHE_PARAM(struct oche_run_params, duration), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice",
     .help = "simulated time, warm-up included; 0: until every flow of the workloads that end by "
             "themselves has arrived"},
    {OCHE_PARAM(struct oche_run_params, warmup), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice", .help = "measures begin here; flows that started before are left out"},
    {OCHE_PARAM(struct oche_run_params, stop_when_done), OCHE_IS_BOOL(true), .where = "our choice",
     .help = "end as soon as every flow has completed"},
    {OCHE_PARAM(struct oche_run_params, bytes), OCHE_IS_BOOL(false), .where = "our choice",
     .help = "encode and decode every packet at every link; same results, slower"},
    {OCHE_PARAM(struct oche_run_params, payload), OCHE_IS_BOOL(false), .where = "our choice",
     .help = "generate, move and check every byte of payload; same results, slower"},
};
const struct oche_param_table oche_run_params =
    OCHE_PARAM_TABLE(run_params, struct oche_run_params);

static const struct oche_param routes_params[] = {
    {OCHE_PARAM(struct oche_routes_params, file), OCHE_IS_TEXT, .where = "our choice",
     .help = "lines of \"SWITCH DESTINATION PORT ...\", instead of shortest paths, and of \"flow "
             "NUMBER HOST SWITCH ... HOST\", paths of single flows"},
    {OCHE_PARAM(struct oche_routes_params, reroute), OCHE_IS_TIME(OCHE_MS, 0, OCHE_NEVER),
     .needs = "failures", .where = "our choice (Dart sec IV-C: never)",
     .help = "from the failure of a link until routes leave it out, and from its repair until they "
             "have it again; a shorter change goes unnoticed"},
};
const struct oche_param_table oche_routes_params =
    OCHE_PARAM_TABLE(routes_params, struct oche_routes_params);

static const struct oche_param measure_params[] = {
    {OCHE_PARAM(struct oche_measure_params, interval),
     OCHE_IS_TIME(OCHE_NEVER, 0, 86400 * OCHE_SEC), .automatic = true, .where = "our choice",
     .help =
         "time between two points of a time series; 0: none are kept; auto: some hundred points "
         "in oche run, none in sweeps; metrics over windows of it need a time of their own"},
    {OCHE_PARAM(struct oche_measure_params, queues), OCHE_IS_TEXT, .where = "our choice",
     .help = "switch ports whose queues are watched, such as \"tor0:host3, core1:2\"; \"tor*:up*\" "
             "is every ToR's uplinks, all every port; of parallel links \"tor0:agg1/2\" is one, "
             "\"tor0:agg1\" all; up to 1,024, and 1 GiB of histograms"},
    {OCHE_PARAM_AS("queue_step", struct oche_measure_params, queue_step_bytes),
     OCHE_IS_BYTES(100, 1, 1000000), .needs = "queues", .where = "our choice",
     .help = "resolution of the watched queues' histograms; percentiles are rounded down to it"},
    {OCHE_PARAM(struct oche_measure_params, rates), OCHE_IS_BOOL(false), .needs = "interval",
     .where = "our choice",
     .help = "time series of each connection's pacing rate, and of what else is known of it "
             "(rogue: window, round trip, limit, shadow switches); the first 128"},
    {OCHE_PARAM(struct oche_measure_params, ways), OCHE_IS_BOOL(false), .where = "Dart sec VI-B",
     .help = "of each flow's packets, as they arrive: how many have CE, links crossed; always "
             "where switches deflect; queue pairs only"},
    {OCHE_PARAM(struct oche_measure_params, victim_share), OCHE_IS_REAL(0.1, 0.001, 1),
     .where = "our choice; DCQCN sec 2.2",
     .help = "a flow that loses this share of its time to congestion elsewhere is a victim"},
};
const struct oche_param_table oche_measure_params =
    OCHE_PARAM_TABLE(measure_params, struct oche_measure_params);

static const char *const loss_where[] = {"all_links", "host_links", "switch_links",
                                         "last_hop",  "first_hop",  NULL};
static const struct oche_param loss_params[] = {
    {OCHE_PARAM(struct oche_loss_params, probability), OCHE_IS_REAL(0, 0, 1),
     .where = "error-recovery.md#l2",
     .help = "of each packet, on each link and direction by itself"},
    {OCHE_PARAM(struct oche_loss_params, pattern), OCHE_IS_TEXT, .where = "error-recovery.md#l2",
     .help = "packets to lose on each link, by number: 3,7,10-19, or every 100, or psn 5; of data "
             "alone after data:, of ACKs and NAKs alone after ack:"},
    {OCHE_PARAM(struct oche_loss_params, where), OCHE_IS_CHOICE(OCHE_LOSS_ALL_LINKS, loss_where),
     .needs = "!port,probability|pattern|late", .where = "error-recovery.md#l2; rogue.md#r30",
     .help = "links that lose or delay packets; last_hop: only towards hosts, so once on each "
             "path; first_hop: only from hosts, so a pattern counts each host's own packets"},
    {OCHE_PARAM(struct oche_loss_params, port), OCHE_IS_TEXT, .needs = "probability|pattern|late",
     .where = "error-recovery.md#l2",
     .help = "only packets that this port sends are lost or late, such as tor0:host3"},
    {OCHE_PARAM(struct oche_loss_params, late), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help = "probability that a packet arrives late, so that others overtake it; where as above"},
    {OCHE_PARAM(struct oche_loss_params, late_least), OCHE_IS_TIME(500 * OCHE_US, 0, OCHE_SEC),
     .needs = "late", .where = "our choice", .help = "late packets are late by at least this"},
    {OCHE_PARAM(struct oche_loss_params, late_most), OCHE_IS_TIME(2500 * OCHE_US, 0, OCHE_SEC),
     .needs = "late", .where = "our choice", .help = "and by at most this"},
};
const struct oche_param_table oche_loss_params =
    OCHE_PARAM_TABLE(loss_params, struct oche_loss_params);

static const struct oche_param events_params[] = {
    {OCHE_PARAM(struct oche_events_params, file), OCHE_IS_TEXT, .where = "our choice",
     .help = "what happens to single packets, by connection, PSN and pass, as for oche exec "
             "--events"},
    {OCHE_PARAM(struct oche_events_params, port), OCHE_IS_TEXT, .where = "our choice",
     .help = "the packets that this port sends, such as tor0:host3, which is the way to host3"},
};
const struct oche_param_table oche_events_params =
    OCHE_PARAM_TABLE(events_params, struct oche_events_params);

static const char *const failure_where[] = {
    [OCHE_FAILURE_SWITCH_LINKS] = "switch_links", [OCHE_FAILURE_HOST_LINKS] = "host_links",
    [OCHE_FAILURE_TOR_LINKS] = "tor_links",       [OCHE_FAILURE_CORE_LINKS] = "core_links",
    [OCHE_FAILURE_ALL_LINKS] = "all_links",       NULL};
static const char *const failure_directions[] = {
    [OCHE_FAILURE_BOTH] = "both", [OCHE_FAILURE_OUT] = "out", [OCHE_FAILURE_IN] = "in", NULL};
static const struct oche_param failure_params[] = {
    {OCHE_PARAM(struct oche_failure_params, link), OCHE_IS_TEXT, .where = "our choice",
     .help = "link that fails, in both directions: leaf0:spine1 (all parallel ones), "
             "leaf0:spine1/2 (one of them), host3 (its only one), or a list"},
    {OCHE_PARAM_AS("switch", struct oche_failure_params, switches), OCHE_IS_TEXT,
     .where = "Dart sec IV-C", .help = "switch of which all links fail: spine1, or a list"},
    {OCHE_PARAM(struct oche_failure_params, random), OCHE_IS_COUNT(0, 0, OCHE_TOPOLOGY_MAX_LINKS),
     .where = "our choice", .help = "this many links fail, drawn with the seed"},
    {OCHE_PARAM(struct oche_failure_params, where),
     OCHE_IS_CHOICE(OCHE_FAILURE_SWITCH_LINKS, failure_where), .needs = "random",
     .where = "our choice",
     .help = "with random: from which links; tor_links: from ToRs up, core_links: to the top"},
    {OCHE_PARAM(struct oche_failure_params, speed), OCHE_IS_REAL(0, 0.001, 1), .zero_is_auto = true,
     .where = "our choice",
     .help = "they do not go down, but keep this share of their rate; auto: all of it with loss, "
             "and else they go down"},
    {OCHE_PARAM(struct oche_failure_params, loss), OCHE_IS_REAL(0, 0, 1), .where = "our choice",
     .help =
         "they do not go down, but lose each packet with this probability; 0: not given, so beside "
         "values that a comparison tries give speed: 1, too"},
    {OCHE_PARAM(struct oche_failure_params, direction),
     OCHE_IS_CHOICE(OCHE_FAILURE_BOTH, failure_directions), .where = "our choice",
     .help = "with speed or loss: in both directions, out (what the first end of link's name or "
             "switch sends; with random: away from hosts) or in"},
    {OCHE_PARAM(struct oche_failure_params, at), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice", .help = "when they fail"},
    {OCHE_PARAM(struct oche_failure_params, until), OCHE_IS_TIME(OCHE_NEVER, 1, OCHE_NEVER),
     .where = "our choice", .help = "when they work again; never: not in this run"},
};
const struct oche_param_table oche_failure_params =
    OCHE_PARAM_TABLE(failure_params, struct oche_failure_params);
