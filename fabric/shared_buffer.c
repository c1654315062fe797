/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a switch's buffer is divided (DCQCN sec 4; dcqcn.md#buffers, #a12), and what happens to a
 * packet that does not simply fit. The common path is inline in the header.
 */
#include "fabric/shared_buffer.h"

#include "fabric/chips.h"
#include "fabric/in_use.h"
#include "fabric/mechanism.h"

/* A minimum frame with preamble and gap: the bytes that a PAUSE frame takes on the line. */
#define PAUSE_LINE_BYTES (OCHE_MIN_FRAME_BYTES + OCHE_GAP_BYTES)
#define SHARE_ONE        65536.0 /* the value 1 in units of 2^-16 */

static unsigned lossless_count(const struct oche_switch_config *config)
{
    if (!config->params->pfc || oche_switch_has_flow_control(config))
        return 0;
    return (unsigned)__builtin_popcount(config->lossless_classes);
}

static uint64_t round_up(double value)
{
    uint64_t whole = (uint64_t)value;

    return (double)whole < value ? whole + 1 : whole;
}

/*
 * Computes the worst case of what arrives after the packet that crossed the threshold. The PAUSE
 * frame waits for a frame that has just begun to leave (1 MTU), is sent, propagates (one link
 * delay), and takes effect after the response time. Then the upstream finishes the frame that it
 * has begun (1 MTU), and the packets that are still on the link arrive (a second link delay).
 */
uint64_t oche_buffer_headroom_needed(const struct oche_switch_config *config, unsigned port)
{
    const struct oche_switch_port_config *link = &config->ports[port];
    oche_time response = config->params->pfc_response;

    if (lossless_count(config) == 0)
        return 0;
    if (response < link->peer_response)
        response = link->peer_response;
    return oche_bytes_in_time(2 * link->delay + response, link->rate_bps) +
           2 * (uint64_t)config->mtu_frame_bytes + PAUSE_LINE_BYTES;
}

uint64_t oche_buffer_headroom(const struct oche_switch_config *config, unsigned port)
{
    const struct oche_switch_params *params = config->params;
    uint64_t bytes = params->headroom_bytes;

    if (lossless_count(config) == 0)
        return 0;
    if (bytes == OCHE_NEVER)
        bytes = oche_buffer_headroom_needed(config, port);
    if (params->headroom_scale == 1.0)
        return bytes;
    return round_up((double)bytes * params->headroom_scale);
}

uint64_t oche_buffer_xon_offset(const struct oche_switch_config *config)
{
    if (config->params->xon_offset_bytes != OCHE_NEVER)
        return config->params->xon_offset_bytes;
    return 2 * (uint64_t)config->mtu_frame_bytes;
}

struct oche_buffer_plan oche_buffer_plan(const struct oche_switch_config *config)
{
    const struct oche_switch_params *params = config->params;
    unsigned lossless = lossless_count(config);
    struct oche_buffer_plan plan = {.priorities = lossless,
                                    .beta = params->beta,
                                    .shared = oche_switch_memory(config),
                                    .ports = config->port_count};
    uint64_t most = 0;

    if (lossless == 0)
        return plan;
    if (params->pfc_priorities == OCHE_NEVER)
        plan.priorities = lossless > OCHE_IN_USE_PRIORITIES ? lossless : OCHE_IN_USE_PRIORITIES;
    else if (params->pfc_priorities != 0)
        plan.priorities = (unsigned)params->pfc_priorities;
    if (!(plan.beta > 0)) /* auto: alpha is 1 */
        plan.beta = plan.priorities;
    for (unsigned port = 0; port < config->port_count; port++) {
        uint64_t headroom = oche_buffer_headroom(config, port);

        plan.headroom_total += plan.priorities * headroom;
        most = headroom > most ? headroom : most;
    }
    if (params->chip_ports > plan.ports) {
        plan.headroom_total += plan.priorities * (params->chip_ports - plan.ports) * most;
        plan.ports = params->chip_ports;
    }
    plan.reserve = (uint64_t)lossless * config->port_count * config->mtu_frame_bytes;
    plan.shared = plan.shared > plan.headroom_total ? plan.shared - plan.headroom_total : 0;
    plan.xoff = params->xoff_bytes;
    if (plan.xoff == 0)
        plan.xoff = plan.shared / (plan.priorities * plan.ports);
    return plan;
}

