/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time series of a world: goodput of all hosts together, of each host in small worlds, and of each
 * flow if there are few; PAUSE frames, how long ports were held, watched queues, pacing rates and
 * what else endpoints tell of connections (sim/network/gauge.h). Sampled between windows, so any
 * number of threads gives the same values.
 */
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/sparse_memory.h"

#define GOODPUT_HOSTS 64 /* with more hosts, single hosts have no series of goodput */
#define GOODPUT_FLOWS 64 /* with more flows, single flows have no series of goodput */
#define FIRST_HOST    2  /* the first host's column; before it: total goodput, PAUSE frames */

static void add_column(struct oche_world *world, const char *name, const char *unit,
                       enum oche_world_join join, const char *entity)
{
    struct oche_world_column *column = &world->columns[world->column_count++];

    column->name = name;
    column->unit = unit;
    column->join = join;
    column->entity = strdup(entity);
    if (column->entity == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for series");
}

static uint32_t rate_series(const struct oche_world *world)
{
    uint32_t count = world->flows.connection_count;

    if (!world->config->measure.rates)
        return 0;
    return count < OCHE_WORLD_MOST_RATE_SERIES ? count : OCHE_WORLD_MOST_RATE_SERIES;
}

static uint32_t goodput_hosts(const struct oche_world *world)
{
    return world->topology.host_count <= GOODPUT_HOSTS ? world->topology.host_count : 0;
}

static uint32_t goodput_flows(const struct oche_world *world)
{
    return world->flows.count <= GOODPUT_FLOWS ? world->flows.count : 0;
}

/* Returns the endpoints' gauges; a table without rows if they have none. All hosts have the same.
 */
static const struct oche_gauges *gauges_of(const struct oche_world *world)
{
    static const struct oche_gauges none = {0};
    const struct oche_endpoint *endpoint = world->config->endpoint;
    const struct oche_gauges *gauges =
        endpoint != NULL ? endpoint->gauges : oche_endpoint_rnic.gauges;

    return gauges == NULL ? &none : gauges;
}

/* Returns the number of columns that show the increase of a counter in the interval. */
static uint32_t counter_columns(const struct oche_world *world)
{
    return FIRST_HOST + goodput_hosts(world) + goodput_flows(world);
}

/* True if this process has the flow's receiver. */
static bool ends_here(const struct oche_world *world, uint32_t flow)
{
    return oche_flow_is_made(&world->flows, flow) &&
           oche_world_has(world, world->flows.plan[flow].dst);
}

/*
 * Reads the counters of the goodput columns: total, hosts, flows. The column in between is the
 * number of PAUSEs, `pauses`. A rank reads the counters of its own hosts; then all ranks get the
 * sums.
 */
static void read_counters(const struct oche_world *world, uint64_t pauses, uint64_t *out)
{
    uint64_t all = 0;
    uint32_t at = FIRST_HOST;

    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        uint64_t bytes =
            oche_world_has(world, i) ? oche_host_stats(world->hosts[i])->delivered_bytes : 0;
        all += bytes;
        if (i < goodput_hosts(world))
            out[at++] = bytes;
    }
    for (uint32_t i = 0; i < goodput_flows(world); i++)
        out[at++] = ends_here(world, i) ? oche_world_flow_bytes(world, i) : 0;
    out[0] = all;
    out[1] = pauses;
    oche_ranks_sum(world->network.ranks, out, at);
    for (uint32_t i = 0; i < goodput_flows(world); i++) {
        uint64_t before = world->column_last[FIRST_HOST + goodput_hosts(world) + i];
        uint64_t *bytes = &out[FIRST_HOST + goodput_hosts(world) + i];
        /*
         * After a receiver has gone back to the start of a message, nothing new arrives for a
         * while.
         */
        *bytes = *bytes > before ? *bytes : before;
    }
}

/*
 * Notes how long a port was held since the last sample, that is, its class that was held longest.
 */
static void sample_hold(struct oche_world *world, uint32_t node, uint32_t port,
                        const oche_time paused[OCHE_CLASSES])
{
    oche_time *last =
        &world->paused_last[(world->topology.nodes[node].first_port + port) * (size_t)OCHE_CLASSES];
    oche_time longest = 0;

    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        oche_time more = paused[cls] - last[cls];
        longest = more > longest ? more : longest;
        last[cls] = paused[cls];
    }
    if (longest == 0)
        return;
    if (world->paused_count == world->paused_capacity) {
        world->paused_capacity = world->paused_capacity == 0 ? 1024 : world->paused_capacity * 2;
        world->paused_ports =
            realloc(world->paused_ports, world->paused_capacity * sizeof(*world->paused_ports));
        if (world->paused_ports == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for series");
    }
    world->paused_ports[world->paused_count++] = (struct oche_world_paused_port){
        .node = node, .port = port, .row = world->rows, .held = longest};
}

