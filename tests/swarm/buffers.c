/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers of switches under PFC, computed a second time from the packets that arrive and leave.
 * The rule checks which class of which port must be paused, how much headroom is used, and whether
 * a packet had to be dropped. It does not apply where links fail or switches have a PFC watchdog,
 * as both empty queues, nor with lanes, as these change a packet's class.
 */
#include <stdlib.h>

#include "fabric/pfc_watchdog.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define U(value) ((unsigned long long)(value))

struct ingress {
    uint64_t bytes, above; /* above: bytes of these in the headroom */
    bool stopped;          /* the class must be paused */
    bool told;             /* an XOFF has been sent */
};

struct buffers {
    struct swarm_run *run;
    struct ingress *ingress; /* by port of the network and class */
    uint64_t *used;          /* by switch: bytes in the shared part */
    /* The packet that has just arrived; the next event shows whether it is stored. */
    bool waits;
    uint32_t port, bytes;
    unsigned cls;
};

static const struct oche_world *world_of(const struct buffers *buffers)
{
    return buffers->run->world;
}

/* Returns the number of a port's switch; UINT32_MAX: it is a host's port. */
static uint32_t switch_of(const struct buffers *buffers, uint32_t port)
{
    const struct oche_world *world = world_of(buffers);
    uint32_t node = world->network.ports[port].node;

    return node < world->topology.host_count ? UINT32_MAX : node - world->topology.host_count;
}

static unsigned class_of(const struct oche_switch *sw, const struct oche_packet *packet)
{
    return packet->traffic_class < sw->class_count ? packet->traffic_class : 0;
}

static uint64_t threshold(const struct oche_buffer *buffer, uint64_t used)
{
    uint64_t unused = buffer->size > used ? buffer->size - used : 0;

    return buffer->base + unused * buffer->share / 65536;
}

/* Stores a packet of a lossless class. Returns false if there is no room. */
static bool store(const struct oche_switch *sw, uint64_t *used, struct ingress *in, uint64_t bytes,
                  uint64_t headroom)
{
    const struct oche_buffer *buffer = &sw->buffer;
    uint64_t then = *used + bytes;
    bool below = then <= buffer->limit && in->bytes + bytes <= threshold(buffer, then);

    if (!in->stopped && then <= buffer->size) {
        *used = then;
    } else {
        if (in->above + bytes > headroom)
            return false;
        in->above += bytes;
    }
    in->stopped |= !below;
    in->bytes += bytes;
    return true;
}

static void settle(struct buffers *buffers, bool dropped)
{
    if (!buffers->waits)
        return;
    uint32_t number = switch_of(buffers, buffers->port);
    const struct oche_switch *sw = world_of(buffers)->switches[number];
    struct ingress *in = &buffers->ingress[buffers->port * OCHE_CLASSES + buffers->cls];
    uint64_t headroom =
        oche_switch_headroom_bytes(sw, world_of(buffers)->network.ports[buffers->port].local);
    uint64_t above = in->above;

    buffers->waits = false;
    if (!(sw->lossless >> buffers->cls & 1)) {
        buffers->used[number] += dropped ? 0 : buffers->bytes;
        return;
    }
    if (dropped && oche_switch_last_drop(sw) != OCHE_DROP_BUFFER)
        return;
    if (store(sw, &buffers->used[number], in, buffers->bytes, headroom) != dropped)
        return;
    swarm_breaks(buffers->run, "room",
                 "switch %u, port %u, class %u: %u bytes are %s; headroom has %llu of %llu, shared "
                 "part %llu of %llu",
                 number, buffers->port, buffers->cls, buffers->bytes,
                 dropped ? "dropped" : "stored", U(above), U(headroom), U(buffers->used[number]),
                 U(sw->buffer.size));
}

/* Returns how far below its threshold a class resumes: by default two frames. */
static uint64_t hysteresis_of(const struct oche_world *world, const struct oche_topology_node *node)
{
    uint64_t offset = oche_world_of_tier(world->config, node->kind)->xon_offset_bytes;

    return offset != OCHE_NEVER ? offset : 2 * oche_world_packets(world->config).frame_bytes;
}

/* True if the class is that far below its threshold, and the reserve and its headroom are free. */
static void resume(struct buffers *buffers, uint32_t number)
{
    const struct oche_world *world = world_of(buffers);
    const struct oche_topology_node *node =
        &world->topology.nodes[world->topology.host_count + number];
    const struct oche_buffer *buffer = &world->switches[number]->buffer;
    uint64_t used = buffers->used[number], hysteresis = hysteresis_of(world, node);

    for (uint32_t i = node->first_port * OCHE_CLASSES;
         i < (node->first_port + node->port_count) * OCHE_CLASSES; i++) {
        struct ingress *in = &buffers->ingress[i];
        bool low = used <= buffer->limit && in->bytes + hysteresis <= threshold(buffer, used);

        if (in->stopped && in->above == 0 && (in->bytes == 0 || low))
            in->stopped = false;
    }
}

