/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch: how the other files of this folder act on a packet. A packet that arrives is routed
 * (ecmp), admitted (shared_buffer, and pfc when a threshold is crossed), marked if marking is at
 * enqueue (ecn), and queued (priority). For a departure the switch takes a packet of the highest
 * class that is not paused (priority, pause), releases its memory (shared_buffer, and pfc when a
 * class may resume), and marks it if marking is at dequeue (ecn).
 */
#include "fabric/switch.h"

#include <string.h>

#include "fabric/packet_path.h"

/* Offsets of the arrays in the memory of one switch. */
struct layout {
    size_t egress, ingress, cold, pfc_ports, want, named, pauses, due, mechanisms, states, bytes;
};

/* Like oche_place, with each part at the beginning of a cache line. */
static size_t place(size_t *end, size_t bytes)
{
    return oche_place(end, oche_lines(bytes), OCHE_CACHE_LINE);
}

/* Returns the bytes of state of the i-th mechanism, in whole lines. */
static size_t state_bytes(const struct oche_switch_config *config, unsigned i)
{
    return oche_lines(config->mechanisms[i]->state_bytes(config, config->mechanism_params[i]));
}

static struct layout layout_of(const struct oche_switch_config *config)
{
    size_t ports = config->port_count;
    size_t classes = config->class_count;
    struct layout at;

    at.bytes = 0;
    place(&at.bytes, sizeof(struct oche_switch));
    at.egress = place(&at.bytes,
                      ports * oche_egress_lines(config->class_count) * sizeof(struct oche_egress));
    at.ingress = place(&at.bytes, ports * classes * sizeof(struct oche_ingress));
    at.cold = place(&at.bytes, ports * sizeof(struct oche_switch_cold));
    at.pfc_ports = place(&at.bytes, ports * sizeof(struct oche_pfc_port));
    at.want = place(&at.bytes, ports);
    at.named = place(&at.bytes, ports * sizeof(uint32_t));
    at.pauses = place(&at.bytes, ports * sizeof(struct oche_pause));
    at.due = place(&at.bytes, ports * sizeof(oche_time));
    at.mechanisms = place(&at.bytes, config->mechanism_count * sizeof(struct oche_switch_hooked));
    at.states = at.bytes;
    for (unsigned i = 0; i < config->mechanism_count; i++)
        place(&at.bytes, state_bytes(config, i));
    return at;
}

size_t oche_switch_bytes(const struct oche_switch_config *config)
{
    return layout_of(config).bytes;
}

static void init_port(struct oche_switch *sw, const struct oche_switch_config *config,
                      unsigned port)
{
    uint64_t rate_bps = config->ports[port].rate_bps;
    struct oche_pfc_port *pfc = &sw->pfc.ports[port];

    oche_egress_init(oche_switch_egress(sw, port), config->class_count);
    oche_pause_init(&sw->pauses[port], rate_bps, config->params->pfc_response);
    pfc->headroom = (uint32_t)oche_buffer_headroom(config, port);
    pfc->half_time = oche_pause_duration(OCHE_PFC_MAX_QUANTA, rate_bps) / 2;
    pfc->refresh_at = OCHE_NEVER;
    sw->cold[port].above = config->ports[port].up;
    sw->cold[port].ramp = oche_red_ramp(config->params, rate_bps);
    if (sw->cold[port].ramp.kmin < sw->least_kmin)
        sw->least_kmin = sw->cold[port].ramp.kmin;
    sw->due[port] = OCHE_NEVER;
}

static oche_time mechanisms_next(const struct oche_switch *sw)
{
    oche_time next = OCHE_NEVER;

    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->next != NULL)
            next = oche_time_min(next, sw->mechanisms[i].ops->next(sw->mechanisms[i].state));
    return next;
}

static void find_next(struct oche_switch *sw)
{
    sw->next = mechanisms_next(sw);
    for (unsigned port = 0; port < sw->port_count; port++)
        sw->next = oche_time_min(sw->next, sw->due[port]);
}

