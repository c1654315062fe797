/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for every world that has run. */
#include <stdlib.h>
#include <string.h>

#include "core/qp/check.h"
#include "fabric/credit_shaper.h"
#include "fabric/ib_credits.h"
#include "fabric/invariants.h"
#include "fabric/iofd.h"
#include "fabric/pfc_watchdog.h"
#include "fabric/shared_buffer.h"
#include "sim/network/host.h"
#include "sim/network/host_state.h"
#include "sim/network/invariants.h"
#include "sim/world/internal.h"
#include "tests/swarm/judge.h"

/* After the last flow's end, everything has arrived within this time. */
#define DRY (50 * OCHE_MS)

#define SLOW 10000000 /* bits per second: half a megabyte in less than a second */

#define U(value) ((unsigned long long)(value))

static bool is_rogue(const struct oche_world_config *config)
{
    return config->endpoint != NULL && strcmp(config->endpoint->name, "rogue") == 0;
}

/* ---- flows ---- */

/* True if routes may change while packets are in flight. */
static bool reroutes(const struct oche_world_config *config)
{
    return config->failure_count > 0 && config->routes.reroute != OCHE_NEVER;
}

static bool flow_is_right(const struct swarm_run *run, uint32_t i, struct swarm_verdict *verdict)
{
    const struct oche_flows *flows = oche_world_flows(run->world);
    const struct oche_flow_plan *plan = &flows->plan[i];
    const struct oche_flow_sent *sent = &flows->sent[i];
    const struct oche_flow_received *received = &flows->received[i];
    bool delivered = received->delivered != OCHE_NEVER, ended = sent->completed != OCHE_NEVER;

    if (sent->started == OCHE_NEVER)
        return (!delivered && !ended) ||
               swarm_finding(verdict, "flow", "flow %u ends and never started", i);
    uint64_t arrived = oche_world_flow_bytes(run->world, i);

    if (arrived > plan->bytes || (delivered && arrived != plan->bytes))
        return swarm_finding(verdict, "flow", "flow %u: %llu of %llu bytes arrived, delivered %d",
                             i, U(arrived), U(plan->bytes), delivered);
    if (ended && sent->failed == 0 && !delivered && !received->arrived && !received->passed_over &&
        !is_rogue(oche_world_config(run->world)))
        return swarm_finding(verdict, "flow", "flow %u is completed and not delivered", i);
    if ((delivered && received->delivered < sent->started) ||
        (ended && sent->completed < sent->started))
        return swarm_finding(verdict, "flow", "flow %u ends before it starts", i);
    /*
     * Some flows may be faster than alone: RoGUE's verbs may be shorter than packets, which then
     * cross switches sooner. After a deflection or a change of routes, or where packets are spread
     * over paths, they may take a path that the ideal time does not know.
     */
    if (delivered && !oche_world_has_static_routes(oche_world_config(run->world)) &&
        !reroutes(oche_world_config(run->world)) &&
        (sent->retransmitted_packets == 0 ||
         oche_world_mechanism(oche_world_config(run->world), &oche_iofd) == NULL) &&
        !is_rogue(oche_world_config(run->world)) &&
        oche_world_reordering_mechanism(oche_world_config(run->world)) == NULL &&
        !oche_world_spreads(oche_world_config(run->world)) &&
        received->delivered - sent->started < oche_world_ideal_time(run->world, i))
        return swarm_finding(verdict, "ideal", "flow %u takes %llu ps, and alone %llu", i,
                             U(received->delivered - sent->started),
                             U(oche_world_ideal_time(run->world, i)));
    return true;
}

static bool flows_are_right(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    for (OCHE_EACH_MADE_FLOW(i, oche_world_flows(run->world)))
        if (!flow_is_right(run, i, verdict))
            return false;
    return true;
}

/* ---- books ---- */

/*
 * Returns packets that are neither received nor in flight: dropped, lost, or too late for any flow.
 */
static uint64_t gone_of(const struct oche_world_totals *totals)
{
    uint64_t gone = totals->lost_packets + totals->late_packets + totals->rejected_packets;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        gone += totals->drops[cause];
    return gone + totals->dropped_by_hosts;
}

/*
 * Other transports than the RNIC count packets at both ends; some of their packets are in no count.
 */
