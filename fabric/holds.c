/* SPDX-License-Identifier: Apache-2.0 */
/* Records what waits for what in a switch; see the header. */
#include "fabric/holds.h"

#include "fabric/switch_state.h"

/*
 * An egress queue counts as held by its peer if, since it was last empty, it was paused for at
 * least this share of the time and could have sent at least this share of its bytes during that
 * time.
 */
#define HELD_TIME_SHARE  20 /* the share of time is 1 / HELD_TIME_SHARE */
#define HELD_BYTES_SHARE 2

/*
 * Returns the number of classes in which the packets of one queue may have come in: 1 in a switch
 * without lanes.
 */
static size_t in_classes(const struct oche_switch *sw)
{
    return sw->lanes == 0 ? 1 : sw->class_count;
}

static uint32_t *cell(const struct oche_switch *sw, unsigned in, unsigned in_cls, unsigned out,
                      unsigned cls)
{
    size_t of = sw->lanes == 0 ? 0 : in_cls;

    return &sw->holds
                .bytes[((of * sw->port_count + in) * sw->port_count + out) * sw->class_count + cls];
}

static uint32_t *cell_of(const struct oche_switch *sw, const struct oche_packet *packet,
                         unsigned out, unsigned cls)
{
    return cell(sw, packet->ingress_port, oche_switch_in_class(sw, packet, cls), out, cls);
}

static struct oche_holds_queue *queue_of(const struct oche_switch *sw, unsigned out, unsigned cls)
{
    return &sw->holds.queues[(size_t)out * sw->class_count + cls];
}

/* ---- recording ---- */

static size_t matrix_bytes(const struct oche_switch *sw)
{
    return oche_lines(in_classes(sw) * sw->port_count * sw->port_count * sw->class_count *
                      sizeof(uint32_t));
}

size_t oche_switch_holds_bytes(const struct oche_switch *sw)
{
    return matrix_bytes(sw) +
           (size_t)sw->port_count * sw->class_count * sizeof(struct oche_holds_queue);
}

static void begin_queue(struct oche_switch *sw, unsigned out, unsigned cls, oche_time now)
{
    *queue_of(sw, out, cls) = (struct oche_holds_queue){
        .since = now, .held_before = oche_pause_time(&sw->pauses[out], cls, now)};
}

bool oche_switch_keeps_holds(const struct oche_switch *sw)
{
    return sw->holds.bytes != NULL;
}