static void init_mechanisms(struct oche_switch *sw, const struct oche_switch_config *config,
                            char *states)
{
    for (unsigned i = 0; i < config->mechanism_count; i++) {
        const struct oche_switch_mechanism *ops = config->mechanisms[i];

        sw->mechanisms[i] = (struct oche_switch_hooked){.ops = ops, .state = states};
        states += state_bytes(config, i);
        ops->create(sw->mechanisms[i].state, config, config->mechanism_params[i]);
        sw->hooks |= ops->route != NULL ? OCHE_HOOK_ROUTE : 0;
        sw->hooks |= ops->admit != NULL ? OCHE_HOOK_ADMIT : 0;
        sw->hooks |= ops->enqueue != NULL ? OCHE_HOOK_ENQUEUE : 0;
        sw->hooks |= ops->dequeue != NULL ? OCHE_HOOK_DEQUEUE : 0;
        sw->hooks |= ops->dropped != NULL ? OCHE_HOOK_DROPPED : 0;
        if (ops->trim != NULL)
            sw->trims = &sw->mechanisms[i];
        sw->hooks |= ops->frame_take != NULL ? OCHE_HOOK_FRAMES : 0;
        if (ops->route != NULL && !ops->balances)
            sw->up_down = false;
        if (ops->marks)
            sw->least_kmin = UINT64_MAX;
    }
    sw->mechanism_count = config->mechanism_count;
}

struct oche_switch *oche_switch_create(void *memory, const struct oche_switch_config *config)
{
    struct layout at = layout_of(config);
    char *base = memory;
    struct oche_switch *sw = memory;
    const struct oche_switch_params *params = config->params;

    OCHE_MUST(((uintptr_t)memory & (OCHE_CACHE_LINE - 1)) == 0);
    OCHE_MUST(oche_switch_check(config, NULL));
    memset(memory, 0, at.bytes);
    sw->routes = config->routes;
    sw->salt = config->tier != 0 ? oche_ecmp_tier_salt(config->seed, config->tier)
                                 : oche_ecmp_salt(config->seed, config->node);
    sw->port_count = (uint16_t)config->port_count;
    sw->class_count = config->class_count;
    sw->lanes = (uint8_t)(config->lanes > 1 ? (1U << config->lanes) - 1 : 0);
    if (sw->lanes != 0)
        sw->hooks |= OCHE_HOOK_ADMIT; /* makes packets record the class in which they came in */
    sw->lossless = params->pfc ? config->lossless_classes : 0;
    if (oche_switch_has_flow_control(config))
        sw->lossless = (uint8_t)((1U << config->class_count) - 1);
    sw->lines = (uint8_t)oche_egress_lines(config->class_count);
    sw->mark_at_enqueue = params->ecn_at == OCHE_ECN_AT_ENQUEUE;
    sw->port_limit = params->port_buffer_bytes != 0 ? params->port_buffer_bytes : UINT64_MAX;
    sw->egress = (void *)(base + at.egress);
    sw->ingress = (void *)(base + at.ingress);
    sw->cold = (void *)(base + at.cold);
    sw->pfc.ports = (void *)(base + at.pfc_ports);
    sw->pfc.want = (void *)(base + at.want);
    sw->pfc.named = (void *)(base + at.named);
    sw->pauses = (void *)(base + at.pauses);
    sw->due = (void *)(base + at.due);
    sw->mechanisms = (void *)(base + at.mechanisms);
    sw->random = oche_random_stream(config->seed, "red", config->node);
    sw->least_kmin = UINT64_MAX;
    oche_buffer_init(&sw->buffer, config);
    for (unsigned port = 0; port < config->port_count; port++)
        init_port(sw, config, port);
    if (config->links_fail)
        sw->hooks |= OCHE_HOOK_LINKS;
    sw->up_down = config->up_down;
    init_mechanisms(sw, config, base + at.states);
    find_next(sw);
    return sw;
}

