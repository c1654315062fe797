/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PFC, checked from the trace. An XOFF must be repeated before it runs out. A class with a static
 * threshold must not be paused more often than it can have filled and drained the hysteresis.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define QUANTUM_BITS 512
#define PLENTY       12000000 /* bytes of shared buffer that small worlds do not fill */
#define U(value)     ((unsigned long long)(value))

struct told {
    oche_time when;   /* the last XOFF; 0: there is none, or an XON followed */
    oche_time quanta; /* its duration */
};

struct pauses {
    struct swarm_run *run;
    struct told *told; /* by port of the network and class */
    uint64_t *stops;   /* by port and class: number of XOFFs sent to it */
    bool links_stay;   /* no link failure clears the pauses of ports */
};

static uint64_t frame_time(const struct oche_topology_link *link)
{
    return 9100 * 8 * (oche_time)1000000 / (link->rate_bps / 1000000 + 1);
}

/* True if the pause ran out before `now`, by more than the time of a frame that was being sent. */
static void check_refresh(struct pauses *pauses, uint32_t node, uint32_t port, unsigned cls,
                          oche_time now)
{
    const struct oche_topology *topology = &pauses->run->world->topology;
    const struct told *told =
        &pauses->told[(topology->nodes[node].first_port + port) * OCHE_CLASSES + cls];
    oche_time slack = 4 * frame_time(oche_topology_port_link(topology, node, port));

    if (told->when != 0 && now > oche_time_add(told->when, told->quanta + slack))
        swarm_breaks(pauses->run, "refresh",
                     "node %u told port %u, class %u to stop at %llu ps for %llu, and not again "
                     "until %llu",
                     node, port, cls, U(told->when), U(told->quanta), U(now));
}

static void on_pause(struct pauses *pauses, uint32_t node, const struct oche_trace_record *record)
{
    const struct oche_topology *topology = &pauses->run->world->topology;
    uint32_t port = (uint32_t)record->a;
    unsigned cls = (unsigned)(record->b >> 16) & (OCHE_CLASSES - 1);
    uint64_t quanta = record->b & 0xffff;
    uint32_t at = (topology->nodes[node].first_port + port) * OCHE_CLASSES + cls;
    double bps = (double)oche_topology_port_link(topology, node, port)->rate_bps;

    check_refresh(pauses, node, port, cls, record->time);
    pauses->stops[at] += quanta != 0 && pauses->told[at].when == 0;
    pauses->told[at].when = quanta == 0 ? 0 : record->time;
    pauses->told[at].quanta = (oche_time)((double)quanta * QUANTUM_BITS * 1e12 / bps);
}

static void pauses_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct pauses *pauses = context;
    const struct oche_topology *topology = &pauses->run->world->topology;

    if (record->kind == OCHE_TRACE_PAUSE_SENT)
        on_pause(pauses, node, record);
    if (record->kind == OCHE_TRACE_LINK_DOWN)
        memset(&pauses->told[(topology->nodes[node].first_port + record->a) * OCHE_CLASSES], 0,
               OCHE_CLASSES * sizeof(*pauses->told));
}

/* True if the shared buffer is small: then ports pause at any queue length. */
static bool has_little(const struct oche_world *world, uint32_t node)
{
    return oche_world_buffer_limits(world, node - world->topology.host_count).shared < PLENTY;
}

/*
 * Between two XOFFs of a static threshold at least as many bytes arrive as the hysteresis has:
 * xon_offset, or two frames.
 */
static void check_stops(struct pauses *pauses, uint32_t node, uint32_t port, unsigned cls)
{
    const struct oche_world *world = pauses->run->world;
    const struct oche_topology *topology = &world->topology;
    uint32_t here = topology->nodes[node].first_port + port;
    uint64_t stops = pauses->stops[here * OCHE_CLASSES + cls];
    uint64_t came = world->network.ports[oche_topology_far_port(topology, here)].line_bytes;
    const struct oche_switch_params *params =
        oche_world_of_tier(world->config, topology->nodes[node].kind);
    uint64_t hysteresis = params->xon_offset_bytes != OCHE_NEVER
                              ? params->xon_offset_bytes
                              : 2 * oche_world_packets(world->config).frame_bytes;

    /*
     * Below the hysteresis a class resumes when it is empty. A full buffer pauses it at any length.
     */
    if (hysteresis == 0 || hysteresis > params->xoff_bytes || has_little(world, node) ||
        params->chip_ports != 0 || params->threshold != OCHE_THRESHOLD_STATIC)
        return;
    if (pauses->links_stay && stops > came / hysteresis + 1)
        swarm_breaks(
            pauses->run, "hysteresis",
            "node %u stopped port %u, class %u %llu times; %llu bytes came, hysteresis %llu", node,
            port, cls, U(stops), U(came), U(hysteresis));
}

static void pauses_end(void *context)
{
    struct pauses *pauses = context;
    const struct oche_world *world = pauses->run->world;
    const struct oche_topology *topology = &world->topology;

    for (uint32_t s = 0; s < topology->switch_count; s++)
        for (uint32_t p = 0; p < topology->nodes[topology->host_count + s].port_count; p++)
            for (unsigned cls = 0; cls < world->class_count; cls++) {
                check_stops(pauses, topology->host_count + s, p, cls);
                if (oche_switch_is_pausing(world->switches[s], p, cls))
                    check_refresh(pauses, topology->host_count + s, p, cls, world->network.now);
            }
}

static void *make_pauses(struct swarm_run *run)
{
    const struct oche_world *world = run->world;

    if (!world->config->switches.pfc)
        return NULL;
    struct pauses *pauses = calloc(1, sizeof(*pauses));
    size_t count = (size_t)world->network.port_count * OCHE_CLASSES + 1;

    OCHE_MUST(pauses != NULL);
    pauses->run = run;
    pauses->links_stay = world->config->failure_count == 0;
    pauses->told = calloc(count, sizeof(*pauses->told));
    pauses->stops = calloc(count, sizeof(*pauses->stops));
    OCHE_MUST(pauses->told != NULL && pauses->stops != NULL);
    return pauses;
}

static void free_pauses(void *context)
{
    struct pauses *pauses = context;

    free(pauses->told);
    free(pauses->stops);
    free(pauses);
}

const struct swarm_rule swarm_pfc_rule = {
    .make = make_pauses, .event = pauses_event, .end = pauses_end, .free = free_pauses};