void oche_switch_keep_holds(struct oche_switch *sw, void *memory, oche_time now)
{
    OCHE_MUST(sw->holds.bytes == NULL);
    sw->holds.bytes = memory;
    sw->holds.queues = (void *)((char *)memory + matrix_bytes(sw));
    for (unsigned out = 0; out < sw->port_count; out++) {
        const struct oche_egress *egress = oche_switch_egress(sw, out);

        for (uint8_t left = egress->waiting; left != 0; left &= (uint8_t)(left - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(left);
            const struct oche_packet *packet = oche_egress_first(egress, cls);

            begin_queue(sw, out, cls, now);
            for (; packet != NULL; packet = packet->next)
                *cell_of(sw, packet, out, cls) += packet->frame_bytes;
        }
    }
    sw->hooks |= OCHE_HOOK_HOLDS;
}

void oche_holds_put(struct oche_switch *sw, unsigned port, unsigned cls,
                    const struct oche_packet *packet, oche_time now)
{
    if (!(oche_switch_egress(sw, port)->waiting >> cls & 1))
        begin_queue(sw, port, cls, now);
    *cell_of(sw, packet, port, cls) += packet->frame_bytes;
}

void oche_holds_take(struct oche_switch *sw, unsigned port, unsigned cls,
                     const struct oche_packet *packet)
{
    uint32_t *held = cell_of(sw, packet, port, cls);

    OCHE_MUST(*held >= packet->frame_bytes);
    *held -= packet->frame_bytes;
}

/* Returns for how long the queue has been paused since it was last empty. */
static oche_time held_for(const struct oche_switch *sw, unsigned out, unsigned cls, oche_time now)
{
    return oche_pause_time(&sw->pauses[out], cls, now) - queue_of(sw, out, cls)->held_before;
}

void oche_holds_before_reset(const struct oche_switch *sw, unsigned port, oche_time now,
                             oche_time held[OCHE_CLASSES])
{
    for (unsigned cls = 0; sw->holds.bytes != NULL && cls < sw->class_count; cls++)
        held[cls] = held_for(sw, port, cls, now);
}

void oche_holds_after_reset(struct oche_switch *sw, unsigned port,
                            const oche_time held[OCHE_CLASSES])
{
    for (unsigned cls = 0; sw->holds.bytes != NULL && cls < sw->class_count; cls++)
        /* because oche_pause_time was reset to 0 */
        queue_of(sw, port, cls)->held_before = -held[cls];
}

/* ---- reading ---- */

uint32_t oche_switch_held_bytes(const struct oche_switch *sw, unsigned in, unsigned in_cls,
                                unsigned out, unsigned cls)
{
    if (sw->holds.bytes == NULL || cls >= sw->class_count || in_cls >= sw->class_count ||
        (in_cls != cls && sw->lanes == 0))
        return 0;
    return *cell(sw, in, in_cls, out, cls);
}

static bool is_long_because_held(const struct oche_switch *sw, unsigned out, unsigned cls,
                                 oche_time now)
{
    oche_time held = held_for(sw, out, cls, now);
    uint64_t queued = oche_egress_class_bytes(oche_switch_egress(sw, out), cls);

    return held > 0 && held >= (now - queue_of(sw, out, cls)->since) / HELD_TIME_SHARE &&
           oche_bytes_in_time(held, sw->pauses[out].rate_bps) >= queued / HELD_BYTES_SHARE;
}

bool oche_switch_pause_cause(const struct oche_switch *sw, unsigned in, unsigned cls, oche_time now,
                             struct oche_pause_cause *cause)
{
    *cause = (struct oche_pause_cause){.bytes = 0};
    if (sw->holds.bytes == NULL || cls >= sw->class_count)
        return false;
    for (unsigned out = 0; out < sw->port_count; out++)
        for (unsigned of = 0; of < sw->class_count; of++) {
            uint32_t bytes = oche_switch_held_bytes(sw, in, cls, out, of);

            cause->ingress_bytes += bytes;
            if (bytes <= cause->bytes)
                continue;
            cause->bytes = bytes;
            cause->port = out;
            cause->cls = of;
        }
    if (cause->bytes == 0)
        return false;
    cause->held = is_long_because_held(sw, cause->port, cause->cls, now);
    return true;
}

uint8_t oche_switch_pausing(const struct oche_switch *sw, unsigned port)
{
    return sw->pfc.ports[port].told;
}

oche_time oche_switch_pausing_since(const struct oche_switch *sw, unsigned port, unsigned cls)
{
    const struct oche_pfc_port *pfc = &sw->pfc.ports[port];

    return (pfc->told & sw->pfc.want[port]) >> cls & 1 ? pfc->since[cls] : OCHE_NEVER;
}

/*
 * Returns how much headroom an ingress class would still use if only `left` of its bytes remained.
 */
static uint32_t headroom_left(const struct oche_ingress *in, uint32_t left)
{
    uint32_t gone = in->bytes - left;

    return in->headroom_used > gone ? in->headroom_used - gone : 0;
}

bool oche_switch_stays_pausing(const struct oche_switch *sw, unsigned port, unsigned cls,
                               const uint32_t *left)
{
    const struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
    uint32_t own = left[port * sw->class_count + cls];
    struct oche_ingress least = {.bytes = own, .xoff = 1};
    uint64_t used = 0;

    if (own == 0)
        return false; /* a class that becomes empty resumes at once */
    if (headroom_left(in, own) > 0)
        return true;
    for (unsigned p = 0; p < sw->port_count; p++)
        for (unsigned c = 0; c < sw->class_count; c++) {
            const struct oche_ingress *other = oche_switch_ingress(sw, p, c);
            uint32_t bytes = left[p * sw->class_count + c];

            if (sw->lossless >> c & 1)
                used += bytes - headroom_left(other, bytes);
        }
    return (int64_t)used > oche_buffer_resume_level(&sw->buffer, &least);
}