/* ---- the packet path ---- */

/* Drops a packet of class `in_cls` that came in by `in_port`, and counts the drop at `port`. */
int oche_switch_drop(struct oche_switch *sw, unsigned port, enum oche_drop cause, unsigned in_port,
                     unsigned in_cls, const struct oche_packet *packet)
{
    sw->cold[port].drops[cause]++;
    sw->last_drop = (uint8_t)cause;
    for (unsigned i = 0; (sw->hooks & OCHE_HOOK_DROPPED) && i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->dropped != NULL)
            hooked->ops->dropped(hooked->state, sw, in_port, in_cls, packet);
    }
    return -1;
}

/*
 * True if a switch that trims has room for the packet in class `cls` nevertheless: the port's limit
 * is not for the highest class, in which trimmed packets wait. Takes the room.
 */
static bool fits_beside_trimmed(struct oche_switch *sw, const struct oche_egress *egress,
                                unsigned cls, uint32_t bytes)
{
    const unsigned highest = sw->class_count - 1U;
    const uint32_t others = oche_egress_bytes(egress) - oche_egress_class_bytes(egress, highest);

    return (cls == highest || (uint64_t)others + bytes <= sw->port_limit) &&
           oche_buffer_admit_lossy(&sw->buffer, oche_egress_class_bytes(egress, cls), bytes);
}

int oche_switch_refuse(struct oche_switch *sw, unsigned in_port, unsigned port, unsigned in_cls,
                       enum oche_drop cause, struct oche_packet *packet, oche_time now)
{
    const unsigned cls = oche_path_class(sw, packet), highest = sw->class_count - 1U;
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    struct oche_packet *trimmed = NULL;

    if (sw->trims != NULL && cause == OCHE_DROP_BUFFER && packet->kind != OCHE_PACKET_TRIMMED &&
        fits_beside_trimmed(sw, egress, cls, packet->frame_bytes))
        return oche_path_enqueue(sw, in_port, port, cls, packet, now);
    if (sw->trims != NULL)
        trimmed = sw->trims->ops->trim(sw->trims->state, sw, port, packet, now);
    if (trimmed == NULL)
        return oche_switch_drop(sw, port, cause, in_port, in_cls, packet);
    const unsigned trimmed_port = trimmed == packet ? in_port : trimmed->ingress_port;
    const bool fits = oche_buffer_admit_lossy(&sw->buffer, oche_egress_class_bytes(egress, highest),
                                              trimmed->frame_bytes);

    OCHE_MUST(fits || trimmed == packet); /* `trim` takes another packet only if its rest fits */
    if (!fits)
        return oche_switch_drop(sw, port, OCHE_DROP_BUFFER, in_port, in_cls, packet);
    oche_path_enqueue(sw, trimmed_port, port, highest, trimmed, now);
    if (trimmed == packet)
        return (int)port;
    if (!oche_path_admit(sw, in_port, in_cls, egress, cls, packet->frame_bytes))
        return oche_switch_drop(sw, port, cause, in_port, in_cls, packet);
    return oche_path_enqueue(sw, in_port, port, cls, packet, now);
}

/*
 * Adds the time since the last change of the port's occupancy to the histogram and the integrals,
 * at the occupancy that the port had during that time.
 */
static void watch_advance(struct oche_queue_watch *watch, oche_time now)
{
    const uint64_t step = watch->bytes / watch->step_bytes;
    const oche_time time = now - watch->since;

    watch->time[step < watch->steps ? step : watch->steps - 1] += time;
    watch->byte_time += (unsigned __int128)watch->bytes * time;
    watch->square_time += (unsigned __int128)watch->bytes * watch->bytes * time;
    watch->since = now;
}

void oche_switch_watch_change(struct oche_switch *sw, unsigned port, oche_time now)
{
    struct oche_queue_watch *watch = sw->cold[port].watch;

    watch_advance(watch, now);
    watch->bytes = oche_egress_bytes(oche_switch_egress(sw, port));
    if (watch->bytes > watch->max_bytes)
        watch->max_bytes = watch->bytes;
}