static bool counts_are_possible(const struct swarm_run *run, uint64_t sent, uint64_t received,
                                uint64_t copies, uint64_t gone, struct swarm_verdict *verdict)
{
    const struct oche_nic_stats *nic = &run->totals.nic;

    if (nic->data_packets_received > nic->data_packets_sent + copies ||
        nic->acks_received > nic->acks_sent || nic->cc_packets_received > nic->cc_packets_sent ||
        sent > received + gone + run->totals.live_packets)
        return swarm_finding(verdict, "books",
                             "sent %llu, of these data %llu, received %llu, data %llu, gone %llu, "
                             "live %llu",
                             U(sent), U(nic->data_packets_sent), U(received),
                             U(nic->data_packets_received), U(gone), U(run->totals.live_packets));
    return true;
}

static bool books_are_kept(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_world_totals *totals = &run->totals;
    const struct oche_nic_stats *nic = &totals->nic;
    uint64_t sent = nic->data_packets_sent + nic->acks_sent + nic->naks_sent + nic->cnps_sent +
                    nic->cc_packets_sent + nic->trim_nacks_sent;
    uint64_t received = nic->data_packets_received + nic->acks_received + nic->naks_received +
                        nic->cnps_received + nic->cc_packets_received + nic->trimmed_packets +
                        nic->trim_nacks_received;
    struct oche_world_events events = {.counts = {.listed = 0}};
    const bool scripted = oche_world_event_counts(run->world, &events);
    const uint64_t copies =
        scripted ? events.counts.by_type[OCHE_PACKET_EVENT_DUPLICATE] : 0; /* sent by no NIC */
    uint64_t gone = gone_of(totals) + (scripted ? events.counts.kept : 0);
    bool frames = oche_world_mechanism(config, &oche_ib_credits) != NULL || config->switches.pfc;

    if (totals->drops[OCHE_DROP_TTL] > 0 && !oche_world_has_static_routes(config))
        return swarm_finding(verdict, "loop", "%llu packets crossed too many links",
                             U(totals->drops[OCHE_DROP_TTL]));
    if (config->run.warmup > 0)
        return true; /* packets sent during warm-up arrive later */
    if (config->endpoint != NULL)
        return counts_are_possible(run, sent + copies, received, copies, gone, verdict);
    sent += copies;
    if (sent < received + gone || sent - received - gone > totals->live_packets ||
        (!frames && sent - received - gone != totals->live_packets))
        return swarm_finding(verdict, "books",
                             "sent %llu, received %llu, gone %llu (late %llu, rejected %llu, lost "
                             "on links %llu), live %llu",
                             U(sent), U(received), U(gone), U(totals->late_packets),
                             U(totals->rejected_packets), U(totals->lost_packets),
                             U(totals->live_packets));
    if (totals->rejected_packets > 0 && totals->flows_failed == 0)
        return swarm_finding(verdict, "rejected", "%llu packets", U(totals->rejected_packets));
    return true;
}

/* True if a READ has failed: its flow then does not show what had arrived (ROADMAP.md). */
static bool a_read_failed(const struct oche_flows *flows)
{
    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (flows->plan[i].verb == OCHE_VERB_READ && flows->sent[i].failed != OCHE_STATUS_SUCCESS)
            return true;
    return false;
}

/* Checks that receivers count the bytes of the flows, each byte once. */
static bool bytes_are_right(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_flows *flows = oche_world_flows(run->world);
    uint64_t bytes = 0;

    if (config->run.warmup > 0 || is_rogue(config))
        return true;
    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (flows->sent[i].started != OCHE_NEVER)
            bytes += oche_world_flow_bytes(run->world, i);
    if (bytes > run->totals.nic.delivered_bytes ||
        (bytes < run->totals.nic.delivered_bytes && !a_read_failed(flows)))
        return swarm_finding(verdict, "once", "%llu bytes are delivered, and flows have %llu",
                             U(run->totals.nic.delivered_bytes), U(bytes));
    return true;
}

/* ---- no loss ---- */

