/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures, computed a second time from the counters of ports, flows and samples. Tables must show
 * what was counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/outcome.h"
#include "sim/network/host.h"
#include "sim/world/internal.h"
#include "tests/swarm/judge.h"

#define U(value) ((unsigned long long)(value))

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

/*
 * True if the exact mean lies where the histogram allows: at least at the lower ends of its steps,
 * and below their upper ends. The last step ends at the maximum.
 */
static bool mean_is_in_steps(const struct oche_queue_watch *watch, oche_time now,
                             const struct oche_queue_occupancy *occupancy)
{
    double least = 0, most = 0;

    for (uint32_t step = 0; step < watch->steps; step++) {
        double share = (double)oche_queue_time_at(watch, now, step) / (double)occupancy->watched;
        double low = (double)(step * watch->step_bytes);
        double high = low + (double)(watch->step_bytes - 1);

        if (step + 1 == watch->steps && (double)occupancy->max_bytes > high)
            high = (double)occupancy->max_bytes;
        least += share * low;
        most += share * high;
    }
    return occupancy->mean_bytes >= least * (1 - 1e-9) &&
           occupancy->mean_bytes <= most * (1 + 1e-9);
}

/* The histogram of a watched queue covers all time since the end of warm-up. */
static bool queues_are_watched(const struct oche_world *world, const struct oche_outcome *outcome,
                               char *text, size_t room)
{
    oche_time measured = world->network.now - world->measured_from;

    for (uint32_t i = 0; i < outcome->queue_count; i++) {
        const struct oche_queue_occupancy *occupancy = &outcome->queues[i].occupancy;
        const char *name;
        const struct oche_queue_watch *watch = oche_world_watch(world, i, &name);

        if (occupancy->watched != measured) {
            snprintf(text, room, "queue %u was watched for %llu of %llu ps", i,
                     U(occupancy->watched), U(measured));
            return false;
        }
        if (measured > 0 && !mean_is_in_steps(watch, world->network.now, occupancy)) {
            snprintf(text, room, "queue %u: its mean %g is not in the steps of its histogram", i,
                     occupancy->mean_bytes);
            return false;
        }
    }
    return true;
}

static bool utilisation_is_right(const struct oche_world *world, const struct oche_outcome *outcome,
                                 char *text, size_t room)
{
    const struct oche_topology *topology = &world->topology;
    double sum[OCHE_PLACES] = {0}, measured = (double)(world->network.now - world->measured_from);
    uint64_t ports[OCHE_PLACES] = {0};

    for (uint32_t n = 0; n < topology->host_count + topology->switch_count; n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            enum oche_port_place place = oche_topology_place(topology, n, p);
            uint64_t bytes = oche_world_line_bytes(world, topology->nodes[n].first_port + p);

            ports[place]++;
            sum[place] += 8.0 * (double)bytes * 1e12 / measured /
                          (double)oche_topology_port_link(topology, n, p)->rate_bps;
        }
    for (unsigned place = 0; measured > 0 && place < OCHE_PLACES; place++)
        if (ports[place] != outcome->utilisation[place].ports ||
            (ports[place] > 0 &&
             !is_near(sum[place] / (double)ports[place], outcome->utilisation[place].mean))) {
            snprintf(text, room, "utilisation of %llu ports at place %u: %g, and their mean is %g",
                     U(ports[place]), place, outcome->utilisation[place].mean,
                     sum[place] / (double)ports[place]);
            return false;
        }
    return true;
}

/* Checks that no port is held for longer than the run, or for longer than the longest hold. */
static bool holds_are_right(const struct oche_world *world, const struct oche_outcome *outcome,
                            const struct oche_switch_port_stats *stats, char *text, size_t room)
{
    const struct oche_topology *topology = &world->topology;
    oche_time measured = world->network.now - world->measured_from;
    oche_time longest[OCHE_NODE_KINDS] = {0};

    for (uint32_t n = 0; n < topology->host_count + topology->switch_count; n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++)
            for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
                const struct oche_switch_port_stats *port =
                    &stats[topology->nodes[n].first_port + p];
                oche_time held = port->paused_time[cls];

                if (held > longest[topology->nodes[n].kind])
                    longest[topology->nodes[n].kind] = held;
                if (held <= measured && port->pause_sent_time[cls] <= measured)
                    continue;
                snprintf(text, room, "node %u, port %u: held %llu, holds %llu of %llu ps", n, p,
                         U(held), U(port->pause_sent_time[cls]), U(measured));
                return false;
            }
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (outcome->pauses[kind].longest_held != longest[kind]) {
            snprintf(text, room, "longest hold of kind %u: %llu ps, and of its ports %llu", kind,
                     U(outcome->pauses[kind].longest_held), U(longest[kind]));
            return false;
        }
    return true;
}