/* ---- hooks, called only if some mechanism of this switch has them, or holds are recorded ---- */

int oche_switch_hook_route(struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                           int port, oche_time now)
{
    for (unsigned i = 0; i < sw->mechanism_count && port >= 0; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->route != NULL)
            port = hooked->ops->route(hooked->state, sw, in_port, packet, port, now);
    }
    OCHE_MUST(port < (int)sw->port_count);
    sw->next = oche_time_min(sw->next, mechanisms_next(sw));
    return port;
}

bool oche_switch_hook_admit(struct oche_switch *sw, unsigned port, const struct oche_packet *packet)
{
    for (unsigned i = 0; i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->admit != NULL && !hooked->ops->admit(hooked->state, sw, port, packet))
            return false;
    }
    return true;
}

void oche_switch_hook_enqueue(struct oche_switch *sw, unsigned port, unsigned cls,
                              struct oche_packet *packet, oche_time now)
{
    if (sw->hooks & OCHE_HOOK_HOLDS)
        oche_holds_put(sw, port, cls, packet, now);
    if (!(sw->hooks & OCHE_HOOK_ENQUEUE))
        return;
    for (unsigned i = 0; i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->enqueue != NULL)
            hooked->ops->enqueue(hooked->state, sw, port, packet, now);
    }
    sw->next = oche_time_min(sw->next, mechanisms_next(sw));
}

void oche_switch_hook_dequeue(struct oche_switch *sw, unsigned port, unsigned cls,
                              struct oche_packet *packet, oche_time now)
{
    if (sw->hooks & OCHE_HOOK_HOLDS)
        oche_holds_take(sw, port, cls, packet);
    if (!(sw->hooks & OCHE_HOOK_DEQUEUE))
        return;
    for (unsigned i = 0; i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->dequeue != NULL)
            hooked->ops->dequeue(hooked->state, sw, port, packet, now);
    }
    sw->next = oche_time_min(sw->next, mechanisms_next(sw));
}

int oche_switch_receive(struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                        oche_time now)
{
    return oche_path_receive(sw, in_port, packet, now);
}

struct oche_packet *oche_switch_transmit(struct oche_switch *sw, unsigned port, oche_time now)
{
    return oche_path_transmit(sw, port, now);
}

bool oche_switch_ready(const struct oche_switch *sw, unsigned port)
{
    return oche_path_ready(sw, port);
}

bool oche_switch_pause_waits(const struct oche_switch *sw, unsigned port)
{
    return oche_path_pause_waits(sw, port);
}

/* ---- received pauses, timers ---- */

/* Returns the classes that the peer has paused, without those whose PAUSE is ignored. */
static uint8_t obeyed(const struct oche_switch *sw, unsigned port)
{
    return (uint8_t)(sw->pauses[port].mask & ~sw->cold[port].ignored);
}

void oche_switch_hold(struct oche_switch *sw, unsigned port, uint8_t classes)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);
    uint8_t before = sw->cold[port].held;

    OCHE_MUST(port < sw->port_count && classes >> sw->class_count == 0);
    sw->cold[port].held = classes;
    egress->paused = (uint8_t)((egress->paused & ~before) | (obeyed(sw, port) & before) | classes);
}

void oche_switch_ignore_pause(struct oche_switch *sw, unsigned port, uint8_t classes)
{
    OCHE_MUST(port < sw->port_count && classes >> sw->class_count == 0);
    sw->cold[port].ignored = classes;
    oche_switch_egress(sw, port)->paused = obeyed(sw, port) | sw->cold[port].held;
}

void oche_switch_call(struct oche_switch *sw, unsigned port, oche_time now)
{
    OCHE_MUST(port < sw->port_count);
    sw->due[port] = now;
}