/* Returns how many PAUSE frames a host has sent. */
static uint64_t sent_by_host(const struct oche_host *host, oche_time now)
{
    struct oche_switch_port_stats port = {.packets = 0};
    uint64_t sum = 0;

    oche_slow_host_pauses(host, now, &port);
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        sum += port.pauses_sent[cls];
    return sum;
}

/* True if no PFC frame has come to the switch or left it so far. */
static bool is_quiet(const struct oche_world *world, uint32_t node)
{
    return world->network.nodes[node].pauses == NULL;
}

/* True if the host has got no PAUSE, as its switch has sent none, and sends none. */
static bool is_quiet_host(const struct oche_world *world, uint32_t host)
{
    const struct oche_port *port = &world->network.ports[world->network.nodes[host].first_port];
    uint32_t peer;

    if (port->peer == UINT32_MAX)
        return false;
    peer = world->network.ports[port->peer].node;
    return peer >= world->topology.host_count && oche_world_has(world, peer) &&
           is_quiet(world, peer);
}

/*
 * Notes how long ports were held by PAUSE. Returns how many PAUSE frames have been sent. In a large
 * network nearly all ports never have to do with one, and are passed by.
 */
static uint64_t sample_pauses(struct oche_world *world)
{
    const struct oche_topology *topology = &world->topology;
    oche_time now = world->network.now, paused[OCHE_CLASSES];
    uint64_t sum = 0;

    for (uint32_t i = 0; i < topology->host_count; i++) {
        if (!oche_world_has(world, i))
            continue;
        sum += sent_by_host(world->hosts[i], now);
        if (is_quiet_host(world, i))
            continue;
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
            paused[cls] = oche_pause_time(oche_host_pause(world->hosts[i]), cls, now);
        sample_hold(world, i, 0, paused);
    }
    for (uint32_t i = 0; i < topology->switch_count; i++) {
        uint32_t node = topology->host_count + i;

        if (!oche_world_has(world, node) || is_quiet(world, node))
            continue;
        for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
            struct oche_switch_port_stats stats;
            oche_switch_port_stats(world->switches[i], port, now, &stats);
            for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
                sum += stats.pauses_sent[cls];
            sample_hold(world, node, port, stats.paused_time);
        }
    }
    return sum;
}

/* Returns the host at which a connection begins, also if it is not made here. */
static uint32_t source_of(const struct oche_world *world, uint32_t connection)
{
    const struct oche_flow_source *source =
        oche_flows_source_of_connection(&world->flows, connection);

    return source != NULL ? source->flow.src : world->flows.connections[connection].src;
}

/* Returns the present value of a gauge; 0 if the connection belongs to another rank. */
static double gauge(const struct oche_world *world, unsigned number, uint32_t connection)
{
    const uint32_t host = source_of(world, connection);

    return oche_world_has(world, host) ? oche_host_gauge(world->hosts[host], number, connection)
                                       : 0;
}

/* Reads all gauges into `out`, gauge by gauge. */
static void read_gauges(const struct oche_world *world, double *out)
{
    size_t count = 0;

    for (unsigned g = 0; g < gauges_of(world)->count; g++)
        for (uint32_t i = 0; i < rate_series(world); i++)
            out[count++] = gauge(world, g, i);
    oche_ranks_sum_reals(world->network.ranks, out, count);
}

uint32_t oche_world_series_planned(const struct oche_world *world)
{
    return counter_columns(world) + world->watched_count +
           rate_series(world) * (1 + gauges_of(world)->count);
}

void oche_world_series_start(struct oche_world *world)
{
    char entity[64];
    uint32_t rates = rate_series(world);

    world->interval = oche_measure_interval(world->config);
    if (world->interval == 0 && !oche_world_samples_by_itself(world))
        return;
    const struct oche_gauges *gauges = gauges_of(world);
    uint32_t most = oche_world_series_planned(world);

    world->columns = oche_world_make(most, sizeof(*world->columns));
    world->column_last = oche_world_make(most, sizeof(*world->column_last));
    world->totals_last = oche_world_make(most, sizeof(*world->totals_last));
    world->paused_last =
        oche_world_make_sparse((size_t)world->network.port_count * OCHE_CLASSES, sizeof(oche_time));
    if (world->interval == 0) {
        world->most_rows = oche_world_auto_rows(world, most);
        world->interval = oche_world_auto_interval(world, world->most_rows);
    }
    add_column(world, "goodput", "bps", OCHE_JOIN_MEAN, "all");
    add_column(world, "pauses", "count", OCHE_JOIN_SUM, "all");
    for (uint32_t i = 0; i < goodput_hosts(world); i++)
        add_column(world, "goodput", "bps", OCHE_JOIN_MEAN, world->topology.nodes[i].name);
    for (uint32_t i = 0; i < goodput_flows(world); i++) {
        snprintf(entity, sizeof(entity), "flow %u", i);
        add_column(world, "goodput", "bps", OCHE_JOIN_MEAN, entity);
    }
    for (uint32_t i = 0; i < world->watched_count; i++)
        add_column(world, "queue", "bytes", OCHE_JOIN_LAST, world->watched[i].name);
    for (uint32_t i = 0; i < rates; i++) {
        snprintf(entity, sizeof(entity), "connection %u", i);
        add_column(world, "rate", "bps", OCHE_JOIN_LAST, entity);
    }
    for (unsigned g = 0; g < gauges->count; g++)
        for (uint32_t i = 0; i < rates; i++) {
            snprintf(entity, sizeof(entity), "connection %u", i);
            add_column(world, gauges->rows[g].name, gauges->rows[g].unit,
                       gauges->rows[g].total ? OCHE_JOIN_SUM : OCHE_JOIN_LAST, entity);
        }
    read_gauges(world, &world->totals_last[most - rates * gauges->count]);
    read_counters(world, 0, world->column_last); /* the counters of PAUSEs begin at 0 now */
}

