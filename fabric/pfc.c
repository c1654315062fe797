/* SPDX-License-Identifier: Apache-2.0 */
/* PFC towards the upstream; see the header. */
#include "fabric/pfc.h"

#include <string.h>

#include "fabric/switch_state.h"

void oche_switch_frame_waits(struct oche_switch *sw, unsigned port)
{
    struct oche_pfc *pfc = &sw->pfc;

    oche_switch_egress(sw, port)->flags |= OCHE_EGRESS_PFC_WAITS;
    if (pfc->ports[port].named)
        return;
    OCHE_MUST(pfc->named_count < sw->port_count);
    pfc->ports[port].named = true;
    pfc->named[(pfc->named_head + pfc->named_count++) % sw->port_count] = port;
}

/*
 * Announces or withdraws the frame of `port`. Call it after `want` or `told` of the port has
 * changed.
 */
static void settle(struct oche_switch *sw, unsigned port)
{
    struct oche_pfc *pfc = &sw->pfc;
    struct oche_pfc_port *state = &pfc->ports[port];
    struct oche_egress *egress = oche_switch_egress(sw, port);

    if (OCHE_UNLIKELY(sw->cold[port].down)) {
        state->refresh = false;
        return;
    }
    if (pfc->want[port] == state->told && !state->refresh) {
        egress->flags &= (uint8_t)~OCHE_EGRESS_PFC_WAITS;
        return;
    }
    oche_switch_frame_waits(sw, port);
}

static void raise_resume_level(struct oche_buffer *buffer, const struct oche_ingress *in)
{
    int64_t level = oche_buffer_resume_level(buffer, in);

    if (level > buffer->resume_level)
        buffer->resume_level = level;
}

bool oche_pfc_admit(struct oche_switch *sw, unsigned port, unsigned cls, uint32_t bytes)
{
    struct oche_ingress *in = oche_switch_ingress(sw, port, cls);

    switch (oche_buffer_cross(&sw->buffer, in, bytes, sw->pfc.ports[port].headroom)) {
    case OCHE_BUFFER_FULL:
        return false;
    case OCHE_BUFFER_STORED:
        return true;
    case OCHE_BUFFER_CROSSED:
        break;
    }
    sw->pfc.want[port] |= (uint8_t)(1U << cls);
    raise_resume_level(&sw->buffer, in);
    settle(sw, port);
    return true;
}

/*
 * Resumes every paused class that may resume, and recomputes the buffer's resume_level for the
 * others.
 */
