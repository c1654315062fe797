/* SPDX-License-Identifier: Apache-2.0 */
/* Statements about the queues, the memory and the pauses of a switch; see the header. */
#include "fabric/invariants.h"

#include "fabric/switch_state.h"

/* ---- queues ---- */

/* Returns the bytes of the packets in a queue; UINT64_MAX if the list does not end at its tail. */
static uint64_t listed_bytes(const struct oche_egress *egress, unsigned cls)
{
    const struct oche_egress_queue *queue =
        &egress[cls / OCHE_EGRESS_LINE_CLASSES].queue[cls % OCHE_EGRESS_LINE_CLASSES];
    const struct oche_packet *last = NULL;
    uint64_t bytes = 0;

    if (!(egress->waiting >> cls & 1))
        return 0;
    for (const struct oche_packet *packet = queue->head; packet != NULL; packet = packet->next) {
        bytes += packet->frame_bytes;
        last = packet;
    }
    return last == queue->tail && last != NULL ? bytes : UINT64_MAX;
}

static bool queues_are_counted(const struct oche_switch *sw, unsigned port)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    for (unsigned cls = 0; cls < sw->class_count; cls++)
        if (listed_bytes(egress, cls) != oche_egress_class_bytes(egress, cls))
            return false;
    return true;
}

static bool longest_is_not_exceeded(const struct oche_switch *sw, unsigned port)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);

    return oche_egress_bytes(egress) <= egress->max_bytes;
}

static bool only_classes_in_use_wait(const struct oche_switch *sw, unsigned port)
{
    return oche_switch_egress(sw, port)->waiting >> sw->class_count == 0;
}

static bool nothing_waits_at_a_dead_link(const struct oche_switch *sw, unsigned port)
{
    return !sw->cold[port].down || oche_switch_egress(sw, port)->waiting == 0;
}

/* ---- memory ---- */

static bool packets_are_in_memory(const struct oche_switch *sw, unsigned unused)
{
    uint64_t bytes = 0;

    (void)unused;
    for (unsigned port = 0; port < sw->port_count; port++)
        bytes += oche_egress_bytes(oche_switch_egress(sw, port));
    return bytes == sw->buffer.used + sw->buffer.headroom_all;
}

static bool shared_part_is_large_enough(const struct oche_switch *sw, unsigned unused)
{
    (void)unused;
    return sw->buffer.used <= sw->buffer.size;
}

/* Returns the bytes of the packets that came in by (in, in_cls) and wait at `port`. */
static uint64_t bytes_from(const struct oche_switch *sw, unsigned port, unsigned in,
                           unsigned in_cls)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    uint64_t bytes = 0;

    for (uint8_t left = egress->waiting; left != 0; left &= (uint8_t)(left - 1)) {
        const unsigned cls = (unsigned)__builtin_ctz(left);
        const struct oche_packet *packet = oche_egress_first(egress, cls);

        for (; packet != NULL; packet = packet->next)
            if (packet->ingress_port == in && oche_switch_in_class(sw, packet, cls) == in_cls)
                bytes += packet->frame_bytes;
    }
    return bytes;
}

static bool ingress_is_counted(const struct oche_switch *sw, unsigned port)
{
    for (unsigned cls = 0; cls < sw->class_count; cls++) {
        const struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
        uint64_t bytes = 0;

        if (!(sw->lossless >> cls & 1))
            continue;
        for (unsigned out = 0; out < sw->port_count; out++)
            bytes += bytes_from(sw, out, port, cls);
        if (bytes != in->bytes)
            return false;
    }
    return true;
}

static bool headroom_is_within(const struct oche_switch *sw, unsigned port)
{
    for (unsigned cls = 0; cls < sw->class_count; cls++) {
        const struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
        if (in->headroom_used > sw->pfc.ports[port].headroom || in->headroom_used > in->bytes)
            return false;
    }
    return true;
}

static bool headrooms_are_counted(const struct oche_switch *sw, unsigned unused)
{
    uint64_t bytes = 0;

    (void)unused;
    for (unsigned port = 0; port < sw->port_count; port++)
        for (unsigned cls = 0; cls < sw->class_count; cls++)
            bytes += oche_switch_ingress(sw, port, cls)->headroom_used;
    return bytes == sw->buffer.headroom_all;
}

/* ---- pauses towards the upstream ---- */

static bool who_is_over_is_to_pause(const struct oche_switch *sw, unsigned port)
{
    for (unsigned cls = 0; cls < sw->class_count; cls++)
        if (oche_switch_ingress(sw, port, cls)->xoff != (sw->pfc.want[port] >> cls & 1))
            return false;
    return true;
}