static void add_row(struct oche_world *world)
{
    if (world->rows < world->row_capacity)
        return;
    world->row_capacity = world->row_capacity == 0 ? 256 : world->row_capacity * 2;
    for (uint32_t i = 0; i < world->column_count; i++) {
        struct oche_world_column *column = &world->columns[i];
        column->values = realloc(column->values, world->row_capacity * sizeof(double));
        if (column->values == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for series");
    }
}

/* Samples the gauges; their first column is number `at`. */
static void sample_gauges(struct oche_world *world, uint32_t at)
{
    const struct oche_gauges *gauges = gauges_of(world);
    const uint32_t rates = rate_series(world), count = gauges->count * rates;
    double *values = oche_world_make(count, sizeof(*values));

    read_gauges(world, values);
    for (uint32_t i = 0; i < count; i++, at++) {
        double before = world->totals_last[at];

        world->totals_last[at] = values[i];
        world->columns[at].values[world->rows] =
            gauges->rows[i / rates].total ? values[i] - before : values[i];
    }
    free(values);
}

/* Samples watched queues and rates; their first column is number `at`. Returns how many. */
static uint32_t sample_queues_and_rates(struct oche_world *world, uint32_t at)
{
    const struct oche_endpoint *endpoint = world->config->endpoint;
    const bool there = endpoint != NULL && endpoint->receiver_sets_rate;
    const uint32_t rates = rate_series(world), count = world->watched_count + rates;
    uint64_t *values = oche_world_make(count, sizeof(*values)), *next = values;

    for (uint32_t i = 0; i < world->watched_count; i++, next++) {
        const struct oche_world_watched *watched = &world->watched[i];

        if (oche_world_has(world, watched->node))
            *next = oche_switch_queue_bytes(
                world->switches[watched->node - world->topology.host_count], watched->local);
    }
    for (uint32_t i = 0; i < rates; i++, next++) {
        const struct oche_connection *connection = &world->flows.connections[i];
        const uint32_t host = there ? connection->dst : source_of(world, i);

        if (oche_world_has(world, host))
            *next = oche_host_rate_bps(world->hosts[host], i);
    }
    oche_ranks_sum(world->network.ranks, values, count);
    for (uint32_t i = 0; i < count; i++)
        world->columns[at + i].values[world->rows] = (double)values[i];
    free(values);
    return count;
}

void oche_world_series_sample(struct oche_world *world)
{
    uint32_t counters = counter_columns(world), row = world->rows;
    uint64_t *values = oche_world_make(counters, sizeof(*values)), pauses;

    add_row(world);
    pauses = sample_pauses(world);
    read_counters(world, pauses, values);
    for (uint32_t i = 0; i < counters; i++) {
        uint64_t more = values[i] - world->column_last[i];
        world->column_last[i] = values[i];
        world->columns[i].values[row] =
            i == 1 ? (double)more : (double)oche_rate_of(more, world->interval);
    }
    free(values);
    sample_gauges(world, counters + sample_queues_and_rates(world, counters));
    world->rows++;
    if (world->most_rows == 0)
        return;
    world->paused_of_all = world->paused_count;
    oche_ranks_sum(world->network.ranks, &world->paused_of_all, 1);
    oche_world_series_join(world);
}

void oche_world_series_free(struct oche_world *world)
{
    for (uint32_t i = 0; i < world->column_count; i++) {
        free(world->columns[i].entity);
        free(world->columns[i].values);
    }
    free(world->columns);
    free(world->column_last);
    free(world->totals_last);
    oche_sparse_free(world->paused_last);
    free(world->paused_ports);
}

oche_time oche_world_interval(const struct oche_world *world)
{
    return world->interval;
}

uint32_t oche_world_series_count(const struct oche_world *world)
{
    return world->column_count;
}

struct oche_world_series oche_world_series(const struct oche_world *world, uint32_t number)
{
    const struct oche_world_column *column = &world->columns[number];

    return (struct oche_world_series){.name = column->name,
                                      .entity = column->entity,
                                      .unit = column->unit,
                                      .values = column->values,
                                      .count = world->rows};
}

const struct oche_world_paused_port *oche_world_paused_ports(const struct oche_world *world,
                                                             size_t *count)
{
    *count = world->paused_count;
    return world->paused_ports;
}