static void resume_all(struct oche_switch *sw)
{
    struct oche_buffer *buffer = &sw->buffer;

    buffer->resume_level = -1;
    for (unsigned port = 0; port < sw->port_count; port++) {
        uint8_t before = sw->pfc.want[port];

        for (uint8_t left = before; left != 0; left &= (uint8_t)(left - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(left);
            struct oche_ingress *in = oche_switch_ingress(sw, port, cls);
            int64_t level = oche_buffer_resume_level(buffer, in);

            OCHE_MUST(in->xoff);
            if ((int64_t)buffer->used > level) {
                if (level > buffer->resume_level)
                    buffer->resume_level = level;
                continue;
            }
            in->xoff = 0;
            sw->pfc.want[port] &= (uint8_t) ~(1U << cls);
        }
        if (sw->pfc.want[port] != before)
            settle(sw, port);
    }
}

void oche_pfc_test_resume(struct oche_switch *sw, unsigned port, unsigned cls)
{
    struct oche_buffer *buffer = &sw->buffer;
    struct oche_ingress *in = oche_switch_ingress(sw, port, cls);

    if (in->xoff)
        raise_resume_level(buffer, in);
    if ((int64_t)buffer->used <= buffer->resume_level)
        resume_all(sw);
}

int oche_switch_pause_port(struct oche_switch *sw)
{
    struct oche_pfc *pfc = &sw->pfc;

    while (pfc->named_count > 0) {
        uint32_t port = pfc->named[pfc->named_head];

        OCHE_MUST(port < sw->port_count && pfc->ports[port].named);
        pfc->named_head = (pfc->named_head + 1) % sw->port_count;
        pfc->named_count--;
        pfc->ports[port].named = false;
        if (oche_switch_egress(sw, port)->flags & OCHE_EGRESS_PFC_WAITS)
            return (int)port;
    }
    return -1;
}

/*
 * Adds a pause or a resume of class `cls` to the frame, if `want` and `told` require one, and
 * counts it.
 */
static void tell(struct oche_pfc_port *state, struct oche_packet *frame, unsigned cls, bool want,
                 oche_time now)
{
    uint8_t bit = (uint8_t)(1U << cls);

    if (want) {
        oche_pfc_set(frame, cls, OCHE_PFC_MAX_QUANTA);
        if (state->told & bit) {
            state->refreshes[cls]++;
            return;
        }
        state->told |= bit;
        state->since[cls] = now;
        state->sent[cls]++;
        return;
    }
    if (state->told & bit) {
        OCHE_MUST(now >= state->since[cls]);
        oche_pfc_set(frame, cls, 0);
        state->told &= (uint8_t)~bit;
        state->total[cls] += now - state->since[cls];
    }
}

bool oche_switch_take_pause(struct oche_switch *sw, unsigned port, struct oche_packet *frame,
                            oche_time now)
{
    struct oche_pfc_port *state = &sw->pfc.ports[port];
    struct oche_egress *egress = oche_switch_egress(sw, port);
    uint8_t want = sw->pfc.want[port];

    if (!(egress->flags & OCHE_EGRESS_PFC_WAITS))
        return false;
    if (sw->hooks & OCHE_HOOK_FRAMES) {
        oche_switch_frame_take(sw, port, frame, now);
        return true;
    }
    *frame = (struct oche_packet){.when = now,
                                  .tag = frame->tag,
                                  .payload = frame->payload,
                                  .frame_bytes = OCHE_MIN_FRAME_BYTES,
                                  .kind = OCHE_PACKET_PFC,
                                  .traffic_class = OCHE_CLASSES - 1};
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        tell(state, frame, cls, want >> cls & 1, now);
    egress->flags &= (uint8_t)~OCHE_EGRESS_PFC_WAITS;
    state->refresh = false;
    state->refresh_at = want != 0 ? oche_time_add(now, state->half_time) : OCHE_NEVER;
    oche_switch_set_due(sw, port);
    return true;
}

void oche_pfc_expire(struct oche_switch *sw, unsigned port, oche_time now)
{
    struct oche_pfc_port *state = &sw->pfc.ports[port];

    if (state->refresh_at > now)
        return;
    state->refresh_at = OCHE_NEVER;
    state->refresh = sw->pfc.want[port] != 0;
    settle(sw, port);
}

void oche_pfc_link_down(struct oche_switch *sw, unsigned port, oche_time now)
{
    struct oche_pfc_port *state = &sw->pfc.ports[port];

    for (uint8_t left = state->told; left != 0; left &= (uint8_t)(left - 1)) {
        unsigned cls = (unsigned)__builtin_ctz(left);

        state->total[cls] += now - state->since[cls];
    }
    state->told = 0;
    state->refresh = false;
    state->refresh_at = OCHE_NEVER;
    if (!(sw->hooks & OCHE_HOOK_FRAMES))
        oche_switch_egress(sw, port)->flags &= (uint8_t)~OCHE_EGRESS_PFC_WAITS;
}

void oche_pfc_link_up(struct oche_switch *sw, unsigned port)
{
    settle(sw, port);
}

oche_time oche_pfc_time(const struct oche_pfc_port *port, unsigned cls, oche_time now)
{
    return port->total[cls] + (port->told >> cls & 1 ? now - port->since[cls] : 0);
}

void oche_pfc_reset(struct oche_pfc_port *port, oche_time now)
{
    memset(port->sent, 0, sizeof(port->sent));
    memset(port->refreshes, 0, sizeof(port->refreshes));
    memset(port->total, 0, sizeof(port->total));
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        port->since[cls] = now;
}
