/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/posted.h"

#include <stdio.h>
#include <stdlib.h>

#include "params/figures.h"
#include "sim/endpoint/rogue/rogue_host.h"

/* A flow begins or ends. */
struct event {
    uint32_t host; /* to which the data goes */
    bool begins;
    oche_time when;
    uint64_t bytes; /* least number of bytes that are posted */
};

/* The maximum that was posted to a host at the same time. */
struct posted {
    uint32_t host, senders;
    uint64_t bytes, room; /* room: capacity of the port */
};

/* In the order of hosts and times; ends come before begins of the same time. */
static int compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return (int)x->begins - (int)y->begins;
}

/* Finds the switch and the port to which a host is connected. */
static const struct oche_topology_port *port_of(const struct oche_world *world, uint32_t host)
{
    return oche_topology_port(oche_world_topology(world), host, 0);
}

static bool has_dropped(const struct oche_world *world, uint32_t host)
{
    const struct oche_topology_port *port = port_of(world, host);
    const uint32_t hosts = oche_world_topology(world)->host_count;
    struct oche_switch_port_stats stats;

    if (port->peer < hosts)
        return false;
    oche_world_switch_port(world, port->peer - hosts, port->peer_port, &stats);
    return stats.drops[OCHE_DROP_BUFFER] > 0;
}

static uint64_t room_of(const struct oche_world *world, uint32_t host)
{
    return oche_world_lossy_room(world, port_of(world, host)->peer -
                                            oche_world_topology(world)->host_count);
}

/* Returns the minimum of a flow's bytes that its sender keeps posted. */
static uint64_t posted_of(const struct oche_world *world, const struct oche_flow_plan *plan)
{
    const struct rogue_params *params = oche_world_config(world)->endpoint_params;
    uint64_t line = oche_topology_port_link(oche_world_topology(world), plan->src, 0)->rate_bps;
    uint64_t bytes = params->least_batches * rogue_segment_bytes(params, line);

    return plan->bytes < bytes ? plan->bytes : bytes;
}

/* Notes the flows to hosts whose port has dropped packets, one flow of a connection at a time. */
static size_t note_flows(const struct oche_world *world, struct event *events)
{
    const struct oche_rogue_params *params = oche_world_config(world)->endpoint_params;
    const struct oche_flows *flows = oche_world_flows(world);
    size_t count = 0;

    for (OCHE_EACH_MADE_CONNECTION(c, flows)) {
        const struct oche_connection *of = &flows->connections[c];
        uint32_t host = params->verb == OCHE_ROGUE_READS ? of->src : of->dst;
        oche_time free = 0;

        if (of->queued == 0 || !has_dropped(world, host))
            continue;
        for (uint32_t i = 0; i < of->queued; i++) {
            uint32_t flow = flows->order[of->first + i];
            oche_flows_read_flow(flows, flow);
            uint64_t bytes = posted_of(world, &flows->plan[flow]);
            oche_time begin = flows->sent[flow].started;
            /* A flow that failed, or was lost on UC, is completed but not delivered. */
            oche_time end =
                oche_time_min(flows->received[flow].delivered, flows->sent[flow].completed);

            if (begin < free)
                begin = free;
            if (begin >= end)
                continue;
            events[count++] = (struct event){host, true, begin, bytes};
            events[count++] = (struct event){host, false, end, bytes};
            free = end;
        }
    }
    return count;
}

static struct posted most_posted(const struct oche_world *world, const struct event *events,
                                 size_t count)
{
    struct posted now = {.host = UINT32_MAX}, most = {.bytes = 0};

    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (event->host != now.host)
            now = (struct posted){.host = event->host, .room = room_of(world, event->host)};
        now.senders += event->begins ? 1 : UINT32_MAX;
        now.bytes += event->begins ? event->bytes : -event->bytes;
        if (now.bytes > now.room && now.bytes > most.bytes)
            most = now;
    }
    return most;
}

void oche_posted_remark(const struct oche_world *world, char *text, size_t text_bytes)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_flows *flows = oche_world_flows(world);
    char port[OCHE_TOPOLOGY_NAME_BYTES * 2 + 2];

    text[0] = '\0';
    if (config->endpoint->table != &oche_rogue_table || config->switches.pfc)
        return;
    struct event *events = malloc((2 * (size_t)oche_flows_made(flows) + 1) * sizeof(*events));
    OCHE_GOT(events != NULL);
    size_t count = note_flows(world, events);
    qsort(events, count, sizeof(*events), compare);
    struct posted most = most_posted(world, events, count);
    free(events);
    if (most.bytes == 0)
        return;
    oche_topology_port_name(oche_world_topology(world), port_of(world, most.host)->peer,
                            port_of(world, most.host)->peer_port, port, sizeof(port));
    snprintf(text, text_bytes,
             "whatever their windows, %s flows at a time may keep %s under way "
             "(congestion_control.least_batches segments of each) through %s, which holds at most "
             "%s and drops packets",
             oche_figure_count(most.senders).text, oche_figure_bytes(most.bytes).text, port,
             oche_figure_bytes(most.room).text);
}
