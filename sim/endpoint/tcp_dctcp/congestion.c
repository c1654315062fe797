/* SPDX-License-Identifier: Apache-2.0 */
/* The congestion window. The header names the source of each rule. */
#include "sim/endpoint/tcp_dctcp/congestion.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void oche_tcp_congestion_init(struct oche_tcp_congestion *c, const struct oche_tcp_params *params,
                              bool dctcp)
{
    *c = (struct oche_tcp_congestion){
        .ssthresh = UINT64_MAX,
        .mss = params->mss_bytes,
        .initial = params->initial_window * params->mss_bytes,
        .least = params->least_window * params->mss_bytes,
        .dctcp = dctcp,
        .cwnd = params->initial_window * params->mss_bytes,
    };
    if (!dctcp)
        return;
    c->alpha = (uint64_t)(params->initial_alpha * (double)OCHE_TCP_ONE);
    c->g = (uint64_t)(params->g * (double)OCHE_TCP_ONE);
}

/* alpha <- (1 - g) alpha + g F, once per window of data (RFC 8257 sec 3.3 steps 1 to 8). */
static void observe(struct oche_tcp_congestion *c, const struct oche_tcp_acked *acked)
{
    c->acked += acked->bytes;
    if (acked->ece)
        c->marked += acked->bytes;
    if (acked->una <= c->window_end)
        return;
    uint64_t fraction =
        (uint64_t)(((unsigned __int128)c->marked * OCHE_TCP_ONE + c->acked / 2) / c->acked);
    c->alpha = (c->alpha * (OCHE_TCP_ONE - c->g) + fraction * c->g) / OCHE_TCP_ONE;
    c->window_end = acked->next;
    c->acked = c->marked = 0;
}

static void grow(struct oche_tcp_congestion *c, const struct oche_tcp_acked *acked)
{
    if (c->cwnd < c->ssthresh) {
        if (2 * acked->flight_before >= c->cwnd)
            c->cwnd += smaller(acked->bytes, 2 * c->mss);
        return;
    }
    if (acked->flight_before + c->mss <= c->cwnd)
        return; /* the sender was not limited by the window */
    c->counted += acked->bytes;
    if (c->counted >= c->cwnd) {
        c->counted -= c->cwnd;
        c->cwnd += c->mss;
    }
}

bool oche_tcp_congestion_acked(struct oche_tcp_congestion *c, const struct oche_tcp_acked *acked)
{
    if (c->dctcp)
        observe(c, acked);
    if (c->reduced && acked->una > c->cut_end)
        c->reduced = false;
    if (acked->in_recovery)
        return false;
    if (c->dctcp && acked->ece && !c->reduced) {
        uint64_t cut = (uint64_t)((unsigned __int128)c->cwnd * c->alpha / (2 * OCHE_TCP_ONE));
        c->cwnd = larger(c->cwnd - cut, c->least);
        c->ssthresh = c->cwnd;
        c->counted = 0;
        c->reduced = true;
        c->cut_end = acked->next;
        return true;
    }
    if (!c->reduced)
        grow(c, acked);
    return false;
}

static uint64_t half_of(const struct oche_tcp_congestion *c, uint64_t flight)
{
    return larger(flight / 2, 2 * c->mss); /* RFC 5681 equation 4 */
}

void oche_tcp_congestion_enter(struct oche_tcp_congestion *c, uint64_t flight)
{
    c->ssthresh = half_of(c, flight);
    c->cwnd = c->ssthresh + 3 * c->mss;
    c->counted = 0;
}

void oche_tcp_congestion_inflate(struct oche_tcp_congestion *c)
{
    c->cwnd += c->mss;
}

void oche_tcp_congestion_partial(struct oche_tcp_congestion *c, uint64_t bytes)
{
    c->cwnd = c->cwnd > bytes ? c->cwnd - bytes : 0;
    if (bytes >= c->mss)
        c->cwnd += c->mss;
    c->cwnd = larger(c->cwnd, c->mss);
}

void oche_tcp_congestion_leave(struct oche_tcp_congestion *c, uint64_t flight)
{
    c->cwnd = smaller(c->ssthresh, larger(flight, c->mss) + c->mss);
}

void oche_tcp_congestion_timeout(struct oche_tcp_congestion *c, uint64_t flight, bool again)
{
    if (!again)
        c->ssthresh = half_of(c, flight);
    c->cwnd = c->mss;
    c->counted = 0;
    c->reduced = false;
}

void oche_tcp_congestion_idle(struct oche_tcp_congestion *c)
{
    c->cwnd = smaller(c->cwnd, c->initial);
}