void oche_switch_set_due(struct oche_switch *sw, unsigned port)
{
    oche_time before = sw->due[port];
    oche_time due = oche_time_min(sw->pauses[port].next, sw->pfc.ports[port].refresh_at);

    sw->due[port] = due;
    if (due <= sw->next) {
        sw->next = due;
        return;
    }
    if (before > sw->next)
        return;
    find_next(sw);
}

void oche_switch_receive_pause(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now)
{
    oche_pause_receive(&sw->pauses[port], frame, now);
    oche_switch_egress(sw, port)->paused = obeyed(sw, port) | sw->cold[port].held;
    oche_switch_set_due(sw, port);
    for (unsigned i = 0; i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->pause_arrived == NULL)
            continue;
        hooked->ops->pause_arrived(hooked->state, port, frame, now);
        sw->next = oche_time_min(sw->next, hooked->ops->next(hooked->state));
    }
}

void oche_switch_receive_frame(struct oche_switch *sw, unsigned port,
                               const struct oche_packet *frame, oche_time now)
{
    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->frame_arrived != NULL)
            sw->mechanisms[i].ops->frame_arrived(sw->mechanisms[i].state, sw, port, frame, now);
}

void oche_switch_frame_take(struct oche_switch *sw, unsigned port, struct oche_packet *frame,
                            oche_time now)
{
    OCHE_MUST(sw->hooks & OCHE_HOOK_FRAMES);
    oche_switch_egress(sw, port)->flags &= (uint8_t)~OCHE_EGRESS_PFC_WAITS;
    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->frame_take != NULL)
            sw->mechanisms[i].ops->frame_take(sw->mechanisms[i].state, sw, port, frame, now);
}

oche_time oche_switch_next(const struct oche_switch *sw)
{
    return sw->next;
}

static void expire_mechanisms(struct oche_switch *sw, oche_time now)
{
    for (unsigned i = 0; i < sw->mechanism_count; i++) {
        const struct oche_switch_hooked *hooked = &sw->mechanisms[i];

        if (hooked->ops->next == NULL || hooked->ops->next(hooked->state) > now)
            continue;
        hooked->ops->expire(hooked->state, sw, now);
        OCHE_MUST(hooked->ops->next(hooked->state) > now);
    }
}

int oche_switch_expire(struct oche_switch *sw, oche_time now)
{
    if (sw->next > now)
        return -1;
    expire_mechanisms(sw, now);
    for (unsigned port = 0; port < sw->port_count; port++) {
        if (sw->due[port] > now)
            continue;
        oche_pause_update(&sw->pauses[port], now);
        oche_switch_egress(sw, port)->paused = obeyed(sw, port) | sw->cold[port].held;
        oche_pfc_expire(sw, port, now);
        oche_switch_set_due(sw, port);
        if (oche_switch_ready(sw, port))
            return (int)port;
    }
    find_next(sw);
    return -1;
}

/* ---- counters ---- */

void oche_switch_port_stats(const struct oche_switch *sw, unsigned port, oche_time now,
                            struct oche_switch_port_stats *out)
{
    const struct oche_egress *egress = oche_switch_egress(sw, port);
    const struct oche_pfc_port *pfc = &sw->pfc.ports[port];
    const struct oche_pause *pause = &sw->pauses[port];
    const uint32_t before = sw->cold[port].max_bytes;

    *out = (struct oche_switch_port_stats){
        .packets = egress->packets,
        .queueing_time = egress->queueing,
        .marks = sw->cold[port].marks,
        .max_queue_bytes = before > egress->max_bytes ? before : egress->max_bytes};
    memcpy(out->drops, sw->cold[port].drops, sizeof(out->drops));
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
        out->pauses_sent[cls] = pfc->sent[cls];
        out->refreshes_sent[cls] = pfc->refreshes[cls];
        out->pause_sent_time[cls] = oche_pfc_time(pfc, cls, now);
        out->pauses_received[cls] = oche_pause_received(pause, cls);
        out->paused_time[cls] = oche_pause_time(pause, cls, now);
    }
}