static bool is_lossless(const struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_pfc_watchdog_params *watchdog =
        oche_world_mechanism(config, &oche_pfc_watchdog);
    struct oche_headroom_lack lack;

    if (config->failure_count > 0)
        return false;
    if (watchdog != NULL && watchdog->action == OCHE_PFC_WATCHDOG_FORWARD)
        return false; /* it sends to those who have no room */
    if (oche_world_mechanism(config, &oche_ib_credits) != NULL)
        return true;
    if (config->loss.late > 0 ||
        config->scripted.file != NULL) /* headroom is computed for packets that arrive on time */
        return false;
    /* Other endpoints may have lossy classes. */
    return config->switches.pfc && config->endpoint == NULL &&
           !oche_world_headroom_lack(run->world, &lack);
}

/* The credits of ExpressPass that wait at a port fit its credit queue. */
static bool credits_are_few(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_credit_shaper_params *shaper =
        oche_world_mechanism(config, &oche_credit_shaper);

    for (size_t i = 0; shaper != NULL && oche_switch_mechanisms[i] != NULL; i++) {
        uint64_t peak = run->totals.mechanisms[i][OCHE_CREDIT_SHAPER_QUEUE_PEAK];

        if (oche_switch_mechanisms[i] == &oche_credit_shaper && peak > shaper->queue)
            return swarm_finding(verdict, "credits", "%llu wait at a port that holds %llu", U(peak),
                                 U(shaper->queue));
    }
    return true;
}

static bool nothing_is_dropped(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_ib_credits_params *credits = oche_world_mechanism(config, &oche_ib_credits);

    if (is_lossless(run) && run->totals.drops[OCHE_DROP_BUFFER] > 0)
        return swarm_finding(verdict, "lossless", "%llu packets are dropped",
                             U(run->totals.drops[OCHE_DROP_BUFFER]));
    if (!credits_are_few(run, verdict) || !swarm_slow_hosts(run, is_lossless(run), verdict))
        return false;
    for (uint32_t m = 0; credits != NULL && m < config->mechanism_count; m++)
        for (uint32_t s = 0; s < oche_world_topology(run->world)->switch_count; s++) {
            uint64_t counted[OCHE_MOST_MECHANISM_COUNTERS];

            if (config->mechanisms[m] != &oche_ib_credits)
                continue;
            oche_switch_mechanism_counters(oche_world_switch(run->world, s), m, counted);
            if (counted[OCHE_IB_CREDITS_PEAK] > credits->buffer_bytes)
                return swarm_finding(verdict, "credits", "a buffer of %llu bytes holds %llu",
                                     U(credits->buffer_bytes), U(counted[OCHE_IB_CREDITS_PEAK]));
        }
    return true;
}

/* ---- the end of the run ---- */

static bool switch_is_empty(const struct swarm_run *run, uint32_t number,
                            struct swarm_verdict *verdict)
{
    const struct oche_world *world = run->world;
    const struct oche_switch *sw = world->switches[number];
    uint32_t ports = world->topology.nodes[world->topology.host_count + number].port_count;
    uint64_t held = 0;
    unsigned pausing = 0;

    for (uint32_t p = 0; p < ports; p++) {
        held += oche_switch_queue_bytes(sw, p);
        for (unsigned cls = 0; cls < world->class_count; cls++) {
            held += oche_switch_ingress_bytes(sw, p, cls);
            pausing += oche_switch_is_pausing(sw, p, cls) + oche_switch_is_paused(sw, p, cls);
        }
    }
    if (oche_switch_occupied_bytes(sw) != 0 || held != 0 || pausing != 0)
        return swarm_finding(verdict, "ended",
                             "switch %u: occupied %llu, in queues and accounts %llu, paused %u",
                             number, U(oche_switch_occupied_bytes(sw)), U(held), pausing);
    return true;
}

static bool end_is_clean(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_flows *flows = oche_world_flows(run->world);
    const struct oche_world *world = run->world;
    oche_time last = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        if (flows->sent[i].completed == OCHE_NEVER)
            return true;
        if (flows->sent[i].completed > last)
            last = flows->sent[i].completed;
    }
    if (world->network.now < oche_time_add(swarm_slow_until(world, last), DRY) ||
        world->failures != NULL)
        return true;
    for (uint32_t s = 0; s < world->topology.switch_count; s++)
        if (!switch_is_empty(run, s, verdict))
            return false;
    if (run->totals.any_port_paused)
        return swarm_finding(verdict, "ended", "a port is paused");
    if (run->totals.live_packets > 0 &&
        oche_world_mechanism(world->config, &oche_ib_credits) == NULL)
        return swarm_finding(verdict, "ended", "%llu packets are on their way",
                             U(run->totals.live_packets));
    return true;
}