static bool headroom_is_for_the_paused(const struct oche_switch *sw, unsigned port)
{
    for (unsigned cls = 0; cls < sw->class_count; cls++) {
        const struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
        if (in->headroom_used > 0 && !in->xoff)
            return false;
    }
    return true;
}

/* A class that may resume has been resumed; resume_level is never too low for the others. */
static bool who_may_resume_has(const struct oche_switch *sw, unsigned port)
{
    for (unsigned cls = 0; cls < sw->class_count; cls++) {
        const struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
        const int64_t level = in->xoff ? oche_buffer_resume_level(&sw->buffer, in) : -1;

        if ((int64_t)sw->buffer.used <= level || level > sw->buffer.resume_level)
            return false;
    }
    return true;
}

static bool news_wait_as_a_frame(const struct oche_switch *sw, unsigned port)
{
    const struct oche_pfc_port *pfc = &sw->pfc.ports[port];
    const bool waits = oche_switch_egress(sw, port)->flags & OCHE_EGRESS_PFC_WAITS;

    if (sw->hooks & OCHE_HOOK_FRAMES) /* they are a mechanism's, and may wait at any time */
        return pfc->told == 0;
    return waits == (!sw->cold[port].down && (sw->pfc.want[port] != pfc->told || pfc->refresh));
}

static bool dead_links_are_told_nothing(const struct oche_switch *sw, unsigned port)
{
    const struct oche_pfc_port *pfc = &sw->pfc.ports[port];

    return !sw->cold[port].down || (pfc->told == 0 && pfc->refresh_at == OCHE_NEVER);
}

static bool named_ports_are_listed(const struct oche_switch *sw, unsigned unused)
{
    const struct oche_pfc *pfc = &sw->pfc;
    uint32_t named = 0;

    (void)unused;
    for (unsigned port = 0; port < sw->port_count; port++)
        named += pfc->ports[port].named;
    if (named != pfc->named_count)
        return false;
    for (uint32_t i = 0; i < pfc->named_count; i++)
        if (!pfc->ports[pfc->named[(pfc->named_head + i) % sw->port_count]].named)
            return false;
    return true;
}

/* ---- pauses of the peer, and time ---- */

static bool discarded_are_taken(const struct oche_switch *sw, unsigned unused)
{
    (void)unused;
    return sw->discarded == NULL;
}

static bool paused_are_held_or_paused_by_the_peer(const struct oche_switch *sw, unsigned port)
{
    return oche_switch_egress(sw, port)->paused ==
           (uint8_t)((sw->pauses[port].mask & ~sw->cold[port].ignored) | sw->cold[port].held);
}

static bool timers_are_set(const struct oche_switch *sw, unsigned port)
{
    return sw->next <= sw->due[port] && sw->due[port] <= sw->pauses[port].next &&
           sw->due[port] <= sw->pfc.ports[port].refresh_at;
}

/* ---- all ---- */

static const struct {
    const char *words;
    bool of_ports; /* called once for each port; else once for the switch */
    bool (*holds)(const struct oche_switch *sw, unsigned port);
} statements[] = {
    {"the bytes of a queue are those of its packets", true, queues_are_counted},
    {"no queue is longer than the longest one seen", true, longest_is_not_exceeded},
    {"only classes in use have packets", true, only_classes_in_use_wait},
    {"nothing waits at a link that is down", true, nothing_waits_at_a_dead_link},
    {"the memory in use is that of the packets", false, packets_are_in_memory},
    {"the shared part is as large as what it holds", false, shared_part_is_large_enough},
    {"an ingress class holds the bytes that came in by it", true, ingress_is_counted},
    {"the headroom in use is at most the class's", true, headroom_is_within},
    {"the headrooms in use add up", false, headrooms_are_counted},
    {"a class is to pause if it is above its threshold", true, who_is_over_is_to_pause},
    {"only paused classes use headroom", true, headroom_is_for_the_paused},
    {"a class that may resume has resumed", true, who_may_resume_has},
    {"a change of what is paused waits as a frame", true, news_wait_as_a_frame},
    {"a link that is down has been told nothing", true, dead_links_are_told_nothing},
    {"ports with a new frame are listed once", false, named_ports_are_listed},
    {"a class rests if the peer or a mechanism says so", true,
     paused_are_held_or_paused_by_the_peer},
    {"the driver has taken what was discarded", false, discarded_are_taken},
    {"the switch is called in time", true, timers_are_set},
};

const char *oche_switch_broken(const struct oche_switch *sw, uint32_t *port)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(statements); i++) {
        const unsigned count = statements[i].of_ports ? sw->port_count : 1;
        for (unsigned at = 0; at < count; at++) {
            if (statements[i].holds(sw, at))
                continue;
            *port = statements[i].of_ports ? at : UINT32_MAX;
            return statements[i].words;
        }
    }
    *port = UINT32_MAX;
    return NULL;
}