void oche_switch_reset_stats(struct oche_switch *sw, oche_time now)
{
    for (unsigned port = 0; port < sw->port_count; port++) {
        struct oche_egress *egress = oche_switch_egress(sw, port);
        struct oche_switch_cold *cold = &sw->cold[port];
        oche_time held[OCHE_CLASSES] = {0};

        egress->packets = 0;
        egress->queueing = 0;
        egress->max_bytes = oche_egress_bytes(egress);
        cold->marks = 0;
        cold->max_bytes = 0;
        memset(cold->drops, 0, sizeof(cold->drops));
        oche_pfc_reset(&sw->pfc.ports[port], now);
        oche_holds_before_reset(sw, port, now, held);
        oche_pause_reset(&sw->pauses[port], now);
        oche_holds_after_reset(sw, port, held);
    }
    for (unsigned i = 0; i < sw->mechanism_count; i++)
        if (sw->mechanisms[i].ops->reset_counters != NULL)
            sw->mechanisms[i].ops->reset_counters(sw->mechanisms[i].state);
}

uint32_t oche_switch_take_peak(struct oche_switch *sw, unsigned port)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);
    const uint32_t peak = egress->max_bytes;

    if (peak == 0) /* most ports of a large network at most times */
        return 0;
    if (peak > sw->cold[port].max_bytes)
        sw->cold[port].max_bytes = peak;
    egress->max_bytes = oche_egress_bytes(egress);
    return peak;
}

void oche_switch_mechanism_counters(const struct oche_switch *sw, unsigned number, uint64_t *values)
{
    OCHE_MUST(number < sw->mechanism_count);
    if (sw->mechanisms[number].ops->read_counters != NULL)
        sw->mechanisms[number].ops->read_counters(sw->mechanisms[number].state, values);
}

uint64_t oche_switch_queue_bytes(const struct oche_switch *sw, unsigned port)
{
    return oche_egress_bytes(oche_switch_egress(sw, port));
}

uint64_t oche_switch_occupied_bytes(const struct oche_switch *sw)
{
    return sw->buffer.used + sw->buffer.headroom_all;
}

uint64_t oche_switch_headroom_bytes(const struct oche_switch *sw, unsigned port)
{
    return sw->pfc.ports[port].headroom;
}

uint64_t oche_switch_xoff_bytes(const struct oche_switch *sw)
{
    return oche_buffer_xoff_at(&sw->buffer, sw->buffer.used);
}

uint64_t oche_switch_ingress_bytes(const struct oche_switch *sw, unsigned port, unsigned cls)
{
    return cls < sw->class_count ? oche_switch_ingress(sw, port, cls)->bytes : 0;
}

bool oche_switch_is_paused(const struct oche_switch *sw, unsigned port, unsigned cls)
{
    /*
     * `paused` also has the classes that a mechanism holds. Whether PFC has paused such a class,
     * only PFC's own state tells.
     */
    unsigned held = sw->cold[port].held;
    unsigned paused = oche_switch_egress(sw, port)->paused;

    return ((paused & ~held) | (obeyed(sw, port) & held)) >> cls & 1;
}

bool oche_switch_is_pausing(const struct oche_switch *sw, unsigned port, unsigned cls)
{
    return sw->pfc.ports[port].told >> cls & 1;
}

void oche_switch_watch(struct oche_switch *sw, unsigned port, struct oche_queue_watch *watch,
                       oche_time now)
{
    struct oche_egress *egress = oche_switch_egress(sw, port);

    if (sw->cold[port].watch != NULL)
        watch_advance(sw->cold[port].watch, now);
    sw->cold[port].watch = watch;
    egress->flags &= (uint8_t)~OCHE_EGRESS_WATCHED;
    if (watch == NULL)
        return;
    OCHE_MUST(watch->step_bytes > 0 && watch->steps > 0);
    egress->flags |= OCHE_EGRESS_WATCHED;
    watch->since = now;
    watch->bytes = watch->max_bytes = oche_egress_bytes(egress);
}