/* PFC deadlocks only where packets may turn back. */
static bool deadlock_is_allowed(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const struct oche_iofd_params *iofd = oche_world_mechanism(config, &oche_iofd);

    if (oche_world_deadlock(run->world) == NULL || (iofd != NULL && iofd->lanes != 0) ||
        oche_world_has_static_routes(config) || strcmp(config->topology->name, "from_file") == 0)
        return true;
    return swarm_finding(verdict, "deadlock", "though packets go up and then down");
}

bool swarm_is_silent(const struct oche_world *world)
{
    for (uint32_t s = 0; s < world->network.shard_count; s++)
        if (oche_events_next_time(&world->network.shards[s].events) != OCHE_NEVER)
            return false;
    return true;
}

/* True if a flow may stay incomplete: the scenario makes some host wait for ever. */
static bool may_hang(const struct swarm_run *run)
{
    const struct oche_bindings *bindings = &run->scenario->bindings;

    if (swarm_slow_until(run->world, 0) > run->world->network.now)
        return true;
    for (size_t i = 0; i < bindings->count; i++) {
        const struct oche_bound *bound = &bindings->bound[i];
        const char *section = bound->section->name;

        if (strcmp(section, "host") != 0 && strcmp(section, "recovery") != 0 &&
            strcmp(section, "congestion_control") != 0)
            continue;
        for (size_t k = 0; k < bound->table->count; k++) {
            const struct oche_param *param = &bound->table->params[k];

            if (param->unit == OCHE_UNIT_TIME && param->preset.u != OCHE_NEVER &&
                oche_param_get(param, bound->values).u == OCHE_NEVER)
                return true;
        }
    }
    return false;
}

static bool nobody_is_stuck(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    const struct oche_world *world = run->world;

    if (!swarm_is_silent(world) || oche_world_deadlock(world) != NULL || may_hang(run))
        return true;
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (world->flows.sent[i].started != OCHE_NEVER &&
            world->flows.sent[i].completed == OCHE_NEVER)
            return swarm_finding(verdict, "stuck",
                                 "flow %u is not done, and nothing will ever happen", i);
    return true;
}

bool swarm_none_hangs(const struct oche_world *world, struct swarm_verdict *verdict)
{
    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        const struct oche_nic *nic = world->hosts[i]->nic;
        const struct oche_qp *hung = nic == NULL ? NULL : oche_nic_hung(nic);

        if (hung != NULL)
            return swarm_finding(verdict, "hung",
                                 "host %u: queue pair %x waits for %s, and nothing wakes it", i,
                                 oche_qp_number(hung), oche_qp_waits_for(hung));
    }
    return true;
}

static bool no_switch_is_broken(const struct oche_world *world, struct swarm_verdict *verdict)
{
    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        uint32_t port;
        const char *broken = oche_switch_broken(world->switches[i], &port);

        if (broken != NULL)
            return swarm_finding(verdict, "invariant",
                                 "switch %u, port %d: it does not hold that %s", i, (int)port,
                                 broken);
    }
    return true;
}

static bool schedule_is_not_broken(const struct oche_world *world, struct swarm_verdict *verdict)
{
    uint32_t node;
    const char *broken = oche_network_broken(&world->network, &node);

    return broken == NULL || swarm_finding(verdict, "invariant",
                                           "node %d: it does not hold that %s", (int)node, broken);
}

bool swarm_none_is_broken(const struct oche_world *world, struct swarm_verdict *verdict)
{
    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        const struct oche_nic *nic = world->hosts[i]->nic;
        const struct oche_qp *which = NULL;
        const char *broken = nic == NULL ? NULL : oche_nic_check(nic, &which);

        if (broken != NULL)
            return swarm_finding(verdict, "invariant",
                                 "host %u, queue pair %x: it does not hold that %s", i,
                                 which == NULL ? 0 : oche_qp_number(which), broken);
    }
    return no_switch_is_broken(world, verdict) && schedule_is_not_broken(world, verdict);
}

