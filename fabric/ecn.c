/* SPDX-License-Identifier: Apache-2.0 */
/* RED marking. The header says which rules are the paper's and which are ours. */
#include "fabric/ecn.h"

#define LEAST_KMIN            5000 /* the paper's kmin, at 40 Gbit/s */
#define LEAST_KMAX            20000
#define MOST_BYTES            UINT64_C(0x7fffffff)
#define BPS_FOR_ONE_BYTE_A_US (8 * UINT64_C(1000000))

/* Returns the bytes that the port sends in that time, but not less than `least`. */
static uint64_t bytes_in(uint64_t rate_bps, oche_time time, uint64_t least)
{
    const unsigned __int128 bytes =
        (unsigned __int128)(rate_bps / BPS_FOR_ONE_BYTE_A_US) * time / OCHE_US;

    if (bytes > MOST_BYTES)
        return MOST_BYTES;
    return bytes > least ? (uint64_t)bytes : least;
}

struct oche_red_ramp oche_red_ramp(const struct oche_switch_params *params, uint64_t rate_bps)
{
    struct oche_red_ramp ramp = {.kmin = params->kmin_bytes, .kmax = params->kmax_bytes};

    if (!params->ecn)
        return (struct oche_red_ramp){.kmin = UINT64_MAX, .kmax = UINT64_MAX};
    if (params->kmin_bytes == OCHE_NEVER) {
        ramp.kmin = bytes_in(rate_bps, params->kmin_time, LEAST_KMIN);
        ramp.kmin = ramp.kmin < params->kmax_bytes ? ramp.kmin : params->kmax_bytes;
    }
    if (params->kmax_bytes == OCHE_NEVER) {
        ramp.kmax = bytes_in(rate_bps, params->kmax_time, LEAST_KMAX);
        ramp.kmax = ramp.kmax > ramp.kmin ? ramp.kmax : ramp.kmin;
    }
    if (ramp.kmax > ramp.kmin)
        ramp.slope = (uint64_t)(params->pmax * 0x1p63 / (double)(ramp.kmax - ramp.kmin));
    return ramp;
}

bool oche_red_chooses(const struct oche_red_ramp *ramp, struct oche_random *random,
                      const struct oche_packet *packet, uint64_t queue)
{
    return oche_ecn_capable(packet) &&
           (oche_random_u64(random) >> 1) < oche_red_probability(ramp, queue);
}