static bool flows_are_counted(const struct oche_world *world, const struct oche_outcome *outcome,
                              char *text, size_t room)
{
    uint64_t flows = 0, delivered = 0, before = 0;

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        bool started = world->flows.sent[i].started != OCHE_NEVER;
        bool counts = started && world->flows.sent[i].started >= world->config->run.warmup;

        flows += counts;
        before += started && !counts;
        delivered += counts && world->flows.sent[i].failed == 0 &&
                     world->flows.received[i].delivered != OCHE_NEVER;
    }
    if (flows == outcome->sizes[OCHE_OUTCOME_SIZES].flows &&
        delivered == outcome->sizes[OCHE_OUTCOME_SIZES].delivered &&
        before == outcome->warmup_flows)
        return true;
    snprintf(text, room,
             "%llu flows, %llu before the end of warm-up, %llu delivered, and "
             "counted %llu, %llu, %llu",
             U(flows), U(before), U(delivered), U(outcome->sizes[OCHE_OUTCOME_SIZES].flows),
             U(outcome->warmup_flows), U(outcome->sizes[OCHE_OUTCOME_SIZES].delivered));
    return false;
}

/*
 * The intervals of a gauge that is a total add up to at most its final value. Hosts of other ranks
 * cannot be read here.
 */
static bool totals_add_up(const struct oche_world *world, char *text, size_t room)
{
    const struct oche_endpoint *endpoint = world->config->endpoint;
    const struct oche_gauges *gauges = endpoint != NULL ? endpoint->gauges : NULL;

    for (unsigned g = 0; gauges != NULL && g < gauges->count; g++)
        for (uint32_t at = 0; gauges->rows[g].total && at < oche_world_series_count(world); at++) {
            struct oche_world_series series = oche_world_series(world, at);
            unsigned connection;
            double sum = 0;

            if (strcmp(series.name, gauges->rows[g].name) != 0 ||
                sscanf(series.entity, "connection %u", &connection) != 1)
                continue;
            for (uint32_t row = 0; row < series.count; row++)
                sum += isnan(series.values[row]) ? 0 : series.values[row];
            uint32_t src = world->flows.connections[connection].src;

            if (world->hosts[src] == NULL)
                continue;
            double last = oche_host_gauge(world->hosts[src], g, connection);

            if (sum <= last + 1e-9)
                continue;
            snprintf(text, room, "%s of connection %u: intervals have %g, and in all it is %g",
                     series.name, connection, sum, last);
            return false;
        }
    return true;
}

/*
 * The time since which all rates are equal: they are equal at each later sample, and not at the one
 * before.
 */
static bool rate_gap_is_right(const struct oche_outcome *outcome, char *text, size_t room)
{
    const struct oche_rates *rates = &outcome->rates;
    uint32_t since = rates->windows;

    if (rates->flows == 0 || rates->windows == 0)
        return true;
    struct oche_rate_gap gap = oche_rate_gap(rates);

    for (uint32_t w = rates->windows; w-- > 0; since = w) {
        double least = INFINITY, most = 0, sum = 0;

        for (uint32_t f = 0; f < rates->flows; f++) {
            double rate = rates->rates[(size_t)f * rates->windows + w];

            least = fmin(least, rate);
            most = fmax(most, rate);
            sum += rate;
        }
        if (!(most - least < OCHE_EQUAL_SHARE * (sum / rates->flows)))
            break;
    }
    if (gap.since == since)
        return true;
    snprintf(text, room, "rates are equal since window %u, and are said to be since %u", since,
             gap.since);
    return false;
}

bool swarm_measures(struct oche_world *world, const struct oche_outcome *outcome, char *text,
                    size_t room)
{
    struct oche_switch_port_stats *stats = calloc(world->network.port_count, sizeof(*stats));

    OCHE_MUST(stats != NULL);
    oche_world_port_stats(world, stats);
    bool fine = holds_are_right(world, outcome, stats, text, room) &&
                queues_are_watched(world, outcome, text, room) &&
                utilisation_is_right(world, outcome, text, room) &&
                flows_are_counted(world, outcome, text, room) && totals_add_up(world, text, room) &&
                rate_gap_is_right(outcome, text, room);

    free(stats);
    return fine;
}
