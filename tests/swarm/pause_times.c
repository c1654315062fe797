/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long ports were held and held others, computed from the PFC frames alone. An XOFF holds a
 * port from the response time on, until its quanta are over, another frame comes, or the link
 * changes.
 */
#include <stdlib.h>

#include "fabric/switch_state.h"
#include "sim/network/host.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define QUANTUM_BYTES 64
#define U(value)      ((unsigned long long)(value))

struct span {
    oche_time from, until;
};

struct spans {
    struct span *spans;
    uint32_t count, capacity;
};

struct pause_times {
    struct swarm_run *run;
    struct spans *held, *holds; /* by port of the network and class */
    uint64_t *frames;           /* the same: XOFFs that came since the end of warm-up */
};

/* Begins a span, or extends the last one if they touch. */
static void begin(struct spans *spans, oche_time from, oche_time until)
{
    if (spans->count > 0 && spans->spans[spans->count - 1].until >= from) {
        spans->spans[spans->count - 1].until = until;
        return;
    }
    if (spans->count == spans->capacity) {
        spans->capacity = spans->capacity == 0 ? 8 : 2 * spans->capacity;
        spans->spans = realloc(spans->spans, spans->capacity * sizeof(*spans->spans));
        OCHE_MUST(spans->spans != NULL);
    }
    spans->spans[spans->count++] = (struct span){from, until};
}

/* Ends all holds at `when`. */
static void end_at(struct spans *spans, oche_time when)
{
    while (spans->count > 0 && spans->spans[spans->count - 1].from >= when)
        spans->count--;
    if (spans->count > 0)
        spans->spans[spans->count - 1].until =
            oche_time_min(spans->spans[spans->count - 1].until, when);
}

static oche_time sum_within(const struct spans *spans, oche_time from, oche_time until)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i < spans->count; i++) {
        oche_time begins = spans->spans[i].from > from ? spans->spans[i].from : from;
        oche_time ends = oche_time_min(spans->spans[i].until, until);

        sum += ends > begins ? ends - begins : 0;
    }
    return sum;
}

static void on_arrived(struct pause_times *times, uint32_t node, uint32_t at, uint64_t quanta,
                       oche_time now)
{
    const struct oche_world *world = times->run->world;
    bool host = node < world->topology.host_count;
    uint64_t rate_bps = world->network.extras[at / OCHE_CLASSES].rate_bps;
    oche_time effect = oche_time_add(now, host ? world->config->hosts.pfc_response
                                               : world->config->switches.pfc_response);

    if (quanta == 0) {
        end_at(&times->held[at], effect);
        return;
    }
    times->frames[at] += now >= world->config->run.warmup;
    begin(&times->held[at], effect,
          oche_time_add(effect, oche_time_of_bytes(quanta * QUANTUM_BYTES, rate_bps)));
}

static void on_link(struct pause_times *times, uint32_t port, bool host, bool down, oche_time now)
{
    for (uint32_t at = port * OCHE_CLASSES; at < (port + 1) * OCHE_CLASSES; at++) {
        if (host || down)
            end_at(&times->held[at], now);
        if (down)
            end_at(&times->holds[at], now);
    }
}

static void pause_time_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct pause_times *times = context;
    const struct oche_topology *topology = &times->run->world->topology;
    uint32_t port = topology->nodes[node].first_port + (uint32_t)record->a;
    uint32_t at = port * OCHE_CLASSES + ((uint32_t)(record->b >> 16) & (OCHE_CLASSES - 1));
    uint64_t quanta = record->b & 0xffff;

    switch (record->kind) {
    case OCHE_TRACE_PAUSE_ARRIVED:
        on_arrived(times, node, at, quanta, record->time);
        break;
    case OCHE_TRACE_PAUSE_SENT:
        if (quanta == 0)
            end_at(&times->holds[at], record->time);
        else
            begin(&times->holds[at], record->time, OCHE_NEVER);
        break;
    case OCHE_TRACE_LINK_DOWN:
    case OCHE_TRACE_LINK_UP:
        on_link(times, port, node < topology->host_count, record->kind == OCHE_TRACE_LINK_DOWN,
                record->time);
        break;
    default:
        break;
    }
}

/* True if the port had to merge pauses, as it stores only a few that have yet to begin. */
static bool has_merged(const struct oche_world *world, uint32_t port)
{
    uint32_t node = world->network.ports[port].node, hosts = world->topology.host_count;

    if (node < hosts)
        return oche_host_pause(world->hosts[node])->merged > 0;
    return world->switches[node - hosts]->pauses[world->network.ports[port].local].merged > 0;
}

static void check(struct pause_times *times, uint32_t port, unsigned cls,
                  const struct oche_switch_port_stats *stats)
{
    const struct oche_world *world = times->run->world;
    uint32_t at = port * OCHE_CLASSES + cls;
    oche_time from = world->measured_from, now = world->network.now;
    oche_time held = sum_within(&times->held[at], from, now);
    oche_time holds = sum_within(&times->holds[at], from, now);

    if (stats->paused_time[cls] != held && !has_merged(world, port))
        swarm_breaks(times->run, "held", "port %u, class %u: for %llu ps, and is said to be %llu",
                     port, cls, U(held), U(stats->paused_time[cls]));
    if (stats->pause_sent_time[cls] != holds)
        swarm_breaks(times->run, "holds", "port %u, class %u: for %llu ps, and is said to be %llu",
                     port, cls, U(holds), U(stats->pause_sent_time[cls]));
    if (stats->pauses_received[cls] != times->frames[at])
        swarm_breaks(times->run, "frames", "port %u, class %u got %llu, and is said to have %llu",
                     port, cls, U(times->frames[at]), U(stats->pauses_received[cls]));
}

static void pause_time_end(void *context)
{
    struct pause_times *times = context;
    const struct oche_world *world = times->run->world;
    struct oche_switch_port_stats *stats = calloc(world->network.port_count, sizeof(*stats));

    OCHE_MUST(stats != NULL);
    oche_world_port_stats(world, stats);
    for (uint32_t port = 0; port < world->network.port_count; port++)
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
            check(times, port, cls, &stats[port]);
    free(stats);
}

static void *make_pause_times(struct swarm_run *run)
{
    size_t count = (size_t)run->world->network.port_count * OCHE_CLASSES + 1;

    if (!run->world->config->switches.pfc)
        return NULL;
    struct pause_times *times = calloc(1, sizeof(*times));

    OCHE_MUST(times != NULL);
    times->run = run;
    times->held = calloc(count, sizeof(*times->held));
    times->holds = calloc(count, sizeof(*times->holds));
    times->frames = calloc(count, sizeof(*times->frames));
    OCHE_MUST(times->held != NULL && times->holds != NULL && times->frames != NULL);
    return times;
}

static void free_pause_times(void *context)
{
    struct pause_times *times = context;

    for (size_t i = 0; i < (size_t)times->run->world->network.port_count * OCHE_CLASSES; i++) {
        free(times->held[i].spans);
        free(times->holds[i].spans);
    }
    free(times->held);
    free(times->holds);
    free(times->frames);
    free(times);
}

const struct swarm_rule swarm_pause_time_rule = {.make = make_pause_times,
                                                 .event = pause_time_event,
                                                 .end = pause_time_end,
                                                 .free = free_pause_times};
