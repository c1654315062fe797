/* SPDX-License-Identifier: Apache-2.0 */
#include "rogue/window.h"

void rogue_window_init(struct rogue_window *window, const struct rogue_params *params,
                       uint64_t line_rate_bps, uint32_t mtu_bytes)
{
    const uint64_t packet_bytes = rogue_packet_bytes(params, line_rate_bps, mtu_bytes);

    *window = (struct rogue_window){
        .params = params,
        .line_rate_bps = line_rate_bps,
        .mtu_bytes = mtu_bytes,
        .slow_start = true,
        .packet_bytes = packet_bytes,
        .rate_step = rogue_rate_step(params, line_rate_bps),
        .bytes = params->initial_packets * packet_bytes,
        .rate_bps = line_rate_bps,
        .base_rtt = OCHE_NEVER,
        .rtt = OCHE_NEVER,
        .least_now = OCHE_NEVER,
    };
}

/* Returns the base RTT with which rates are computed: at least the bound, and never 0. */
static oche_time base_of(const struct rogue_window *window)
{
    oche_time least = window->params->least_base_rtt;
    oche_time base = window->base_rtt > least ? window->base_rtt : least;

    return base > 0 ? base : OCHE_NS;
}

static void note_base(struct rogue_window *window, oche_time rtt, oche_time now)
{
    oche_time age = window->params->base_rtt_age;

    if (rtt < window->base_rtt)
        window->base_rtt = rtt;
    if (age == OCHE_NEVER)
        return;
    if (now - window->period >= age) {
        window->base_rtt = window->least_now < rtt ? window->least_now : rtt;
        window->least_now = OCHE_NEVER;
        window->period = now;
    }
    if (rtt < window->least_now)
        window->least_now = rtt;
}

/* Returns the value within both bounds; `most` counts if it is less than `least`. */
static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    if (value < least)
        value = least;
    return value > most ? most : value;
}

static void limit_window(struct rogue_window *window)
{
    double most_bdps = window->params->most_window;
    uint64_t most = UINT64_MAX;

    if (most_bdps > 0 && window->base_rtt != OCHE_NEVER)
        most = (uint64_t)(most_bdps * (double)window->line_rate_bps / 8.0 *
                          ((double)base_of(window) / (double)OCHE_SEC));
    if (most < window->mtu_bytes)
        most = window->mtu_bytes;
    window->bytes = clamp(window->bytes, window->mtu_bytes, most);
}

/* Sets the rate to window / base RTT, at most one step away. Returns true if it has changed. */
static bool set_rate(struct rogue_window *window, bool in_steps)
{
    const struct rogue_params *p = window->params;
    uint64_t before = window->rate_bps, step = window->rate_step, rate;

    if (window->base_rtt == OCHE_NEVER)
        return false;
    rate = oche_rate_of(window->bytes, base_of(window));
    rate = clamp(rate, p->least_rate, window->line_rate_bps);
    if (in_steps)
        rate = clamp(rate, before > step ? before - step : 0, before + step);
    window->rate_bps = rate;
    return rate != before;
}

/*
 * Returns the number of packets that the flow keeps in queues (rogue.md#vegas). Over the base RTT,
 * as in Linux, it is larger by the factor RTT / base RTT (rogue.md#r29).
 */
static double queued_packets(const struct rogue_window *window)
{
    double rtt = (double)window->rtt, base = (double)base_of(window);
    double divisor = window->params->vegas_divisor == ROGUE_BY_BASE_RTT ? base : rtt;

    if (rtt <= base)
        return 0.0;
    return (double)window->bytes * (rtt - base) / divisor / (double)window->packet_bytes;
}

static void slow_start(struct rogue_window *window, double queued, uint64_t batch_bytes)
{
    const struct rogue_params *p = window->params;

    if (queued <= p->gamma) {
        window->bytes += batch_bytes < window->bytes ? batch_bytes : window->bytes;
        return;
    }
    window->slow_start = false;
    if (p->clamp) {
        uint64_t fills =
            (uint64_t)((double)window->bytes * (double)base_of(window) / (double)window->rtt) +
            window->mtu_bytes;
        window->bytes = fills < window->bytes ? fills : window->bytes;
    }
}

bool rogue_window_sample(struct rogue_window *window, oche_time rtt, uint64_t batch_bytes,
                         bool exact, oche_time now)
{
    const struct rogue_params *p = window->params;
    bool in_steps = !window->slow_start;
    double queued;

    window->rtt = rtt;
    if (exact || window->base_rtt == OCHE_NEVER)
        note_base(window, rtt, now);
    queued = queued_packets(window);
    if (window->slow_start)
        slow_start(window, queued, batch_bytes);
    else if (queued > p->beta)
        window->bytes -= window->packet_bytes < window->bytes ? window->packet_bytes : 0;
    else if (queued < p->alpha)
        window->bytes += window->packet_bytes;
    limit_window(window);
    return set_rate(window, in_steps);
}

bool rogue_window_lost(struct rogue_window *window)
{
    window->slow_start = false;
    window->bytes = (uint64_t)((double)window->bytes * window->params->loss_factor);
    limit_window(window);
    return set_rate(window, true);
}

bool rogue_window_timeout(struct rogue_window *window)
{
    window->slow_start = true;
    window->bytes = window->params->initial_packets * window->packet_bytes;
    limit_window(window);
    return set_rate(window, false);
}