/* Returns the longest queue for which share * queue <= t_PFC(stored * queue). */
static double longest_queue(const struct oche_switch_config *config, double share, double stored)
{
    const struct oche_switch_params *params = config->params;
    struct oche_buffer_plan plan = oche_buffer_plan(config);

    if (plan.priorities == 0)
        return (double)plan.shared; /* without PFC there is nothing that ECN must precede */
    if (params->threshold == OCHE_THRESHOLD_STATIC)
        return (double)plan.xoff / share;
    return plan.beta * (double)plan.shared / ((double)plan.priorities * share + plan.beta * stored);
}

double oche_buffer_ecn_bound_of_paper(const struct oche_switch_config *config,
                                      struct oche_buffer_worst worst)
{
    return longest_queue(config, worst.fan_out, (double)worst.classes * config->port_count);
}

/* Returns the bytes of the shared part outside of the reserve. */
static double unreserved(const struct oche_switch_config *config)
{
    struct oche_buffer_plan plan = oche_buffer_plan(config);

    return plan.shared > plan.reserve ? (double)(plan.shared - plan.reserve) : 0;
}

double oche_buffer_ecn_bound(const struct oche_switch_config *config,
                             struct oche_buffer_worst worst)
{
    double bound = oche_buffer_ecn_bound_of_paper(config, worst);
    double room = unreserved(config) / ((double)worst.classes * config->port_count);

    return room < bound ? room : bound;
}

double oche_buffer_incast_queue(const struct oche_switch_config *config, unsigned fan_in)
{
    double queue = longest_queue(config, 1.0 / fan_in, 1), room = unreserved(config);

    return room < queue ? room : queue;
}

void oche_buffer_init(struct oche_buffer *buffer, const struct oche_switch_config *config)
{
    const struct oche_switch_params *params = config->params;
    struct oche_buffer_plan plan = oche_buffer_plan(config);

    OCHE_MUST(plan.shared >= plan.reserve);
    *buffer = (struct oche_buffer){
        .size = plan.shared,
        .limit = plan.shared - plan.reserve,
        .resume_level = -1,
        .hysteresis = (uint32_t)oche_buffer_xon_offset(config),
        .lossy_share = round_up(params->egress_alpha * SHARE_ONE),
    };
    if (oche_switch_has_flow_control(config))
        buffer->base = buffer->limit; /* the mechanism limits what arrives, so no class is paused */
    if (plan.priorities == 0)
        return;
    if (params->threshold == OCHE_THRESHOLD_STATIC)
        buffer->base = plan.xoff;
    else
        buffer->share = round_up(plan.beta * SHARE_ONE / plan.priorities);
}

enum oche_buffer_verdict oche_buffer_cross(struct oche_buffer *buffer, struct oche_ingress *in,
                                           uint32_t bytes, uint32_t headroom)
{
    uint64_t used = buffer->used + bytes;

    if (!in->xoff && used <= buffer->size) {
        buffer->used = used;
        in->bytes += bytes;
        in->xoff = 1;
        return OCHE_BUFFER_CROSSED;
    }
    OCHE_MUST(in->headroom_used <= headroom && in->headroom_used <= buffer->headroom_all);
    if ((uint64_t)in->headroom_used + bytes > headroom)
        return OCHE_BUFFER_FULL;
    in->headroom_used = (in->headroom_used + bytes) & INT32_MAX;
    in->bytes += bytes;
    buffer->headroom_all += bytes;
    if (in->xoff)
        return OCHE_BUFFER_STORED;
    in->xoff = 1;
    return OCHE_BUFFER_CROSSED;
}

int64_t oche_buffer_resume_level(const struct oche_buffer *buffer, const struct oche_ingress *in)
{
    uint64_t wanted, unused;

    if (in->headroom_used != 0)
        return -1;
    if (in->bytes == 0)
        return INT64_MAX;
    wanted = (uint64_t)in->bytes + buffer->hysteresis;
    if (wanted <= buffer->base)
        return (int64_t)buffer->limit;
    if (buffer->share == 0)
        return -1;
    /* The smallest unused space at which oche_buffer_xoff_at gives `wanted`. */
    unused = (((wanted - buffer->base) << 16) + buffer->share - 1) / buffer->share;
    if (unused > buffer->size)
        return -1;
    return (int64_t)(buffer->size - unused < buffer->limit ? buffer->size - unused : buffer->limit);
}