/*
 * The progress of a flow: the bytes in order at its receiver, and all bytes that have arrived at
 * its host. The second is needed because go-back-0 delivers a message as a whole.
 */
static uint64_t arrived_of(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];

    return oche_world_flow_bytes(world, flow) +
           oche_host_stats(world->hosts[plan->dst])->data_bytes_received +
           oche_host_stats(world->hosts[plan->src])->data_bytes_received;
}

uint64_t *swarm_note_arrived(const struct swarm_run *run)
{
    const struct oche_world *world = run->world;
    uint64_t *arrived = malloc((world->flows.count + 1) * sizeof(*arrived));

    OCHE_MUST(arrived != NULL);
    memset(arrived, 0xff, (world->flows.count + 1) * sizeof(*arrived));
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        arrived[i] = world->flows.sent[i].started == OCHE_NEVER ? UINT64_MAX : arrived_of(world, i);
    return arrived;
}

/* True if the switches' buffer is smaller than a large packet. */
static bool is_too_small(const struct oche_switch_params *switches, double room)
{
    return (switches->port_buffer_bytes != 0 && (double)switches->port_buffer_bytes < room) ||
           (switches->egress_alpha > 0 &&
            switches->egress_alpha * (double)switches->buffer_bytes < room) ||
           (double)switches->buffer_bytes < 2 * room;
}

/* True if a buffer is smaller than a large packet, or if too much is lost for progress. */
static bool is_hopeless(const struct swarm_run *run)
{
    const struct oche_world_config *config = &run->scenario->config;
    double room = 3.0 * oche_world_packets(config).frame_bytes;
    uint64_t gone = run->totals.lost_packets;

    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (is_too_small(oche_world_of_tier(config, kind), room))
            return true;
    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        gone += run->totals.drops[cause];
    gone += run->totals.dropped_by_hosts;
    return gone > run->totals.nic.data_packets_sent / 4;
}

/* True if congestion control may slow a flow down to one packet in seconds. */
static bool crawls(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flow_plan *plan = &world->flows.plan[flow];
    uint64_t rate = oche_host_rate_bps(world->hosts[plan->src], plan->connection);

    if (world->config->endpoint != NULL && world->config->endpoint->receiver_sets_rate)
        rate = oche_host_rate_bps(world->hosts[plan->dst], plan->connection);
    return rate != 0 && rate < SLOW;
}

static bool came_on(const struct oche_world *world, uint32_t flow, const uint64_t *before)
{
    return before[flow] == UINT64_MAX || world->flows.sent[flow].completed != OCHE_NEVER ||
           world->flows.received[flow].delivered != OCHE_NEVER ||
           arrived_of(world, flow) != before[flow];
}

bool swarm_all_came_on(const struct oche_world *world, const uint64_t *before)
{
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (!came_on(world, i, before))
            return false;
    return true;
}

bool swarm_comes_on(const struct swarm_run *longer, const uint64_t *before,
                    struct swarm_verdict *verdict)
{
    const struct oche_world *world = longer->world;

    if (oche_world_deadlock(world) != NULL || may_hang(longer) || is_hopeless(longer) ||
        world->config->failure_count > 0 || oche_world_has_static_routes(world->config) ||
        world->config->loss.probability > 0.2)
        return true;
    if (!nobody_is_stuck(longer, verdict))
        return false;
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (!came_on(world, i, before) && !crawls(world, i))
            return swarm_finding(verdict, "starved", "flow %u of %llu bytes does not come on", i,
                                 U(world->flows.plan[i].bytes));
    return true;
}

bool swarm_rules(const struct swarm_run *run, struct swarm_verdict *verdict)
{
    if (run->broken[0] != '\0')
        return swarm_finding(verdict, run->rule, "%s", run->broken);
    return flows_are_right(run, verdict) && books_are_kept(run, verdict) &&
           bytes_are_right(run, verdict) && nothing_is_dropped(run, verdict) &&
           deadlock_is_allowed(run, verdict) && swarm_none_hangs(run->world, verdict) &&
           swarm_none_is_broken(run->world, verdict) && nobody_is_stuck(run, verdict) &&
           end_is_clean(run, verdict);
}