static void release(struct buffers *buffers, uint32_t port, const struct oche_packet *packet)
{
    const struct oche_world *world = world_of(buffers);
    uint32_t number = switch_of(buffers, port);
    const struct oche_switch *sw = world->switches[number];
    unsigned cls = class_of(sw, packet);
    uint32_t first = port - world->network.ports[port].local;
    struct ingress *in = &buffers->ingress[(first + packet->ingress_port) * OCHE_CLASSES + cls];
    uint64_t above = 0;

    if (sw->lossless >> cls & 1) {
        above = in->above < packet->frame_bytes ? in->above : packet->frame_bytes;
        in->above -= above;
        in->bytes -= packet->frame_bytes;
    }
    buffers->used[number] -= packet->frame_bytes - above;
    resume(buffers, number);
}

static void buffer_sent(void *context, uint32_t port, const struct oche_packet *packet,
                        oche_time now)
{
    struct buffers *buffers = context;

    settle(buffers, false);
    if (switch_of(buffers, port) == UINT32_MAX || oche_packet_is_of_link(packet->kind))
        return;
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        const struct ingress *in = &buffers->ingress[port * OCHE_CLASSES + cls];

        if (in->stopped != in->told)
            swarm_breaks(buffers->run, "told",
                         "port %u sends data at %llu ps, before it says that class %u %s", port,
                         U(now), cls, in->stopped ? "must stop" : "may go on");
    }
    release(buffers, port, packet);
}

static void buffer_arrived(void *context, uint32_t port, const struct oche_packet *packet,
                           oche_time now)
{
    struct buffers *buffers = context;
    uint32_t number = switch_of(buffers, port);

    (void)now;
    settle(buffers, false);
    if (number == UINT32_MAX || oche_packet_is_of_link(packet->kind))
        return;
    buffers->waits = true;
    buffers->port = port;
    buffers->bytes = packet->frame_bytes;
    buffers->cls = class_of(world_of(buffers)->switches[number], packet);
}

static void buffer_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct buffers *buffers = context;
    const struct oche_world *world = world_of(buffers);

    settle(buffers, record->kind == OCHE_TRACE_DROPPED && record->a < UINT32_MAX);
    if (record->kind != OCHE_TRACE_PAUSE_SENT || node < world->topology.host_count)
        return;
    uint32_t port = world->topology.nodes[node].first_port + (uint32_t)record->a;
    unsigned cls = (unsigned)(record->b >> 16) & (OCHE_CLASSES - 1);
    struct ingress *in = &buffers->ingress[port * OCHE_CLASSES + cls];

    in->told = (record->b & 0xffff) != 0;
    if (in->told != in->stopped)
        swarm_breaks(buffers->run, "threshold",
                     "port %u tells class %u to %s at %llu ps; it holds %llu bytes, %llu of them "
                     "in the headroom",
                     port, cls, in->told ? "stop" : "go on", U(record->time), U(in->bytes),
                     U(in->above));
}

static void *make_buffers(struct swarm_run *run)
{
    const struct oche_world *world = run->world;

    if (!world->config->switches.pfc || world->config->failure_count > 0 ||
        world->topology.switch_count == 0 || world->switches[0]->lanes != 0 ||
        world->switches[0]->hooks & OCHE_HOOK_FRAMES ||
        oche_world_mechanism(world->config, &oche_pfc_watchdog) != NULL)
        return NULL;
    struct buffers *buffers = calloc(1, sizeof(*buffers));

    OCHE_MUST(buffers != NULL);
    buffers->run = run;
    buffers->ingress =
        calloc((size_t)world->network.port_count * OCHE_CLASSES, sizeof(*buffers->ingress));
    buffers->used = calloc(world->topology.switch_count, sizeof(*buffers->used));
    OCHE_MUST(buffers->ingress != NULL && buffers->used != NULL);
    return buffers;
}

static void free_buffers(void *context)
{
    struct buffers *buffers = context;

    free(buffers->ingress);
    free(buffers->used);
    free(buffers);
}

const struct swarm_rule swarm_buffer_rule = {.make = make_buffers,
                                             .event = buffer_event,
                                             .sent = buffer_sent,
                                             .arrived = buffer_arrived,
                                             .free = free_buffers};
