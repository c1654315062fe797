/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time series of a world: goodput of all hosts together and of each one in small worlds, PAUSE
 * frames, watched queues, pacing rates. Sampled between windows, so any number of threads gives
 * the same values.
 */
#include "sim/world/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOODPUT_HOSTS 64 /* up to so many hosts, goodput is also by host */

static void add_column(struct oche_world *world, const char *name, const char *unit,
                       const char *entity)
{
    struct oche_world_column *column = &world->columns[world->column_count++];

    column->name = name;
    column->unit = unit;
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

static uint64_t pauses_sent(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < world->topology.switch_count; i++) {
        uint32_t ports = world->topology.nodes[world->topology.host_count + i].port_count;
        for (uint32_t port = 0; port < ports; port++) {
            struct oche_switch_port_stats stats;
            oche_switch_port_stats(world->switches[i], port, world->network.now, &stats);
            for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
                sum += stats.pauses_sent[cls];
        }
    }
    return sum;
}

/* The counter behind each column, in the order in which columns were added. */
static void read_counters(const struct oche_world *world, uint64_t *out)
{
    uint64_t all = 0;
    uint32_t at = 2;

    for (uint32_t i = 0; i < world->topology.host_count; i++) {
        uint64_t bytes = oche_nic_stats(oche_host_nic(world->hosts[i]))->delivered_bytes;
        all += bytes;
        if (i < goodput_hosts(world))
            out[at++] = bytes;
    }
    out[0] = all;
    out[1] = pauses_sent(world);
}

void oche_world_series_start(struct oche_world *world)
{
    char entity[64];
    uint32_t rates = rate_series(world);

    if (world->config->measure.interval == 0)
        return;
    uint32_t most = 2 + goodput_hosts(world) + world->watched_count + rates;
    world->columns = oche_world_make(most, sizeof(*world->columns));
    world->column_last = oche_world_make(most, sizeof(*world->column_last));
    add_column(world, "goodput", "bps", "all");
    add_column(world, "pauses", "count", "all");
    for (uint32_t i = 0; i < goodput_hosts(world); i++)
        add_column(world, "goodput", "bps", world->topology.nodes[i].name);
    for (uint32_t i = 0; i < world->watched_count; i++)
        add_column(world, "queue", "bytes", world->watched[i].name);
    for (uint32_t i = 0; i < rates; i++) {
        snprintf(entity, sizeof(entity), "connection %u", i);
        add_column(world, "rate", "bps", entity);
    }
    read_counters(world, world->column_last);
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

void oche_world_series_sample(struct oche_world *world, oche_time now)
{
    uint32_t counters = 2 + goodput_hosts(world), row = world->rows, at = counters;
    uint64_t *values = oche_world_make(counters, sizeof(*values));
    oche_time interval = world->config->measure.interval;

    (void)now;
    add_row(world);
    read_counters(world, values);
    for (uint32_t i = 0; i < counters; i++) {
        uint64_t more = values[i] - world->column_last[i];
        world->column_last[i] = values[i];
        world->columns[i].values[row] =
            i == 1 ? (double)more : (double)oche_rate_of(more, interval);
    }
    free(values);
    for (uint32_t i = 0; i < world->watched_count; i++, at++) {
        const struct oche_world_watched *watched = &world->watched[i];
        const struct oche_switch *sw = world->switches[watched->node - world->topology.host_count];
        world->columns[at].values[row] = (double)oche_switch_queue_bytes(sw, watched->local);
    }
    for (uint32_t i = 0; i < rate_series(world); i++, at++) {
        uint32_t src = world->flows.connections[i].src;
        world->columns[at].values[row] = (double)oche_host_rate_bps(world->hosts[src], i);
    }
    world->rows++;
}

void oche_world_series_free(struct oche_world *world)
{
    for (uint32_t i = 0; i < world->column_count; i++) {
        free(world->columns[i].entity);
        free(world->columns[i].values);
    }
    free(world->columns);
    free(world->column_last);
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
