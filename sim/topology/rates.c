/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of links whose parameter is `auto`, in bits per second. */
#include "sim/topology/builder.h"

/* Rates of Ethernet links: IEEE 802.3, its amendment df (800 Gbit/s) and project dj (1.6 Tbit/s).
 */
static const uint64_t ethernet[] = {
    10 * OCHE_MBPS,  100 * OCHE_MBPS, 1 * OCHE_GBPS,   10 * OCHE_GBPS,
    25 * OCHE_GBPS,  40 * OCHE_GBPS,  50 * OCHE_GBPS,  100 * OCHE_GBPS,
    200 * OCHE_GBPS, 400 * OCHE_GBPS, 800 * OCHE_GBPS, 1600 * OCHE_GBPS,
};

uint64_t oche_topology_uplink_rate(uint64_t hosts, uint64_t host_bps, uint64_t uplinks)
{
    uint64_t needed = (hosts * host_bps + uplinks - 1) / uplinks;
    size_t i = 0;

    if (needed <= host_bps)
        return host_bps;
    while (i + 1 < OCHE_COUNT_OF(ethernet) && ethernet[i] < needed)
        i++;
    return ethernet[i] > host_bps ? ethernet[i] : host_bps;
}

bool oche_topology_is_ethernet(uint64_t bps)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(ethernet); i++)
        if (ethernet[i] == bps)
            return true;
    return false;
}
